#include "jinja/unicode.h"

#include "base/utf8.h"

struct uni_range {
    uint32_t lo, hi, step;
};
struct uni_delta {
    uint32_t lo, hi, step;
    int32_t delta;
};
struct uni_many {
    uint32_t from, to[UNI_CASE_MAX];
};

#include "jinja/unicode_tables.inc"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
#define IN(table, cp) within(table, COUNT(table), cp)

static bool within(const struct uni_range *r, size_t n, uint32_t cp)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cp > r[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && cp >= r[lo].lo && (cp - r[lo].lo) % r[lo].step == 0;
}

static bool ascii_between(uint32_t cp, char lo, char hi)
{
    return cp >= (uint32_t)lo && cp <= (uint32_t)hi;
}

bool uni_is_space(uint32_t cp)
{
    if (cp < 0x80)
        return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 0x1C && cp <= 0x1F);
    return cp == 0x85 || cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) ||
           cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

bool uni_is_alpha(uint32_t cp)
{
    return cp < 0x80 ? ascii_between(cp | 0x20, 'a', 'z') : IN(alpha_ranges, cp);
}

bool uni_is_decimal(uint32_t cp)
{
    return cp < 0x80 ? ascii_between(cp, '0', '9') : IN(decimal_ranges, cp);
}

bool uni_is_digit(uint32_t cp)
{
    return uni_is_decimal(cp) || (cp >= 0x80 && IN(digit_ranges, cp));
}

bool uni_is_numeric(uint32_t cp)
{
    return uni_is_digit(cp) || (cp >= 0x80 && IN(numeric_ranges, cp));
}

bool uni_is_alnum(uint32_t cp)
{
    return uni_is_alpha(cp) || uni_is_numeric(cp);
}

bool uni_is_printable(uint32_t cp)
{
    return cp < 0x80 ? cp >= 0x20 && cp < 0x7F : !IN(unprintable_ranges, cp);
}

bool uni_is_lower(uint32_t cp)
{
    return cp < 0x80 ? ascii_between(cp, 'a', 'z') : IN(lower_ranges, cp);
}

bool uni_is_upper(uint32_t cp)
{
    return cp < 0x80 ? ascii_between(cp, 'A', 'Z') : IN(upper_ranges, cp);
}

bool uni_is_title(uint32_t cp)
{
    return cp >= 0x80 && IN(title_ranges, cp);
}

bool uni_is_cased(uint32_t cp)
{
    return uni_is_lower(cp) || uni_is_upper(cp) || uni_is_title(cp);
}

bool uni_is_case_ignorable(uint32_t cp)
{
    if (cp < 0x80)
        return cp == '\'' || cp == '.' || cp == ':' || cp == '^' || cp == '`';
    return IN(ignorable_ranges, cp);
}

/* One mapping's two tables; 0 when it leaves cp alone. */
static size_t mapped(uint32_t out[UNI_CASE_MAX], uint32_t cp, const struct uni_delta *simple,
                     size_t n_simple, const struct uni_many *many, size_t n_many)
{
    size_t lo = 0, hi = n_simple;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cp > simple[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    /* Ranges of step 2 interleave, so the next one may hold cp too. */
    for (; lo < n_simple && simple[lo].lo <= cp; lo++)
        if (cp <= simple[lo].hi && (cp - simple[lo].lo) % simple[lo].step == 0) {
            out[0] = (uint32_t)((int64_t)cp + simple[lo].delta);
            return 1;
        }
    for (size_t i = 0; i < n_many; i++)
        if (many[i].from == cp) {
            size_t n = 0;
            while (n < UNI_CASE_MAX && many[i].to[n]) {
                out[n] = many[i].to[n];
                n++;
            }
            return n;
        }
    return 0;
}
#define MAPPED(out, cp, name) \
    mapped(out, cp, name##_simple, COUNT(name##_simple), name##_many, COUNT(name##_many))

size_t uni_upper(uint32_t out[UNI_CASE_MAX], uint32_t cp)
{
    size_t n = cp >= 0x80 ? MAPPED(out, cp, upper) : 0;
    if (n)
        return n;
    out[0] = ascii_between(cp, 'a', 'z') ? cp - 0x20 : cp;
    return 1;
}

size_t uni_lower(uint32_t out[UNI_CASE_MAX], uint32_t cp)
{
    size_t n = cp >= 0x80 ? MAPPED(out, cp, lower) : 0;
    if (n)
        return n;
    out[0] = ascii_between(cp, 'A', 'Z') ? cp + 0x20 : cp;
    return 1;
}

size_t uni_title(uint32_t out[UNI_CASE_MAX], uint32_t cp)
{
    size_t n = cp >= 0x80 ? MAPPED(out, cp, title) : 0;
    return n ? n : uni_upper(out, cp);
}

size_t uni_fold(uint32_t out[UNI_CASE_MAX], uint32_t cp)
{
    size_t n = cp >= 0x80 ? MAPPED(out, cp, fold) : 0;
    return n ? n : uni_lower(out, cp);
}

size_t uni_next(struct str s, size_t at, uint32_t *cp)
{
    unsigned char c = (unsigned char)s.p[at];
    if (c < 0x80) {
        *cp = c;
        return 1;
    }
    size_t n = utf8_decode(s, at, cp);
    if (n)
        return n;
    *cp = c;
    return 1;
}

size_t uni_prev(struct str s, size_t at, uint32_t *cp)
{
    size_t from = at - 1;
    while (from > 0 && at - from < 4 && ((unsigned char)s.p[from] & 0xC0) == 0x80)
        from--;
    if (from + uni_next(s, from, cp) != at) {
        from = at - 1;
        *cp = (unsigned char)s.p[from];
    }
    return from;
}

size_t uni_offset(struct str s, size_t index)
{
    size_t at = 0;
    uint32_t cp;
    for (; index && at < s.n; index--)
        at += uni_next(s, at, &cp);
    return at;
}

bool uni_is_ascii(struct str s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.n; i++)
        all |= (unsigned char)s.p[i];
    return all < 0x80;
}

struct str uni_strip(struct str s, bool left, bool right)
{
    uint32_t cp;
    while (left && s.n) {
        size_t n = uni_next(s, 0, &cp);
        if (!uni_is_space(cp))
            break;
        s = str_skip(s, n);
    }
    while (right && s.n) {
        size_t at = uni_prev(s, s.n, &cp);
        if (!uni_is_space(cp))
            break;
        s.n = at;
    }
    return s;
}
