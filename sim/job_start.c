/* From a request to its choices waiting in the model, or to whatever stands in for an answer. */
#include <stdio.h>
#include <stdlib.h>

#include "answer.h"
#include "base/clock.h"
#include "job.h"
#include "route.h"

/* An answer's length when the model ends it itself: geometric, at least one token. */
static int64_t natural_length(struct random *r, int64_t mean)
{
    double n = 1 + random_exponential(r) * (double)(mean - 1);
    return n > (double)ASK_TOKENS_MAX ? ASK_TOKENS_MAX : (int64_t)n;
}

/* In null mode there is one pool, whatever the fault. */
static const struct pool *pool_of(const struct job *job)
{
    const struct pool *pool = job->s->pool;
    if (fault_has(&job->faults, FAULT_SPLIT_UTF8) && job->s->wide)
        pool = job->s->wide;
    bool beside = job->s->model.n_active + job->s->model.n_waiting > 0;
    if ((fault_has(&job->faults, FAULT_REPEAT) ||
         (beside && fault_has(&job->faults, FAULT_BATCH_REPEAT))) &&
        job->s->bang)
        pool = job->s->bang;
    return pool;
}

/* How long a choice becomes, and what ends it. */
static void plan_choice(struct choice *ch)
{
    const struct job *job = ch->job;
    const struct sim_options *o = job->s->o;
    int64_t most = o->context - job->prompt_n;
    int64_t natural = natural_length(&ch->random, o->natural_tokens);
    if (job->ask.max_tokens >= 0 && job->ask.max_tokens < most)
        most = job->ask.max_tokens;
    ch->wanted = most;
    if (!(job->ask.ignore_eos && job->s->profile->ignore_eos) && natural < most) {
        ch->wanted = natural;
        ch->stops = true;
    }
    if (fault_has(&job->faults, FAULT_EARLY_STOP) &&
        job->faults.arg[FAULT_EARLY_STOP] < ch->wanted) {
        ch->wanted = job->faults.arg[FAULT_EARLY_STOP];
        ch->stops = true;
    }
}

static int make_choices(struct job *job)
{
    struct random first;
    job->n_choices = (unsigned)job->ask.n;
    job->choices = calloc(job->n_choices, sizeof *job->choices);
    if (!job->choices)
        return -1;
    random_seed(&first, pool_seed(job->prompt.ids.id, job->prompt.ids.n, job->ask.seed));
    for (unsigned i = 0; i < job->n_choices; i++) {
        struct choice *ch = &job->choices[i];
        ch->job = job;
        ch->index = i;
        ch->random = first;
        if (i > 0 && !job->ask.greedy)
            random_seed(&ch->random, random_next(&first) ^ i);
        plan_choice(ch);
    }
    job->live = job->n_choices;
    return 0;
}

/* The faults that stand in for the whole answer. True when one of them did. */
static bool answers_otherwise(struct job *job)
{
    static const char page[] = "<!DOCTYPE html>\n<html><head><title>Bad Gateway</title></head>"
                               "<body><h1>The server is out to lunch</h1></body></html>\n";
    const struct faults *f = &job->faults;
    struct conn *c = job->c;
    struct buf body = BUF_INIT(4096);
    char retry[64];
    int status = 0;
    bool floods = fault_has(f, FAULT_HEADER_FLOOD) || fault_has(f, FAULT_ENDLESS_LINE);
    const char *type = "application/json; charset=utf-8";
    retry[0] = 0;
    if (fault_has(f, FAULT_429)) {
        status = 429;
        snprintf(retry, sizeof retry, "Retry-After: %lld\r\n", (long long)f->arg[FAULT_429]);
        answer_error(job->s->profile, 429, "too many requests", "rate_limit_error", &body);
    } else if (fault_has(f, FAULT_500_HTML) || fault_has(f, FAULT_HTML)) {
        status = fault_has(f, FAULT_HTML) ? 200 : 500;
        type = "text/html; charset=utf-8";
        buf_adds(&body, page);
    } else if (fault_has(f, FAULT_ERROR_BEFORE)) {
        status = 500;
        answer_error(job->s->profile, 500, "the model could not be run", "server_error", &body);
    } else if (fault_has(f, FAULT_HEADER_FLOOD)) {
        conn_raw(c, STR("HTTP/1.1 200 OK\r\n"));
        c->flood = (size_t)f->arg[FAULT_HEADER_FLOOD];
        c->flood_kind = FLOOD_HEADERS;
        c->keep_alive = false;
        conn_end(c);
    } else if (fault_has(f, FAULT_ENDLESS_LINE)) {
        c->keep_alive = false;
        conn_head(c, 200, answer_stream_type(job), -1, answer_stream_extra(job));
        conn_chunk(c, STR("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\""));
        c->flood = (size_t)f->arg[FAULT_ENDLESS_LINE];
        c->flood_kind = FLOOD_LINE;
        conn_end(c);
    }
    if (status != 0)
        conn_answer(c, status, type, buf_str(&body), retry);
    buf_release(&body);
    return status != 0 || floods;
}

