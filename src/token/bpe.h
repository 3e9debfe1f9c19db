/*
 * Byte-pair encoding of one word by ranked merges.
 *
 *     if (bpe_build(&b, vocab, &pieces, err) < 0) ...
 *     size_t n = bpe_merge(&b, &work, symbols, n);   // symbols are ids, merged in place
 *
 * The order is that of both references: the lowest rank first, of equal ranks the leftmost.
 * Short words are merged by a plain scan; longer ones (above BPE_SHORT) with a heap, so that n
 * symbols cost O(n log n) whatever they are, and the longest of them by windows.
 * Ownership: struct bpe is immutable once built; struct bpe_work is one thread's scratch.
 */
#ifndef TALLY_TOKEN_BPE_H
#define TALLY_TOKEN_BPE_H

#include "base/error.h"
#include "token/pieces.h"
#include "vocab/vocab.h"

#define BPE_SHORT 96u

struct bpe {
    uint64_t *pair; /* open addressing: left 21 bits, right 21, value 22; all ones = free */
    uint32_t shift, mask;
    uint32_t *result; /* by value: the id that the pair becomes; NULL: the value is the id */
    uint32_t *order;  /* by value: which merge goes first; NULL: the value is the rank */
    uint32_t byte_id[256];
    bool all_bytes; /* every byte has an id */
    /* Characters may be merged by themselves first, except where a merge reaches across the edge of
     * one without covering it: there these sets (of hashes) have the partial bytes and the byte
     * that stands next to them. */
    uint64_t *torn_front, *torn_back;
};

#define BPE_TORN_BITS 16

struct bpe_node;
struct bpe_windows;

/* A growable list of keys: rank << 32 | position. */
struct bpe_keys {
    uint64_t *key;
    size_t n, cap;
};

struct bpe_work {
    struct bpe_node *node;
    size_t cap;
    struct bpe_keys run, spare, later, heap;
    struct bpe_windows *windows;
    uint64_t steps;        /* of long words: heap moves and keys handled, for tests */
    uint32_t *char_symbol; /* by code point: 0 not known yet, 1 as bytes, else id + 2 */
};

int bpe_build(struct bpe *b, const struct vocab *v, struct error *err) TALLY_MUST_CHECK;
/* An empty table for n pairs, and one pair into it; -1 when the pair is there already. */
int bpe_init(struct bpe *b, uint32_t n, struct error *err) TALLY_MUST_CHECK;
int bpe_insert(struct bpe *b, uint32_t left, uint32_t right, uint32_t value);
/* The ids of single bytes (byte-level vocabularies). */
void bpe_build_bytes(struct bpe *b, const struct vocab *v);
/* Which characters may be merged by themselves first. */
int bpe_build_torn(struct bpe *b, const struct vocab *v, const struct pieces *pieces,
                   struct error *err) TALLY_MUST_CHECK;
/* The one symbol that the character of n bytes (2 or 3) at `at` becomes whatever stands around it,
 * or VOCAB_NONE when that is not certain. All bytes must have ids. */
uint32_t bpe_char(const struct bpe *b, struct bpe_work *w, struct str word, size_t at, size_t n);
/* Whether a merge may reach across the edge between two characters (of 1 to 3 bytes) while it
 * covers only a part of one of them. */
bool bpe_reaches(const struct bpe *b, const uint8_t *edge, size_t before, size_t behind);
void bpe_release(struct bpe *b);
void bpe_work_release(struct bpe_work *w);

#define BPE_NO_RANK UINT32_MAX

/* Value of the pair, or BPE_NO_RANK. */
static inline uint32_t bpe_value(const struct bpe *b, uint32_t left, uint32_t right)
{
    uint64_t key = (uint64_t)left << 43 | (uint64_t)right << 22;
    uint32_t i = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> b->shift);
    for (;; i++) {
        uint64_t slot = b->pair[i & b->mask];
        if ((slot ^ key) < (1u << 22))
            return (uint32_t)slot & ((1u << 22) - 1);
        if (slot == UINT64_MAX)
            return BPE_NO_RANK;
    }
}

/* What orders the pair among others: lower goes first; BPE_NO_RANK when it does not merge. */
static inline uint32_t bpe_rank(const struct bpe *b, uint32_t left, uint32_t right)
{
    uint32_t value = bpe_value(b, left, right);
    return value != BPE_NO_RANK && b->order ? b->order[value] : value;
}

/* What the pair of that rank becomes. */
static inline uint32_t bpe_result(const struct bpe *b, uint32_t left, uint32_t right, uint32_t rank)
{
    if (b->order)
        rank = bpe_value(b, left, right);
    return b->result ? b->result[rank] : rank;
}

/* Merges in place; len, where it is not NULL, holds the lengths of the symbols and is summed.
 * Returns the new number, or SIZE_MAX when memory is refused. */
size_t bpe_merge(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len,
                 size_t n);
/* The same whatever n is (bpe_merge takes it above BPE_SHORT): by windows, and without them. */
size_t bpe_merge_long(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len,
                      size_t n);
size_t bpe_merge_at_once(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len,
                         size_t n);

/* For bpe_work_release. */
void bpe_windows_free(struct bpe_windows *s);

#endif
