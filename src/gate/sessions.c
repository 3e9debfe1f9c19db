/* Self-regression where the old build cannot run: the baseline is made of earlier sessions. */
#include <math.h>
#include <string.h>

#include "gate/rows.h"
#include "stats/paired.h"
#include "stats/real.h"
#include "stats/student.h"

#define SESSIONS_MAX 64

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

struct gathered {
    double y[SESSIONS_MAX];
    size_t n;
    size_t otherwise;  /* left out: measured under other conditions */
    const char *build; /* the one that they are all of; NULL */
};

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The same directory twice, or the run itself, is no session of its own. */
static bool is_separate(const struct gate_input *in, size_t i, const struct gate_receipt *now)
{
    const char *nonce = in->sessions[i].run->plan.nonce;
    for (size_t k = 0; k < i; k++)
        if (strcmp(in->sessions[k].run->plan.nonce, nonce) == 0)
            return false;
    return strcmp(now->run->plan.nonce, nonce) != 0;
}

/* The build of the last measured receipt: a baseline is one build's, and that one's. */
static const char *newest_build(const struct gate_input *in, const struct matrix_cell *cell,
                                const struct gate_receipt *now)
{
    const struct gate_receipt *last = NULL;
    for (size_t i = 0; i < in->sessions_n; i++) {
        const struct gate_receipt *r = &in->sessions[i];
        if (r->verified && receipt_is_of_cell(r, cell) && is_separate(in, i, now) &&
            receipt_build(r, "subject") &&
            (!last || r->run->t_end_real_ns > last->run->t_end_real_ns))
            last = r;
    }
    return last ? receipt_build(last, "subject") : NULL;
}

static void gather(const struct gate_input *in, const struct matrix_cell *cell,
                   const struct gate_receipt *now, int32_t band, enum metrics_paired which,
                   struct gathered *g)
{
    *g = (struct gathered){.build = newest_build(in, cell, now)};
    for (size_t i = 0; i < in->sessions_n && g->n < SESSIONS_MAX; i++) {
        const struct gate_receipt *r = &in->sessions[i];
        if (!r->verified || !receipt_is_of_cell(r, cell) || !is_separate(in, i, now) ||
            !same_text(g->build, receipt_build(r, "subject")))
            continue;
        if (!same_text(r->join_sha256, now->join_sha256)) {
            g->otherwise++;
            continue;
        }
        if (session_value(r, band, which, &g->y[g->n]))
            g->n++;
    }
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
    r->rule = GATE_REGRESSION;
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

static void judge_one(struct rows *rows, const struct matrix_cell *cell,
                      const struct matrix_arm *arm, const struct gate_receipt *receipt,
                      const struct gate_input *in, int32_t band, struct str name)
{
    enum metrics_paired which;
    struct gathered g;
    double now;
    struct gate_row *r =
        rows_add(rows, cell, arm, band, GATE_BASELINE, rows_text(rows, "%.*s", STR_ARG(name)));
    if (!r)
        return;
    if (!matrix_paired(&which, name)) {
        r->status = STATUS_REFUSED;
        r->why = "no statistic has this name";
        return;
    }
    gather(in, cell, receipt, band, which, &g);
    if (!session_value(receipt, band, which, &now)) {
        r->rule = GATE_RATIO;
        r->why = "the receipt lacks this statistic in this band";
    } else if (g.n < GATE_SESSIONS) {
        r->status = STATUS_INCOMPLETE;
        r->why = rows_text(rows,
                           "a baseline needs %d receipts of earlier sessions of one build; %zu of "
                           "%s were given%s",
                           GATE_SESSIONS, g.n, g.build ? g.build : "any",
                           g.otherwise ? ", and others under another join key" : "");
        r->remedy = "give a directory or git ref of earlier receipts with --baseline";
    } else {
        judge_session(rows, r, arm, now, g.y, g.n);
    }
}

void judge_sessions(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                    const struct matrix_arm *arm, const struct gate_receipt *receipt,
                    const struct gate_input *in)
{
    for (size_t b = 0; b < m->bands_n; b++)
        for (size_t i = 0; i < arm->metrics_n; i++)
            judge_one(rows, cell, arm, receipt, in, m->bands[b], arm->metrics[i]);
}
