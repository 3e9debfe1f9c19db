#include "jinja/big.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMB_DIGITS 9
#define LIMBS_MAX ((JINJA_DIGITS_MAX + LIMB_DIGITS - 1) / LIMB_DIGITS)
#define WORK_LIMBS (2 * LIMBS_MAX + 4)

/* A number while it is worked on: no allocation until the result is known. */
struct work {
    bool negative;
    uint32_t n;
    uint32_t limb[WORK_LIMBS];
};

static void trim(struct work *w)
{
    while (w->n && w->limb[w->n - 1] == 0)
        w->n--;
    if (w->n == 0)
        w->negative = false;
}

static void load(struct work *w, struct jinja_value v)
{
    if (v.type == JINJA_BIG) {
        w->negative = v.u.big->negative;
        w->n = v.u.big->n;
        memcpy(w->limb, v.u.big->limb, w->n * sizeof w->limb[0]);
        return;
    }
    int64_t i = v.type == JINJA_BOOL ? v.u.b : v.u.i;
    uint64_t m = i < 0 ? (uint64_t)0 - (uint64_t)i : (uint64_t)i;
    w->negative = i < 0;
    for (w->n = 0; m; m /= BIG_LIMB)
        w->limb[w->n++] = (uint32_t)(m % BIG_LIMB);
}

static bool fits(const struct work *w, int64_t *out)
{
    uint64_t m = 0;
    for (uint32_t i = w->n; i-- > 0;)
        if (__builtin_mul_overflow(m, (uint64_t)BIG_LIMB, &m) ||
            __builtin_add_overflow(m, (uint64_t)w->limb[i], &m))
            return false;
    if (m > (uint64_t)INT64_MAX + (w->negative ? 1 : 0))
        return false;
    *out = w->negative ? (m == 0 ? 0 : -(int64_t)(m - 1) - 1) : (int64_t)m;
    return true;
}

static int store(struct arena *a, struct work *w, struct jinja_value *out)
{
    int64_t i;
    trim(w);
    if (w->n <= 3 && fits(w, &i)) {
        *out = jinja_int(i);
        return 0;
    }
    size_t digits = (size_t)w->n * LIMB_DIGITS;
    for (uint32_t top = w->limb[w->n - 1]; top < BIG_LIMB / 10 && digits; top *= 10)
        digits--;
    if (digits > JINJA_DIGITS_MAX)
        return BIG_TOO_LONG;
    struct jinja_big *big = arena_alloc(a, sizeof *big);
    uint32_t *limb = arena_array(a, w->n, sizeof *limb);
    if (!big || !limb)
        return BIG_NO_MEMORY;
    memcpy(limb, w->limb, w->n * sizeof *limb);
    *big = (struct jinja_big){w->negative, w->n, limb};
    *out = (struct jinja_value){.type = JINJA_BIG, .u.big = big};
    return 0;
}

int big_parse(struct arena *a, struct str s, struct jinja_value *out)
{
    struct work w = {.negative = s.n && s.p[0] == '-'};
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_skip(s, 1);
    while (s.n > 1 && s.p[0] == '0')
        s = str_skip(s, 1);
    if (s.n > JINJA_DIGITS_MAX)
        return BIG_TOO_LONG;
    for (size_t end = s.n; end > 0;) {
        size_t from = end > LIMB_DIGITS ? end - LIMB_DIGITS : 0;
        uint32_t limb = 0;
        for (size_t i = from; i < end; i++)
            limb = limb * 10 + (uint32_t)(s.p[i] - '0');
        w.limb[w.n++] = limb;
        end = from;
    }
    return store(a, &w, out);
}

static int compare_magnitude(const struct work *x, const struct work *y)
{
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    for (uint32_t i = x->n; i-- > 0;)
        if (x->limb[i] != y->limb[i])
            return x->limb[i] < y->limb[i] ? -1 : 1;
    return 0;
}

/* x += y, magnitudes. */
static void add_magnitude(struct work *x, const struct work *y)
{
    uint32_t carry = 0, n = x->n > y->n ? x->n : y->n;
    for (uint32_t i = 0; i < n || carry; i++) {
        uint32_t sum = (i < x->n ? x->limb[i] : 0) + (i < y->n ? y->limb[i] : 0) + carry;
        carry = sum >= BIG_LIMB;
        x->limb[i] = carry ? sum - BIG_LIMB : sum;
        if (i >= x->n)
            x->n = i + 1;
    }
}

/* x -= y, magnitudes; x is not smaller. */
static void sub_magnitude(struct work *x, const struct work *y)
{
    uint32_t borrow = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t take = (i < y->n ? y->limb[i] : 0) + borrow;
        borrow = x->limb[i] < take;
        x->limb[i] = x->limb[i] + (borrow ? BIG_LIMB : 0) - take;
    }
    trim(x);
}

