/*
 * What a lane does with a prompt, asked before a run is spent: how it wraps, what it reports, how
 * it streams.
 *
 *     struct probe *p;
 *     if (probe_run(&p, &(struct probe_options){.lanes = lanes, .lanes_n = 2, ...}, err) < 0) ...
 *     probe_lane_at(p, 0)->wrapper.named ...
 *     probe_free(p);
 *
 * A wrapper is named only by a hypothesis that predicts every shape's count exactly; otherwise it
 * is unexplained, with the residue of the nearest one. What a server does not tell is COUNT_NONE or
 * PROBE_UNKNOWN, never a guess.
 * Ownership: the probe owns everything it points to but what the options borrowed.
 */
#ifndef TALLY_LOAD_PROBE_H
#define TALLY_LOAD_PROBE_H

#include "chat/explain.h"
#include "chat/hypothesis.h"
#include "chat/shapes.h"
#include "codec/json_write.h"
#include "load/lane.h"

#define PROBE_LANES_MAX 2
#define PROBE_TEMPLATES_MAX 4

struct probe_options {
    struct load_lane_options lanes[PROBE_LANES_MAX];
    size_t lanes_n;
    const struct tokenizer *tokenizer;
    struct chat_named_template templates[PROBE_TEMPLATES_MAX]; /* beside what lanes tell */
    size_t templates_n;
    struct str prompt;  /* the workload's own first one; "" */
    int64_t timeout_ns; /* of one request; 0: 120 s */
    const struct jinja_time *now;
    /* Called before a lane is talked to; -1 ends the probe. NULL. */
    int (*enter)(void *ctx, size_t lane, struct error *err);
    void *enter_ctx;
    bool only_wrapper; /* leave out how it streams, repeats and stops */
};

enum probe_answer { PROBE_UNKNOWN = 0, PROBE_NO, PROBE_YES };

struct probe_shape_count {
    int64_t reported, cached;               /* COUNT_NONE */
    int64_t predicted;                      /* by the named (or nearest) hypothesis */
    bool rendering_agrees, rendering_known; /* with the server's own /apply-template */
    bool tokens_agree, tokens_known;        /* id for id, with its own /tokenize */
    bool cut;                               /* the server cut the prompt to what is reported */
    char error[160];                        /* what the server said instead of a count; "" */
};

struct probe_wrapper {
    const struct chat_hypothesis *named;   /* every shape exactly, but for one that is cut; NULL */
    const struct chat_hypothesis *nearest; /* the same, or the one with the least residue; NULL */
    size_t also;                           /* further hypotheses that predict every shape */
    int64_t residue;                       /* sum of |reported - predicted| */
};

struct probe_lane {
    const char *role, *url, *model;
    struct probe_shape_count counts[CHAT_SHAPES_MAX];
    struct probe_wrapper wrapper;
    const struct chat_template *own; /* the template that its /props tells; NULL */
    int64_t slots, context;          /* as /props says; COUNT_NONE */
    enum probe_answer live;          /* tokens come as they are made, not replayed at the end */
    enum probe_answer stream_usage, ignore_eos, repeats_same, caches;
    enum probe_answer stop_counted; /* completion_tokens holds the token that ends an answer */
    const char *usage_where;        /* "own chunk", "last chunk"; NULL */
    int64_t ttft_ns, e2e_ns;        /* of the streamed request */
    int64_t events, output;         /* token-bearing events; tokens reported for them */
    int64_t cached;                 /* on the repeated prompt */
};

struct probe;

int probe_run(struct probe **out, const struct probe_options *o,
              struct error *err) TALLY_MUST_CHECK;
void probe_free(struct probe *p); /* NULL is fine */
size_t probe_lanes(const struct probe *p);
const struct probe_lane *probe_lane_at(const struct probe *p, size_t i);
const struct chat_shapes *probe_shapes(const struct probe *p);
int64_t probe_body(const struct probe *p, size_t shape); /* tokens of the text alone */
/* Why the two lanes differ on a shape; both must have an (at least nearest) hypothesis. The causes
 * add up to the difference that the servers reported. */
int probe_explain(const struct probe *p, size_t shape, struct chat_explanation *x,
                  struct error *err) TALLY_MUST_CHECK;
/* Rendering of a shape as lane i is taken to do it. */
int probe_rendering(const struct probe *p, size_t lane, size_t shape, struct chat_rendering *out,
                    struct error *err) TALLY_MUST_CHECK;
/* {"source": "probed", "name": …, "template_sha256": …} for the receipt. */
void probe_put_wrapper(const struct probe *p, size_t lane, struct json_writer *w);

#endif
