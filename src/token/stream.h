/*
 * Counts or encodes a text of any size as it is read: the same ids as the whole text at once.
 *
 *     struct token_stream s;
 *     if (token_stream_init(&s, t, &how, (struct token_source){read_file, &file}, err) < 0) ...
 *     while ((got = token_stream_next(&s, &ids, err)) > 0) ...  // ids of the part just read
 *     token_stream_release(&s);                                 // s.bytes, s.replaced: of the text
 *
 * The text is cut where token/cut.h allows it; what lies between two such places is held in memory,
 * and where the tokenizer allows none, that is the whole text. Every text has at least one part,
 * which may be empty.
 * Limits: TOKEN_STREAM_HOLD_MAX bytes held; past it ERROR_LIMIT, which says from where on no place
 * to cut was found. Memory: about `step` bytes and their ids where places are found.
 */
#ifndef TALLY_TOKEN_STREAM_H
#define TALLY_TOKEN_STREAM_H

#include <sys/types.h>

#include "token/cut.h"

#define TOKEN_STREAM_STEP ((size_t)1 << 20)
#define TOKEN_STREAM_HOLD_MAX ((size_t)1 << 30)

struct token_source {
    /* Up to n bytes; 0 at the end, -1 with *err set. */
    ssize_t (*read)(void *ctx, void *to, size_t n, struct error *err);
    void *ctx;
};

struct token_stream {
    const struct tokenizer *t;
    struct cut_rules rules;
    struct encode_options how;
    struct token_source source;
    size_t step;            /* bytes that are read at least before a cut is looked for */
    size_t hold_max;        /* both may be set between init and the first next */
    struct buf held;        /* read, and not encoded yet */
    size_t looked;          /* bytes of it in which no cut was found */
    size_t bytes, replaced; /* of the parts given so far */
    bool source_ended, ended;
};

int token_stream_init(struct token_stream *s, const struct tokenizer *t,
                      const struct encode_options *how, struct token_source source,
                      struct error *err) TALLY_MUST_CHECK;
/* 1 with the ids of the next part, 0 behind the last, -1 with *err set. */
int token_stream_next(struct token_stream *s, struct token_ids *ids,
                      struct error *err) TALLY_MUST_CHECK;
void token_stream_release(struct token_stream *s);

#endif