static void add_signed(struct work *x, const struct work *y)
{
    if (x->negative == y->negative) {
        add_magnitude(x, y);
    } else if (compare_magnitude(x, y) >= 0) {
        sub_magnitude(x, y);
    } else {
        struct work t = *y;
        sub_magnitude(&t, x);
        *x = t;
    }
}

int big_add(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *out)
{
    struct work p, q;
    load(&p, x);
    load(&q, y);
    add_signed(&p, &q);
    return store(a, &p, out);
}

int big_sub(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *out)
{
    struct work p, q;
    load(&p, x);
    load(&q, y);
    q.negative = !q.negative;
    add_signed(&p, &q);
    return store(a, &p, out);
}

int big_mul(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *out)
{
    struct work p, q, product = {0};
    load(&p, x);
    load(&q, y);
    if (p.n + q.n > LIMBS_MAX + 2)
        return BIG_TOO_LONG;
    product.n = p.n + q.n;
    for (uint32_t i = 0; i < p.n; i++) {
        uint64_t carry = 0;
        for (uint32_t j = 0; j < q.n || carry; j++) {
            uint64_t v = product.limb[i + j] + carry;
            v += j < q.n ? (uint64_t)p.limb[i] * q.limb[j] : 0;
            product.limb[i + j] = (uint32_t)(v % BIG_LIMB);
            carry = v / BIG_LIMB;
        }
    }
    product.negative = p.negative != q.negative;
    return store(a, &product, out);
}

/* The largest d with y * d <= rest, found bit by bit: slow, and needed for rare numbers only. */
static uint32_t quotient_digit(struct work *rest, const struct work *y)
{
    uint32_t lo = 0, hi = BIG_LIMB - 1;
    struct work t;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo + 1) / 2;
        uint64_t carry = 0;
        t.n = 0;
        for (uint32_t i = 0; i < y->n || carry; i++) {
            uint64_t v = carry + (i < y->n ? (uint64_t)y->limb[i] * mid : 0);
            t.limb[t.n++] = (uint32_t)(v % BIG_LIMB);
            carry = v / BIG_LIMB;
        }
        trim(&t);
        if (compare_magnitude(&t, rest) <= 0)
            lo = mid;
        else
            hi = mid - 1;
    }
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < rest->n; i++) {
        uint64_t take = (i < y->n ? (uint64_t)y->limb[i] * lo : 0) + borrow;
        uint64_t low = take % BIG_LIMB;
        borrow = take / BIG_LIMB + (rest->limb[i] < low);
        rest->limb[i] = (uint32_t)(rest->limb[i] + (rest->limb[i] < low ? BIG_LIMB : 0) - low);
    }
    trim(rest);
    return lo;
}

int big_divmod(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *q,
               struct jinja_value *rest)
{
    struct work p, d, quotient = {0}, r = {0};
    load(&p, x);
    load(&d, y);
    quotient.n = p.n;
    for (uint32_t i = p.n; i-- > 0;) {
        memmove(r.limb + 1, r.limb, r.n * sizeof r.limb[0]);
        r.limb[0] = p.limb[i];
        r.n++;
        trim(&r);
        quotient.limb[i] = quotient_digit(&r, &d);
    }
    quotient.negative = p.negative != d.negative;
    trim(&quotient);
    r.negative = r.n && p.negative;
    if (r.n && p.negative != d.negative) { /* towards minus infinity */
        struct work one = {.negative = true, .n = 1, .limb = {1}};
        if (quotient.n == 0)
            quotient.negative = true;
        add_signed(&quotient, &one);
        add_signed(&r, &d);
    }
    int rc = store(a, &quotient, q);
    return rc < 0 ? rc : store(a, &r, rest);
}

int big_compare(struct jinja_value x, struct jinja_value y)
{
    struct work p, q;
    load(&p, x);
    load(&q, y);
    if (p.negative != q.negative)
        return p.negative ? -1 : 1;
    int c = compare_magnitude(&p, &q);
    return p.negative ? -c : c;
}

size_t big_text(char *out, struct jinja_value v)
{
    struct work w;
    char *p = out;
    load(&w, v);
    if (w.negative)
        *p++ = '-';
    if (w.n == 0)
        *p++ = '0';
    for (uint32_t i = w.n; i-- > 0;) {
        char digits[LIMB_DIGITS];
        uint32_t limb = w.limb[i];
        size_t n = 0;
        for (; n < LIMB_DIGITS && (limb || i + 1 < w.n); limb /= 10)
            digits[n++] = (char)('0' + limb % 10);
        while (n)
            *p++ = digits[--n];
    }
    *p = '\0';
    return (size_t)(p - out);
}

double big_double(struct jinja_value v)
{
    char text[BIG_TEXT_MAX];
    if (v.type != JINJA_BIG)
        return v.type == JINJA_BOOL ? v.u.b : (double)v.u.i;
    big_text(text, v);
    return strtod(text, NULL);
}

int big_from_double(struct arena *a, double d, struct jinja_value *out)
{
    char text[512];
    snprintf(text, sizeof text, "%.0f", trunc(d));
    return big_parse(a, str_of(text), out);
}
