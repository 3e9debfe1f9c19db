/*
 * What another load tool would have said of the same requests: its names and its definitions,
 * computed from our records, so that two reports can be reconciled line by line.
 *
 *     const struct as_profile *p = as_find("vllm");
 *     struct as_result r;
 *     if (as_compute(&r, p, samples, n, &facts, &arena, err) < 0) ...
 *     for (size_t i = 0; i < r.n; i++) use(r.rows[i].name, r.rows[i].value);
 *
 * A profile states its rules (quantile, window, clock, tokens) and where they were read; each was
 * taken from the tool's source at the version it names. These numbers are never in a receipt and
 * never gate: several of the rules are the reason why two tools disagree (docs/why-tools-disagree).
 * What cannot be known from our records stands under `apart`.
 * Ownership: rows live in the arena; profiles are constant. Units are in each row's `unit`.
 * Errors: memory only.
 */
#ifndef TALLY_METRICS_AS_H
#define TALLY_METRICS_AS_H

#include "base/arena.h"
#include "base/error.h"
#include "metrics/metrics.h"

struct as_rule;

struct as_profile {
    const char *name;     /* of --as */
    const char *tool;     /* name and version whose source was read */
    const char *source;   /* files, at which commit or release */
    const char *quantile; /* the rules, each a sentence */
    const char *window;
    const char *clock;
    const char *tokens;
    const char *success;
    const char *apart; /* where our records cannot follow it, or why its numbers differ; "" */
    const struct as_rule *rule;
};

struct as_row {
    const char *name, *unit;
    enum metrics_reason why; /* REASON_NONE: value is there */
    double value;
};

struct as_result {
    struct as_row *rows;
    size_t n;
};

size_t as_count(void);
const struct as_profile *as_at(size_t i);
const struct as_profile *as_find(const char *name); /* NULL */

/* Over the samples of one band; those of the warm-up are left out. */
int as_compute(struct as_result *r, const struct as_profile *p, const struct sample *samples,
               size_t n, const struct metrics_band_facts *facts, struct arena *arena,
               struct error *err) TALLY_MUST_CHECK;
/* What needs the band of c = 1, same lane and replicate (or NULL): scaling_efficiency. */
void as_set_base(struct as_result *r, const struct as_result *base, int32_t band);

#endif
