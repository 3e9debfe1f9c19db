/* One bar a request: waiting, prefill, decode; stalls marked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/page.h"
#include "report/plot.h"

#define ROW 5      /* height of a bar */
#define ROW_STEP 7 /* from bar to bar */
#define TOP 8
#define BOTTOM 34
#define STALL_FACTOR 5 /* a gap this many times the request's median gap, and over STALL_MS */
#define STALL_MS 20.0
#define GAPS_MAX 2048 /* of one request, for its median */

/* What is drawn of one request; times in ms since the window opened, NaN where there is none. */
struct bar {
    double planned, sent, first, last, longest_gap, stall_at;
    int row;
};

static int64_t stamp(const struct sample *s, uint32_t read)
{
    const struct sample_read_stamp *r = &s->reads[read];
    return r->t_kernel_ns != TIME_NONE ? r->t_kernel_ns : r->t_user_ns;
}

static double ms_since(int64_t t, int64_t zero)
{
    return t == TIME_NONE ? NAN : (double)(t - zero) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_gap(double *gaps, size_t n)
{
    if (n == 0)
        return 0;
    qsort(gaps, n, sizeof *gaps, by_value);
    return gaps[(n - 1) / 2];
}

static struct bar bar_of(const struct sample *s, int64_t zero)
{
    struct bar b = {.planned = ms_since(s->t_planned_ns, zero),
                    .sent = ms_since(s->t_sent_ns, zero),
                    .first = NAN,
                    .last = NAN,
                    .longest_gap = NAN,
                    .stall_at = NAN};
    double gaps[GAPS_MAX];
    size_t n = 0;
    double before = NAN, longest_at = NAN;
    for (size_t i = 0; i < s->events_n; i++) {
        if (!sample_event_has_token(&s->events[i]) || s->events[i].read >= s->reads_n)
            continue;
        double t = ms_since(stamp(s, s->events[i].read), zero);
        if (isnan(b.first))
            b.first = t;
        if (!isnan(before) && t > before) {
            if (n < GAPS_MAX)
                gaps[n++] = t - before;
            if (!(t - before <= b.longest_gap)) {
                b.longest_gap = t - before;
                longest_at = before;
            }
        }
        before = t;
        b.last = t;
    }
    double median = median_gap(gaps, n);
    if (b.longest_gap > STALL_MS && b.longest_gap > STALL_FACTOR * median)
        b.stall_at = longest_at;
    return b;
}

/* A row is a worker. */
static int row_of(const struct sample *s)
{
    return s->worker >= 0 ? s->worker : 0;
}

struct frame {
    double from, to, scale; /* ms, ms, picture units a ms */
    int rows, height;
    size_t shown, of; /* requests of the window */
    int64_t until_ns; /* those sent later are not drawn */
};

static bool is_shown(const struct frame *f, const struct sample *s)
{
    return s->phase == PHASE_WINDOW && s->t_sent_ns <= f->until_ns;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Up to when requests are drawn, so that they are about `most`: a picture of the beginning is true
 * of it, one with requests left out here and there would be true of nothing. */
static void limit(const struct page_band *b, size_t most, struct frame *f)
{
    f->until_ns = INT64_MAX;
    f->of = f->shown = 0;
    for (size_t i = 0; i < b->samples_n; i++)
        f->of += b->samples[i].phase == PHASE_WINDOW;
    int64_t *sent = f->of > most ? malloc(f->of * sizeof *sent) : NULL;
    if (sent) {
        size_t n = 0;
        for (size_t i = 0; i < b->samples_n; i++)
            if (b->samples[i].phase == PHASE_WINDOW)
                sent[n++] = b->samples[i].t_sent_ns;
        qsort(sent, n, sizeof *sent, by_time);
        f->until_ns = most ? sent[most - 1] : INT64_MIN;
        free(sent);
    }
    for (size_t i = 0; i < b->samples_n; i++)
        f->shown += is_shown(f, &b->samples[i]);
}

static double at(const struct frame *f, double t)
{
    double x = PLOT_LEFT + (t - f->from) * f->scale;
    return x < PLOT_LEFT ? PLOT_LEFT : x > PLOT_WIDTH - PLOT_RIGHT ? PLOT_WIDTH - PLOT_RIGHT : x;
}

static void rect(struct buf *out, const struct frame *f, double a, double b, int row)
{
    if (isnan(a) || isnan(b) || b < a)
        return;
    double x = at(f, a), w = at(f, b) - x;
    buf_addf(out, "M%.2f %dh%.2fv%dh-%.2fz", x, TOP + row * ROW_STEP, w < 0.15 ? 0.15 : w, ROW,
             w < 0.15 ? 0.15 : w);
}

enum piece { QUEUE, PREFILL, DECODE, BAD, STALL, PIECES };

static void pieces(const struct page_band *b, const struct frame *f, int64_t zero, struct buf *out)
{
    static const char *const classes[PIECES] = {"queue", "prefill", "decode", "bad", "stall"};
    for (int piece = 0; piece < PIECES; piece++) {
        buf_addf(out, "<path class=%s d='", classes[piece]);
        for (size_t i = 0; i < b->samples_n; i++) {
            const struct sample *s = &b->samples[i];
            if (!is_shown(f, s))
                continue;
            struct bar bar = bar_of(s, zero);
            int row = row_of(s);
            bool ok = s->outcome == OUTCOME_OK;
            if (piece == QUEUE)
                rect(out, f, bar.planned, bar.sent, row);
            else if (piece == PREFILL && ok)
                rect(out, f, bar.sent, bar.first, row);
            else if (piece == DECODE && ok)
                rect(out, f, bar.first, bar.last, row);
            else if (piece == BAD && !ok)
                rect(out, f, bar.sent, isnan(bar.last) ? ms_since(s->t_end_ns, zero) : bar.last,
                     row);
            else if (piece == STALL && ok && !isnan(bar.stall_at))
                buf_addf(out, "M%.2f %dv%d", at(f, bar.stall_at), TOP + row * ROW_STEP - 1,
                         ROW + 2);
        }
        buf_adds(out, "'/>");
    }
}

static void number(struct buf *out, double v)
{
    if (isnan(v))
        buf_adds(out, "null");
    else
        buf_addf(out, "%.1f", v);
}

static void count(struct buf *out, int64_t v)
{
    if (v == COUNT_NONE)
        buf_adds(out, "null");
    else
        buf_addf(out, "%lld", (long long)v);
}

static int64_t output_of(const struct sample *s)
{
    if (s->output_observed.total != COUNT_NONE)
        return s->output_observed.total;
    return s->output_reported.total != COUNT_NONE ? s->output_reported.total
                                                  : s->output_retokenized.total;
}

/* The requests as numbers, for the script: see script.js for the order of a row. */
static void rows(const struct page_band *b, const struct frame *f, int64_t zero, const char *id,
                 struct buf *out)
{
    bool first = true;
    buf_addf(out,
             "<script type=application/json id=%s>{\"left\":%d,\"from\":%.3f,\"scale\":%.9f,"
             "\"row\":%d,\"width\":%d,\"of\":%zu,\"rows\":[",
             id, PLOT_LEFT, f->from, f->scale, ROW, PLOT_WIDTH, f->of);
    for (size_t i = 0; i < b->samples_n; i++) {
        const struct sample *s = &b->samples[i];
        if (!is_shown(f, s) || s->t_sent_ns == TIME_NONE)
            continue;
        struct bar bar = bar_of(s, zero);
        buf_addf(out, "%s[%d,", first ? "" : ",", TOP + row_of(s) * ROW_STEP);
        number(out, bar.sent);
        buf_addc(out, ',');
        number(out, bar.first);
        buf_addc(out, ',');
        number(out, bar.last);
        buf_addf(out, ",\"%s\",", sample_outcome_name(s->outcome));
        count(out, s->prompt_reported != COUNT_NONE ? s->prompt_reported : s->prompt_body);
        buf_addc(out, ',');
        count(out, output_of(s));
        buf_addf(out, ",%d,", s->worker);
        number(out, bar.longest_gap);
        buf_addc(out, ']');
        first = false;
    }
    buf_adds(out, "]}</script>");
}

static struct frame frame_of(const struct page_band *b, int64_t zero, size_t most)
{
    struct frame f = {.from = 0, .to = 0, .rows = 1};
    limit(b, most, &f);
    for (size_t i = 0; i < b->samples_n; i++) {
        const struct sample *s = &b->samples[i];
        if (!is_shown(&f, s))
            continue;
        double sent = ms_since(s->t_sent_ns, zero), end = ms_since(s->t_end_ns, zero);
        if (!isnan(sent))
            f.from = fmin(f.from, sent);
        if (!isnan(end))
            f.to = fmax(f.to, end);
        if (row_of(s) + 1 > f.rows)
            f.rows = row_of(s) + 1;
    }
    if (!(f.to > f.from))
        f.to = f.from + 1;
    f.scale = (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT) / (f.to - f.from);
    f.height = TOP + f.rows * ROW_STEP + BOTTOM;
    return f;
}

static void time_axis(const struct frame *f, struct buf *out)
{
    struct plot_range seconds = {f->from / 1e3, f->to / 1e3};
    double step = plot_step(seconds, PLOT_TICKS);
    int bottom = f->height - BOTTOM;
    for (double s = ceil(seconds.lo / step) * step; s <= seconds.hi + step * 1e-9; s += step) {
        double x = at(f, s * 1e3);
        buf_addf(out, "<path class=grid d='M%.1f %dV%d'/>", x, TOP - 2, bottom);
        buf_addf(out, "<text class=tick x='%.1f' y='%d' text-anchor=middle>%.4g s</text>", x,
                 bottom + 14, fabs(s) < step / 2 ? 0.0 : s);
    }
    buf_addf(out,
             "<text class=label x='%d' y='%d' text-anchor=middle>since the window opened</text>",
             (PLOT_LEFT + PLOT_WIDTH - PLOT_RIGHT) / 2, f->height - 4);
    int shown = f->rows <= 16 ? 1 : f->rows <= 64 ? 8 : 32;
    for (int r = 0; r < f->rows; r += shown)
        buf_addf(out, "<text class=tick x='%d' y='%d' text-anchor=end>w%d</text>", PLOT_LEFT - 6,
                 TOP + r * ROW_STEP + ROW + 3, r);
}

static void timeline(const struct page_run *p, const struct page_band *b, size_t index, size_t most,
                     struct buf *out)
{
    int64_t zero = b->record->t_open_ns;
    char id[32];
    if (zero == TIME_NONE || b->samples_n == 0)
        return;
    struct frame f = frame_of(b, zero, most);
    snprintf(id, sizeof id, "requests-%zu", index);
    char level[RUN_BAND_NAME_MAX];
    page_level(p, b->record->band, level);
    buf_addf(out, "<figure><figcaption>%s, %s, replicate %d", page_lane(p, b->record->lane), level,
             b->record->replicate);
    if (f.shown < f.of)
        buf_addf(out, ": the first %zu of %zu requests", f.shown, f.of);
    buf_adds(out, "</figcaption>");
    buf_addf(out, "<div class=bar><label>Only <select id=%s-only><option>all", id);
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (b->metrics->counts.outcomes[o])
            buf_addf(out, "<option>%s", sample_outcome_name((enum sample_outcome)o));
    buf_adds(out, "</select></label></div>");
    buf_addf(out,
             "<svg class=timeline data-rows=%s viewBox='0 0 %d %d' tabindex=0 role=img "
             "aria-label=\"Requests of %s at %s; arrow keys step through them\">",
             id, PLOT_WIDTH, f.height, page_lane(p, b->record->lane), level);
    time_axis(&f, out);
    pieces(b, &f, zero, out);
    buf_adds(out, "</svg>");
    buf_addf(out,
             "<p class=\"readout dim\" id=%s-readout aria-live=polite>Hover a bar, or focus "
             "the picture and use the arrow keys.</p>",
             id);
    rows(b, &f, zero, id, out);
    buf_adds(out, "</figure>\n");
}

/* How many requests of a picture are drawn, when all of them would be too many; SIZE_MAX else. What
 * small ones leave over goes to the larger. */
static size_t share_of_each(const struct page_run *p)
{
    size_t left = PAGE_TIMELINE_MAX, all = 0, large = p->bands_n, share = 0, before;
    for (size_t i = 0; i < p->bands_n; i++)
        all += p->bands[i].samples_n;
    if (all <= PAGE_TIMELINE_MAX)
        return SIZE_MAX;
    do {
        before = large;
        share = large ? left / large : 0;
        left = PAGE_TIMELINE_MAX;
        large = 0;
        for (size_t i = 0; i < p->bands_n; i++) {
            if (p->bands[i].samples_n <= share)
                left -= p->bands[i].samples_n;
            else
                large++;
        }
    } while (large && large < before);
    return share;
}

void page_timelines(const struct page_run *p, struct buf *out)
{
    int32_t c[RUN_BANDS_MAX];
    size_t n = page_concurrencies(p, c), most = share_of_each(p);
    buf_adds(out, "<h2>Requests over time</h2><ul class=legend>"
                  "<li class=\"box queue\"><i></i>waiting to be sent</li>"
                  "<li class=\"box prefill\"><i></i>sent to first token</li>"
                  "<li class=\"box decode\"><i></i>first to last token</li>"
                  "<li class=\"box bad\"><i></i>not ok</li></ul>"
                  "<p class=dim>A row is a worker. An upright stroke marks a stall: the longest "
                  "gap of a request, when it is over 20 ms and over five times that request's "
                  "median gap.</p>");
    for (size_t i = 0; i < n; i++) {
        page_band_begin(out, "section", c[i]);
        buf_adds(out, "<div class=plots>");
        for (size_t k = 0; k < p->bands_n; k++) {
            const struct page_band *b = &p->bands[k];
            if (b->record->band != c[i])
                continue;
            timeline(p, b, k, most, out);
        }
        buf_adds(out, "</div></section>\n");
    }
    if (most < SIZE_MAX)
        buf_addf(out,
                 "<p>These pictures draw at most %d requests in all, so some show the beginning of "
                 "their window alone; the numbers of the page are of all requests, which are in "
                 "the samples of the run directory.</p>",
                 PAGE_TIMELINE_MAX);
}
