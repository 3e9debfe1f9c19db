/*
 * Measures the floor of this client: as many streams as the largest band has, from a server that
 * only sends the time (tally-sim --null --stamp), over the very loop that bands use.
 *
 *     struct calibrate_config c = {.url = url, .streams = 16, .zero_ns = zero, ...};
 *     if (calibrate(&c, &samples, &n, &calibration, &arena, err) < 0) ...
 *
 * Ownership: samples live in the arena. Limits: CALIBRATE_STREAMS_MAX streams.
 */
#ifndef TALLY_LOAD_CALIBRATE_H
#define TALLY_LOAD_CALIBRATE_H

#include <signal.h>

#include "base/arena.h"
#include "record/run.h"
#include "record/sample.h"

#define CALIBRATE_STREAMS_MAX 256
#define CALIBRATE_TOKENS 100 /* of each stream */
#define CALIBRATE_RATE 100   /* tokens a second of each, which the server is to keep */

struct calibrate_config {
    const char *url;
    int32_t streams;
    int64_t zero_ns;
    bool user_time_only;
    int64_t burn_ns;
    const volatile sig_atomic_t *stop; /* NULL */
};

int calibrate(const struct calibrate_config *config, struct sample **samples, size_t *n,
              struct run_calibration *out, struct arena *arena, struct error *err) TALLY_MUST_CHECK;

#endif
