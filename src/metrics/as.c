#include "metrics/as.h"

#include <stdio.h>
#include <string.h>

#include "metrics/as_rule.h"

/* One band, read by one rule. */
struct work {
    const struct as_rule *rule;
    const struct metrics_band_facts *facts;
    struct as_request *requests;
    size_t n, issued, completed, timeouts, truncated;
    struct as_values gaps, times;
    int64_t from_ns, to_ns;   /* of the profile's duration; TIME_NONE */
    int64_t first_ns, end_ns; /* earliest start and latest end of the successful */
    struct arena *arena;
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b; /* TIME_NONE is the least of all */
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a == TIME_NONE || (b != TIME_NONE && b < a) ? b : a;
}

static int read_all(struct work *w, const struct sample *samples, size_t n, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct sample *s = &samples[i];
        struct as_request *q = &w->requests[w->n];
        size_t gaps = w->gaps.n, times = w->times.n;
        if (s->phase != PHASE_WINDOW || s->outcome == OUTCOME_CANCELLED)
            continue;
        if (as_read(q, w->rule, s, w->facts, &w->times, &w->gaps, err) < 0)
            return -1;
        w->n++;
        w->timeouts += s->outcome == OUTCOME_TIMED_OUT;
        w->truncated += s->outcome == OUTCOME_TRUNCATED;
        w->completed += q->success;
        if (!q->success) {
            w->gaps.n = gaps;
            w->times.n = times;
        } else {
            w->first_ns = earlier(w->first_ns, q->start_ns);
            w->end_ns = later(w->end_ns, q->end_ns);
        }
        if (q->success || w->rule->span == AS_SPAN_ALL) {
            w->from_ns = earlier(w->from_ns, q->start_ns);
            w->to_ns = later(w->to_ns, w->rule->span == AS_SPAN_ALL ? s->t_end_ns : q->end_ns);
        }
    }
    return 0;
}

/* The value of a request in a series: a time in ns, a count, or a rate in 1/s. 1 with *v set, 0 for
 * a request that has none, -1 where its tokens are not known. */
static int value_of(const struct as_rule *rule, const struct as_request *q, int series, double *v,
                    double *weight)
{
    double from = (double)q->start_ns, tokens = (double)q->tokens;
    int64_t first = q->first_ns;
    *weight = 1;
    switch (series) {
    case AS_TTFT:
        if (rule->one_token_has_no_ttft && q->tokens == COUNT_NONE)
            return -1;
        if (rule->one_token_has_no_ttft && q->tokens <= 1)
            return 0;
        *v = first == TIME_NONE ? 0 : (double)first - from;
        return first != TIME_NONE || rule->success == AS_OK_200;
    case AS_TTFC:
        *v = (double)q->visible_ns - from;
        return q->visible_ns != TIME_NONE;
    case AS_SECOND:
        *v = (double)q->second_ns - (double)first;
        return q->second_ns != TIME_NONE;
    case AS_LATENCY:
        *v = (double)q->end_ns - from;
        return 1;
    default:
        break;
    }
    if (q->tokens == COUNT_NONE)
        return -1;
    if (series == AS_TOKEN_COUNT) {
        *v = tokens;
        return 1;
    }
    if (series == AS_TPOT_ALL || series == AS_CHUNK_ALL) {
        int64_t end = series == AS_TPOT_ALL ? q->end_ns : q->last_ns;
        *weight = tokens;
        *v = q->tokens > 0 && end != TIME_NONE ? ((double)end - from) / tokens : 0;
        return q->tokens > 0 && end != TIME_NONE;
    }
    int64_t end = series == AS_TPOT ? q->end_ns : q->last_ns;
    if (q->tokens < 2 || first == TIME_NONE || end == TIME_NONE)
        return 0;
    *weight = tokens - 1;
    *v = ((double)end - (double)first) / (tokens - 1);
    if (series == AS_RATE && *v > 0)
        *v = 1e9 / *v;
    else if (series == AS_RATE)
        return 0;
    return 1;
}

/* 0 with the series, sorted; 1 where tokens are not known; -1 with *err. */
static int series_of(const struct work *w, const struct as_spec *spec, struct as_values *out,
                     struct error *err)
{
    *out = (struct as_values){.arena = w->arena};
    for (size_t i = 0; i < w->n; i++) {
        double v, weight;
        int have;
        if (!w->requests[i].success)
            continue;
        have = value_of(w->rule, &w->requests[i], spec->what, &v, &weight);
        if (have < 0)
            return 1;
        if (have > 0 && as_push(out, v, spec->weighted ? weight : 1, err) < 0)
            return -1;
    }
    return 0;
}

static double sum_of(const struct work *w, int what, bool *known)
{
    double sum = 0;
    *known = true;
    for (size_t i = 0; i < w->n; i++) {
        const struct as_request *q = &w->requests[i];
        int64_t n = what == AS_INPUT ? q->prompt : q->tokens;
        if (!q->success)
            continue;
        if (n == COUNT_NONE)
            *known = false;
        sum += (double)n;
    }
    return sum;
}

