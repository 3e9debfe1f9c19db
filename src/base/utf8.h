/*
 * UTF-8: decode, encode, validate, count, and measure for a terminal.
 *
 *     uint32_t cp;
 *     for (size_t at = 0, n; at < s.n; at += n)
 *         if ((n = utf8_decode(s, at, &cp)) == 0) ...   // ill-formed at byte `at`
 *
 * Well-formed means Unicode's table 3-7: no surrogates, no overlong forms, at most U+10FFFF.
 */
#ifndef TALLY_BASE_UTF8_H
#define TALLY_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Length (1-4) of the character at `at`, its code point in *cp; 0 when ill-formed or cut off. */
size_t utf8_decode(struct str s, size_t at, uint32_t *cp);
/* Writes 1-4 bytes; 0 for a surrogate or beyond U+10FFFF. */
size_t utf8_encode(char out[4], uint32_t cp);
void utf8_add(struct buf *b, uint32_t cp); /* U+FFFD for what cannot be encoded */

/* Offset of the first ill-formed byte, or s.n when all is well-formed. */
size_t utf8_valid_prefix(struct str s);
static inline bool utf8_valid(struct str s)
{
    return utf8_valid_prefix(s) == s.n;
}
/* Bytes at `at` that are ill-formed together, one U+FFFD's worth; 0 where a character begins. */
size_t utf8_ill_formed(struct str s, size_t at);
size_t utf8_count(struct str s); /* code points; an ill-formed byte counts as one */
/* Appends s with every maximal ill-formed subpart replaced by U+FFFD (Unicode 3.9, as WHATWG and
 * Python do); returns how many were replaced. */
size_t utf8_add_lossy(struct buf *b, struct str s);
/* Columns on a terminal: 2 for East Asian wide, 0 for combining and zero-width, 1 otherwise. */
size_t utf8_width(struct str s);

#endif
