#include "codec/json_stream.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/utf8.h"

/* Follows the escapes of the text, which yajl decodes without looking at how surrogates pair up. A
 * backslash stands only in strings, so that nothing else need be followed. */
struct escapes {
    enum { PLAIN, BACKSLASH, HEX } state;
    unsigned digits;
    uint32_t unit;
    bool high;    /* the first half of a pair has been seen, and the second must follow */
    size_t first; /* offset of the backslash of this escape or of that first half */
};

struct json_stream {
    struct escapes escapes;
    yajl_handle yajl;
    const struct json_events *on;
    void *ctx;
    struct error *err; /* where callbacks of the present call report */
    bool callback_failed;
    unsigned depth, depth_max;
    size_t before; /* bytes of earlier feeds */
    bool feeding;  /* within a feed, of which yajl counts the bytes */
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

static int check_text(struct json_stream *s, struct str text)
{
    if (utf8_valid(text))
        return 0;
    error_set(s->err, ERROR_INPUT, "not JSON: a string that is not UTF-8");
    error_remedy(s->err, "store the text as UTF-8");
    return -1;
}

static int on_string(void *p, const unsigned char *text, size_t n)
{
    struct json_stream *s = p;
    if (check_text(s, str_make(text, n)) < 0)
        return done(s, -1);
    return s->on->string ? done(s, s->on->string(s->ctx, str_make(text, n), s->err)) : 1;
}

static int on_key(void *p, const unsigned char *text, size_t n)
{
    struct json_stream *s = p;
    if (check_text(s, str_make(text, n)) < 0)
        return done(s, -1);
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
    /* Its own check lets overlong forms and surrogates pass; check_text does not. */
    yajl_config(s->yajl, yajl_dont_validate_strings, 1);
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
    return s->before + (s->feeding ? yajl_get_bytes_consumed(s->yajl) : 0);
}

/* Where the token that ends at `end` begins; the front of the piece when it began before that. */
static size_t token_start(struct str piece, size_t end)
{
    static const char punctuation[] = "{}[],:";
    size_t at = end;
    if (at == 0 || at > piece.n)
        return at;
    char last = piece.p[--at];
    if (last == '"') {
        /* Back to a quote that no backslash escapes: an odd run of them before it would. */
        while (at > 0) {
            size_t slashes = 0;
            if (piece.p[--at] != '"')
                continue;
            while (slashes < at && piece.p[at - 1 - slashes] == '\\')
                slashes++;
            if (slashes % 2 == 0)
                break;
        }
    } else if (!memchr(punctuation, last, sizeof punctuation)) {
        while (at > 0 && !memchr("{}[],: \t\r\n\"", piece.p[at - 1], 11))
            at--;
    }
    return at;
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
    struct str kind, rest;
    /* yajl says "parse error: what": of a token, behind which it stands; or "lexical error: what",
     * at the byte, or behind one that begins no token. */
    if (str_cut(said, ':', &kind, &rest)) {
        said = str_trim(rest);
        if (str_eq(kind, STR("parse error")))
            at = s->before + token_start(bytes, at - s->before);
        else if (str_starts(said, STR("invalid char in json text")) && at > s->before)
            at--;
    }
    if (str_ends(said, STR(".")))
        said.n--;
    error_set(err, ERROR_INPUT, "not JSON: %.*s", STR_ARG(said));
    if (text)
        yajl_free_error(s->yajl, text);
    return error_at_offset(err, (int64_t)at);
}

/* The escape whose four digits are e->unit is whole: false when it is half a pair alone. */
static bool unit_ends(struct escapes *e)
{
    bool high = e->unit >= 0xD800 && e->unit <= 0xDBFF;
    bool low = e->unit >= 0xDC00 && e->unit <= 0xDFFF;
    bool good = e->high == low;
    e->state = PLAIN;
    e->high = high;
    return good;
}

static bool add_digit(struct escapes *e, char c)
{
    char lower = (char)(c | 0x20);
    if (c >= '0' && c <= '9')
        e->unit = e->unit << 4 | (uint32_t)(c - '0');
    else if (lower >= 'a' && lower <= 'f')
        e->unit = e->unit << 4 | (uint32_t)(lower - 'a' + 10);
    else
        return false;
    return true;
}

/* False, and e->first the place, when a surrogate in `bytes` stands alone. */
static bool check_escapes(struct escapes *e, struct str bytes, size_t before)
{
    for (size_t i = 0; i < bytes.n; i++) {
        char c = bytes.p[i];
        if (e->state == PLAIN) {
            if (e->high && c != '\\')
                return false;
            const char *next = memchr(bytes.p + i, '\\', bytes.n - i);
            if (!next)
                return true;
            i = (size_t)(next - bytes.p);
            e->state = BACKSLASH;
            if (!e->high)
                e->first = before + i;
        } else if (e->state == BACKSLASH) {
            e->state = c == 'u' ? HEX : PLAIN;
            e->digits = 0;
            e->unit = 0;
            if (e->high && c != 'u')
                return false;
        } else if (!add_digit(e, c)) {
            e->state = PLAIN; /* no escape at all: yajl says so */
            e->high = false;
        } else if (++e->digits == 4 && !unit_ends(e)) {
            return false;
        }
    }
    return true;
}

int json_stream_feed(struct json_stream *s, struct str bytes, struct error *err)
{
    struct str good = bytes;
    bool paired = check_escapes(&s->escapes, bytes, s->before);
    /* What is wrong before that place is reported first. */
    if (!paired)
        good.n = s->escapes.first > s->before ? s->escapes.first - s->before : 0;
    s->err = err;
    s->feeding = true;
    yajl_status status = yajl_parse(s->yajl, (const unsigned char *)good.p, good.n);
    if (status != yajl_status_ok)
        return fail(s, good, err);
    s->feeding = false;
    s->before += good.n;
    if (paired)
        return 0;
    error_set(err, ERROR_INPUT, "not JSON: half of a surrogate pair stands alone");
    error_remedy(err, "write the character itself, or both halves (\"\\ud83d\\ude00\")");
    return error_at_offset(err, (int64_t)s->escapes.first);
}

int json_stream_finish(struct json_stream *s, struct error *err)
{
    s->err = err;
    yajl_status status = yajl_complete_parse(s->yajl);
    if (status == yajl_status_ok)
        return 0;
    if (s->callback_failed)
        return fail(s, STR(""), err);
    fail(s, STR(""), err);
    if (strstr(err->message, "premature EOF"))
        error_set(err, ERROR_INPUT, "not JSON: the text ends too early");
    return error_at_offset(err, (int64_t)s->before);
}
