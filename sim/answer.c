#include "answer.h"

#include <stdio.h>

#include "answer_parts.h"
#include "codec/json_write.h"

bool answer_is_ollama(const struct job *job)
{
    return job->ask.kind == ASK_OLLAMA_CHAT || job->ask.kind == ASK_OLLAMA_GENERATE;
}

const char *answer_stream_type(const struct job *job)
{
    return answer_is_ollama(job) ? "application/x-ndjson" : "text/event-stream";
}

const char *answer_stream_extra(const struct job *job)
{
    return job->s->profile->dialect == DIALECT_LLAMA ? "X-Accel-Buffering: no\r\n" : "";
}

const char *answer_reason(const struct choice *ch)
{
    if (ch->stops && part_is_tool_call(ch->job))
        return "tool_calls";
    return ch->stops ? "stop" : "length";
}

void answer_text(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    for (int64_t i = from; i < to; i++)
        buf_addstr(out, job_piece(ch, i));
}

/* Comments, a retry and an empty data line stand between events when that is the fault. */
void event_open(const struct job *job, struct buf *out)
{
    if (answer_is_ollama(job))
        return;
    if (fault_has(&job->faults, FAULT_COMMENTS))
        buf_adds(out, ": ping\n\nretry: 1000\n\n:\n\ndata:\n\n");
    buf_adds(out, fault_has(&job->faults, FAULT_CRLF) ? "data:" : "data: ");
}

void event_close(const struct job *job, struct buf *out)
{
    if (answer_is_ollama(job))
        buf_addc(out, '\n');
    else
        buf_adds(out, fault_has(&job->faults, FAULT_CRLF) ? "\r\n\r\n" : "\n\n");
}

static const char *object_of(const struct job *job, bool stream)
{
    if (!is_chat(job))
        return "text_completion";
    return stream ? "chat.completion.chunk" : "chat.completion";
}

static void add_model(const struct job *job, struct buf *out)
{
    buf_adds(out, "\"model\":");
    json_add_quoted(out, str_of(job->s->model_name));
    if (job->s->profile->fingerprint)
        buf_addf(out, ",\"system_fingerprint\":\"%s\"", job->s->profile->fingerprint);
}

/* What stands in front of "choices": nothing in llama-server's order. */
static void add_front(const struct job *job, bool stream, struct buf *out)
{
    buf_addc(out, '{');
    if (is_llama(job))
        return;
    buf_addf(out, "\"id\":\"%s\",\"object\":\"%s\",\"created\":%lld,", job->id,
             object_of(job, stream), (long long)job->created_s);
    add_model(job, out);
    buf_addc(out, ',');
}

/* And what stands behind it in llama-server's order; the caller closes the object. */
static void add_back(const struct job *job, struct buf *out)
{
    if (!is_llama(job))
        return;
    buf_addf(out, ",\"created\":%lld,", (long long)job->created_s);
    if (is_chat(job))
        buf_addf(out, "\"id\":\"%s\",", job->id);
    add_model(job, out);
    buf_addf(out, ",\"object\":\"%s\"", object_of(job, true));
    if (!is_chat(job))
        buf_addf(out, ",\"id\":\"%s\"", job->id);
}

static bool usage_in_each(const struct job *job)
{
    if (fault_has(&job->faults, FAULT_USAGE_CUMULATIVE))
        return true;
    return job->s->profile->continuous_usage && job->ask.continuous_usage &&
           job->ask.include_usage && !fault_has(&job->faults, FAULT_USAGE_ABSENT);
}

static bool usage_at_end(const struct job *job)
{
    const struct profile *p = job->s->profile;
    if (fault_has(&job->faults, FAULT_USAGE_ABSENT))
        return false;
    return p->usage_always || (p->stream_usage && job->ask.include_usage);
}

/* What may stand behind "choices" in any event, and the object's end. */
static void end_event(const struct choice *ch, bool timings, bool usage, struct buf *out)
{
    const struct job *job = ch->job;
    add_back(job, out);
    if (usage || usage_in_each(job)) {
        buf_addc(out, ',');
        part_usage(job, ch, out);
    }
    if (timings && is_llama(job) && !fault_has(&job->faults, FAULT_USAGE_ABSENT)) {
        buf_addc(out, ',');
        part_timings(ch, out);
    }
    buf_addc(out, '}');
    event_close(job, out);
}

