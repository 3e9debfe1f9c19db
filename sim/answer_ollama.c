/* Ollama's own dialect: a line of JSON an event, counts and durations in the last one. */
#include "answer.h"
#include "base/clock.h"
#include "codec/json_write.h"

static void open_line(const struct job *job, struct buf *out)
{
    char utc[CLOCK_UTC_TEXT];
    clock_format_utc(utc, clock_real_ns());
    buf_adds(out, "{\"model\":");
    json_add_quoted(out, str_of(job->s->model_name));
    buf_addf(out, ",\"created_at\":\"%s\",", utc);
}

static void add_message(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    int64_t edge = ch->job->s->o->reasoning;
    bool chat = ch->job->ask.kind == ASK_OLLAMA_CHAT;
    struct buf text = BUF_INIT(CONN_OUT_MAX);
    edge = edge < from ? from : edge > to ? to : edge;
    answer_text(ch, edge, to, &text);
    buf_adds(out, chat ? "\"message\":{\"role\":\"assistant\",\"content\":" : "\"response\":");
    json_add_quoted(out, buf_str(&text));
    if (edge > from) {
        buf_reset(&text);
        answer_text(ch, from, edge, &text);
        buf_adds(out, ",\"thinking\":");
        json_add_quoted(out, buf_str(&text));
    }
    if (chat)
        buf_addc(out, '}');
    buf_release(&text);
}

void ollama_tokens(struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    open_line(ch->job, out);
    add_message(ch, from, to, out);
    buf_adds(out, ",\"done\":false}");
    event_close(ch->job, out);
}

static void add_final(const struct choice *ch, int64_t from, int64_t to, struct buf *out)
{
    const struct job *job = ch->job;
    struct job_usage u = job_usage(job, ch);
    open_line(job, out);
    add_message(ch, from, to, out);
    buf_addf(out, ",\"done\":true,\"done_reason\":\"%s\",\"total_duration\":%lld",
             answer_reason(ch), (long long)(ch->last_ns - job->start_ns));
    buf_adds(out, ",\"load_duration\":0");
    if (!fault_has(&job->faults, FAULT_USAGE_ABSENT))
        buf_addf(out,
                 ",\"prompt_eval_count\":%lld,\"prompt_eval_duration\":%lld,\"eval_count\":%lld,"
                 "\"eval_duration\":%lld",
                 (long long)u.prompt, (long long)(ch->first_ns - ch->admit_ns),
                 (long long)u.completion, (long long)(ch->last_ns - ch->first_ns));
    buf_addc(out, '}');
}

void ollama_finish(struct choice *ch, struct buf *out)
{
    add_final(ch, ch->made, ch->made, out);
    event_close(ch->job, out);
}

void ollama_whole(struct job *job, struct buf *out)
{
    add_final(&job->choices[0], 0, job->choices[0].made, out);
}
