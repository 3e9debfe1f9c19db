/*
 * Paired comparison: what n log-ratios say about their mean, and Holm's correction over several.
 *
 *     struct stats_paired p;
 *     stats_paired(&p, x, n);                     // n >= 2
 *     bool pass = p.lower >= margin;
 *
 * Pure; x is the caller's. n is 2 ... STATS_DF_MAX + 1.
 */
#ifndef TALLY_STATS_PAIRED_H
#define TALLY_STATS_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

struct stats_paired {
    double mean, s;      /* s: sample standard deviation */
    double min, max;     /* extremes of x */
    double lower, upper; /* mean -+ t(0.95, n-1) s/sqrt(n): each a one-sided 95 % bound */
    double mde;          /* 1 - exp(-(t.95 + t.80) s/sqrt(n)) */
};

void stats_paired(struct stats_paired *out, const double *x, size_t n);
/* One-sided p-value of "the mean is not below margin": P(T < (mean - margin) sqrt(n)/s). With
 * s = 0 it is 0 below the margin, 1 above it and 0.5 on it. */
double stats_p_below(const struct stats_paired *p, size_t n, double margin);
/* Holm 1979: reject[i] for the m p-values at the family-wise level alpha. m <= STATS_HOLM_MAX. */
#define STATS_HOLM_MAX 4096
void stats_holm(bool *reject, const double *p, size_t m, double alpha);

#endif
