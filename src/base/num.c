#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DURATION_DIGITS 9 /* behind the point */
#define REPR_DIGITS 17    /* enough to tell any two doubles apart */
#define REPR_EXPONENT 16  /* from here on Python writes an exponent */

int num_parse_u64(uint64_t *out, struct str s)
{
    uint64_t v = 0;
    if (s.n == 0)
        return -1;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -1;
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return -1;
    }
    *out = v;
    return 0;
}

int num_parse_i64(int64_t *out, struct str s)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t v;
    if (num_parse_u64(&v, negative ? str_skip(s, 1) : s) < 0)
        return -1;
    if (negative) {
        if (v > (uint64_t)INT64_MAX + 1)
            return -1;
        *out = v == (uint64_t)INT64_MAX + 1 ? INT64_MIN : -(int64_t)v;
        return 0;
    }
    if (v > INT64_MAX)
        return -1;
    *out = (int64_t)v;
    return 0;
}

static size_t skip_digits(struct str s, size_t at)
{
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
        at++;
    return at;
}

bool num_is_json(struct str s)
{
    size_t at = s.n && s.p[0] == '-' ? 1 : 0, start = at;
    at = skip_digits(s, at);
    if (at == start || (s.p[start] == '0' && at > start + 1))
        return false;
    if (at < s.n && s.p[at] == '.') {
        size_t from = ++at;
        at = skip_digits(s, at);
        if (at == from)
            return false;
    }
    if (at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
        at++;
        if (at < s.n && (s.p[at] == '+' || s.p[at] == '-'))
            at++;
        size_t from = at;
        at = skip_digits(s, at);
        if (at == from)
            return false;
    }
    return at == s.n;
}

int num_parse_double(double *out, struct str s)
{
    char text[NUM_DOUBLE_TEXT_MAX + 1];
    if (s.n > NUM_DOUBLE_TEXT_MAX || !num_is_json(s))
        return -1;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    /* No program of ours calls setlocale, so strtod reads the "C" locale's point. */
    double v = strtod(text, NULL);
    if (!isfinite(v))
        return -1;
    *out = v;
    return 0;
}

int num_parse_duration_ns(int64_t *out, struct str s)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {
        {"ns", 1},
        {"us", 1000},
        {"ms", 1000000},
        {"s", 1000000000},
        {"min", 60000000000},
        {"m", 60000000000},
        {"h", 3600000000000},
    };
    size_t point = skip_digits(s, 0), end = point;
    if (point == 0)
        return -1;
    if (end < s.n && s.p[end] == '.') {
        end = skip_digits(s, point + 1);
        if (end == point + 1 || end - point > 1 + DURATION_DIGITS)
            return -1;
    }
    int64_t whole, fraction = 0, unit = 0, scale = 1;
    if (num_parse_i64(&whole, str_first(s, point)) < 0)
        return -1;
    if (end > point) {
        if (num_parse_i64(&fraction, str_first(str_skip(s, point + 1), end - point - 1)) < 0)
            return -1;
        for (size_t i = point + 1; i < end; i++)
            scale *= 10;
    }
    struct str name = str_skip(s, end);
    if (name.n == 0 && whole == 0 && fraction == 0) {
        *out = 0;
        return 0;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (str_eq(name, str_of(units[i].unit)))
            unit = units[i].ns;
    int64_t ns, part;
    if (unit == 0 || __builtin_mul_overflow(whole, unit, &ns))
        return -1;
    /* Every unit is 1, 6 or 36 times a power of ten, so the larger divides by the smaller. */
    if (unit < scale && fraction % (scale / unit) != 0)
        return -1; /* finer than a nanosecond */
    part = unit >= scale ? fraction * (unit / scale) : fraction / (scale / unit);
    if (__builtin_add_overflow(ns, part, &ns))
        return -1;
    *out = ns;
    return 0;
}

void num_add_ms(struct buf *b, int64_t ns)
{
    uint64_t v = ns < 0 ? (uint64_t)0 - (uint64_t)ns : (uint64_t)ns;
    buf_addf(b, "%s%llu.%06llu", ns < 0 ? "-" : "", (unsigned long long)(v / 1000000),
             (unsigned long long)(v % 1000000));
}

