/* Between arrivals: chunk_gap_ms and the two multisets of itl_ms. */
#include <stdlib.h>

#include "metrics/band.h"
#include "stats/quantile.h"

struct list {
    int64_t *v;
    size_t n, cap;
};

static int add(struct list *l, int64_t v, struct error *err)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 1024;
        int64_t *more = cap > SIZE_MAX / sizeof *more ? NULL : realloc(l->v, cap * sizeof *more);
        if (!more)
            return error_no_memory(err);
        l->v = more;
        l->cap = cap;
    }
    l->v[l->n++] = v;
    return 0;
}

static bool counts_here(const struct band_work *w, size_t i)
{
    return band_is_success(&w->samples[i]) && band_in_window(w, &w->samples[i]);
}

static bool past_close(const struct band_work *w, int64_t t)
{
    return w->facts->t_close_ns != TIME_NONE && t >= w->facts->t_close_ns;
}

static int chunk_gaps(struct band_work *w, struct list *gaps, struct error *err)
{
    bool any = false;
    for (size_t i = 0; i < w->n; i++) {
        const struct timeline *t = &w->lines[i];
        if (!counts_here(w, i))
            continue;
        any = true;
        for (size_t a = 1; a < t->n; a++)
            if (!past_close(w, t->t_ns[a]) && add(gaps, t->t_ns[a] - t->t_ns[a - 1], err) < 0)
                return -1;
    }
    return band_summarize(&w->out->metrics[METRIC_CHUNK_GAP], gaps->v, gaps->n,
                          any ? REASON_ONE_ARRIVAL : REASON_NOTHING, err);
}

/* An arrival of k tokens after a gap G: {G, G/2, ..., G/k} above, {G/k, 0 x (k-1)} below. Whole ns:
 * the upper ones rounded up, the lower ones down, so that they stay bounds. */
static int add_arrival(struct list *upper, struct list *lower, int64_t gap, int64_t k,
                       struct error *err)
{
    for (int64_t j = 1; j <= k; j++)
        if (add(upper, gap / j + (gap % j != 0), err) < 0 ||
            add(lower, j == 1 ? gap / k : 0, err) < 0)
            return -1;
    return 0;
}

static int itl_of(struct band_work *w, const struct timeline *t, struct list *gaps,
                  struct list *upper, struct list *lower, struct error *err)
{
    struct metrics_tokens *out = &w->out->tokens;
    size_t before = t->n; /* the last arrival that carried tokens */
    for (size_t a = 0; a < t->n; a++) {
        /* Text that completes no token brings none: the gap runs on. */
        if (t->tokens[a] == 0)
            continue;
        if (before == t->n) {
            out->tokens_first_arrival += t->tokens[a];
        } else if (past_close(w, t->t_ns[a])) {
            out->gaps_after_close++;
        } else {
            int64_t gap = t->t_ns[a] - t->t_ns[before];
            if (add(gaps, gap, err) < 0 || add_arrival(upper, lower, gap, t->tokens[a], err) < 0)
                return -1;
        }
        before = a;
    }
    return 0;
}

static int summarize_itl(struct metrics_metric *m, struct list *gaps, struct list *upper,
                         struct list *lower, enum metrics_reason none, struct error *err)
{
    struct metrics_metric below;
    if (band_summarize(m, upper->v, upper->n, none, err) < 0 ||
        band_summarize(&below, lower->v, lower->n, none, err) < 0)
        return -1;
    for (int i = 0; i < METRICS_STATS; i++)
        m->stats[i].lower_ns = below.stats[i].ns;
    if (gaps->n > 0)
        m->stats[STAT_MEAN].ns = m->stats[STAT_MEAN].lower_ns =
            stats_divide_sum(gaps->v, gaps->n, (int64_t)upper->n);
    return 0;
}

static int itl(struct band_work *w, struct list *gaps, struct list *upper, struct list *lower,
               struct error *err)
{
    bool any = false;
    gaps->n = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (!counts_here(w, i))
            continue;
        any = true;
        if (itl_of(w, &w->lines[i], gaps, upper, lower, err) < 0)
            return -1;
    }
    return summarize_itl(&w->out->metrics[METRIC_ITL], gaps, upper, lower,
                         any ? REASON_ONE_ARRIVAL : REASON_NOTHING, err);
}

int band_gaps(struct band_work *w, struct error *err)
{
    struct metrics_metric *m = w->out->metrics;
    struct list gaps = {0}, upper = {0}, lower = {0};
    int status = 0;
    if (!w->facts->stream) {
        band_null(&m[METRIC_CHUNK_GAP], REASON_STREAMING_OFF);
        band_null(&m[METRIC_ITL], REASON_STREAMING_OFF);
        return 0;
    }
    if (chunk_gaps(w, &gaps, err) < 0)
        status = -1;
    else if (w->out->tokens.source == SOURCE_NONE)
        band_null(&m[METRIC_ITL], REASON_NO_COUNT);
    else if (w->unassigned)
        band_null(&m[METRIC_ITL], REASON_UNASSIGNED);
    else
        status = itl(w, &gaps, &upper, &lower, err);
    free(gaps.v);
    free(upper.v);
    free(lower.v);
    return status;
}
