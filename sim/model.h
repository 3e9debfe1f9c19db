/*
 * When tokens come: a model of a server's batching, in virtual time. No clock, no sockets.
 *
 *     model_init(&m, &(struct model_options){.slots = 16, .prefill_tok_s = 8000, ...}, &hooks,
 * ctx); model_submit(&m, &seq, now_ns);                // waits for a slot next =
 * model_next_ns(&m); ... model_run(&m, now_ns);   // calls hooks->token at due times
 *
 * A step takes every sequence that holds a slot: those whose prompt is not through take up to
 * prefill_chunk prompt tokens of the step between them, in order of admission; the others decode
 * one token each. It lasts  prompt tokens / prefill rate + (base + per_sequence * decoding), the
 * second part only when something decodes, times 1 + jitter * u with u even in [-1, 1]. A prompt's
 * last step gives its first token. Waiting sequences are admitted between steps, first come first
 * served. Serial batching holds one sequence at a time.
 * A step begins where the last one ended, however late model_run is called: lateness of the caller
 * is never added to the schedule. From idle it begins at the submission.
 * Ownership: sequences are the caller's and must stay in place until they ended or were cancelled.
 * Limits: MODEL_SLOTS_MAX slots; any number may wait.
 */
#ifndef TALLY_SIM_MODEL_H
#define TALLY_SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/random.h"

#define MODEL_SLOTS_MAX 1024

enum batching { BATCHING_CONTINUOUS = 0, BATCHING_SERIAL };

struct model_options {
    enum batching batching;
    unsigned slots;
    unsigned admitted; /* the most that hold a slot at once; 0: all slots */
    double prefill_tok_s;
    int64_t prefill_chunk; /* prompt tokens a step */
    int64_t base_ns, per_sequence_ns;
    double jitter; /* 0 ... 1 */
    uint64_t seed;
};

enum model_state { MODEL_IDLE = 0, MODEL_WAITING, MODEL_HOLDS_SLOT };

struct model_seq {
    enum model_state state;
    int slot;
    int64_t prompt_left; /* set by the admit hook */
    int64_t in_step;     /* prompt tokens that the running step computes */
    bool decodes;        /* the running step gives a token */
    uint64_t order;      /* of admission */
    struct model_seq *before, *after;
};

struct model;

struct model_hooks {
    /* seq gets a slot at t_ns: chooses one that is free (m->slot[i] is NULL) and sets
     * seq->prompt_left (at least 1); returns the slot. */
    int (*admit)(void *ctx, const struct model *m, struct model_seq *seq, int64_t t_ns);
    /* One token, due at t_ns. False: it was the last, the slot is free. */
    bool (*token)(void *ctx, struct model_seq *seq, int64_t t_ns);
};

struct model {
    struct model_options o;
    const struct model_hooks *hooks;
    void *ctx;
    struct random random;
    struct model_seq *slot[MODEL_SLOTS_MAX];
    struct model_seq *active[MODEL_SLOTS_MAX]; /* in order of admission */
    unsigned n_active, n_most;                 /* now, and ever */
    struct model_seq *first, *last;            /* waiting */
    unsigned n_waiting;
    uint64_t admitted;
    int64_t step_end_ns; /* INT64_MAX: idle */
};

void model_init(struct model *m, const struct model_options *o, const struct model_hooks *hooks,
                void *ctx);
void model_submit(struct model *m, struct model_seq *seq, int64_t now_ns);
/* Ends a sequence in any state; an idle one is left alone. Not from within a hook. */
void model_cancel(struct model *m, struct model_seq *seq);
/* When model_run has something to do; INT64_MAX while idle. */
int64_t model_next_ns(const struct model *m);
/* Everything due up to now_ns, in order. At most MODEL_STEPS_RUN steps; the rest is due at once. */
#define MODEL_STEPS_RUN 64
void model_run(struct model *m, int64_t now_ns);

#endif
