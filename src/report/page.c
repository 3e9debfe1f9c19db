#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/assets.h"
#include "report/plot.h"

size_t page_concurrencies(const struct page_run *p, int32_t out[RUN_BANDS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < p->run->plan.bands_n && n < RUN_BANDS_MAX; i++)
        out[n++] = p->run->plan.bands[i];
    return n;
}

const char *page_lane(const struct page_run *p, size_t lane)
{
    return lane < p->run->lanes_n ? p->run->lanes[lane].role : "";
}

void page_ms(struct buf *out, int64_t ns)
{
    if (ns < 0) {
        buf_adds(out, "none");
        return;
    }
    double ms = (double)ns / 1e6;
    int decimals = ms < 10 ? 2 : ms < 100 ? 1 : 0;
    buf_addf(out, "%.*f ms", decimals, ms);
}

void page_real(struct buf *out, double v)
{
    double a = fabs(v);
    int decimals = a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3;
    buf_addf(out, "%.*f", decimals, v);
}

void page_band_begin(struct buf *out, const char *tag, int32_t c)
{
    buf_addf(out, "<%s data-band=\"%d\">", tag, c);
}

static const char *status_words(enum status s)
{
    switch (s) {
    case STATUS_PASS:
        return "Every band was measured as planned; the numbers below are evidence.";
    case STATUS_FAIL:
        return "A threshold was missed.";
    case STATUS_REFUSED:
        return "What was measured is not conformant evidence; the reasons stand below.";
    case STATUS_UNMEASURED:
        return "Nothing, or not enough, could be measured.";
    case STATUS_INCOMPLETE:
        return "The run did not reach its end; what was measured is kept.";
    case STATUS_INCONCLUSIVE:
        return "The numbers do not decide either way.";
    case STATUS_NOT_APPLICABLE:
        break;
    }
    return "";
}

static void lane_line(const struct page_run *p, size_t i, struct buf *out)
{
    const struct run_lane *l = &p->run->lanes[i];
    buf_addf(out, "<strong>%s</strong> ", l->role);
    html_cstr(out, l->url ? l->url : "");
    if (l->model) {
        buf_adds(out, ", model ");
        html_cstr(out, l->model);
    }
    if (l->host) {
        buf_adds(out, ", on ");
        html_cstr(out, l->host);
    }
}

/* The largest concurrency at which both lanes have a ratio, or any lane a rate: what the first
 * screen shows. */
static const struct metrics_pairs *headline_pair(const struct page_run *p)
{
    const struct metrics_pairs *best = NULL;
    for (size_t i = 0; i < p->pairs_n; i++)
        if (p->pairs[i].ratios[PAIRED_AGG].why == REASON_NONE &&
            (!best || p->pairs[i].band > best->band))
            best = &p->pairs[i];
    return best;
}

const char *page_level(const struct page_run *p, int32_t band, char out[RUN_BAND_NAME_MAX])
{
    run_band_name(out, &p->run->plan, band);
    return out;
}

double page_level_number(const struct page_run *p, int32_t band)
{
    return run_plan_is_open(&p->run->plan) ? band / 1000.0 : band;
}

static void ratio_card(const struct page_run *p, const struct metrics_pairs *pair,
                       enum metrics_paired which, const char *title, struct buf *out)
{
    const struct metrics_ratio *r = &pair->ratios[which];
    if (r->why != REASON_NONE)
        return;
    char level[RUN_BAND_NAME_MAX];
    buf_addf(out, "<li>%s, %s<b>", title, page_level(p, pair->band, level));
    page_real(out, r->ratio);
    buf_adds(out, "</b><span class=dim>subject / comparator, ");
    if (r->bounds_why == REASON_NONE) {
        /* L and U favour the subject; for a time, where lower is better, they turn over. */
        bool lower = metrics_info(metrics_paired_metric(which))->better == BETTER_LOWER;
        double a = exp(lower ? -r->upper : r->lower), b = exp(lower ? -r->lower : r->upper);
        buf_adds(out, "one-sided 95 % bounds ");
        page_real(out, a);
        buf_adds(out, " and ");
        page_real(out, b);
        buf_addf(out, ", %zu replicates", r->n);
    } else {
        buf_adds(out, "one replicate: no bounds");
    }
    buf_adds(out, "</span></li>");
}

