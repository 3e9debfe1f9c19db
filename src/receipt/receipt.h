/*
 * A run directory and its receipt (spec section 8).
 *
 *     struct receipt_run *r;
 *     if (receipt_start(&r, dir, &declared, &client, err) < 0) ...       // run.json
 *     for each band: receipt_band_open(r, lane, c, rep, err); receipt_band_add(r, &sample, err) …;
 *                    receipt_band_close(r, &band, err);                  // fills file and digest
 *     if (receipt_finish(r, &run, &result, err) < 0) ...                 // receipt.json
 *     receipt_run_free(r);
 *
 * The directory:
 *     run.json                          written at the start: nonce, plan, command line, lanes,
 * host samples/LANE.cBAND.rREP.jsonl     plain while the band runs; .jsonl.gz once it is closed
 *     server/LANE.cBAND.rREP.json       what the lane's server said of itself, verbatim
 *     calibration.jsonl.gz              samples of the client's floor, where it was measured
 *     probe.json, and other files       put there by others before receipt_finish: listed, digested
 *     receipt.json                      at the end; receipt.dsse.json beside it when it is signed
 *
 * Every number that receipt_finish derives comes from the sample files as they lie on the disk, by
 * src/metrics; verify composes the receipt again from its plain records and the samples
 * (receipt/compose.h) and compares texts. Output tokens are counted by the best reading that all
 * samples of all lanes give, which is noted while they are written.
 *
 * Secrets: command lines and URLs are redacted (receipt/redact.h) before they are kept.
 * Ownership: strings of `declared` and `client` are copied; those of `run` are borrowed.
 * Threads: one at a time. Limits: RECEIPT_* below.
 */
#ifndef TALLY_RECEIPT_RECEIPT_H
#define TALLY_RECEIPT_RECEIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/status.h"
#include "receipt/sweep.h"
#include "record/run.h"
#include "record/sample.h"

#define RECEIPT_SCHEMA "tallystick.receipt/1"
#define RECEIPT_RUN_SCHEMA "tallystick.run/1"
#define RECEIPT_NAME "receipt.json"
#define RECEIPT_RUN_NAME "run.json"
#define RECEIPT_SAMPLES_DIR "samples"
#define RECEIPT_SERVER_DIR "server"
#define RECEIPT_CALIBRATION_NAME "calibration.jsonl.gz"
#define RECEIPT_BYTES_MAX ((size_t)256 << 20) /* of receipt.json */
#define RECEIPT_ARENA_MAX ((size_t)2 << 30)   /* of a receipt read, or of one band's samples */
#define RECEIPT_ARGS_MAX 1024                 /* words of a command line */
#define RECEIPT_REFUSALS_MAX 4096

/* Who measured: version and commit of the program; the digest of its binary is taken here. */
struct receipt_client {
    const char *version, *commit;
};

struct receipt_run;

/* Makes dir (which must be free) and writes run.json. `declared` has plan, lanes with the identity
 * they reported, argv and t_start_real_ns; its bands are not looked at. */
int receipt_start(struct receipt_run **out, const char *dir, const struct run_record *declared,
                  const struct receipt_client *client, struct error *err) TALLY_MUST_CHECK;
/* NULL is fine. Without receipt_finish the directory stays as it is: INCOMPLETE{interrupted}. */
void receipt_run_free(struct receipt_run *r);

/* One band at a time. Each sample is checked (sample_check) and written as one whole line. */
int receipt_band_open(struct receipt_run *r, size_t lane, int32_t band, int32_t replicate,
                      struct error *err) TALLY_MUST_CHECK;
int receipt_band_add(struct receipt_run *r, const struct sample *s,
                     struct error *err) TALLY_MUST_CHECK;
/* Compresses, flushes and renames; sets b->sample_file (lives as long as r) and b->sample_sha256. A
 * band without any sample has an empty file. */
int receipt_band_close(struct receipt_run *r, struct run_band *b,
                       struct error *err) TALLY_MUST_CHECK;

/* Keeps what a server said before and after the band (receipt/server_said.h), as a file of the run
 * directory, and sets b->server from it. */
int receipt_server_keep(struct receipt_run *r, struct run_band *b, struct str text,
                        struct error *err) TALLY_MUST_CHECK;

/* Keeps the samples of the client's floor, before the first band; sets k->file and k->sha256. */
int receipt_calibration_keep(struct receipt_run *r, struct run_calibration *k,
                             const struct sample *samples, size_t n,
                             struct error *err) TALLY_MUST_CHECK;

/* What a sweep's probe came to: the band `i` of `run`, which was closed, measured by itself as the
 * receipt will measure it with all the others. */
int receipt_sweep_look(struct receipt_run *r, const struct run_record *run, size_t i,
                       enum sweep_seen *out, const char **why, struct error *err) TALLY_MUST_CHECK;

/* The ledger entry of this run: one JSON object. Without it the receipt says `none`. */
int receipt_set_ledger(struct receipt_run *r, struct str json, struct error *err) TALLY_MUST_CHECK;

/* Why a band or the run is no evidence: rules and remedies in receipt/rules.h. */
struct receipt_refusal {
    const char *rule;
    const char *lane;        /* NULL: the run as a whole */
    int32_t band, replicate; /* 0: the lane, or the run, as a whole */
    const char *seen, *remedy;
};

struct receipt_result {
    enum status status;
    const char *reason; /* why it is not PASS; NULL */
    char run_id[SHA256_HEX];
    const struct receipt_refusal *refusals; /* live as long as r */
    size_t refusals_n;
};

/* Computes everything and writes receipt.json, atomically. `run` is the whole record: its plan may
 * say more than the declared one did (output_count_source is set here), its bands in the order in
 * which they were measured. */
int receipt_finish(struct receipt_run *r, const struct run_record *run, struct receipt_result *out,
                   struct error *err) TALLY_MUST_CHECK;

/* The cell that a run spends (spec section 9): canonical JSON of lane hosts, builds, model and
 * workload, for ledger_claim. Known before the run starts. */
int receipt_cell_json(const struct run_record *declared, struct buf *out,
                      struct error *err) TALLY_MUST_CHECK;
/* SHA-256 of the protocol's canonical JSON, likewise. */
int receipt_protocol_sha256(const struct run_record *declared, char out[SHA256_HEX],
                            struct error *err) TALLY_MUST_CHECK;

#endif
