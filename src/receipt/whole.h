/*
 * A run directory with everything that follows from it: the records, every band's metrics from its
 * samples, the verdict of the rules, and the paired ratios.
 *
 *     struct receipt_whole w;
 *     if (receipt_whole_read(&w, "run", true, err) < 0) ...
 *     w.run, w.bands[i].metrics, w.verdict.status, w.pairs[k] ...
 *     receipt_whole_release(&w);
 *
 * Nothing here is trusted to be consistent: verify says whether the stated numbers are these. A
 * directory that was cut off (w.read.complete is false) has the bands that were written.
 * Ownership: everything lives in w. With keep_samples all samples of the run are held at once.
 */
#ifndef TALLY_RECEIPT_WHOLE_H
#define TALLY_RECEIPT_WHOLE_H

#include "metrics/pairs.h"
#include "receipt/measure.h"
#include "receipt/read.h"
#include "receipt/rules.h"

struct receipt_whole_band {
    const struct run_band *record;
    const struct metrics_band *metrics;
    const struct sample *samples; /* NULL, 0 unless they were to be kept */
    size_t samples_n;
};

struct receipt_whole {
    struct receipt_read read;
    struct measure measure;
    struct arena arena;
    const struct run_record *run;
    struct receipt_whole_band *bands; /* one a band of run */
    struct rules_verdict verdict;
    struct metrics_pairs *pairs; /* one a concurrency; none with one lane */
    size_t pairs_n;
};

/* On failure w is released. Errors are those of receipt/read.h and record/sample_file.h. */
int receipt_whole_read(struct receipt_whole *w, const char *dir, bool keep_samples,
                       struct error *err) TALLY_MUST_CHECK;
void receipt_whole_release(struct receipt_whole *w); /* NULL and zeroed are fine */

#endif