void answer_role(struct choice *ch, struct buf *out)
{
    const struct job *job = ch->job;
    ch->role_sent = true;
    event_open(job, out);
    add_front(job, true, out);
    if (is_llama(job))
        buf_addf(out,
                 "\"choices\":[{\"finish_reason\":null,\"index\":%u,\"delta\":{\"role\":"
                 "\"assistant\",\"content\":null}}]",
                 ch->index);
    else
        buf_addf(out,
                 "\"choices\":[{\"index\":%u,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
                 "\"logprobs\":null,\"finish_reason\":null}]",
                 ch->index);
    end_event(ch, false, false, out);
}

void answer_progress(struct choice *ch, int64_t processed, int64_t ms, struct buf *out)
{
    const struct job *job = ch->job;
    event_open(job, out);
    add_front(job, true, out);
    buf_addf(out,
             "\"choices\":[{\"finish_reason\":null,\"index\":%u,\"delta\":{\"role\":\"assistant\","
             "\"content\":null}}]",
             ch->index);
    add_back(job, out);
    buf_addf(out,
             ",\"prompt_progress\":{\"total\":%lld,\"cache\":%lld,\"processed\":%lld,"
             "\"time_ms\":%lld}}",
             (long long)job->prompt_n, (long long)ch->cached, (long long)processed, (long long)ms);
    event_close(job, out);
}

/* finish_reason as it stands in an event that also carries the last tokens. */
static void add_reason(const struct choice *ch, bool last, struct buf *out)
{
    bool says = last && ch->job->s->profile->finish_with_last &&
                !fault_has(&ch->job->faults, FAULT_NO_FINISH);
    if (says)
        buf_addf(out, "\"finish_reason\":\"%s\"", answer_reason(ch));
    else
        buf_adds(out, "\"finish_reason\":null");
}

static void chat_tokens(struct choice *ch, int64_t from, int64_t to, bool last, struct buf *out)
{
    const struct job *job = ch->job;
    if (is_llama(job)) {
        buf_addf(out, "\"choices\":[{\"finish_reason\":null,\"index\":%u,\"delta\":{", ch->index);
        part_content(ch, from, to, out);
        buf_addc(out, '}');
        if (part_wants_logprobs(job)) {
            buf_adds(out, ",\"logprobs\":");
            part_logprobs(ch, from, to, out);
        }
        buf_adds(out, "}]");
        return;
    }
    buf_addf(out, "\"choices\":[{\"index\":%u,\"delta\":{%s", ch->index,
             job->s->profile->role == ROLE_IN_EACH ? "\"role\":\"assistant\"," : "");
    part_content(ch, from, to, out);
    buf_adds(out, "},\"logprobs\":");
    part_logprobs(ch, from, to, out);
    buf_addc(out, ',');
    add_reason(ch, last, out);
    if (job->ask.return_token_ids && job->s->profile->token_ids) {
        buf_adds(out, ",\"token_ids\":");
        part_ids(ch, from, to, out);
    }
    buf_adds(out, "}]");
}

static void text_tokens(struct choice *ch, int64_t from, int64_t to, bool last, struct buf *out)
{
    const struct job *job = ch->job;
    buf_adds(out, "\"choices\":[{\"text\":");
    part_text(ch, from, to, out);
    buf_addf(out, ",\"index\":%u,\"logprobs\":", ch->index);
    part_logprobs(ch, from, to, out);
    buf_addc(out, ',');
    add_reason(ch, last, out);
    if (job->ask.return_token_ids && job->s->profile->token_ids) {
        buf_adds(out, ",\"token_ids\":");
        part_ids(ch, from, to, out);
    }
    buf_adds(out, "}]");
}

/* llama.cpp's own /completion. */
static void native_tokens(struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    const struct job *job = ch->job;
    buf_addf(out, "{\"index\":%u,\"content\":", ch->index);
    part_text(ch, from, to, out);
    buf_adds(out, ",\"tokens\":");
    part_ids(ch, from, job->ask.return_tokens ? to : from, out);
    buf_addf(out,
             ",\"stop\":false,\"id_slot\":-1,\"tokens_predicted\":%lld,\"tokens_evaluated\":%lld",
             (long long)to, (long long)job->prompt_n);
    if (job->ask.timings_per_token) {
        buf_addc(out, ',');
        part_timings(ch, out);
    }
    buf_addc(out, '}');
    event_close(job, out);
}

