/* Expected values: mpmath at 40 digits, printed by reference.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "stats/real.h"

/* How many doubles lie between the two. */
static int64_t apart(double a, double b)
{
    int64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x > y ? x - y : y - x;
}

struct point {
    double x, y;
};

static void check(double (*f)(double), const struct point *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (apart(f(points[i].x), points[i].y) > 1)
            fail_msg("f(%a) = %a, not %a", points[i].x, f(points[i].x), points[i].y);
}

static void logarithms(void **state)
{
    (void)state;
    static const struct point points[] = {
        {2.0, 0x1.62e42fefa39efp-1},
        {10.0, 0x1.26bb1bbb55516p+1},
        {0.1, -0x1.26bb1bbb55515p+1},
        {1.0000000001, 0x1.b7cdffffa18d8p-34},
        {1e300, 0x1.5963447f87fb5p+9},
        {5e-324, -0x1.74385446d71c3p+9},
        {0.75, -0x1.269621134db92p-2},
        {1.5, 0x1.9f323ecbf984cp-2},
        {1.0, 0.0},
    };
    check(stats_ln, points, sizeof points / sizeof points[0]);
}

static void exponentials(void **state)
{
    (void)state;
    static const struct point points[] = {
        {1.0, 0x1.5bf0a8b145769p+1},
        {-1.0, 0x1.78b56362cef38p-2},
        {0.001, 0x1.0041919b7ee34p+0},
        {10.5, 0x1.1bb7015e84d3bp+15},
        {700.0, 0x1.d945df4f8ec8ep+1009},
        {-700.25, 0x1.af5fe9a485c8ep-1011},
        {1e-20, 1.0},
        {0.0, 1.0},
        {-746.0, 0.0},
    };
    check(stats_exp, points, sizeof points / sizeof points[0]);
    assert_true(isinf(stats_exp(710.0)));
    assert_true(isfinite(stats_exp(709.78)));
    assert_true(stats_exp(-745.1) > 0);
}

static void arc_tangents(void **state)
{
    (void)state;
    static const struct point points[] = {
        {1.0, 0x1.921fb54442d18p-1},      {0.03, 0x1.eb5f644234b83p-6}, {0.5, 0x1.dac670561bb4fp-2},
        {3.0, 0x1.3fc176b7a8560p+0},      {1e9, 0x1.921fb53ff74e9p+0},  {0.0, 0.0},
        {HUGE_VAL, 0x1.921fb54442d18p+0},
    };
    check(stats_atan, points, sizeof points / sizeof points[0]);
    assert_true(stats_atan(-3.0) == -stats_atan(3.0));
}

static void sums(void **state)
{
    (void)state;
    /* Naive addition gives 0 here; the true sum is 2. */
    const double cancel[] = {1.0, 1e100, 1.0, -1e100};
    assert_true(stats_sum(cancel, 4) == 2.0);
    double tenths[1000];
    for (int i = 0; i < 1000; i++)
        tenths[i] = 0.1;
    assert_true(stats_sum(tenths, 1000) == 100.0);
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assert_true(stats_mean(x, 8) == 5.0);
    assert_true(apart(stats_deviation(x, 8), sqrt(32.0 / 7)) <= 1);
    assert_true(stats_deviation(x, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(arc_tangents),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
