/* The comparing arms: parity (B), self-regression (A), and those that only report (D, E). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate/rows.h"
#include "stats/paired.h"
#include "stats/real.h"
#include "stats/student.h"

/* A paired statistic by the name a matrix uses: "ttft_ms.p50" or, where there is one, "ttft_ms". */
static bool find_paired(struct str name, enum metrics_paired *out)
{
    for (int i = 0; i < METRICS_PAIRED_COUNT; i++) {
        enum metrics_paired p = (enum metrics_paired)i;
        if (str_eq(name, str_of(metrics_paired_name(p))) ||
            str_eq(name, str_of(metrics_info(metrics_paired_metric(p))->key))) {
            *out = p;
            return true;
        }
    }
    return false;
}

static const struct metrics_pairs *find_pairs(const struct gate_receipt *r, int32_t band)
{
    for (size_t i = 0; i < r->pairs_n; i++)
        if (r->pairs[i].band == band)
            return &r->pairs[i];
    return NULL;
}

static enum status status_of_reason(enum metrics_reason why)
{
    switch (why) {
    case REASON_UNEQUAL_WORK:
    case REASON_UNKNOWN_WORK:
    case REASON_COUNT_MISMATCH:
    case REASON_ERROR_SHARE:
        return STATUS_REFUSED;
    case REASON_PAIR_MISSING:
    case REASON_TOO_FEW_REPLICATES:
        return STATUS_INCOMPLETE;
    default:
        return STATUS_UNMEASURED;
    }
}

/* "0.9712 (0.9641 to 0.9784)": the ratio in the direction that favours the subject, with its
 * bounds. */
static const char *in_words(struct rows *rows, double mean, double lower, double upper)
{
    return rows_text(rows, "%.4f (%.4f to %.4f)", stats_exp(mean), stats_exp(lower),
                     stats_exp(upper));
}

static void judge_ratio(struct rows *rows, struct gate_row *r, const struct matrix_arm *arm,
                        const struct metrics_ratio *ratio, size_t looks)
{
    double margin = stats_ln(1 - arm->delta.value);
    r->threshold = &arm->delta;
    r->bound = rows_text(rows, "L >= %.4f", 1 - arm->delta.value);
    if (ratio->why != REASON_NONE) {
        r->status = status_of_reason(ratio->why);
        r->why = rows_text(rows, "no ratio: %s", metrics_reason_help(ratio->why));
        return;
    }
    if (ratio->bounds_why != REASON_NONE) {
        r->status = STATUS_INCOMPLETE;
        r->why = rows_text(rows, "no bounds: %s", metrics_reason_help(ratio->bounds_why));
        r->remedy = "run more replicates, declared beforehand";
        return;
    }
    struct stats_paired p = {.mean = ratio->mean, .s = ratio->s};
    double lower = ratio->lower, upper = ratio->upper;
    if (looks == 2) {
        /* Two declared looks share alpha: each bound is at 97.5 %. */
        double half = stats_t(STATS_T975, ratio->n - 1) * ratio->s / stats_sqrt((double)ratio->n);
        lower = ratio->mean - half;
        upper = ratio->mean + half;
    } else if (looks > 2) {
        r->status = STATUS_REFUSED;
        r->why = "more than two looks were declared; their bounds are not defined";
        return;
    }
    r->number = in_words(rows, ratio->mean, lower, upper);
    r->p = stats_p_below(&p, ratio->n, margin);
    if (lower >= margin) {
        r->status = STATUS_PASS;
        r->why =
            lower > 0 ? "better than the comparator beyond doubt" : "not worse than the margin";
    } else {
        r->status = STATUS_INCONCLUSIVE;
        r->why = rows_text(rows,
                           "the bounds straddle the margin; smallest effect seen in 4 of 5 "
                           "such runs: %.1f %%",
                           100 * ratio->mde);
        r->remedy =
            "more replicates narrow the bounds (looks must be declared before the first run)";
    }
}

