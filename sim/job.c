#include "job.h"

#include <stdlib.h>

#include "answer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "route.h"

void job_open_stream(struct job *job)
{
    if (job->head_sent)
        return;
    job->head_sent = true;
    conn_head(job->c, 200, answer_stream_type(job), -1, answer_stream_extra(job));
}

void job_free(struct job *job)
{
    if (!job)
        return;
    for (unsigned i = 0; i < job->n_choices; i++) {
        model_cancel(&job->s->model, &job->choices[i].seq);
        free(job->choices[i].drawn);
    }
    if (job->due_ns == INT64_MAX)
        job->s->flat_out--;
    free(job->choices);
    wrap_release(&job->prompt);
    arena_release(&job->arena);
    free(job);
}

void job_wake(struct job *job, int64_t now_ns)
{
    if (job->s->o->null)
        null_wake(job, now_ns);
}

/* How many leading ids of the prompt a slot still knows. */
static size_t common(const struct slot_cache *cache, uint64_t salt, const struct token_ids *ids)
{
    size_t n = 0;
    if (cache->salt != salt)
        return 0;
    while (n < cache->n && n < ids->n && cache->id[n] == ids->id[n])
        n++;
    return n;
}

/* What keeps this prompt apart from others in the cache. */
static uint64_t salt_of(const struct job *job)
{
    const struct str salt = job->ask.cache_salt;
    return job->s->profile->takes_cache_salt && salt.n > 0 ? hash64(salt.p, salt.n, 0) | 1 : 0;
}

static void tell_progress(struct choice *ch, int64_t processed, int64_t t_ns)
{
    struct job *job = ch->job;
    struct buf *out = &job->s->scratch;
    if (!job->ask.return_progress || !job->ask.stream || job->ask.kind != ASK_CHAT ||
        job->s->profile->dialect != DIALECT_LLAMA)
        return;
    job_open_stream(job);
    buf_reset(out);
    answer_progress(ch, processed, (t_ns - ch->admit_ns) / NS_PER_MS, out);
    conn_chunk(job->c, buf_str(out));
    conn_flush(job->c);
}

/* The free slot that knows most of the prompt; among equals the one longest unused. */
static int hook_admit(void *ctx, const struct model *m, struct model_seq *seq, int64_t t_ns)
{
    struct server *s = ctx;
    struct choice *ch = (struct choice *)seq;
    const struct job *job = ch->job;
    const struct profile *p = s->profile;
    bool reuses = p->cache_block > 0 && (job->ask.cache_prompt || !p->takes_cache_prompt);
    size_t best_n = 0;
    int best = -1;
    for (unsigned i = 0; i < m->o.slots; i++) {
        size_t n;
        if (m->slot[i])
            continue;
        n = reuses ? common(&s->cache[i], salt_of(job), &job->prompt.ids) : 0;
        if (best < 0 || n > best_n || (n == best_n && s->cache[i].used < s->cache[best].used)) {
            best = (int)i;
            best_n = n;
        }
    }
    s->cache[best].used = m->admitted + 1;
    if (reuses)
        best_n -= best_n % p->cache_block;
    /* the last prompt token is always computed: its logits give the first token */
    if (best_n >= job->prompt.ids.n)
        best_n = job->prompt.ids.n > 0 ? job->prompt.ids.n - 1 : 0;
    ch->cached = (int64_t)best_n;
    ch->admit_ns = t_ns;
    seq->prompt_left = job->prompt_n - ch->cached > 0 ? job->prompt_n - ch->cached : 1;
    s->totals.prompt_tokens += job->prompt_n;
    s->totals.cached_tokens += ch->cached;
    tell_progress(ch, ch->cached, t_ns);
    return best;
}

int job_draw(struct choice *ch)
{
    if ((size_t)ch->made == ch->drawn_cap) {
        size_t cap = ch->drawn_cap ? 2 * ch->drawn_cap : 64;
        uint16_t *drawn = realloc(ch->drawn, cap * sizeof *drawn);
        if (!drawn)
            return -1;
        ch->drawn = drawn;
        ch->drawn_cap = cap;
    }
    const struct job *job = ch->job;
    if (fault_has(&job->faults, FAULT_BATCH_DRIFT) && job->s->model.n_active > 1 &&
        ch->made + 1 == job->faults.arg[FAULT_BATCH_DRIFT])
        random_seed(&ch->random, random_next(&ch->random));
    ch->drawn[ch->made++] = (uint16_t)pool_draw(job->pool, &ch->random);
    return 0;
}

/* What the slot knows from now on: the prompt and the answer. */
static void remember(struct choice *ch)
{
    const struct job *job = ch->job;
    struct slot_cache *cache = &job->s->cache[ch->seq.slot];
    size_t n = job->prompt.ids.n + (size_t)ch->made;
    uint32_t *id = job->s->profile->cache_block > 0 ? malloc((n + 1) * sizeof *id) : NULL;
    if (!id)
        return; /* a cache may forget */
    for (size_t i = 0; i < n; i++)
        id[i] = i < job->prompt.ids.n ? job->prompt.ids.id[i]
                                      : job_token_id(ch, (int64_t)(i - job->prompt.ids.n));
    free(cache->id);
    cache->id = id;
    cache->n = n;
    cache->salt = salt_of(job);
}

/* The faults that strike behind so many tokens; an answer that is not streamed can only be cut off.
 * True when it is over. */
