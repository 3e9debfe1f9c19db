#include "ask.h"

#include "base/buf.h"

/* A message's text: a string, null, or parts of which the texts are joined by line breaks. */
static int read_content(struct str *out, const struct json *content, size_t at, struct arena *arena,
                        struct error *err)
{
    struct buf joined = BUF_INIT(BUF_ANY);
    int got = 0;
    *out = (struct str){0};
    if (!content || content->type == JSON_NULL)
        return 0;
    if (content->type == JSON_STRING) {
        *out = content->text;
        return 0;
    }
    if (content->type != JSON_ARRAY)
        return error_set(err, ERROR_INPUT, "messages.%zu.content is neither a string nor parts",
                         at);
    for (size_t i = 0; i < content->n && got == 0; i++) {
        struct str text;
        if (json_str(&text, json_get(&content->items[i], "text")) < 0)
            got = error_set(err, ERROR_INPUT, "messages.%zu.content.%zu is no text part", at, i);
        if (i > 0)
            buf_addc(&joined, '\n');
        if (got == 0)
            buf_addstr(&joined, text);
    }
    if (got == 0)
        *out = arena_str(arena, buf_str(&joined));
    buf_release(&joined);
    return got;
}

int ask_read_messages(struct ask *ask, const struct json *doc, struct arena *arena,
                      struct error *err)
{
    const struct json *messages = json_get(doc, "messages");
    struct ask_message *m;
    if (!messages)
        return error_set(err, ERROR_INPUT, "'messages' is required");
    if (messages->type != JSON_ARRAY)
        return error_set(err, ERROR_INPUT, "'messages' must be an array");
    if (messages->n == 0)
        return error_set(err, ERROR_INPUT, "'messages' is empty");
    m = arena_array(arena, messages->n, sizeof *m);
    if (!m)
        return error_no_memory(err);
    for (size_t i = 0; i < messages->n; i++) {
        const struct json *message = &messages->items[i];
        if (json_str(&m[i].role, json_get(message, "role")) < 0)
            return error_set(err, ERROR_INPUT, "messages.%zu has no 'role'", i);
        if (read_content(&m[i].content, json_get(message, "content"), i, arena, err) < 0)
            return -1;
    }
    ask->messages = m;
    ask->n_messages = messages->n;
    return 0;
}

static int read_ids(struct ask *ask, const struct json *prompt, struct arena *arena,
                    struct error *err)
{
    uint32_t *ids = arena_array(arena, prompt->n, sizeof *ids);
    if (!ids)
        return error_no_memory(err);
    for (size_t i = 0; i < prompt->n; i++) {
        int64_t id;
        if (json_i64(&id, &prompt->items[i]) < 0 || id < 0 || id > UINT32_MAX)
            return error_set(err, ERROR_INPUT, "prompt.%zu is no token id", i);
        ids[i] = (uint32_t)id;
    }
    ask->ids = ids;
    ask->n_ids = prompt->n;
    ask->has_ids = true;
    return 0;
}

/* A text, an array of ids, or an array that holds one of either. */
static int read_prompt(struct ask *ask, const struct json *doc, struct arena *arena,
                       struct error *err)
{
    const struct json *prompt = json_get(doc, "prompt");
    if (!prompt)
        return error_set(err, ERROR_INPUT, "'prompt' is required");
    if (prompt->type == JSON_ARRAY && prompt->n == 1 && prompt->items[0].type != JSON_NUMBER)
        prompt = &prompt->items[0];
    if (prompt->type == JSON_STRING) {
        ask->prompt = prompt->text;
        return 0;
    }
    if (prompt->type != JSON_ARRAY || prompt->n == 0 || prompt->items[0].type != JSON_NUMBER)
        return error_set(err, ERROR_INPUT, "'prompt' must be one text or one array of token ids");
    return read_ids(ask, prompt, arena, err);
}

/* Optional members: absent and null leave *out alone, another type is an error. */
static int take_bool(bool *out, const struct json *doc, const char *name, struct error *err)
{
    const struct json *v = json_get(doc, name);
    if (!v || v->type == JSON_NULL || json_bool(out, v) == 0)
        return 0;
    return error_set(err, ERROR_INPUT, "'%s' must be true or false", name);
}

static int take_i64(int64_t *out, const struct json *doc, const char *name, int64_t min,
                    int64_t max, struct error *err)
{
    const struct json *v = json_get(doc, name);
    int64_t n;
    if (!v || v->type == JSON_NULL)
        return 0;
    if (json_i64(&n, v) < 0 || n < min || n > max)
        return error_set(err, ERROR_INPUT, "'%s' must be an integer from %lld to %lld", name,
                         (long long)min, (long long)max);
    *out = n;
    return 0;
}