static double peak_of_bins(const struct work *w, bool requests)
{
    double peak = 0;
    size_t n = (size_t)((w->end_ns - w->first_ns) / 1000000000) + 2;
    int64_t *bins = arena_array(w->arena, n, sizeof *bins);
    if (!bins)
        return 0; /* the arena says so when it is checked */
    memset(bins, 0, n * sizeof *bins);
    for (size_t i = 0; !requests && i < w->times.n; i++) {
        double at = (w->times.v[i] - (double)w->first_ns) / 1e9;
        if (at >= 0 && at < (double)n)
            bins[(size_t)at]++;
    }
    for (size_t i = 0; requests && i < w->n; i++) {
        const struct as_request *q = &w->requests[i];
        if (!q->success)
            continue;
        for (int64_t b = (q->start_ns - w->first_ns) / 1000000000;
             b <= (q->end_ns - w->first_ns) / 1000000000; b++)
            bins[b]++;
    }
    for (size_t i = 0; i < n; i++)
        peak = (double)bins[i] > peak ? (double)bins[i] : peak;
    return peak;
}

/* The most requests in flight at one instant, [start, end). */
static int peak_of_instants(const struct work *w, double *out, struct error *err)
{
    struct as_values edges = {.arena = w->arena};
    double now = 0, peak = 0;
    /* A departure ranks before an arrival at the same instant: half a nanosecond earlier. */
    for (size_t i = 0; i < w->n; i++) {
        const struct as_request *q = &w->requests[i];
        if (q->success && (as_push(&edges, (double)(q->start_ns - w->first_ns), 1, err) < 0 ||
                           as_push(&edges, (double)(q->end_ns - w->first_ns) - 0.5, -1, err) < 0))
            return -1;
    }
    as_sort(&edges);
    for (size_t i = 0; i < edges.n; i++) {
        now += edges.weight[i];
        peak = now > peak ? now : peak;
    }
    *out = peak;
    return 0;
}

static int count_row(struct work *w, int what, struct as_row *row, struct error *err)
{
    switch (what) {
    case AS_REQUESTED:
        row->value = (double)w->n;
        return 0;
    case AS_COMPLETED:
        row->value = (double)w->completed;
        return 0;
    case AS_FAILED:
        row->value = (double)(w->n - w->completed);
        return 0;
    case AS_TIMEOUTS:
        row->value = (double)w->timeouts;
        return 0;
    case AS_TRUNCATED:
        row->value = (double)w->truncated;
        return 0;
    case AS_SCALING:
        row->why = REASON_NO_BASE;
        return 0;
    case AS_DRAIN:
        if (w->facts->t_close_ns == TIME_NONE || w->facts->t_drained_ns == TIME_NONE)
            row->why = REASON_NO_WINDOW;
        else
            row->value = (double)(w->facts->t_drained_ns - w->facts->t_close_ns) / 1e6;
        return 0;
    default:
        break;
    }
    if (w->completed == 0) {
        row->why = REASON_NOTHING;
        return 0;
    }
    if (what == AS_PEAK_REQUESTS)
        return peak_of_instants(w, &row->value, err);
    row->value = peak_of_bins(w, what == AS_PEAK_REQUESTS_SECOND);
    return 0;
}

/* What is divided by the duration, or the duration itself. */
static int rate_row(struct work *w, int what, struct as_row *row, struct error *err)
{
    static const struct as_spec latency = {.what = AS_LATENCY};
    struct as_values v;
    double seconds = (double)(w->to_ns - w->from_ns) / 1e9, in, out;
    bool in_known, out_known;
    if (w->from_ns == TIME_NONE || w->to_ns == TIME_NONE || w->to_ns <= w->from_ns) {
        row->why = REASON_NOTHING;
        return 0;
    }
    in = sum_of(w, AS_INPUT, &in_known);
    out = sum_of(w, AS_OUTPUT, &out_known);
    if (what == AS_DURATION) {
        row->value = seconds;
    } else if (what == AS_REQUEST_RATE) {
        row->value = (double)w->completed / seconds;
    } else if (what == AS_SUM_LATENCY_RATE) {
        if (series_of(w, &latency, &v, err) < 0)
            return -1;
        for (size_t i = 0; i < v.n; i++)
            row->value += v.v[i] / 1e9 / seconds;
    } else if (what == AS_INPUT || what == AS_INPUT_RATE) {
        row->value = what == AS_INPUT ? in : in / seconds;
        row->why = in_known ? REASON_NONE : REASON_NOT_RECORDED;
    } else {
        row->value = what == AS_OUTPUT        ? out
                     : what == AS_OUTPUT_RATE ? out / seconds
                                              : (in + out) / seconds;
        row->why = !out_known                           ? REASON_NO_COUNT
                   : what == AS_TOTAL_RATE && !in_known ? REASON_NOT_RECORDED
                                                        : REASON_NONE;
    }
    return 0;
}

