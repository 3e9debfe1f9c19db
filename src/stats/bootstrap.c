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
    w->generators = calloc(n, sizeof *w->generators);
    w->medians = malloc(resamples * sizeof *w->medians);
    if (!w->sorted || !w->rank_of || !w->counts || !w->generators || !w->medians)
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

/* The draws of one stratum, from the one numbered `from` on. */
static void draw(struct work *w, size_t stratum, const uint32_t *rank_of, uint32_t many,
                 uint32_t from)
{
    struct random r = w->generators[stratum];
    uint32_t *counts = w->counts;
    for (uint32_t i = from; i < many; i++)
        counts[rank_of[random_below(&r, many)]]++;
    w->generators[stratum] = r;
}

/* Each stratum has a generator of its own, and one number waits for the one before it alone: two
 * strata side by side take hardly longer than one. */
static void draw_two(struct work *w, size_t stratum, const uint32_t *rank_of, uint32_t many,
                     uint32_t other)
{
    const uint32_t *other_rank_of = rank_of + many;
    struct random r = w->generators[stratum], q = w->generators[stratum + 1];
    uint32_t *counts = w->counts;
    uint32_t both = many < other ? many : other;
    for (uint32_t i = 0; i < both; i++) {
        uint32_t a = rank_of[random_below(&r, many)];
        uint32_t b = other_rank_of[random_below(&q, other)];
        counts[a]++;
        counts[b]++;
    }
    w->generators[stratum] = r;
    w->generators[stratum + 1] = q;
    draw(w, stratum, rank_of, many, both);
    draw(w, stratum + 1, other_rank_of, other, both);
}

/* Draws a whole resample and counts how often each rank came. */
static void resample(struct work *w, const struct bootstrap_stratum *strata, size_t n)
{
    const uint32_t *rank_of = w->rank_of;
    size_t s = 0;
    memset(w->counts, 0, w->blocks_n * BLOCK * sizeof *w->counts);
    for (; s + 1 < n; s += 2) {
        draw_two(w, s, rank_of, (uint32_t)strata[s].n, (uint32_t)strata[s + 1].n);
        rank_of += strata[s].n + strata[s + 1].n;
    }
    if (s < n)
        draw(w, s, rank_of, (uint32_t)strata[s].n, 0);
}

static uint32_t block_sum(const uint32_t counts[BLOCK])
{
    uint32_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += counts[i];
    return sum;
}

static int64_t resampled_median(struct work *w, const struct bootstrap_stratum *strata, size_t n)
{
    size_t wanted = stats_rank(w->total, 50), below = 0, block = 0;
    resample(w, strata, n);
    for (uint32_t in; (in = block_sum(&w->counts[block * BLOCK])) + below < wanted; block++)
        below += in;
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
