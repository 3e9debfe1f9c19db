#include "codec/json_stream.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

struct json_stream {
    yajl_handle yajl;
    const struct json_events *on;
    void *ctx;
    struct error *err; /* where callbacks of the present call report */
    bool callback_failed;
    unsigned depth, depth_max;
    size_t before; /* bytes of earlier feeds */
};

static int done(struct json_stream *s, int status)
{
    if (status < 0)
        s->callback_failed = true;
    return status == 0;
}

static int deeper(struct json_stream *s)
{
    if (++s->depth > s->depth_max) {
        error_set(s->err, ERROR_LIMIT, "JSON nested deeper than %u levels", s->depth_max);
        return -1;
    }
    return 0;
}

static int on_null(void *p)
{
    struct json_stream *s = p;
    return s->on->null ? done(s, s->on->null(s->ctx, s->err)) : 1;
}

static int on_boolean(void *p, int value)
{
    struct json_stream *s = p;
    return s->on->boolean ? done(s, s->on->boolean(s->ctx, value != 0, s->err)) : 1;
}

static int on_number(void *p, const char *text, size_t n)
{
    struct json_stream *s = p;
    return s->on->number ? done(s, s->on->number(s->ctx, str_make(text, n), s->err)) : 1;
}

static int on_string(void *p, const unsigned char *text, size_t n)
{
    struct json_stream *s = p;
    return s->on->string ? done(s, s->on->string(s->ctx, str_make(text, n), s->err)) : 1;
}

static int on_key(void *p, const unsigned char *text, size_t n)
{
    struct json_stream *s = p;
    return s->on->key ? done(s, s->on->key(s->ctx, str_make(text, n), s->err)) : 1;
}

static int on_start_object(void *p)
{
    struct json_stream *s = p;
    if (deeper(s) < 0)
        return done(s, -1);
    return s->on->start_object ? done(s, s->on->start_object(s->ctx, s->err)) : 1;
}

static int on_end_object(void *p)
{
    struct json_stream *s = p;
    s->depth--;
    return s->on->end_object ? done(s, s->on->end_object(s->ctx, s->err)) : 1;
}

static int on_start_array(void *p)
{
    struct json_stream *s = p;
    if (deeper(s) < 0)
        return done(s, -1);
    return s->on->start_array ? done(s, s->on->start_array(s->ctx, s->err)) : 1;
}

static int on_end_array(void *p)
{
    struct json_stream *s = p;
    s->depth--;
    return s->on->end_array ? done(s, s->on->end_array(s->ctx, s->err)) : 1;
}

struct json_stream *json_stream_new(const struct json_events *on, void *ctx, unsigned depth_max)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_map_key = on_key,
        .yajl_start_map = on_start_object,
        .yajl_end_map = on_end_object,
        .yajl_start_array = on_start_array,
        .yajl_end_array = on_end_array,
    };
    struct json_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct json_stream){.on = on, .ctx = ctx, .depth_max = depth_max};
    s->yajl = yajl_alloc(&callbacks, NULL, s);
    if (!s->yajl) {
        free(s);
        return NULL;
    }
    return s;
}

void json_stream_free(struct json_stream *s)
{
    if (!s)
        return;
    yajl_free(s->yajl);
    free(s);
}

size_t json_stream_offset(const struct json_stream *s)
{
    return s->before + yajl_get_bytes_consumed(s->yajl);
}

static int fail(struct json_stream *s, struct str bytes, struct error *err)
{
    size_t at = json_stream_offset(s);
    if (s->callback_failed) {
        if (err->offset == 0)
            error_at_offset(err, (int64_t)at);
        return -1;
    }
    unsigned char *text = yajl_get_error(s->yajl, 0, (const unsigned char *)bytes.p, bytes.n);
    struct str said = str_trim(str_of((const char *)text));
    struct str why, rest;
    /* yajl says "parse error: what"; the first part adds nothing. */
    if (str_cut(said, ':', &why, &rest))
        said = str_trim(rest);
    error_set(err, ERROR_INPUT, "not JSON: %.*s", STR_ARG(said));
    if (text)
        yajl_free_error(s->yajl, text);
    return error_at_offset(err, (int64_t)at);
}

int json_stream_feed(struct json_stream *s, struct str bytes, struct error *err)
{
    s->err = err;
    yajl_status status = yajl_parse(s->yajl, (const unsigned char *)bytes.p, bytes.n);
    s->err = NULL;
    if (status != yajl_status_ok)
        return fail(s, bytes, err);
    s->before += bytes.n;
    return 0;
}

int json_stream_finish(struct json_stream *s, struct error *err)
{
    s->err = err;
    yajl_status status = yajl_complete_parse(s->yajl);
    s->err = NULL;
    if (status == yajl_status_ok)
        return 0;
    if (s->callback_failed)
        return -1;
    error_set(err, ERROR_INPUT, "not JSON: the text ends too early");
    return error_at_offset(err, (int64_t)s->before);
}
