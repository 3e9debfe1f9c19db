#include "load/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "load/band.h"

static struct run_plan plan_of(int32_t replicates)
{
    struct run_plan p;

    run_plan_init(&p);
    p.replicates = replicates;
    p.bands_n = 2;
    p.bands[0] = 4;
    p.bands[1] = 1;
    return p;
}

/* A B in odd replicates, B A in even ones; bands ascending whatever the order given. */
static void test_order(void **state)
{
    struct run_plan p = plan_of(2);
    struct schedule_step s[8];
    struct error err = {0};
    static const struct schedule_step want[8] = {{0, 1, 1}, {1, 1, 1}, {0, 4, 1}, {1, 4, 1},
                                                 {1, 1, 2}, {0, 1, 2}, {1, 4, 2}, {0, 4, 2}};
    (void)state;

    assert_int_equal(schedule_check(&p, &err), 0);
    assert_int_equal(schedule_length(&p, 2), 8);
    schedule_make(&p, 2, s);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(s[i].lane, want[i].lane);
        assert_int_equal(s[i].band, want[i].band);
        assert_int_equal(s[i].replicate, want[i].replicate);
    }
    assert_int_equal(schedule_length(&p, 1), 4);
    schedule_make(&p, 1, s);
    assert_int_equal(s[3].band, 4);
    assert_int_equal(s[3].replicate, 2);
}

static void refused(struct run_plan *p, const char *message)
{
    struct error err = {0};

    assert_int_equal(schedule_check(p, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_string_equal(err.message, message);
}

static void test_checks(void **state)
{
    struct run_plan p = plan_of(1);
    struct error err = {0};
    (void)state;

    p.bands[1] = 4;
    refused(&p, "--bands: 4 stands there twice");
    p = plan_of(1);
    p.bands[0] = 0;
    refused(&p, "--bands: 0 is outside 1 to 65536");
    p.bands[0] = BAND_WORKERS_MAX;
    assert_int_equal(schedule_check(&p, &err), 0);
    p.bands[1] = BAND_WORKERS_MAX + 1;
    refused(&p, "--bands: 65537 is outside 1 to 65536");
    p = plan_of(0);
    refused(&p, "--replicates 0 is outside 1 to 1000");
    p = plan_of(1000);
    assert_int_equal(schedule_check(&p, &err), 0);
    p = plan_of(1001);
    refused(&p, "--replicates 1001 is outside 1 to 1000");
    p = plan_of(1);
    p.timeout_ns = 0;
    refused(&p, "--timeout must be above 0");
    p = plan_of(1);
    p.max_window_ns = p.window_ns;
    assert_int_equal(schedule_check(&p, &err), 0);
    p.max_window_ns--;
    refused(&p, "--window is longer than --max-window");
    p.requests = 5; /* then the window has no shortest time */
    assert_int_equal(schedule_check(&p, &err), 0);
    p = plan_of(1);
    p.max_tokens = 0;
    refused(&p, "--max-tokens must be at least 1");
    p = plan_of(1);
    p.bands_n = 0;
    refused(&p, "--bands needs 1 to 64 levels of concurrency");
}

/* c = 4, 1 s a request: 2 warm-up rounds (2 s), then 60 s of window in which 4 * 60 requests end,
 * then one more second for what is in flight. */
static void test_estimate(void **state)
{
    struct run_plan p = plan_of(1);
    int64_t n, ns, latency[RUN_LANES_MAX] = {NS_PER_S, NS_PER_S};
    (void)state;

    schedule_estimate_step(&p, 4, NS_PER_S, &n, &ns);
    assert_int_equal(n, 8 + 240);
    assert_int_equal(ns, 63 * NS_PER_S);
    /* c = 1, 3 s a request: 30 requests take longer than the window */
    schedule_estimate_step(&p, 1, 3 * NS_PER_S, &n, &ns);
    assert_int_equal(n, 2 + 30);
    assert_int_equal(ns, (6 + 90 + 3) * NS_PER_S);
    /* nothing known of the latency: the least that the bounds ask for */
    schedule_estimate_step(&p, 4, 0, &n, &ns);
    assert_int_equal(n, 8 + 32);
    assert_int_equal(ns, 60 * NS_PER_S);
    p.requests = 10;
    schedule_estimate_step(&p, 4, NS_PER_S, &n, &ns);
    assert_int_equal(n, 8 + 10);
    assert_int_equal(ns, (2 + 3 + 1) * NS_PER_S);
    /* two lanes, two bands, one replicate: three silences of 10 s between the four */
    p.requests = 0;
    schedule_estimate(&p, 2, latency, &n, &ns);
    assert_int_equal(n, 2 * (8 + 240) + 2 * (2 + 60));
    assert_int_equal(ns, (4 * 63 + 3 * 10) * NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
