/*
 * One plot as inline SVG: axes with round ticks, a grid, steps, lines, whiskers and bars. No style
 * of its own: every element carries a class (page.c's style sheet colours them, light and dark).
 *
 *     struct plot p = {.title = "TTFT", .x_label = "ms", .x = {0, 80}, .y = {0, 1}, ...};
 *     plot_begin(&p, out);
 *     plot_steps(&p, out, "subject", x, y, n);
 *     plot_end(out);
 *
 * Coordinates are data values; what lies outside the axes is cut at their edge. The picture is
 * PLOT_WIDTH x PLOT_HEIGHT units and scales with the page; its text stays readable at phone width.
 * Ownership: appends to `out`, whose failure is sticky (base/buf.h).
 * Source of the ticks: P. Heckbert, "Nice numbers for graph labels", Graphics Gems (1990).
 */
#ifndef TALLY_REPORT_PLOT_H
#define TALLY_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLOT_WIDTH 480
#define PLOT_HEIGHT 280
#define PLOT_LEFT 58
#define PLOT_RIGHT 14
#define PLOT_TOP 14
#define PLOT_BOTTOM 44
#define PLOT_TICKS 5 /* about as many as wanted */

struct plot_range {
    double lo, hi;
};

struct plot {
    const char *title;             /* for screen readers; also the <title> */
    const char *x_label, *y_label; /* with their units */
    struct plot_range x, y;        /* lo < hi */
    bool x_log2;                   /* ticks at powers of two; lo > 0 */
    bool x_whole;                  /* no ticks between whole numbers */
    int height;                    /* 0: PLOT_HEIGHT */
};

/* A range that holds all n values and, when from_zero, zero; widened to round numbers. The range of
 * no values is [0, 1]. Infinite values are passed over. */
struct plot_range plot_fit(const double *v, size_t n, bool from_zero);
/* The step between round ticks: 1, 2 or 5 times a power of ten. */
double plot_step(struct plot_range r, int ticks);

double plot_x(const struct plot *p, double v); /* data -> picture, clamped to the axes */
double plot_y(const struct plot *p, double v);

void plot_begin(const struct plot *p, struct buf *out);
void plot_end(struct buf *out);

/* series: the class, "subject" or "comparator". Points in ascending order of x. */
void plot_line(const struct plot *p, struct buf *out, const char *series, const double *x,
               const double *y, size_t n);
/* y[i] holds from x[i] to x[i + 1]: an empirical distribution function. */
void plot_steps(const struct plot *p, struct buf *out, const char *series, const double *x,
                const double *y, size_t n);
void plot_line_dashed(const struct plot *p, struct buf *out, const char *series, const double *x,
                      const double *y, size_t n);
/* A mark with an interval [lo, hi]; text is shown on hover and focus, and read aloud. */
void plot_mark(const struct plot *p, struct buf *out, const char *series, double x, double y,
               double lo, double hi, const char *text);
/* A horizontal line over the whole width, with its name. */
void plot_rule(const struct plot *p, struct buf *out, const char *class, double y,
               const char *text);

/* Text with & < > " ' escaped; control characters become U+FFFD. */
void html_text(struct buf *out, struct str s);
void html_cstr(struct buf *out, const char *s);

#endif