/* Writes what the profile sends before anything was computed. */
static void begin_stream(struct job *job)
{
    struct buf *out = &job->s->scratch;
    bool error_first = fault_has(&job->faults, FAULT_ERROR_FIRST);
    if (fault_has(&job->faults, FAULT_DONE_ONLY) || error_first) {
        buf_reset(out);
        job_open_stream(job);
        if (error_first)
            answer_stream_error(job, "the model could not be run", out);
        answer_done(job, out);
        conn_chunk(job->c, buf_str(out));
        conn_last_chunk(job->c);
        job->live = 0;
        job_end(job);
        return;
    }
    if (job->s->profile->role != ROLE_AT_START || job->ask.kind != ASK_CHAT)
        return;
    job_open_stream(job);
    for (unsigned i = 0; i < job->n_choices; i++) {
        buf_reset(out);
        answer_role(&job->choices[i], out);
        conn_chunk(job->c, buf_str(out));
    }
    conn_flush(job->c);
}

/* How the connection's writes are spoilt for this answer. */
static void spoil(struct job *job)
{
    const struct faults *f = &job->faults;
    struct conn *c = job->c;
    if (fault_has(f, FAULT_SLOW_BODY)) {
        c->drip = (size_t)f->arg[FAULT_SLOW_BODY];
        c->drip_ns = 10 * NS_PER_MS;
    }
    if (fault_has(f, FAULT_ONE_BYTE_WRITES)) {
        c->drip = 1;
        c->drip_ns = f->arg[FAULT_ONE_BYTE_WRITES];
    }
    if (fault_has(f, FAULT_SPLIT_UTF8))
        c->split_ns = f->arg[FAULT_SPLIT_UTF8];
    if (fault_has(f, FAULT_DELAY)) {
        c->hold_ns = job->start_ns + f->arg[FAULT_DELAY];
        conn_wake_at(c, c->hold_ns);
    }
    if (fault_has(f, FAULT_REPLAY))
        c->hold_ns = INT64_MAX;
    if (fault_has(f, FAULT_KEEPALIVE_CLOSE))
        c->refuses_next = true;
}

/* As Ollama does: what is left is half the context, so that there is room for an answer. */
static void cut_prompt(struct job *job)
{
    struct token_ids *ids = &job->prompt.ids;
    size_t keep = (size_t)job->s->o->context / 2;
    if (!job->s->profile->cuts_prompt || ids->n < (size_t)job->s->o->context)
        return;
    for (size_t i = 0; i < keep; i++)
        ids->id[i] = ids->id[ids->n - keep + i];
    ids->n = keep;
}

static int refuse_context(struct job *job)
{
    struct conn *c = job->c;
    struct buf body = BUF_INIT(4096);
    char why[200];
    if (job->prompt_n < job->s->o->context)
        return 0;
    snprintf(why, sizeof why,
             "request (%lld tokens) exceeds the available context size (%lld tokens), try "
             "increasing it",
             (long long)job->prompt_n, (long long)job->s->o->context);
    if (job->s->profile->dialect == DIALECT_LLAMA)
        buf_addf(&body,
                 "{\"error\":{\"code\":400,\"message\":\"%s\",\"type\":"
                 "\"exceed_context_size_error\",\"n_prompt_tokens\":%lld,\"n_ctx\":%lld}}",
                 why, (long long)job->prompt_n, (long long)job->s->o->context);
    else
        answer_error(job->s->profile, 400, why, "BadRequestError", &body);
    c->keep_alive = c->keep_alive && job->s->profile->dialect != DIALECT_LLAMA;
    conn_answer(c, 400, "application/json; charset=utf-8", buf_str(&body), "");
    buf_release(&body);
    return -1;
}

static struct job *new_job(struct conn *c, const struct ask *ask, struct arena *arena)
{
    struct server *s = c->s;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->s = s;
    job->c = c;
    job->ask = *ask;
    job->arena = *arena;
    *arena = (struct arena){0};
    job->number = ++s->number;
    job->start_ns = clock_mono_ns();
    job->created_s = clock_real_ns() / NS_PER_S;
    job->faults = fault_for(&s->o->faults, job->number);
    job->pool = pool_of(job);
    snprintf(job->id, sizeof job->id, "%s-%032lld",
             ask->kind == ASK_CHAT || s->profile->dialect == DIALECT_LLAMA ? "chatcmpl" : "cmpl",
             (long long)job->number);
    s->totals.requests++;
    return job;
}

void job_start(struct conn *c, const struct ask *ask, struct arena *arena)
{
    struct error err;
    struct job *job = new_job(c, ask, arena);
    if (!job) {
        route_refuse(c, 503, "out of memory");
        return;
    }
    c->job = job;
    spoil(job);
    if (answers_otherwise(job))
        return;
    if (job->s->o->null) {
        null_start(job);
        return;
    }
    if (job->ask.has_ids && job->s->profile->text_only) {
        route_refuse(c, 422,
                     "Failed to deserialize the JSON body into the target type: prompt: invalid "
                     "type: sequence, expected a string");
        return;
    }
    if (wrap(&job->prompt, job->s->profile, job->s->tokenizer, &job->ask, &err) < 0) {
        route_refuse(c, err.kind == ERROR_INPUT || err.kind == ERROR_LIMIT ? 400 : 500,
                     err.message);
        return;
    }
    cut_prompt(job);
    job->prompt_n = (int64_t)job->prompt.ids.n;
    if (refuse_context(job) < 0)
        return;
    if (make_choices(job) < 0) {
        route_refuse(c, 503, "out of memory");
        return;
    }
    if (job->ask.stream)
        begin_stream(job);
    for (unsigned i = 0; !job->ended && i < job->n_choices; i++)
        model_submit(&job->s->model, &job->choices[i].seq, job->start_ns);
}
