#include "token/normalize.h"

#include <string.h>

#include "base/utf8.h"

void norm_text_init(struct norm_text *t)
{
    *t = (struct norm_text){0};
    buf_init(&t->bytes, SIZE_MAX / 2);
    buf_init(&t->origins, SIZE_MAX / 2);
    buf_init(&t->scratch, SIZE_MAX / 2);
}

void norm_text_reset(struct norm_text *t)
{
    buf_reset(&t->bytes);
    buf_reset(&t->origins);
    buf_reset(&t->scratch);
    t->dropped = 0;
}

void norm_text_release(struct norm_text *t)
{
    buf_release(&t->bytes);
    buf_release(&t->origins);
    buf_release(&t->scratch);
}

struct norm_view norm_text_view(const struct norm_text *t)
{
    return (struct norm_view){
        .text = buf_str(&t->bytes),
        .origin = t->want_origin ? (const struct origin *)(const void *)t->origins.p : NULL,
    };
}

int norm_check(const struct norm_text *t, struct error *err)
{
    if (buf_check(&t->bytes, "normalized text", err) < 0)
        return -1;
    return buf_check(&t->origins, "origins of the normalized text", err);
}

void norm_keep(struct norm_text *out, const struct norm_view *in, size_t from, size_t to)
{
    if (out->bytes.n == 0 && from < to)
        out->dropped = from;
    buf_add(&out->bytes, in->text.p + from, to - from);
    if (!out->want_origin)
        return;
    for (size_t i = from; i < to; i++) {
        struct origin o = norm_origin(in, i);
        buf_add(&out->origins, &o, sizeof o);
    }
}

void norm_put(struct norm_text *out, const struct norm_view *in, size_t from, size_t to,
              struct str bytes)
{
    if (out->bytes.n == 0 && bytes.n)
        out->dropped = from;
    buf_addstr(&out->bytes, bytes);
    if (!out->want_origin)
        return;
    struct origin o;
    if (from < to) {
        o = (struct origin){norm_origin(in, from).from, norm_origin(in, to - 1).to};
    } else {
        uint32_t at = from < in->text.n ? norm_origin(in, from).from
                      : from > 0        ? norm_origin(in, from - 1).to
                                        : (uint32_t)in->base;
        o = (struct origin){at, at};
    }
    for (size_t i = 0; i < bytes.n; i++)
        buf_add(&out->origins, &o, sizeof o);
}

#define REPLACE_STEP 4096u /* bytes of text for which room is made at once */

/* One byte by up to eight, where no origins are kept: without a branch that text decides. */
static void replace_byte(struct buf *out, struct str text, char what, struct str with)
{
    uint64_t instead = 0;
    memcpy(&instead, with.p, with.n);
    while (text.n) {
        struct str step = str_first(text, REPLACE_STEP);
        char *to = buf_reserve(out, step.n * 8 + 8), *p = to;
        if (!to)
            return;
        for (size_t i = 0; i < step.n; i++) {
            bool hit = step.p[i] == what;
            memcpy(p, &instead, 8);
            p[0] = hit ? p[0] : step.p[i];
            p += hit ? with.n : 1;
        }
        *p = '\0';
        out->n += (size_t)(p - to);
        text = str_skip(text, step.n);
    }
}

void norm_replace(struct norm_text *out, const struct norm_view *in, struct str what,
                  struct str with)
{
    size_t at = 0, found;
    if (what.n == 1 && with.n > 0 && with.n <= 8 && !out->want_origin) {
        replace_byte(&out->bytes, in->text, what.p[0], with);
        return;
    }
    while ((found = str_find(str_skip(in->text, at), what)) != STR_NONE) {
        norm_keep(out, in, at, at + found);
        norm_put(out, in, at + found, at + found + what.n, with);
        at += found + what.n;
    }
    norm_keep(out, in, at, in->text.n);
}
