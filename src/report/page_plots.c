/* Throughput against concurrency, and the distributions of times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/page.h"
#include "report/plot.h"
#include "stats/student.h"

#define REPLICATES_SHOWN 64

/* A statistic of one lane at one concurrency, over its replicates. */
struct point {
    size_t n;
    double v[REPLICATES_SHOWN], mean, lo, hi; /* lo, hi: t bounds 95 %, each one-sided; NaN */
};

static struct point gather(const struct page_run *p, size_t lane, int32_t c, enum metric_id id)
{
    struct point pt = {.mean = NAN, .lo = NAN, .hi = NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < p->bands_n && pt.n < REPLICATES_SHOWN; i++) {
        const struct page_band *b = &p->bands[i];
        const struct metrics_metric *m = &b->metrics->metrics[id];
        if (b->record->lane == lane && b->record->band == c && m->why == REASON_NONE) {
            pt.v[pt.n++] = m->real;
            sum += m->real;
        }
    }
    if (pt.n == 0)
        return pt;
    pt.mean = sum / (double)pt.n;
    for (size_t i = 0; i < pt.n; i++)
        squares += (pt.v[i] - pt.mean) * (pt.v[i] - pt.mean);
    if (pt.n > 1) {
        double half =
            stats_t(STATS_T95, pt.n - 1) * sqrt(squares / (double)(pt.n - 1) / (double)pt.n);
        pt.lo = pt.mean - half;
        pt.hi = pt.mean + half;
    }
    return pt;
}

static void legend(const struct page_run *p, struct buf *out, bool ideal)
{
    buf_adds(out, "<ul class=legend>");
    for (size_t lane = 0; lane < p->run->lanes_n; lane++)
        buf_addf(out, "<li class=%s><i></i>%s</li>", page_lane(p, lane), page_lane(p, lane));
    if (ideal)
        buf_adds(out, "<li class=ideal><i></i>ideal: c times the rate at the lowest c</li>");
    buf_adds(out, "</ul>");
}

static void throughput_table(const struct page_run *p, const int32_t *c, size_t n, struct buf *out)
{
    buf_adds(out, "<details><summary>The same as a table</summary><div class=scroll><table><thead>"
                  "<tr><th>lane<th>c<th>mean tok/s<th>bounds 95 %<th>replicates</thead><tbody>");
    for (size_t lane = 0; lane < p->run->lanes_n; lane++)
        for (size_t i = 0; i < n; i++) {
            struct point pt = gather(p, lane, c[i], METRIC_AGG);
            buf_addf(out, "<tr><td>%s<td>%d<td>", page_lane(p, lane), c[i]);
            if (pt.n)
                page_real(out, pt.mean);
            else
                buf_adds(out, "none");
            buf_adds(out, "<td>");
            if (pt.n > 1) {
                page_real(out, pt.lo);
                buf_adds(out, " to ");
                page_real(out, pt.hi);
            } else {
                buf_adds(out, "none");
            }
            buf_addf(out, "<td>%zu", pt.n);
        }
    buf_adds(out, "</tbody></table></div></details>");
}

static void throughput_lane(const struct page_run *p, const struct plot *plot, size_t lane,
                            const int32_t *c, size_t n, struct buf *out)
{
    double x[RUN_BANDS_MAX], y[RUN_BANDS_MAX], ideal[RUN_BANDS_MAX];
    int32_t band[RUN_BANDS_MAX];
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        struct point pt = gather(p, lane, c[i], METRIC_AGG);
        if (pt.n == 0)
            continue;
        band[k] = c[i];
        x[k] = page_level_number(p, c[i]);
        y[k] = pt.mean;
        ideal[k] = y[0] / x[0] * x[k];
        k++;
    }
    plot_line_dashed(plot, out, page_lane(p, lane), x, ideal, k);
    plot_line(plot, out, page_lane(p, lane), x, y, k);
    for (size_t i = 0; i < k; i++) {
        char text[160], level[RUN_BAND_NAME_MAX];
        struct point pt = gather(p, lane, band[i], METRIC_AGG);
        page_level(p, band[i], level);
        if (pt.n > 1)
            snprintf(text, sizeof text,
                     "%s, %s: %.1f tok/s, 95 %% bounds %.1f and %.1f, %zu replicates",
                     page_lane(p, lane), level, pt.mean, pt.lo, pt.hi, pt.n);
        else
            snprintf(text, sizeof text, "%s, %s: %.1f tok/s, one replicate", page_lane(p, lane),
                     level, pt.mean);
        plot_mark(plot, out, page_lane(p, lane), x[i], pt.mean, pt.lo, pt.hi, text);
    }
}

