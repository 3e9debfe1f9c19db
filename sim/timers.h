/*
 * Deadlines of connections: a min-heap of (time, tag).
 *
 *     timers_add(&t, due_ns, tag);
 *     while (timers_take(&t, now_ns, &tag)) ...        // due ones, earliest first
 *
 * Nothing is ever removed early: whoever takes a tag checks that it still means something.
 */
#ifndef TALLY_SIM_TIMERS_H
#define TALLY_SIM_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer {
    int64_t due_ns;
    uint64_t tag;
};

struct timers {
    struct timer *heap;
    size_t n, cap;
};

void timers_release(struct timers *t);
bool timers_add(struct timers *t, int64_t due_ns, uint64_t tag); /* false: out of memory */
bool timers_take(struct timers *t, int64_t now_ns, uint64_t *tag);
static inline int64_t timers_next_ns(const struct timers *t)
{
    return t->n > 0 ? t->heap[0].due_ns : INT64_MAX;
}

#endif
