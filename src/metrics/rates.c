/* What the window as a whole delivered. */
#include "metrics/band.h"

#define BINS_MAX ((int64_t)1 << 20) /* seconds: twelve days */
#define SECOND INT64_C(1000000000)

static void set_rate(struct metrics_metric *m, int64_t amount, int64_t window_ns, int64_t n)
{
    *m = (struct metrics_metric){.n = n, .real = (double)amount * 1e9 / (double)window_ns};
}

static bool inside(const struct band_work *w, int64_t t)
{
    return t != TIME_NONE && t >= w->facts->t_open_ns && t < w->facts->t_close_ns;
}

/* Tokens of one request that arrive inside the window; each also to its bin, where there are any.
 */
static int64_t tokens_inside(const struct band_work *w, const struct timeline *t, int64_t *bins)
{
    int64_t sum = 0;
    for (size_t a = 0; a < t->n; a++) {
        if (!inside(w, t->t_ns[a]))
            continue;
        sum += t->tokens[a];
        if (bins)
            bins[(t->t_ns[a] - w->facts->t_open_ns) / SECOND] += t->tokens[a];
    }
    return sum;
}

static int throughput(struct band_work *w, struct error *err)
{
    struct metrics_metric *agg = &w->out->metrics[METRIC_AGG],
                          *peak = &w->out->metrics[METRIC_PEAK];
    int64_t window = w->out->window_ns, seconds = window / SECOND, sum = 0, largest = 0;
    int64_t *bins = NULL;
    enum metrics_reason why = w->out->tokens.source == SOURCE_NONE ? REASON_NO_COUNT
                              : w->unassigned                      ? REASON_UNASSIGNED
                                                                   : REASON_NONE;
    band_null(agg, why);
    band_null(peak, why);
    if (why != REASON_NONE)
        return 0;
    /* Bins that cover the window exactly hold a mean, so the largest is never below it. */
    bool whole = window % SECOND == 0 && seconds <= BINS_MAX;
    if (whole && !(bins = arena_array(w->scratch, (size_t)seconds, sizeof *bins)))
        return arena_check(w->scratch, "metrics", err);
    for (size_t i = 0; i < w->n; i++)
        if (band_is_success(&w->samples[i]))
            sum += tokens_inside(w, &w->lines[i], bins);
    set_rate(agg, sum, window, sum);
    if (!whole) {
        band_null(peak, REASON_PARTIAL_SECOND);
        return 0;
    }
    for (int64_t b = 0; b < seconds; b++)
        largest = bins[b] > largest ? bins[b] : largest;
    set_rate(peak, largest, SECOND, sum);
    return 0;
}

/* Each by the best way it offers itself: nothing says how many a failed request should have had. */
static void wasted(struct band_work *w)
{
    struct metrics_metric *m = &w->out->metrics[METRIC_WASTED];
    int64_t sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        struct timeline *t = &w->lines[i];
        if (band_is_success(s) || t->n == 0)
            continue;
        unsigned ways = timeline_ways(s);
        int64_t count = COUNT_NONE;
        for (int source = 0; source < METRICS_SOURCES && count == COUNT_NONE; source++)
            count = timeline_count(s, (enum metrics_source)source);
        if (ways == 0 && (t->n > 1 || count == COUNT_NONE)) {
            band_null(m, REASON_UNASSIGNED);
            return;
        }
        timeline_assign(t, s, timeline_first_way(ways), ways ? COUNT_NONE : count);
        sum += tokens_inside(w, t, NULL);
    }
    set_rate(m, sum, w->out->window_ns, sum);
}

static void completed(struct band_work *w)
{
    int64_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += band_is_success(&w->samples[i]) && inside(w, w->samples[i].t_end_ns);
    set_rate(&w->out->metrics[METRIC_RPS], n, w->out->window_ns, n);
}

