/*
 * Waits for sockets, a deadline or a wake-up: epoll + timerfd + eventfd on Linux, poll elsewhere.
 *
 *     struct poller *p;
 *     if (poller_new(&p, wakeup_ns, err) < 0 || poller_set(p, fd, POLLER_IN, tag, err) < 0) ...
 *     if (poller_wait(p, deadline_ns, &seen, err) < 0) ...     // seen.events[0 .. seen.n)
 *
 * Level-triggered. Times are monotonic nanoseconds. One thread waits; poller_wake may come from
 * any thread or a signal handler.
 * Limits: POLLER_BATCH events a wait; what is left over comes with the next one.
 */
#ifndef TALLY_WIRE_POLLER_H
#define TALLY_WIRE_POLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define POLLER_BATCH 64

enum { POLLER_IN = 1, POLLER_OUT = 2, POLLER_ERROR = 4 };

struct poller;

struct poller_event {
    uint64_t tag;
    unsigned what;
};

struct poller_seen {
    int64_t t_return_ns; /* the wait returned */
    int64_t t_floor_ns;  /* nothing that was reported can have been ready before */
    int64_t t_lower_ns;  /* the same, if waking up took no longer than calibrated; >= t_floor_ns */
    bool blocked;
    size_t n;
    struct poller_event events[POLLER_BATCH];
};

/* wakeup_ns: from readiness to the return of a wait that blocked. */
int poller_new(struct poller **out, int64_t wakeup_ns, struct error *err) TALLY_MUST_CHECK;
void poller_free(struct poller *p);
/* what: 0 stops watching the descriptor, which may be closed already. */
int poller_set(struct poller *p, int fd, unsigned what, uint64_t tag,
               struct error *err) TALLY_MUST_CHECK;
/* Returns at once when something is ready, else at the absolute deadline (INT64_MAX: none). */
int poller_wait(struct poller *p, int64_t deadline_ns, struct poller_seen *seen,
                struct error *err) TALLY_MUST_CHECK;
void poller_wake(struct poller *p);

#endif
