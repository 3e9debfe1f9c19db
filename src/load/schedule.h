/*
 * In which order a run measures, and how much of it there is.
 *
 *     struct schedule_step steps[...]; n = schedule_make(&plan, lanes_n, steps);
 *     schedule_estimate(&plan, lanes_n, latency_ns, &requests, &ns);
 *
 * Within a replicate, for each band in ascending order, both lanes back to back: A B in odd
 * replicates, B A in even ones (spec section 5).
 */
#ifndef TALLY_LOAD_SCHEDULE_H
#define TALLY_LOAD_SCHEDULE_H

#include "record/run.h"

struct schedule_step {
    size_t lane;
    int32_t band, replicate;
};

/* The load model known, bands ascending, without repetition, everything in range. ERROR_USAGE names
 * the option. */
int schedule_check(struct run_plan *plan, struct error *err) TALLY_MUST_CHECK;
size_t schedule_length(const struct run_plan *plan, size_t lanes_n);
/* Fills schedule_length() steps. */
void schedule_make(const struct run_plan *plan, size_t lanes_n, struct schedule_step *steps);

/* At least so many requests and so much time for one step. latency_ns: of one request, as the
 * completion before the clock showed; 0 when not known. */
void schedule_estimate_step(const struct run_plan *plan, int32_t band, int64_t latency_ns,
                            int64_t *requests, int64_t *ns);
/* The same for all of it; latency_ns by lane. */
void schedule_estimate(const struct run_plan *plan, size_t lanes_n,
                       const int64_t latency_ns[RUN_LANES_MAX], int64_t *requests, int64_t *ns);

#endif
