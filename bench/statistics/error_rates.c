/*
 * How often the comparison errs, by Monte Carlo: log-ratios are drawn from a known truth, judged as
 * `compare` and `gate` judge them, and the wrong verdicts counted.
 *
 *     bench_error_rates [TRIALS]
 *
 * Promises that are checked (exit 1): at the margin, with normal log-ratios, PASS comes in 5 % of
 * trials, and FAIL of anything out of m comparisons, by Holm, in at most 5 %; for m = 1 in 5 %.
 * Everything else is shown and not checked: other distributions, power, two looks, and how often
 * interval_within covers the true median with and without variance between replicates.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "stats/bootstrap.h"
#include "stats/paired.h"
#include "stats/random.h"
#include "stats/real.h"
#include "stats/student.h"

#define ALPHA 0.05
#define COMPARISONS_MAX 32
#define REPLICATES_MAX 24
#define ERRORS_ALLOWED 4 /* standard errors of the simulation that a promise may be missed by */

enum shape { NORMAL, SKEWED, HEAVY };
static const char *const shape_names[] = {"normal", "skewed (gamma 2)", "heavy (t, 5 df)"};

/* Mean 0, standard deviation 1. */
static double draw(struct random *r, enum shape shape)
{
    if (shape == NORMAL)
        return random_normal(r);
    if (shape == SKEWED)
        return (random_gamma(r, 2) - 2) / stats_sqrt(2);
    double chi = random_gamma(r, 2.5) * 2;
    return random_normal(r) / stats_sqrt(chi / 5) / stats_sqrt(5.0 / 3);
}

static void log_ratios(struct random *r, enum shape shape, double mean, double s, double *x,
                       size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = mean + s * draw(r, shape);
}

struct rate {
    int64_t hits, trials;
};

static double share(struct rate rate)
{
    return (double)rate.hits / (double)rate.trials;
}

static double standard_error(double p, int64_t trials)
{
    return stats_sqrt(p * (1 - p) / (double)trials);
}

/* PASS iff L >= margin, at a truth of `shift` standard deviations above the margin. */
static struct rate passes(int64_t trials, enum shape shape, size_t n, double shift)
{
    const double margin = stats_ln(0.95), s = 0.02;
    struct rate rate = {0, trials};
    struct random r;
    random_seed(&r, 1 + n * 10 + shape);
    for (int64_t k = 0; k < trials; k++) {
        double x[REPLICATES_MAX];
        struct stats_paired p;
        log_ratios(&r, shape, margin + shift * s, s, x, n);
        stats_paired(&p, x, n);
        rate.hits += p.lower >= margin;
    }
    return rate;
}

/* FAIL of any of m comparisons by Holm, each with its truth on the margin; `common` is the share of
 * variance that all of them have in common (bands of one run do). */
static struct rate fails(int64_t trials, enum shape shape, size_t n, size_t m, double common)
{
    const double margin = stats_ln(0.95), s = 0.02;
    struct rate rate = {0, trials};
    struct random r;
    random_seed(&r, 7 + n * 100 + m * 10 + shape);
    for (int64_t k = 0; k < trials; k++) {
        double p[COMPARISONS_MAX], shared[REPLICATES_MAX];
        bool reject[COMPARISONS_MAX], any = false;
        for (size_t i = 0; i < n; i++)
            shared[i] = draw(&r, shape);
        for (size_t c = 0; c < m; c++) {
            double x[REPLICATES_MAX];
            struct stats_paired pair;
            for (size_t i = 0; i < n; i++)
                x[i] = margin + s * (stats_sqrt(common) * shared[i] +
                                     stats_sqrt(1 - common) * draw(&r, shape));
            stats_paired(&pair, x, n);
            p[c] = stats_p_below(&pair, n, margin);
        }
        stats_holm(reject, p, m, ALPHA);
        for (size_t c = 0; c < m; c++)
            any |= reject[c];
        rate.hits += any;
    }
    return rate;
}

/* PASS at the first of two looks (6, then 12 replicates, each at alpha/2) with truth on the margin.
 */
static struct rate two_looks(int64_t trials)
{
    struct rate rate = {0, trials};
    struct random r;
    random_seed(&r, 12);
    for (int64_t k = 0; k < trials; k++) {
        double x[12];
        struct stats_paired six, twelve;
        log_ratios(&r, NORMAL, 0, 1, x, 12);
        stats_paired(&six, x, 6);
        stats_paired(&twelve, x, 12);
        double l6 = six.mean - stats_t(STATS_T975, 5) * six.s / stats_sqrt(6),
               l12 = twelve.mean - stats_t(STATS_T975, 11) * twelve.s / stats_sqrt(12);
        rate.hits += l6 >= 0 || l12 >= 0;
    }
    return rate;
}

