/*
 * A model's own tokenizer: text -> token ids, exactly as the reference implementation gives them.
 *
 *     struct tokenizer *t;
 *     struct token_ids ids = {0};
 *     if (tokenizer_open(&t, "tokenizer.json", &(struct tokenizer_options){0}, err) < 0) ...
 *     if (tokenizer_encode(t, text, &(struct encode_options){0}, &ids, err) < 0) ...
 *     token_ids_release(&ids); tokenizer_free(t);
 *
 * The file is a Hugging Face tokenizer.json, a GGUF (vocabulary and metadata; weights are not read)
 * a SentencePiece model, or a tiktoken file, whose special tokens a tokenizer_config.json beside it
 * may name. The
 * reference mode follows the file: Hugging Face `tokenizers` for JSON, llama.cpp for GGUF. It can
 * be set: a tokenizer.json of byte-level BPE is then read as llama.cpp would read the GGUF made of
 * it, and a GGUF as Hugging Face would where it holds a tokenizer.huggingface.json. What is not
 * supported is ERROR_UNSUPPORTED naming the component, never an approximation; truncation and
 * padding declared in the file never shape a count.
 *
 * Ownership: the tokenizer is heap-held and immutable once open: many threads may encode with it,
 * each with its own struct token_ids. Input text that is not UTF-8 is read with every ill-formed
 * part replaced by U+FFFD; encode_options.replaced counts them.
 */
#ifndef TALLY_TOKEN_TOKENIZER_H
#define TALLY_TOKEN_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"

struct tokenizer;

enum tokenizer_reference {
    REFERENCE_FROM_FILE = 0,
    REFERENCE_HUGGINGFACE,
    REFERENCE_LLAMA_CPP,
    REFERENCE_TIKTOKEN,
    REFERENCE_SENTENCEPIECE,
};

/* The mode of that name ("huggingface", "llama.cpp", "tiktoken", "sentencepiece"); NULL is from the
 * file. -1: no such name. */
int tokenizer_reference_parse(enum tokenizer_reference *out, const char *name);

struct tokenizer_options {
    enum tokenizer_reference reference; /* ERROR_UNSUPPORTED where the file does not allow it */
};

/* Whether strings inside the text that spell a special token are that token. The default follows
 * the reference: parsed for Hugging Face files and for GGUF alike (`tally count` says which). */
enum special_text { SPECIAL_TEXT_PARSED = 0, SPECIAL_TEXT_PLAIN };

struct encode_options {
    enum special_text special_text;
    bool add_special; /* the tokenizer's own BOS/EOS (post-processor, or add_bos/add_eos) */
    /* For the parts of a text that was cut where token/cut.h allows it. */
    bool continues; /* not its first part: no BOS, nothing put in front */
    bool goes_on;   /* not its last: no EOS */
};

/* Growable list of ids. from/to (bytes of the text as given) are filled only when with_offsets is
 * set before the call; a token made of normalized-away or added text has from == to. */
struct token_ids {
    uint32_t *id;
    size_t n, cap;
    bool with_offsets;
    uint32_t *from, *to;
    size_t replaced; /* ill-formed parts of the input that were read as U+FFFD */
};

void token_ids_release(struct token_ids *ids);

/* path may end in .json or .gguf or anything: the content decides. Errors name file and offset. */
int tokenizer_open(struct tokenizer **out, const char *path, const struct tokenizer_options *o,
                   struct error *err) TALLY_MUST_CHECK;
/* From bytes already in memory (they are not kept); name stands in errors. */
int tokenizer_open_bytes(struct tokenizer **out, struct str bytes, const char *name,
                         const struct tokenizer_options *o, struct error *err) TALLY_MUST_CHECK;
void tokenizer_free(struct tokenizer *t);

/* Replaces the contents of *ids. */
int tokenizer_encode(const struct tokenizer *t, struct str text, const struct encode_options *o,
                     struct token_ids *ids, struct error *err) TALLY_MUST_CHECK;
/* The number of ids, without keeping them. */
int tokenizer_count(const struct tokenizer *t, struct str text, const struct encode_options *o,
                    size_t *n, struct error *err) TALLY_MUST_CHECK;
/* Appends the text of ids, as the reference decodes (skip_special leaves special tokens out).
 * An id out of range is ERROR_INPUT. */
int tokenizer_decode(const struct tokenizer *t, const uint32_t *id, size_t n, bool skip_special,
                     struct buf *out, struct error *err) TALLY_MUST_CHECK;
/* Appends the raw bytes a single id stands for ("" and -1 when there is no such id). */
int tokenizer_piece(const struct tokenizer *t, uint32_t id, struct buf *out);

struct tokenizer_info {
    const char *format;    /* "tokenizer.json", "gguf", "tiktoken", "sentencepiece" */
    const char *reference; /* "huggingface", "llama.cpp", "tiktoken", "sentencepiece" */
    const char *model;     /* "BPE", … */
    const char *pre;       /* name of the pre-tokenizer family, e.g. "qwen2", "llama3", "gpt2" */
    size_t vocab_size;     /* ids, padding entries included */
    size_t padding;        /* padding entries such as [PAD151700], left out of the digest */
    size_t added;          /* added tokens */
    char tokenizer_sha256[SHA256_HEX];  /* of the file's bytes as read */
    char vocabulary_sha256[SHA256_HEX]; /* id -> bytes, ranked merges, special ids */
    char pipeline_sha256[SHA256_HEX];   /* normalizer, pre-tokenizer, added-token flags, mode */
    const char *chat_template;          /* GGUF's tokenizer.chat_template; NULL when none */
};
/* Texts in *info live as long as t. */
void tokenizer_describe(const struct tokenizer *t, struct tokenizer_info *info);

/* Special tokens, for probes and corpora: the i-th one's text and id; -1 past the last. */
int tokenizer_special(const struct tokenizer *t, size_t i, struct str *text, uint32_t *id);
/* The id of a token by its exact text (special or not); -1 when there is none. */
int64_t tokenizer_id_of(const struct tokenizer *t, struct str text);

#endif