static bool ratchet_holds(struct rows *rows, const struct matrix_cell *cell,
                          const struct matrix_arm *arm, const struct gate_receipt *receipt)
{
    const struct run_lane *comparator = receipt_lane(receipt, "comparator", NULL);
    if (arm->kind != ARM_SELF_REGRESSION)
        return true;
    const char *build =
        comparator ? comparator->build ? comparator->build : comparator->build_sha256 : NULL;
    if (build && str_eq(arm->baseline_build, str_of(build)))
        return true;
    struct gate_row *r = rows_add(rows, cell, arm, 0, "ratchet");
    if (r) {
        r->status = STATUS_REFUSED;
        r->number = build ? build : "no build";
        r->bound = rows_text(rows, "%.*s", STR_ARG(arm->baseline_build));
        r->why = "the comparator is not the build that the ratchet names";
        r->remedy = "run the ratchet's build as the comparator lane, with --build";
    }
    return false;
}

void judge_compare(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                   const struct matrix_arm *arm, const struct gate_receipt *receipt)
{
    if (!ratchet_holds(rows, cell, arm, receipt))
        return;
    for (size_t b = 0; b < m->bands_n; b++)
        for (size_t i = 0; i < arm->metrics_n; i++) {
            enum metrics_paired which;
            const struct metrics_pairs *pairs = find_pairs(receipt, m->bands[b]);
            struct gate_row *r = rows_add(rows, cell, arm, m->bands[b],
                                          rows_text(rows, "%.*s", STR_ARG(arm->metrics[i])));
            if (!r)
                return;
            if (!find_paired(arm->metrics[i], &which)) {
                r->status = STATUS_REFUSED;
                r->why = "no paired statistic has this name";
                r->remedy = "the names are those of 'ratios' in a receipt, such as agg_tok_s or "
                            "ttft_ms.p50";
            } else if (!pairs) {
                r->why = "the receipt has no such band, or no second lane";
                r->remedy = "measure both lanes at every band of the matrix";
            } else if (pairs->unequal_work && !arm->unequal_work) {
                r->status = STATUS_REFUSED;
                r->why = "the run was declared to do unequal prompt work; this arm was not";
                r->remedy = "declare unequal_work and unequal_work_by in the arm, or make the work "
                            "equal";
            } else {
                judge_ratio(rows, r, arm, &pairs->ratios[which], receipt->looks);
                if (pairs->ratios[which].why == REASON_UNEQUAL_WORK ||
                    pairs->ratios[which].why == REASON_UNKNOWN_WORK)
                    rows_say_work(rows, r, pairs, receipt->run);
                if (pairs->unequal_work)
                    r->why =
                        rows_text(rows, "%s; UNEQUAL prompt work (%+.2f %%), declared by %.*s",
                                  r->why, 100 * pairs->work.excess, STR_ARG(arm->unequal_work_by));
            }
        }
}

/* Mean over replicates of the log of a statistic of the subject, sign turned where lower is better;
 * false when a replicate lacks it. */
static bool session_value(const struct gate_receipt *r, int32_t band, enum metrics_paired which,
                          double *out)
{
    enum metric_id id = metrics_paired_metric(which);
    const struct metrics_info *info = metrics_info(id);
    size_t lane, n = 0;
    double sum = 0;
    if (!receipt_lane(r, "subject", &lane))
        return false;
    for (size_t i = 0; i < r->run->bands_n; i++) {
        const struct run_band *b = &r->run->bands[i];
        const struct metrics_metric *v = &r->bands[i]->metrics[id];
        if (b->lane != lane || b->band != band)
            continue;
        if (b->status != STATUS_PASS || v->why != REASON_NONE)
            return false;
        const struct metrics_stat *p50 = &v->stats[STAT_P50];
        double value = info->shape == METRIC_REAL ? v->real
                       : p50->why == REASON_NONE  ? (double)p50->ns
                                                  : 0;
        if (!(value > 0))
            return false;
        sum += stats_ln(value);
        n++;
    }
    if (n == 0)
        return false;
    *out = (info->better == BETTER_LOWER ? -1 : 1) * sum / (double)n;
    return true;
}

