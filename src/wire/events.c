#include "wire/events.h"

#include <stdlib.h>

const struct sample_usage usage_none = {COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE};

struct sample_event *events_add(struct wire_events *out, enum sample_event_kind kind)
{
    struct sample_event *e;
    if (out->n == out->cap) {
        size_t cap = out->cap ? out->cap * 2 : 64;
        struct sample_event *list =
            out->cap < WIRE_EVENTS_MAX ? realloc(out->list, cap * sizeof *list) : NULL;
        if (!list) {
            out->failed = true;
            return NULL;
        }
        out->list = list;
        out->cap = cap;
    }
    e = &out->list[out->n++];
    sample_event_init(e);
    e->read = out->read;
    e->kind = kind;
    return e;
}

struct str events_keep(struct wire_events *out, struct str s)
{
    struct str kept = {0};
    if (s.n == 0)
        return kept;
    out->text += s.n;
    kept = arena_str(out->arena, s);
    if (!kept.p)
        out->failed = true;
    return kept.p ? kept : (struct str){0};
}

struct str events_text(const struct json *object, const char *name)
{
    struct str s = {0};
    if (json_str(&s, json_get(object, name)) < 0)
        return (struct str){0};
    return s;
}

int64_t events_count(const struct json *object, const char *name)
{
    int64_t n;
    if (json_i64(&n, json_get(object, name)) < 0 || n < 0 || n > SAMPLE_COUNT_MAX)
        return COUNT_NONE;
    return n;
}

size_t events_ids(struct wire_events *out, const struct json *array, const uint32_t **ids)
{
    uint32_t *list;
    if (!json_is(array, JSON_ARRAY) || array->n == 0)
        return 0;
    list = arena_array(out->arena, array->n, sizeof *list);
    if (!list) {
        out->failed = true;
        return 0;
    }
    for (size_t i = 0; i < array->n; i++) {
        int64_t id;
        if (json_i64(&id, &array->items[i]) < 0 || id < 0 || id > UINT32_MAX)
            return 0;
        list[i] = (uint32_t)id;
    }
    *ids = list;
    out->ids += array->n;
    return array->n;
}

bool usage_is_none(const struct sample_usage *u)
{
    return u->prompt == COUNT_NONE && u->completion == COUNT_NONE && u->cached == COUNT_NONE &&
           u->reasoning == COUNT_NONE;
}

/* prompt_n counts the tokens that were evaluated; with those of the cache they are the prompt. */
void usage_from_timings(struct sample_usage *u, const struct json *timings)
{
    int64_t cached = events_count(timings, "cache_n"),
            evaluated = events_count(timings, "prompt_n");
    if (u->cached == COUNT_NONE)
        u->cached = cached;
    if (u->prompt == COUNT_NONE && cached != COUNT_NONE && evaluated != COUNT_NONE)
        u->prompt = cached + evaluated;
    if (u->completion == COUNT_NONE)
        u->completion = events_count(timings, "predicted_n");
}

void events_prefill(struct wire_events *out, int64_t tokens, double ns)
{
    if (tokens == COUNT_NONE || !(ns >= 0) || ns > (double)SAMPLE_COUNT_MAX)
        return;
    out->prefill_tokens = tokens;
    out->prefill_ns = (int64_t)(ns + 0.5);
}

void events_prefill_timings(struct wire_events *out, const struct json *timings)
{
    double ms;
    if (json_double(&ms, json_get(timings, "prompt_ms")) == 0)
        events_prefill(out, events_count(timings, "prompt_n"), ms * 1e6);
}

void events_usage(struct wire_events *out, size_t first, const struct sample_usage *u)
{
    struct sample_event *e;
    if (usage_is_none(u))
        return;
    if (out->n > first && out->list[out->n - 1].kind != EVENT_EMPTY)
        e = &out->list[out->n - 1];
    else
        e = events_add(out, EVENT_USAGE);
    if (e)
        e->usage = *u;
}

bool events_error(const struct json *doc, struct str *message)
{
    const struct json *error = json_get(doc, "error");
    if (json_is(error, JSON_STRING)) {
        *message = error->text;
        return true;
    }
    if (json_is(error, JSON_OBJECT)) {
        *message = events_text(error, "message");
        if (message->n == 0)
            *message = STR("an error object without a message");
        return true;
    }
    if (str_eq(events_text(doc, "object"), STR("error"))) {
        *message = events_text(doc, "message");
        return true;
    }
    return false;
}
