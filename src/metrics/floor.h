/*
 * The floor of a client: how late its stamps are where nothing else is measured, against a server
 * that writes into each token when it sent it (tally-sim --null --stamp, on the same machine).
 *
 *     struct metrics_floor f;
 *     if (metrics_floor_compute(&f, samples, n, zero_mono_ns, &arena, err) < 0) ...
 *
 * A token's error is its read's stamp less the time in its text. Both are of one clock, the
 * machine's monotonic one; zero_mono_ns is where the samples' times count from. Pure, and the same
 * for receipt and verify. A text that is no time is ERROR_INPUT, rule "calibration".
 */
#ifndef TALLY_METRICS_FLOOR_H
#define TALLY_METRICS_FLOOR_H

#include "base/arena.h"
#include "base/error.h"
#include "metrics/client.h"
#include "record/sample.h"

struct metrics_floor {
    int64_t requests, requests_ok, events; /* events: tokens of requests that ended ok */
    struct client_lag kernel_error, user_error, read_lag;
    int64_t outside; /* tokens sent after their upper bound: the clocks do not agree */
};

int metrics_floor_compute(struct metrics_floor *out, const struct sample *samples, size_t n,
                          int64_t zero_mono_ns, struct arena *arena,
                          struct error *err) TALLY_MUST_CHECK;

#endif
