/*
 * What Python's str knows about characters: classes, case, and the code-point view of UTF-8.
 *
 *     if (uni_is_space(cp)) ...
 *     n = uni_upper(out, 0xDF);                      // 2: "SS"
 *
 * Tables are Unicode's (tools/gen_unicode.py makes unicode_tables.inc). No ownership, no limits.
 */
#ifndef TALLY_JINJA_UNICODE_H
#define TALLY_JINJA_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UNI_CASE_MAX 3 /* code points one code point can map to */

bool uni_is_space(uint32_t cp);
bool uni_is_alpha(uint32_t cp);
bool uni_is_alnum(uint32_t cp);
bool uni_is_decimal(uint32_t cp);
bool uni_is_digit(uint32_t cp);
bool uni_is_numeric(uint32_t cp);
bool uni_is_printable(uint32_t cp);
bool uni_is_lower(uint32_t cp);
bool uni_is_upper(uint32_t cp);
bool uni_is_title(uint32_t cp);
/* Full case mappings; return how many code points were written. Final sigma is not theirs. */
size_t uni_upper(uint32_t out[UNI_CASE_MAX], uint32_t cp);
size_t uni_lower(uint32_t out[UNI_CASE_MAX], uint32_t cp);
size_t uni_title(uint32_t out[UNI_CASE_MAX], uint32_t cp);
size_t uni_fold(uint32_t out[UNI_CASE_MAX], uint32_t cp);
bool uni_is_cased(uint32_t cp);
bool uni_is_case_ignorable(uint32_t cp);

/* The character at byte `at` of well-formed text (at < s.n), and its length. An ill-formed byte
 * reads as itself, one long. */
size_t uni_next(struct str s, size_t at, uint32_t *cp);
/* The start of the character that ends before byte `at` (at > 0). */
size_t uni_prev(struct str s, size_t at, uint32_t *cp);
/* Byte offset of code point number `index`; s.n when there are not so many. */
size_t uni_offset(struct str s, size_t index);
bool uni_is_ascii(struct str s);
/* s without white space at its left and right. */
struct str uni_strip(struct str s, bool left, bool right);

#endif
