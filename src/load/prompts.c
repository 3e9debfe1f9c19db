#include "load/prompts.h"

#include <stdio.h>
#include <stdlib.h>

#include "load/queue.h"
#include "load/rendering.h"
#include "load/wrapper.h"

#define AHEAD_MORE 32  /* ready beyond one a worker */
#define AHEAD_MAX 4096 /* ready at most: bodies can be large */

struct prompts {
    struct prompts_source source;
    struct queue ready[2]; /* by phase */
    int64_t next[2];
    size_t ahead;
    pthread_t thread;
    pthread_mutex_t mutex; /* over what follows */
    pthread_cond_t changed;
    bool stopping, failed, starved[2];
    struct error err;
    bool has_thread;
};

void prompt_free(struct prompt *p)
{
    if (!p)
        return;
    buf_release(&p->body);
    free(p);
}

/* The corpus as it is: the window goes through it item by item, warm-up from its end backwards. */
static const struct corpus_item *fixed_item(const struct corpus *c, enum sample_phase phase,
                                            int64_t index)
{
    size_t i = (size_t)index % c->n;

    if (phase == PHASE_INJECTED)
        return corpus_longest(c);
    return &c->items[phase == PHASE_WARMUP ? c->n - 1 - i : i];
}

static int make_fixed(const struct prompts_source *s, enum sample_phase phase, int64_t index,
                      struct buf *text, struct prompt *p, struct error *err)
{
    const struct corpus_item *item = fixed_item(s->corpus, phase, index);
    size_t n;

    p->max_tokens = item->max_tokens;
    text->max = item->text.n + 1;
    buf_reset(text);
    buf_addstr(text, item->text);
    snprintf(p->id, sizeof p->id, "%.*s", STR_ARG(item->id));
    if (!s->counter)
        return 0;
    if (s->counter->count(s->counter->ctx, item->text, &n, err) < 0)
        return -1;
    p->tokens = (int64_t)n;
    return 0;
}

static int make_unique(const struct prompts_source *s, enum sample_phase phase, int64_t index,
                       struct buf *text, struct prompt *p, struct error *err)
{
    bool repeats = phase == PHASE_WARMUP && s->after_1, injected = phase == PHASE_INJECTED;
    bool warmup = phase == PHASE_WARMUP && !repeats;
    int32_t band = repeats ? 1 : s->band;
    struct corpus_draw which = {s->nonce, s->replicate, band, warmup, index};
    struct corpus_prompt made;
    int rc;

    if (injected) {
        which.index = -1 - index; /* apart from the window's */
        rc = corpus_unique_of(s->corpus, corpus_longest(s->corpus), s->counter, &which, text, &made,
                              err);
    } else {
        rc = corpus_unique(s->corpus, s->counter, &which, text, &made, err);
    }
    if (rc < 0)
        return -1;
    p->tokens = made.tokens;
    p->max_tokens = made.item->max_tokens;
    snprintf(p->id, sizeof p->id, "%.*s:r%d.c%d.%c%lld", STR_ARG(made.item->id), s->replicate, band,
             injected ? 'i'
             : warmup ? 'w'
                      : 'u',
             (long long)index);
    return 0;
}

/* A text of its own of the recorded length. */
static int make_traced(const struct prompts_source *s, enum sample_phase phase, int64_t index,
                       struct buf *text, struct prompt *p, struct error *err)
{
    bool warmup = phase == PHASE_WARMUP;
    int64_t at = trace_pick(s->trace, warmup, index);
    const struct trace_item *item = &s->trace->items[at];
    const struct corpus_draw which = {s->nonce, s->replicate, s->band, warmup, index};

    p->tokens = item->prompt_tokens;
    p->max_tokens = item->output_tokens;
    snprintf(p->id, sizeof p->id, "t%lld:r%d.c%d.%c%lld", (long long)at + 1, s->replicate, s->band,
             warmup ? 'w' : 'u', (long long)index);
    if (corpus_exact(item->prompt_tokens, s->counter, &which, text, err) == 0)
        return 0;
    error_at_file(err, s->trace->path);
    return error_wrap(err, "request %lld of the trace", (long long)at + 1);
}

