/* Arrival processes: constant ones worked out by hand, drawn ones against reference.py. */
#include "stats/arrivals.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SEED random_seed_of(STR("2026/arrivals/b2500/r1/window"))

static void constant(void **state)
{
    (void)state;
    struct arrivals a;
    /* 10 a second: every 100 ms, from 0 on */
    arrivals_init(&a, ARRIVALS_CONSTANT, 10000, 0, 1);
    for (int64_t k = 0; k < 1000; k++)
        assert_int_equal(arrivals_next(&a), k * 100000000);
    /* 3 a second: thirds of a second rounded down, and no drift at whole ones */
    arrivals_init(&a, ARRIVALS_CONSTANT, 3000, 0, 1);
    for (int64_t s = 0; s < 1000; s++) {
        assert_int_equal(arrivals_next(&a), s * 1000000000);
        assert_int_equal(arrivals_next(&a), s * 1000000000 + 333333333);
        assert_int_equal(arrivals_next(&a), s * 1000000000 + 666666666);
    }
}

/* Wire case 29: 200 a second. After an hour the 720,000th is due at the hour, to the ns. */
static void no_drift(void **state)
{
    (void)state;
    struct arrivals a;
    arrivals_init(&a, ARRIVALS_CONSTANT, 200000, 0, 1);
    int64_t last = 0;
    for (int64_t k = 0; k <= 720000; k++)
        last = arrivals_next(&a);
    assert_int_equal(last, INT64_C(3600000000000));
}

static void limits(void **state)
{
    (void)state;
    struct arrivals a;
    /* the slowest: one in 1,000 s; the fastest: one in 10 us */
    arrivals_init(&a, ARRIVALS_CONSTANT, 1, 0, 1);
    assert_int_equal(arrivals_next(&a), 0);
    assert_int_equal(arrivals_next(&a), INT64_C(1000000000000));
    a.k = INT64_MAX / 2;
    assert_int_equal(arrivals_next(&a), ARRIVALS_OFFSET_MAX);
    arrivals_init(&a, ARRIVALS_CONSTANT, ARRIVALS_MRPS_MAX, 0, 1);
    assert_int_equal(arrivals_next(&a), 0);
    assert_int_equal(arrivals_next(&a), 10000);
    a.k = ARRIVALS_MRPS_MAX - 1;
    assert_int_equal(arrivals_next(&a), INT64_C(999999990000)); /* 10 us short of 1,000 s */
    arrivals_init(&a, ARRIVALS_GAMMA, 1, ARRIVALS_BURSTINESS_MIN, 1);
    a.at_s = 1e18;
    assert_int_equal(arrivals_next(&a), ARRIVALS_OFFSET_MAX);
}

static void drawn(void **state)
{
    (void)state;
    static const struct {
        enum arrivals_kind kind;
        double burstiness;
        int64_t expected[6];
    } cases[] = {
        {ARRIVALS_POISSON,
         0,
         {255313337, 1029032017, 1156424528, 1519899152, 1538272071, 2399040293}},
        {ARRIVALS_GAMMA, 0.5, {139077085, 151749053, 261898819, 656180018, 664037309, 722272518}},
        {ARRIVALS_GAMMA,
         4.0,
         {349339788, 737818400, 1104613892, 1652915570, 2258170438, 2574288472}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arrivals a;
        arrivals_init(&a, cases[i].kind, 2500, cases[i].burstiness, SEED);
        for (size_t k = 0; k < 6; k++) /* the reference's ln may round otherwise */
            assert_true(llabs(arrivals_next(&a) - cases[i].expected[k]) <= 1);
    }
}

/* Gaps have mean 1 / rate, and a coefficient of variation of 1 and 1 / sqrt(burstiness). */
static void shapes(void **state)
{
    (void)state;
    static const struct {
        enum arrivals_kind kind;
        double burstiness, variation;
    } cases[] = {
        {ARRIVALS_POISSON, 0, 1}, {ARRIVALS_GAMMA, 1, 1},    {ARRIVALS_GAMMA, 0.25, 2},
        {ARRIVALS_GAMMA, 4, 0.5}, {ARRIVALS_CONSTANT, 0, 0},
    };
    enum { N = 200000 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arrivals a;
        double sum = 0, squares = 0;
        int64_t before = 0;
        arrivals_init(&a, cases[i].kind, 50000, cases[i].burstiness, SEED);
        for (int k = 0; k < N; k++) {
            int64_t at = arrivals_next(&a);
            assert_true(at >= before);
            sum += (double)(at - before) * 50e-9;
            squares += (double)(at - before) * (double)(at - before) * 2500e-18;
            before = at;
        }
        double mean = sum / N, variation = sqrt(fmax(0, squares / N - mean * mean)) / mean;
        /* 5 standard errors of a mean of 200,000, the worst of these gaps */
        assert_true(fabs(mean - 1) < 5 * 2 / sqrt(N));
        assert_true(fabs(variation - cases[i].variation) < 0.05);
    }
}

static void same_again(void **state)
{
    (void)state;
    struct arrivals a, b, c;
    bool differ = false;
    arrivals_init(&a, ARRIVALS_POISSON, 1000, 0, 7);
    arrivals_init(&b, ARRIVALS_POISSON, 1000, 0, 7);
    arrivals_init(&c, ARRIVALS_POISSON, 1000, 0, 8);
    for (int k = 0; k < 100; k++) {
        int64_t at = arrivals_next(&a);
        assert_int_equal(at, arrivals_next(&b));
        differ |= at != arrivals_next(&c);
    }
    assert_true(differ);
}

static void names(void **state)
{
    (void)state;
    for (int k = 0; k < ARRIVALS_KIND_COUNT; k++)
        assert_int_equal(arrivals_kind_find(arrivals_kind_name((enum arrivals_kind)k)), k);
    assert_int_equal(arrivals_kind_find("exponential"), ARRIVALS_KIND_COUNT);
    assert_int_equal(arrivals_kind_find(NULL), ARRIVALS_KIND_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant), cmocka_unit_test(no_drift), cmocka_unit_test(limits),
        cmocka_unit_test(drawn),    cmocka_unit_test(shapes),   cmocka_unit_test(same_again),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests_name("arrivals", tests, NULL, NULL);
}
