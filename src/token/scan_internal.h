/*
 * What the scanners share: classes of characters and runs of white space.
 *
 *     enum cls c = class_at(&classes, p, &n);            // p < end; n bytes long
 *     struct blank_run r = blank_run(p, end);
 *
 * Each scanner has its own table of classes: ASCII by byte, the rest by general category.
 */
#ifndef TALLY_TOKEN_SCAN_INTERNAL_H
#define TALLY_TOKEN_SCAN_INTERNAL_H

#include "token/scan.h"
#include "token/unicode.h"

/* A family uses those that its expression tells apart. WIDE: look in by_category. */
enum cls { OTHER, LETTER, UPPER, LOWER, BOTH, NUMBER, PUNCT, BLANK, NEWLINE, WIDE };

struct classes {
    uint8_t ascii[256], category[32];
    bool older; /* what Unicode 16 added is OTHER */
};

#define SCAN_FOUR(c) c, c, c, c
#define SCAN_TEN(c) SCAN_FOUR(c), SCAN_FOUR(c), c, c
#define SCAN_ALPHABET(c) SCAN_TEN(c), SCAN_TEN(c), SCAN_FOUR(c), c, c
#define SCAN_SIXTEEN(c) SCAN_FOUR(c), SCAN_FOUR(c), SCAN_FOUR(c), SCAN_FOUR(c)
#define SCAN_32(c) SCAN_SIXTEEN(c), SCAN_SIXTEEN(c)
#define SCAN_ASCII_BLANKS                                                               \
    ['\t'] = BLANK, ['\n'] = NEWLINE, ['\v'] = BLANK, ['\f'] = BLANK, ['\r'] = NEWLINE, \
    [' '] = BLANK
#define SCAN_WIDE [0x80] = SCAN_32(WIDE), SCAN_32(WIDE), SCAN_32(WIDE), SCAN_32(WIDE)
#define SCAN_CATEGORY_BLANKS \
    [UNI_ZS] = BLANK, [UNI_ZL] = BLANK, [UNI_ZP] = BLANK, [UNI_CC_SPACE] = BLANK

extern const struct classes scan_plain; /* letters, numbers, white space */
extern const struct classes scan_marks; /* the same, marks being letters */

static inline enum cls class_at(const struct classes *t, const uint8_t *p, uint32_t *n)
{
    enum cls c = (enum cls)t->ascii[*p];
    *n = 1;
    if (c == WIDE) {
        uint32_t cp;
        *n = uni_next(p, &cp);
        c = (enum cls)t->category[uni_prop(cp) & 31];
        if (t->older && uni_is_newer(cp))
            c = OTHER;
    }
    return c;
}

static inline const uint8_t *skip_class(const struct classes *t, const uint8_t *p,
                                        const uint8_t *end, enum cls want)
{
    uint32_t n;
    while (p < end && class_at(t, p, &n) == want)
        p += n;
    return p;
}

static inline const uint8_t *skip_newlines(const uint8_t *p, const uint8_t *end, bool slash)
{
    while (p < end && (*p == '\n' || *p == '\r' || (slash && *p == '/')))
        p++;
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
        enum cls c = class_at(&scan_plain, r.end, &n);
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

/* \s*[\r\n]+|\s+(?!\S)|\s+ */
static inline const uint8_t *blanks(const uint8_t *p, const uint8_t *end)
{
    struct blank_run r = blank_run(p, end);
    return r.newline_end ? r.newline_end : end_of_blanks(p, end, r);
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

/* scan, without the blocks of scan_ascii.h; up to max ends. */
size_t scan_by_character(const struct scan_rules *rules, struct str text, size_t at, uint32_t *ends,
                         size_t max);
const uint8_t *scan_next_case(const struct scan_rules *r, const uint8_t *p, const uint8_t *end);
const uint8_t *scan_next_kimi(const struct scan_rules *r, const uint8_t *p, const uint8_t *end);
const uint8_t *scan_next_deepseek(const struct scan_rules *r, const uint8_t *p, const uint8_t *end);
const uint8_t *scan_next_group(const struct scan_rules *r, const uint8_t *base, const uint8_t *p,
                               const uint8_t *end);
const uint8_t *scan_next_runs(const struct scan_rules *r, const uint8_t *p, const uint8_t *end);

#endif
