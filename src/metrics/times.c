/* The metrics of one value a request. */
#include <stdlib.h>
#include <string.h>

#include "metrics/band.h"
#include "stats/quantile.h"

/* One request's value: a time, STATS_INFINITE, or COUNT_NONE when it has no place in the metric. */
typedef int64_t request_value(const struct band_work *w, size_t i);

static int64_t since(int64_t from, int64_t to)
{
    if (from == TIME_NONE || to == TIME_NONE)
        return STATS_INFINITE;
    return to > from ? to - from : 0;
}

static bool is_ok(const struct band_work *w, size_t i)
{
    return w->samples[i].outcome == OUTCOME_OK;
}

static int64_t ttft(const struct band_work *w, size_t i)
{
    return is_ok(w, i) ? since(w->samples[i].t_sent_ns, w->lines[i].first_ns) : STATS_INFINITE;
}

static int64_t ttfc(const struct band_work *w, size_t i)
{
    return is_ok(w, i) ? since(w->samples[i].t_sent_ns, w->lines[i].first_visible_ns)
                       : STATS_INFINITE;
}

/* On the same clock as the arrivals, or the first byte would seem to come after the first token. */
static int64_t ttfb(const struct band_work *w, size_t i)
{
    const struct sample *s = &w->samples[i];
    int64_t at = s->t_first_byte_ns;
    if (w->facts->kernel_time && s->reads_n > 0 && s->reads[0].t_user_ns == at &&
        s->reads[0].t_kernel_ns != TIME_NONE)
        at = s->reads[0].t_kernel_ns;
    return is_ok(w, i) ? since(s->t_sent_ns, at) : STATS_INFINITE;
}

/* Only requests that opened a connection, or failed to. */
static int64_t connect_time(const struct band_work *w, size_t i)
{
    const struct sample *s = &w->samples[i];
    int64_t end = s->t_tls_ns != TIME_NONE ? s->t_tls_ns : s->t_connect_ns;
    if (s->failure == FAILURE_CONNECT || s->failure == FAILURE_TLS)
        return STATS_INFINITE;
    return s->reused || end == TIME_NONE || s->t_issue_ns == TIME_NONE ? COUNT_NONE
                                                                       : since(s->t_issue_ns, end);
}

static int64_t e2e(const struct band_work *w, size_t i)
{
    return is_ok(w, i) ? since(w->samples[i].t_sent_ns, w->lines[i].last_ns) : STATS_INFINITE;
}

static int64_t ttft_from_plan(const struct band_work *w, size_t i)
{
    return is_ok(w, i) ? since(w->samples[i].t_planned_ns, w->lines[i].first_ns) : STATS_INFINITE;
}

static int64_t e2e_from_plan(const struct band_work *w, size_t i)
{
    return is_ok(w, i) ? since(w->samples[i].t_planned_ns, w->lines[i].last_ns) : STATS_INFINITE;
}

/* First and last arrival that carry tokens; false with fewer than two of them. */
static bool span(const struct timeline *t, size_t *first, size_t *last)
{
    size_t a = 0, b = t->n;
    while (a < t->n && t->tokens[a] == 0)
        a++;
    while (b > a && t->tokens[b - 1] == 0)
        b--;
    *first = a;
    *last = b - 1;
    return b > a + 1;
}

static int64_t tpot(const struct band_work *w, size_t i)
{
    const struct timeline *t = &w->lines[i];
    size_t first, last;
    if (!is_ok(w, i))
        return STATS_INFINITE;
    if (!span(t, &first, &last))
        return COUNT_NONE;
    return stats_divide(t->t_ns[last] - t->t_ns[first], t->total - t->tokens[first]);
}

/* Why a metric of the stream cannot be had at all; REASON_NONE when it can. */
static enum metrics_reason no_stream(const struct band_work *w, bool of_tokens)
{
    if (!w->facts->stream)
        return REASON_STREAMING_OFF;
    if (of_tokens && w->out->tokens.source == SOURCE_NONE)
        return REASON_NO_COUNT;
    return of_tokens && w->unassigned ? REASON_UNASSIGNED : REASON_NONE;
}

