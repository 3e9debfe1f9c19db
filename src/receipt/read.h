/*
 * A run directory read back: the plain records that a receipt, or run.json alone, was made from.
 *
 *     struct receipt_read r;
 *     if (receipt_read_dir(&r, dir, err) < 0) ...
 *     if (!r.complete) ...                         // cut off: INCOMPLETE{interrupted}
 *     receipt_read_release(&r);
 *
 * Nothing is trusted: every member that the composer would write must be there, of its type and in
 * its range (rule "schema" with path, line and column); names of sample files must be the canonical
 * ones, so that no path leads out of the directory. Derived members are not looked at here: verify
 * composes them again. Members that nobody knows are found by that comparison.
 * Ownership: everything lives in r, strings as well.
 * Limits: RECEIPT_BYTES_MAX of text, READ_DEPTH levels, RUN_* of record/run.h.
 */
#ifndef TALLY_RECEIPT_READ_H
#define TALLY_RECEIPT_READ_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "codec/json.h"
#include "receipt/compose.h"
#include "receipt/host.h"
#include "record/run.h"

#define RECEIPT_READ_DEPTH 64
#define RECEIPT_FILES_MAX 100000 /* listed in a receipt */

struct receipt_read {
    struct arena arena;
    bool complete; /* there is a receipt.json; else only run.json was read */
    struct buf text;
    const struct json *doc;
    struct run_record run;
    struct receipt_host host;
    struct receipt_program program;
    const char *ledger_json; /* NULL: none */
    const struct receipt_file *files;
    size_t files_n;
    struct str run_id; /* as stated; "" without a receipt */
};

/* ERROR_IO where the files cannot be read, ERROR_REFUSED with a rule where they are not what they
 * should be. On failure r is released. */
int receipt_read_dir(struct receipt_read *r, const char *dir, struct error *err) TALLY_MUST_CHECK;
void receipt_read_release(struct receipt_read *r); /* NULL and zeroed are fine */

/* The same from the text of a receipt (complete) or of a run.json. `name` is for errors. */
int receipt_read_text(struct receipt_read *r, struct str text, bool complete, const char *name,
                      struct error *err) TALLY_MUST_CHECK;

/* samples/LANE.cBAND.rREP.jsonl and `end`: "" while it is written, RECEIPT_SAMPLE_STORED then. */
#define RECEIPT_SAMPLE_NAME_MAX 100
#define RECEIPT_SAMPLE_STORED ".gz"
void receipt_sample_name(char out[RECEIPT_SAMPLE_NAME_MAX], const char *role, int32_t band,
                         int32_t replicate, const char *end);

/* server/LANE.cBAND.rREP.json: what the lane's server said before and after the band. */
void receipt_server_name(char out[RECEIPT_SAMPLE_NAME_MAX], const char *role, int32_t band,
                         int32_t replicate);

/* Whether records are within the limits that a reader insists on: lanes, bands, roles, nonce, JSON
 * values. The producer asks before it starts. */
int receipt_check_record(const struct run_record *run, struct error *err) TALLY_MUST_CHECK;

#endif
