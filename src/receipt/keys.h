/*
 * What makes two measurements comparable (the join key), and what a run spends (the cell), spec
 * section 9: canonical JSON on one line, and digests of it.
 *
 *     keys_write_join(run, lane, metrics, &w);          // an object
 *     keys_request_sha256(&run->plan, hex, err);
 *
 * A field that is unknown is null in the key, and null equals nothing: whoever compares two keys
 * refuses on it (receipt_join_differs).
 */
#ifndef TALLY_RECEIPT_KEYS_H
#define TALLY_RECEIPT_KEYS_H

#include "base/arena.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "metrics/metrics.h"
#include "record/run.h"

/* Of what is asked of a server: the request's parameters, wire and streaming. */
int keys_request_sha256(const struct run_plan *plan, char out[SHA256_HEX],
                        struct error *err) TALLY_MUST_CHECK;
/* Writes the join key of a lane as an object. metrics: one a band of run. program_sha256 may be "".
 */
int keys_write_join(const struct run_record *run, size_t lane, struct metrics_band *const *metrics,
                    const char *program_sha256, struct json_writer *w,
                    struct error *err) TALLY_MUST_CHECK;
/* Digest of the key's compact JSON. */
int keys_join_sha256(const struct run_record *run, size_t lane, struct metrics_band *const *metrics,
                     const char *program_sha256, char out[SHA256_HEX],
                     struct error *err) TALLY_MUST_CHECK;

/* The first field in which two join keys (objects of a receipt) differ, or that either does not
 * know; NULL when they are equal and known. `unknown` tells which of the two it is. */
const char *receipt_join_differs(const struct json *a, const struct json *b, bool *unknown);

#endif
