/*
 * The gate's judgement: a matrix applied to receipts that were read and verified. Pure: the same
 * input gives the same rows everywhere, and nothing here reads the machine it runs on.
 *
 *     struct gate_verdict v;
 *     if (gate_judge(&matrix, &input, &arena, &v, err) < 0) ...
 *     for (size_t i = 0; i < v.rows_n; i++) ...           // every cell, arm, band: its own status
 *
 * Arms (spec section 9): self-regression and parity compare x_r = ln(subject/comparator), turned so
 * that above 0 favours the subject, with the margin ln(1 - delta): PASS iff L >= margin; FAIL iff
 * the hypothesis "not below the margin" falls to Holm's procedure over all declared comparisons at
 * alpha (halved for two looks, and so on); else INCONCLUSIVE. The verdict is the worst over rows
 * that count; no mean over cells anywhere. A cell that was not measured is never green, and an arm
 * that looked at nothing says so. The phase `merge` judges integrity only: no wall-clock number.
 *
 * Ownership: rows and their texts live in the arena; input is borrowed.
 * Limits: GATE_ROWS_MAX rows, GATE_RECEIPTS_MAX receipts.
 */
#ifndef TALLY_GATE_JUDGE_H
#define TALLY_GATE_JUDGE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/status.h"
#include "gate/matrix.h"
#include "metrics/metrics.h"
#include "metrics/pairs.h"
#include "record/run.h"

#define GATE_ROWS_MAX 65536
#define GATE_RECEIPTS_MAX 4096
#define GATE_ALPHA 0.05
#define GATE_SESSIONS 6 /* receipts of separate sessions that make a baseline */

enum gate_phase { GATE_MERGE, GATE_RELEASE };

/* One receipt as it was found. */
struct gate_receipt {
    const char *path;
    bool verified;           /* every rule of verify held */
    const char *verify_said; /* the first rule that did not, or "" */
    enum status status;      /* the receipt's own */
    const char *reason;      /* NULL */
    const struct run_record *run;
    const struct metrics_band *const *bands; /* one a run->bands, same order */
    const struct metrics_pairs *pairs;
    size_t pairs_n;
    const char *workload; /* the plan's protocol name, as matrices call workloads */

    bool signature_valid;       /* by a trusted key */
    const char *signature_said; /* "there is no signature" … */
    bool in_ledger;             /* settles a link of the ledger given, whose chain holds */
    const char *ledger_said;    /* why not */
    size_t looks;               /* declared; 0 and 1 are one look */
};

struct gate_input {
    enum gate_phase phase;
    int64_t now_ns; /* real time: for expiries and freshness */
    const struct gate_receipt *receipts;
    size_t receipts_n;
    /* Earlier receipts of separate sessions, for self-regression without a build to run. */
    const struct gate_receipt *sessions;
    size_t sessions_n;
};

struct gate_row {
    const struct matrix_cell *cell;
    const struct matrix_arm *arm; /* NULL: the cell itself */
    int32_t band;                 /* 0: all */
    const char *what;             /* "agg_tok_s", "drain share" …; "" */
    enum status status;
    bool counts;        /* false for reporting arms */
    const char *number; /* as seen, in words: "0.9712 (L 0.9641, U 0.9784)"; "" */
    const char *bound;  /* what it was held against: ">= 0.95"; "" */
    const struct matrix_number *threshold; /* its class and author; NULL */
    const char *why;                       /* a sentence */
    const char *remedy;                    /* NULL */
    const char *receipt;                   /* path; NULL */
    double p;                              /* of a comparison; negative: none */
};

struct gate_verdict {
    enum status status;
    const struct gate_row *rows;
    size_t rows_n;
    size_t comparisons; /* declared and made: Holm's m */
    double alpha;       /* after looks */
};

int gate_judge(const struct matrix *m, const struct gate_input *in, struct arena *arena,
               struct gate_verdict *out, struct error *err) TALLY_MUST_CHECK;

#endif
