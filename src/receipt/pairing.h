/*
 * What a receipt says of its bands taken together: intervals within each lane, and the paired
 * comparison of two lanes, one concurrency each.
 *
 *     struct metrics_pairs *pairs;  size_t n;
 *     if (pairing_compute(&run, metrics, band_status, &arena, &pairs, &n, err) < 0) ...
 *     if (pairing_write(&run, metrics, band_status, &arena, &writer, err) < 0) ...
 *
 * A band counts when its status is PASS; one that does not leaves its pair missing. With one lane
 * there are no pairs (n = 0). metrics and band_status: one a band of run, in its order.
 * Ownership: the pairs live in the arena; metrics must outlive them.
 */
#ifndef TALLY_RECEIPT_PAIRING_H
#define TALLY_RECEIPT_PAIRING_H

#include "base/arena.h"
#include "base/error.h"
#include "base/status.h"
#include "metrics/metrics.h"
#include "metrics/pairs.h"
#include "record/run.h"

int pairing_compute(const struct run_record *run, struct metrics_band *const *metrics,
                    const enum status *band_status, bool unequal_work, struct arena *arena,
                    struct metrics_pairs **out, size_t *n, struct error *err) TALLY_MUST_CHECK;

/* Adds the members "intervals" (an array, one a lane and concurrency) and "pairs" (an array, one a
 * concurrency, empty with one lane) to the open object. */
int pairing_write(const struct run_record *run, struct metrics_band *const *metrics,
                  const enum status *band_status, struct arena *arena, struct json_writer *w,
                  struct error *err) TALLY_MUST_CHECK;

#endif
