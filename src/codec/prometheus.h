/*
 * The text form in which servers tell their metrics (Prometheus exposition format 0.0.4, and what
 * OpenMetrics adds to its lines).
 *
 *     static int take(void *ctx, const struct prom_sample *s) { ...; return 0; }
 *     if (prom_read(text, take, ctx, err) < 0) ...                // err has line and column
 *
 * One call a sample line, in their order; comments, HELP and TYPE lines are passed over, as are
 * time stamps and exemplars behind a value. Values may be NaN and infinite. Ownership: name and
 * labels point into text. Limits: PROM_LINE_MAX bytes a line, PROM_LABELS_MAX labels of one,
 * PROM_SAMPLES_MAX samples; past each ERROR_LIMIT.
 */
#ifndef TALLY_CODEC_PROMETHEUS_H
#define TALLY_CODEC_PROMETHEUS_H

#include "base/error.h"
#include "base/str.h"

#define PROM_LINE_MAX ((size_t)64 << 10)
#define PROM_LABELS_MAX 64
#define PROM_SAMPLES_MAX 200000

struct prom_sample {
    struct str name;
    struct str labels; /* between the braces, as they stand; "" without any */
    double value;
    int64_t line; /* from 1 */
};

/* take: anything but 0 ends the reading, without an error; prom_read then returns 1. */
int prom_read(struct str text, int (*take)(void *ctx, const struct prom_sample *s), void *ctx,
              struct error *err) TALLY_MUST_CHECK;

#endif
