/*
 * What the reference's normalizers and pre-tokenizers other than patterns know of characters.
 *
 *     if (fold_is(cp, FOLD_BERT_PUNCTUATION)) ...
 *     n = fold_lower_of(cp, out);                        // at most FOLD_LOWER_MAX code points
 *
 * Tables by tools/make-fold-tables.
 */
#ifndef TALLY_TOKEN_FOLD_H
#define TALLY_TOKEN_FOLD_H

#include <stdbool.h>

#include "token/unicode_tables.h"

#define FOLD_LOWER_MAX 4

enum fold_set {
    FOLD_ACCENT = 1, /* what StripAccents drops */
    FOLD_BERT_PUNCTUATION = 2,
    FOLD_NUMERIC = 4,
    FOLD_BERT_CONTROL = 8, /* what clean_text drops */
    FOLD_BERT_SPACE = 16,  /* what clean_text makes a space */
    FOLD_BERT_ACCENT = 32, /* what BertNormalizer's strip_accents drops */
    FOLD_WORD = 64,        /* \w */
    FOLD_CHINESE = 128,
};

extern const uint16_t fold_block[8704];
extern const uint8_t fold_data[];
extern const struct uni_decomposition fold_lower[];
extern const size_t fold_lower_n;
extern const uint32_t fold_lower_pool[];

static inline bool fold_is(uint32_t cp, unsigned set)
{
    return (fold_data[(uint32_t)fold_block[cp >> 7] << 7 | (cp & 127)] & set) != 0;
}

/* The lower case of one character, as code points; returns how many. */
size_t fold_lower_of(uint32_t cp, uint32_t out[FOLD_LOWER_MAX]);

#endif
