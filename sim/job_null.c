/* --null: ready-made events on a fixed schedule, so that a client's own cost can be seen. */
#include <stdlib.h>

#include "answer.h"
#include "base/clock.h"
#include "job.h"

#define STAMP "0000000000000000000" /* 19 digits: monotonic ns up to the year 2262 */
#define CHUNK_MAX ((size_t)16 << 10)
/* Steps of the golden ratio spread any number of phases evenly over a period (Weyl 1916). */
#define GOLDEN 0.6180339887498949

static void put_stamp(char *to)
{
    int64_t now_ns = clock_mono_ns();
    for (size_t i = sizeof STAMP - 1; i-- > 0; now_ns /= 10)
        to[i] = (char)('0' + now_ns % 10);
}

/* Where the digits of a token's text begin in an event; 0 when nothing is stamped. */
static size_t find_stamp(const struct job *job, struct str event)
{
    static const char mark[] = ":\"" STAMP "\"";
    size_t at = job->s->o->stamp ? str_find(event, str_make(mark, sizeof mark - 1)) : STR_NONE;
    return at == STR_NONE ? 0 : at + 2;
}

/* The first token goes the usual way; all others are copies of one chunk. */
static void make_chunk(struct job *job)
{
    struct buf event = BUF_INIT(CHUNK_MAX), chunk = BUF_INIT(CHUNK_MAX);
    answer_tokens(&job->choices[0], 0, 1, false, &event);
    if (job->c->chunked)
        buf_addf(&chunk, "%zx\r\n", event.n);
    buf_addstr(&chunk, buf_str(&event));
    if (job->c->chunked)
        buf_adds(&chunk, "\r\n");
    job->chunk = arena_str(&job->arena, buf_str(&chunk));
    if (event.failed || chunk.failed || !job->chunk.p)
        conn_kill(job->c);
    else
        job->stamp_at = find_stamp(job, job->chunk);
    buf_release(&event);
    buf_release(&chunk);
}

static void finish(struct choice *ch)
{
    struct job *job = ch->job;
    ch->finished = true;
    if (job->due_ns == INT64_MAX)
        job->s->flat_out--;
    job->due_ns = 0;
    job_finish(job);
}

/* A token by the usual way: the first, which may follow the role, and the last, which may say why
 * it ends. */
static void emit_written(struct choice *ch, bool last)
{
    struct conn *c = ch->job->c;
    size_t from = c->out.n, at;
    job_send_token(ch, last);
    at = find_stamp(ch->job, str_skip(buf_str(&c->out), from));
    if (at > 0)
        put_stamp(c->out.p + from + at);
}

static void emit(struct choice *ch)
{
    struct job *job = ch->job;
    struct conn *c = job->c;
    bool last = ++ch->made >= ch->wanted;
    ch->finished = last;
    if (ch->made == 1)
        ch->first_ns = ch->last_ns = clock_mono_ns();
    if (last)
        ch->last_ns = clock_mono_ns();
    if (ch->made == 1 || last) {
        emit_written(ch, last);
        if (!last)
            make_chunk(job);
    } else {
        if (job->stamp_at > 0)
            put_stamp((char *)(uintptr_t)job->chunk.p + job->stamp_at);
        conn_raw(c, job->chunk);
        conn_mark(c, job->number, ch->made);
        ch->written = ch->made;
    }
    job->s->totals.output_tokens++;
    if (job->faults.has != 0 && job_strikes(ch))
        return;
    if (last)
        finish(ch);
    else
        conn_flush(c);
}

static int64_t made_up_prompt(const struct ask *ask)
{
    size_t bytes = ask->prompt.n;
    for (size_t i = 0; i < ask->n_messages; i++)
        bytes += ask->messages[i].content.n;
    return (int64_t)(ask->n_ids + bytes / 4 + 1);
}

void null_start(struct job *job)
{
    const struct sim_options *o = job->s->o;
    struct choice *ch = calloc(1, sizeof *ch);
    if (!ch) {
        conn_kill(job->c);
        return;
    }
    job->choices = ch;
    job->n_choices = job->live = 1;
    job->prompt_n = made_up_prompt(&job->ask);
    ch->job = job;
    ch->admit_ns = job->start_ns;
    ch->wanted = job->ask.max_tokens > 0 ? job->ask.max_tokens : o->natural_tokens;
    /* every token is the pool's only one: index 0 */
    ch->drawn = calloc((size_t)ch->wanted, sizeof *ch->drawn);
    if (!ch->drawn) {
        conn_kill(job->c);
        return;
    }
    job->period_ns = o->rate > 0 ? (int64_t)(1e9 / o->rate) : 0;
    job->due_ns = job->start_ns + o->first_ns;
    if (!o->no_spread) {
        double phase = (double)job->number * GOLDEN;
        phase -= (double)(int64_t)phase;
        job->due_ns += (int64_t)(phase * (double)job->period_ns);
    }
    if (!job->ask.stream)
        job->due_ns += job->period_ns * (ch->wanted - 1);
    conn_wake_at(job->c, job->due_ns);
}

static void whole(struct choice *ch)
{
    ch->made = ch->wanted;
    ch->first_ns = ch->last_ns = clock_mono_ns();
    finish(ch);
}

void null_wake(struct job *job, int64_t now_ns)
{
    struct choice *ch = job->choices;
    if (!ch || job->ended || job->due_ns == INT64_MAX || job->due_ns > now_ns)
        return;
    if (!job->ask.stream) {
        whole(ch);
        return;
    }
    if (job->period_ns == 0) {
        job->due_ns = INT64_MAX;
        job->s->flat_out++;
        return;
    }
    /* Deadlines are absolute: what is late is sent now, and the next is due when it always was. */
    while (!job->ended && !job->c->dead && job->due_ns <= now_ns) {
        job->due_ns += job->period_ns;
        emit(ch);
    }
    if (!job->ended && !job->c->dead)
        conn_wake_at(job->c, job->due_ns);
}

void null_pump(struct server *s)
{
    for (size_t i = 0; s->flat_out > 0 && i < s->conns_end; i++) {
        struct conn *c = s->conns[i];
        if (!c || c->dead || !c->job || c->job->ended || c->job->due_ns != INT64_MAX ||
            (c->out_at < c->out.n && c->hold_ns != INT64_MAX))
            continue;
        emit(c->job->choices);
    }
}
