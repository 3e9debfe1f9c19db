/*
 * How long things took: a histogram of fixed size, exact to one part in 32.
 *
 *     struct lag lag = {0};
 *     lag_add(&lag, ns);
 *     p99_ns = lag_quantile(&lag, 99);
 *
 * Quantiles are nearest-rank, each the upper end of its bucket and never above the maximum seen;
 * COUNT_NONE when nothing was added. Values below zero count as zero, those past LAG_MAX_NS as it.
 */
#ifndef TALLY_WIRE_LAG_H
#define TALLY_WIRE_LAG_H

#include <stdint.h>

#define LAG_SHARE 32 /* buckets to a doubling */
#define LAG_DOUBLINGS 36
#define LAG_MAX_NS (((int64_t)LAG_SHARE << (LAG_DOUBLINGS - 1)) * 2 - 1) /* 36 minutes */

struct lag {
    uint32_t count[LAG_DOUBLINGS + 1][LAG_SHARE];
    int64_t n, max_ns;
};

void lag_add(struct lag *lag, int64_t ns);
/* percent: 1 to 100 */
int64_t lag_quantile(const struct lag *lag, int percent);

#endif
