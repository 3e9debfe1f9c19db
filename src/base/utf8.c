#include "base/utf8.h"

/* How many bytes the lead byte asks for, and the range its second byte must lie in. */
static size_t lead(unsigned char c, unsigned char *lo, unsigned char *hi)
{
    *lo = 0x80;
    *hi = 0xBF;
    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF)
        return 2;
    if (c >= 0xE0 && c <= 0xEF) {
        if (c == 0xE0)
            *lo = 0xA0;
        if (c == 0xED)
            *hi = 0x9F;
        return 3;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        if (c == 0xF0)
            *lo = 0x90;
        if (c == 0xF4)
            *hi = 0x8F;
        return 4;
    }
    return 0;
}

/* Bytes at `at` that begin a character; *whole says whether it is complete. At least 1. */
static size_t subpart(struct str s, size_t at, bool *whole)
{
    unsigned char lo, hi;
    const unsigned char *p = (const unsigned char *)s.p + at;
    size_t left = s.n - at, need = lead(p[0], &lo, &hi), n = 1;
    *whole = false;
    if (need == 0)
        return 1;
    for (; n < need; n++) {
        if (n == left || p[n] < lo || p[n] > hi)
            return n;
        lo = 0x80;
        hi = 0xBF;
    }
    *whole = true;
    return n;
}

size_t utf8_decode(struct str s, size_t at, uint32_t *cp)
{
    if (at >= s.n)
        return 0;
    const unsigned char *p = (const unsigned char *)s.p + at;
    if (p[0] < 0x80) {
        *cp = p[0];
        return 1;
    }
    bool whole;
    size_t n = subpart(s, at, &whole);
    if (!whole)
        return 0;
    static const unsigned char mask[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t v = p[0] & mask[n];
    for (size_t i = 1; i < n; i++)
        v = v << 6 | (p[i] & 0x3Fu);
    *cp = v;
    return n;
}

size_t utf8_encode(char out[4], uint32_t cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp >= 0xD800 && cp <= 0xDFFF)
        return 0;
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    if (cp > 0x10FFFF)
        return 0;
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

void utf8_add(struct buf *b, uint32_t cp)
{
    char c[4];
    size_t n = utf8_encode(c, cp);
    if (n == 0)
        n = utf8_encode(c, 0xFFFD);
    buf_add(b, c, n);
}

static bool is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* Length of a whole character that begins at p, of those that need no look at their second byte's
 * range; 0 for any other. */
static size_t plain_char(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xC2 && p[0] < 0xE0)
        return left > 1 && is_tail(p[1]) ? 2 : 0;
    if (p[0] > 0xE0 && p[0] < 0xF0 && p[0] != 0xED)
        return left > 2 && is_tail(p[1]) && is_tail(p[2]) ? 3 : 0;
    return 0;
}

size_t utf8_valid_prefix(struct str s)
{
    size_t at = 0;
    while (at < s.n) {
        uint64_t word;
        while (s.n - at >= sizeof word) {
            memcpy(&word, s.p + at, sizeof word);
            if (word & UINT64_C(0x8080808080808080))
                break;
            at += sizeof word;
        }
        if (at == s.n)
            break;
        /* Where one character is not ASCII, the next is seldom followed by eight that are. */
        size_t n = plain_char((const unsigned char *)s.p + at, s.n - at);
        while (n) {
            at += n;
            if (at == s.n || ((unsigned char)s.p[at] < 0x80 && s.n - at >= sizeof word))
                break;
            n = plain_char((const unsigned char *)s.p + at, s.n - at);
        }
        if (n)
            continue;
        bool whole;
        n = subpart(s, at, &whole);
        if (!whole)
            return at;
        at += n;
    }
    return at;
}

size_t utf8_ill_formed(struct str s, size_t at)
{
    bool whole;
    size_t n = at < s.n ? subpart(s, at, &whole) : 0;
    return n && whole ? 0 : n;
}

size_t utf8_count(struct str s)
{
    size_t count = 0;
    uint32_t cp;
    for (size_t at = 0; at < s.n; count++) {
        size_t n = utf8_decode(s, at, &cp);
        at += n ? n : 1;
    }
    return count;
}

size_t utf8_add_lossy(struct buf *b, struct str s)
{
    size_t replaced = 0;
    while (s.n) {
        size_t good = utf8_valid_prefix(s);
        buf_add(b, s.p, good);
        s = str_skip(s, good);
        if (s.n) {
            bool whole;
            s = str_skip(s, subpart(s, 0, &whole));
            utf8_add(b, 0xFFFD);
            replaced++;
        }
    }
    return replaced;
}

struct range {
    uint32_t lo, hi;
};

static bool within(uint32_t cp, const struct range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= r[i].lo && cp <= r[i].hi)
            return true;
    return false;
}

/* Blocks, not a full table: enough to keep columns straight (Unicode's EastAsianWidth.txt W and F,
 * and the combining blocks). wcwidth is no choice: it depends on the locale. */
static const struct range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x2614, 0x2615},   {0x26A1, 0x26A1},   {0x2705, 0x2705},   {0x274C, 0x274C},
    {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FB}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};
static const struct range zero[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093C, 0x093C},   {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
    {0x202A, 0x202E}, {0x2060, 0x2064},   {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

size_t utf8_width(struct str s)
{
    size_t columns = 0;
    uint32_t cp;
    for (size_t at = 0; at < s.n;) {
        size_t n = utf8_decode(s, at, &cp);
        at += n ? n : 1;
        if (n == 0)
            columns++;
        else if (cp < 0x20 || cp == 0x7F || within(cp, zero, sizeof zero / sizeof zero[0]))
            continue;
        else
            columns += within(cp, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
    }
    return columns;
}
