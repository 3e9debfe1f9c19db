/*
 * One vocabulary, whatever file it came from: ids, texts, ranked merges, added tokens, and what the
 * file says about the steps around the model.
 *
 *     struct vocab *v;
 *     if (vocab_open(&v, bytes, "tokenizer.json", err) < 0) ...
 *     struct str text = v->tokens[id].text;              // as the file spells it
 *     vocab_free(v);
 *
 * Its readers: Hugging Face tokenizer.json, GGUF (its key-values; weights are not read),
 * tiktoken, SentencePiece.
 * Ownership: a vocab owns everything it points to; the bytes it was read from are not needed
 * afterwards. It knows nothing of encoding: token/ does that.
 * Limits: named below; past them ERROR_LIMIT. All errors carry the byte offset where it is known.
 */
#ifndef TALLY_VOCAB_VOCAB_H
#define TALLY_VOCAB_VOCAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "codec/json.h"

#define VOCAB_IDS_MAX ((1u << 21) - 2)    /* token ids are below this */
#define VOCAB_MERGES_MAX ((1u << 22) - 1) /* ranks are below this */
#define VOCAB_ADDED_MAX (1u << 18)
#define VOCAB_TOKEN_BYTES_MAX 65535u   /* of one token's text */
#define VOCAB_TIKTOKEN_BYTES_MAX 1024u /* of one token in a tiktoken file */
#define VOCAB_TEMPLATES_MAX 32         /* named chat templates */
#define VOCAB_MEMORY_MAX ((size_t)1 << 30)
#define VOCAB_NONE UINT32_MAX
#define VOCAB_FIM_KINDS 6

enum vocab_format { VOCAB_TOKENIZER_JSON, VOCAB_GGUF, VOCAB_TIKTOKEN, VOCAB_SENTENCEPIECE };

/* The model's kind, as the file names it. */
enum vocab_model {
    VOCAB_BPE,       /* ranked merges */
    VOCAB_SPM,       /* GGUF "llama": merges by score */
    VOCAB_UNIGRAM,   /* scores, best segmentation */
    VOCAB_WORDPIECE, /* longest match first */
    VOCAB_WORDLEVEL, /* whole words */
};

/* GGUF's token types; for tokenizer.json NORMAL, or what its added tokens say. */
enum vocab_type {
    VOCAB_TYPE_NORMAL = 1,
    VOCAB_TYPE_UNKNOWN,
    VOCAB_TYPE_CONTROL,
    VOCAB_TYPE_USER_DEFINED,
    VOCAB_TYPE_UNUSED,
    VOCAB_TYPE_BYTE,
};

struct vocab_token {
    struct str text; /* as the file spells it; p is NULL for an id that does not exist */
    double score;    /* Unigram and SPM */
    uint32_t added;  /* its place in the list of added tokens plus one; 0 when it is none */
    uint8_t type;    /* enum vocab_type */
    bool added_only; /* an added token that the model itself lacks */
};

struct vocab_merge {
    uint32_t left, right, result;
};

struct vocab_added {
    struct str text;
    uint32_t id;
    bool special, lstrip, rstrip, single_word, normalized;
};

/* What a GGUF says beside its lists. Ids are VOCAB_NONE where it is silent. */
struct vocab_gguf {
    struct str model, pre; /* tokenizer.ggml.model, tokenizer.ggml.pre ("" when absent) */
    struct str architecture, name;
    struct str huggingface; /* tokenizer.huggingface.json: a whole tokenizer.json */
    struct str charsmap;    /* precompiled normalization table, as bytes */
    uint32_t bos, eos, unk, sep, pad, cls, mask;
    uint32_t fim[VOCAB_FIM_KINDS]; /* prefix, suffix, middle, pad, repository, file separator */
    bool has_bos_flag, add_bos, has_eos_flag, add_eos, has_sep_flag, add_sep;
    bool has_prefix_flag, add_space_prefix, remove_extra_whitespaces;
    bool has_lowercase_flag, lowercase, has_accents_flag, strip_accents;
};

/* What a SentencePiece model says beside its pieces. */
struct vocab_spm {
    bool dummy_prefix, remove_extra, escape, suffix, byte_fallback;
    struct str charsmap;
};

/* A GGUF's tokenizer.chat_template.NAME. */
struct vocab_template {
    struct str name, text;
};

struct vocab {
    enum vocab_format format;
    enum vocab_model model;
    struct vocab_token *tokens;
    uint32_t n;                 /* ids, holes and padding included */
    uint32_t padding;           /* trailing entries such as [PAD151700] */
    struct vocab_merge *merges; /* by rank */
    uint32_t merge_n;
    struct vocab_added *added; /* in the file's order, ids settled */
    uint32_t added_n;
    uint32_t unk; /* VOCAB_NONE when none */
    /* tokenizer.json without the lists: normalizer, pre_tokenizer, model's flags … NULL for GGUF */
    const struct json *config;
    const char *encoding; /* tiktoken: cl100k_base and its like; else NULL */
    struct vocab_gguf gguf;
    struct vocab_spm spm;
    struct str chat_template;                             /* {NULL, 0} when the file holds none */
    struct vocab_template templates[VOCAB_TEMPLATES_MAX]; /* further ones, by name */
    uint32_t templates_n;
    size_t read; /* bytes of the file that were read, from its start */

    /* private */
    struct vocab_slot *index; /* text -> id */
    uint32_t index_mask, index_n, token_cap, merge_cap;
    struct arena arena;
};

/* The content decides which reader takes it. name stands in errors. */
int vocab_open(struct vocab **out, struct str bytes, const char *name,
               struct error *err) TALLY_MUST_CHECK;
void vocab_free(struct vocab *v);

/* The id whose text it is, or VOCAB_NONE. */
uint32_t vocab_find(const struct vocab *v, struct str text);

/* Makes v what llama.cpp's converter would make of a tokenizer.json: added tokens get GGUF's types
 * (control where they are special or spelled like it), user-defined ones their plain spelling. The
 * list of added tokens is then llama.cpp's, as a GGUF's is from the start. */
int vocab_as_llama(struct vocab *v, struct error *err) TALLY_MUST_CHECK;

/* The special tokens of a tiktoken vocabulary, which its file does not hold: those of the encoding,
 * or those of the tokenizer_config.json that lies beside the file (NULL: none does). */
int vocab_tiktoken_specials(struct vocab *v, const struct str *config,
                            struct error *err) TALLY_MUST_CHECK;

/* Whether an added token is taken for a control token by its spelling: <|..|> and its like. */
bool vocab_looks_special(struct str text);

/* Whether text is a padding entry: [PAD123] where 123 is the id itself. */
bool vocab_is_padding(struct str text, uint32_t id);

#endif
