/*
 * A corpus: prompts in JSONL whose first line says what it promises, made so that the promises
 * hold and checked before anything relies on them.
 *
 *     struct corpus c;
 *     if (corpus_read(&c, "w1.jsonl", err) < 0) ...
 *     if (corpus_check(&c, &counter, &seen, err) < 0) ...    // ERROR_REFUSED: a broken promise
 *     corpus_release(&c);
 *
 * First line: {"_meta": {"format": "tally-corpus-1", "count": 64, "tokens": 512, ...}}; then one
 * object a line: {"id": "p0001", "text": "...", "tokens": 512}. `tokens` counts the text alone:
 * no special tokens added, and text that spells one is one unless special_text says plain.
 * Instead of one length a corpus may promise a mixture of them, "mixture": [{"tokens": 128,
 * "percent": 40}, ...], and "outputs" likewise: how many tokens the answers are to have; each line
 * then says its own "tokens" and "max_tokens", and the shares are exact.
 * A file without _meta is read too (of each line "text", or "prompt", and "id" where there is one);
 * it promises nothing, and whoever needs a promise refuses it.
 *
 * Ownership: the corpus owns all its texts. Reading is strict: line and column of what is wrong.
 * Limits: CORPUS_LINE_MAX bytes a line, CORPUS_ITEMS_MAX items, CORPUS_BYTES_MAX in all.
 */
#ifndef TALLY_CORPUS_CORPUS_H
#define TALLY_CORPUS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "record/mixture.h"

#define CORPUS_FORMAT "tally-corpus-1"
#define CORPUS_GENERATOR "tally corpus make"
#define CORPUS_GENERATOR_VERSION 1
#define CORPUS_LINE_MAX ((size_t)16 << 20)
#define CORPUS_BYTES_MAX ((size_t)1 << 30)
#define CORPUS_ITEMS_MAX 1000000
#define CORPUS_TOKENS_MAX MIXTURE_TOKENS_MAX
#define CORPUS_ID_MAX 64
#define CORPUS_NOT_PROMISED INT64_C(-1)

/* How tokens are counted: a model's tokenizer behind a function, so that nothing here depends on
 * which. count() takes the text alone. */
struct corpus_counter {
    int (*count)(void *ctx, struct str text, size_t *n, struct error *err);
    void *ctx;
};

struct corpus_tokenizer {
    const char *reference; /* "huggingface" or "llama.cpp"; NULL: not stated */
    char tokenizer_sha256[SHA256_HEX], vocabulary_sha256[SHA256_HEX], pipeline_sha256[SHA256_HEX];
};

struct corpus_promise {
    bool stated;                            /* there is a _meta line */
    int64_t count, tokens, tolerance, seed; /* CORPUS_NOT_PROMISED */
    struct mixture mixture, outputs;        /* of lengths, instead of tokens; n = 0 */
    int64_t generator_version;              /* CORPUS_NOT_PROMISED */
    const char *generator;                  /* NULL */
    const char *special_text;               /* "parsed" or "plain"; NULL: parsed */
    bool distinct;
    struct corpus_tokenizer tokenizer;
};

struct corpus_item {
    struct str id, text;
    int64_t tokens;     /* as the file says; CORPUS_NOT_PROMISED */
    int64_t max_tokens; /* of its answer; in all lines or in none; CORPUS_NOT_PROMISED */
    int64_t line;
};

struct corpus {
    struct arena arena;
    const char *path;
    struct corpus_promise promise;
    struct corpus_item *items;
    size_t n, cap;
    char sha256[SHA256_HEX]; /* of the file's bytes */
};

int corpus_read(struct corpus *c, const char *path, struct error *err) TALLY_MUST_CHECK;
/* From bytes in memory, which are not kept; name stands in errors and must outlive the corpus. */
int corpus_read_bytes(struct corpus *c, struct str bytes, const char *name,
                      struct error *err) TALLY_MUST_CHECK;
