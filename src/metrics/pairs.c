#include "metrics/pairs.h"

#include <math.h>

#include "stats/paired.h"
#include "stats/quantile.h"
#include "stats/real.h"

struct paired_info {
    enum metric_id metric;
    enum metrics_stat_id stat;
};

static const struct paired_info paired[] = {
#define X(id, metric, stat) {metric, stat},
    METRICS_PAIRED(X)
#undef X
};

enum metric_id metrics_paired_metric(enum metrics_paired p)
{
    return paired[p].metric;
}

static bool both(const struct metrics_pairs_input *in, size_t r)
{
    return in->subject[r] && in->comparator[r];
}

/* Prompt work. */

static int64_t work_of(const struct metrics_prompt *p)
{
    return p->reported != COUNT_NONE ? p->reported : p->rendered;
}

struct work_sums {
    int64_t *difference;
    size_t n, cap;
    int64_t subject, comparator;
};

static void compare_prompt(struct metrics_work_pair *out, struct work_sums *sums,
                           const struct metrics_prompt *s, const struct metrics_prompt *c)
{
    int64_t a = work_of(s), b = work_of(c);
    out->shared++;
    if (a == COUNT_NONE || b == COUNT_NONE) {
        out->unknown++;
        return;
    }
    out->differ += a != b || s->body != c->body;
    sums->difference[sums->n++] = a - b;
    sums->subject += a;
    sums->comparator += b;
}

/* Both lists are sorted by id; what only one lane came to do is passed over. A prompt that was sent
 * several times is compared as often as both lanes sent it. */
static void merge(struct metrics_work_pair *out, struct work_sums *sums,
                  const struct metrics_work *s, const struct metrics_work *c)
{
    for (size_t i = 0, j = 0; i < s->prompts_n && j < c->prompts_n;) {
        int order = str_cmp(s->prompts[i].id, c->prompts[j].id);
        if (order == 0 && s->prompts[i].id.n > 0)
            compare_prompt(out, sums, &s->prompts[i], &c->prompts[j]);
        i += order <= 0;
        j += order >= 0;
    }
}

static int compare_work(const struct metrics_pairs_input *in, struct arena *arena,
                        struct metrics_work_pair *out, struct error *err)
{
    struct work_sums sums = {0};
    *out = (struct metrics_work_pair){0};
    for (size_t r = 0; r < in->replicates; r++)
        if (both(in, r))
            sums.cap += in->subject[r]->work.prompts_n;
    sums.difference = arena_array(arena, sums.cap, sizeof *sums.difference);
    if (!sums.difference)
        return arena_check(arena, "prompt work", err);
    for (size_t r = 0; r < in->replicates; r++)
        if (both(in, r))
            merge(out, &sums, &in->subject[r]->work, &in->comparator[r]->work);
    out->why = out->differ > 0                        ? REASON_UNEQUAL_WORK
               : out->shared == 0 || out->unknown > 0 ? REASON_UNKNOWN_WORK
                                                      : REASON_NONE;
    if (sums.n == 0)
        return 0;
    if (stats_sort(sums.difference, sums.n, err) < 0)
        return -1;
    out->difference = (struct metrics_spread){(int64_t)sums.n, sums.difference[0],
                                              sums.difference[stats_rank(sums.n, 50) - 1],
                                              sums.difference[sums.n - 1]};
    if (sums.comparator > 0)
        out->excess = (double)(sums.subject - sums.comparator) / (double)sums.comparator;
    return 0;
}

/* Ratios. */

static enum metrics_reason value_of(const struct metrics_band *b, const struct paired_info *p,
                                    double *v)
{
    const struct metrics_metric *m = &b->metrics[p->metric];
    if (m->why != REASON_NONE)
        return m->why;
    if (metrics_info(p->metric)->shape == METRIC_REAL) {
        *v = m->real;
    } else {
        if (m->stats[p->stat].why != REASON_NONE)
            return m->stats[p->stat].why;
        *v = (double)m->stats[p->stat].ns;
    }
    return *v > 0 ? REASON_NONE : REASON_ZERO;
}

static bool too_many_errors(const struct metrics_band *b, double max_share)
{
    int64_t bad = b->counts.issued - b->counts.outcomes[OUTCOME_OK];
    return (double)bad > max_share * (double)b->counts.issued;
}

static bool of_tokens(enum metric_id id)
{
    return id == METRIC_TPOT || id == METRIC_DECODE || id == METRIC_AGG || id == METRIC_GOODPUT;
}

/* Why no ratio of this kind may be formed, whatever its values. */
static enum metrics_reason barrier(const struct metrics_pairs_input *in,
                                   const struct metrics_pairs *out, enum metric_id id)
{
    enum metrics_reason why = REASON_NONE;
    for (size_t r = 0; r < in->replicates; r++) {
        if (!both(in, r)) {
            why = REASON_PAIR_MISSING;
            continue;
        }
        const struct metrics_band *s = in->subject[r], *c = in->comparator[r];
        if (too_many_errors(s, in->max_error_share) || too_many_errors(c, in->max_error_share))
            return REASON_ERROR_SHARE;
        if (of_tokens(id) &&
            (s->tokens.source != c->tokens.source || s->tokens.assignment != c->tokens.assignment))
            return REASON_COUNT_MISMATCH;
    }
    if (out->work.why != REASON_NONE && !in->unequal_work)
        return out->work.why;
    return in->replicates == 0 ? REASON_NOTHING : why;
}

