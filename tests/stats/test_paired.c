/* Expected values: SciPy 1.17.1 and plain Python, printed by reference.py; Holm by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/paired.h"
#include "stats/student.h"

static bool near(double a, double b, double tolerance)
{
    double d = a < b ? b - a : a - b;
    return d <= tolerance;
}

static void quantiles_of_t(void **state)
{
    (void)state;
    static const size_t df[] = {1, 4, 5, 29, 999};
    static const double t80[] = {1.37638192047, 0.940964577235, 0.919543780241, 0.854191985882,
                                 0.841981182259};
    static const double t95[] = {6.31375151468, 2.13184678633, 2.01504837333, 1.69912702653,
                                 1.64638034543};
    static const double t975[] = {12.7062047362, 2.7764451052, 2.57058183564, 2.04522964213,
                                  1.96234146113};
    for (int i = 0; i < 5; i++) {
        assert_true(near(stats_t(STATS_T80, df[i]), t80[i], 1e-10));
        assert_true(near(stats_t(STATS_T95, df[i]), t95[i], 1e-10));
        assert_true(near(stats_t(STATS_T975, df[i]), t975[i], 1e-10));
    }
}

static void tails_of_t(void **state)
{
    (void)state;
    assert_true(near(stats_t_tail(0.5, 1), 0.352416382349567, 1e-13));
    assert_true(near(stats_t_tail(2.015048372669157, 5), 0.0500000000423526, 1e-13));
    assert_true(near(stats_t_tail(-1.5, 4), 0.896, 1e-13));
    assert_true(near(stats_t_tail(6.0, 7), 0.000271129171001405, 1e-13));
    assert_true(near(stats_t_tail(3.0, 999), 0.0013833882300739, 1e-13));
    assert_true(stats_t_tail(0, 3) == 0.5);
    assert_true(stats_t_tail(1e300, 3) >= 0 && stats_t_tail(1e300, 3) < 1e-15);
    /* Table and tail, made in two ways, agree over all degrees of freedom. */
    for (size_t df = 1; df <= STATS_DF_MAX; df++) {
        assert_true(near(stats_t_tail(stats_t(STATS_T80, df), df), 0.2, 1e-12));
        assert_true(near(stats_t_tail(stats_t(STATS_T95, df), df), 0.05, 1e-12));
        assert_true(near(stats_t_tail(stats_t(STATS_T975, df), df), 0.025, 1e-12));
    }
}

static void log_ratios(void **state)
{
    (void)state;
    static const double x[] = {0.031, -0.012, 0.054, 0.022, 0.017, 0.040};
    struct stats_paired p;
    stats_paired(&p, x, 6);
    assert_true(near(p.mean, 0.0253333333333333, 1e-15));
    assert_true(near(p.s, 0.022553639765383, 1e-15));
    assert_true(near(p.lower, 0.00677980590752085, 1e-14));
    assert_true(near(p.upper, 0.0438868607591458, 1e-14));
    assert_true(near(p.mde, 0.0266584327078755, 1e-14));
    assert_true(p.min == -0.012 && p.max == 0.054);
    assert_true(near(stats_p_below(&p, 6, 0.0), 0.979878000866, 1e-11));
    assert_true(near(stats_p_below(&p, 6, 0.05), 0.0219368565658, 1e-11));
}

static void no_spread(void **state)
{
    (void)state;
    static const double x[] = {0.5, 0.5, 0.5};
    struct stats_paired p;
    stats_paired(&p, x, 3);
    assert_true(p.lower == 0.5 && p.upper == 0.5 && p.s == 0 && p.mde == 0);
    assert_true(stats_p_below(&p, 3, 0.6) == 0);
    assert_true(stats_p_below(&p, 3, 0.4) == 1);
    assert_true(stats_p_below(&p, 3, 0.5) == 0.5);
}

static void holm(void **state)
{
    (void)state;
    /* Holm's own steps for four: 0.005 <= .05/4, 0.016 <= .05/3, 0.03 > .05/2: two are rejected. */
    static const double p[] = {0.016, 0.04, 0.03, 0.005};
    bool reject[4];
    stats_holm(reject, p, 4, 0.05);
    assert_true(reject[0] && !reject[1] && !reject[2] && reject[3]);
    /* Each below .05, none below .05/3: none is rejected. */
    static const double close[] = {0.02, 0.03, 0.04};
    stats_holm(reject, close, 3, 0.05);
    assert_false(reject[0] || reject[1] || reject[2]);
    stats_holm(reject, close, 1, 0.05);
    assert_true(reject[0]);
    stats_holm(reject, close, 0, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_t), cmocka_unit_test(tails_of_t),
        cmocka_unit_test(log_ratios),     cmocka_unit_test(no_spread),
        cmocka_unit_test(holm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