void corpus_release(struct corpus *c);
/* The first of the longest items, by the tokens that are promised, else by bytes. */
const struct corpus_item *corpus_longest(const struct corpus *c);
/* Tokens that the corpus promises for one of its items; CORPUS_NOT_PROMISED. */
int64_t corpus_target(const struct corpus *c, const struct corpus_item *item);

struct corpus_spec {
    int64_t count, tokens, tolerance, seed;
    struct mixture mixture, outputs; /* mixture.n > 0: instead of tokens; outputs.n = 0: none */
    const char *special_text;        /* "parsed" or "plain" */
    struct corpus_tokenizer tokenizer;
};

/* Appends the whole file to out. The same spec and tokenizer give the same bytes. ERROR_UNSUPPORTED
 * where this tokenizer makes no text of exactly so many tokens, or not enough distinct ones;
 * ERROR_USAGE where a share of the mixture is no whole number of prompts, or two lengths of it lie
 * so near that a prompt could be of either. The prompts of a mixture stand in an order drawn from
 * the seed. */
int corpus_make(const struct corpus_spec *spec, const struct corpus_counter *counter,
                struct buf *out, struct error *err) TALLY_MUST_CHECK;

/* Replaces *text with one of exactly so many tokens, always the same for a seed. ERROR_UNSUPPORTED
 * as corpus_make. */
int corpus_text(int64_t tokens, uint64_t seed, const struct corpus_counter *counter,
                struct buf *text, struct error *err) TALLY_MUST_CHECK;

/* What a check saw, also when it failed. */
struct corpus_seen {
    int64_t count;
    int64_t tokens_min, tokens_max; /* over the items counted; CORPUS_NOT_PROMISED before any */
    int64_t of[MIXTURE_MAX], outputs[MIXTURE_MAX]; /* by length of the promised mixtures */
};

/* Asserts every promise: count, each item's own "tokens", the band tokens +- tolerance (in a
 * mixture: of its own length), the shares of a mixture and of the outputs and that neither goes
 * with the other, distinctness, and, where `with` is given, that the vocabulary is the one
 * promised. ERROR_REFUSED names the first record that breaks one (file, line), what was seen, and
 * the remedy; a corpus that promises nothing is refused. */
int corpus_check(const struct corpus *c, const struct corpus_counter *counter,
                 const struct corpus_tokenizer *with, struct corpus_seen *seen,
                 struct error *err) TALLY_MUST_CHECK;

/* Which request a unique prompt is for. */
struct corpus_draw {
    const char *nonce; /* of the run */
    int32_t replicate, band;
    bool warmup; /* warm-up requests have indices of their own */
    int64_t index;
};

/* What was sent for one request. */
struct corpus_prompt {
    const struct corpus_item *item;
    int64_t tokens; /* of the text made; CORPUS_NOT_PROMISED where nothing counts */
    bool exact;     /* as many as the corpus promises (or as the item has), not only in the band */
};

/* Replaces *text with one of exactly `tokens` tokens, drawn from `which` alone: a prompt that is
 * not made from any item. ERROR_UNSUPPORTED where this tokenizer makes none. */
int corpus_exact(int64_t tokens, const struct corpus_counter *counter,
                 const struct corpus_draw *which, struct buf *text,
                 struct error *err) TALLY_MUST_CHECK;

/* Replaces *text with the prompt of one request: an item of the corpus whose first words make way
 * for a few drawn from (nonce, replicate, band, warmup, index), the same for both lanes, redrawn
 * until the count is exact, or failing that in the promised band (ERROR_REFUSED where neither can
 * be had). Without a promise of tokens, or without a counter, the words only stand in front.
 * counter may be NULL. */
int corpus_unique(const struct corpus *c, const struct corpus_counter *counter,
                  const struct corpus_draw *which, struct buf *text, struct corpus_prompt *prompt,
                  struct error *err) TALLY_MUST_CHECK;
/* The same, made of an item of the caller's choice instead of the one whose turn it is. */
int corpus_unique_of(const struct corpus *c, const struct corpus_item *item,
                     const struct corpus_counter *counter, const struct corpus_draw *which,
                     struct buf *text, struct corpus_prompt *prompt,
                     struct error *err) TALLY_MUST_CHECK;

#endif
