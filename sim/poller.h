/*
 * Waits for sockets or a deadline: epoll and timerfd on Linux (a deadline is met to the
 * microsecond), poll elsewhere (to the millisecond).
 *
 *     struct poller *p;
 *     if (poller_new(&p, err) < 0 || poller_set(p, fd, POLLER_IN, tag, err) < 0) ...
 *     n = poller_wait(p, deadline_ns, events, err);        // -1 on failure; 0: the deadline, a
 * signal
 *
 * Level-triggered; monotonic nanoseconds. POLLER_GONE comes unasked when the peer reset or shut
 * both directions. One thread. Limits: POLLER_BATCH events a wait; what is left over comes with the
 * next one.
 */
#ifndef TALLY_SIM_POLLER_H
#define TALLY_SIM_POLLER_H

#include <stdint.h>

#include "base/error.h"

#define POLLER_BATCH 256

enum { POLLER_IN = 1, POLLER_OUT = 2, POLLER_GONE = 4 };

struct poller;

struct poller_event {
    uint64_t tag;
    unsigned what;
};

int poller_new(struct poller **out, struct error *err) TALLY_MUST_CHECK;
void poller_free(struct poller *p);
/* what: 0 watches only for POLLER_GONE. */
int poller_set(struct poller *p, int fd, unsigned what, uint64_t tag,
               struct error *err) TALLY_MUST_CHECK;
void poller_remove(struct poller *p, int fd); /* before the descriptor is closed */
/* deadline_ns: INT64_MAX: none; in the past: only what is ready now. */
int poller_wait(struct poller *p, int64_t deadline_ns, struct poller_event events[POLLER_BATCH],
                struct error *err) TALLY_MUST_CHECK;

#endif
