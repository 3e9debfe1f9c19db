#include "timers.h"

#include <stdlib.h>

void timers_release(struct timers *t)
{
    if (!t)
        return;
    free(t->heap);
    *t = (struct timers){0};
}

static void swap(struct timer *a, struct timer *b)
{
    struct timer kept = *a;
    *a = *b;
    *b = kept;
}

bool timers_add(struct timers *t, int64_t due_ns, uint64_t tag)
{
    size_t i = t->n;
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        struct timer *heap = realloc(t->heap, cap * sizeof *heap);
        if (!heap)
            return false;
        t->heap = heap;
        t->cap = cap;
    }
    t->heap[t->n++] = (struct timer){due_ns, tag};
    for (; i > 0 && t->heap[i].due_ns < t->heap[(i - 1) / 2].due_ns; i = (i - 1) / 2)
        swap(&t->heap[i], &t->heap[(i - 1) / 2]);
    return true;
}

bool timers_take(struct timers *t, int64_t now_ns, uint64_t *tag)
{
    size_t i = 0, least;
    if (t->n == 0 || t->heap[0].due_ns > now_ns)
        return false;
    *tag = t->heap[0].tag;
    t->heap[0] = t->heap[--t->n];
    while (2 * i + 1 < t->n) {
        least = 2 * i + 1;
        if (least + 1 < t->n && t->heap[least + 1].due_ns < t->heap[least].due_ns)
            least++;
        if (t->heap[i].due_ns <= t->heap[least].due_ns)
            break;
        swap(&t->heap[i], &t->heap[least]);
        i = least;
    }
    return true;
}