bool job_strikes(struct choice *ch)
{
    struct job *job = ch->job;
    struct conn *c = job->c;
    const struct faults *f = &job->faults;
    struct buf *out = &job->s->scratch;
    buf_reset(out);
    if (fault_has(f, FAULT_STALL) && ch->made == 1) {
        conn_flush(c);
        c->hold_ns = clock_mono_ns() + f->arg[FAULT_STALL];
        conn_wake_at(c, c->hold_ns);
    }
    if (fault_has(f, FAULT_RESET) && ch->made == f->arg[FAULT_RESET]) {
        c->resetting = true;
        c->keep_alive = false;
    } else if (fault_has(f, FAULT_CUT) && ch->made == f->arg[FAULT_CUT]) {
        c->keep_alive = false;
    } else if (!job->ask.stream) {
        return false;
    } else if (fault_has(f, FAULT_BAD_CHUNK_SIZE) && ch->made == f->arg[FAULT_BAD_CHUNK_SIZE]) {
        conn_raw(c, STR("xyz\r\n"));
        c->keep_alive = false;
    } else if (fault_has(f, FAULT_TRUNCATE) && ch->made == f->arg[FAULT_TRUNCATE]) {
        conn_last_chunk(c);
        c->keep_alive = false;
    } else if (fault_has(f, FAULT_ERROR_MID_STREAM) && ch->made == f->arg[FAULT_ERROR_MID_STREAM]) {
        answer_stream_error(job, "the model broke in the middle", out);
        conn_chunk(c, buf_str(out));
        buf_reset(out);
        answer_done(job, out);
        conn_chunk(c, buf_str(out));
        conn_last_chunk(c);
    } else {
        return false;
    }
    job->live = 0;
    job_end(job);
    return true;
}

/* One HTTP chunk with the tokens made since the last one; role and finish as the profile has it. */
void job_send_token(struct choice *ch, bool last)
{
    struct job *job = ch->job;
    const struct profile *p = job->s->profile;
    struct buf *out = &job->s->scratch;
    int64_t from = ch->written;
    if (!last && ch->made - from < job->s->o->tokens_per_chunk)
        return;
    job_open_stream(job);
    buf_reset(out);
    if (!ch->role_sent && p->role == ROLE_WITH_FIRST && job->ask.kind == ASK_CHAT)
        answer_role(ch, out);
    ch->written = ch->made;
    if (ch->made > from || (last && p->finish_with_last))
        answer_tokens(ch, from, ch->made, last, out);
    conn_chunk(job->c, buf_str(out));
    for (int64_t i = from; i < ch->made; i++)
        conn_mark(job->c, job->number, i + 1);
    if (last) {
        buf_reset(out);
        answer_finish(ch, out);
        conn_chunk(job->c, buf_str(out));
    }
}

static void end_stream(struct job *job)
{
    struct buf *out = &job->s->scratch;
    job_open_stream(job);
    buf_reset(out);
    answer_usage(job, out);
    conn_chunk(job->c, buf_str(out));
    if (!fault_has(&job->faults, FAULT_NO_DONE)) {
        buf_reset(out);
        answer_done(job, out);
        conn_chunk(job->c, buf_str(out));
    }
    conn_last_chunk(job->c);
}

void job_end(struct job *job)
{
    struct conn *c = job->c;
    if (job->ended)
        return;
    job->ended = true;
    conn_end(c);
}

static void finish_whole(struct job *job)
{
    struct buf body = BUF_INIT(CONN_OUT_MAX / 2);
    answer_whole(job, &body);
    if (body.failed)
        route_refuse(job->c, 500, "the answer is too long");
    else
        conn_answer(job->c, 200, "application/json; charset=utf-8", buf_str(&body), "");
    buf_release(&body);
}

void job_finish(struct job *job)
{
    job->live = 0;
    if (job->ask.stream) {
        end_stream(job);
        job_end(job);
        return;
    }
    job->ended = true;
    finish_whole(job);
}

/* A choice has all its tokens. */
static void finish_choice(struct choice *ch)
{
    remember(ch);
    if (--ch->job->live == 0)
        job_finish(ch->job);
}

static bool hook_token(void *ctx, struct model_seq *seq, int64_t t_ns)
{
    struct server *s = ctx;
    struct choice *ch = (struct choice *)seq;
    struct job *job = ch->job;
    bool last;
    if (job->ended || job->c->dead)
        return false;
    if (ch->made == 0) {
        ch->first_ns = t_ns;
        tell_progress(ch, job->prompt_n, t_ns);
    }
    ch->last_ns = t_ns;
    if (ch->wanted > 0) {
        if (job_draw(ch) < 0) {
            conn_kill(job->c);
            return false;
        }
        s->totals.output_tokens++;
    }
    /* a stop token takes a step of its own and gives no text: the model's time is that of one
     * token more, which is left out here as no client can tell */
    last = ch->finished = ch->made >= ch->wanted;
    if (job->ask.stream)
        job_send_token(ch, last);
    if (job_strikes(ch))
        return false;
    if (last)
        finish_choice(ch);
    if (!job->ended)
        conn_flush(job->c);
    return !last;
}

const struct model_hooks job_hooks = {hook_admit, hook_token};

struct job_usage job_usage(const struct job *job, const struct choice *ch)
{
    struct job_usage u = {.prompt = job->prompt_n};
    for (unsigned i = 0; i < job->n_choices; i++) {
        const struct choice *one = &job->choices[i];
        if (ch && one != ch)
            continue;
        u.completion += one->made;
        if (one->stops && one->finished && job->s->profile->counts_stop)
            u.completion++;
        if (ch || i == 0)
            u.cached = one->cached;
    }
    if (fault_has(&job->faults, FAULT_WRONG_COUNT))
        u.completion += job->faults.arg[FAULT_WRONG_COUNT];
    return u;
}
