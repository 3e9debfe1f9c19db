/* How much prompt work the lane was given. */
#include <stdlib.h>

#include "metrics/band.h"
#include "stats/quantile.h"

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
    return order ? order : str_cmp(x->digest, y->digest);
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
static bool is_unexplained(const struct metrics_prompt *p)
{
    int64_t whole = p->rendered != COUNT_NONE ? p->rendered : p->reported;
    int64_t known = whole == COUNT_NONE || p->body == COUNT_NONE ? 0 : whole - p->body;
    return p->cached > (known > 0 ? known : 0);
}

static bool is_of(const struct band_work *w, const struct sample *s, bool warmup)
{
    return warmup ? s->phase == PHASE_WARMUP : band_in_window(w, s);
}

/* The prompts of the window, or of warm-up, with their answers, by id. */
static int list_prompts(struct band_work *w, bool warmup, const struct metrics_prompt **list,
                        size_t *list_n, struct error *err)
{
    size_t n = 0, k = 0;
    for (size_t i = 0; i < w->n; i++)
        n += is_of(w, &w->samples[i], warmup);
    struct metrics_prompt *p = arena_array(w->arena, n, sizeof *p);
    if (!p)
        return arena_check(w->arena, "metrics", err);
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (!is_of(w, s, warmup))
            continue;
        p[k] = (struct metrics_prompt){.id = s->prompt_id,
                                       .body = s->prompt_body,
                                       .rendered = s->prompt_rendered,
                                       .reported = s->prompt_reported,
                                       .cached = s->prompt_cached,
                                       .turn = s->turn};
        if (band_keep_output(w, s, &p[k++], err) < 0)
            return -1;
    }
    if (n > 1)
        qsort(p, n, sizeof *p, by_id);
    *list = p;
    *list_n = n;
    return 0;
}

static bool departs(const struct metrics_prompt *p)
{
    return p->reported != COUNT_NONE && p->rendered != COUNT_NONE && p->reported != p->rendered;
}

/* Spreads of the four readings, over the prompts of a turn (COUNT_NONE: over all). */
static int read_spreads(const struct metrics_work *work, int64_t turn,
                        struct metrics_spread *const to[4], int64_t *v, struct error *err)
{
    for (int k = 0; k < 4; k++) {
        size_t have = 0;
        for (size_t i = 0; i < work->prompts_n; i++) {
            const struct metrics_prompt *p = &work->prompts[i];
            if (reading(p, k) != COUNT_NONE && (turn == COUNT_NONE || p->turn == turn))
                v[have++] = reading(p, k);
        }
        if (spread(to[k], v, have, err) < 0)
            return -1;
    }
    return 0;
}

/* Prompts stand alone, or every one is a turn. */
static int list_turns(struct band_work *w, int64_t *v, struct error *err)
{
    struct metrics_work *work = &w->out->work;
    struct metrics_turn *list = arena_array(w->arena, METRICS_TURNS_MAX, sizeof *list);
    if (!list)
        return arena_check(w->arena, "metrics", err);
    for (int64_t turn = 1; turn <= METRICS_TURNS_MAX; turn++) {
        struct metrics_turn *t = &list[work->turns_n];
        struct metrics_spread *const to[] = {&t->body, &t->rendered, &t->reported, &t->cached};
        *t = (struct metrics_turn){.turn = turn};
        for (size_t i = 0; i < work->prompts_n; i++) {
            t->n += work->prompts[i].turn == turn;
            t->departed += work->prompts[i].turn == turn && departs(&work->prompts[i]);
        }
        if (t->n == 0)
            continue;
        if (read_spreads(work, turn, to, v, err) < 0)
            return -1;
        work->turns_n++;
    }
    work->turns = list;
    return 0;
}

int band_prompts(struct band_work *w, struct error *err)
{
    struct metrics_work *out = &w->out->work;
    struct metrics_spread *const to[] = {&out->body, &out->rendered, &out->reported, &out->cached};
    int64_t *v = arena_array(w->scratch, w->n, sizeof *v);
    size_t both = 0;
    if (!v)
        return arena_check(w->scratch, "metrics", err);
    if (list_prompts(w, false, &out->prompts, &out->prompts_n, err) < 0 ||
        list_prompts(w, true, &out->warmup, &out->warmup_n, err) < 0)
        return -1;
    for (size_t i = 0; i < out->prompts_n; i++) {
        const struct metrics_prompt *p = &out->prompts[i];
        out->cached_requests += p->cached > 0;
        out->cached_unexplained += is_unexplained(p);
        out->departed_requests += departs(p);
        if (p->reported != COUNT_NONE && p->body != COUNT_NONE)
            v[both++] = p->reported - p->body;
    }
    if (spread(&out->delta, v, both, err) < 0 || read_spreads(out, COUNT_NONE, to, v, err) < 0)
        return -1;
    return list_turns(w, v, err);
}
