/* Ollama's /api/chat and /api/generate: newline-delimited JSON, counts in the last line. */
#include "wire/events.h"

static int build_options(const struct wire_ask *ask, struct json_writer *w, struct error *err)
{
    json_key(w, "stream");
    json_put_bool(w, ask->stream);
    json_key(w, "options");
    json_begin_object(w);
    build_sampling(ask, "num_predict", w);
    json_end_object(w);
    return build_end(ask, w, err);
}

static int build_chat(const struct wire_ask *ask, struct buf *body, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, body, 0);
    json_begin_object(&w);
    if (build_model(ask, &w, err) < 0 || build_messages(ask, &w, err) < 0)
        return -1;
    return build_options(ask, &w, err);
}

static int build_generate(const struct wire_ask *ask, struct buf *body, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, body, 0);
    json_begin_object(&w);
    if (build_model(ask, &w, err) < 0 || build_prompt(ask, &w, err) < 0)
        return -1;
    json_key(&w, "raw"); /* the prompt is rendered already: no template of the server's */
    json_put_bool(&w, true);
    return build_options(ask, &w, err);
}

static void add_piece(struct wire_events *out, enum sample_event_kind kind, struct str text)
{
    struct sample_event *e = text.n > 0 ? events_add(out, kind) : NULL;
    if (e)
        e->text = events_keep(out, text);
}

/* A tool call comes whole, its arguments as an object; they are kept as the JSON they are. */
static void add_tools(struct wire_events *out, const struct json *message)
{
    const struct json *calls = json_get(message, "tool_calls");
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    if (!json_is(calls, JSON_ARRAY))
        return;
    for (size_t i = 0; i < calls->n; i++) {
        const struct json *function = json_get(&calls->items[i], "function");
        const struct json *arguments = json_get(function, "arguments");
        buf_addstr(&text, events_text(function, "name"));
        if (!arguments)
            continue;
        json_writer_init(&w, &text, 0);
        json_put_value(&w, arguments);
    }
    if (text.failed)
        out->failed = true;
    add_piece(out, EVENT_TOOL, buf_str(&text));
    buf_release(&text);
}

static void add_end(struct wire_events *out, size_t first, const struct json *doc)
{
    struct sample_usage u = usage_none;
    struct str reason = events_text(doc, "done_reason");
    struct sample_event *e = events_add(out, EVENT_FINISH);
    if (e)
        e->finish_reason = events_keep(out, reason.n > 0 ? reason : STR("unknown"));
    u.prompt = events_count(doc, "prompt_eval_count");
    u.completion = events_count(doc, "eval_count");
    events_usage(out, first, &u);
    events_prefill(out, u.prompt, (double)events_count(doc, "prompt_eval_duration"));
}

static int decode_message(const struct json *doc, const struct json *message, const char *text_name,
                          struct wire_events *out, struct error *err)
{
    size_t first = out->n;
    if (!json_is(message, JSON_OBJECT))
        return error_set(err, ERROR_INPUT, "%s where an answer object belongs",
                         message ? json_type_name(message->type) : "nothing");
    add_piece(out, EVENT_REASONING, events_text(message, "thinking"));
    add_piece(out, EVENT_TEXT, events_text(message, text_name));
    add_tools(out, message);
    if (json_is(json_get(doc, "done"), JSON_TRUE))
        add_end(out, first, doc);
    if (out->n == first)
        events_add(out, EVENT_EMPTY);
    return 0;
}

static int decode_chat(const struct json *doc, bool stream, struct wire_events *out,
                       struct error *err)
{
    (void)stream; /* a line and a whole answer look alike */
    return decode_message(doc, json_get(doc, "message"), "content", out, err);
}

static int decode_generate(const struct json *doc, bool stream, struct wire_events *out,
                           struct error *err)
{
    (void)stream;
    return decode_message(doc, doc, "response", out, err);
}

const struct wire_protocol protocol_ollama_chat = {
    .name = "ollama-chat",
    .path = "/api/chat",
    .ndjson = true,
    .takes_messages = true,
    .build = build_chat,
    .decode = decode_chat,
};

const struct wire_protocol protocol_ollama_generate = {
    .name = "ollama-generate",
    .path = "/api/generate",
    .ndjson = true,
    .build = build_generate,
    .decode = decode_generate,
};
