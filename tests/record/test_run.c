/* The defaults of spec section 5 and the w1 preset of sections 1 and 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/run.h"

static void defaults(void **state)
{
    (void)state;
    struct run_plan p;
    run_plan_init(&p);
    assert_string_equal(p.protocol, "custom");
    assert_int_equal(p.window_ns, 60000000000);
    assert_int_equal(p.max_window_ns, 1800000000000);
    assert_int_equal(p.cooldown_ns, 10000000000);
    assert_int_equal(p.quiesce_ns, 0);
    assert_int_equal(p.warmup, 2);
    assert_int_equal(p.replicates, 6);
    assert_int_equal(p.bands_n, 4);
    assert_int_equal(p.bands[3], 16);
    assert_string_equal(p.prompt_policy, "unique");
    assert_true(p.max_error_share == 0);
    assert_int_equal(p.method, COUNT_UNSET);
    assert_int_equal(p.retries, 0);
    assert_int_equal(p.corpus_tokens, COUNT_NONE);
}

static void w1(void **state)
{
    (void)state;
    struct run_plan p;
    run_plan_w1(&p);
    assert_string_equal(p.protocol, "w1");
    assert_int_equal(p.replicates, 5);
    assert_int_equal(p.quiesce_ns, 5000000000);
    assert_int_equal(p.corpus_tokens, 512);
    assert_int_equal(p.corpus_tolerance, 8);
    assert_int_equal(p.max_tokens, 128);
    assert_true(p.temperature == 0);
    assert_true(p.ignore_eos);
}

static void samples_before_the_window_may_close(void **state)
{
    (void)state;
    struct run_plan p;
    run_plan_init(&p);
    assert_int_equal(run_plan_min_samples(&p, 1), 30);
    assert_int_equal(run_plan_min_samples(&p, 3), 30);
    assert_int_equal(run_plan_min_samples(&p, 4), 32);
    assert_int_equal(run_plan_min_samples(&p, 16), 128);
    p.min_samples = 5;
    assert_int_equal(run_plan_min_samples(&p, 16), 5);
    p.requests = 7;
    assert_int_equal(run_plan_min_samples(&p, 16), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(w1),
        cmocka_unit_test(samples_before_the_window_may_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
