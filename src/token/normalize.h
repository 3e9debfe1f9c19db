/*
 * Normalizers: text -> the text the model is trained on, with the origin of every byte on demand.
 *
 *     struct norm_text out = {.want_origin = true};
 *     if (norm_nfc(&out, in, err) < 0) ...
 *     norm_text_release(&out);
 *
 * Input is well-formed UTF-8, so is output. Origins are pairs of offsets [from, to) into the text
 * at the start of the chain; a byte of a run that was recomposed has the whole run as its origin.
 * Ownership: struct norm_text owns its buffers and can be used again after norm_text_reset.
 */
#ifndef TALLY_TOKEN_NORMALIZE_H
#define TALLY_TOKEN_NORMALIZE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct origin {
    uint32_t from, to;
};

/* A text under way: bytes, and origins when it has been changed (NULL: byte i is base + i). */
struct norm_view {
    struct str text;
    const struct origin *origin;
    size_t base;
};

struct norm_text {
    bool want_origin;
    struct buf bytes, origins, scratch;
};

void norm_text_init(struct norm_text *t);
void norm_text_reset(struct norm_text *t);
void norm_text_release(struct norm_text *t);
struct norm_view norm_text_view(const struct norm_text *t);

static inline struct origin norm_origin(const struct norm_view *v, size_t i)
{
    if (v->origin)
        return v->origin[i];
    return (struct origin){(uint32_t)(v->base + i), (uint32_t)(v->base + i + 1)};
}

/* The part [from, to) of a view. */
static inline struct norm_view norm_part(const struct norm_view *v, size_t from, size_t to)
{
    return (struct norm_view){
        str_make(v->text.p + from, to - from),
        v->origin ? v->origin + from : NULL,
        v->base + from,
    };
}

/* Appends bytes [from, to) of in, as they are, with their origins. */
void norm_keep(struct norm_text *out, const struct norm_view *in, size_t from, size_t to);
/* Appends new bytes that stand for bytes [from, to) of in. */
void norm_put(struct norm_text *out, const struct norm_view *in, size_t from, size_t to,
              struct str bytes);

/* True when NFC leaves the text as it is. */
bool norm_is_nfc(struct str text);
int norm_nfc(struct norm_text *out, const struct norm_view *in, struct error *err) TALLY_MUST_CHECK;

#endif