/* A request with one arrival has no TPOT to miss. */
static bool meets(const struct band_work *w, size_t i)
{
    const struct metrics_band_facts *f = w->facts;
    const struct sample *s = &w->samples[i];
    const struct timeline *t = &w->lines[i];
    if (!band_is_success(s) || !band_in_window(w, s) || t->n == 0)
        return false;
    if ((f->slo_ttft_ns >= 0 && t->first_ns - s->t_sent_ns > f->slo_ttft_ns) ||
        (f->slo_e2e_ns >= 0 && t->last_ns - s->t_sent_ns > f->slo_e2e_ns))
        return false;
    if (f->slo_tpot_ns < 0)
        return true;
    size_t a = 0, b = t->n;
    while (a < t->n && t->tokens[a] == 0)
        a++;
    while (b > a && t->tokens[b - 1] == 0)
        b--;
    if (b <= a + 1)
        return true;
    /* span / tokens <= objective, without rounding it first. */
    int64_t limit;
    return __builtin_mul_overflow(f->slo_tpot_ns, t->total - t->tokens[a], &limit) ||
           t->t_ns[b - 1] - t->t_ns[a] <= limit;
}

static void objective(struct band_work *w)
{
    const struct metrics_band_facts *f = w->facts;
    struct metrics_metric *share = &w->out->metrics[METRIC_SLO],
                          *rate = &w->out->metrics[METRIC_GOODPUT];
    int64_t issued = w->out->counts.issued + (f->open_loop && f->unsent > 0 ? f->unsent : 0), n = 0;
    bool tokens = f->slo_tpot_ns >= 0, in_stream = tokens || f->slo_ttft_ns >= 0;
    enum metrics_reason why = !in_stream && f->slo_e2e_ns < 0 ? REASON_NO_SLO
                              : in_stream && !f->stream       ? REASON_STREAMING_OFF
                              : tokens && w->out->tokens.source == SOURCE_NONE ? REASON_NO_COUNT
                              : tokens && w->unassigned                        ? REASON_UNASSIGNED
                              : issued == 0                                    ? REASON_NOTHING
                                                                               : REASON_NONE;
    band_null(share, why);
    band_null(rate, why);
    if (why != REASON_NONE)
        return;
    for (size_t i = 0; i < w->n; i++)
        n += meets(w, i);
    *share = (struct metrics_metric){.n = issued, .real = (double)n / (double)issued};
    set_rate(rate, n, w->out->window_ns, n);
}

/* n moments span n - 1 gaps. By the span and not by the window, whose end may wait for answers. */
static void set_span_rate(struct metrics_metric *m, int64_t n, int64_t first_ns, int64_t last_ns)
{
    band_null(m, n == 0 ? REASON_NOTHING : REASON_ONE_REQUEST);
    if (n > 1 && last_ns > first_ns)
        *m = (struct metrics_metric){.n = n,
                                     .real = (double)(n - 1) * 1e9 / (double)(last_ns - first_ns)};
}

/* What was asked of the client, and what it did: both over the same requests. */
static void achieved(struct band_work *w)
{
    int64_t n = 0, first[2] = {INT64_MAX, INT64_MAX}, last[2] = {INT64_MIN, INT64_MIN};
    struct metrics_metric *planned = &w->out->metrics[METRIC_PLANNED_RPS];
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        const int64_t at[2] = {s->t_planned_ns, s->t_sent_ns};
        if (!band_in_window(w, s) || s->retry_of != COUNT_NONE || at[1] == TIME_NONE ||
            (w->facts->open_loop && at[0] == TIME_NONE))
            continue;
        n++;
        for (int k = 0; k < 2; k++) {
            first[k] = at[k] < first[k] ? at[k] : first[k];
            last[k] = at[k] > last[k] ? at[k] : last[k];
        }
    }
    if (w->facts->open_loop)
        set_span_rate(planned, n, first[0], last[0]);
    else
        band_null(planned, REASON_CLOSED_LOOP);
    set_span_rate(&w->out->metrics[METRIC_ACHIEVED_RPS], n, first[1], last[1]);
}

int band_rates(struct band_work *w, struct error *err)
{
    static const enum metric_id of_window[] = {METRIC_AGG, METRIC_PEAK, METRIC_WASTED,
                                               METRIC_RPS, METRIC_SLO,  METRIC_GOODPUT};
    achieved(w);
    if (w->out->window_ns == COUNT_NONE) {
        for (size_t i = 0; i < sizeof of_window / sizeof of_window[0]; i++)
            band_null(&w->out->metrics[of_window[i]], REASON_NO_WINDOW);
        return 0;
    }
    if (throughput(w, err) < 0)
        return -1;
    objective(w);
    wasted(w);
    completed(w);
    return 0;
}
