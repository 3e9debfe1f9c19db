/* Nearest rank worked by hand; wire case 26 in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>

#include <cmocka.h>

#include "stats/quantile.h"
#include "stats/random.h"

static void ranks(void **state)
{
    (void)state;
    /* Case 33: the p99 of three values is the third; so is their p67, and the p66 the second. */
    assert_int_equal(stats_rank(3, 99), 3);
    assert_int_equal(stats_rank(3, 67), 3);
    assert_int_equal(stats_rank(3, 66), 2);
    assert_int_equal(stats_rank(1, 1), 1);
    assert_int_equal(stats_rank(2, 50), 1);
    assert_int_equal(stats_rank(4, 50), 2);
    assert_int_equal(stats_rank(5, 50), 3);
    assert_int_equal(stats_rank(100, 99), 99);
    assert_int_equal(stats_rank(101, 99), 100);
    assert_int_equal(stats_rank(299, 99), 297);
    assert_int_equal(stats_rank(7, 100), 7);
    assert_true(stats_rank(SIZE_MAX, 100) == SIZE_MAX);
}

/* 500 ms of service, ten requests a second planned, one at a time, eight of them: the i-th is done
 * at (i+1) 500 ms and was planned at i 100 ms. */
static void case_26(void **state)
{
    (void)state;
    struct error err = {0};
    int64_t from_plan[8], sum = 0;
    for (int i = 0; i < 8; i++) {
        from_plan[i] = (i + 1) * 500 - i * 100;
        sum += from_plan[i];
    }
    assert_int_equal(stats_divide(sum, 8), 1900);
    assert_int_equal(stats_sort(from_plan, 8, &err), 0);
    assert_int_equal(from_plan[stats_rank(8, 99) - 1], 3300);
}

static void infinite_ranks_come_last(void **state)
{
    (void)state;
    struct error err = {0};
    int64_t v[] = {STATS_INFINITE, 5, -3, STATS_INFINITE, 4};
    assert_int_equal(stats_sort(v, 5, &err), 0);
    assert_int_equal(v[stats_rank(5, 50) - 1], 5);
    assert_int_equal(v[stats_rank(5, 90) - 1], STATS_INFINITE);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void sorting(void **state)
{
    (void)state;
    struct error err = {0};
    struct random r;
    random_seed(&r, 3);
    static const size_t sizes[] = {0, 1, 2, 255, 256, 257, 5000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int kind = 0; kind < 3; kind++) {
            size_t n = sizes[k];
            int64_t *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b);
            for (size_t i = 0; i < n; i++)
                a[i] = b[i] = kind == 0   ? (int64_t)random_next(&r)
                              : kind == 1 ? (int64_t)random_below(&r, 10) - 5
                                          : 7;
            a[n] = b[n] = -1; /* must stay */
            assert_int_equal(stats_sort(a, n, &err), 0);
            qsort(b, n, sizeof *b, compare);
            assert_memory_equal(a, b, (n + 1) * sizeof *a);
            free(a);
            free(b);
        }
}

static void division(void **state)
{
    (void)state;
    assert_int_equal(stats_divide(5, 2), 2);
    assert_int_equal(stats_divide(7, 2), 4);
    assert_int_equal(stats_divide(-5, 2), -2);
    assert_int_equal(stats_divide(-7, 2), -4);
    assert_int_equal(stats_divide(7, 3), 2);
    assert_int_equal(stats_divide(8, 3), 3);
    assert_int_equal(stats_divide(-8, 3), -3);
    assert_int_equal(stats_divide(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(stats_divide(INT64_MIN, INT64_MAX), -1);
    const int64_t few[] = {1, 2, 4, -2}, huge[] = {INT64_MAX, INT64_MAX, INT64_MAX - 3};
    assert_int_equal(stats_divide_sum(few, 4, 4), 1);
    assert_int_equal(stats_divide_sum(few, 3, 3), 2);
    assert_int_equal(stats_divide_sum(few, 2, 2), 2); /* 1.5: to even */
    assert_int_equal(stats_divide_sum(few, 1, 2), 0); /* 0.5: to even */
    assert_int_equal(stats_divide_sum(few + 3, 1, 4), 0);
    assert_true(stats_divide_sum(huge, 3, 3) == INT64_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks),
        cmocka_unit_test(case_26),
        cmocka_unit_test(infinite_ranks_come_last),
        cmocka_unit_test(sorting),
        cmocka_unit_test(division),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
