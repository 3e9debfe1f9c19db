#include "stats/quantile.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RADIX_LEAST 256 /* below this, insertion and qsort are as good */

size_t stats_rank(size_t n, unsigned percent)
{
    assert(n > 0 && percent >= 1 && percent <= 100);
    /* ceil(n * percent / 100) without overflow. */
    size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return rank ? rank : 1;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The sign bit turned, so that unsigned order is signed order. */
static unsigned digit(int64_t v, unsigned shift)
{
    return (unsigned)(((uint64_t)v ^ (uint64_t)1 << 63) >> shift) & 0xff;
}

int stats_sort(int64_t *v, size_t n, struct error *err)
{
    if (n < RADIX_LEAST) {
        if (n > 1)
            qsort(v, n, sizeof *v, compare);
        return 0;
    }
    int64_t *other = malloc(n * sizeof *other), *from = v, *to = other;
    if (!other)
        return error_no_memory(err);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t count[256] = {0}, at = 0;
        for (size_t i = 0; i < n; i++)
            count[digit(from[i], shift)]++;
        if (count[digit(from[0], shift)] == n)
            continue;
        for (size_t d = 0; d < 256; d++) {
            size_t here = count[d];
            count[d] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[digit(from[i], shift)]++] = from[i];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    free(other);
    return 0;
}

/* whole + left / by, left of either sign. */
static int64_t round_quotient(int64_t whole, int64_t left, int64_t by)
{
    whole += left / by;
    left %= by;
    if (left < 0) {
        whole--;
        left += by;
    }
    bool up = left > by - left || (left == by - left && (whole & 1));
    return whole + up;
}

int64_t stats_divide(int64_t sum, int64_t by)
{
    assert(by > 0);
    return round_quotient(0, sum, by);
}

int64_t stats_divide_sum(const int64_t *v, size_t n, int64_t by)
{
    assert(by > 0 && (size_t)by >= n);
    int64_t whole = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        whole += v[i] / by;
        left += v[i] % by;
        whole += left / by;
        left %= by;
    }
    return round_quotient(whole, left, by);
}
