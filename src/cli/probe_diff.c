#include "cli/probe_diff.h"

#include <stdlib.h>

#include "cli/side_by_side.h"

#define BOS_SHOWN "[BOS, added by the tokenizer]"

/* The text that ids [from, to) of a rendering stand for; a token that stands for none of it is one
 * that the tokenizer added. */
static struct str text_of(const struct chat_rendering *r, size_t from, size_t to)
{
    size_t begin, end;

    if (from >= to)
        return (struct str){0};
    begin = r->ids.from[from];
    end = r->ids.to[to - 1];
    if (begin == end && from < r->added_front)
        return STR(BOS_SHOWN);
    return end > begin ? (struct str){r->text.p + begin, end - begin} : (struct str){0};
}

static size_t add_same(struct side_stretch *s, size_t n, const struct chat_rendering r[2], size_t a,
                       size_t a_to, size_t b, size_t b_to)
{
    if (a == a_to && b == b_to)
        return n;
    s[n] = (struct side_stretch){text_of(&r[0], a, a_to), text_of(&r[1], b, b_to), true};
    return n + 1;
}

/* Hunks are where the ids differ; all between them is the same. */
static size_t stretches_of(struct side_stretch *s, const struct align_hunks *h,
                           const struct chat_rendering r[2])
{
    size_t n = 0, a = 0, b = 0;

    for (size_t i = 0; i < h->n; i++) {
        const struct align_hunk *k = &h->items[i];
        n = add_same(s, n, r, a, k->a_from, b, k->b_from);
        s[n++] = (struct side_stretch){text_of(&r[0], k->a_from, k->a_to),
                                       text_of(&r[1], k->b_from, k->b_to), false};
        a = k->a_to;
        b = k->b_to;
    }
    return add_same(s, n, r, a, r[0].ids.n, b, r[1].ids.n);
}

int probe_print_diff(struct cli *cli, const struct probe *p, size_t shape, struct error *err)
{
    struct chat_rendering r[2] = {0};
    struct chat_explanation x = {0};
    struct align_hunks h = {0};
    struct side_stretch *s = NULL;
    int rc = -1;

    if (probe_rendering(p, 0, shape, &r[0], err) < 0 ||
        probe_rendering(p, 1, shape, &r[1], err) < 0 || probe_explain(p, shape, &x, err) < 0)
        goto out;
    h.items = calloc(x.n + 1, sizeof *h.items);
    s = calloc(2 * x.n + 2, sizeof *s);
    if (!h.items || !s) {
        error_no_memory(err);
        goto out;
    }
    for (size_t i = 0; i < x.n; i++)
        if (chat_cause_has_hunk(x.items[i].kind))
            h.items[h.n++] = x.items[i].hunk;
    rc = side_by_side(cli->out, &cli->out_term, probe_lane_at(p, 0)->role,
                      probe_lane_at(p, 1)->role, s, stretches_of(s, &h, r), err);
out:
    align_hunks_release(&h);
    free(s);
    chat_explanation_release(&x);
    chat_rendering_release(&r[0]);
    chat_rendering_release(&r[1]);
    return rc;
}
