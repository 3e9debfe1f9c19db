/* llama.cpp's own /completion: the prompt as it is, and the token ids of every chunk. */
#include "wire/events.h"

static int build(const struct wire_ask *ask, struct buf *body, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, body, 0);
    json_begin_object(&w);
    if (build_prompt(ask, &w, err) < 0)
        return -1;
    json_key(&w, "stream");
    json_put_bool(&w, ask->stream);
    json_key(&w, "return_tokens");
    json_put_bool(&w, true);
    build_sampling(ask, "n_predict", &w);
    build_no_cache(ask, &w);
    return build_end(ask, &w, err);
}

static bool is_true(const struct json *doc, const char *name)
{
    return json_is(json_get(doc, name), JSON_TRUE);
}

/* In OpenAI's words, so that one rule judges every protocol. */
static struct str finish_reason(const struct json *doc)
{
    struct str type = events_text(doc, "stop_type");
    if (str_eq(type, STR("limit")) || is_true(doc, "stopped_limit"))
        return STR("length");
    if (str_eq(type, STR("eos")) || str_eq(type, STR("word")) || is_true(doc, "stopped_eos") ||
        is_true(doc, "stopped_word"))
        return STR("stop");
    return type.n > 0 ? type : STR("unknown");
}

static struct sample_usage usage_of(const struct json *doc)
{
    struct sample_usage u = usage_none;
    u.prompt = events_count(doc, "tokens_evaluated"); /* the whole prompt, cached tokens too */
    u.completion = events_count(doc, "tokens_predicted");
    usage_from_timings(&u, json_get(doc, "timings"));
    return u;
}

static int decode(const struct json *doc, bool stream, struct wire_events *out, struct error *err)
{
    struct str text = events_text(doc, "content");
    const struct json *logprobs = json_get(doc, "completion_probabilities");
    struct sample_usage usage = usage_of(doc);
    const uint32_t *ids = NULL;
    size_t first = out->n, n;
    struct sample_event *e;
    if (!json_is(json_get(doc, "content"), JSON_STRING))
        return error_set(err, ERROR_INPUT, "a completion object without a string 'content'");
    n = events_ids(out, json_get(doc, "tokens"), &ids);
    if ((text.n > 0 || n > 0) && (e = events_add(out, EVENT_TEXT)) != NULL) {
        e->text = events_keep(out, text);
        e->ids = ids;
        e->ids_n = n;
        if (json_is(logprobs, JSON_ARRAY))
            e->logprob_n = (int64_t)logprobs->n;
    }
    if ((is_true(doc, "stop") || !stream) && (e = events_add(out, EVENT_FINISH)) != NULL)
        e->finish_reason = events_keep(out, finish_reason(doc));
    events_prefill_timings(out, json_get(doc, "timings"));
    events_usage(out, first, &usage);
    if (out->n == first)
        events_add(out, EVENT_EMPTY);
    return 0;
}

const struct wire_protocol protocol_llamacpp = {
    .name = "llamacpp-completion",
    .path = "/completion",
    .takes_ids = true,
    .takes_ignore_eos = true,
    .build = build,
    .decode = decode,
};