static int add_scalar(struct work *w, const struct as_spec *spec, struct as_row *row,
                      struct error *err)
{
    *row = (struct as_row){.name = spec->name, .unit = spec->unit};
    switch (spec->what) {
    case AS_DURATION:
    case AS_INPUT:
    case AS_OUTPUT:
    case AS_REQUEST_RATE:
    case AS_INPUT_RATE:
    case AS_OUTPUT_RATE:
    case AS_TOTAL_RATE:
    case AS_SUM_LATENCY_RATE:
        return rate_row(w, spec->what, row, err);
    default:
        return count_row(w, spec->what, row, err);
    }
}

static const char *named(struct arena *arena, const char *pattern, const char *stat)
{
    const char *at = strstr(pattern, "%s");
    size_t head = (size_t)(at - pattern), n = strlen(pattern) + strlen(stat) + 1;
    char *out = arena_array(arena, n, 1);
    if (!out)
        return "";
    snprintf(out, n, "%.*s%s%s", (int)head, pattern, stat, at + 2);
    return out;
}

static int add_series(struct work *w, const struct as_spec *spec, struct as_result *r,
                      struct error *err)
{
    const struct as_stat *stat = spec->stats ? spec->stats : w->rule->stats;
    struct as_values v = w->gaps;
    enum metrics_reason why = REASON_NONE;
    if (spec->what == AS_GAPS) {
        as_sort(&v);
    } else {
        int unknown = series_of(w, spec, &v, err);
        if (unknown < 0)
            return -1;
        if (unknown)
            why = REASON_NO_COUNT;
        as_sort(&v);
    }
    if (why == REASON_NONE && v.n == 0)
        why = REASON_NOTHING;
    for (; stat->name; stat++) {
        struct as_row *row = &r->rows[r->n++];
        *row = (struct as_row){
            .name = named(w->arena, spec->name, stat->name), .unit = spec->unit, .why = why};
        if (why == REASON_NONE)
            row->value = as_statistic(&v, stat, w->rule->quantile) / spec->per_unit;
    }
    return arena_check(w->arena, "another tool's statistics", err);
}

static size_t rows_of(const struct as_rule *rule)
{
    size_t n = 0;
    for (const struct as_spec *spec = rule->specs; spec->name; spec++) {
        const struct as_stat *stat = spec->stats ? spec->stats : rule->stats;
        if (spec->what >= AS_SERIES)
            n++;
        for (; spec->what < AS_SERIES && stat->name; stat++)
            n++;
    }
    return n;
}

int as_compute(struct as_result *r, const struct as_profile *p, const struct sample *samples,
               size_t n, const struct metrics_band_facts *facts, struct arena *arena,
               struct error *err)
{
    struct work w = {.rule = p->rule,
                     .facts = facts,
                     .from_ns = TIME_NONE,
                     .to_ns = TIME_NONE,
                     .first_ns = TIME_NONE,
                     .end_ns = TIME_NONE,
                     .gaps = {.arena = arena},
                     .times = {.arena = arena},
                     .arena = arena};
    struct as_result made = {0};
    w.requests = arena_array(arena, n, sizeof *w.requests);
    made.rows = arena_array(arena, rows_of(p->rule), sizeof *made.rows);
    if (arena_check(arena, "another tool's metrics", err) < 0 || read_all(&w, samples, n, err) < 0)
        return -1;
    for (const struct as_spec *spec = p->rule->specs; spec->name; spec++) {
        if (spec->what < AS_SERIES ? add_series(&w, spec, &made, err) < 0
                                   : add_scalar(&w, spec, &made.rows[made.n++], err) < 0)
            return -1;
    }
    if (arena_check(arena, "another tool's metrics", err) < 0)
        return -1;
    *r = made;
    return 0;
}

static struct as_row *row_named(const struct as_result *r, const char *name)
{
    for (size_t i = 0; r && i < r->n; i++)
        if (strcmp(r->rows[i].name, name) == 0)
            return &r->rows[i];
    return NULL;
}

void as_set_base(struct as_result *r, const struct as_result *base, int32_t band)
{
    struct as_row *row = row_named(r, "scaling_efficiency");
    const struct as_row *own = row_named(r, "agg_tok_s"), *one = row_named(base, "agg_tok_s");
    if (!row || !own || !one)
        return;
    row->why = band == 1                      ? REASON_IS_BASE
               : own->why || one->why         ? REASON_BASE_NULL
               : one->value <= 0 || band <= 0 ? REASON_ZERO
                                              : REASON_NONE;
    if (row->why == REASON_NONE)
        row->value = own->value / one->value / (double)band;
}
