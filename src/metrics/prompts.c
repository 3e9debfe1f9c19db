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

/* By id, then by counts: whatever the sort does with equals, the result is the same. */
static int by_id(const void *a, const void *b)
{
    const struct metrics_prompt *x = a, *y = b;
    int order = str_cmp(x->id, y->id);
    for (int k = 0; k < 4 && order == 0; k++)
        order = reading(x, k) < reading(y, k) ? -1 : reading(x, k) > reading(y, k);
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
        p[n++] = (struct metrics_prompt){s->prompt_id, s->prompt_body, s->prompt_rendered,
                                         s->prompt_reported, s->prompt_cached};
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

struct run {
    uint32_t last;
    int64_t length, longest, total;
};

static void extend(struct run *r, uint32_t v)
{
    r->length = r->total > 0 && v == r->last ? r->length + 1 : 1;
    r->longest = r->length > r->longest ? r->length : r->longest;
    r->last = v;
    r->total++;
}

static void look_at_text(struct run *r, struct str text)
{
    for (size_t at = 0, n; at < text.n; at += n) {
        uint32_t c;
        n = utf8_decode(text, at, &c);
        if (n == 0) {
            c = 0xfffd;
            n = 1;
        }
        extend(r, c);
    }
}

void band_outputs(struct band_work *w)
{
    struct metrics_outputs *out = &w->out->outputs;
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (!band_is_success(s) || !band_in_window(w, s))
            continue;
        struct run ids = {0}, text = {0};
        for (size_t k = 0; k < s->events_n; k++) {
            const struct sample_event *e = &s->events[k];
            if (e->choice != 0 || !sample_event_has_token(e))
                continue;
            for (size_t j = 0; j < e->ids_n; j++)
                extend(&ids, e->ids[j]);
            look_at_text(&text, e->text);
        }
        const struct run *r = ids.total > 0 ? &ids : &text;
        int64_t least = ids.total > 0 ? RUN_OF_IDS : RUN_OF_CHARACTERS;
        if (r->total == 0)
            continue;
        out->checked++;
        out->degenerate += r->longest >= least && r->longest * 2 >= r->total;
        out->longest_run = r->longest > out->longest_run ? r->longest : out->longest_run;
    }
}