int num_parse_milli(int64_t *out, struct str s)
{
    size_t behind = 0;
    bool point = false;
    int64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '.' && !point && i > 0 && i + 1 < s.n) {
            point = true;
            continue;
        }
        if (s.p[i] < '0' || s.p[i] > '9' || (point && ++behind > 3) ||
            __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s.p[i] - '0', &v))
            return -1;
    }
    for (; behind < 3; behind++)
        if (__builtin_mul_overflow(v, 10, &v))
            return -1;
    if (s.n == 0)
        return -1;
    *out = v;
    return 0;
}

int num_parse_ms(int64_t *ns, struct str s)
{
    char digits[32];
    struct str whole, part;
    int64_t v;
    if (s.n >= sizeof digits || !str_cut(s, '.', &whole, &part) || part.n != 6 || whole.n == 0)
        return -1;
    memcpy(digits, whole.p, whole.n);
    memcpy(digits + whole.n, part.p, part.n);
    if (num_parse_i64(&v, str_make(digits, whole.n + part.n)) < 0)
        return -1;
    /* One value has one spelling: no "-0.000000", "01.000000", "+1.000000". */
    struct buf again = BUF_INIT(64);
    num_add_ms(&again, v);
    bool same = str_eq(buf_str(&again), s);
    buf_release(&again);
    if (!same)
        return -1;
    *ns = v;
    return 0;
}

void num_add_real9(struct buf *b, double v)
{
    char text[64];
    assert(isfinite(v));
    if (v == 0)
        v = 0; /* no negative zero in a receipt */
    snprintf(text, sizeof text, "%.9g", v);
    buf_adds(b, text);
}

/* The decimal digits of v > 0, `n` of them, and the power of ten of the first; false when they do
 * not read back as v. */
static bool digits_of(char digits[REPR_DIGITS + 1], int *exponent, int n, double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.*e", n - 1, v);
    for (int turn = 0; turn < 2; turn++) {
        if (strtod(text, NULL) == v) {
            char *e = strchr(text, 'e');
            *exponent = (int)strtol(e + 1, NULL, 10);
            digits[0] = text[0];
            memcpy(digits + 1, text + 2, (size_t)n - 1);
            digits[n] = '\0';
            return true;
        }
        /* Above a power of two the gap is twice as wide as below it, so that the next decimal up
         * may read back where the nearest one does not. */
        char *at = strchr(text, 'e') - 1;
        while (*at == '9' && at > text + 1)
            *at-- = '0';
        if (*at < '0' || *at > '8')
            return false;
        ++*at;
    }
    return false;
}

void num_add_repr(struct buf *b, double v)
{
    char digits[REPR_DIGITS + 1] = "0";
    int n = 1, exponent = 0;
    if (isnan(v)) {
        buf_adds(b, "nan");
        return;
    }
    if (signbit(v))
        buf_addc(b, '-');
    if (isinf(v)) {
        buf_adds(b, "inf");
        return;
    }
    if (v != 0)
        while (!digits_of(digits, &exponent, n, fabs(v)) && n < REPR_DIGITS)
            n++;
    if (exponent < -4 || exponent >= REPR_EXPONENT) {
        buf_addc(b, digits[0]);
        if (n > 1)
            buf_addf(b, ".%s", digits + 1);
        buf_addf(b, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        buf_adds(b, "0.");
        buf_pad(b, '0', (size_t)(-exponent - 1));
        buf_adds(b, digits);
    } else {
        int whole = exponent + 1;
        buf_add(b, digits, (size_t)(n < whole ? n : whole));
        buf_pad(b, '0', n < whole ? (size_t)(whole - n) : 0);
        buf_addf(b, ".%s", n > whole ? digits + whole : "0");
    }
}

void num_add_grouped(struct buf *b, int64_t v)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", (long long)v);
    for (int i = 0; i < n; i++) {
        buf_addc(b, text[i]);
        int left = n - 1 - i;
        if (left > 0 && left % 3 == 0 && text[i] != '-')
            buf_addc(b, ',');
    }
}
