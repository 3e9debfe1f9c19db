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

/* Both lists are sorted by id. A prompt that was answered several times is compared each time with
 * the first answer at c = 1. */
static void set_agreement(struct metrics_band *band, const struct metrics_band *base)
{
    struct metrics_agreement *a = &band->outputs.agreement;
    *a = (struct metrics_agreement){.why = REASON_NONE, .earliest = COUNT_NONE};
    if (base == NULL || base == band) {
        a->why = base ? REASON_IS_BASE : REASON_NO_BASE;
        return;
    }
    for (size_t i = 0, j = 0; i < base->work.prompts_n && j < band->work.prompts_n;) {
        const struct metrics_prompt *one = &base->work.prompts[i], *p = &band->work.prompts[j];
        int order = str_cmp(one->id, p->id);
        bool usable = one->output_n > 0 && one->id.n > 0;
        bool alike = p->output_n > 0 && one->output_is_ids == p->output_is_ids;
        if (order == 0 && usable && alike)
            compare_outputs(a, one, p);
        if (order < 0 || (order == 0 && !usable))
            i++;
        else
            j++;
    }
    if (a->compared == 0)
        a->why = REASON_NO_SHARED;
}

void metrics_set_base(struct metrics_band *band, const struct metrics_band *base)
{
    if (band->facts.band == 1)
        base = band;
    set_scaling(band, base);
    set_agreement(band, base);
}
