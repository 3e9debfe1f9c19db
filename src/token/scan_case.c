/*
 * GPT-4o's family: words end where a new capital begins.
 *
 *     [^\r\n\p{L}\p{N}]? U* W+ tail | [^\r\n\p{L}\p{N}]? U+ W* tail | \p{N}{1,k}
 *     | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * where U is Lu Lt Lm Lo M, W is Ll Lm Lo M, and tail is (?i:'s|'t|'re|'ve|'m|'ll|'d)?. Classes:
 * UPPER is U alone, LOWER W alone, BOTH both.
 */
#include "token/scan_internal.h"

#define ASCII                                                                      \
    {                                                                              \
        SCAN_ASCII_BLANKS, ['0'] = SCAN_TEN(NUMBER), ['A'] = SCAN_ALPHABET(UPPER), \
                           ['a'] = SCAN_ALPHABET(LOWER), SCAN_WIDE                 \
    }
#define LETTERS [UNI_LU] = BOTH, [UNI_LL] = BOTH, [UNI_LT] = BOTH, [UNI_LM] = BOTH, [UNI_LO] = BOTH
#define NUMBERS [UNI_ND] = NUMBER, [UNI_NL] = NUMBER, [UNI_NO] = NUMBER

static const struct classes cased = {
    ASCII,
    {[UNI_LU] = UPPER,
     [UNI_LL] = LOWER,
     [UNI_LT] = UPPER,
     [UNI_LM] = BOTH,
     [UNI_LO] = BOTH,
     [UNI_MN] = BOTH,
     [UNI_MC] = BOTH,
     [UNI_ME] = BOTH,
     NUMBERS,
     SCAN_CATEGORY_BLANKS},
    false,
};
static const struct classes ascii_cased = {
    ASCII,
    {LETTERS, NUMBERS, SCAN_CATEGORY_BLANKS},
    false,
};
static const struct classes older_cased = {
    ASCII,
    {LETTERS, NUMBERS, SCAN_CATEGORY_BLANKS},
    true,
};

static const struct classes marked_cased = {
    ASCII,
    {LETTERS, [UNI_MN] = BOTH, [UNI_MC] = BOTH, [UNI_ME] = BOTH, NUMBERS, SCAN_CATEGORY_BLANKS},
    true,
};

static inline bool is_word(enum cls c)
{
    return c == UPPER || c == LOWER || c == BOTH;
}

/* U*W+ from p, or NULL; *upper_end is where U* ends (U+W* when there is no W to end in). */
static const uint8_t *mixed(const struct classes *t, const uint8_t *p, const uint8_t *end,
                            const uint8_t **upper_end)
{
    const uint8_t *last_both_end = NULL;
    uint32_t n;
    for (; p < end; p += n) {
        enum cls c = class_at(t, p, &n);
        if (c == BOTH)
            last_both_end = p + n;
        else if (c == LOWER)
            break;
        else if (c != UPPER) {
            *upper_end = p;
            return last_both_end;
        }
    }
    *upper_end = p;
    if (p == end)
        return last_both_end;
    for (; p < end; p += n) {
        enum cls c = class_at(t, p, &n);
        if (c != LOWER && c != BOTH)
            break;
    }
    return p;
}

static const uint8_t *tail(const struct scan_rules *r, const uint8_t *p, const uint8_t *end)
{
    if (p < end && *p == '\'' && !r->no_contraction)
        return p + contraction(p, end, true, r->fold_all);
    return p;
}

/* A word that begins at p, behind `prefix` bytes that are no letter; NULL when none does. */
static const uint8_t *word(const struct classes *t, const uint8_t *p, const uint8_t *end,
                           uint32_t prefix, enum cls first)
{
    const uint8_t *upper_end = p, *behind = p, *q;
    if (prefix && (q = mixed(t, p + prefix, end, &behind)) != NULL)
        return q;
    if (is_word(first) && (q = mixed(t, p, end, &upper_end)) != NULL)
        return q;
    if (prefix && behind > p + prefix)
        return behind;
    return is_word(first) ? upper_end : NULL;
}

const uint8_t *scan_next_case(const struct scan_rules *r, const uint8_t *p, const uint8_t *end)
{
    const struct classes *t = !r->ascii_case ? &cased
                              : r->marks     ? &marked_cased
                              : r->older     ? &older_cased
                                             : &ascii_cased;
    bool marks = !r->ascii_case || r->marks;
    uint32_t n, n2;
    enum cls c = class_at(t, p, &n), c2 = NEWLINE;
    /* Marks are no letters to \p{L}: they may also be the character in front. */
    bool mark = c == BOTH && marks && *p >= 0x80;
    if (mark) {
        uint32_t cp;
        uni_next(p, &cp);
        mark = uni_is(cp, UNI_MARK);
    }
    if (c == NUMBER) {
        for (uint32_t i = 1; i < r->digits && p + n < end && class_at(t, p + n, &n2) == NUMBER; i++)
            n += n2;
        return p + n;
    }
    if (is_word(c) && !mark)
        return tail(r, word(t, p, end, 0, c), end);
    if (p + n < end)
        c2 = class_at(t, p + n, &n2);
    if (mark || (c != NEWLINE && is_word(c2))) {
        const uint8_t *q = word(t, p, end, p + n < end ? n : 0, c);
        if (q)
            return tail(r, q, end);
    }
    const uint8_t *from = c == OTHER ? p : *p == ' ' && c2 == OTHER ? p + n : NULL;
    if (!from)
        return blanks(p, end);
    /* [^\s\p{L}\p{N}]+ goes on over marks. */
    while (from < end) {
        c = class_at(t, from, &n);
        if (c != OTHER && !(c == BOTH && marks))
            break;
        if (c == BOTH) {
            uint32_t cp;
            uni_next(from, &cp);
            if (!uni_is(cp, UNI_MARK))
                break;
        }
        from += n;
    }
    return skip_newlines(from, end, true);
}
