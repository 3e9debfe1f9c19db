/* What a band is worth beside the band of c = 1: how it scales, and whether it answers alike. */
#include "metrics/band.h"

static void set_scaling(struct metrics_band *band, const struct metrics_band *base)
{
    struct metrics_metric *m = &band->metrics[METRIC_SCALING];
    const struct metrics_metric *agg = &band->metrics[METRIC_AGG];
    if (!base) {
        band_null(m, REASON_NO_BASE);
        return;
    }
    const struct metrics_metric *one = &base->metrics[METRIC_AGG];
    if (agg->why != REASON_NONE || one->why != REASON_NONE || !(one->real > 0)) {
        band_null(m, REASON_BASE_NULL);
        return;
    }
    *m = (struct metrics_metric){.n = 1, .real = agg->real / one->real / (double)band->facts.band};
}

/* Without the texts, their digests: the same or not, and nothing about where. */
static void compare_digests(struct metrics_agreement *a, const struct metrics_prompt *base,
                            const struct metrics_prompt *p)
{
    a->compared++;
    a->by_digest++;
    a->identical += str_eq(base->digest, p->digest);
}

static void compare_outputs(struct metrics_agreement *a, const struct metrics_prompt *base,
                            const struct metrics_prompt *p)
{
    size_t n = base->output_n < p->output_n ? base->output_n : p->output_n, same = 0;
    while (same < n && base->output[same] == p->output[same])
        same++;
    a->compared++;
    a->by_ids += p->output_is_ids;
    a->agreed += (int64_t)same;
    a->of += (int64_t)base->output_n;
    if (base->output_n == p->output_n && same == n)
        a->identical++;
    else if (a->earliest == COUNT_NONE || (int64_t)same < a->earliest)
        a->earliest = (int64_t)same;
}

static bool has_answer(const struct metrics_prompt *p)
{
    return p->id.n > 0 && (p->output_n > 0 || p->digest.n > 0);
}

/* Both lists are sorted by id. A prompt that was answered several times is compared each time with
 * the first answer at c = 1. */
static void compare_lists(struct metrics_agreement *a, const struct metrics_work *base,
                          const struct metrics_prompt *list, size_t n)
{
    for (size_t i = 0, j = 0; i < base->prompts_n && j < n;) {
        const struct metrics_prompt *one = &base->prompts[i], *p = &list[j];
        int order = str_cmp(one->id, p->id);
        bool usable = has_answer(one);
        bool texts = one->output_n > 0 && p->output_n > 0;
        if (order == 0 && usable && texts && one->output_is_ids == p->output_is_ids)
            compare_outputs(a, one, p);
        else if (order == 0 && usable && !texts && one->digest.n > 0 && p->digest.n > 0)
            compare_digests(a, one, p);
        if (order < 0 || (order == 0 && !usable))
            i++;
        else
            j++;
    }
}

static void set_agreement(struct metrics_band *band, const struct metrics_band *base)
{
    struct metrics_agreement *a = &band->outputs.agreement;
    *a = (struct metrics_agreement){.why = REASON_NONE, .earliest = COUNT_NONE};
    if (base == NULL || base == band) {
        a->why = base ? REASON_IS_BASE : REASON_NO_BASE;
        return;
    }
    compare_lists(a, &base->work, band->work.prompts, band->work.prompts_n);
    compare_lists(a, &base->work, band->work.warmup, band->work.warmup_n);
    if (a->compared == 0)
        a->why = REASON_NO_SHARED;
}

void metrics_set_base(struct metrics_band *band, const struct metrics_band *base)
{
    if (band->facts.open_loop)
        base = NULL; /* a band is a rate: none is one request at a time */
    else if (band->facts.band == 1)
        base = band;
    set_scaling(band, base);
    set_agreement(band, base);
}
