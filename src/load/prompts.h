/*
 * Request bodies made ahead of need, in a thread of their own, so that the timing thread only hands
 * them over.
 *
 *     struct prompts *p;  prompts_start(&p, &source, err);
 *     struct prompt *next = prompts_take(p, PHASE_WINDOW);   // NULL: not ready yet, wake will come
 *     prompt_free(next);  prompts_stop(p);
 *
 * Warm-up and window have indices of their own, so that the k-th request of the window has the same
 * prompt on both lanes however many warm-up requests each had. Where a band of c = 1 went before,
 * the warm-up of the others sends that window's prompts, so that the answers can be compared.
 */
#ifndef TALLY_LOAD_PROMPTS_H
#define TALLY_LOAD_PROMPTS_H

#include "base/hash.h"
#include "corpus/corpus.h"
#include "corpus/trace.h"
#include "load/lane.h"

#define PROMPT_ID_MAX 160
#define PROMPT_ANSWER_TOKENS 128 /* asked for where nothing says how many */

struct prompt {
    struct buf body; /* the request, JSON */
    /* ITEM:rREPLICATE.cBAND.uINDEX (warm-up: .w, or the c1.uINDEX it repeats; injected: .i), or
     * ITEM alone */
    char id[PROMPT_ID_MAX];
    char body_sha256[SHA256_HEX]; /* of the body */
    int64_t max_tokens;           /* asked for in answer */
    int64_t turn;                 /* of a conversation, from 1; COUNT_NONE */
    int64_t tokens;               /* of the prompt's text; COUNT_NONE where nothing counts */
    int64_t rendered;             /* as the lane's wrapper is predicted to make of it; COUNT_NONE */
};

void prompt_free(struct prompt *p);

struct prompts_source {
    const struct load_lane *lane;
    const struct corpus *corpus;
    const struct trace *trace; /* lengths of prompts and answers; NULL: the corpus says */
    const struct corpus_counter *counter; /* NULL: nothing counts */
    const char *nonce;
    bool unique;  /* else the corpus as it is, item after item */
    bool after_1; /* unique: a band of c = 1 of this replicate went before */
    bool again;   /* the prompt was sent before: its cache salt is another one */
    int32_t replicate, band;
    int32_t at_once;         /* so many may be wanted at once */
    void (*wake)(void *ctx); /* a prompt that was asked for in vain is there; any thread */
    void *ctx;
};

/* One turn of a conversation. */
struct prompt_turn {
    const char *id;
    int64_t turn, max_tokens;
    int64_t tokens;                      /* of what is new; COUNT_NONE */
    const struct wire_message *messages; /* the whole conversation so far */
    size_t messages_n;
};
int prompt_make_turn(const struct prompts_source *source, const struct prompt_turn *turn,
                     struct prompt **out, struct error *err) TALLY_MUST_CHECK;

struct prompts;

/* One prompt, made at once: for the completion before the clock starts, and what is injected: a
 * longest prompt, to be answered with one token. */
int prompt_make(const struct prompts_source *source, enum sample_phase phase, int64_t index,
                struct prompt **out, struct error *err) TALLY_MUST_CHECK;

int prompts_start(struct prompts **out, const struct prompts_source *source,
                  struct error *err) TALLY_MUST_CHECK;
/* The next prompt of the phase, or NULL when it is not ready (or making failed: prompts_error). */
struct prompt *prompts_take(struct prompts *p, enum sample_phase phase);
/* True, with *err set, when making prompts failed: no more will come. */
bool prompts_error(struct prompts *p, struct error *err);
/* Waits until both phases have as many prompts ready as workers will want at once, or failed. */
void prompts_wait_ready(struct prompts *p);
void prompts_stop(struct prompts *p); /* NULL is fine */

#endif
