#include "codec/json_plain.h"

#include <string.h>

#include "base/utf8.h"

struct plain {
    const struct json_events *on;
    void *ctx;
    const char *p, *end;
    uint64_t objects; /* the containers that are open, the innermost lowest: 1 is an object */
    unsigned depth, depth_max;
    struct error err; /* nobody sees it: the long way says it again */
};

/* The text between quotes, of which the first is behind us. */
static bool take_text(struct plain *s, struct str *out)
{
    const char *begin = s->p;
    unsigned char all = 0;
    for (;; s->p++) {
        if (s->p == s->end)
            return false;
        unsigned char c = (unsigned char)*s->p;
        if (c == '"')
            break;
        if (c == '\\' || c < 0x20)
            return false;
        all |= c;
    }
    *out = str_make(begin, (size_t)(s->p - begin));
    s->p++;
    return all < 0x80 || utf8_valid(*out);
}

/* An integer as RFC 8259 spells it; what follows it is looked at by the caller. */
static bool take_number(struct plain *s)
{
    const char *begin = s->p;
    if (*s->p == '-')
        s->p++;
    const char *digits = s->p;
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
        s->p++;
    if (s->p == digits || (*digits == '0' && s->p - digits > 1))
        return false;
    return s->on->number(s->ctx, str_make(begin, (size_t)(s->p - begin)), &s->err) == 0;
}

static bool take_word(struct plain *s, const char *word, size_t n)
{
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool open_container(struct plain *s, bool object)
{
    s->p++;
    if (++s->depth > s->depth_max)
        return false;
    s->objects = s->objects << 1 | object;
    return (object ? s->on->start_object : s->on->start_array)(s->ctx, &s->err) == 0;
}

static bool close_container(struct plain *s)
{
    bool object = s->objects & 1;
    if (*s->p++ != (object ? '}' : ']'))
        return false;
    s->objects >>= 1;
    s->depth--;
    return (object ? s->on->end_object : s->on->end_array)(s->ctx, &s->err) == 0;
}

static bool take_key(struct plain *s)
{
    struct str name;
    if (s->p == s->end || *s->p++ != '"' || !take_text(s, &name) || s->p == s->end ||
        *s->p++ != ':')
        return false;
    return s->on->key(s->ctx, name, &s->err) == 0;
}

/* One value that holds no others. */
static bool take_leaf(struct plain *s)
{
    struct str text;
    switch (*s->p) {
    case '"':
        s->p++;
        return take_text(s, &text) && s->on->string(s->ctx, text, &s->err) == 0;
    case 'n':
        return take_word(s, "null", 4) && s->on->null(s->ctx, &s->err) == 0;
    case 't':
        return take_word(s, "true", 4) && s->on->boolean(s->ctx, true, &s->err) == 0;
    case 'f':
        return take_word(s, "false", 5) && s->on->boolean(s->ctx, false, &s->err) == 0;
    default:
        return take_number(s);
    }
}

/* Behind a value: closes what ends here and goes to the next value; *over when none is left. */
static bool go_on(struct plain *s, bool *over)
{
    for (;;) {
        *over = s->depth == 0;
        if (*over)
            return s->p == s->end;
        if (s->p == s->end)
            return false;
        if (*s->p == ',') {
            s->p++;
            return s->objects & 1 ? take_key(s) : true;
        }
        if (!close_container(s))
            return false;
    }
}

bool json_plain(const struct json_events *on, void *ctx, struct str text, unsigned depth_max)
{
    struct plain s = {.on = on,
                      .ctx = ctx,
                      .p = text.p,
                      .end = text.p + text.n,
                      .depth_max = depth_max < JSON_PLAIN_DEPTH ? depth_max : JSON_PLAIN_DEPTH};
    for (bool over = false; !over;) {
        if (s.p == s.end)
            return false;
        bool object = *s.p == '{';
        if (object || *s.p == '[') {
            if (!open_container(&s, object) || s.p == s.end)
                return false;
            bool empty = *s.p == (object ? '}' : ']');
            if (!empty) {
                if (object && !take_key(&s))
                    return false;
                continue;
            }
            if (!close_container(&s))
                return false;
        } else if (!take_leaf(&s)) {
            return false;
        }
        if (!go_on(&s, &over))
            return false;
    }
    return true;
}
