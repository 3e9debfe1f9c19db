#include "token/scan.h"

#include "token/scan_ascii.h"
#include "token/scan_internal.h"

#define LETTERS \
    [UNI_LU] = LETTER, [UNI_LL] = LETTER, [UNI_LT] = LETTER, [UNI_LM] = LETTER, [UNI_LO] = LETTER
#define NUMBERS [UNI_ND] = NUMBER, [UNI_NL] = NUMBER, [UNI_NO] = NUMBER
#define ASCII                                                                       \
    {                                                                               \
        SCAN_ASCII_BLANKS, ['0'] = SCAN_TEN(NUMBER), ['A'] = SCAN_ALPHABET(LETTER), \
                           ['a'] = SCAN_ALPHABET(LETTER), SCAN_WIDE                 \
    }

#define PLAIN                                  \
    {                                          \
        LETTERS, NUMBERS, SCAN_CATEGORY_BLANKS \
    }
#define MARKS                                                                             \
    {                                                                                     \
        LETTERS, NUMBERS,                                                                 \
            SCAN_CATEGORY_BLANKS, [UNI_MN] = LETTER, [UNI_MC] = LETTER, [UNI_ME] = LETTER \
    }

const struct classes scan_plain = {ASCII, PLAIN, false};
static const struct classes older_plain = {ASCII, PLAIN, true};
const struct classes scan_marks = {ASCII, MARKS, false};
static const struct classes older_marks = {ASCII, MARKS, true};

static inline const uint8_t *next_gpt2(const struct classes *t, const uint8_t *p,
                                       const uint8_t *end)
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
    enum cls c = class_at(t, q, &n);
    if (c == LETTER || c == NUMBER || c == OTHER)
        return skip_class(t, q + n, end, c);
    return end_of_blanks(p, end, blank_run(p, end));
}

static inline const uint8_t *next_qwen2(const struct classes *t, const struct scan_rules *r,
                                        const uint8_t *p, const uint8_t *end)
{
    uint32_t n, n2 = 0;
    enum cls c = class_at(t, p, &n), c2 = NEWLINE;
    if (c == LETTER)
        return skip_class(t, p + n, end, LETTER);
    if (*p == '\'' && !r->no_contraction) {
        size_t len = contraction(p, end, true, r->fold_all);
        if (len)
            return p + len;
    }
    if (c == NUMBER) {
        for (uint32_t i = 1; i < r->digits && p + n < end && class_at(t, p + n, &n2) == NUMBER; i++)
            n += n2;
        return p + n;
    }
    if (c != NEWLINE && p + n < end) {
        c2 = class_at(t, p + n, &n2);
        if (c2 == LETTER)
            return skip_class(t, p + n + n2, end, LETTER);
    }
    if (c == OTHER)
        return skip_newlines(skip_class(t, p + n, end, OTHER), end, false);
    if (*p == ' ' && c2 == OTHER)
        return skip_newlines(skip_class(t, p + n + n2, end, OTHER), end, false);
    if (r->whole_end && blank_run(p, end).end == end)
        return end;
    return blanks(p, end);
}

#define FILL(next)                        \
    while (p < end && n < max) {          \
        p = next;                         \
        ends[n++] = (uint32_t)(p - base); \
    }                                     \
    break

size_t scan_by_character(const struct scan_rules *rules, struct str text, size_t at, uint32_t *ends,
                         size_t max)
{
    const uint8_t *base = (const uint8_t *)text.p, *p = base + at, *end = base + text.n;
    size_t n = 0;
    switch (rules->family) {
    case SCAN_WHOLE:
        ends[n++] = (uint32_t)text.n;
        break;
    case SCAN_GPT2:
        FILL(next_gpt2(rules->older ? &older_plain : &scan_plain, p, end));
    case SCAN_QWEN2:
        /* The usual tables are named here, so that their addresses are constants. */
        if (rules->older || rules->marks) {
            const struct classes *t =
                rules->older ? rules->marks ? &older_marks : &older_plain : &scan_marks;
            FILL(next_qwen2(t, rules, p, end));
        }
        FILL(next_qwen2(&scan_plain, rules, p, end));
    case SCAN_CASE:
        FILL(scan_next_case(rules, p, end));
    case SCAN_KIMI:
        FILL(scan_next_kimi(rules, p, end));
    case SCAN_DEEPSEEK:
        FILL(scan_next_deepseek(rules, p, end));
    case SCAN_RUNS:
        if (rules->set == SCAN_DIGIT_GROUPS) {
            FILL(scan_next_group(rules, base, p, end));
        }
        FILL(scan_next_runs(rules, p, end));
    }
    return n;
}

/* Pieces scanned by character before a block of ASCII is tried again behind other text. */
#define WIDE_PIECES 8u

size_t scan(const struct scan_rules *rules, struct str text, size_t at, uint32_t ends[SCAN_BATCH])
{
    const uint8_t *base = (const uint8_t *)text.p;
    size_t n = 0;
    if (!scan_ascii_can(rules))
        return scan_by_character(rules, text, at, ends, SCAN_BATCH);
    while (at < text.n && n + SCAN_ASCII_BLOCK <= SCAN_BATCH) {
        size_t by_character = WIDE_PIECES;
        if (text.n - at >= SCAN_ASCII_BLOCK && base[at] < 0x80) {
            bool stopped;
            size_t got = scan_ascii(rules, base, base + at, ends + n, &stopped);
            n += got;
            at = got ? ends[n - 1] : at;
            if (got && !stopped)
                continue;
            by_character = 1;
        }
        n += scan_by_character(rules, text, at, ends + n, by_character);
        at = ends[n - 1];
    }
    return n;
}