static void rate_cards(const struct page_run *p, struct buf *out)
{
    int32_t c[RUN_BANDS_MAX];
    size_t n = page_concurrencies(p, c);
    for (size_t lane = 0; lane < p->run->lanes_n && n; lane++) {
        double sum = 0, lo = INFINITY, hi = -INFINITY;
        size_t reps = 0;
        for (size_t i = 0; i < p->bands_n; i++) {
            const struct page_band *b = &p->bands[i];
            const struct metrics_metric *m = &b->metrics->metrics[METRIC_AGG];
            if (b->record->lane != lane || b->record->band != c[n - 1] || m->why != REASON_NONE)
                continue;
            sum += m->real;
            reps++;
            lo = fmin(lo, m->real);
            hi = fmax(hi, m->real);
        }
        if (reps == 0)
            continue;
        char level[RUN_BAND_NAME_MAX];
        buf_addf(out, "<li>Output rate, %s, %s<b>", page_lane(p, lane),
                 page_level(p, c[n - 1], level));
        page_real(out, sum / (double)reps);
        buf_adds(out, " tok/s</b><span class=dim>");
        if (reps > 1) {
            buf_addf(out, "mean of %zu replicates, from ", reps);
            page_real(out, lo);
            buf_adds(out, " to ");
            page_real(out, hi);
        } else {
            buf_adds(out, "one replicate");
        }
        buf_adds(out, "</span></li>");
    }
}

static void first_screen(const struct page_run *p, struct buf *out)
{
    char when[CLOCK_UTC_TEXT];
    clock_format_utc(when, p->run->t_start_real_ns);
    buf_addf(out, "<header><p><span class=\"status %s\">%s</span></p><h1>", status_name(p->status),
             status_name(p->status));
    for (size_t i = 0; i < p->run->lanes_n; i++) {
        const struct run_lane *l = &p->run->lanes[i];
        buf_adds(out, i ? " against " : "");
        html_cstr(out, l->model ? l->model : l->url ? l->url : l->role);
        buf_addf(out, " (%s)", l->role);
    }
    buf_addf(out, "</h1><p>%s", status_words(p->status));
    if (p->reason) {
        buf_adds(out, " Reason: ");
        html_cstr(out, p->reason);
        buf_addc(out, '.');
    }
    buf_adds(out, "</p>");
    for (size_t i = 0; i < p->run->lanes_n; i++) {
        buf_adds(out, "<p class=dim>");
        lane_line(p, i, out);
        buf_adds(out, "</p>");
    }
    buf_addf(out, "<p class=dim>Protocol %s, started %s, run %.16s</p>",
             p->run->plan.protocol ? p->run->plan.protocol : "custom", when,
             p->run_id ? p->run_id : "");
    buf_adds(out, "<ul class=numbers>");
    const struct metrics_pairs *pair = headline_pair(p);
    if (pair) {
        ratio_card(p, pair, PAIRED_AGG, "Output rate", out);
        ratio_card(p, pair, PAIRED_TTFT, "Time to first token, median", out);
        ratio_card(p, pair, PAIRED_DECODE, "Decode rate, median", out);
    }
    rate_cards(p, out);
    buf_adds(out, "</ul></header>\n");
}

static void pair_caveats(const struct page_run *p, struct buf *out)
{
    char level[RUN_BAND_NAME_MAX];
    for (size_t i = 0; i < p->pairs_n; i++) {
        const struct metrics_pairs *pair = &p->pairs[i];
        const struct metrics_ratio *r = &pair->ratios[PAIRED_AGG];
        if (r->why != REASON_NONE && r->why != REASON_ONE_LANE) {
            buf_addf(out, "<li>No ratio at %s: %s", page_level(p, pair->band, level),
                     metrics_reason_help(r->why));
            if (r->why == REASON_UNEQUAL_WORK && isfinite(pair->work.excess))
                buf_addf(out, " (the subject did %+.2f %% prompt work)", 100 * pair->work.excess);
            buf_adds(out, ".</li>");
        } else if (pair->unequal_work) {
            buf_addf(out,
                     "<li>At %s the lanes were compared although declared to do unequal "
                     "prompt work.</li>",
                     page_level(p, pair->band, level));
        }
    }
}

static void band_caveats(const struct page_run *p, struct buf *out)
{
    char level[RUN_BAND_NAME_MAX];
    for (size_t i = 0; i < p->bands_n; i++) {
        const struct run_band *b = p->bands[i].record;
        const struct metrics_band *m = p->bands[i].metrics;
        const char *lane = page_lane(p, b->lane);
        if (b->status != STATUS_PASS) {
            buf_addf(out, "<li>%s, %s, replicate %d is %s", lane, page_level(p, b->band, level),
                     b->replicate, status_name(b->status));
            if (b->reason || b->detail) {
                buf_adds(out, ": ");
                html_cstr(out, b->detail ? b->detail : b->reason);
            }
            buf_adds(out, ".</li>");
        }
        for (int f = 0; f < METRICS_FLAGS; f++)
            if (m->flags & 1u << f)
                buf_addf(out, "<li>%s, %s, replicate %d is SUSPECT: %s.</li>", lane,
                         page_level(p, b->band, level), b->replicate,
                         metrics_flag_help((enum metrics_flag)f));
    }
}

