/*
 * What the reference knows of Unicode: categories, white space, canonical normalization.
 *
 *     if (uni_is(cp, UNI_LETTER)) ...
 *     if (uni_nfc(&out, text, &spans, err) < 0) ...
 *
 * Categories are those of Unicode 16, normalization that of Unicode 9: the reference's own mixture
 * (see token/unicode_tables.c). Text must be well-formed UTF-8.
 */
#ifndef TALLY_TOKEN_UNICODE_H
#define TALLY_TOKEN_UNICODE_H

#include <stdbool.h>

#include "token/unicode_tables.h"

enum uni_category {
    UNI_LU,
    UNI_LL,
    UNI_LT,
    UNI_LM,
    UNI_LO,
    UNI_MN,
    UNI_MC,
    UNI_ME,
    UNI_ND,
    UNI_NL,
    UNI_NO,
    UNI_PC,
    UNI_PD,
    UNI_PS,
    UNI_PE,
    UNI_PI,
    UNI_PF,
    UNI_PO,
    UNI_SM,
    UNI_SC,
    UNI_SK,
    UNI_SO,
    UNI_ZS,
    UNI_ZL,
    UNI_ZP,
    UNI_CC,
    UNI_CF,
    UNI_CO,
    UNI_CN,
    UNI_CC_SPACE, /* control characters that are white space: U+0009 to U+000D, U+0085 */
};

#define UNI_BIT(c) (1u << (c))
#define UNI_LETTER \
    (UNI_BIT(UNI_LU) | UNI_BIT(UNI_LL) | UNI_BIT(UNI_LT) | UNI_BIT(UNI_LM) | UNI_BIT(UNI_LO))
#define UNI_MARK (UNI_BIT(UNI_MN) | UNI_BIT(UNI_MC) | UNI_BIT(UNI_ME))
#define UNI_NUMBER (UNI_BIT(UNI_ND) | UNI_BIT(UNI_NL) | UNI_BIT(UNI_NO))
#define UNI_PUNCTUATION                                                                        \
    (UNI_BIT(UNI_PC) | UNI_BIT(UNI_PD) | UNI_BIT(UNI_PS) | UNI_BIT(UNI_PE) | UNI_BIT(UNI_PI) | \
     UNI_BIT(UNI_PF) | UNI_BIT(UNI_PO))
#define UNI_SYMBOL (UNI_BIT(UNI_SM) | UNI_BIT(UNI_SC) | UNI_BIT(UNI_SK) | UNI_BIT(UNI_SO))
#define UNI_SPACE (UNI_BIT(UNI_ZS) | UNI_BIT(UNI_ZL) | UNI_BIT(UNI_ZP) | UNI_BIT(UNI_CC_SPACE))

#define UNI_PROP_HAN 32u
#define UNI_PROP_NFC 64u
#define UNI_PROP_NFKC 128u

static inline uint8_t uni_prop(uint32_t cp)
{
    return uni_prop_data[(uint32_t)uni_prop_block[cp >> 7] << 7 | (cp & 127)];
}

static inline uint32_t uni_bit(uint32_t cp)
{
    return 1u << (uni_prop(cp) & 31);
}

static inline bool uni_is(uint32_t cp, uint32_t categories)
{
    return (uni_bit(cp) & categories) != 0;
}

/* Whether Unicode 16.0 added it: llama.cpp does not know it yet. */
bool uni_is_newer(uint32_t cp);

static inline uint8_t uni_ccc(uint32_t cp)
{
    return uni_ccc_data[(uint32_t)uni_ccc_block[cp >> 7] << 7 | (cp & 127)];
}

/* Length of the character at p, which is well-formed, and its code point. */
static inline uint32_t uni_next(const uint8_t *p, uint32_t *cp)
{
    uint32_t c = p[0];
    if (c < 0x80) {
        *cp = c;
        return 1;
    }
    if (c < 0xE0) {
        *cp = (c & 0x1F) << 6 | (p[1] & 0x3Fu);
        return 2;
    }
    if (c < 0xF0) {
        *cp = (c & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        return 3;
    }
    *cp = (c & 7) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    return 4;
}

#endif
