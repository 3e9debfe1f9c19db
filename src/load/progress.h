/*
 * What a run tells while it goes on. Calls come from one thread at a time, never from the timing
 * thread, so a slow terminal delays nothing that is measured.
 *
 *     struct load_progress p = {.ctx = me, .note = print_note, .state = print_state};
 *
 * Strings live until the call returns.
 */
#ifndef TALLY_LOAD_PROGRESS_H
#define TALLY_LOAD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "record/run.h"

/* Where a run stands, a few times a second while a band runs. */
struct load_state {
    const char *lane;
    int32_t band, replicate, replicates;
    char band_name[RUN_BAND_NAME_MAX]; /* "c = 4", "2.5 req/s" */
    size_t band_index, bands_in_all;   /* over the whole run, from 0 */
    const char *stage;                 /* "warm-up", "quiesce", "window", "drain" */
    int64_t ended, failed;             /* requests of the window so far */
    double tok_s;                      /* output tokens a second since the window opened; below 0:
                                          not known yet */
    int64_t ttft_ns;                   /* median of the last requests; below 0: not known yet */
    int64_t window_ns;                 /* since it opened; 0 before */
    int64_t left_ns;                   /* of the whole run, at least; below 0: not known */
};

struct load_band_done {
    struct load_state state;
    enum status status;
    const char *reason; /* NULL */
    int64_t drain_ns;
};

struct load_progress {
    void *ctx;
    void (*note)(void *ctx, bool warning, const char *text); /* one sentence, no full stop */
    void (*state)(void *ctx, const struct load_state *state);
    void (*band_done)(void *ctx, const struct load_band_done *done);
};

#endif
