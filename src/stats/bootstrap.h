/*
 * The percentile bootstrap of a nearest-rank median over strata: every stratum (replicate) is
 * resampled within itself, the resamples are pooled, and the median's bounds are two ranks among
 * the sorted resampled medians.
 *
 *     struct bootstrap_stratum s[] = {{values, n, seed}, ...};
 *     if (bootstrap_median(s, 6, &(struct bootstrap_options){10000, 250, 9750}, &b, err) < 0) ...
 *
 * Each stratum has a generator of its own (stats/random.h, seeded as given); resample b takes its
 * next n draws of random_below(n). So a stratum's draws do not depend on the others.
 * Values may be STATS_INFINITE. Nothing is kept. Limits: BOOTSTRAP_VALUES_MAX values in all.
 */
#ifndef TALLY_STATS_BOOTSTRAP_H
#define TALLY_STATS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define BOOTSTRAP_VALUES_MAX ((size_t)1 << 26)
#define BOOTSTRAP_RESAMPLES_MAX ((size_t)1 << 20)

struct bootstrap_stratum {
    const int64_t *values;
    size_t n;
    uint64_t seed;
};

struct bootstrap_options {
    size_t resamples, low_rank, high_rank; /* ranks count from 1 */
};

struct bootstrap {
    int64_t median, low, high; /* STATS_INFINITE where the rank lands on one */
};

/* At least one value in all (asserted). ERROR_LIMIT past the limits, ERROR_MEMORY. */
int bootstrap_median(const struct bootstrap_stratum *strata, size_t n,
                     const struct bootstrap_options *o, struct bootstrap *out,
                     struct error *err) TALLY_MUST_CHECK;

#endif
