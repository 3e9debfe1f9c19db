/* DeepSeek V3's last expression, and runs of one set of characters. */
#include <string.h>

#include "token/scan_internal.h"

/* [!-/:-@[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*
 * |\s*[\r\n]+|\s+(?!\S)|\s+ ; LETTER is \p{L}\p{M}, PUNCT is \p{P}\p{S}, OTHER all that is left. */
#define DEEPSEEK                                                                                  \
    {SCAN_ASCII_BLANKS,                                                                           \
     ['!'] = SCAN_TEN(PUNCT),                                                                     \
     SCAN_FOUR(PUNCT),                                                                            \
     PUNCT,                                                                                       \
     [':'] = SCAN_FOUR(PUNCT),                                                                    \
     PUNCT,                                                                                       \
     PUNCT,                                                                                       \
     PUNCT,                                                                                       \
     ['A'] = SCAN_ALPHABET(LETTER),                                                               \
     ['['] = SCAN_FOUR(PUNCT),                                                                    \
     PUNCT,                                                                                       \
     PUNCT,                                                                                       \
     ['a'] = SCAN_ALPHABET(LETTER),                                                               \
     ['{'] = SCAN_FOUR(PUNCT),                                                                    \
     SCAN_WIDE},                                                                                  \
    {                                                                                             \
        [UNI_LU] = LETTER, [UNI_LL] = LETTER, [UNI_LT] = LETTER, [UNI_LM] = LETTER,               \
        [UNI_LO] = LETTER, [UNI_MN] = LETTER, [UNI_MC] = LETTER, [UNI_ME] = LETTER,               \
        [UNI_PC] = PUNCT, [UNI_PD] = PUNCT, [UNI_PS] = PUNCT, [UNI_PE] = PUNCT, [UNI_PI] = PUNCT, \
        [UNI_PF] = PUNCT, [UNI_PO] = PUNCT, [UNI_SM] = PUNCT, [UNI_SC] = PUNCT, [UNI_SK] = PUNCT, \
        [UNI_SO] = PUNCT, SCAN_CATEGORY_BLANKS                                                    \
    }
static const struct classes deepseek = {DEEPSEEK, false}, older_deepseek = {DEEPSEEK, true};

static bool ascii_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

/* The end of a match at p, or NULL. */
static const uint8_t *match(const struct classes *t, const uint8_t *p, const uint8_t *end)
{
    uint32_t n, n2;
    enum cls c = class_at(t, p, &n), c2 = NEWLINE;
    if (p + n < end)
        c2 = class_at(t, p + n, &n2);
    if (c == LETTER)
        return skip_class(t, p + n, end, LETTER);
    if (c == PUNCT) {
        if (*p < 0x80 && p + 1 < end && ascii_letter(p[1])) {
            for (p++; p < end && ascii_letter(*p); p++)
                ;
            return p;
        }
        return skip_newlines(skip_class(t, p + n, end, PUNCT), end, false);
    }
    if (c != NEWLINE && c2 == LETTER)
        return skip_class(t, p + n, end, LETTER);
    if (*p == ' ' && c2 == PUNCT)
        return skip_newlines(skip_class(t, p + n, end, PUNCT), end, false);
    return c == OTHER ? NULL : blanks(p, end);
}

const uint8_t *scan_next_deepseek(const struct scan_rules *r, const uint8_t *p, const uint8_t *end)
{
    const struct classes *t = r->older ? &older_deepseek : &deepseek;
    const uint8_t *q = match(t, p, end);
    if (q)
        return q;
    do {
        uint32_t n;
        class_at(t, p, &n);
        p += n;
    } while (p < end && !match(t, p, end));
    return p;
}

