/*
 * From the samples of a run's bands to everything that a receipt derives of them: what
 * receipt_finish and verify both do, so that neither can do it differently.
 *
 *     struct measure m;
 *     if (measure_init(&m, &run, err) < 0) ...
 *     for each band i: sample_file_read(&s, &n, NULL, path, &scratch, err);
 *                      measure_band(&m, i, s, n, err); arena_reset(&scratch);
 *     measure_finish(&m);                          // then m.metrics[i], m.facts[i]
 *     measure_release(&m);
 *
 * Samples that metrics cannot take (times that run backwards, samples of another band) leave their
 * band without numbers and with the rule that they break.
 * Ownership: `run` is borrowed, the samples only during the call; what lasts lies in m.arena.
 */
#ifndef TALLY_RECEIPT_MEASURE_H
#define TALLY_RECEIPT_MEASURE_H

#include "base/arena.h"
#include "base/error.h"
#include "metrics/metrics.h"
#include "receipt/rules.h"
#include "record/run.h"

struct measure {
    struct arena arena;
    const struct run_record *run;
    struct metrics_band **metrics; /* one a band of run */
    struct rules_band *facts;
    int64_t *broken_line; /* of the sample that breaks a rule; 0 */
};

int measure_init(struct measure *m, const struct run_record *run,
                 struct error *err) TALLY_MUST_CHECK;
void measure_release(struct measure *m); /* NULL and zeroed are fine */
int measure_band(struct measure *m, size_t i, const struct sample *samples, size_t n,
                 struct error *err) TALLY_MUST_CHECK;
/* Scaling efficiency, which needs the band of c = 1 beside each. */
void measure_finish(struct measure *m);

#endif
