#include "stats/paired.h"

#include <assert.h>

#include "stats/real.h"
#include "stats/student.h"

void stats_paired(struct stats_paired *out, const double *x, size_t n)
{
    assert(n >= 2 && n <= STATS_DF_MAX + 1);
    double t95 = stats_t(STATS_T95, n - 1), t80 = stats_t(STATS_T80, n - 1);
    *out = (struct stats_paired){stats_mean(x, n), stats_deviation(x, n), x[0], x[0], 0, 0, 0};
    for (size_t i = 1; i < n; i++) {
        out->min = x[i] < out->min ? x[i] : out->min;
        out->max = x[i] > out->max ? x[i] : out->max;
    }
    double error = out->s / stats_sqrt((double)n);
    out->lower = out->mean - t95 * error;
    out->upper = out->mean + t95 * error;
    out->mde = 1 - stats_exp(-(t95 + t80) * error);
}

double stats_p_below(const struct stats_paired *p, size_t n, double margin)
{
    double distance = p->mean - margin;
    if (p->s == 0)
        return distance < 0 ? 0 : distance > 0 ? 1 : 0.5;
    return stats_t_tail(-distance * stats_sqrt((double)n) / p->s, n - 1);
}

void stats_holm(bool *reject, const double *p, size_t m, double alpha)
{
    assert(m <= STATS_HOLM_MAX);
    for (size_t i = 0; i < m; i++)
        reject[i] = false;
    /* Step down: the smallest that is left against alpha over how many are left. */
    for (size_t left = m; left > 0; left--) {
        size_t least = m;
        for (size_t i = 0; i < m; i++)
            if (!reject[i] && (least == m || p[i] < p[least]))
                least = i;
        if (!(p[least] <= alpha / (double)left))
            return;
        reject[least] = true;
    }
}