static bool in_set(const struct scan_rules *r, uint32_t cp)
{
    enum scan_set set = r->set;
    if (r->older && uni_is_newer(cp))
        return false;
    switch (set) {
    case SCAN_NUMBERS:
    case SCAN_DIGIT_GROUPS:
        return uni_is(cp, UNI_NUMBER);
    case SCAN_THREE_DIGITS:
        return cp - '0' < 10;
    case SCAN_KANA_AND_HAN:
        return (cp >= 0x4E00 && cp <= 0x9FA5) || (cp >= 0x3040 && cp <= 0x30FF);
    case SCAN_PUNCTUATION:
    case SCAN_PUNCTUATION_PLAIN:
        if (uni_is(cp, UNI_PUNCTUATION))
            return true;
        return cp == '$' || cp == '+' || cp == '<' || cp == '=' || cp == '>' || cp == '^' ||
               cp == '~' || cp == '|' || (cp == '`' && set == SCAN_PUNCTUATION);
    case SCAN_NEWLINE:
        return cp == '\n';
    }
    return false;
}

static bool ascii_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool three_digits(const uint8_t *p, const uint8_t *end)
{
    return end - p >= 3 && ascii_digit(p[0]) && ascii_digit(p[1]) && ascii_digit(p[2]);
}

/* On over ASCII that no set of numbers, kana or Han has a part in, by eights. */
static const uint8_t *skip_outside(const struct scan_rules *r, const uint8_t *p, const uint8_t *end)
{
    const uint64_t high = UINT64_C(0x8080808080808080), digits = UINT64_C(0x3030303030303030);
    uint64_t word;
    if (r->set != SCAN_NUMBERS && r->set != SCAN_KANA_AND_HAN)
        return p;
    for (; end - p >= (ptrdiff_t)sizeof word; p += sizeof word) {
        memcpy(&word, p, sizeof word);
        /* A byte of ASCII, its bits 4 and 5 turned, is below 10 for a digit; 0x76 more, 0x80. */
        bool digit = (((word ^ digits) + UINT64_C(0x7676767676767676)) & high) != high;
        if ((word & high) || (digit && r->set == SCAN_NUMBERS))
            break;
    }
    return p;
}

const uint8_t *scan_next_runs(const struct scan_rules *r, const uint8_t *p, const uint8_t *end)
{
    uint32_t cp, n = uni_next(p, &cp), taken = 1;
    bool inside = in_set(r, cp);
    if (r->set == SCAN_THREE_DIGITS) {
        if (three_digits(p, end))
            return p + 3;
        while (p < end && !three_digits(p, end))
            p++;
        return p;
    }
    p += n;
    for (; p < end && (!inside || taken < r->digits); p += n, taken++) {
        if (!inside && (p = skip_outside(r, p, end)) == end)
            break;
        n = uni_next(p, &cp);
        if (in_set(r, cp) != inside)
            break;
    }
    return p;
}

/* llama.cpp's grouping of digits (afmoe, tiny_aya): the first group of a run takes with it all text
 * since the last run. Whether p lies inside a run shows in the character before it; what is left of
 * that run is then a multiple of three. */
const uint8_t *scan_next_group(const struct scan_rules *r, const uint8_t *base, const uint8_t *p,
                               const uint8_t *end)
{
    uint32_t cp;
    size_t count = 0;
    if (p > base) {
        const uint8_t *before = p - 1;
        while (before > base && (*before & 0xC0) == 0x80)
            before--;
        uni_next(before, &cp);
        count = in_set(r, cp) ? 3 : 0;
    }
    const uint8_t *run = p;
    while (run < end) {
        uint32_t n = uni_next(run, &cp);
        if (in_set(r, cp))
            break;
        run += n;
    }
    if (run > p)
        count = 0;
    if (run == end)
        return end;
    if (count == 0) {
        size_t digits = 0;
        for (const uint8_t *q = run; q < end; digits++) {
            uint32_t n = uni_next(q, &cp);
            if (!in_set(r, cp))
                break;
            q += n;
        }
        count = (digits - 1) % 3 + 1;
    }
    for (; count; count--)
        run += uni_next(run, &cp);
    return run;
}
