/*
 * The parts that metrics_band_compute is made of; each fills its own members of w->out.
 *
 *     struct band_work w = {...}; band_counts(&w, err); band_times(&w, err); ...
 *
 * Only for the .c files of this folder. `scratch` holds what lives as long as the computation,
 * `arena` what the result keeps.
 */
#ifndef TALLY_METRICS_BAND_H
#define TALLY_METRICS_BAND_H

#include "metrics/timeline.h"

struct band_work {
    const struct sample *samples;
    size_t n;
    const struct metrics_band_facts *facts;
    struct timeline *lines; /* one a sample */
    struct arena *arena, *scratch;
    struct metrics_band *out;
    const struct sample *apart; /* injected: samples holds none of them */
    size_t apart_n;
    bool unassigned; /* some ok request's tokens do not add up */
};

/* Of the window: phase window, sent (or, never sent, issued) within [open, close). */
bool band_in_window(const struct band_work *w, const struct sample *s);
/* Ended ok, and at the first attempt: what success statistics may hold. */
bool band_is_success(const struct sample *s);

int band_counts(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_assign(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_times(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_gaps(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_rates(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_prompts(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_outputs(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
/* The answer of an ok request, and its digest, into p; they live in w->arena. */
int band_keep_output(struct band_work *w, const struct sample *s, struct metrics_prompt *p,
                     struct error *err) TALLY_MUST_CHECK;
int band_steps(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_injector(struct band_work *w, struct error *err) TALLY_MUST_CHECK;
int band_client(struct band_work *w, struct error *err) TALLY_MUST_CHECK;

/* Fills n, censored_n and every statistic of a metric from values (STATS_INFINITE: censored), which
 * are sorted in place. Without values the metric is null{none}. */
int band_summarize(struct metrics_metric *m, int64_t *values, size_t n, enum metrics_reason none,
                   struct error *err) TALLY_MUST_CHECK;
/* Sorts v in place. */
int band_lag(struct client_lag *out, int64_t *v, size_t n, struct error *err) TALLY_MUST_CHECK;
int64_t band_read_lag(const struct sample_read_stamp *r); /* COUNT_NONE without a lower bound */
void band_null(struct metrics_metric *m, enum metrics_reason why);
void band_set_percentile(struct metrics_stat *stat, enum metrics_stat_id id, const int64_t *sorted,
                         size_t n);

#endif
