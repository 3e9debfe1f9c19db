/* Expected values: an implementation of its own in reference.py; limits by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/random.h"

static const struct bootstrap_options usual = {10000, 250, 9750};

static void against_the_reference(void **state)
{
    (void)state;
    struct error err = {0};
    struct bootstrap b;
    int64_t x[37], y[24];
    for (int64_t i = 0; i < 37; i++)
        x[i] = 100 + i * 7919 % 601;
    for (int64_t i = 0; i < 24; i++)
        y[i] = 150 + i * 104729 % 499;
    const struct bootstrap_stratum both[] = {{x, 37, random_seed_of(STR("a"))},
                                             {y, 24, random_seed_of(STR("b"))}};
    assert_int_equal(bootstrap_median(both, 2, &usual, &b, &err), 0);
    assert_int_equal(b.median, 382);
    assert_int_equal(b.low, 312);
    assert_int_equal(b.high, 453);
    assert_int_equal(bootstrap_median(both, 1, &usual, &b, &err), 0);
    assert_int_equal(b.median, 382);
    assert_int_equal(b.low, 310);
    assert_int_equal(b.high, 488);
}

/* Neighbouring ranks of few resamples of values far apart. */
static void ranks_are_exact(void **state)
{
    (void)state;
    struct error err = {0};
    struct bootstrap b;
    int64_t wide[1000];
    for (int64_t i = 0; i < 1000; i++)
        wide[i] = i * 7919 % 100003;
    const struct bootstrap_stratum s[] = {{wide, 1000, random_seed_of(STR("wide"))}};
    const struct bootstrap_options ends = {20, 1, 20}, inner = {20, 2, 19};
    assert_int_equal(bootstrap_median(s, 1, &ends, &b, &err), 0);
    assert_true(b.median == 49843 && b.low == 47402 && b.high == 52172);
    assert_int_equal(bootstrap_median(s, 1, &inner, &b, &err), 0);
    assert_true(b.median == 49843 && b.low == 48222 && b.high == 52079);
}

static void edges(void **state)
{
    (void)state;
    struct error err = {0};
    struct bootstrap b;
    const int64_t one[] = {42}, two[] = {7, STATS_INFINITE};
    const struct bootstrap_stratum s[] = {{one, 1, 1}, {NULL, 0, 2}}, t[] = {{two, 2, 1}};
    assert_int_equal(bootstrap_median(s, 2, &usual, &b, &err), 0);
    assert_true(b.median == 42 && b.low == 42 && b.high == 42);
    /* Of two, the median is the first; a quarter of the resamples holds only the infinite one. */
    assert_int_equal(bootstrap_median(t, 1, &usual, &b, &err), 0);
    assert_true(b.median == 7 && b.low == 7 && b.high == STATS_INFINITE);
}

static void limits(void **state)
{
    (void)state;
    struct error err = {0};
    struct bootstrap b;
    const int64_t one[] = {42};
    const struct bootstrap_stratum s[] = {{one, 1, 1}};
    struct bootstrap_options o = {BOOTSTRAP_RESAMPLES_MAX, 1, 1};
    assert_int_equal(bootstrap_median(s, 1, &o, &b, &err), 0);
    o.resamples++;
    assert_int_equal(bootstrap_median(s, 1, &o, &b, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    const struct bootstrap_stratum huge[] = {{one, 1, 1}, {one, BOOTSTRAP_VALUES_MAX, 1}};
    assert_int_equal(bootstrap_median(huge, 2, &usual, &b, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_the_reference),
        cmocka_unit_test(ranks_are_exact),
        cmocka_unit_test(edges),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
