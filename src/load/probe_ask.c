/* The requests of a probe, and what is read out of their answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "codec/json_write.h"
#include "load/probe_internal.h"

#define ASK_TIMEOUT_NS (30 * NS_PER_S)
#define COMPLETION_TIMEOUT_NS (120 * NS_PER_S)
#define DOCUMENT_MAX ((size_t)64 << 20)
#define STREAM_TOKENS 32
#define STOP_TOKENS 512 /* within which an answer to the shortest shape should end itself */
/* Replayed: the first token comes when nearly all of the time has passed. */
#define REPLAY_SHARE_PERCENT 90

static int of_lane(const struct probe_state *lane, struct error *err)
{
    return error_wrap(err, "lane %s", lane->options.role);
}

int probe_fetch_json(struct probe_state *lane, const char *path, struct str body,
                     struct arena *arena, const struct json **doc, int *status, struct error *err)
{
    struct wire_exchange *x;
    struct error ignored;
    *doc = NULL;
    if (wire_fetch(lane->endpoint, path, body, body.n ? COMPLETION_TIMEOUT_NS : ASK_TIMEOUT_NS, &x,
                   err) < 0)
        return of_lane(lane, err);
    *status = x->http_status;
    if (json_parse(doc, buf_str(&x->body), &JSON_LIMITS_DEFAULT, arena, &ignored) < 0)
        *doc = NULL;
    wire_exchange_free(x);
    return 0;
}

static int find_model(struct probe *p, struct probe_state *lane, const struct json *models)
{
    struct str id;
    const struct json *data = json_get(models, "data");
    const struct json *first = json_is(data, JSON_ARRAY) && data->n > 0 ? &data->items[0] : NULL;
    /* vLLM and SGLang say it of each model */
    (void)json_i64(&lane->public.context, json_get(first, "max_model_len"));
    if (lane->options.model) {
        lane->public.model = lane->options.model;
        return 0;
    }
    if (json_str(&id, json_get(first, "id")) == 0)
        lane->public.model = arena_cstr(&p->arena, id);
    return 0;
}

/* The template that a llama-server shows, its BOS and EOS texts with it. */
static int own_template(struct probe_state *lane, const struct json *props)
{
    struct str source;
    struct error ignored;
    if (json_str(&source, json_get(props, "chat_template")) < 0 || source.n == 0)
        return 0;
    snprintf(lane->own_name, sizeof lane->own_name, "%s's /props", lane->options.role);
    if (chat_template_from_text(&lane->own, source, lane->own_name, &JINJA_SYNTAX_TRANSFORMERS,
                                &ignored) < 0)
        return 0; /* told in the table as an unexplained wrapper */
    lane->public.own = lane->own;
    return chat_template_add_special(lane->own, "bos_token", json_get(props, "bos_token"),
                                     &ignored) < 0 ||
                   chat_template_add_special(lane->own, "eos_token", json_get(props, "eos_token"),
                                             &ignored) < 0
               ? -1
               : 0;
}

int probe_identify(struct probe *p, struct probe_state *lane, struct error *err)
{
    const struct json *doc;
    struct arena arena;
    int status, rc = -1;
    arena_init(&arena, DOCUMENT_MAX);
    lane->public.slots = lane->public.context = COUNT_NONE;
    if (probe_fetch_json(lane, "/v1/models", STR(""), &arena, &doc, &status, err) < 0)
        goto out;
    find_model(p, lane, status == 200 ? doc : NULL);
    if (probe_fetch_json(lane, "/props", STR(""), &arena, &doc, &status, err) < 0)
        goto out;
    if (status == 200 && json_is(doc, JSON_OBJECT)) {
        (void)json_i64(&lane->public.slots, json_get(doc, "total_slots"));
        (void)json_i64(&lane->public.context, json_path(doc, "default_generation_settings.n_ctx"));
        if (own_template(lane, doc) < 0) {
            error_no_memory(err);
            goto out;
        }
    }
    rc = 0;
out:
    arena_release(&arena);
    return rc;
}

struct question {
    const struct chat_request *request;
    int64_t max_tokens;
    bool stream, ignore_eos;
};

