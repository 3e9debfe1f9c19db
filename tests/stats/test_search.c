/* Bracket and bisect: every answer over every size, and the probes of one by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/search.h"

static void every_answer(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 130; n++)
        for (int64_t good = 0; good <= n; good++) { /* points 0 ... good - 1 are met */
            struct search s;
            int probes = 0;
            search_init(&s, n);
            while (!search_done(&s)) {
                int64_t at = search_next(&s);
                assert_in_range(at, 0, n - 1);
                search_tell(&s, at < good);
                probes++;
            }
            assert_int_equal(s.met, good - 1);
            assert_int_equal(s.missed, good);
            assert_true(probes <= 15); /* log2 up, log2 down */
        }
}

/* Of 64 points 0 ... 20 are met: 0, 1, 3, 7, 15 met, 31 missed; then 23 missed, 19 met, 21 missed,
 * 20 met. */
static void by_hand(void **state)
{
    (void)state;
    static const int64_t probes[] = {0, 1, 3, 7, 15, 31, 23, 19, 21, 20};
    struct search s;
    search_init(&s, 64);
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        assert_false(search_done(&s));
        assert_int_equal(search_next(&s), probes[i]);
        search_tell(&s, probes[i] <= 20);
    }
    assert_true(search_done(&s));
    assert_int_equal(s.met, 20);
    assert_int_equal(s.missed, 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_answer), cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
