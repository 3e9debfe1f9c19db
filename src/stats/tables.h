/*
 * Constants that tools/make_stats_tables.py made: of ln, exp and atan, and the t quantiles.
 *
 *     double t = stats_t95[df - 1];
 *
 * Only for the .c files of this folder. A pair is a value rounded to a double and what that left.
 */
#ifndef TALLY_STATS_TABLES_H
#define TALLY_STATS_TABLES_H

extern const double stats_ln2_hi, stats_ln2_lo, stats_ln2_32_hi, stats_ln2_32_lo;
extern const double stats_exp2_32[][2], stats_atan_16[][2];
extern const double stats_t80[], stats_t95[], stats_t975[];

#endif
