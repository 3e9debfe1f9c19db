/*
 * Kimi's expression: Chinese characters apart, all else as GPT-4o's, numbers by three, and no
 * slash behind punctuation.
 *
 *     \p{Han}+ | [^\r\n\p{L}\p{N}]? U* W+ tail | [^\r\n\p{L}\p{N}]? U+ W* tail | \p{N}{1,3}
 *     | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * where U and W are those of scan_case.c without Han. llama.cpp's own form (ascii_case) does not
 * tell cases apart, takes no marks for letters, and has a list of blocks for Han.
 */
#include "token/scan_internal.h"

/* What a character is to the expression: bits, as it may be several things. */
enum { UPPERS = 1, LOWERS = 2, IS_LETTER = 4, IS_NUMBER = 8, IS_SPACE = 16, IS_HAN = 32 };

static bool in_han_block(uint32_t cp)
{
    return (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0x3400 && cp <= 0x4DBF) ||
           (cp >= 0x20000 && cp <= 0x2A6DF) || (cp >= 0x2A700 && cp <= 0x2EBEF) ||
           (cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0x2F800 && cp <= 0x2FA1F);
}

static unsigned known(uint32_t cp, const struct scan_rules *r)
{
    unsigned is = 0;
    if (uni_is(cp, UNI_LETTER))
        is |= IS_LETTER;
    if (uni_is(cp, UNI_NUMBER))
        is |= IS_NUMBER;
    if (uni_is(cp, UNI_SPACE))
        is |= IS_SPACE;
    if (r->ascii_case)
        return is & IS_LETTER ? is | UPPERS | LOWERS : is;
    if (uni_is(cp, UNI_LETTER | UNI_MARK) && !uni_is(cp, UNI_BIT(UNI_LL)))
        is |= UPPERS;
    if (uni_is(cp, UNI_LETTER | UNI_MARK) && !uni_is(cp, UNI_BIT(UNI_LU) | UNI_BIT(UNI_LT)))
        is |= LOWERS;
    return is;
}

/* 0 behind the end. */
static unsigned look(const struct scan_rules *r, const uint8_t *p, const uint8_t *end, uint32_t *n)
{
    uint32_t cp;
    *n = 0;
    if (p >= end)
        return 0;
    *n = uni_next(p, &cp);
    unsigned is = r->older && uni_is_newer(cp) ? 0 : known(cp, r);
    bool han = r->ascii_case ? in_han_block(cp) : (uni_prop(cp) & UNI_PROP_HAN) != 0;
    return han ? (is & ~(unsigned)(UPPERS | LOWERS)) | IS_HAN : is;
}

static const uint8_t *skip(const struct scan_rules *r, const uint8_t *p, const uint8_t *end,
                           unsigned what)
{
    uint32_t n;
    while (look(r, p, end, &n) & what)
        p += n;
    return p;
}

/* U*W+ from p, else U+W*; NULL when neither is there. */
static const uint8_t *word(const struct scan_rules *r, const uint8_t *p, const uint8_t *end,
                           bool lower_needed)
{
    const uint8_t *both_end = NULL, *q = p;
    uint32_t n;
    unsigned is;
    while ((is = look(r, q, end, &n)) & UPPERS) {
        q += n;
        if (is & LOWERS)
            both_end = q;
    }
    if (is & LOWERS)
        return skip(r, q, end, LOWERS);
    if (lower_needed)
        return both_end;
    return q > p ? q : NULL;
}

/* The four ways to begin a word, in the expression's order. */
static const uint8_t *any_word(const struct scan_rules *r, const uint8_t *p, const uint8_t *end)
{
    uint32_t n;
    unsigned is = look(r, p, end, &n);
    bool front = !(is & (IS_LETTER | IS_NUMBER)) && *p != '\r' && *p != '\n';
    for (int lower_needed = 1; lower_needed >= 0; lower_needed--) {
        const uint8_t *q = front ? word(r, p + n, end, lower_needed) : NULL;
        if (!q)
            q = word(r, p, end, lower_needed);
        if (q)
            return q;
    }
    return NULL;
}

static bool is_other(unsigned is, const uint8_t *p, const uint8_t *end)
{
    return p < end && !(is & (IS_LETTER | IS_NUMBER | IS_SPACE));
}

const uint8_t *scan_next_kimi(const struct scan_rules *r, const uint8_t *p, const uint8_t *end)
{
    uint32_t n;
    unsigned is = look(r, p, end, &n);
    if (is & IS_HAN)
        return skip(r, p, end, IS_HAN);
    const uint8_t *q = any_word(r, p, end);
    if (q)
        return q < end && *q == '\'' ? q + contraction(q, end, true, r->fold_all) : q;
    if (is & IS_NUMBER) {
        q = p;
        for (uint32_t i = 0; i < r->digits && look(r, q, end, &n) & IS_NUMBER; i++)
            q += n;
        return q;
    }
    q = p;
    if (*p == ' ')
        is = look(r, ++q, end, &n);
    if (!is_other(is, q, end))
        return blanks(p, end);
    while (is_other(is, q, end)) {
        q += n;
        is = look(r, q, end, &n);
    }
    return skip_newlines(q, end, false);
}
