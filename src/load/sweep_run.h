/*
 * Runs a sweep: the search of each lane in each replicate, one behind the other, A B in odd
 * replicates and B A in even ones.
 *
 *     struct sweep_run s = {.plan = plan, .lanes_n = 2, .measure = measure, .note = note, .ctx =
 * me}; if (sweep_run(&s, err) < 0) ...
 *
 * Which probe comes next is receipt/sweep.h's and stats/search.h's to say; what it came to is told
 * as one note a search.
 */
#ifndef TALLY_LOAD_SWEEP_RUN_H
#define TALLY_LOAD_SWEEP_RUN_H

#include "load/schedule.h"
#include "receipt/sweep.h"

struct sweep_run {
    const struct run_plan *plan;
    const char *roles[RUN_LANES_MAX];
    size_t lanes_n;
    /* Measures one band. *go_on is false when the run was stopped; *seen is set otherwise. */
    int (*measure)(void *ctx, const struct schedule_step *step, bool *go_on, enum sweep_seen *seen,
                   const char **why, struct error *err);
    void (*note)(void *ctx, bool warning, const char *text);
    void *ctx;
};

int sweep_run(const struct sweep_run *s, struct error *err) TALLY_MUST_CHECK;

#endif