static double *missing_numbers(struct arena *arena, size_t n)
{
    double *v = arena_array(arena, n, sizeof *v);
    for (size_t i = 0; v && i < n; i++)
        v[i] = NAN;
    return v;
}

static void summarize(struct metrics_ratio *out, enum metric_better better, const double *x)
{
    if (out->n == 1) {
        out->mean = out->min = out->max = x[0];
        out->bounds_why = REASON_TOO_FEW_REPLICATES;
    } else {
        struct stats_paired p;
        stats_paired(&p, x, out->n);
        out->mean = p.mean;
        out->min = p.min;
        out->max = p.max;
        out->s = p.s;
        out->lower = p.lower;
        out->upper = p.upper;
        out->mde = p.mde;
    }
    out->ratio = stats_exp(better == BETTER_LOWER ? -out->mean : out->mean);
}

static int ratio(const struct metrics_pairs_input *in, const struct metrics_pairs *pairs,
                 enum metrics_paired which, struct arena *arena, struct metrics_ratio *out,
                 struct error *err)
{
    const struct paired_info *p = &paired[which];
    enum metric_better better = metrics_info(p->metric)->better;
    double *x = missing_numbers(arena, in->replicates);
    *out = (struct metrics_ratio){.why = barrier(in, pairs, p->metric), .x = x};
    if (!x)
        return arena_check(arena, "ratios", err);
    if (out->why != REASON_NONE && out->why != REASON_PAIR_MISSING)
        return 0;
    for (size_t r = 0; r < in->replicates; r++) {
        double s, c;
        if (!both(in, r))
            continue;
        enum metrics_reason why = value_of(in->subject[r], p, &s);
        if (why == REASON_NONE)
            why = value_of(in->comparator[r], p, &c);
        if (why != REASON_NONE) {
            out->why = why;
            return 0;
        }
        double log_ratio = stats_ln(s / c);
        x[r] = better == BETTER_LOWER ? -log_ratio : log_ratio;
        out->n++;
    }
    if (out->why == REASON_NONE)
        summarize(out, better, x);
    return 0;
}

static int serialization(const struct metrics_pairs_input *in, const struct metrics_pairs *pairs,
                         struct arena *arena, struct metrics_serialization *out, struct error *err)
{
    static const struct paired_info decode = {METRIC_DECODE, 0}, agg = {METRIC_AGG, 0};
    double *index = missing_numbers(arena, in->replicates), *logs;
    *out = (struct metrics_serialization){.why = barrier(in, pairs, METRIC_DECODE), .index = index};
    logs = arena_array(arena, in->replicates, sizeof *logs);
    if (!index || !logs)
        return arena_check(arena, "ratios", err);
    if (out->why != REASON_NONE && out->why != REASON_PAIR_MISSING)
        return 0;
    for (size_t r = 0; r < in->replicates; r++) {
        double v[4] = {1, 1, 1, 1};
        if (!both(in, r))
            continue;
        enum metrics_reason why[] = {
            value_of(in->subject[r], &decode, &v[0]), value_of(in->comparator[r], &decode, &v[1]),
            value_of(in->subject[r], &agg, &v[2]), value_of(in->comparator[r], &agg, &v[3])};
        for (int k = 0; k < 4; k++)
            if (why[k] != REASON_NONE) {
                out->why = why[k];
                return 0;
            }
        index[r] = (v[0] / v[1]) / (v[2] / v[3]);
        logs[out->n++] = stats_ln(index[r]);
    }
    if (out->why == REASON_NONE)
        out->mean = stats_exp(stats_mean(logs, out->n));
    return 0;
}

static enum status judge(const struct metrics_pairs_input *in, const struct metrics_pairs *out)
{
    enum metrics_reason why = barrier(in, out, METRIC_AGG);
    if (why == REASON_NONE)
        return STATUS_PASS;
    return why == REASON_PAIR_MISSING || why == REASON_NOTHING ? STATUS_INCOMPLETE : STATUS_REFUSED;
}

int metrics_pairs_compute(const struct metrics_pairs_input *in, struct arena *arena,
                          struct metrics_pairs *out, struct error *err)
{
    struct metrics_pairs made = {
        .band = in->band, .unequal_work = in->unequal_work, .replicates = in->replicates};
    if (in->replicates > RUN_REPLICATES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d replicates", RUN_REPLICATES_MAX);
    if (compare_work(in, arena, &made.work, err) < 0)
        return -1;
    for (int k = 0; k < METRICS_PAIRED_COUNT; k++)
        if (ratio(in, &made, (enum metrics_paired)k, arena, &made.ratios[k], err) < 0)
            return -1;
    if (serialization(in, &made, arena, &made.serialization, err) < 0)
        return -1;
    made.status = judge(in, &made);
    *out = made;
    return 0;
}
