/*
 * A sweep of rates: which probe comes next, and what was found, from the bands alone. load asks as
 * it measures, compose writes what it comes to, verify replays it.
 *
 *     struct sweep_result r;
 *     sweep_replay(&run, metrics, lane, replicate, &r);
 *     if (r.done) ... run.plan.bands[r.met], run.plan.bands[r.missed]
 *
 * The declared bands are the points; stats/search.h says which are probed. A probe meets the
 * objective when its slo_attainment is no less than plan.slo_share. One whose server failed, or did
 * not come to an end, misses it; one that says nothing of the server (the client was saturated, the
 * run was interrupted, tokens cannot be timed) ends the search without a result.
 */
#ifndef TALLY_RECEIPT_SWEEP_H
#define TALLY_RECEIPT_SWEEP_H

#include "metrics/metrics.h"
#include "record/run.h"

enum sweep_seen { SWEEP_MET, SWEEP_MISSED, SWEEP_UNKNOWN };

/* *why: for SWEEP_UNKNOWN, what stood in the way; else NULL. */
enum sweep_seen sweep_look(const struct run_plan *plan, const struct run_band *b,
                           const struct metrics_band *m, const char **why);

struct sweep_result {
    int64_t met,
        missed; /* indices into plan.bands: highest met (-1: none), lowest missed (bands_n) */
    int64_t probes;
    bool done;
    int64_t next;    /* not done: the index that is probed next */
    const char *why; /* not done: what stood in the way; NULL: the next was not measured */
};

void sweep_replay(const struct run_record *run, struct metrics_band *const *metrics, size_t lane,
                  int32_t replicate, struct sweep_result *out);
/* Whether the band was probed at all, by any lane in any replicate. */
bool sweep_probed(const struct run_record *run, int32_t band);
/* No more probes than these are needed for n points. */
int64_t sweep_most_probes(int64_t n);

#endif