/* Whether interval_within covers the median that the requests were drawn around: exponential times
 * of mean 1 s, 6 replicates of 60 requests, each replicate's scale off by `between`. */
static struct rate coverage(int64_t trials, double between, struct error *err)
{
    const struct bootstrap_options o = {1000, 25, 975};
    struct rate rate = {0, trials};
    struct random r;
    random_seed(&r, 99);
    for (int64_t k = 0; k < trials; k++) {
        int64_t values[6][60];
        struct bootstrap_stratum strata[6];
        struct bootstrap b;
        for (size_t i = 0; i < 6; i++) {
            double scale = stats_exp(between * random_normal(&r));
            for (size_t j = 0; j < 60; j++)
                values[i][j] = (int64_t)(1e9 * scale * random_exponential(&r));
            strata[i] = (struct bootstrap_stratum){values[i], 60, random_next(&r)};
        }
        if (bootstrap_median(strata, 6, &o, &b, err) < 0)
            rate.trials = 0;
        const int64_t truth = (int64_t)(1e9 * stats_ln(2));
        rate.hits += b.low <= truth && truth <= b.high;
    }
    return rate;
}

/* Prints a line; counts a broken promise. */
static int show(const char *what, struct rate rate, double promise, bool both_sides)
{
    double p = share(rate), allowed = ERRORS_ALLOWED * standard_error(ALPHA, rate.trials);
    bool broken = promise >= 0 && (p > promise + allowed || (both_sides && p < promise - allowed));
    printf("  %-52s %7.3f %%  +- %.3f%s\n", what, p * 100, standard_error(p, rate.trials) * 100,
           promise < 0 ? ""
           : broken    ? "  BROKEN"
                       : "  as promised");
    return broken;
}

static int pass_table(int64_t trials)
{
    static const size_t replicates[] = {5, 6, 12};
    char text[80];
    int broken = 0;
    printf("False PASS: truth on the margin, promised 5 %%\n");
    for (int shape = NORMAL; shape <= HEAVY; shape++)
        for (int k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "%s, %zu replicates", shape_names[shape], replicates[k]);
            broken += show(text, passes(trials, (enum shape)shape, replicates[k], 0),
                           shape == NORMAL ? ALPHA : -1, true);
        }
    printf("PASS where the truth lies above the margin (power)\n");
    for (int sd = 1; sd <= 3; sd++) {
        snprintf(text, sizeof text, "%d standard deviations above, 6 replicates", sd);
        show(text, passes(trials, NORMAL, 6, sd), -1, false);
    }
    printf("False PASS in two looks, 6 and 12 replicates, alpha halved\n");
    broken += show("normal", two_looks(trials), ALPHA, false);
    return broken;
}

static int fail_table(int64_t trials)
{
    static const size_t comparisons[] = {1, 8, 32};
    static const double common[] = {0, 0.5};
    char text[80];
    int broken = 0;
    printf("False FAIL of any of m comparisons, by Holm: all on the margin, promised <= 5 %%\n");
    for (int shape = NORMAL; shape <= HEAVY; shape++)
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 2; c++) {
                snprintf(text, sizeof text, "%s, 6 replicates, m = %zu, %g in common",
                         shape_names[shape], comparisons[k], common[c]);
                broken += show(text, fails(trials, (enum shape)shape, 6, comparisons[k], common[c]),
                               shape == NORMAL ? ALPHA : -1, comparisons[k] == 1);
            }
    return broken;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    int64_t trials = 20000;
    if (argc > 1 && (num_parse_i64(&trials, str_of(argv[1])) < 0 || trials < 100)) {
        fprintf(stderr, "bench_error_rates: TRIALS must be a whole number from 100 on\n");
        return 2;
    }
    printf("%lld trials a line; +- is one standard error of the simulation\n", (long long)trials);
    int broken = pass_table(trials) + fail_table(trials);
    printf("interval_within covers the true median (descriptive; it never gates)\n");
    show("no variance between replicates", coverage(trials / 20, 0, &err), -1, false);
    show("replicates differ by 20 %", coverage(trials / 20, 0.2, &err), -1, false);
    printf("%d promises broken\n", broken);
    return broken > 0;
}
