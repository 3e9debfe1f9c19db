/*
 * The text of a receipt and of run.json, from plain records and what metrics made of the samples:
 * the one place that knows the order of keys. receipt_finish writes what this gives; verify
 * composes it again and compares.
 *
 *     struct receipt_parts parts = {.run = &run, .host = &host, .program = &program, ...};
 *     if (compose_receipt(&parts, &arena, &text, run_id, err) < 0) ...
 *
 * The text is JSON of two spaces a level and a line feed at the end. The run id is the SHA-256 of
 * that text without its own line, which is the third:
 *     sed 3d receipt.json | sha256sum
 *
 * Ownership: everything in the parts is borrowed; what is made on the way lives in the arena.
 */
#ifndef TALLY_RECEIPT_COMPOSE_H
#define TALLY_RECEIPT_COMPOSE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "metrics/floor.h"
#include "metrics/metrics.h"
#include "receipt/host.h"
#include "receipt/receipt.h"
#include "receipt/rules.h"
#include "record/run.h"

/* A file of the directory that is no sample file: probe.json, run.json, raw responses. */
struct receipt_file {
    const char *name;
    char sha256[SHA256_HEX];
};

struct receipt_parts {
    const struct run_record *run; /* redacted; output_count_source set */
    const struct receipt_host *host;
    const struct receipt_program *program;
    const struct metrics_floor *floor; /* where the client's floor was measured; else NULL */
    const char *ledger_json;           /* one object; NULL: "none" */
    const struct receipt_file *files;  /* by name */
    size_t files_n;
    struct metrics_band *const *metrics; /* one a band of run */
    const struct rules_band *facts;      /* likewise */
};

/* What is decided on the way: verdict->refusals and the rest live in the arena. */
int compose_receipt(const struct receipt_parts *p, struct arena *arena, struct buf *out,
                    char run_id[SHA256_HEX], struct rules_verdict *verdict,
                    struct error *err) TALLY_MUST_CHECK;
int compose_run(const struct receipt_parts *p, struct arena *arena, struct buf *out,
                struct error *err) TALLY_MUST_CHECK;

/* Splits a receipt's text at its run-id line: *id points into the text, the digest is of the text
 * without the line. -1 with rule "run_id" where the line is not the third. */
int receipt_text_id(struct str text, struct str *id, char digest[SHA256_HEX],
                    struct error *err) TALLY_MUST_CHECK;

#endif
