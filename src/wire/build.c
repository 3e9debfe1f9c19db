#include "base/utf8.h"
#include "wire/events.h"

#define BODY_VALUES ((struct json_limits){.bytes = (size_t)1 << 20, .values = 65536, .depth = 32})

static int check_text(struct str s, const char *what, struct error *err)
{
    size_t good = utf8_valid_prefix(s);
    if (good == s.n)
        return 0;
    error_set(err, ERROR_INPUT, "%s is not UTF-8 at byte %zu", what, good);
    return error_remedy(err, "JSON carries only UTF-8; mend the corpus");
}

int build_model(const struct wire_ask *ask, struct json_writer *w, struct error *err)
{
    if (!ask->model)
        return 0;
    if (check_text(str_of(ask->model), "the model's name", err) < 0)
        return -1;
    json_key(w, "model");
    json_put_cstr(w, ask->model);
    return 0;
}

int build_messages(const struct wire_ask *ask, struct json_writer *w, struct error *err)
{
    json_key(w, "messages");
    json_begin_array(w);
    for (size_t i = 0; i < ask->messages_n; i++) {
        const struct wire_message *m = &ask->messages[i];
        if (check_text(m->role, "a message's role", err) < 0 ||
            check_text(m->content, "a message", err) < 0)
            return -1;
        json_begin_object(w);
        json_key(w, "role");
        json_put_str(w, m->role);
        json_key(w, "content");
        json_put_str(w, m->content);
        json_end_object(w);
    }
    json_end_array(w);
    return 0;
}

int build_prompt(const struct wire_ask *ask, struct json_writer *w, struct error *err)
{
    json_key(w, "prompt");
    if (!ask->prompt_ids) {
        if (check_text(ask->prompt, "the prompt", err) < 0)
            return -1;
        json_put_str(w, ask->prompt);
        return 0;
    }
    json_begin_array(w);
    for (size_t i = 0; i < ask->prompt_ids_n; i++)
        json_put_i64(w, ask->prompt_ids[i]);
    json_end_array(w);
    return 0;
}

void build_sampling(const struct wire_ask *ask, const char *max_name, struct json_writer *w)
{
    if (ask->max_tokens != COUNT_NONE) {
        json_key(w, max_name);
        json_put_i64(w, ask->max_tokens);
    }
    if (ask->has_temperature) {
        json_key(w, "temperature");
        json_put_real9(w, ask->temperature);
    }
    if (ask->seed != COUNT_NONE) {
        json_key(w, "seed");
        json_put_i64(w, ask->seed);
    }
    if (ask->ignore_eos) {
        json_key(w, "ignore_eos");
        json_put_bool(w, true);
    }
}

void build_no_cache(const struct wire_ask *ask, struct json_writer *w)
{
    if (!ask->no_cache)
        return;
    json_key(w, "cache_prompt");
    json_put_bool(w, false);
    if (ask->cache_salt.n > 0) {
        json_key(w, "cache_salt");
        json_put_str(w, ask->cache_salt);
    }
}

/* What has been written of the body so far, as a document: what it holds must not be said twice. */
static int written(const struct json **doc, const struct json_writer *w, struct arena *arena,
                   struct error *err)
{
    struct buf whole = BUF_INIT(BUF_ANY);
    int status;
    buf_addstr(&whole, buf_str(w->out));
    buf_addc(&whole, '}');
    status = buf_check(&whole, "a request body", err);
    if (status == 0)
        status = json_parse(doc, buf_str(&whole), &JSON_LIMITS_DEFAULT, arena, err);
    buf_release(&whole);
    return status;
}

static int add_extra(const struct wire_ask *ask, struct json_writer *w, struct arena *arena,
                     struct error *err)
{
    const struct json *extra, *body;
    if (json_parse(&extra, ask->extra_json, &BODY_VALUES, arena, err) < 0)
        return error_wrap(err, "extra body fields");
    if (!json_is(extra, JSON_OBJECT)) {
        error_set(err, ERROR_USAGE, "extra body fields are %s, not an object",
                  json_type_name(extra->type));
        return error_remedy(err, "give them as {\"name\": value, ...}");
    }
    if (written(&body, w, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < extra->n; i++) {
        const struct json_member *m = &extra->members[i];
        /* NOLINTNEXTLINE(clang-analyzer-*): json_parse sets it on success */
        if (json_get_str(body, m->name)) {
            error_set(err, ERROR_USAGE, "the extra body field '%.*s' is set already",
                      STR_ARG(m->name));
            return error_remedy(err, "use the option that sets it");
        }
        json_key_str(w, m->name);
        json_put_value(w, &m->value);
    }
    return 0;
}

int build_end(const struct wire_ask *ask, struct json_writer *w, struct error *err)
{
    int status = 0;
    if (ask->extra_json.n > 0) {
        struct arena arena;
        arena_init(&arena, (size_t)256 << 20);
        status = add_extra(ask, w, &arena, err);
        arena_release(&arena);
    }
    if (status < 0)
        return -1;
    json_end_object(w);
    return json_writer_check(w, "a request body", err);
}
