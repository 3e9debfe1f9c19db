/*
 * The model proper: one piece of text -> its ids.
 *
 *     if (model_build(&m, vocab, &pieces, &settings, err) < 0) ...
 *     if (model_word(&m, &work, word, err) < 0) ...      // work.id[0..work.n), work.len[..]
 *
 * Every kind costs at most O(n log n) or O(n times the longest token) for a word of n bytes.
 * Ownership: struct model is immutable once built; struct model_work is one thread's scratch.
 */
#ifndef TALLY_TOKEN_MODEL_H
#define TALLY_TOKEN_MODEL_H

#include "base/error.h"
#include "token/bpe.h"
#include "token/pieces.h"
#include "token/trie.h"

enum model_kind {
    MODEL_BPE_BYTES, /* symbols are bytes, spelled in the 256-character alphabet */
    MODEL_BPE_CHARS, /* symbols are characters, with byte fallback or unknown */
    MODEL_SPM,       /* llama.cpp's "llama": characters, merged by score */
    MODEL_UNIGRAM,
    MODEL_WORDPIECE,
    MODEL_WORDLEVEL,
    MODEL_WPM, /* llama.cpp's "bert" */
};

struct model_settings {
    enum model_kind kind;
    bool ignore_merges, byte_fallback, fuse_unk;
    bool drop_late;            /* what is unknown stands in the way of merges (llama.cpp) */
    bool single_bytes;         /* byte fallback byte by byte: those without a token are dropped */
    bool by_result;            /* byte-level merges go by the id of what they make (tiktoken) */
    bool sentencepiece;        /* types of pieces count, and floats, as SentencePiece has it */
    bool ugm;                  /* Unigram as llama.cpp has it: types of tokens count */
    bool whole_newlines;       /* a word of newlines alone is one token where there is one */
    struct str prefix, suffix; /* continuing_subword_prefix, end_of_word_suffix */
    uint32_t unk;              /* VOCAB_NONE when there is none */
    uint32_t max_chars;        /* WordPiece: longer words are unknown */
};

struct model {
    struct model_settings set;
    const struct pieces *pieces;
    const struct vocab *vocab;
    uint16_t spelling[256]; /* bytes as the vocabulary spells them: UTF-8, the first byte lowest */
    struct bpe bpe;
    struct trie trie;         /* Unigram, WordPiece, WPM: whole texts */
    uint32_t continuing;      /* trie node behind the prefix; 0 when nothing begins with it */
    uint32_t *byte_last;      /* 256: ids of single bytes that end a word (suffix) */
    uint32_t byte_token[256]; /* <0x00>.. */
    bool all_bytes;           /* all of those exist */
    uint32_t *char_id;        /* MODEL_CHAR_TABLE entries */
    double *score, unk_score;
    /* Pairs of characters (hashes of them) that stand side by side in some token. Between any other
     * two a word can be cut: nothing merges across. NULL where that is not so. */
    uint64_t *joined;
    uint64_t
        *joined_bytes; /* the same for byte-level models, in which one of the two is not ASCII */
};

#define MODEL_JOINED_BITS 21

#define MODEL_CHAR_TABLE 0x10000u

struct unigram_node;

struct model_work {
    uint32_t *id, *len;
    size_t n, cap;
    bool want_len;
    struct bpe_work bpe;
    struct unigram_node *node;
    size_t node_cap;
};

int model_build(struct model *m, const struct vocab *v, struct pieces *pieces,
                const struct model_settings *settings, struct error *err) TALLY_MUST_CHECK;
void model_release(struct model *m);
void model_work_release(struct model_work *w);

int model_word(const struct model *m, struct model_work *w, struct str word,
               struct error *err) TALLY_MUST_CHECK;

/* Where the part of text that begins at `at` can be cut off; text.n when nowhere before. */
size_t model_cut(const struct model *m, struct str text, size_t at);
/* The same where joined_bytes is not NULL. */
size_t model_cut_bytes(const struct model *m, struct str text, size_t at);
/* False when no token holds the two characters side by side. Only where m->joined is there. */
bool model_joins(const struct model *m, uint32_t left, uint32_t right);

/* For the files of the model. */
int model_build_joined(struct model *m, const struct vocab *v, struct error *err) TALLY_MUST_CHECK;
int model_build_joined_bytes(struct model *m, const struct vocab *v,
                             struct error *err) TALLY_MUST_CHECK;
int model_reserve(struct model_work *w, size_t n, struct error *err) TALLY_MUST_CHECK;
static inline void model_put(struct model_work *w, uint32_t id, size_t len)
{
    if (w->want_len)
        w->len[w->n] = (uint32_t)len;
    w->id[w->n++] = id;
}
int bpe_build_spm(struct model *m, const struct vocab *v, struct error *err) TALLY_MUST_CHECK;
int bpe_word(const struct model *m, struct model_work *w, struct str word,
             struct error *err) TALLY_MUST_CHECK;
int unigram_word(const struct model *m, struct model_work *w, struct str word,
                 struct error *err) TALLY_MUST_CHECK;

#endif