static void caveats(const struct page_run *p, struct buf *out)
{
    struct buf list = BUF_INIT(PAGE_BYTES_MAX);
    for (size_t i = 0; i < p->refusals_n; i++) {
        const struct page_refusal *r = &p->refusals[i];
        buf_adds(&list, "<li><strong>Refused</strong> by <code>");
        html_cstr(&list, r->rule);
        buf_adds(&list, "</code>");
        if (r->where && r->where[0]) {
            buf_adds(&list, " (");
            html_cstr(&list, r->where);
            buf_addc(&list, ')');
        }
        buf_adds(&list, ": ");
        html_cstr(&list, r->seen ? r->seen : "");
        if (r->remedy && r->remedy[0]) {
            buf_adds(&list, ". <em>Remedy:</em> ");
            html_cstr(&list, r->remedy);
        }
        buf_adds(&list, "</li>");
    }
    pair_caveats(p, &list);
    band_caveats(p, &list);
    if (list.n) {
        buf_adds(out, "<section class=caveats aria-label=\"Refusals and caveats\"><ul>");
        buf_addstr(out, buf_str(&list));
        buf_adds(out, "</ul></section>\n");
    }
    if (list.failed && !out->failed)
        out->failed = list.failed;
    buf_release(&list);
    if (p->verified) {
        buf_adds(out, "<p>");
        html_cstr(out, p->verified);
        buf_adds(out, "</p>");
    }
}

void page_controls(struct buf *out, const struct page_run *p, const int32_t *c, size_t n,
                   const char *const *lanes, size_t lanes_n)
{
    const char *what = p && run_plan_is_open(&p->run->plan) ? "Load" : "Concurrency";
    char level[RUN_BAND_NAME_MAX];
    buf_addf(out, "<div class=bar role=group aria-label=\"%s shown\">%s: ", what, what);
    for (size_t i = 0; i < n; i++) {
        if (p)
            page_level(p, c[i], level);
        else
            snprintf(level, sizeof level, "c = %d", c[i]);
        buf_addf(out, "<button type=button data-show=\"%d\" aria-pressed=false>%s</button>", c[i],
                 level);
    }
    buf_adds(out, "<button type=button data-show=all aria-pressed=false>all</button>");
    for (size_t i = 0; i < lanes_n && lanes_n > 1; i++)
        buf_addf(out, "<label><input type=checkbox checked data-lane=%s> %s</label>", lanes[i],
                 lanes[i]);
    buf_adds(out, "</div>\n");
}

static void controls(const struct page_run *p, struct buf *out)
{
    int32_t c[RUN_BANDS_MAX];
    const char *lanes[RUN_LANES_MAX];
    size_t n = page_concurrencies(p, c);
    for (size_t i = 0; i < p->run->lanes_n; i++)
        lanes[i] = page_lane(p, i);
    page_controls(out, p, c, n, lanes, p->run->lanes_n);
}

void page_begin(struct buf *out, const char *title)
{
    buf_adds(out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
                  "<meta name=viewport content=\"width=device-width, initial-scale=1\">"
                  "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
                  "<link rel=icon href=\"data:,\"><title>");
    html_cstr(out, title);
    buf_adds(out, "</title><style>");
    buf_adds(out, page_style);
    buf_adds(out, "</style></head><body>\n");
}

void page_end(struct buf *out)
{
    buf_adds(out, "<script>");
    buf_adds(out, page_script);
    buf_adds(out, "</script></body></html>\n");
}

int page_write(const struct page_run *p, struct buf *out, struct error *err)
{
    char title[96];
    snprintf(title, sizeof title, "%s: tally report %.16s", status_name(p->status),
             p->run_id ? p->run_id : "");
    page_begin(out, title);
    first_screen(p, out);
    caveats(p, out);
    page_prompt_work(p, out);
    page_throughput(p, out);
    controls(p, out);
    page_distributions(p, out);
    page_timelines(p, out);
    page_validity(p, out);
    page_provenance(p, out);
    page_end(out);
    return buf_check(out, "the report", err);
}
