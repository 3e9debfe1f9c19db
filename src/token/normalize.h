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

#include <stdbool.h>
#include <stdint.h>

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
    bool first;     /* begins where the whole text begins */
    bool continues; /* begins in the midst of a text (token/cut.h): nothing goes in front of it */
};

struct norm_text {
    bool want_origin;
    struct buf bytes, origins, scratch;
    size_t dropped; /* bytes of the input that stand before what the first byte came from */
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
        v->first && from == 0,
        v->continues && from == 0,
    };
}

/* Appends bytes [from, to) of in, as they are, with their origins. */
void norm_keep(struct norm_text *out, const struct norm_view *in, size_t from, size_t to);
/* Appends new bytes that stand for bytes [from, to) of in. */
void norm_put(struct norm_text *out, const struct norm_view *in, size_t from, size_t to,
              struct str bytes);

/* Appends all of in, every `what` (not empty) in it replaced by `with`. */
void norm_replace(struct norm_text *out, const struct norm_view *in, struct str what,
                  struct str with);

enum norm_form { FORM_NFC, FORM_NFD, FORM_NFKC, FORM_NFKD };

/* True when the form leaves the text as it is (never said of texts it may change). */
bool norm_is(enum norm_form form, struct str text);
int norm_unicode(struct norm_text *out, const struct norm_view *in, enum norm_form form,
                 struct error *err) TALLY_MUST_CHECK;
/* The first code point of cp's canonical decomposition. */
uint32_t norm_base(uint32_t cp);

/* One step of a pipeline (token/pipeline.h). 1 when *out holds the result, 0 when the step leaves
 * the text as it is, -1 on failure. */
struct norm_step;
int norm_apply(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
               struct error *err) TALLY_MUST_CHECK;
int norm_ugm(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
             struct error *err) TALLY_MUST_CHECK;
int norm_spm(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
             struct error *err) TALLY_MUST_CHECK;
int norm_check(const struct norm_text *t, struct error *err) TALLY_MUST_CHECK;

/* For norm_ugm and norm_spm: the texts of user-defined tokens. */
struct trie;
struct vocab;
int ugm_prefixes_new(struct trie **out, const struct vocab *v, struct error *err) TALLY_MUST_CHECK;
void ugm_prefixes_free(struct trie *t);

#endif
