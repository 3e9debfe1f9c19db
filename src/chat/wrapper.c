#include "chat/wrapper.h"

#include <string.h>

#include "chat/when.h"
#include "record/sample.h"

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    json_put_cstr(w, text);
}

static void put_count(struct json_writer *w, const char *key, int64_t n)
{
    json_key(w, key);
    n == COUNT_NONE ? json_put_null(w) : json_put_i64(w, n);
}

static void put_bool(struct json_writer *w, const char *key, bool known, bool value)
{
    json_key(w, key);
    known ? json_put_bool(w, value) : json_put_null(w);
}

void chat_wrapper_put(struct json_writer *w, const struct chat_wrapper *x)
{
    const struct chat_hypothesis *h = x->hypothesis;
    char now[CHAT_TIME_TEXT];

    if (x->now)
        chat_time_format(now, x->now);
    json_begin_object(w);
    put_text(w, "source", x->source);
    put_text(w, "status", x->status);
    put_text(w, "name", h ? h->name : NULL);
    put_text(w, "profile", h ? h->profile.name : NULL);
    put_text(w, "template_sha256", h && h->template ? h->template->sha256 : NULL);
    put_text(w, "system", h ? h->system : NULL);
    put_text(w, "special_text", !h ? NULL : h->profile.plain_content ? "plain" : "parsed");
    put_bool(w, "bos_added", h != NULL, h && h->profile.adds_special);
    put_count(w, "residue", h ? x->residue : COUNT_NONE);
    put_text(w, "now", x->now ? now : NULL);
    put_count(w, "server_front", x->raw ? x->server_front : COUNT_NONE);
    put_bool(w, "front_left_out", x->raw, x->front_left_out);
    json_end_object(w);
}

static int refuse(struct error *err, const char *what)
{
    return error_set(err, ERROR_REFUSED, "a lane's wrapper %s", what);
}

static int read_template(struct chat_wrapper_read *out, const struct json *doc, struct error *err)
{
    uint8_t raw[SHA256_BYTES];
    struct str hex;

    if (json_str(&hex, json_get(doc, "template_sha256")) < 0)
        return 0;
    if (hex_decode(raw, sizeof raw, hex) < 0)
        return refuse(err, "names no digest of a template");
    memcpy(out->template_sha256, hex.p, hex.n);
    return 0;
}

static int read_front(struct chat_wrapper_read *out, const struct json *doc, struct error *err)
{
    const struct json *front = json_get(doc, "server_front");
    bool left_out = false;

    if (json_is(front, JSON_NUMBER) && json_i64(&out->added, front) < 0)
        return refuse(err, "has no count of tokens in front");
    (void)json_bool(&left_out, json_get(doc, "front_left_out"));
    out->added -= left_out;
    return 0;
}

int chat_wrapper_read(struct chat_wrapper_read *out, const struct json *doc, struct arena *arena,
                      struct error *err)
{
    struct chat_hypothesis *h = &out->hypothesis;
    const struct chat_profile *p;
    struct str text;

    *out = (struct chat_wrapper_read){0};
    if (json_str(&text, json_get(doc, "status")) < 0 || !str_eq(text, STR("named")))
        return 0;
    p = json_str(&text, json_get(doc, "profile")) < 0 ? NULL
                                                      : chat_profile_find(arena_cstr(arena, text));
    if (!p)
        return refuse(err, "follows no server that is known");
    h->profile = *p;
    h->profile.plain_content =
        json_str(&text, json_get(doc, "special_text")) == 0 && str_eq(text, STR("plain"));
    if (json_bool(&h->profile.adds_special, json_get(doc, "bos_added")) < 0)
        return refuse(err, "does not say whether a BOS is added");
    if (json_str(&text, json_get(doc, "system")) == 0)
        h->system = arena_cstr(arena, text);
    if (json_str(&text, json_get(doc, "now")) == 0) {
        if (chat_time_parse(&out->now, text) < 0)
            return refuse(err, "has a time that is none");
        out->has_now = true;
    }
    if (read_template(out, doc, err) < 0 || read_front(out, doc, err) < 0)
        return -1;
    out->predicts = true;
    return arena_check(arena, "a lane's wrapper", err);
}
