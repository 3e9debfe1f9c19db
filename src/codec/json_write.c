#include "codec/json_write.h"

#include <assert.h>
#include <math.h>

#include "base/num.h"
#include "base/utf8.h"

void json_writer_init(struct json_writer *w, struct buf *out, unsigned indent)
{
    /* Not the whole: what the two arrays hold past `depth` is never read. */
    w->out = out;
    w->indent = indent;
    w->depth = 0;
    w->has_items[0] = w->is_object[0] = w->after_key = false;
}

int json_writer_check(const struct json_writer *w, const char *what, struct error *err)
{
    assert(w->depth == 0 && !w->after_key);
    return buf_check(w->out, what, err);
}

static void new_line(struct json_writer *w)
{
    if (w->indent == 0)
        return;
    buf_addc(w->out, '\n');
    buf_pad(w->out, ' ', (size_t)w->indent * w->depth);
}

static void before_item(struct json_writer *w)
{
    if (w->has_items[w->depth])
        buf_addc(w->out, ',');
    w->has_items[w->depth] = true;
    if (w->depth)
        new_line(w);
}

static void before_value(struct json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    assert(!w->is_object[w->depth]);
    before_item(w);
}

static void begin(struct json_writer *w, bool object)
{
    before_value(w);
    assert(w->depth < JSON_WRITE_DEPTH);
    buf_addc(w->out, object ? '{' : '[');
    w->depth++;
    w->has_items[w->depth] = false;
    w->is_object[w->depth] = object;
}

static void end(struct json_writer *w, bool object)
{
    assert(w->depth > 0 && w->is_object[w->depth] == object && !w->after_key);
    bool any = w->has_items[w->depth];
    w->depth--;
    if (any)
        new_line(w);
    buf_addc(w->out, object ? '}' : ']');
}

void json_begin_object(struct json_writer *w)
{
    begin(w, true);
}

void json_end_object(struct json_writer *w)
{
    end(w, true);
}

void json_begin_array(struct json_writer *w)
{
    begin(w, false);
}

void json_end_array(struct json_writer *w)
{
    end(w, false);
}

void json_key_str(struct json_writer *w, struct str name)
{
    assert(w->is_object[w->depth] && !w->after_key);
    before_item(w);
    json_add_quoted(w->out, name);
    buf_adds(w->out, w->indent ? ": " : ":");
    w->after_key = true;
}

void json_key(struct json_writer *w, const char *name)
{
    json_key_str(w, str_of(name));
}

void json_put_raw(struct json_writer *w, struct str json)
{
    before_value(w);
    buf_addstr(w->out, json);
}

void json_put_null(struct json_writer *w)
{
    json_put_raw(w, STR("null"));
}

void json_put_bool(struct json_writer *w, bool v)
{
    json_put_raw(w, v ? STR("true") : STR("false"));
}

void json_put_i64(struct json_writer *w, int64_t v)
{
    before_value(w);
    buf_addf(w->out, "%lld", (long long)v);
}

void json_put_ms(struct json_writer *w, int64_t ns)
{
    before_value(w);
    num_add_ms(w->out, ns);
}

void json_put_real9(struct json_writer *w, double v)
{
    assert(isfinite(v));
    before_value(w);
    num_add_real9(w->out, v);
}

void json_put_str(struct json_writer *w, struct str s)
{
    before_value(w);
    json_add_quoted(w->out, s);
}

void json_put_cstr(struct json_writer *w, const char *s)
{
    if (s)
        json_put_str(w, str_of(s));
    else
        json_put_null(w);
}

void json_put_value(struct json_writer *w, const struct json *v)
{
    switch (v ? v->type : JSON_NULL) {
    case JSON_NULL:
        json_put_null(w);
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        json_put_bool(w, v->type == JSON_TRUE);
        break;
    case JSON_NUMBER:
        json_put_raw(w, v->text);
        break;
    case JSON_STRING:
        json_put_str(w, v->text);
        break;
    case JSON_ARRAY:
        json_begin_array(w);
        for (size_t i = 0; i < v->n; i++)
            json_put_value(w, &v->items[i]);
        json_end_array(w);
        break;
    case JSON_OBJECT:
        json_begin_object(w);
        for (size_t i = 0; i < v->n; i++) {
            json_key_str(w, v->members[i].name);
            json_put_value(w, &v->members[i].value);
        }
        json_end_object(w);
        break;
    }
}

static void add_escaped(struct buf *b, unsigned char c)
{
    static const char shortcuts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof shortcuts; i += 2)
        if ((unsigned char)shortcuts[i] == c) {
            buf_addc(b, '\\');
            buf_addc(b, shortcuts[i + 1]);
            return;
        }
    buf_addf(b, "\\u%04x", c);
}

/* s is well-formed UTF-8. */
static void add_plain(struct buf *b, struct str s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(b, s.p + from, i - from);
        add_escaped(b, c);
        from = i + 1;
    }
    buf_add(b, s.p + from, s.n - from);
}

void json_add_quoted(struct buf *b, struct str s)
{
    buf_addc(b, '"');
    if (utf8_valid(s)) {
        add_plain(b, s);
    } else {
        struct buf fixed = BUF_INIT(BUF_ANY);
        utf8_add_lossy(&fixed, s);
        if (fixed.failed)
            b->failed = fixed.failed;
        add_plain(b, buf_str(&fixed));
        buf_release(&fixed);
    }
    buf_addc(b, '"');
}
