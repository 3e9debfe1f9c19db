#include "wire/openai.h"

int openai_build_rest(const struct wire_ask *ask, struct json_writer *w, struct error *err)
{
    json_key(w, "stream");
    json_put_bool(w, ask->stream);
    if (ask->stream && ask->include_usage) {
        json_key(w, "stream_options");
        json_begin_object(w);
        json_key(w, "include_usage");
        json_put_bool(w, true);
        if (ask->token_progress) {
            json_key(w, "continuous_usage_stats");
            json_put_bool(w, true);
        }
        json_end_object(w);
    }
    if (ask->stream && ask->token_progress) {
        json_key(w, "timings_per_token");
        json_put_bool(w, true);
    }
    build_sampling(ask, "max_tokens", w);
    build_no_cache(ask, w);
    return build_end(ask, w, err);
}

int openai_choices(const struct json **choices, const struct json *doc, struct error *err)
{
    const struct json *list = json_get(doc, "choices");
    if (!json_is(doc, JSON_OBJECT))
        return error_set(err, ERROR_INPUT, "%s where a completion object belongs",
                         json_type_name(doc->type));
    if (list && list->type != JSON_ARRAY && list->type != JSON_NULL)
        return error_set(err, ERROR_INPUT, "'choices' is %s", json_type_name(list->type));
    *choices = json_is(list, JSON_ARRAY) ? list : NULL;
    return 0;
}

/* Tokens of a logprobs object: chat has `content` (and `refusal`), the older form `tokens`. */
static int64_t logprob_count(const struct json *logprobs)
{
    const struct json *content = json_get(logprobs, "content");
    if (json_is(content, JSON_ARRAY))
        return (int64_t)content->n;
    content = json_get(logprobs, "tokens");
    return json_is(content, JSON_ARRAY) ? (int64_t)content->n : COUNT_NONE;
}

/* llama-server names the id of each logprobs entry; only when all do are they the ids. */
static size_t logprob_ids(struct wire_events *out, const struct json *logprobs,
                          const uint32_t **ids)
{
    const struct json *content = json_get(logprobs, "content");
    uint32_t *list;
    if (!json_is(content, JSON_ARRAY) || content->n == 0)
        return 0;
    for (size_t i = 0; i < content->n; i++) {
        int64_t id = events_count(&content->items[i], "id");
        if (id == COUNT_NONE || id > UINT32_MAX)
            return 0;
    }
    list = arena_array(out->arena, content->n, sizeof *list);
    if (!list) {
        out->failed = true;
        return 0;
    }
    for (size_t i = 0; i < content->n; i++)
        list[i] = (uint32_t)events_count(&content->items[i], "id");
    *ids = list;
    out->ids += content->n;
    return content->n;
}

static void add_piece(struct wire_events *out, enum sample_event_kind kind, struct str text)
{
    struct sample_event *e = text.n > 0 ? events_add(out, kind) : NULL;
    if (e)
        e->text = events_keep(out, text);
}

/* Ids and logprobs belong to the choice's delta: they stand on its first token event, which is
 * made, with no text, when a token has not become text yet. */
static void add_tokens(struct wire_events *out, size_t first, const struct json *choice)
{
    const struct json *logprobs = json_get(choice, "logprobs");
    const uint32_t *ids = NULL;
    size_t n = events_ids(out, json_get(choice, "token_ids"), &ids);
    int64_t logprob_n = logprob_count(logprobs);
    struct sample_event *e;
    if (n == 0)
        n = logprob_ids(out, logprobs, &ids);
    if (n == 0 && logprob_n <= 0)
        return;
    e = out->n > first ? &out->list[first] : events_add(out, EVENT_TEXT);
    if (!e)
        return;
    e->ids = ids;
    e->ids_n = n;
    e->logprob_n = logprob_n;
}

void openai_add_choice(struct wire_events *out, const struct openai_choice *c)
{
    size_t first = out->n;
    struct str finish = events_text(c->choice, "finish_reason");
    int64_t index = events_count(c->choice, "index");
    add_piece(out, EVENT_REASONING, c->reasoning);
    add_piece(out, EVENT_TEXT, c->text);
    add_piece(out, EVENT_TOOL, c->tool);
    add_tokens(out, first, c->choice);
    if (out->n == first && c->role)
        events_add(out, EVENT_ROLE);
    if (finish.n > 0) {
        struct sample_event *e = events_add(out, EVENT_FINISH);
        if (e)
            e->finish_reason = events_keep(out, finish);
    }
    if (out->n == first)
        events_add(out, EVENT_EMPTY);
    for (size_t i = first; i < out->n; i++) {
        out->list[i].has_choices = true;
        out->list[i].choice = index == COUNT_NONE || index > INT32_MAX ? 0 : (int32_t)index;
    }
}

static struct sample_usage usage_of(const struct json *doc)
{
    const struct json *u = json_get(doc, "usage");
    struct sample_usage usage = usage_none;
    if (json_is(u, JSON_OBJECT)) {
        usage.prompt = events_count(u, "prompt_tokens");
        usage.completion = events_count(u, "completion_tokens");
        usage.cached = events_count(json_get(u, "prompt_tokens_details"), "cached_tokens");
        if (usage.cached == COUNT_NONE)
            usage.cached = events_count(u, "prompt_cache_hit_tokens");
        usage.reasoning =
            events_count(json_get(u, "completion_tokens_details"), "reasoning_tokens");
        if (usage.reasoning == COUNT_NONE)
            usage.reasoning = events_count(u, "reasoning_tokens");
    }
    usage_from_timings(&usage, json_get(doc, "timings"));
    return usage;
}

void openai_add_rest(struct wire_events *out, size_t first, const struct json *doc)
{
    struct sample_usage usage = usage_of(doc);
    events_prefill_timings(out, json_get(doc, "timings"));
    events_usage(out, first, &usage);
    if (out->n == first)
        events_add(out, EVENT_EMPTY);
}
