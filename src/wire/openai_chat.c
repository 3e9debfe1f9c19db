/* OpenAI's chat completions, as llama-server, vLLM, SGLang, TGI, TensorRT-LLM, LM Studio speak. */
#include "wire/openai.h"

static int build(const struct wire_ask *ask, struct buf *body, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, body, 0);
    json_begin_object(&w);
    if (build_model(ask, &w, err) < 0 || build_messages(ask, &w, err) < 0)
        return -1;
    return openai_build_rest(ask, &w, err);
}

/* A tool call's tokens are its name and its arguments, in that order. */
static void add_call(struct buf *text, const struct json *function)
{
    buf_addstr(text, events_text(function, "name"));
    buf_addstr(text, events_text(function, "arguments"));
}

static void read_tools(const struct json *delta, struct buf *text)
{
    const struct json *calls = json_get(delta, "tool_calls");
    if (json_is(calls, JSON_ARRAY))
        for (size_t i = 0; i < calls->n; i++)
            add_call(text, json_get(&calls->items[i], "function"));
    add_call(text, json_get(delta, "function_call"));
}

/* Some servers write content as parts, [{"type": "text", "text": ...}]. */
static void read_content(const struct json *delta, struct buf *text)
{
    const struct json *content = json_get(delta, "content");
    if (json_is(content, JSON_ARRAY))
        for (size_t i = 0; i < content->n; i++)
            buf_addstr(text, events_text(&content->items[i], "text"));
    else
        buf_addstr(text, events_text(delta, "content"));
    buf_addstr(text, events_text(delta, "refusal"));
}

static int decode_choice(const struct json *choice, bool stream, struct wire_events *out,
                         struct error *err)
{
    const struct json *delta = json_get(choice, stream ? "delta" : "message");
    struct openai_choice c = {.choice = choice};
    struct buf text = BUF_INIT(BUF_ANY), tool = BUF_INIT(BUF_ANY);
    if (!json_is(choice, JSON_OBJECT))
        return error_set(err, ERROR_INPUT, "a choice is %s", json_type_name(choice->type));
    read_content(delta, &text);
    read_tools(delta, &tool);
    c.role = json_is(json_get(delta, "role"), JSON_STRING);
    c.text = buf_str(&text);
    c.tool = buf_str(&tool);
    /* vLLM sends the same text under both names. */
    c.reasoning = events_text(delta, "reasoning_content");
    if (c.reasoning.n == 0)
        c.reasoning = events_text(delta, "reasoning");
    openai_add_choice(out, &c);
    if (text.failed || tool.failed)
        out->failed = true;
    buf_release(&text);
    buf_release(&tool);
    return 0;
}

static int decode(const struct json *doc, bool stream, struct wire_events *out, struct error *err)
{
    const struct json *choices;
    size_t first = out->n;
    if (openai_choices(&choices, doc, err) < 0)
        return -1;
    for (size_t i = 0; choices && i < choices->n; i++)
        if (decode_choice(&choices->items[i], stream, out, err) < 0)
            return -1;
    openai_add_rest(out, first, doc);
    return 0;
}

const struct wire_protocol protocol_openai_chat = {
    .name = "openai-chat",
    .path = "/v1/chat/completions",
    .takes_messages = true,
    .takes_ignore_eos = true,
    .build = build,
    .decode = decode,
};