static int collect(struct band_work *w, enum metric_id id, request_value *value, int64_t unsent,
                   enum metrics_reason none, struct error *err)
{
    struct metrics_metric *m = &w->out->metrics[id];
    size_t room = w->n + (size_t)unsent, n = 0;
    int64_t *values = arena_array(w->arena, room, sizeof *values);
    int64_t *sorted = arena_array(w->scratch, room, sizeof *sorted);
    if (!values || !sorted)
        return arena_check(values ? w->scratch : w->arena, "metrics", err);
    bool any = false;
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (!band_in_window(w, s) || s->outcome == OUTCOME_CANCELLED || s->retry_of != COUNT_NONE)
            continue;
        any = true;
        int64_t v = value(w, i);
        if (v != COUNT_NONE)
            values[n++] = v;
    }
    for (int64_t k = 0; k < unsent; k++)
        values[n++] = STATS_INFINITE;
    if (n > 0)
        memcpy(sorted, values, n * sizeof *values);
    if (band_summarize(m, sorted, n, any ? none : REASON_NOTHING, err) < 0)
        return -1;
    if (n > 0) {
        m->values = values;
        m->values_n = n;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The nearest-rank median of rates, of which the first `worst` are those of requests not ok. */
static void set_median_rate(struct metrics_metric *m, double *rates, size_t n, size_t worst,
                            enum metrics_reason none)
{
    band_null(m, none);
    if (n + worst == 0)
        return;
    *m = (struct metrics_metric){.n = (int64_t)(n + worst), .censored_n = (int64_t)worst};
    size_t rank = stats_rank(n + worst, 50);
    if (rank <= worst) {
        m->why = REASON_CENSORED;
        return;
    }
    qsort(rates, n, sizeof *rates, compare);
    m->real = rates[rank - worst - 1];
}

static int decode(struct band_work *w, struct error *err)
{
    struct metrics_metric *m = &w->out->metrics[METRIC_DECODE];
    double *rates = arena_array(w->scratch, w->n, sizeof *rates);
    size_t n = 0, worst = 0;
    bool any = false;
    if (!rates)
        return arena_check(w->scratch, "metrics", err);
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        const struct timeline *t = &w->lines[i];
        size_t first, last;
        if (!band_in_window(w, s) || s->outcome == OUTCOME_CANCELLED || s->retry_of != COUNT_NONE)
            continue;
        any = true;
        if (s->outcome != OUTCOME_OK)
            worst++;
        else if (span(t, &first, &last))
            rates[n++] = (double)(t->total - t->tokens[first]) * 1e9 /
                         (double)(t->t_ns[last] - t->t_ns[first]);
    }
    set_median_rate(m, rates, n, worst, any ? REASON_ONE_ARRIVAL : REASON_NOTHING);
    return 0;
}

static int prefill(struct band_work *w, struct error *err)
{
    double *rates = arena_array(w->scratch, w->n, sizeof *rates);
    size_t n = 0;
    bool any = false;
    if (!rates)
        return arena_check(w->scratch, "metrics", err);
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (!band_in_window(w, s) || !band_is_success(s))
            continue;
        any = true;
        if (s->prefill_tokens > 0 && s->prefill_ns > 0)
            rates[n++] = (double)s->prefill_tokens * 1e9 / (double)s->prefill_ns;
    }
    set_median_rate(&w->out->metrics[METRIC_PREFILL], rates, n, 0,
                    any ? REASON_SERVER_SILENT : REASON_NOTHING);
    return 0;
}

struct request_metric {
    enum metric_id id;
    request_value *value;
    bool of_stream, of_tokens, of_plan;
    enum metrics_reason none;
};

static const struct request_metric request_metrics[] = {
    {METRIC_TTFT, ttft, true, false, false, REASON_NOTHING},
    {METRIC_TTFC, ttfc, true, false, false, REASON_NOTHING},
    {METRIC_TTFB, ttfb, false, false, false, REASON_NOTHING},
    {METRIC_CONNECT, connect_time, false, false, false, REASON_CONNECTION_REUSED},
    {METRIC_TPOT, tpot, true, true, false, REASON_ONE_ARRIVAL},
    {METRIC_E2E, e2e, false, false, false, REASON_NOTHING},
    {METRIC_TTFT_PLAN, ttft_from_plan, true, false, true, REASON_NOTHING},
    {METRIC_E2E_PLAN, e2e_from_plan, false, false, true, REASON_NOTHING},
};

int band_times(struct band_work *w, struct error *err)
{
    for (size_t k = 0; k < sizeof request_metrics / sizeof request_metrics[0]; k++) {
        const struct request_metric *r = &request_metrics[k];
        enum metrics_reason why = r->of_plan && !w->facts->open_loop ? REASON_CLOSED_LOOP
                                  : r->of_stream                     ? no_stream(w, r->of_tokens)
                                                                     : REASON_NONE;
        int64_t unsent = r->of_plan && w->facts->unsent > 0 ? w->facts->unsent : 0;
        if (why != REASON_NONE)
            band_null(&w->out->metrics[r->id], why);
        else if (collect(w, r->id, r->value, unsent, r->none, err) < 0)
            return -1;
    }
    enum metrics_reason why = no_stream(w, true);
    if (why != REASON_NONE)
        band_null(&w->out->metrics[METRIC_DECODE], why);
    else if (decode(w, err) < 0)
        return -1;
    return prefill(w, err);
}
