#include "load/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "chat/when.h"
#include "chat/wrapper.h"
#include "load/probe_internal.h"

#define PROBE_MEMORY_MAX ((size_t)256 << 20)

size_t probe_lanes(const struct probe *p)
{
    return p->options.lanes_n;
}

const struct probe_lane *probe_lane_at(const struct probe *p, size_t i)
{
    return i < p->options.lanes_n ? &p->lanes[i].public : NULL;
}

const struct chat_shapes *probe_shapes(const struct probe *p)
{
    return &p->shapes;
}

int64_t probe_body(const struct probe *p, size_t shape)
{
    return p->body[shape];
}

void probe_free(struct probe *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < PROBE_LANES_MAX; i++) {
        wire_endpoint_free(p->lanes[i].endpoint);
        chat_template_free(p->lanes[i].own);
    }
    free(p->hypotheses);
    arena_release(&p->arena);
    free(p);
}

static int count_bodies(struct probe *p, struct error *err)
{
    for (size_t i = 0; i < p->shapes.n; i++) {
        size_t n;
        if (tokenizer_count(p->options.tokenizer, p->shapes.items[i].body,
                            &(struct encode_options){0}, &n, err) < 0)
            return -1;
        p->body[i] = (int64_t)n;
        p->shapes.items[i].request.now = &p->now;
    }
    return 0;
}

/* Every template there is: those given, and what the lanes themselves show. */
static int make_hypotheses(struct probe *p, struct error *err)
{
    struct chat_named_template t[PROBE_TEMPLATES_MAX + PROBE_LANES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < p->options.templates_n; i++)
        t[n++] = p->options.templates[i];
    for (size_t i = 0; i < p->options.lanes_n; i++) {
        bool known = !p->lanes[i].own;
        for (size_t k = 0; k < n && !known; k++)
            known = strcmp(t[k].template->sha256, p->lanes[i].own->sha256) == 0;
        if (!known)
            t[n++] = (struct chat_named_template){p->lanes[i].own_name, p->lanes[i].own};
    }
    p->hypotheses = calloc(CHAT_HYPOTHESES_MAX, sizeof *p->hypotheses);
    if (!p->hypotheses)
        return error_no_memory(err);
    p->hypotheses_n = chat_hypotheses(p->hypotheses, CHAT_HYPOTHESES_MAX, t, n);
    return 0;
}

/* A server that takes long prompts only in part: it says up to where (/props), or it is the long
 * one, the workload's own, that lacks tokens while what is short agrees. */
static bool is_cut(const struct probe *p, const struct probe_state *lane, size_t shape,
                   int64_t predicted)
{
    int64_t reported = lane->public.counts[shape].reported, context = lane->public.context;
    if (reported == COUNT_NONE || reported >= predicted)
        return false;
    if (context != COUNT_NONE)
        return predicted > context && reported <= context;
    return strcmp(p->shapes.items[shape].name, CHAT_SHAPE_WORKLOAD) == 0;
}

/* What hypothesis h leaves of a lane's counts; -1 when it cannot render, or nothing was counted. */
static int64_t residue_of(const struct probe *p, const struct probe_state *lane,
                          const struct chat_hypothesis *h)
{
    int64_t residue = 0;
    bool any = false;
    for (size_t i = 0; i < p->shapes.n; i++) {
        struct chat_rendering r = {0};
        struct error ignored;
        int64_t reported = lane->public.counts[i].reported;
        if (reported == COUNT_NONE)
            continue;
        int rc = chat_predict(h, &p->shapes.items[i].request, p->options.tokenizer, &r, &ignored);
        bool cut = rc == 0 && is_cut(p, lane, i, (int64_t)r.ids.n);
        int64_t off = cut ? 0 : reported - (int64_t)r.ids.n;
        chat_rendering_release(&r);
        if (rc < 0)
            return -1;
        residue += off < 0 ? -off : off;
        any = true;
    }
    return any ? residue : -1;
}

/* Counts alone cannot tell some profiles apart; a server that shows its template is llama.cpp's. */
static bool is_likelier(const struct probe_state *lane, const struct chat_hypothesis *h,
                        const struct chat_hypothesis *than)
{
    static const char own[] = "llama-server";
    return lane->own && h->departures == than->departures && strcmp(h->profile.name, own) == 0 &&
           strcmp(than->profile.name, own) != 0;
}

static void judge_lane(const struct probe *p, struct probe_state *lane)
{
    struct probe_wrapper *w = &lane->public.wrapper;
    for (size_t i = 0; i < p->hypotheses_n; i++) {
        const struct chat_hypothesis *h = &p->hypotheses[i];
        int64_t residue = residue_of(p, lane, h);
        if (residue < 0)
            continue;
        if (residue == 0 && w->named)
            w->also++;
        if (residue == 0 && (!w->named || is_likelier(lane, h, w->named)))
            w->named = h;
        if (!w->nearest || residue < w->residue) {
            w->nearest = h;
            w->residue = residue;
        }
    }
    if (w->named)
        w->nearest = w->named;
}

