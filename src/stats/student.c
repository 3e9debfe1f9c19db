#include "stats/student.h"

#include <assert.h>

#include "stats/real.h"
#include "stats/tables.h"

double stats_t(enum stats_t_level level, size_t df)
{
    assert(df >= 1 && df <= STATS_DF_MAX);
    const double *table = level == STATS_T80   ? stats_t80
                          : level == STATS_T95 ? stats_t95
                                               : stats_t975;
    return table[df - 1];
}

double stats_t_tail(double t, size_t df)
{
    assert(df >= 1 && df <= STATS_DF_MAX && t == t);
    double nu = (double)df, size = t < 0 ? -t : t, root = stats_sqrt(nu);
    double sine = size > 1e150 ? 1 : size / stats_sqrt(nu + size * size);
    double cosine2 = size > 1e150 ? 0 : nu / (nu + size * size), inside;
    double term = 1, sum = 0;
    if (df % 2 == 0) {
        for (size_t k = 0; k < df / 2; k++) {
            sum += term;
            term *= cosine2 * (double)(2 * k + 1) / (double)(2 * k + 2);
        }
        inside = sine * sum;
    } else {
        for (size_t k = 0; k < df / 2; k++) {
            sum += term;
            term *= cosine2 * (double)(2 * k + 2) / (double)(2 * k + 3);
        }
        inside =
            0x1.45f306dc9c883p-1 * (stats_atan(size / root) + sine * stats_sqrt(cosine2) * sum);
    }
    double tail = (1 - inside) / 2;
    if (tail < 0)
        tail = 0;
    return t < 0 ? 1 - tail : tail;
}
