#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MAX 32

void html_text(struct buf *out, struct str s)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        const char *entity = NULL;
        for (size_t k = 0; k < sizeof entities / sizeof entities[0]; k++)
            if (entities[k].c == s.p[i])
                entity = entities[k].entity;
        if (entity)
            buf_adds(out, entity);
        else if (c < 0x20 && c != '\n' && c != '\t')
            buf_adds(out, "\xEF\xBF\xBD");
        else
            buf_addc(out, s.p[i]);
    }
}

void html_cstr(struct buf *out, const char *s)
{
    html_text(out, str_of(s));
}

double plot_step(struct plot_range r, int ticks)
{
    double raw = (r.hi - r.lo) / (ticks > 0 ? ticks : 1);
    if (!(raw > 0) || !isfinite(raw))
        return 1;
    double power = pow(10, floor(log10(raw)));
    double f = raw / power;
    return (f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10) * power;
}

struct plot_range plot_fit(const double *v, size_t n, bool from_zero)
{
    struct plot_range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            continue;
        if (v[i] < r.lo)
            r.lo = v[i];
        if (v[i] > r.hi)
            r.hi = v[i];
    }
    if (r.lo > r.hi)
        return (struct plot_range){0, 1};
    if (from_zero && r.lo > 0)
        r.lo = 0;
    if (from_zero && r.hi < 0)
        r.hi = 0;
    if (r.lo == r.hi) {
        double half = r.lo == 0 ? 1 : fabs(r.lo) / 2;
        r.lo -= half;
        r.hi += half;
    }
    double step = plot_step(r, PLOT_TICKS);
    r.lo = floor(r.lo / step) * step;
    r.hi = ceil(r.hi / step) * step;
    return r;
}

static double height_of(const struct plot *p)
{
    return p->height ? p->height : PLOT_HEIGHT;
}

static double share(struct plot_range r, double v, bool log2_scale)
{
    double s = log2_scale ? log2(v / r.lo) / log2(r.hi / r.lo) : (v - r.lo) / (r.hi - r.lo);
    if (!(s > 0)) /* NaN lies at the edge too */
        return 0;
    return s > 1 ? 1 : s;
}

double plot_x(const struct plot *p, double v)
{
    return PLOT_LEFT + share(p->x, v, p->x_log2) * (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT);
}

double plot_y(const struct plot *p, double v)
{
    double span = height_of(p) - PLOT_TOP - PLOT_BOTTOM;
    return PLOT_TOP + (1 - share(p->y, v, false)) * span;
}

/* The fewest digits that tell the ticks of this step apart. */
static void tick_label(char out[LABEL_MAX], double v, double step)
{
    int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    if (fabs(v) >= 1e6 || decimals > 6)
        snprintf(out, LABEL_MAX, "%.3g", v);
    else
        snprintf(out, LABEL_MAX, "%.*f", decimals, v == 0 ? 0.0 : v);
}

static void x_tick(const struct plot *p, struct buf *out, double v, double step)
{
    char label[LABEL_MAX];
    double x = plot_x(p, v), bottom = height_of(p) - PLOT_BOTTOM;
    tick_label(label, v, step);
    buf_addf(out, "<path class=grid d='M%.1f %d V%.1f'/>", x, PLOT_TOP, bottom);
    buf_addf(out, "<text class=tick x='%.1f' y='%.1f' text-anchor=middle>%s</text>", x, bottom + 16,
             label);
}

static void x_axis(const struct plot *p, struct buf *out)
{
    if (p->x_log2) {
        for (double v = p->x.lo; v <= p->x.hi * 1.0001; v *= 2)
            x_tick(p, out, v, 1);
    } else {
        double step = plot_step(p->x, PLOT_TICKS);
        if (p->x_whole && step < 1)
            step = 1;
        long first = (long)ceil(p->x.lo / step - 1e-9), last = (long)floor(p->x.hi / step + 1e-9);
        for (long i = first; i <= last && i - first < 100; i++)
            x_tick(p, out, (double)i * step, step);
    }
    buf_addf(out, "<text class=label x='%d' y='%.1f' text-anchor=middle>",
             (PLOT_LEFT + PLOT_WIDTH - PLOT_RIGHT) / 2, height_of(p) - 8);
    html_cstr(out, p->x_label);
    buf_adds(out, "</text>");
}