static size_t gather_sessions(const struct gate_input *in, const struct gate_receipt *now,
                              int32_t band, enum metrics_paired which, double *y, size_t max)
{
    const struct run_lane *lane = receipt_lane(now, "subject", NULL);
    size_t n = 0;
    for (size_t i = 0; i < in->sessions_n && n < max; i++) {
        const struct gate_receipt *r = &in->sessions[i];
        const struct run_lane *other = receipt_lane(r, "subject", NULL);
        if (!lane || !other || !r->verified ||
            strcmp(r->run->plan.nonce, now->run->plan.nonce) == 0)
            continue;
        if (!lane->host || !other->host || strcmp(lane->host, other->host) != 0 || !lane->model ||
            !other->model || strcmp(lane->model, other->model) != 0 ||
            strcmp(r->workload, now->workload) != 0)
            continue;
        if (session_value(r, band, which, &y[n]))
            n++;
    }
    return n;
}

/* Where the old build cannot run: the baseline is the t lower bound over six sessions, and the run
 * fails only if its upper prediction bound, session variance included, lies below it less delta. */
static void judge_session(struct rows *rows, struct gate_row *r, const struct matrix_arm *arm,
                          double now, const double *y, size_t n)
{
    double mean = stats_mean(y, n), s = stats_deviation(y, n), t = stats_t(STATS_T95, n - 1);
    double baseline = mean - t * s / stats_sqrt((double)n);
    double bound = baseline + stats_ln(1 - arm->delta.value);
    double upper = now + t * s * stats_sqrt(1 + 1 / (double)n);
    r->threshold = &arm->delta;
    r->number = rows_text(rows, "%.4f of the sessions' mean (upper bound %.4f)",
                          stats_exp(now - mean), stats_exp(upper - mean));
    r->bound = rows_text(rows, ">= %.4f", stats_exp(bound - mean));
    if (upper < bound) {
        r->status = STATUS_FAIL;
        r->why = "below the baseline of earlier sessions by more than delta";
    } else if (now >= bound) {
        r->status = STATUS_PASS;
        r->why = "within delta of the baseline of earlier sessions";
    } else {
        r->status = STATUS_INCONCLUSIVE;
        r->why = "below the baseline, but not beyond what sessions differ by";
    }
}

void judge_sessions(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                    const struct matrix_arm *arm, const struct gate_receipt *receipt,
                    const struct gate_input *in)
{
    for (size_t b = 0; b < m->bands_n; b++)
        for (size_t i = 0; i < arm->metrics_n; i++) {
            enum metrics_paired which;
            double y[64], now;
            struct gate_row *r = rows_add(rows, cell, arm, m->bands[b],
                                          rows_text(rows, "%.*s", STR_ARG(arm->metrics[i])));
            if (!r)
                return;
            if (!find_paired(arm->metrics[i], &which)) {
                r->status = STATUS_REFUSED;
                r->why = "no statistic has this name";
                continue;
            }
            size_t n = gather_sessions(in, receipt, m->bands[b], which, y, 64);
            if (!session_value(receipt, m->bands[b], which, &now)) {
                r->why = "the receipt lacks this statistic in this band";
            } else if (n < GATE_SESSIONS) {
                r->status = STATUS_INCOMPLETE;
                r->why = rows_text(rows,
                                   "a baseline needs %d receipts of earlier sessions; %zu were "
                                   "given",
                                   GATE_SESSIONS, n);
                r->remedy = "give a directory or git ref of earlier receipts with --baseline";
            } else {
                judge_session(rows, r, arm, now, y, n);
            }
        }
}

void judge_reporting(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                     const struct matrix_arm *arm, const struct gate_receipt *receipt)
{
    size_t lane;
    if (arm->kind != ARM_INTERFERENCE || !receipt_lane(receipt, "subject", &lane)) {
        struct gate_row *r = rows_add(rows, cell, arm, 0, "memory");
        if (r)
            r->why = "this arm looked at nothing: the server did not report its memory";
        return;
    }
    for (size_t b = 0; b < m->bands_n; b++) {
        const struct metrics_pairs *pairs = find_pairs(receipt, m->bands[b]);
        struct gate_row *r = rows_add(rows, cell, arm, m->bands[b], "serialization_index");
        if (!r)
            return;
        if (!pairs || pairs->serialization.why != REASON_NONE) {
            r->why = "this arm looked at nothing: the index needs both lanes";
            continue;
        }
        r->status = STATUS_PASS;
        r->number = rows_text(rows, "%.3f", pairs->serialization.mean);
        r->why = pairs->serialization.mean > 1 ? "above 1: the subject queues" : "reported";
    }
}
