/* What one long prompt, sent beside the others, did to their tokens. */
#include "metrics/band.h"
#include "stats/quantile.h"

/* The injected prefill: from when its request was sent to its first token. */
struct span {
    int64_t from_ns, to_ns;
};

static bool counts(const struct band_work *w, size_t i)
{
    return band_is_success(&w->samples[i]) && band_in_window(w, &w->samples[i]);
}

static size_t count_arrivals(const struct band_work *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += counts(w, i) ? w->lines[i].n : 0;
    return n;
}

static void look_at_gap(struct metrics_injector *out, const struct span *prefill, int64_t from_ns,
                        int64_t to_ns, int64_t *before)
{
    if (to_ns <= prefill->from_ns) {
        before[out->gaps_before++] = to_ns - from_ns;
    } else if (from_ns < prefill->to_ns) {
        if (out->gaps_during == 0 || to_ns - from_ns > out->largest_ns)
            out->largest_ns = to_ns - from_ns;
        out->gaps_during++;
    }
}

static int look_at_gaps(struct band_work *w, struct metrics_injector *out,
                        const struct span *prefill, struct error *err)
{
    int64_t *before = arena_array(w->scratch, count_arrivals(w), sizeof *before);
    if (!before)
        return arena_check(w->scratch, "metrics", err);
    for (size_t i = 0; i < w->n; i++) {
        const struct timeline *t = &w->lines[i];
        for (size_t a = 1; counts(w, i) && a < t->n; a++)
            look_at_gap(out, prefill, t->t_ns[a - 1], t->t_ns[a], before);
    }
    if (out->gaps_before == 0)
        return 0;
    size_t n = (size_t)out->gaps_before;
    if (stats_sort(before, n, err) < 0)
        return -1;
    out->median_before_ns = before[stats_rank(n, 50) - 1];
    return 0;
}

static enum metrics_reason why_not(const struct band_work *w, const struct metrics_injector *in)
{
    if (!w->facts->injector)
        return REASON_NO_INJECTOR;
    if (!w->facts->stream)
        return REASON_STREAMING_OFF;
    if (in->prefill_ns == COUNT_NONE)
        return REASON_NOT_INJECTED;
    return in->gaps_before == 0 || in->gaps_during == 0 ? REASON_NOTHING : REASON_NONE;
}

int band_injector(struct band_work *w, struct error *err)
{
    struct metrics_injector *out = &w->out->injector;
    struct metrics_metric *m = &w->out->metrics[METRIC_STALL];
    *out = (struct metrics_injector){.sent_ns = TIME_NONE, .prefill_ns = COUNT_NONE};
    if (w->apart_n > 0) {
        const struct sample *s = w->apart;
        struct timeline t;
        out->sent_ns = s->t_sent_ns;
        out->prompt_body = s->prompt_body;
        out->prompt_reported = s->prompt_reported;
        out->outcome = s->outcome;
        if (timeline_make(&t, s, w->facts->kernel_time, w->scratch, err) < 0)
            return -1;
        if (s->outcome == OUTCOME_OK && t.n > 0) {
            const struct span prefill = {s->t_sent_ns, t.first_ns};
            out->prefill_ns = t.first_ns - s->t_sent_ns;
            if (look_at_gaps(w, out, &prefill, err) < 0)
                return -1;
        }
    }
    out->issued = (int64_t)w->apart_n;
    enum metrics_reason why = why_not(w, out);
    band_null(m, why);
    if (why == REASON_NONE)
        *m = (struct metrics_metric){
            .n = out->gaps_during, .real = (double)(out->largest_ns - out->median_before_ns) / 1e6};
    return 0;
}
