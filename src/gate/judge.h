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
 * A cell may have several receipts, one a comparator: a ratchet's build, and others.
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

/* id, name, what holds where it is green */
#define GATE_RULES(X)                                                                            \
    X(GATE_RECEIPT, "receipt", "a cell that is declared MEASURED has its receipt")               \
    X(GATE_ONE_RECEIPT, "one_receipt",                                                           \
      "a cell has one receipt a comparator, all of one build: with two somebody could choose")   \
    X(GATE_KNOWN_CELL, "known_cell", "every receipt belongs to a cell of the matrix")            \
    X(GATE_EXPIRY, "expiry", "a cell that is declared UNMEASURED has not expired")               \
    X(GATE_APPLICABLE, "applicable", "something is left to judge: nothing is no pass")           \
    X(GATE_LOOKED, "looked", "every arm that counts looked at something")                        \
    X(GATE_VERIFY, "verify", "every rule of verify holds")                                       \
    X(GATE_STATUS, "status", "the receipt's own status, by its own rules, is PASS")              \
    X(GATE_TOKENIZATION, "tokenization",                                                         \
      "tokens were counted by the client with the model's own tokenizer, for every lane")        \
    X(GATE_BAND, "band", "every band of the matrix was measured")                                \
    X(GATE_CONSERVATION, "conservation", "every request issued has one outcome")                 \
    X(GATE_TIME_OUTS, "time_outs", "no request timed out")                                       \
    X(GATE_ZERO_TOKENS, "zero_tokens", "no answer ended ok without a token")                     \
    X(GATE_WINDOW, "window", "no request was sent outside the window")                           \
    X(GATE_ERROR_SHARE, "error_share", "no more requests failed than the matrix allows")         \
    X(GATE_DRAIN_SHARE, "drain_share", "no window drained longer than the matrix allows")        \
    X(GATE_PROMPT_WORK, "prompt_work", "both lanes did the same prompt work, or it is declared") \
    X(GATE_SIGNATURE, "signature", "a trusted key signed the run directory")                     \
    X(GATE_LEDGER, "ledger", "the receipt settles a link of the ledger, whose chain is whole")   \
    X(GATE_FRESHNESS, "freshness", "the receipt is no older than the matrix allows")             \
    X(GATE_BUILD, "build", "the subject is the build that is asked about")                       \
    X(GATE_JOIN_KEY, "join_key", "the lanes' join keys are known and equal")                     \
    X(GATE_RATIO, "ratio", "every ratio that the matrix asks for was had, with its bounds")      \
    X(GATE_LOOKS, "looks", "at most two looks were declared")                                    \
    X(GATE_MARGIN, "margin", "the lower bound is above the margin")                              \
    X(GATE_RATCHET_BUILD, "ratchet_build", "the comparator is the build that the ratchet names") \
    X(GATE_RATCHET_MOVE, "ratchet_move",                                                         \
      "the ratchet stands where the last measured receipt left it, or moved where L > 0")        \
    X(GATE_RATCHET_NUMBER, "ratchet_number",                                                     \
      "no number of class ratchet is looser than it was, or gone")                               \
    X(GATE_BASELINE, "baseline", "a baseline without a build has six sessions of one")           \
    X(GATE_REGRESSION, "regression", "the run is within delta of the baseline of its sessions")  \
    X(GATE_INTERFERENCE, "interference", "the serialization index is within the matrix's bound")

enum gate_rule {
#define X(id, name, holds) id,
    GATE_RULES(X)
#undef X
        GATE_RULE_COUNT
};

const char *gate_rule_name(enum gate_rule r);
const char *gate_rule_holds(enum gate_rule r);

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
    const struct metrics_pairs *declared; /* the same, for arms that declare unequal work; NULL */
    size_t pairs_n;                       /* of each */
    const char *workload;                 /* the plan's protocol name, as matrices call workloads */

    bool signature_valid;       /* by a trusted key */
    const char *signature_said; /* "there is no signature" … */
    bool in_ledger;             /* settles a link of the ledger given, whose chain holds */
    const char *ledger_said;    /* why not */
    size_t looks;               /* declared; 0 and 1 are one look */
    /* The field in which the lanes' join keys differ; NULL: none, or there is one lane. */
    const char *join_differs;
    bool join_unknown;       /* that field is not known */
    const char *join_sha256; /* of the subject's join key; NULL */
};

struct gate_input {
    enum gate_phase phase;
    int64_t now_ns;    /* real time: for expiries and freshness */
    const char *build; /* the subject must be this one, such as the commit to release; NULL */
    const struct gate_receipt *receipts;
    size_t receipts_n;
    const struct matrix *before; /* the matrix as it was; NULL */
    /* Earlier receipts: what a ratchet is held against, and the sessions of a baseline where the
     * old build cannot run. */
    const struct gate_receipt *sessions;
    size_t sessions_n;
};

struct gate_row {
    const struct matrix_cell *cell;
    const struct matrix_arm *arm; /* NULL: the cell itself */
    enum gate_rule rule;
    int32_t band;     /* 0: all */
    const char *what; /* "agg_tok_s", "drain share" …; "" */
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
