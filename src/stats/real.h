/*
 * ln, exp, atan and sums of our own: the same bits on every platform with IEEE 754 doubles.
 *
 *     double x = stats_ln(subject / comparator);
 *
 * libm differs from platform to platform and from version to version; a receipt must not. Built
 * with -ffp-contract=off; needs round-to-nearest and no excess precision (not x87).
 * Errors, in units in the last place, measured against 60-digit values: ln and exp below 0.53 (exp
 * of a result that is subnormal: 1), atan below 0.6. sqrt is IEEE 754's own, correctly rounded.
 */
#ifndef TALLY_STATS_REAL_H
#define TALLY_STATS_REAL_H

#include <stddef.h>

/* x finite and above 0 (asserted). */
double stats_ln(double x);
/* x no NaN (asserted). Infinity from 709.79 on, 0 from -745.14 down. */
double stats_exp(double x);
/* x no NaN (asserted). */
double stats_atan(double x);
double stats_sqrt(double x);

/* Sum in the order given, compensated (Neumaier 1974): the error is about one rounding, whatever n.
 */
double stats_sum(const double *x, size_t n);
double stats_mean(const double *x, size_t n); /* n > 0 */
/* Sample standard deviation (n - 1), in two passes; 0 when n < 2. */
double stats_deviation(const double *x, size_t n);

#endif
