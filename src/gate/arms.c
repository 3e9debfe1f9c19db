/* The comparing arms, parity (B) and self-regression (A), and those that only report (D, E). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate/rows.h"
#include "stats/paired.h"
#include "stats/real.h"
#include "stats/student.h"

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
        r->rule = GATE_LOOKS;
        r->status = STATUS_REFUSED;
        r->why = "more than two looks were declared; their bounds are not defined";
        return;
    }
    r->rule = GATE_MARGIN;
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

/* Lanes that were measured under different conditions have no ratio. */
static bool can_join(struct rows *rows, const struct matrix_cell *cell,
                     const struct matrix_arm *arm, const struct gate_receipt *receipt)
{
    if (!receipt->join_differs)
        return true;
    struct gate_row *r = rows_add(rows, cell, arm, 0, GATE_JOIN_KEY, "join key");
    if (!r)
        return false;
    r->status = STATUS_REFUSED;
    r->number = receipt->join_differs;
    r->why = rows_text(rows,
                       receipt->join_unknown
                           ? "\"%s\" of the lanes' join keys is not known, and unknown is not "
                             "equal"
                           : "the lanes' join keys differ in \"%s\"",
                       receipt->join_differs);
    r->remedy = "'tally compare' on this receipt says what to declare or to measure alike";
    return false;
}

static void compare_one(struct rows *rows, const struct matrix_cell *cell,
                        const struct matrix_arm *arm, const struct gate_receipt *receipt,
                        int32_t band, struct str name)
{
    enum metrics_paired which;
    const struct metrics_pairs *pairs = receipt_pairs(receipt, band, arm->unequal_work);
    struct gate_row *r =
        rows_add(rows, cell, arm, band, GATE_RATIO, rows_text(rows, "%.*s", STR_ARG(name)));
    if (!r)
        return;
    if (!matrix_paired(&which, name)) {
        r->status = STATUS_REFUSED;
        r->why = "no paired statistic has this name";
    } else if (!pairs) {
        r->why = "the receipt has no such band, or no second lane";
        r->remedy = "measure both lanes at every band of the matrix";
    } else {
        judge_ratio(rows, r, arm, &pairs->ratios[which], receipt->looks);
        if (pairs->ratios[which].why == REASON_UNEQUAL_WORK ||
            pairs->ratios[which].why == REASON_UNKNOWN_WORK)
            rows_say_work(rows, r, pairs, receipt->run);
        if (arm->unequal_work && pairs->work.why != REASON_NONE)
            r->why = rows_text(rows, "%s; UNEQUAL prompt work (%+.2f %%), declared by %.*s", r->why,
                               100 * pairs->work.excess, STR_ARG(arm->unequal_work_by));
    }
}

void judge_compare(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                   const struct matrix_arm *arm, const struct gate_receipt *receipt,
                   const struct gate_input *in)
{
    if (arm->kind == ARM_SELF_REGRESSION && !judge_ratchet(rows, m, cell, arm, receipt, in))
        return;
    if (!can_join(rows, cell, arm, receipt))
        return;
    for (size_t b = 0; b < m->bands_n; b++)
        for (size_t i = 0; i < arm->metrics_n; i++)
            compare_one(rows, cell, arm, receipt, m->bands[b], arm->metrics[i]);
}

/* Mean over the replicates of a lane; false where one lacks it. */
static bool mean_scaling(const struct gate_receipt *r, const char *role, int32_t band, double *out)
{
    size_t lane, n = 0;
    double sum = 0;
    if (!receipt_lane(r, role, &lane))
        return false;
    for (size_t i = 0; i < r->run->bands_n; i++) {
        const struct metrics_metric *v = &r->bands[i]->metrics[METRIC_SCALING];
        if (r->run->bands[i].lane != lane || r->run->bands[i].band != band)
            continue;
        if (v->why != REASON_NONE)
            return false;
        sum += v->real;
        n++;
    }
    *out = n ? sum / (double)n : 0;
    return n > 0;
}

void report_scaling(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                    const struct matrix_arm *arm, const struct gate_receipt *receipt)
{
    for (size_t b = 0; b < m->bands_n; b++) {
        double subject, comparator;
        if (m->bands[b] == 1) /* of one it is 1 by its definition */
            continue;
        struct gate_row *r =
            rows_add(rows, cell, arm, m->bands[b], GATE_LOOKED, "scaling_efficiency");
        if (!r)
            return;
        r->counts = false;
        if (!mean_scaling(receipt, "subject", m->bands[b], &subject)) {
            r->why = "it needs the band of c = 1";
            continue;
        }
        r->status = STATUS_PASS;
        r->number = mean_scaling(receipt, "comparator", m->bands[b], &comparator)
                        ? rows_text(rows, "%.3f (comparator %.3f)", subject, comparator)
                        : rows_text(rows, "%.3f", subject);
        r->why = "reported: (aggregate at c / aggregate at 1) / c";
    }
}

/* Arm E: what a second request costs the first; judged only where the matrix bounds it. */
static void judge_interference(struct rows *rows, const struct matrix_cell *cell,
                               const struct matrix_arm *arm, const struct gate_receipt *receipt,
                               int32_t band)
{
    const struct matrix_number *most = &arm->max_serialization_index;
    const struct metrics_pairs *pairs = receipt_pairs(receipt, band, false);
    struct gate_row *r = rows_add(rows, cell, arm, band, GATE_INTERFERENCE, "serialization_index");
    if (!r)
        return;
    if (!pairs || pairs->serialization.why != REASON_NONE) {
        r->rule = GATE_LOOKED;
        r->why = "this arm looked at nothing: the index needs both lanes";
        return;
    }
    double index = pairs->serialization.mean;
    r->number = rows_text(rows, "%.3f", index);
    r->why = index > 1 ? "above 1: the subject queues" : "the subject does not queue";
    r->status = STATUS_PASS;
    if (!most->set)
        return;
    r->threshold = most;
    r->bound = rows_text(rows, "<= %.4g", most->value);
    r->status = index <= most->value ? STATUS_PASS : STATUS_FAIL;
}

void judge_reporting(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                     const struct matrix_arm *arm, const struct gate_receipt *receipt)
{
    if (arm->kind == ARM_INTERFERENCE) {
        for (size_t b = 0; b < m->bands_n; b++)
            judge_interference(rows, cell, arm, receipt, m->bands[b]);
        return;
    }
    struct gate_row *r = rows_add(rows, cell, arm, 0, GATE_LOOKED, "memory");
    if (r)
        r->why = "this arm looked at nothing: the server did not report its memory";
}
