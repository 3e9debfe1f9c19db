/*
 * Nearest-rank quantiles of integers, in which a value may be infinite (a request that never came
 * to its end ranks above all that did).
 *
 *     stats_sort(values, n);
 *     int64_t p99 = values[stats_rank(n, 99) - 1];      // STATS_INFINITE: censored
 *
 * One population for every statistic; nothing is interpolated, so a quantile is a value that was
 * measured. Units are the caller's.
 */
#ifndef TALLY_STATS_QUANTILE_H
#define TALLY_STATS_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define STATS_INFINITE INT64_MAX

/* The rank ceil(n * percent / 100), at least 1; n > 0, percent 1 ... 100. */
size_t stats_rank(size_t n, unsigned percent);
/* Ascending. Radix sort: linear, which matters for the token gaps of a long run. -1 for memory. */
int stats_sort(int64_t *v, size_t n, struct error *err) TALLY_MUST_CHECK;
/* sum / by to the nearest integer, halves to even; by > 0. */
int64_t stats_divide(int64_t sum, int64_t by);
/* The sum of n values divided by `by` >= n, likewise; the sum itself may pass 64 bits. */
int64_t stats_divide_sum(const int64_t *v, size_t n, int64_t by);

#endif