static void y_axis(const struct plot *p, struct buf *out)
{
    char label[LABEL_MAX];
    double step = plot_step(p->y, PLOT_TICKS);
    long first = (long)ceil(p->y.lo / step - 1e-9), last = (long)floor(p->y.hi / step + 1e-9);
    for (long i = first; i <= last && i - first < 100; i++) {
        double y = plot_y(p, (double)i * step);
        tick_label(label, (double)i * step, step);
        buf_addf(out, "<path class=grid d='M%d %.1f H%d'/>", PLOT_LEFT, y, PLOT_WIDTH - PLOT_RIGHT);
        buf_addf(out, "<text class=tick x='%d' y='%.1f' text-anchor=end>%s</text>", PLOT_LEFT - 6,
                 y + 4, label);
    }
    double middle = (PLOT_TOP + height_of(p) - PLOT_BOTTOM) / 2;
    buf_addf(out,
             "<text class=label transform='translate(14 %.1f) rotate(-90)' text-anchor=middle>",
             middle);
    html_cstr(out, p->y_label);
    buf_adds(out, "</text>");
}

void plot_begin(const struct plot *p, struct buf *out)
{
    buf_addf(out, "<svg class=plot viewBox='0 0 %d %.0f' role=img aria-label=\"", PLOT_WIDTH,
             height_of(p));
    html_cstr(out, p->title);
    buf_adds(out, "\">");
    x_axis(p, out);
    y_axis(p, out);
    buf_addf(out, "<path class=axis d='M%d %d V%.1f H%d'/>", PLOT_LEFT, PLOT_TOP,
             height_of(p) - PLOT_BOTTOM, PLOT_WIDTH - PLOT_RIGHT);
}

void plot_end(struct buf *out)
{
    buf_adds(out, "</svg>\n");
}

static void line(const struct plot *p, struct buf *out, const char *class, const char *series,
                 const double *x, const double *y, size_t n)
{
    if (n == 0)
        return;
    buf_addf(out, "<path class='%s %s' d='", class, series);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%c%.1f %.1f", i ? 'L' : 'M', plot_x(p, x[i]), plot_y(p, y[i]));
    buf_adds(out, "'/>");
}

void plot_line(const struct plot *p, struct buf *out, const char *series, const double *x,
               const double *y, size_t n)
{
    line(p, out, "line", series, x, y, n);
}

void plot_line_dashed(const struct plot *p, struct buf *out, const char *series, const double *x,
                      const double *y, size_t n)
{
    line(p, out, "line ideal", series, x, y, n);
}

void plot_steps(const struct plot *p, struct buf *out, const char *series, const double *x,
                const double *y, size_t n)
{
    if (n == 0)
        return;
    double last_x = plot_x(p, x[0]);
    buf_addf(out, "<path class='line %s' d='M%.1f %.1f", series, last_x, plot_y(p, p->y.lo));
    for (size_t i = 0; i < n; i++) {
        double at = plot_x(p, x[i]);
        /* Steps closer than a tenth of a unit are one step: nobody sees them apart. */
        if (i + 1 < n && i > 0 && at - last_x < 0.1)
            continue;
        buf_addf(out, "H%.1fV%.1f", at, plot_y(p, y[i]));
        last_x = at;
    }
    buf_addf(out, "H%d'/>", PLOT_WIDTH - PLOT_RIGHT);
}

void plot_mark(const struct plot *p, struct buf *out, const char *series, double x, double y,
               double lo, double hi, const char *text)
{
    double at = plot_x(p, x);
    buf_addf(out, "<g class='mark %s' tabindex=0 role=img aria-label=\"", series);
    html_cstr(out, text);
    buf_adds(out, "\"><title>");
    html_cstr(out, text);
    buf_adds(out, "</title>");
    if (isfinite(lo) && isfinite(hi) && lo <= hi)
        buf_addf(out, "<path class=whisker d='M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8'/>", at,
                 plot_y(p, lo), plot_y(p, hi), at - 4, plot_y(p, lo), at - 4, plot_y(p, hi));
    /* Shape tells the lanes apart where colour does not. */
    if (strncmp(series, "comparator", 10) == 0)
        buf_addf(out, "<rect x='%.1f' y='%.1f' width=8 height=8 />", at - 4, plot_y(p, y) - 4);
    else
        buf_addf(out, "<circle cx='%.1f' cy='%.1f' r=4.5 />", at, plot_y(p, y));
    buf_adds(out, "</g>");
}

void plot_rule(const struct plot *p, struct buf *out, const char *class, double y, const char *text)
{
    double at = plot_y(p, y);
    buf_addf(out, "<path class='%s' d='M%d %.1fH%d'/>", class, PLOT_LEFT, at,
             PLOT_WIDTH - PLOT_RIGHT);
    buf_addf(out, "<text class='tick %s-text' x='%d' y='%.1f' text-anchor=end>", class,
             PLOT_WIDTH - PLOT_RIGHT - 2, at - 4);
    html_cstr(out, text);
    buf_adds(out, "</text>");
}