void answer_tokens(struct choice *ch, int64_t from, int64_t to, bool last, struct buf *out)
{
    const struct job *job = ch->job;
    event_open(job, out);
    if (answer_is_ollama(job)) {
        ollama_tokens(ch, from, to, out);
        return;
    }
    if (job->ask.kind == ASK_NATIVE) {
        native_tokens(ch, from, to, out);
        return;
    }
    add_front(job, true, out);
    (is_chat(job) ? chat_tokens : text_tokens)(ch, from, to, last, out);
    end_event(ch, job->ask.timings_per_token, false, out);
}

static void native_final(const struct choice *ch, bool whole, struct buf *out)
{
    const struct job *job = ch->job;
    struct job_usage u = job_usage(job, ch);
    int64_t held = u.prompt + ch->made;
    buf_addf(out, "{\"index\":%u,\"content\":", ch->index);
    part_text(ch, 0, whole ? ch->made : 0, out);
    buf_adds(out, ",\"tokens\":");
    part_ids(ch, 0, whole && job->ask.return_tokens ? ch->made : 0, out);
    buf_addf(out, ",\"id_slot\":%d,\"stop\":true,\"model\":", ch->seq.slot);
    json_add_quoted(out, str_of(job->s->model_name));
    buf_addf(out,
             ",\"tokens_predicted\":%lld,\"tokens_evaluated\":%lld,\"generation_settings\":{},"
             "\"prompt\":",
             (long long)u.completion, (long long)u.prompt);
    json_add_quoted(out, job->ask.prompt);
    buf_addf(out,
             ",\"has_new_line\":false,\"truncated\":false,\"stop_type\":\"%s\",\"stopping_word\":"
             "\"\",\"tokens_cached\":%lld,",
             ch->stops ? "eos" : "limit", (long long)held);
    part_timings(ch, out);
    buf_addc(out, '}');
}

/* The event that only says why a choice ended. */
static void add_finish(struct choice *ch, bool usage_follows, struct buf *out)
{
    const struct job *job = ch->job;
    event_open(job, out);
    add_front(job, true, out);
    if (is_llama(job) && is_chat(job)) {
        buf_addf(out, "\"choices\":[{\"finish_reason\":\"%s\",\"index\":%u,\"delta\":{}}]",
                 answer_reason(ch), ch->index);
    } else if (is_chat(job)) {
        buf_addf(out,
                 "\"choices\":[{\"index\":%u,\"delta\":{},\"logprobs\":null,"
                 "\"finish_reason\":\"%s\"}]",
                 ch->index, answer_reason(ch));
    } else {
        buf_addf(out,
                 "\"choices\":[{\"text\":\"\",\"index\":%u,\"logprobs\":null,"
                 "\"finish_reason\":\"%s\"}]",
                 ch->index, answer_reason(ch));
    }
    end_event(ch, is_llama(job) && !usage_follows, false, out);
}

void answer_finish(struct choice *ch, struct buf *out)
{
    const struct job *job = ch->job;
    bool says = !fault_has(&job->faults, FAULT_NO_FINISH);
    bool usage = usage_at_end(job);
    if (answer_is_ollama(job)) {
        if (says)
            ollama_finish(ch, out);
        return;
    }
    if (job->ask.kind == ASK_NATIVE) {
        if (!says)
            return;
        event_open(job, out);
        native_final(ch, false, out);
        event_close(job, out);
        return;
    }
    if (says && !job->s->profile->finish_with_last)
        add_finish(ch, usage, out);
    if (!is_llama(job) || !usage)
        return;
    /* llama-server: usage of each choice, in the same HTTP chunk */
    event_open(job, out);
    add_front(job, true, out);
    buf_adds(out, "\"choices\":[]");
    end_event(ch, true, !usage_in_each(job), out);
}

