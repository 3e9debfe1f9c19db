#include "answer_parts.h"

#include <stdio.h>

#include "answer.h"
#include "base/num.h"
#include "codec/json_write.h"

bool part_is_tool_call(const struct job *job)
{
    return job->s->o->tool_call && job->ask.kind == ASK_CHAT;
}

void part_usage(const struct job *job, const struct choice *ch, struct buf *out)
{
    struct job_usage u = job_usage(job, ch);
    int64_t total = u.prompt + u.completion;
    if (is_llama(job))
        buf_addf(out, "\"usage\":{\"completion_tokens\":%lld,\"prompt_tokens\":%lld,",
                 (long long)u.completion, (long long)u.prompt);
    else
        buf_addf(out, "\"usage\":{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,",
                 (long long)u.prompt, (long long)u.completion);
    buf_addf(out, "\"total_tokens\":%lld", (long long)total);
    if (job->s->profile->reports_cached)
        buf_addf(out, ",\"prompt_tokens_details\":{\"cached_tokens\":%lld}", (long long)u.cached);
    buf_addc(out, '}');
}

/* Microseconds as the milliseconds that llama-server prints. */
static void add_ms(struct buf *out, const char *name, double us)
{
    buf_addf(out, ",\"%s\":", name);
    num_add_repr(out, us / 1e3);
}

static void add_rates(struct buf *out, const char *what, double us, double n)
{
    char name[40];
    snprintf(name, sizeof name, "%s_ms", what);
    add_ms(out, name, us);
    snprintf(name, sizeof name, "%s_per_token_ms", what);
    add_ms(out, name, n > 0 ? us / n : 0);
    buf_addf(out, ",\"%s_per_second\":", what);
    num_add_repr(out, n > 0 && us > 0 ? n / us * 1e6 : 0.0);
}

void part_timings(const struct choice *ch, struct buf *out)
{
    int64_t prompt_n = ch->job->prompt_n - ch->cached;
    int64_t prompt_us = (ch->first_ns - ch->admit_ns) / 1000;
    int64_t predicted_us = (ch->last_ns - ch->first_ns) / 1000;
    int64_t predicted_n = job_usage(ch->job, ch).completion;
    buf_addf(out, "\"timings\":{\"cache_n\":%lld,\"prompt_n\":%lld", (long long)ch->cached,
             (long long)prompt_n);
    add_rates(out, "prompt", (double)prompt_us, (double)prompt_n);
    buf_addf(out, ",\"predicted_n\":%lld", (long long)predicted_n);
    /* rates are over the steps between tokens; the first token belongs to the prompt */
    add_rates(out, "predicted", predicted_us > 0 ? (double)predicted_us : 1,
              predicted_n > 1 ? (double)(predicted_n - 1) : 0);
    buf_addc(out, '}');
}

static double logprob_of(uint32_t id)
{
    return -0.1 - (double)(id % 97) / 50;
}

static void add_logprob(const struct choice *ch, int64_t i, bool with_top, struct buf *out)
{
    struct str piece = job_piece(ch, i);
    uint32_t id = job_token_id(ch, i);
    buf_addc(out, '{');
    if (is_llama(ch->job))
        buf_addf(out, "\"id\":%u,", (unsigned)id);
    buf_adds(out, "\"token\":");
    json_add_quoted(out, piece);
    buf_adds(out, ",\"bytes\":[");
    for (size_t k = 0; k < piece.n; k++)
        buf_addf(out, "%s%u", k ? "," : "", (unsigned)(unsigned char)piece.p[k]);
    buf_adds(out, "],\"logprob\":");
    num_add_repr(out, logprob_of(id));
    if (with_top) {
        buf_adds(out, ",\"top_logprobs\":[");
        if (ch->job->ask.top_logprobs > 0)
            add_logprob(ch, i, false, out);
        buf_addc(out, ']');
    }
    buf_addc(out, '}');
}

bool part_wants_logprobs(const struct job *job)
{
    return job->ask.logprobs && job->s->profile->logprobs;
}

/* OpenAI's older form of text completions. */
static void add_old_logprobs(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    buf_adds(out, "{\"tokens\":[");
    for (int64_t i = from; i < to; i++) {
        if (i > from)
            buf_addc(out, ',');
        json_add_quoted(out, job_piece(ch, i));
    }
    buf_adds(out, "],\"token_logprobs\":[");
    for (int64_t i = from; i < to; i++) {
        if (i > from)
            buf_addc(out, ',');
        num_add_repr(out, logprob_of(job_token_id(ch, i)));
    }
    buf_adds(out, "]}");
}

void part_logprobs(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    if (!part_wants_logprobs(ch->job) || from == to) {
        buf_adds(out, "null");
        return;
    }
    if (!is_chat(ch->job) && !is_llama(ch->job)) {
        add_old_logprobs(ch, from, to, out);
        return;
    }
    buf_adds(out, "{\"content\":[");
    for (int64_t i = from; i < to; i++) {
        if (i > from)
            buf_addc(out, ',');
        add_logprob(ch, i, true, out);
    }
    buf_adds(out, "]}");
}

void part_ids(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    buf_addc(out, '[');
    for (int64_t i = from; i < to; i++)
        buf_addf(out, "%s%u", i > from ? "," : "", (unsigned)job_token_id(ch, i));
    buf_addc(out, ']');
}

void part_text(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    struct buf text = BUF_INIT(CONN_OUT_MAX);
    answer_text(ch, from, to, &text);
    json_add_quoted(out, buf_str(&text));
    buf_release(&text);
}

/* Its first piece names the function, as servers do. */
static void add_tool_call(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    buf_adds(out, "\"tool_calls\":[{\"index\":0,");
    if (from <= ch->job->s->o->reasoning)
        buf_addf(out,
                 "\"id\":\"call_%lld\",\"type\":\"function\",\"function\":{\"name\":\"look_up\",",
                 (long long)ch->job->number);
    else
        buf_adds(out, "\"function\":{");
    buf_adds(out, "\"arguments\":");
    part_text(ch, from, to, out);
    buf_adds(out, "}}]");
}

/* "content":"…", and in front of it what of the tokens is reasoning. */
void part_content(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    int64_t edge = ch->job->s->o->reasoning;
    edge = edge < from ? from : edge > to ? to : edge;
    if (edge > from) {
        buf_adds(out, "\"reasoning_content\":");
        part_text(ch, from, edge, out);
    }
    if (part_is_tool_call(ch->job) && edge < to) {
        if (edge > from)
            buf_addc(out, ',');
        add_tool_call(ch, edge, to, out);
        return;
    }
    if (edge < to || edge == from) {
        buf_adds(out, edge > from ? ",\"content\":" : "\"content\":");
        part_text(ch, edge, to, out);
    }
}
