#include "token/scan_ascii.h"

#include <string.h>

/* SCAN_NO_SSE2 is for the test, which compares both ways of making masks. */
#if defined(__SSE2__) && !defined(SCAN_NO_SSE2)
#include <emmintrin.h>
#define HAVE_MASKS 1
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HAVE_MASKS 1
#else
#define HAVE_MASKS 0
#endif

/* GCC's and Clang's vectors: SSE2, NEON, or whatever the machine has. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* One bit for each of 16 bytes that are 0 or 0xFF. */
static inline uint64_t bits_of(bytes16 v)
{
#if defined(__SSE2__) && !defined(SCAN_NO_SSE2)
    return (uint64_t)(uint32_t)_mm_movemask_epi8((__m128i)v);
#else
    uint64_t half[2];
    memcpy(half, &v, sizeof half);
    for (unsigned i = 0; i < 2; i++) /* byte i keeps bit i; the product's top byte is their sum */
        half[i] = (half[i] & 0x8040201008040201u) * 0x0101010101010101u >> 56;
    return half[0] | half[1] << 8;
#endif
}

static inline bytes16 every(uint8_t c)
{
    return (bytes16){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
}

static inline bytes16 within(bytes16 v, uint8_t from, uint8_t n)
{
    return (bytes16)(v - every(from) < every(n));
}

void scan_ascii_classify(struct ascii_masks *m, const uint8_t *p)
{
    *m = (struct ascii_masks){0};
    for (unsigned i = 0; i < SCAN_ASCII_BLOCK; i += 16) {
        bytes16 v;
        memcpy(&v, p + i, sizeof v);
        m->letter |= bits_of(within(v | every(0x20), 'a', 26)) << i;
        m->upper |= bits_of(within(v, 'A', 26)) << i;
        m->digit |= bits_of(within(v, '0', 10)) << i;
        m->space |= bits_of((bytes16)(v == every(' '))) << i;
        m->newline |= bits_of((bytes16)(v == every('\n')) | (bytes16)(v == every('\r'))) << i;
        m->blank |= bits_of(within(v, '\t', 5)) << i;
        m->control |= bits_of(within(v, 0, 0x20) | (bytes16)(v == every(0x7F))) << i;
        m->apostrophe |= bits_of((bytes16)(v == every('\''))) << i;
        m->slash |= bits_of((bytes16)(v == every('/'))) << i;
        m->wide |= bits_of((bytes16)(v >= every(0x80))) << i;
    }
    m->blank |= m->space; /* all white space */
    m->control &= ~m->blank;
    m->other = ~(m->letter | m->digit | m->blank | m->wide);
}

/* \p{N}{1,k} */
static inline uint64_t digit_starts(const struct ascii_masks *m, uint32_t k, uint64_t *hard)
{
    uint64_t d = m->digit, two = d & d << 1, starts = d & ~(d << 1);
    if (k == 1)
        return d;
    if (k == 3)
        *hard |= two & two << 2; /* the fourth */
    else if (k != SCAN_ANY_DIGITS)
        *hard |= two;
    return starts;
}

/* [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,k} | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 * A letter behind another, or behind what may stand in front of it, begins nothing: a blank (the
 * last of several is left to what follows), or one other character alone, unless a space took that
 * one. */
static inline uint64_t qwen2_starts(const struct ascii_masks *m, const struct scan_rules *r,
                                    uint64_t *hard)
{
    uint64_t gap = m->blank & ~m->newline, before_gap = gap << 1;
    uint64_t other = m->other & ~(m->other << 1 | m->space << 1);
    uint64_t in_front = (gap | other) & m->letter >> 1;
    uint64_t starts = m->letter & ~(m->letter << 1 | in_front << 1);
    starts |= digit_starts(m, r->digits, hard) | other;
    starts |= gap & ~(before_gap & m->blank >> 1);
    starts |= m->newline & ~(m->newline << 1 | m->other << 1 | before_gap);
    *hard |= m->newline & before_gap; /* all of the white space before it belongs to it */
    /* So does a blank behind a newline when only white space comes before another: a sum carries
     * each run of blanks that begins so to its end. */
    uint64_t behind = gap & m->newline << 1, run_ends;
    if (__builtin_add_overflow(gap, behind, &run_ends) ||
        (run_ends & ~gap & (m->newline | m->wide)))
        *hard |= behind;
    return starts;
}

/* The same, but that a capital begins a word behind a small letter, and [\r\n/]*. */
static inline uint64_t case_starts(const struct ascii_masks *m, const struct scan_rules *r,
                                   uint64_t *hard)
{
    uint64_t small = m->letter & ~m->upper;
    uint64_t starts = qwen2_starts(m, r, hard) | (m->upper & small << 1);
    *hard |= m->slash & m->newline << 1;
    return starts;
}

/* [!-/:-@[-`{-~][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+ | ?[\p{P}\p{S}]+[\r\n]* | ...
 * The same again where neither digits nor controls stand, which match nothing by themselves. */
static inline uint64_t deepseek_starts(const struct ascii_masks *m, const struct scan_rules *r,
                                       uint64_t *hard)
{
    *hard |= m->digit | m->control;
    return qwen2_starts(m, r, hard);
}

/* ?\p{L}+ | ?\p{N}+ | ?[^\s\p{L}\p{N}]+ | \s+(?!\S) | \s+ */
static inline uint64_t gpt2_starts(const struct ascii_masks *m)
{
    uint64_t joined = m->space << 1;
    uint64_t starts = m->letter & ~(m->letter << 1 | joined);
    starts |= m->digit & ~(m->digit << 1 | joined);
    starts |= m->other & ~(m->other << 1 | joined);
    return starts | (m->blank & ~(m->blank << 1 & m->blank >> 1));
}

bool scan_ascii_can(const struct scan_rules *rules)
{
    /* Whether white space ends the text cannot be seen in a block. */
    return HAVE_MASKS && !rules->whole_end &&
           (rules->family == SCAN_QWEN2 || rules->family == SCAN_CASE ||
            rules->family == SCAN_GPT2 || rules->family == SCAN_DEEPSEEK);
}

static inline uint32_t lowest(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits | (uint64_t)1 << 63);
}

size_t scan_ascii(const struct scan_rules *rules, const uint8_t *base, const uint8_t *p,
                  uint32_t *ends, bool *stopped)
{
    struct ascii_masks m;
    scan_ascii_classify(&m, p);
    /* Wide characters may be white space or letters: what stands before one cannot know. */
    uint64_t hard = m.wide | m.wide >> 1, starts;
    bool contraction =
        rules->family == SCAN_GPT2 || (rules->family != SCAN_DEEPSEEK && !rules->no_contraction);
    if (contraction)
        hard |= m.apostrophe & m.letter >> 1;
    if (rules->family == SCAN_GPT2)
        starts = gpt2_starts(&m);
    else if (rules->family == SCAN_DEEPSEEK)
        starts = deepseek_starts(&m, rules, &hard);
    else if (rules->family == SCAN_CASE)
        starts = case_starts(&m, rules, &hard);
    else
        starts = qwen2_starts(&m, rules, &hard);
    /* The last byte does not see what follows it. */
    uint32_t end = lowest(hard), n = 0;
    *stopped = end < 63;
    starts &= (((uint64_t)1 << end) - 1) & ~(uint64_t)1;
    uint32_t made = (uint32_t)__builtin_popcountll(starts), at = (uint32_t)(p - base);
    for (; n < made; n += 4) /* by fours: how many there are is seldom foretold */
        for (unsigned i = 0; i < 4; i++, starts &= starts - 1)
            ends[n + i] = at + lowest(starts);
    return made;
}
