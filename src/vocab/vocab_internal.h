/*
 * What the readers share while they fill a vocabulary.
 *
 *     if (vocab_tokens_reserve(v, id + 1, err) < 0) ...
 *     if (vocab_index_build(v, err) < 0) ...             // once, when all texts stand
 *
 * Ownership: everything goes into v's arena, but the growing lists, which are v's own allocations.
 */
#ifndef TALLY_VOCAB_VOCAB_INTERNAL_H
#define TALLY_VOCAB_VOCAB_INTERNAL_H

#include "vocab/vocab.h"

struct vocab_slot {
    uint32_t hash, id;
};

struct vocab *vocab_new(void);
/* Ids 0..n-1 exist afterwards (as holes where nothing was there). */
int vocab_tokens_reserve(struct vocab *v, uint64_t n, struct error *err) TALLY_MUST_CHECK;
int vocab_merges_reserve(struct vocab *v, uint64_t n, struct error *err) TALLY_MUST_CHECK;
/* Copies text into the arena and gives it to id, which must be a hole. */
int vocab_set_text(struct vocab *v, uint32_t id, struct str text,
                   struct error *err) TALLY_MUST_CHECK;
/* Indexes all texts, with room for `extra` more at once. strict: two ids with one text are an
 * error; else the first keeps it. */
int vocab_index_build(struct vocab *v, bool strict, uint32_t extra,
                      struct error *err) TALLY_MUST_CHECK;
/* Adds one id; returns the id that has its text already, the id itself, or VOCAB_NONE when memory
 * is refused. */
uint32_t vocab_index_add(struct vocab *v, uint32_t id);
/* Trailing padding entries, counted. */
void vocab_count_padding(struct vocab *v);
/* A merge as a file spells it: parts, what they become together, and where that stands. */
struct vocab_merge_text {
    struct str left, right, joint;
    uint64_t offset;
};

#define VOCAB_MERGE_BATCH 32

/* Resolves the n (at most VOCAB_MERGE_BATCH) merges of ranks v->merge_n on: all three texts must be
 * tokens. In batches, because nearly all of the time is spent waiting for memory. */
int vocab_add_merges(struct vocab *v, const struct vocab_merge_text *merge, size_t n,
                     struct error *err) TALLY_MUST_CHECK;

/* Lists what llama.cpp takes out of plain text: control, unknown and user-defined tokens. */
int vocab_list_llama(struct vocab *v, struct error *err) TALLY_MUST_CHECK;

int vocab_read_json(struct vocab *v, struct str bytes, struct error *err) TALLY_MUST_CHECK;
bool vocab_looks_spm(struct str bytes);
int vocab_read_spm(struct vocab *v, struct str bytes, struct error *err) TALLY_MUST_CHECK;
bool vocab_looks_tiktoken(struct str bytes);
int vocab_read_tiktoken(struct vocab *v, struct str bytes, struct error *err) TALLY_MUST_CHECK;
int vocab_read_gguf(struct vocab *v, struct str bytes, struct error *err) TALLY_MUST_CHECK;

#endif