static int build(struct probe_state *lane, const struct question *q, struct buf *body,
                 struct error *err)
{
    const struct json *m = q->request->messages;
    struct wire_message messages[8];
    size_t n = 0;
    for (size_t i = 0; i < m->n && n < 8; i++) {
        struct str role = {0}, content = {0};
        (void)json_str(&role, json_get(&m->items[i], "role"));
        (void)json_str(&content, json_get(&m->items[i], "content"));
        messages[n++] = (struct wire_message){role, content};
    }
    const struct wire_ask ask = {
        .model = lane->public.model,
        .messages = messages,
        .messages_n = n,
        .max_tokens = q->max_tokens,
        .seed = COUNT_NONE,
        .has_temperature = true,
        .stream = q->stream,
        .include_usage = q->stream,
        .ignore_eos = q->ignore_eos,
    };
    return wire_build(wire_protocol_find("openai-chat"), &ask, body, err);
}

/* One completion. The sample's texts live in the arena; *text is its joined text. */
static int complete(struct probe *p, struct probe_state *lane, const struct question *q,
                    struct sample *s, struct arena *arena, struct buf *text, struct error *err)
{
    const struct wire_protocol *protocol = wire_protocol_find("openai-chat");
    const struct wire_ask ask = {.max_tokens = q->max_tokens,
                                 .stream = q->stream,
                                 .include_usage = q->stream,
                                 .ignore_eos = q->ignore_eos};
    struct buf body = BUF_INIT((size_t)16 << 20);
    struct wire_exchange *x = NULL;
    int64_t timeout_ns = p->options.timeout_ns ? p->options.timeout_ns : COMPLETION_TIMEOUT_NS;
    int rc = build(lane, q, &body, err);
    if (rc == 0)
        rc = wire_fetch(lane->endpoint, protocol->path, buf_str(&body), timeout_ns, &x, err);
    if (rc == 0) {
        sample_init(s);
        rc = wire_decode(protocol, x, &ask, 0, s, arena, err);
    }
    if (rc == 0 && text) {
        buf_reset(text);
        sample_join_text(s, EVENT_TEXT, text);
    }
    buf_release(&body);
    if (x)
        wire_exchange_free(x);
    return rc < 0 ? of_lane(lane, err) : 0;
}

/* A server that breaks off over a shape has not counted it; it may well count the next. */
static int count_shape(struct probe *p, struct probe_state *lane, size_t i, struct error *err)
{
    struct probe_shape_count *c = &lane->public.counts[i];
    const struct question q = {.request = &p->shapes.items[i].request, .max_tokens = 1};
    struct arena arena;
    struct sample s;
    int rc;

    c->reported = c->cached = c->predicted = COUNT_NONE;
    arena_init(&arena, DOCUMENT_MAX);
    rc = complete(p, lane, &q, &s, &arena, NULL, err);
    if (rc < 0 && err->kind == ERROR_ENVIRONMENT) {
        snprintf(c->error, sizeof c->error, "%.150s", err->message);
        rc = 0;
    } else if (rc == 0 && s.outcome == OUTCOME_OK) {
        c->reported = s.prompt_reported;
        c->cached = s.prompt_cached;
    } else if (rc == 0) {
        snprintf(c->error, sizeof c->error, "%.*s", STR_ARG(str_first(s.error, 150)));
    }
    if (c->reported == COUNT_NONE && !c->error[0])
        snprintf(c->error, sizeof c->error, "the answer reports no prompt tokens");
    arena_release(&arena);
    return rc;
}

int probe_count_shapes(struct probe *p, struct probe_state *lane, struct error *err)
{
    for (size_t i = 0; i < p->shapes.n; i++) {
        if (count_shape(p, lane, i, err) < 0)
            return -1;
        if (probe_ask_own(p, lane, i, err) < 0)
            return -1;
    }
    return 0;
}

static enum probe_answer answer(bool yes)
{
    return yes ? PROBE_YES : PROBE_NO;
}

/* How a stream comes: token by token or all at its end, with usage and where. */
static void read_stream(struct probe_lane *lane, const struct sample *s)
{
    int64_t first = TIME_NONE;
    lane->events = 0;
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (sample_event_has_token(e)) {
            if (first == TIME_NONE && e->read < s->reads_n)
                first = s->reads[e->read].t_user_ns;
            lane->events++;
        }
        if (e->usage.prompt != COUNT_NONE || e->usage.completion != COUNT_NONE) {
            lane->stream_usage = PROBE_YES;
            lane->usage_where = e->has_choices ? "last chunk" : "own chunk";
        }
    }
    if (lane->stream_usage == PROBE_UNKNOWN)
        lane->stream_usage = PROBE_NO;
    lane->output = s->output_reported.total;
    if (first == TIME_NONE || s->t_sent_ns == TIME_NONE || s->t_end_ns == TIME_NONE)
        return;
    lane->ttft_ns = first - s->t_sent_ns;
    lane->e2e_ns = s->t_end_ns - s->t_sent_ns;
    if (lane->events > 1)
        lane->live = answer(lane->ttft_ns * 100 <= lane->e2e_ns * REPLAY_SHARE_PERCENT);
}

