/* Arm C: whether the receipt is evidence at all. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "gate/rows.h"

#define DAY_NS (24.0 * 3600 * 1e9)

/* One row: a fact that must hold. */
static void demand(struct rows *rows, const struct matrix_cell *cell, const struct matrix_arm *arm,
                   enum gate_rule rule, bool holds, const char *why, const char *remedy)
{
    struct gate_row *r = rows_add(rows, cell, arm, 0, rule, gate_rule_name(rule));
    if (!r)
        return;
    r->status = holds ? STATUS_PASS : STATUS_FAIL;
    r->why = why;
    if (!holds)
        r->remedy = remedy;
}

static void limit(struct rows *rows, const struct matrix_cell *cell, const struct matrix_arm *arm,
                  int32_t band, enum gate_rule rule, const char *what, double seen,
                  const struct matrix_number *bound)
{
    struct gate_row *r = rows_add(rows, cell, arm, band, rule, what);
    if (!r)
        return;
    r->status = seen <= bound->value ? STATUS_PASS : STATUS_FAIL;
    r->number = rows_text(rows, "%.4g", seen);
    r->bound = rows_text(rows, "<= %.4g", bound->value);
    r->threshold = bound;
    r->why = seen <= bound->value ? "within the limit" : "past the limit";
}

/* The worst of all lanes and replicates at one concurrency. */
struct worst {
    size_t bands;
    double error_share, drain_share;
    int64_t timed_out, zero_token, sent_outside;
    bool conserved;
};

static struct worst look(const struct gate_receipt *receipt, int32_t band)
{
    struct worst w = {.conserved = true};
    for (size_t i = 0; i < receipt->run->bands_n; i++) {
        const struct metrics_band *m = receipt->bands[i];
        const struct metrics_counts *c = &m->counts;
        if (receipt->run->bands[i].band != band)
            continue;
        w.bands++;
        int64_t bad = c->issued - c->outcomes[OUTCOME_OK] - c->outcomes[OUTCOME_CANCELLED];
        double errors = c->issued ? (double)bad / (double)c->issued : 1;
        double drain =
            m->window_ns > 0 && m->drain_ns >= 0 ? (double)m->drain_ns / (double)m->window_ns : 0;
        w.error_share = errors > w.error_share ? errors : w.error_share;
        w.drain_share = drain > w.drain_share ? drain : w.drain_share;
        w.timed_out += c->outcomes[OUTCOME_TIMED_OUT];
        w.zero_token += c->zero_token;
        w.sent_outside += c->sent_outside;
        w.conserved = w.conserved && c->conserved;
    }
    return w;
}

static void judge_band(struct rows *rows, const struct matrix_cell *cell,
                       const struct matrix_arm *arm, const struct gate_receipt *receipt,
                       int32_t band, struct str declared_by)
{
    struct worst w = look(receipt, band);
    const struct {
        enum gate_rule rule;
        const char *what;
        bool holds;
        const char *why;
    } facts[] = {
        {GATE_CONSERVATION, "conservation", w.conserved, "every request issued has one outcome"},
        {GATE_TIME_OUTS, "time-outs", w.timed_out == 0, "no request timed out"},
        {GATE_ZERO_TOKENS, "zero-token answers", w.zero_token == 0,
         "no answer ended ok without a token"},
        {GATE_WINDOW, "window", w.sent_outside == 0, "no request was sent outside the window"},
    };
    if (w.bands == 0) {
        struct gate_row *r = rows_add(rows, cell, arm, band, GATE_BAND, "band");
        if (r) {
            r->why = "the receipt has no such band: nothing was looked at";
            r->remedy = "measure every band of the matrix";
        }
        return;
    }
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        struct gate_row *r = rows_add(rows, cell, arm, band, facts[i].rule, facts[i].what);
        if (!r)
            return;
        r->status = facts[i].holds ? STATUS_PASS : STATUS_FAIL;
        r->why = facts[i].holds ? facts[i].why : rows_text(rows, "not so: %s", facts[i].why);
    }
    limit(rows, cell, arm, band, GATE_ERROR_SHARE, "error share", w.error_share,
          &arm->max_error_share);
    limit(rows, cell, arm, band, GATE_DRAIN_SHARE, "drain share", w.drain_share,
          &arm->max_drain_share);
    for (size_t i = 0; i < receipt->pairs_n; i++) {
        const struct metrics_work_pair *work = &receipt->pairs[i].work;
        if (receipt->pairs[i].band != band || work->why == REASON_ONE_LANE)
            continue;
        struct gate_row *r = rows_add(rows, cell, arm, band, GATE_PROMPT_WORK, "equal prompt work");
        if (!r)
            return;
        r->status = STATUS_PASS;
        r->why = work->why == REASON_NONE
                     ? "both lanes did the same prompt work"
                     : rows_text(rows, "UNEQUAL, as %.*s declared: said beside every ratio",
                                 STR_ARG(declared_by));
        if (work->why == REASON_NONE || declared_by.n)
            continue;
        /* Work that is unequal is no slower server: nothing was measured that could be judged. */
        r->status = STATUS_REFUSED;
        rows_say_work(rows, r, &receipt->pairs[i], receipt->run);
    }
}