/* The prompt itself: as messages, or rendered here and sent raw. What is sent is no proof of what a
 * server makes of it; its own count was. */
static int put_prompt(const struct load_lane *lane, struct str text, struct load_raw *raw,
                      struct wire_ask *ask, struct prompt *p, struct error *err)
{
    if (!lane->rendering) {
        p->rendered = load_wrapper_count(lane->wrapper, ask->messages, ask->messages_n);
        return 0;
    }
    if (rendering_put(lane->rendering, &lane->form, text, raw, ask, err) < 0)
        return -1;
    p->rendered = lane->form.confirmed ? raw->count : COUNT_NONE;
    return 0;
}

/* turn: the conversation that is sent instead of text alone; NULL. which: what tells this request
 * from others of the same prompt. */
static int put_request(const struct prompts_source *s, const char *which, struct str text,
                       const struct prompt_turn *turn, struct prompt *p, struct error *err)
{
    struct buf salt = BUF_INIT(PROMPT_ID_MAX + 256);
    struct wire_message messages[2];
    struct wire_ask ask;
    struct load_raw raw = {0};
    int rc;

    load_lane_ask(s->lane, text, p->max_tokens, messages, &ask);
    if (turn) {
        ask.messages = turn->messages;
        ask.messages_n = turn->messages_n;
    }
    if (ask.no_cache) {
        buf_addf(&salt, "%s:%s:%s%s", s->nonce, p->id, which, s->again ? ":again" : "");
        ask.cache_salt = buf_str(&salt);
    }
    rc = buf_check(&salt, "a cache salt", err);
    if (rc == 0)
        rc = put_prompt(s->lane, text, &raw, &ask, p, err);
    if (rc == 0)
        rc = wire_build(s->lane->protocol, &ask, &p->body, err);
    if (rc == 0)
        rc = buf_check(&p->body, "a request", err);
    if (rc == 0)
        rc = sha256_hex(p->body_sha256, buf_str(&p->body), err);
    load_raw_release(&raw);
    buf_release(&salt);
    return rc;
}

static struct prompt *new_prompt(struct error *err)
{
    struct prompt *p = calloc(1, sizeof *p);

    if (!p) {
        error_no_memory(err);
        return NULL;
    }
    p->tokens = p->rendered = p->turn = COUNT_NONE;
    buf_init(&p->body, BUF_ANY);
    return p;
}

int prompt_make_turn(const struct prompts_source *s, const struct prompt_turn *turn,
                     struct prompt **out, struct error *err)
{
    struct prompt *p = new_prompt(err);

    if (!p)
        return -1;
    snprintf(p->id, sizeof p->id, "%s", turn->id);
    p->turn = turn->turn;
    p->max_tokens = turn->max_tokens;
    p->tokens = turn->tokens;
    if (put_request(s, "turn", (struct str){NULL, 0}, turn, p, err) < 0) {
        prompt_free(p);
        return -1;
    }
    *out = p;
    return 0;
}

int prompt_make(const struct prompts_source *s, enum sample_phase phase, int64_t index,
                struct prompt **out, struct error *err)
{
    struct prompt *p = new_prompt(err);
    struct buf text = BUF_INIT(0);
    char which[48];
    int rc = -1;

    if (!p)
        return -1;
    if ((s->trace    ? make_traced
         : s->unique ? make_unique
                     : make_fixed)(s, phase, index, &text, p, err) < 0)
        goto out;
    if (s->lane->plan->max_tokens != COUNT_NONE)
        p->max_tokens = s->lane->plan->max_tokens;
    if (phase == PHASE_INJECTED)
        p->max_tokens = 1;
    if (p->max_tokens == COUNT_NONE)
        p->max_tokens = PROMPT_ANSWER_TOKENS;
    snprintf(which, sizeof which, "c%d.%c%lld", s->band, phase == PHASE_WARMUP ? 'w' : 'u',
             (long long)index);
    if (put_request(s, which, buf_str(&text), NULL, p, err) < 0)
        goto out;
    *out = p;
    rc = 0;
out:
    buf_release(&text);
    if (rc < 0)
        prompt_free(p);
    return rc;
}

