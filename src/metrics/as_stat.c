#include <stdlib.h>

#include "metrics/as_rule.h"
#include "stats/real.h"

struct pair {
    double v, weight;
};

static int by_value(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->v > y->v) - (x->v < y->v);
}

void as_sort(struct as_values *a)
{
    struct pair *pairs = arena_array(a->arena, a->n, sizeof *pairs);
    if (!pairs)
        return; /* the arena says so when it is checked */
    for (size_t i = 0; i < a->n; i++)
        pairs[i] = (struct pair){a->v[i], a->weight[i]};
    qsort(pairs, a->n, sizeof *pairs, by_value);
    for (size_t i = 0; i < a->n; i++) {
        a->v[i] = pairs[i].v;
        a->weight[i] = pairs[i].weight;
    }
}

/* numpy.percentile's default, and numpy.median with percent 50. */
static double linear(const struct as_values *a, double percent)
{
    double at = percent / 100 * (double)(a->n - 1);
    size_t below = (size_t)at;
    if (below + 1 >= a->n)
        return a->v[a->n - 1];
    return a->v[below] + (at - (double)below) * (a->v[below + 1] - a->v[below]);
}

/* The least value whose cumulative share of the weight reaches p. */
static double lower(const struct as_values *a, double percent)
{
    double total = stats_sum(a->weight, a->n), sum = 0;
    for (size_t i = 0; i < a->n; i++) {
        sum += a->weight[i];
        if (sum >= percent / 100 * total)
            return a->v[i];
    }
    return a->v[a->n - 1];
}

static double nearest(const struct as_values *a, double percent)
{
    double at = percent / 100 * (double)a->n;
    size_t rank = (size_t)at;
    if ((double)rank < at)
        rank++;
    if (rank < 1)
        rank = 1;
    return a->v[rank - 1];
}

static double percentile(const struct as_values *a, double percent, enum as_quantile q)
{
    return q == AS_LINEAR  ? linear(a, percent)
           : q == AS_LOWER ? lower(a, percent)
                           : nearest(a, percent);
}

static double mean(const struct as_values *a)
{
    double sum = 0, weight = stats_sum(a->weight, a->n);
    for (size_t i = 0; i < a->n; i++)
        sum += a->v[i] * a->weight[i];
    return weight > 0 ? sum / weight : 0;
}

/* Of the population: divided by n, as numpy.std does. */
static double deviation(const struct as_values *a)
{
    double middle = mean(a), sum = 0, weight = stats_sum(a->weight, a->n);
    for (size_t i = 0; i < a->n; i++)
        sum += a->weight[i] * (a->v[i] - middle) * (a->v[i] - middle);
    return weight > 0 ? stats_sqrt(sum / weight) : 0;
}

double as_statistic(const struct as_values *a, const struct as_stat *stat, enum as_quantile q)
{
    switch (stat->kind) {
    case AS_MEAN:
        return mean(a);
    case AS_MEDIAN:
        return percentile(a, 50, q);
    case AS_STD:
        return deviation(a);
    case AS_MIN:
        return a->v[0];
    case AS_MAX:
        return a->v[a->n - 1];
    case AS_PERCENTILE:
        break;
    }
    return percentile(a, stat->percent, q);
}
