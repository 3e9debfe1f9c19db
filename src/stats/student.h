/*
 * Student's t: quantiles from a committed table, tails by the closed form for whole degrees.
 *
 *     double t = stats_t(STATS_T95, n - 1);       // t(0.95, n-1)
 *
 * df is 1 ... STATS_DF_MAX (asserted). The table was made at 60 digits by
 * tools/make_stats_tables.py; the tails are good to 1e-13 absolute.
 */
#ifndef TALLY_STATS_STUDENT_H
#define TALLY_STATS_STUDENT_H

#include <stddef.h>

#define STATS_DF_MAX 999

enum stats_t_level { STATS_T80, STATS_T95, STATS_T975 };

double stats_t(enum stats_t_level level, size_t df);
/* P(T > t) with df degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4). */
double stats_t_tail(double t, size_t df);

#endif