/* Which build the receipt is about: an old receipt says nothing of a new commit. */
static void judge_build(struct rows *rows, const struct matrix_cell *cell,
                        const struct matrix_arm *arm, const struct gate_receipt *receipt,
                        const struct gate_input *in)
{
    const char *build = receipt_build(receipt, "subject");
    struct gate_row *r = rows_add(rows, cell, arm, 0, GATE_BUILD, "build");
    if (!r)
        return;
    r->number = build ? build : "no build";
    if (!in->build) {
        r->status = STATUS_NOT_APPLICABLE;
        r->why = "nobody asked which build this is: --build BUILD ties the receipt to a commit";
        return;
    }
    r->bound = in->build;
    bool same = build && strcmp(build, in->build) == 0;
    r->status = same ? STATUS_PASS : STATUS_FAIL;
    r->why = same ? "the subject is the build asked about"
                  : "the receipt is of another build: it says nothing about this one";
    if (!same)
        r->remedy = "measure this build: tally run --build subject=BUILD";
}

static void judge_release(struct rows *rows, const struct matrix_cell *cell,
                          const struct matrix_arm *arm, const struct gate_receipt *receipt,
                          const struct gate_input *in)
{
    judge_build(rows, cell, arm, receipt, in);
    double age = (double)(in->now_ns - receipt->run->t_end_real_ns) / DAY_NS;
    demand(rows, cell, arm, GATE_SIGNATURE, receipt->signature_valid, receipt->signature_said,
           "sign it with tally run --key, and trust the key: tally key trust");
    demand(rows, cell, arm, GATE_LEDGER, receipt->in_ledger, receipt->ledger_said,
           "run with --ledger FILE, and give the same ledger to the gate");
    if (age < 0) {
        demand(rows, cell, arm, GATE_FRESHNESS, false, "the receipt ends in the future",
               "set the clocks of the machines");
        return;
    }
    limit(rows, cell, arm, 0, GATE_FRESHNESS, "age in days", age, &arm->max_age_days);
}

void judge_integrity(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                     const struct matrix_arm *arm, const struct gate_receipt *receipt,
                     const struct gate_input *in)
{
    const struct run_plan *plan = &receipt->run->plan;
    struct str declared_by = {0};
    for (size_t i = 0; i < m->arms_n; i++)
        if (m->arms[i].unequal_work)
            declared_by = m->arms[i].unequal_work_by;
    demand(rows, cell, arm, GATE_VERIFY, receipt->verified,
           receipt->verified ? "every rule of verify holds" : receipt->verify_said,
           "tally verify names the place; measure again if the files are lost");
    demand(rows, cell, arm, GATE_STATUS, receipt->status == STATUS_PASS,
           receipt->status == STATUS_PASS
               ? "the receipt is PASS"
               : rows_text(rows, "the receipt is %s%s%s", status_name(receipt->status),
                           receipt->reason ? ": " : "", receipt->reason ? receipt->reason : ""),
           "tally show names what went wrong");
    demand(rows, cell, arm, GATE_TOKENIZATION,
           plan->method == COUNT_CLIENT_TOKENIZER && plan->tokenizer_sha256[0],
           plan->method == COUNT_CLIENT_TOKENIZER
               ? "counted by the client with the model's own tokenizer, the same for every lane"
               : "counted by the servers, each its own way",
           "run with --tokenizer");
    for (size_t b = 0; b < m->bands_n; b++)
        judge_band(rows, cell, arm, receipt, m->bands[b], declared_by);
    if (in->phase == GATE_RELEASE)
        judge_release(rows, cell, arm, receipt, in);
}