/* Which phase to make for: the one that has fewer ready. -1 when both have enough. */
static int neediest(struct prompts *p)
{
    size_t warm = queue_length(&p->ready[PHASE_WARMUP]);
    size_t window = queue_length(&p->ready[PHASE_WINDOW]);

    if (warm >= p->ahead && window >= p->ahead)
        return -1;
    return warm < window ? PHASE_WARMUP : PHASE_WINDOW;
}

static void fail(struct prompts *p, const struct error *err)
{
    pthread_mutex_lock(&p->mutex);
    p->failed = true;
    p->err = *err;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    p->source.wake(p->source.ctx);
}

static void hand_over(struct prompts *p, int phase, struct prompt *made)
{
    bool was_wanted;

    (void)queue_push(&p->ready[phase], made); /* there is room: only this thread pushes */
    pthread_mutex_lock(&p->mutex);
    was_wanted = p->starved[phase];
    p->starved[phase] = false;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    if (was_wanted)
        p->source.wake(p->source.ctx);
}

static void *make_prompts(void *ctx)
{
    struct prompts *p = ctx;

    for (;;) {
        struct prompt *made;
        struct error err = {0};
        int phase;
        pthread_mutex_lock(&p->mutex);
        while (!p->stopping && neediest(p) < 0)
            pthread_cond_wait(&p->changed, &p->mutex);
        bool stopping = p->stopping;
        pthread_mutex_unlock(&p->mutex);
        if (stopping)
            return NULL;
        phase = neediest(p);
        if (phase < 0)
            continue;
        if (prompt_make(&p->source, (enum sample_phase)phase, p->next[phase], &made, &err) < 0) {
            fail(p, &err);
            return NULL;
        }
        p->next[phase]++;
        hand_over(p, phase, made);
    }
}

int prompts_start(struct prompts **out, const struct prompts_source *source, struct error *err)
{
    struct prompts *p = calloc(1, sizeof *p);

    if (!p)
        return error_no_memory(err);
    p->source = *source;
    p->ahead = (size_t)source->at_once + AHEAD_MORE;
    p->ahead = p->ahead > AHEAD_MAX ? AHEAD_MAX : p->ahead;
    if (queue_init(&p->ready[0], p->ahead, err) < 0 || queue_init(&p->ready[1], p->ahead, err) < 0)
        goto fail;
    if (pthread_mutex_init(&p->mutex, NULL) != 0)
        goto no_thread;
    if (pthread_cond_init(&p->changed, NULL) != 0) {
        pthread_mutex_destroy(&p->mutex);
        goto no_thread;
    }
    if (pthread_create(&p->thread, NULL, make_prompts, p) != 0) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->mutex);
        goto no_thread;
    }
    p->has_thread = true;
    *out = p;
    return 0;
no_thread:
    error_set(err, ERROR_ENVIRONMENT, "no thread can be had from the system");
fail:
    prompts_stop(p);
    return -1;
}

struct prompt *prompts_take(struct prompts *p, enum sample_phase phase)
{
    struct prompt *taken = queue_pop(&p->ready[phase], 0);

    pthread_mutex_lock(&p->mutex);
    if (!taken) {
        /* it may have come between the two locks: then nobody would wake us */
        taken = queue_pop(&p->ready[phase], 0);
        p->starved[phase] = !taken;
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    return taken;
}

bool prompts_error(struct prompts *p, struct error *err)
{
    bool failed;

    pthread_mutex_lock(&p->mutex);
    failed = p->failed;
    if (failed)
        *err = p->err;
    pthread_mutex_unlock(&p->mutex);
    return failed;
}

void prompts_wait_ready(struct prompts *p)
{
    pthread_mutex_lock(&p->mutex);
    while (!p->failed && neediest(p) >= 0)
        pthread_cond_wait(&p->changed, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
}

void prompts_stop(struct prompts *p)
{
    if (!p)
        return;
    if (p->has_thread) {
        pthread_mutex_lock(&p->mutex);
        p->stopping = true;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->mutex);
        pthread_join(p->thread, NULL);
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->mutex);
    }
    for (int i = 0; i < 2; i++) {
        struct prompt *left;
        while (p->ready[i].ready && (left = queue_pop(&p->ready[i], 0)))
            prompt_free(left);
        queue_release(&p->ready[i]);
    }
    free(p);
}
