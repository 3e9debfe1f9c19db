/*
 * How long a thread that waits takes to wake up, calibrated on this machine.
 *
 *     int64_t wakeup_ns;
 *     if (wakeup_calibrate(&wakeup_ns, err) < 0) ...
 *
 * WAKEUP_ROUNDS times another thread stamps and wakes a poller that blocks; the result is the
 * WAKEUP_RANK-th smallest delay: long enough to bound nearly all, short enough not to be a hiccup
 * of the machine. Takes about 10 ms.
 */
#ifndef TALLY_WIRE_WAKEUP_H
#define TALLY_WIRE_WAKEUP_H

#include <stdint.h>

#include "base/error.h"

#define WAKEUP_ROUNDS 40
#define WAKEUP_RANK 36

int wakeup_calibrate(int64_t *wakeup_ns, struct error *err) TALLY_MUST_CHECK;

/* Time the calling thread has waited for a core since it began; INT64_MIN where the system does
 * not say. */
int64_t thread_run_queue_wait_ns(void);

#endif
