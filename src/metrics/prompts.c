/* How much prompt work the lane was given, and whether its answers look like answers. */
#include <stdlib.h>

#include "base/utf8.h"
#include "metrics/band.h"
#include "stats/quantile.h"

/* A run this long that makes up half of the output or more is no answer. */
#define RUN_OF_IDS 16
#define RUN_OF_CHARACTERS 32

static int64_t reading(const struct metrics_prompt *p, int which)
{
    switch (which) {
    case 0:
        return p->body;
    case 1:
        return p->rendered;
    case 2:
        return p->reported;
    default:
        return p->cached;
    }
}

/* By id, then by counts and answer: whatever the sort does with equals, the result is the same. */
static int by_id(const void *a, const void *b)
{
    const struct metrics_prompt *x = a, *y = b;
    int order = str_cmp(x->id, y->id);
    for (int k = 0; k < 4 && order == 0; k++)
        order = reading(x, k) < reading(y, k) ? -1 : reading(x, k) > reading(y, k);
    if (order == 0)
        order = x->output_n < y->output_n ? -1 : x->output_n > y->output_n;
    for (size_t i = 0; i < x->output_n && order == 0; i++)
        order = x->output[i] < y->output[i] ? -1 : x->output[i] > y->output[i];
    return order;
}

static int spread(struct metrics_spread *out, int64_t *v, size_t n, struct error *err)
{
    *out = (struct metrics_spread){0};
    if (n == 0)
        return 0;
    if (stats_sort(v, n, err) < 0)
        return -1;
    *out = (struct metrics_spread){(int64_t)n, v[0], v[stats_rank(n, 50) - 1], v[n - 1]};
    return 0;
}

/* Cached tokens that the wrapper around the text, the same for every prompt, does not account for.
 * Whatever a conversation repeats of its earlier turns lies in the wrapper too: the body is the new
 * text alone. */
static bool is_unexplained(const struct sample *s)
{
    int64_t whole = s->prompt_rendered != COUNT_NONE ? s->prompt_rendered : s->prompt_reported;
    int64_t known =
        whole == COUNT_NONE || s->prompt_body == COUNT_NONE ? 0 : whole - s->prompt_body;
    return s->prompt_cached > (known > 0 ? known : 0);
}

/* All that the answer's events carry, as ids where any are named, else as code points. */
static int keep_output(struct band_work *w, const struct sample *s, struct metrics_prompt *p,
                       struct error *err)
{
    size_t ids = 0, bytes = 0, n = 0;
    if (!band_is_success(s))
        return 0;
    for (size_t k = 0; k < s->events_n; k++)
        if (s->events[k].choice == 0 && sample_event_has_token(&s->events[k])) {
            ids += s->events[k].ids_n;
            bytes += s->events[k].text.n;
        }
    uint32_t *output = arena_array(w->arena, ids > 0 ? ids : bytes, sizeof *output);
    if (!output)
        return arena_check(w->arena, "metrics", err);
    for (size_t k = 0; k < s->events_n; k++) {
        const struct sample_event *e = &s->events[k];
        if (e->choice != 0 || !sample_event_has_token(e))
            continue;
        for (size_t j = 0; j < e->ids_n; j++)
            output[n++] = e->ids[j];
        for (size_t at = 0, step; ids == 0 && at < e->text.n; at += step) {
            step = utf8_decode(e->text, at, &output[n]);
            if (step == 0) {
                output[n] = 0xfffd;
                step = 1;
            }
            n++;
        }
    }
    p->output = output;
    p->output_n = n;
    p->output_is_ids = ids > 0;
    return 0;
}

int band_prompts(struct band_work *w, struct error *err)
{
    struct metrics_work *out = &w->out->work;
    struct metrics_prompt *p = arena_array(w->arena, w->n, sizeof *p);
    int64_t *v = arena_array(w->scratch, w->n, sizeof *v);
    if (!p || !v)
        return arena_check(p ? w->scratch : w->arena, "metrics", err);
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (!band_in_window(w, s))
            continue;
        out->cached_requests += s->prompt_cached > 0;
        out->cached_unexplained += is_unexplained(s);
        out->departed_requests += s->prompt_reported != COUNT_NONE &&
                                  s->prompt_rendered != COUNT_NONE &&
                                  s->prompt_reported != s->prompt_rendered;
        p[n] = (struct metrics_prompt){.id = s->prompt_id,
                                       .body = s->prompt_body,
                                       .rendered = s->prompt_rendered,
                                       .reported = s->prompt_reported,
                                       .cached = s->prompt_cached};
        if (keep_output(w, s, &p[n++], err) < 0)
            return -1;
    }
    struct metrics_spread *const to[] = {&out->body, &out->rendered, &out->reported, &out->cached};
    for (int k = 0; k < 4; k++) {
        size_t have = 0;
        for (size_t i = 0; i < n; i++)
            if (reading(&p[i], k) != COUNT_NONE)
                v[have++] = reading(&p[i], k);
        if (spread(to[k], v, have, err) < 0)
            return -1;
    }
    size_t both = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i].reported != COUNT_NONE && p[i].body != COUNT_NONE)
            v[both++] = p[i].reported - p[i].body;
    if (spread(&out->delta, v, both, err) < 0)
        return -1;
    if (n > 1)
        qsort(p, n, sizeof *p, by_id);
    out->prompts = p;
    out->prompts_n = n;
    return 0;
}

static int64_t longest_run(const struct metrics_prompt *p)
{
    int64_t length = 0, longest = 0;
    for (size_t i = 0; i < p->output_n; i++) {
        length = i > 0 && p->output[i] == p->output[i - 1] ? length + 1 : 1;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Over the kept answers, so that ids and characters are told apart in one place. */
void band_outputs(struct band_work *w)
{
    struct metrics_outputs *out = &w->out->outputs;
    for (size_t i = 0; i < w->out->work.prompts_n; i++) {
        const struct metrics_prompt *p = &w->out->work.prompts[i];
        int64_t least = p->output_is_ids ? RUN_OF_IDS : RUN_OF_CHARACTERS, n = (int64_t)p->output_n;
        int64_t run = longest_run(p);
        if (n == 0)
            continue;
        out->checked++;
        out->degenerate += run >= least && run * 2 >= n;
        out->longest_run = run > out->longest_run ? run : out->longest_run;
    }
}
