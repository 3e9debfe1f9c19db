/*
 * The tables behind token/unicode.h (data only; written by tools/make-unicode-tables).
 *
 *     uint8_t p = uni_prop_data[uni_prop_block[cp >> 7] << 7 | (cp & 127)];
 *
 * uni_prop: general category in the low five bits (enum uni_category), 32 for Han script, 64 where
 * NFC and 128 where NFKC could change the character or its neighbours. uni_ccc: combining class.
 * Decompositions are full and sorted by code point; Hangul syllables are left to arithmetic.
 */
#ifndef TALLY_TOKEN_UNICODE_TABLES_H
#define TALLY_TOKEN_UNICODE_TABLES_H

#include <stddef.h>
#include <stdint.h>

struct uni_decomposition {
    uint32_t cp;
    uint16_t at, n; /* into the pool */
};
struct uni_composition {
    uint32_t first, second, composed;
};

extern const uint16_t uni_prop_block[8704];
extern const uint8_t uni_prop_data[];
extern const uint16_t uni_ccc_block[8704];
extern const uint8_t uni_ccc_data[];
extern const struct uni_decomposition uni_nfd[], uni_nfkd[];
extern const size_t uni_nfd_n, uni_nfkd_n;
extern const uint32_t uni_nfd_pool[], uni_nfkd_pool[];
extern const struct uni_composition uni_compositions[];
extern const size_t uni_compositions_n;

#endif
