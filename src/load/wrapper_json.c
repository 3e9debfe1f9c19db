#include "load/wrapper_json.h"

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

void wrapper_put_json(struct json_writer *w, const struct wrapper_facts *f)
{
    const struct chat_hypothesis *h = f->hypothesis;
    char now[CHAT_TIME_TEXT];

    if (f->now)
        chat_time_format(now, f->now);
    json_begin_object(w);
    put_text(w, "source", f->source);
    put_text(w, "status", f->status);
    put_text(w, "name", h ? h->name : NULL);
    put_text(w, "profile", h ? h->profile.name : NULL);
    put_text(w, "template_sha256", h && h->template ? h->template->sha256 : NULL);
    put_text(w, "system", h ? h->system : NULL);
    put_text(w, "special_text", !h ? NULL : h->profile.plain_content ? "plain" : "parsed");
    put_bool(w, "bos_added", h != NULL, h && h->profile.adds_special);
    put_count(w, "residue", h ? f->residue : COUNT_NONE);
    put_text(w, "now", f->now ? now : NULL);
    put_count(w, "server_front", f->raw ? f->server_front : COUNT_NONE);
    put_bool(w, "front_left_out", f->raw, f->front_left_out);
    json_end_object(w);
}
