#include "stats/bootstrap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"
#include "stats/random.h"

#define BLOCK 64 /* ranks that are counted together first */

struct place {
    int64_t value;
    uint32_t slot; /* where it stands in the strata laid end to end */
};

struct work {
    size_t total;
    struct place *sorted;
    uint32_t *rank_of; /* slot -> rank from 0 */
    uint32_t *counts;  /* how often each rank was drawn */
    uint32_t *blocks;  /* the same, summed over BLOCK ranks */
    size_t blocks_n;
    struct random *generators;
    int64_t *medians;
};

/* By value, then by slot: the order of equal values must not depend on the sort. */
static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static void release(struct work *w)
{
    free(w->sorted);
    free(w->rank_of);
    free(w->counts);
    free(w->blocks);
    free(w->generators);
    free(w->medians);
}

static int prepare(struct work *w, const struct bootstrap_stratum *strata, size_t n,
                   size_t resamples, struct error *err)
{
    w->blocks_n = w->total / BLOCK + 1;
    w->sorted = malloc(w->total * sizeof *w->sorted);
    w->rank_of = malloc(w->total * sizeof *w->rank_of);
    w->counts = calloc(w->blocks_n * BLOCK, sizeof *w->counts);
    w->blocks = calloc(w->blocks_n, sizeof *w->blocks);
    w->generators = calloc(n, sizeof *w->generators);
    w->medians = malloc(resamples * sizeof *w->medians);
    if (!w->sorted || !w->rank_of || !w->counts || !w->blocks || !w->generators || !w->medians)
        return error_no_memory(err);
    uint32_t slot = 0;
    for (size_t s = 0; s < n; s++) {
        random_seed(&w->generators[s], strata[s].seed);
        for (size_t i = 0; i < strata[s].n; i++, slot++)
            w->sorted[slot] = (struct place){strata[s].values[i], slot};
    }
    qsort(w->sorted, w->total, sizeof *w->sorted, compare);
    for (size_t rank = 0; rank < w->total; rank++)
        w->rank_of[w->sorted[rank].slot] = (uint32_t)rank;
    return 0;
}

/* Draws a whole resample and counts how often each rank came. */
static void resample(struct work *w, const struct bootstrap_stratum *strata, size_t n)
{
    const uint32_t *rank_of = w->rank_of;
    uint32_t *counts = w->counts, *blocks = w->blocks;
    memset(counts, 0, w->blocks_n * BLOCK * sizeof *counts);
    memset(blocks, 0, w->blocks_n * sizeof *blocks);
    for (size_t s = 0; s < n; s++) {
        struct random r = w->generators[s];
        uint32_t many = (uint32_t)strata[s].n;
        for (uint32_t i = 0; i < many; i++) {
            uint32_t rank = rank_of[random_below(&r, many)];
            counts[rank]++;
            blocks[rank / BLOCK]++;
        }
        w->generators[s] = r;
        rank_of += many;
    }
}

static int64_t resampled_median(struct work *w, const struct bootstrap_stratum *strata, size_t n)
{
    size_t wanted = stats_rank(w->total, 50), below = 0, block = 0;
    resample(w, strata, n);
    while (below + w->blocks[block] < wanted)
        below += w->blocks[block++];
    size_t rank = block * BLOCK;
    while (below + w->counts[rank] < wanted)
        below += w->counts[rank++];
    return w->sorted[rank].value;
}

int bootstrap_median(const struct bootstrap_stratum *strata, size_t n,
                     const struct bootstrap_options *o, struct bootstrap *out, struct error *err)
{
    struct work w = {0};
    int status = -1;
    for (size_t s = 0; s < n; s++) {
        if (strata[s].n > BOOTSTRAP_VALUES_MAX - w.total)
            return error_set(err, ERROR_LIMIT, "more than %zu values to resample",
                             BOOTSTRAP_VALUES_MAX);
        w.total += strata[s].n;
    }
    assert(w.total > 0 && o->low_rank >= 1 && o->low_rank <= o->high_rank);
    assert(o->high_rank <= o->resamples);
    if (o->resamples > BOOTSTRAP_RESAMPLES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %zu resamples", BOOTSTRAP_RESAMPLES_MAX);
    if (prepare(&w, strata, n, o->resamples, err) < 0)
        goto out;
    for (size_t b = 0; b < o->resamples; b++)
        w.medians[b] = resampled_median(&w, strata, n);
    if (stats_sort(w.medians, o->resamples, err) < 0)
        goto out;
    *out = (struct bootstrap){w.sorted[stats_rank(w.total, 50) - 1].value,
                              w.medians[o->low_rank - 1], w.medians[o->high_rank - 1]};
    status = 0;
out:
    release(&w);
    return status;
}