static void read_length(struct probe_lane *lane, const struct sample *s)
{
    int64_t n = s->output_observed.total != COUNT_NONE ? s->output_observed.total
                                                       : s->output_reported.total;
    if (n != COUNT_NONE)
        lane->ignore_eos = answer(n == STREAM_TOKENS);
}

static bool ended_itself(const struct sample *s)
{
    for (size_t i = 0; s->outcome == OUTCOME_OK && i < s->events_n; i++)
        if (s->events[i].kind == EVENT_FINISH)
            return str_eq(s->events[i].finish_reason, STR("stop"));
    return false;
}

/* How many tokens an answer reports beyond those of its text; -1 when that cannot be told. */
static int ask_beyond_text(struct probe *p, struct probe_state *state, size_t shape,
                           int64_t *beyond, struct error *err)
{
    const struct question q = {.request = &p->shapes.items[shape].request,
                               .max_tokens = STOP_TOKENS};
    struct buf text = BUF_INIT((size_t)16 << 20);
    struct arena arena;
    struct sample s;
    size_t n;
    sample_init(&s);
    arena_init(&arena, DOCUMENT_MAX);
    int rc = complete(p, state, &q, &s, &arena, &text, err);
    *beyond = -1;
    if (rc == 0 && ended_itself(&s) && text.n > 0 && s.output_reported.total != COUNT_NONE &&
        s.output_reported.reasoning <= 0) {
        rc = tokenizer_count(p->options.tokenizer, buf_str(&text), &(struct encode_options){0}, &n,
                             err);
        *beyond = rc == 0 ? s.output_reported.total - (int64_t)n : -1;
    }
    buf_release(&text);
    arena_release(&arena);
    return rc;
}

/* Does completion_tokens hold the token that ends an answer? Text that the model cut otherwise than
 * a tokenizer does would mislead, so answers are asked for until two say the same. */
static int ask_stop(struct probe *p, struct probe_state *state, struct error *err)
{
    int said[2] = {0};
    for (size_t i = 0; i < p->shapes.n && said[0] < 2 && said[1] < 2; i++) {
        int64_t beyond;
        if (ask_beyond_text(p, state, i, &beyond, err) < 0)
            return -1;
        if (beyond == 0 || beyond == 1)
            said[beyond]++;
    }
    if (said[0] == 2 || said[1] == 2)
        state->public.stop_counted = answer(said[1] == 2);
    return 0;
}

int probe_behaviour(struct probe *p, struct probe_state *state, struct error *err)
{
    struct probe_lane *lane = &state->public;
    const struct chat_request *request = &p->shapes.items[1].request;
    struct buf first = BUF_INIT((size_t)16 << 20), second = BUF_INIT((size_t)16 << 20);
    struct question q = {.request = request, .max_tokens = STREAM_TOKENS, .stream = true};
    struct arena arena;
    struct sample s;
    int rc = -1;
    lane->cached = lane->ttft_ns = lane->e2e_ns = lane->output = COUNT_NONE;
    sample_init(&s);
    arena_init(&arena, DOCUMENT_MAX);
    q.ignore_eos = true;
    if (complete(p, state, &q, &s, &arena, NULL, err) < 0)
        goto out;
    if (s.outcome == OUTCOME_FAILED && s.failure == FAILURE_HTTP) { /* refuses ignore_eos */
        lane->ignore_eos = PROBE_NO;
        q.ignore_eos = false;
        arena_reset(&arena);
        if (complete(p, state, &q, &s, &arena, NULL, err) < 0)
            goto out;
    } else if (s.outcome == OUTCOME_OK || s.outcome == OUTCOME_SHORT) {
        read_length(lane, &s);
    }
    if (s.outcome == OUTCOME_OK || s.outcome == OUTCOME_SHORT)
        read_stream(lane, &s);
    q.stream = false;
    if (complete(p, state, &q, &s, &arena, &first, err) < 0 ||
        complete(p, state, &q, &s, &arena, &second, err) < 0)
        goto out;
    if (s.outcome == OUTCOME_OK && first.n > 0)
        lane->repeats_same = answer(str_eq(buf_str(&first), buf_str(&second)));
    lane->cached = s.prompt_cached;
    if (s.prompt_cached != COUNT_NONE)
        lane->caches = answer(s.prompt_cached > 0);
    rc = ask_stop(p, state, err);
out:
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
    return rc;
}