void answer_usage(struct job *job, struct buf *out)
{
    if (answer_is_ollama(job) || job->ask.kind == ASK_NATIVE || is_llama(job) || !usage_at_end(job))
        return;
    event_open(job, out);
    add_front(job, true, out);
    buf_adds(out, "\"choices\":[],");
    part_usage(job, NULL, out);
    buf_addc(out, '}');
    event_close(job, out);
}

void answer_done(struct job *job, struct buf *out)
{
    if (answer_is_ollama(job) || job->ask.kind == ASK_NATIVE)
        return;
    event_open(job, out);
    buf_adds(out, "[DONE]");
    event_close(job, out);
}

void answer_stream_error(struct job *job, const char *message, struct buf *out)
{
    event_open(job, out);
    answer_error(job->s->profile, 500, message, "server_error", out);
    event_close(job, out);
}

static void whole_choice(struct choice *ch, struct buf *out)
{
    const struct job *job = ch->job;
    if (!is_chat(job)) {
        buf_adds(out, "{\"text\":");
        part_text(ch, 0, ch->made, out);
        buf_addf(out, ",\"index\":%u,\"logprobs\":", ch->index);
        part_logprobs(ch, 0, ch->made, out);
        buf_addf(out, ",\"finish_reason\":\"%s\"", answer_reason(ch));
    } else if (is_llama(job)) {
        buf_addf(out, "{\"finish_reason\":\"%s\",\"index\":%u,\"message\":{\"role\":\"assistant\",",
                 answer_reason(ch), ch->index);
        part_content(ch, 0, ch->made, out);
        buf_addc(out, '}');
        if (part_wants_logprobs(job)) {
            buf_adds(out, ",\"logprobs\":");
            part_logprobs(ch, 0, ch->made, out);
        }
    } else {
        buf_addf(out, "{\"index\":%u,\"message\":{\"role\":\"assistant\",", ch->index);
        part_content(ch, 0, ch->made, out);
        buf_adds(out, "},\"logprobs\":");
        part_logprobs(ch, 0, ch->made, out);
        buf_addf(out, ",\"finish_reason\":\"%s\"", answer_reason(ch));
    }
    if (job->ask.return_token_ids && job->s->profile->token_ids) {
        buf_adds(out, ",\"token_ids\":");
        part_ids(ch, 0, ch->made, out);
    }
    buf_addc(out, '}');
}

void answer_whole(struct job *job, struct buf *out)
{
    if (answer_is_ollama(job)) {
        ollama_whole(job, out);
        return;
    }
    if (job->ask.kind == ASK_NATIVE) {
        native_final(&job->choices[0], true, out);
        return;
    }
    add_front(job, false, out);
    buf_adds(out, "\"choices\":[");
    for (unsigned i = 0; i < job->n_choices; i++) {
        if (i > 0)
            buf_addc(out, ',');
        whole_choice(&job->choices[i], out);
    }
    buf_addc(out, ']');
    if (is_llama(job)) {
        buf_addf(out, ",\"created\":%lld,", (long long)job->created_s);
        add_model(job, out);
        buf_addf(out, ",\"object\":\"%s\"", object_of(job, false));
    }
    if (!fault_has(&job->faults, FAULT_USAGE_ABSENT)) {
        buf_addc(out, ',');
        part_usage(job, NULL, out);
    }
    if (is_llama(job)) {
        buf_addf(out, ",\"id\":\"%s\"", job->id);
    }
    if (is_llama(job) && !fault_has(&job->faults, FAULT_USAGE_ABSENT)) {
        buf_addc(out, ',');
        part_timings(&job->choices[0], out);
    }
    buf_addc(out, '}');
}

void answer_error(const struct profile *p, int code, const char *message, const char *type,
                  struct buf *out)
{
    if (p->dialect == DIALECT_OLLAMA) {
        buf_adds(out, "{\"error\":");
        json_add_quoted(out, str_of(message));
        buf_addc(out, '}');
        return;
    }
    if (p->dialect == DIALECT_LLAMA)
        buf_addf(out, "{\"error\":{\"code\":%d,\"message\":", code);
    else
        buf_adds(out, "{\"error\":{\"message\":");
    json_add_quoted(out, str_of(message));
    buf_addf(out, ",\"type\":\"%s\"", type);
    if (p->dialect != DIALECT_LLAMA)
        buf_addf(out, ",\"param\":null,\"code\":%d", code);
    buf_adds(out, "}}");
}
