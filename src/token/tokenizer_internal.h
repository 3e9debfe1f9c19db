/*
 * What the tokenizer's own files share; nothing outside token/ includes it.
 *
 *     struct encoder *e = encoder_borrow(t, err);        // one call's scratch, from a pool
 *     ...
 *     encoder_return(t, e);
 *
 * Ownership: struct tokenizer owns all it points to. An encoder belongs to one call at a time and
 * keeps its cache between calls.
 */
#ifndef TALLY_TOKEN_TOKENIZER_INTERNAL_H
#define TALLY_TOKEN_TOKENIZER_INTERNAL_H

#include <pthread.h>

#include "token/added.h"
#include "token/model.h"
#include "token/normalize.h"
#include "token/pieces.h"
#include "token/pipeline.h"
#include "token/tokenizer.h"

struct encoder;

/* The only part that changes once a tokenizer is open. */
struct encoder_pool {
    pthread_mutex_t lock;
    struct encoder *idle;
};

struct tokenizer {
    struct vocab *vocab;
    enum vocab_format format; /* of the file: a GGUF may hold a tokenizer.json */
    struct pipeline pipe;
    struct pieces pieces;
    struct model model;
    struct added_set raw, normalized; /* matched before and behind the normalizer */
    struct encoder_pool *pool;
    char tokenizer_sha256[SHA256_HEX], vocabulary_sha256[SHA256_HEX], pipeline_sha256[SHA256_HEX];
    char *chat_template;
};

struct encoder *encoder_borrow(const struct tokenizer *t, struct error *err);
void encoder_return(const struct tokenizer *t, struct encoder *e);
void encoder_free_all(struct encoder_pool *pool);

/* Runs the pipeline's normalizers over text; *out is in itself when they change nothing, else one
 * of the two buffers. */
int normalize_all(const struct pipeline *p, struct norm_view in, struct norm_text two[2],
                  struct norm_view *out, struct error *err) TALLY_MUST_CHECK;

/* Bytes a single id stands for, wherever it stands (token/decode.c). */
void decode_piece(const struct tokenizer *t, uint32_t id, struct buf *out);

/* Digests of the vocabulary and of the pipeline (token/digest.c). */
int digest_all(struct tokenizer *t, struct error *err) TALLY_MUST_CHECK;

#endif