static bool same_ids(const struct token_ids *ids, const uint32_t *own, size_t n)
{
    if (ids->n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (ids->id[i] != own[i])
            return false;
    return true;
}

static int predict_lane(const struct probe *p, struct probe_state *lane, struct error *err)
{
    const struct chat_hypothesis *h = lane->public.wrapper.nearest;
    for (size_t i = 0; h && i < p->shapes.n; i++) {
        struct probe_shape_count *c = &lane->public.counts[i];
        struct chat_rendering r = {0};
        int rc = chat_predict(h, &p->shapes.items[i].request, p->options.tokenizer, &r, err);
        if (rc == 0) {
            c->predicted = (int64_t)r.ids.n;
            c->cut = is_cut(p, lane, i, c->predicted);
            c->rendering_known = lane->rendered[i].p != NULL;
            c->rendering_agrees = c->rendering_known && str_eq(lane->rendered[i], buf_str(&r.text));
            c->tokens_known = lane->own_ids[i] != NULL;
            c->tokens_agree =
                c->tokens_known && same_ids(&r.ids, lane->own_ids[i], lane->own_ids_n[i]);
        }
        chat_rendering_release(&r);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int open_lane(struct probe *p, size_t i, struct error *err)
{
    struct probe_state *lane = &p->lanes[i];
    lane->options = p->options.lanes[i];
    const struct wire_endpoint_options e = {
        .url = lane->options.url,
        .bearer = lane->options.bearer,
        .ca_file = lane->options.ca_file,
        .insecure = lane->options.insecure,
    };
    if (wire_endpoint_new(&lane->endpoint, &e, err) < 0)
        return error_wrap(err, "lane %s", lane->options.role);
    lane->public.role = lane->options.role;
    lane->public.url = wire_endpoint_url(lane->endpoint);
    if (probe_identify(p, lane, err) < 0 || probe_count_shapes(p, lane, err) < 0)
        return -1;
    return p->options.only_wrapper ? 0 : probe_behaviour(p, lane, err);
}

static int run(struct probe *p, struct error *err)
{
    if (p->options.now)
        p->now = *p->options.now;
    else
        chat_time_local(&p->now, clock_real_ns());
    if (chat_shapes_make(&p->shapes, p->options.tokenizer, p->options.prompt, &p->arena, err) < 0 ||
        count_bodies(p, err) < 0)
        return -1;
    for (size_t i = 0; i < p->options.lanes_n; i++)
        if ((p->options.enter && p->options.enter(p->options.enter_ctx, i, err) < 0) ||
            open_lane(p, i, err) < 0)
            return -1;
    if (make_hypotheses(p, err) < 0)
        return -1;
    for (size_t i = 0; i < p->options.lanes_n; i++) {
        judge_lane(p, &p->lanes[i]);
        if (predict_lane(p, &p->lanes[i], err) < 0)
            return -1;
    }
    return 0;
}

int probe_run(struct probe **out, const struct probe_options *o, struct error *err)
{
    struct probe *p = calloc(1, sizeof *p);
    if (!p)
        return error_no_memory(err);
    p->options = *o;
    arena_init(&p->arena, PROBE_MEMORY_MAX);
    if (run(p, err) < 0) {
        probe_free(p);
        return -1;
    }
    *out = p;
    return 0;
}

int probe_rendering(const struct probe *p, size_t lane, size_t shape, struct chat_rendering *out,
                    struct error *err)
{
    const struct chat_hypothesis *h = p->lanes[lane].public.wrapper.nearest;
    if (!h)
        return error_set(err, ERROR_UNMEASURED, "lane %s reports no prompt tokens to explain",
                         p->lanes[lane].options.role);
    return chat_predict(h, &p->shapes.items[shape].request, p->options.tokenizer, out, err);
}

int probe_explain(const struct probe *p, size_t shape, struct chat_explanation *x,
                  struct error *err)
{
    struct chat_rendering a = {0}, b = {0};
    int64_t ra = p->lanes[0].public.counts[shape].reported;
    int64_t rb = p->lanes[1].public.counts[shape].reported;
    int rc = -1;
    if (probe_rendering(p, 0, shape, &a, err) == 0 && probe_rendering(p, 1, shape, &b, err) == 0) {
        const struct chat_side sa = {p->lanes[0].options.role, &a};
        const struct chat_side sb = {p->lanes[1].options.role, &b};
        rc = chat_explain(x, &sa, &sb, p->options.tokenizer, &p->shapes.items[shape].request, err);
        if (rc == 0 && p->lanes[0].public.counts[shape].cut)
            rc = chat_explain_cut(x, &sa, false, ra, err);
        if (rc == 0 && p->lanes[1].public.counts[shape].cut)
            rc = chat_explain_cut(x, &sb, true, rb, err);
    }
    if (rc == 0 && ra != COUNT_NONE && rb != COUNT_NONE)
        rc = chat_explain_rest(x, rb - ra, err);
    chat_rendering_release(&a);
    chat_rendering_release(&b);
    return rc;
}

void probe_put_wrapper(const struct probe *p, size_t lane, struct json_writer *w)
{
    const struct probe_wrapper *x = &p->lanes[lane].public.wrapper;
    const struct chat_hypothesis *h = x->nearest;
    chat_wrapper_put(w, &(struct chat_wrapper){
                            .source = "probed",
                            .status = x->named ? "named" : "unexplained",
                            .hypothesis = h,
                            .residue = x->residue,
                            .now = &p->now,
                        });
}
