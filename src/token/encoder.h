/*
 * One call's scratch, and the parts of encoding that share it. Nothing outside token/encode*.c
 * includes it.
 *
 *     encode.c         the call: added tokens, normalizers, what stands around the text
 *     encode_split.c   pre-tokenizers: a view -> pieces
 *     encode_words.c   pieces -> ids, remembered from one to the next
 *     encoder.c        the pool of encoders, and the list of ids that is being filled
 *
 * Ownership: an encoder belongs to one call at a time (encoder_borrow, encoder_return) and keeps
 * its buffers and caches between calls. Views point into the text or into the encoder's buffers.
 */
#ifndef TALLY_TOKEN_ENCODER_H
#define TALLY_TOKEN_ENCODER_H

#include "token/tokenizer_internal.h"

struct word_cache;

struct encoder {
    struct encoder *next;
    const struct tokenizer *t;
    struct norm_text repaired, escaped, norm[2];
    struct norm_text rewritten[PIPELINE_STEPS_MAX]; /* by splits that change their text */
    /* Of pieces, by step; the last for the parts of words. */
    uint32_t end[PIPELINE_STEPS_MAX + 1][SCAN_BATCH];
    struct model_work work;
    struct added_hits hits;
    struct word_cache *words;
    /* the call under way */
    struct token_ids *out;
    bool count_only, plain;
    size_t counted; /* ids already let go of when only counting */
    struct error *err;
};

#define COUNT_BATCH 4096

/* Room for `more` ids behind the last; the list grows. */
int encoder_grow(struct token_ids *ids, size_t more, struct error *err) TALLY_MUST_CHECK;

/* The same; when only counting, the list is emptied instead. */
static inline int encoder_room(struct encoder *e, size_t more)
{
    struct token_ids *out = e->out;
    if (out->cap - out->n >= more)
        return 0;
    if (e->count_only) {
        e->counted += out->n;
        out->n = 0;
        if (out->cap >= more)
            return 0;
        if (more < COUNT_BATCH)
            more = COUNT_BATCH;
    }
    return encoder_grow(out, more, e->err);
}

/* Appends one id that stands for [from, to) of the text as given. */
int encoder_put(struct encoder *e, uint32_t id, size_t from, size_t to) TALLY_MUST_CHECK;
/* Appends an added token that was found in the view. */
int encoder_put_hit(struct encoder *e, const struct norm_view *view,
                    const struct added_hit *hit) TALLY_MUST_CHECK;

/* A piece that no split remains for. */
int encode_word(struct encoder *e, const struct norm_view *view) TALLY_MUST_CHECK;
/* Words that a scanner finds; end is its scratch, of SCAN_BATCH entries. */
int encode_scanned(struct encoder *e, const struct norm_view *view, const struct scan_rules *r,
                   uint32_t *end) TALLY_MUST_CHECK;
struct word_cache *word_cache_new(void); /* NULL when memory is refused */
void word_cache_free(struct word_cache *c);

/* A piece that the splits from `step` on remain for. */
int encode_pieces(struct encoder *e, const struct norm_view *view, unsigned step) TALLY_MUST_CHECK;

#endif
