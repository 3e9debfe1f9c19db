#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/num.h"

static void durations(void **state)
{
    (void)state;
    int64_t ns = -1;
    assert_int_equal(num_parse_duration_ns(&ns, STR("1.5s")), 0);
    assert_int_equal(ns, 1500000000);
    assert_int_equal(num_parse_duration_ns(&ns, STR("30min")), 0);
    assert_int_equal(ns, 1800000000000);
    assert_int_equal(num_parse_duration_ns(&ns, STR("5")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(durations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