static int read_sampling(struct ask *ask, const struct json *doc, struct error *err)
{
    double temperature = 1;
    int64_t seed = 0;
    const struct json *v = json_get(doc, "temperature");
    if (v && v->type != JSON_NULL && json_double(&temperature, v) < 0)
        return error_set(err, ERROR_INPUT, "'temperature' must be a number");
    if (take_i64(&seed, doc, "seed", INT64_MIN, INT64_MAX, err) < 0)
        return -1;
    ask->greedy = temperature <= 0;
    ask->seed = (uint64_t)seed;
    return take_bool(&ask->ignore_eos, doc, "ignore_eos", err);
}

/* logprobs is a boolean in chat and a number of alternatives in completions. */
static int read_logprobs(struct ask *ask, const struct json *doc, struct error *err)
{
    const struct json *v = json_get(doc, "logprobs");
    if (take_i64(&ask->top_logprobs, doc, "top_logprobs", 0, 20, err) < 0)
        return -1;
    if (!json_is(v, JSON_NUMBER))
        return take_bool(&ask->logprobs, doc, "logprobs", err);
    ask->logprobs = true;
    return take_i64(&ask->top_logprobs, doc, "logprobs", 0, 20, err);
}

static int take_salt(struct ask *ask, const struct json *doc, struct arena *arena,
                     struct error *err)
{
    const struct json *v = json_get(doc, "cache_salt");
    if (!v || v->type == JSON_NULL)
        return 0;
    if (v->type != JSON_STRING || v->text.n == 0)
        return error_set(err, ERROR_INPUT, "'cache_salt' must be a text that is not empty");
    ask->cache_salt = arena_str(arena, v->text);
    return 0;
}

static int read_openai(struct ask *ask, const struct json *doc, struct arena *arena,
                       struct error *err)
{
    const struct json *o = json_get(doc, "stream_options");
    if (take_i64(&ask->max_tokens, doc, "n_predict", -1, ASK_TOKENS_MAX, err) < 0 ||
        take_i64(&ask->max_tokens, doc, "max_tokens", -1, ASK_TOKENS_MAX, err) < 0 ||
        take_i64(&ask->max_tokens, doc, "max_completion_tokens", -1, ASK_TOKENS_MAX, err) < 0 ||
        take_i64(&ask->n, doc, "n", 1, ASK_CHOICES_MAX, err) < 0 ||
        take_bool(&ask->stream, doc, "stream", err) < 0 ||
        take_bool(&ask->include_usage, o, "include_usage", err) < 0 ||
        take_bool(&ask->continuous_usage, o, "continuous_usage_stats", err) < 0 ||
        take_bool(&ask->cache_prompt, doc, "cache_prompt", err) < 0 ||
        take_salt(ask, doc, arena, err) < 0 ||
        take_bool(&ask->timings_per_token, doc, "timings_per_token", err) < 0 ||
        take_bool(&ask->return_progress, doc, "return_progress", err) < 0 ||
        take_bool(&ask->return_tokens, doc, "return_tokens", err) < 0 ||
        take_bool(&ask->return_token_ids, doc, "return_token_ids", err) < 0 ||
        read_logprobs(ask, doc, err) < 0)
        return -1;
    return read_sampling(ask, doc, err);
}

static int read_ollama(struct ask *ask, const struct json *doc, struct error *err)
{
    const struct json *o = json_get(doc, "options");
    ask->stream = true;
    if (take_bool(&ask->stream, doc, "stream", err) < 0 ||
        take_bool(&ask->raw, doc, "raw", err) < 0 ||
        take_i64(&ask->max_tokens, o, "num_predict", -2, ASK_TOKENS_MAX, err) < 0)
        return -1;
    if (ask->max_tokens < 0)
        ask->max_tokens = -1;
    return read_sampling(ask, o, err);
}

int ask_read(struct ask *ask, enum ask_kind kind, const struct json *doc, struct arena *arena,
             struct error *err)
{
    bool chat = kind == ASK_CHAT || kind == ASK_OLLAMA_CHAT;
    bool ollama = kind == ASK_OLLAMA_CHAT || kind == ASK_OLLAMA_GENERATE;
    *ask = (struct ask){.kind = kind, .max_tokens = -1, .n = 1, .cache_prompt = true};
    if (!json_is(doc, JSON_OBJECT))
        return error_set(err, ERROR_INPUT, "the body must be a JSON object");
    if ((chat ? ask_read_messages(ask, doc, arena, err) : read_prompt(ask, doc, arena, err)) < 0)
        return -1;
    if ((ollama ? read_ollama(ask, doc, err) : read_openai(ask, doc, arena, err)) < 0)
        return -1;
    return arena_check(arena, "the request", err);
}
