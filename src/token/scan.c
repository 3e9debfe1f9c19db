#include "token/scan.h"

#include "token/unicode.h"

enum cls { OTHER, LETTER, NUMBER, BLANK, NEWLINE, WIDE };

/* Classes of ASCII; WIDE is the head of a longer character, looked up in the tables. */
#define FOUR(c) c, c, c, c
#define TEN(c) FOUR(c), FOUR(c), c, c
#define ALPHABET TEN(LETTER), TEN(LETTER), FOUR(LETTER), LETTER, LETTER
#define SIXTEEN(c) FOUR(c), FOUR(c), FOUR(c), FOUR(c)
static const uint8_t ascii[256] = {
    ['\t'] = BLANK, ['\n'] = NEWLINE,    ['\v'] = BLANK,   ['\f'] = BLANK,   ['\r'] = NEWLINE,
    [' '] = BLANK,  ['0'] = TEN(NUMBER), ['A'] = ALPHABET, ['a'] = ALPHABET, [0x80] = SIXTEEN(WIDE),
    SIXTEEN(WIDE),  SIXTEEN(WIDE),       SIXTEEN(WIDE),    SIXTEEN(WIDE),    SIXTEEN(WIDE),
    SIXTEEN(WIDE),  SIXTEEN(WIDE),
};

/* By general category, in enum uni_category's order. */
static const uint8_t of_category[32] = {
    [UNI_LU] = LETTER, [UNI_LL] = LETTER, [UNI_LT] = LETTER, [UNI_LM] = LETTER,
    [UNI_LO] = LETTER, [UNI_ND] = NUMBER, [UNI_NL] = NUMBER, [UNI_NO] = NUMBER,
    [UNI_ZS] = BLANK,  [UNI_ZL] = BLANK,  [UNI_ZP] = BLANK,  [UNI_CC_SPACE] = BLANK,
};

static inline enum cls wide_class(const uint8_t *p, uint32_t *n)
{
    uint32_t cp;
    *n = uni_next(p, &cp);
    return (enum cls)of_category[uni_prop(cp) & 31];
}

/* Class and length of the character at p < end. */
static inline enum cls class_at(const uint8_t *p, uint32_t *n)
{
    enum cls c = (enum cls)ascii[*p];
    *n = 1;
    return c == WIDE ? wide_class(p, n) : c;
}

static inline const uint8_t *skip_class(const uint8_t *p, const uint8_t *end, enum cls want)
{
    uint32_t n;
    while (p < end && class_at(p, &n) == want)
        p += n;
    return p;
}

/* A run of white space begins at p: its end, its last newline's end (or NULL), its last char. */
struct blank_run {
    const uint8_t *end, *newline_end, *last;
};

static inline struct blank_run blank_run(const uint8_t *p, const uint8_t *end)
{
    struct blank_run r = {p, NULL, p};
    while (r.end < end) {
        uint32_t n;
        enum cls c = class_at(r.end, &n);
        if (c != BLANK && c != NEWLINE)
            break;
        r.last = r.end;
        r.end += n;
        if (c == NEWLINE)
            r.newline_end = r.end;
    }
    return r;
}

/* \s+(?!\S)|\s+ : all of a run that ends the text, else all but its last character. */
static inline const uint8_t *end_of_blanks(const uint8_t *p, const uint8_t *end, struct blank_run r)
{
    return r.end == end || r.last == p ? r.end : r.last;
}

/* Length of 's 't 'm 'd 're 've 'll behind an apostrophe at p, the apostrophe included; 0: none. */
static inline size_t contraction(const uint8_t *p, const uint8_t *end, bool any_case, bool fold_all)
{
    size_t left = (size_t)(end - p);
    if (left < 2)
        return 0;
    uint8_t fold = any_case ? 0x20 : 0, a = p[1] | fold;
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    if (left < 3)
        return 0;
    uint8_t b = p[2] | fold;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
        return 3;
    /* U+017F, long s, folds to s. */
    return fold_all && p[1] == 0xC5 && p[2] == 0xBF ? 3 : 0;
}

static const uint8_t *next_gpt2(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *q = p;
    uint32_t n;
    if (*p == '\'') {
        size_t len = contraction(p, end, false, false);
        if (len)
            return p + len;
    }
    if (*p == ' ' && p + 1 < end)
        q = p + 1;
    enum cls c = class_at(q, &n);
    if (c == LETTER || c == NUMBER || c == OTHER)
        return skip_class(q + n, end, c);
    return end_of_blanks(p, end, blank_run(p, end));
}

static const uint8_t *skip_newlines(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == '\n' || *p == '\r'))
        p++;
    return p;
}

static inline const uint8_t *next_qwen2(const uint8_t *p, const uint8_t *end, unsigned digits,
                                        bool fold_all)
{
    uint32_t n, n2 = 0;
    enum cls c = class_at(p, &n), c2 = NEWLINE;
    if (c == LETTER)
        return skip_class(p + n, end, LETTER);
    if (*p == '\'') {
        size_t len = contraction(p, end, true, fold_all);
        if (len)
            return p + len;
    }
    if (c == NUMBER) {
        for (unsigned i = 1; i < digits && p + n < end && class_at(p + n, &n2) == NUMBER; i++)
            n += n2;
        return p + n;
    }
    if (c != NEWLINE && p + n < end) {
        c2 = class_at(p + n, &n2);
        if (c2 == LETTER)
            return skip_class(p + n + n2, end, LETTER);
    }
    if (c == OTHER)
        return skip_newlines(skip_class(p + n, end, OTHER), end);
    if (*p == ' ' && c2 == OTHER)
        return skip_newlines(skip_class(p + n + n2, end, OTHER), end);
    struct blank_run r = blank_run(p, end);
    return r.newline_end ? r.newline_end : end_of_blanks(p, end, r);
}

size_t scan(const struct scan_rules *rules, struct str text, size_t at, uint32_t ends[SCAN_BATCH])
{
    const uint8_t *base = (const uint8_t *)text.p, *p = base + at, *end = base + text.n;
    size_t n = 0;
    switch (rules->family) {
    case SCAN_WHOLE:
        ends[n++] = (uint32_t)text.n;
        break;
    case SCAN_GPT2:
        while (p < end && n < SCAN_BATCH) {
            p = next_gpt2(p, end);
            ends[n++] = (uint32_t)(p - base);
        }
        break;
    case SCAN_QWEN2:
        while (p < end && n < SCAN_BATCH) {
            p = next_qwen2(p, end, rules->digits, rules->fold_all);
            ends[n++] = (uint32_t)(p - base);
        }
        break;
    }
    return n;
}