static double top_of(const double *v, size_t n)
{
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i]) && v[i] > top)
            top = v[i];
    return top;
}

/* Why no band has a rate: the first band's reason, in words. */
static void no_rate(const struct page_run *p, struct buf *out)
{
    buf_adds(out, "<p>No band has an output rate");
    if (p->bands_n) {
        buf_adds(out, ": ");
        html_cstr(out, metrics_reason_help(p->bands[0].metrics->metrics[METRIC_AGG].why));
    }
    buf_adds(out, ".</p>");
}

void page_throughput(const struct page_run *p, struct buf *out)
{
    int32_t c[RUN_BANDS_MAX];
    double all[RUN_LANES_MAX * RUN_BANDS_MAX * 2];
    size_t n = page_concurrencies(p, c), k = 0;
    bool open = run_plan_is_open(&p->run->plan);
    double first = n ? page_level_number(p, c[0]) : 1;
    for (size_t lane = 0; lane < p->run->lanes_n; lane++)
        for (size_t i = 0; i < n; i++) {
            struct point pt = gather(p, lane, c[i], METRIC_AGG);
            all[k++] = pt.n ? pt.mean : INFINITY;
            all[k++] = pt.n > 1 ? pt.hi : INFINITY;
        }
    struct plot plot = {
        .title = open ? "Output tokens a second against load"
                      : "Output tokens a second against concurrency",
        .x_label = run_plan_is_trace(&p->run->plan) ? "times as fast as recorded"
                   : open                           ? "requests a second, as planned"
                                                    : "concurrency (requests in flight)",
        .y_label = "output tok/s",
        .x = {n ? first : 1, n > 1 ? page_level_number(p, c[n - 1]) : (n ? first * 2 : 2)},
        .y = plot_fit(all, k, true),
        .x_log2 = true,
    };
    buf_addf(out, "<h2>Throughput against %s</h2>", open ? "load" : "concurrency");
    legend(p, out, true);
    buf_adds(out, "<figure class=single>");
    if (isfinite(top_of(all, k))) {
        plot_begin(&plot, out);
        for (size_t lane = 0; lane < p->run->lanes_n; lane++)
            throughput_lane(p, &plot, lane, c, n, out);
        plot_end(out);
        buf_adds(out, "<p class=\"readout marks dim\" aria-live=polite>Hover or focus a mark for "
                      "its numbers.</p>");
    } else {
        no_rate(p, out);
    }
    buf_adds(out, "</figure>");
    throughput_table(p, c, n, out);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Values in ms of one lane at one concurrency, all replicates, ascending; infinite ones (requests
 * that did not end ok) are last, so that the curve ends below 1. Heap-held; NULL for none. */
static double *pool_requests(const struct page_run *p, size_t lane, int32_t c, enum metric_id id,
                             size_t *n)
{
    size_t total = 0, k = 0;
    for (size_t i = 0; i < p->bands_n; i++)
        if (p->bands[i].record->lane == lane && p->bands[i].record->band == c)
            total += p->bands[i].metrics->metrics[id].values_n;
    double *v = total ? malloc(total * sizeof *v) : NULL;
    for (size_t i = 0; v && i < p->bands_n; i++) {
        const struct metrics_metric *m = &p->bands[i].metrics->metrics[id];
        if (p->bands[i].record->lane != lane || p->bands[i].record->band != c)
            continue;
        for (size_t j = 0; j < m->values_n; j++)
            v[k++] = m->values[j] == INT64_MAX ? INFINITY : (double)m->values[j] / 1e6;
    }
    if (v)
        qsort(v, k, sizeof *v, by_value);
    *n = k;
    return v;
}

/* Gaps between arrivals, the samples' own: chunk gaps, each a chunk as it came. */
static double *pool_gaps(const struct page_run *p, size_t lane, int32_t c, size_t *n)
{
    size_t cap = 0, k = 0;
    double *v = NULL;
    for (size_t i = 0; i < p->bands_n; i++) {
        const struct page_band *b = &p->bands[i];
        if (b->record->lane != lane || b->record->band != c)
            continue;
        for (size_t j = 0; j < b->samples_n; j++) {
            const struct sample *s = &b->samples[j];
            int64_t last = TIME_NONE;
            if (s->phase != PHASE_WINDOW || s->outcome != OUTCOME_OK)
                continue;
            for (size_t e = 0; e < s->events_n; e++) {
                if (!sample_event_has_token(&s->events[e]) || s->events[e].read >= s->reads_n)
                    continue;
                const struct sample_read_stamp *r = &s->reads[s->events[e].read];
                int64_t t = r->t_kernel_ns != TIME_NONE ? r->t_kernel_ns : r->t_user_ns;
                if (last != TIME_NONE && t > last) {
                    if (k == cap) {
                        cap = cap ? cap * 2 : 1024;
                        double *more = realloc(v, cap * sizeof *v);
                        if (!more) {
                            free(v);
                            *n = 0;
                            return NULL;
                        }
                        v = more;
                    }
                    v[k++] = (double)(t - last) / 1e6;
                }
                last = t;
            }
        }
    }
    if (v)
        qsort(v, k, sizeof *v, by_value);
    *n = k;
    return v;
}

static void ecdf_table(const struct page_run *p, double *const v[], const size_t n[],
                       struct buf *out)
{
    static const double ranks[] = {0.5, 0.9, 0.95, 0.99};
    static const size_t least[] = {1, 29, 59, 299};
    buf_adds(out, "<details><summary>The same as a table</summary><div class=scroll><table><thead>"
                  "<tr><th>lane<th>n<th>p50<th>p90<th>p95<th>p99</thead><tbody>");
    for (size_t lane = 0; lane < p->run->lanes_n; lane++) {
        buf_addf(out, "<tr><td>%s<td>%zu", page_lane(p, lane), n[lane]);
        for (size_t i = 0; i < 4; i++) {
            size_t rank = (size_t)ceil(ranks[i] * (double)n[lane]);
            buf_adds(out, "<td>");
            if (n[lane] < least[i] || !isfinite(v[lane][rank - 1]))
                buf_adds(out, "none");
            else
                page_ms(out, (int64_t)(v[lane][rank - 1] * 1e6));
        }
    }
    buf_adds(out, "</tbody></table></div><p class=dim>Replicates pooled, nearest rank. The "
                  "receipt's own percentiles are by replicate. &quot;none&quot;: too few, or the "
                  "rank lands on a request that did not end ok.</p></details>");
}

static void ecdf(const struct page_run *p, int32_t c, const char *what, const char *x_label,
                 enum metric_id id, struct buf *out)
{
    double *v[RUN_LANES_MAX] = {NULL}, top = 0;
    size_t n[RUN_LANES_MAX] = {0};
    char title[96];
    for (size_t lane = 0; lane < p->run->lanes_n; lane++) {
        v[lane] = id == METRIC_CHUNK_GAP ? pool_gaps(p, lane, c, &n[lane])
                                         : pool_requests(p, lane, c, id, &n[lane]);
        for (size_t i = n[lane]; i-- > 0;)
            if (isfinite(v[lane][i])) {
                top = fmax(top, v[lane][i]);
                break;
            }
    }
    char level[RUN_BAND_NAME_MAX];
    snprintf(title, sizeof title, "%s at %s", what, page_level(p, c, level));
    struct plot plot = {.title = title,
                        .x_label = x_label,
                        .y_label = "share at or below",
                        .x = plot_fit(&top, 1, true),
                        .y = {0, 1}};
    buf_addf(out, "<figure><figcaption>%s</figcaption>", title);
    if (top > 0) {
        plot_begin(&plot, out);
        for (size_t lane = 0; lane < p->run->lanes_n; lane++) {
            double *y = malloc((n[lane] ? n[lane] : 1) * sizeof *y);
            size_t finite = 0;
            while (y && finite < n[lane] && isfinite(v[lane][finite])) {
                y[finite] = (double)(finite + 1) / (double)n[lane];
                finite++;
            }
            plot_steps(&plot, out, page_lane(p, lane), v[lane], y, finite);
            free(y);
        }
        plot_end(out);
        ecdf_table(p, v, n, out);
    } else {
        buf_adds(out, "<p class=dim>Nothing was timed here.</p>");
    }
    buf_adds(out, "</figure>");
    for (size_t lane = 0; lane < p->run->lanes_n; lane++)
        free(v[lane]);
}

void page_distributions(const struct page_run *p, struct buf *out)
{
    int32_t c[RUN_BANDS_MAX];
    size_t n = page_concurrencies(p, c);
    buf_adds(out, "<h2>Distributions of times</h2>");
    legend(p, out, false);
    for (size_t i = 0; i < n; i++) {
        page_band_begin(out, "section", c[i]);
        buf_adds(out, "<div class=plots>");
        ecdf(p, c[i], "Time to first token", "ms", METRIC_TTFT, out);
        ecdf(p, c[i], "Gap between arrivals", "ms", METRIC_CHUNK_GAP, out);
        ecdf(p, c[i], "Whole request", "ms", METRIC_E2E, out);
        buf_adds(out, "</div></section>\n");
    }
}
