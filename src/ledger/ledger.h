/*
 * The ledger: an append-only chain of what was run, so that a run cannot be tried again until it
 * pleases. One SQLite file behind this narrow interface.
 *
 *     struct ledger *l;
 *     if (ledger_open(&l, "ledger.db", LEDGER_WRITE, err) < 0) ...
 *     if (ledger_spend(l, &claim, &link, err) < 0) ...      // before the first timed request
 *     if (ledger_settle(l, &link, &outcome, err) < 0) ...   // when the receipt is written
 *
 * Every link holds the digest of the one before it: digest = SHA-256 of the canonical line
 * {"seq","previous","kind","key","time","body"} (ledger_link_line). Kinds: `spend` opens a cell
 * before it is measured, `settle` names the receipt that came of it, `baseline` records which
 * receipt a ratchet compares with. Nothing is ever changed or removed.
 *
 * The chain proves order and completeness only from where its head was published: who holds the
 * file can write another chain. Publish ledger_head() with each release.
 *
 * Durability: a function that returned 0 has its link on disk (WAL, synchronous = FULL).
 * Ownership: strings in a struct ledger_link handed to a callback live until it returns; in one
 * that was filled for the caller they live until the next call on the ledger.
 * Limits: LEDGER_TEXT_MAX bytes a key or body; LEDGER_LOOKS_MAX looks.
 */
#ifndef TALLY_LEDGER_LEDGER_H
#define TALLY_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/str.h"

#define LEDGER_TEXT_MAX ((size_t)64 << 10)
#define LEDGER_LOOKS_MAX 8
#define LEDGER_BUSY_MS 10000

struct ledger;

/* READ: the file must exist and is not written. WRITE: created, migrated, appended to. */
enum ledger_mode { LEDGER_READ, LEDGER_WRITE };

#define LEDGER_KINDS(X)        \
    X(LEDGER_SPEND, "spend")   \
    X(LEDGER_SETTLE, "settle") \
    X(LEDGER_BASELINE, "baseline")

enum ledger_kind {
#define X(id, name) id,
    LEDGER_KINDS(X)
#undef X
};

struct ledger_link {
    int64_t seq;               /* 1, 2, 3 … */
    char previous[SHA256_HEX]; /* sixty-four zeros for the first */
    char digest[SHA256_HEX];
    enum ledger_kind kind;
    char key[SHA256_HEX]; /* of the cell */
    int64_t time_ns;      /* real time, UTC */
    struct str body;      /* one JSON object */
};

/* What a run is about to spend. */
struct ledger_claim {
    struct str cell_json; /* lane hosts, builds, model, workload: canonical JSON; its digest is the
                             key, so that nothing of the protocol is in it */
    char protocol_sha256[SHA256_HEX];
    char nonce[SHA256_HEX];          /* of the run; any text shorter than the field */
    struct str run_dir;              /* where it will be written */
    int32_t replicates;              /* of this run */
    int32_t looks[LEDGER_LOOKS_MAX]; /* replicates in all at each declared look, ascending */
    size_t looks_n;                  /* 0: one look, at `replicates` */
    int64_t time_ns;
};

/* What came of it. */
struct ledger_outcome {
    struct str run_id; /* of the receipt */
    char receipt_sha256[SHA256_HEX];
    enum status status;
    int64_t time_ns;
};

int ledger_open(struct ledger **out, const char *path, enum ledger_mode mode,
                struct error *err) TALLY_MUST_CHECK;
void ledger_close(struct ledger *l);

/* Appends a spend link. ERROR_REFUSED with rule `spent_cell` when the cell was spent: the message
 * names the earlier run, the remedy what is left (a new build, or the next declared look). */
int ledger_spend(struct ledger *l, const struct ledger_claim *claim, struct ledger_link *link,
                 struct error *err) TALLY_MUST_CHECK;
/* Appends the settle link of a spend link. ERROR_REFUSED `settled_twice` when it has one. */
int ledger_settle(struct ledger *l, const struct ledger_link *spend,
                  const struct ledger_outcome *outcome, struct error *err) TALLY_MUST_CHECK;
/* Appends a baseline link: body is one JSON object naming cell, build and receipt. */
int ledger_baseline(struct ledger *l, struct str cell_json, struct str body, int64_t time_ns,
                    struct error *err) TALLY_MUST_CHECK;

/* Calls `each` for every link in order; it stops the walk by returning -1 with *err set. */
int ledger_walk(struct ledger *l,
                int (*each)(void *ctx, const struct ledger_link *, struct error *), void *ctx,
                struct error *err) TALLY_MUST_CHECK;
/* 0 and the link with that seq, or ERROR_INPUT. */
int ledger_get(struct ledger *l, int64_t seq, struct ledger_link *link,
               struct error *err) TALLY_MUST_CHECK;
/* Whether a receipt settles a link of this chain; *spend is its spend link's seq, 0 when not. */
int ledger_find_receipt(struct ledger *l, struct str run_id, int64_t *spend_seq,
                        struct error *err) TALLY_MUST_CHECK;
/* Digest of the last link, sixty-four zeros when empty, and how many there are. */
int ledger_head(struct ledger *l, char digest[SHA256_HEX], int64_t *count,
                struct error *err) TALLY_MUST_CHECK;

struct ledger_health {
    int64_t links, spent, settled;
    int64_t first_unsettled; /* seq of the first spend without a receipt; 0 when none */
};

/* Recomputes the whole chain. ERROR_REFUSED, rule `ledger_chain`, naming the first link that does
 * not follow from the one before it, is missing, or says what its kind cannot say. */
int ledger_check(struct ledger *l, struct ledger_health *health,
                 struct error *err) TALLY_MUST_CHECK;

/* The canonical line a link's digest is made of, without LF. */
void ledger_link_line(const struct ledger_link *link, struct buf *out);
const char *ledger_kind_name(enum ledger_kind kind);

#endif
