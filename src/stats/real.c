#include "stats/real.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/tables.h"

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double double_of(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static double power_of_two(int e) /* -1022 ... 1023 */
{
    return double_of((uint64_t)(e + 1023) << 52);
}

/* a + b = result + *rest exactly (Knuth, TAOCP 4.2.2). */
static double two_sum(double a, double b, double *rest)
{
    double s = a + b, t = s - a;
    *rest = (a - (s - t)) + (b - t);
    return s;
}

/* The upper half of x's significand (Veltkamp's split by masking). */
static double upper_half(double x)
{
    return double_of(bits_of(x) & ~(uint64_t)0x7ffffff);
}

/* a * b = result + *rest exactly (Dekker 1971). */
static double two_product(double a, double b, double *rest)
{
    double p = a * b, ah = upper_half(a), bh = upper_half(b), al = a - ah, bl = b - bh;
    *rest = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
    return p;
}

/* n / d as result + *rest, d given as d + d_rest. */
static double quotient(double n, double d, double d_rest, double *rest)
{
    double q = n / d, low, p = two_product(q, d, &low);
    *rest = ((n - p) - low - q * d_rest) / d;
    return q;
}

/* ln(2^e m) = e ln 2 + 2 atanh(s), s = (m-1)/(m+1), m within sqrt(1/2) ... sqrt(2). s is kept to
 * twice the precision; the rest of the series is below a hundredth of it, so its rounding does not
 * matter. */
double stats_ln(double x)
{
    assert(x > 0 && x <= DBL_MAX);
    int e = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t u = bits_of(x);
    e += (int)(u >> 52) - 1023;
    double m = double_of((u & 0xfffffffffffff) | (uint64_t)1023 << 52);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        e++;
    }
    double d_rest, s_rest, d = two_sum(m, 1.0, &d_rest);
    double s = quotient(m - 1.0, d, d_rest, &s_rest), z = s * s, tail = 0;
    for (int k = 25; k >= 3; k -= 2)
        tail = z * (1.0 / k + tail);
    double rest, hi = two_sum((double)e * stats_ln2_hi, 2 * s, &rest);
    return hi + (rest + ((double)e * stats_ln2_lo + 2 * (s_rest + s * tail)));
}

/* exp(x) = 2^(n/32) exp(r), |r| <= ln(2)/64, with 2^(j/32) from a table of twice the precision. */
double stats_exp(double x)
{
    assert(x == x);
    if (x >= 709.79)
        return HUGE_VAL;
    if (x <= -745.14)
        return 0;
    double scaled = x * (32 / 0x1.62e42fefa39efp-1);
    int n = (int)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    int k = n >= 0 ? n / 32 : -((31 - n) / 32), j = n - 32 * k;
    double r_rest, r = two_sum(x - n * stats_ln2_32_hi, -(n * stats_ln2_32_lo), &r_rest);
    double tail =
        r * r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720)))));
    double hi = stats_exp2_32[j][0], lo = stats_exp2_32[j][1];
    double v = hi + (lo + hi * (r + (r_rest + tail)));
    /* Two steps, so that neither factor overflows or is subnormal. */
    int half = k / 2;
    return v * power_of_two(half) * power_of_two(k - half);
}

/* atan(x) = atan(j/16) + atan((x - j/16) / (1 + x j/16)); 1/x beyond 1. */
double stats_atan(double x)
{
    assert(x == x);
    if (x < 0)
        return -stats_atan(-x);
    if (x > 0x1p60)
        return 0x1.921fb54442d18p+0;
    int big = x > 1;
    double a_rest = 0, a = big ? quotient(1.0, x, 0, &a_rest) : x;
    int j = (int)(a * 16 + 0.5);
    double c = j / 16.0, p_rest, d_rest, y_rest;
    double p = two_product(a, c, &p_rest), d = two_sum(1.0, p, &d_rest);
    double y = quotient(a - c, d, d_rest + p_rest, &y_rest), z = y * y;
    y_rest += a_rest / (d * d) * (1 + c * c);
    double tail = z * (-1.0 / 3 + z * (1.0 / 5 + z * (-1.0 / 7 + z * (1.0 / 9 - z * (1.0 / 11)))));
    double rest, hi = two_sum(stats_atan_16[j][0], y, &rest);
    double lo = rest + (stats_atan_16[j][1] + y_rest + y * tail);
    if (!big)
        return hi + lo;
    double top = two_sum(0x1.921fb54442d18p+0, -hi, &rest);
    return top + (rest + (0x1.1a62633145c07p-54 - lo));
}

double stats_sqrt(double x)
{
    return sqrt(x);
}

double stats_sum(const double *x, size_t n)
{
    double sum = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        double low;
        sum = two_sum(sum, x[i], &low);
        rest += low;
    }
    return sum + rest;
}

double stats_mean(const double *x, size_t n)
{
    assert(n > 0);
    return stats_sum(x, n) / (double)n;
}

double stats_deviation(const double *x, size_t n)
{
    if (n < 2)
        return 0;
    double mean = stats_mean(x, n), sum = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean, low;
        sum = two_sum(sum, d * d, &low);
        rest += low;
    }
    return stats_sqrt((sum + rest) / (double)(n - 1));
}
