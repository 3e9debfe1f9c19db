/* The floor of a client, worked by hand. */
#include "metrics/floor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "make.h"

#define REQUESTS 2
#define ZERO INT64_C(77000000000) /* monotonic: where the samples' times count from */

static struct made m[REQUESTS];
static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 24);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static int compute_floor(struct metrics_floor *f, size_t n, struct error *err)
{
    struct sample samples[REQUESTS] = {m[0].s};
    *err = (struct error){0};
    for (size_t i = 0; i < n; i++)
        samples[i] = m[i].s;
    return metrics_floor_compute(f, samples, n, ZERO, &arena, err);
}

/* Sent at 10, 20 and 30 ms; read at 10.5, 20.2 and 31; the kernel had the second at 20.1. */
static void errors_against_the_send_time(void **state)
{
    (void)state;
    struct metrics_floor f;
    struct error err;
    make(&m[0], 0, 0);
    arrive(&m[0], 11, EVENT_TEXT, "0000077010000000", 0); /* leading zeros, as tally-sim writes */
    arrive(&m[0], 21, EVENT_TEXT, "77020000000", 0);
    arrive(&m[0], 31, EVENT_TEXT, "77030000000", 0);
    arrive(&m[0], 32, EVENT_FINISH, "", 0);
    m[0].reads[0].t_user_ns = 10500000;
    m[0].reads[0].t_lower_ns = 10100000;
    m[0].reads[1].t_user_ns = 20200000;
    m[0].reads[1].t_lower_ns = TIME_NONE;
    m[0].reads[1].t_kernel_ns = 20100000;
    m[0].reads[2].t_lower_ns = 30900000;
    m[0].reads[3].t_lower_ns = TIME_NONE;
    end(&m[0], 33, OUTCOME_OK);
    make(&m[1], 1, 0); /* one that failed counts as a request alone */
    arrive(&m[1], 11, EVENT_TEXT, "no time", 0);
    end(&m[1], 33, OUTCOME_FAILED);
    assert_int_equal(compute_floor(&f, 2, &err), 0);
    assert_int_equal(f.requests, 2);
    assert_int_equal(f.requests_ok, 1);
    assert_int_equal(f.events, 3);
    assert_int_equal(f.user_error.n, 3); /* 0.2, 0.5, 1 ms */
    assert_int_equal(f.user_error.p50_ns, 500000);
    assert_int_equal(f.user_error.p99_ns, 1000000);
    assert_int_equal(f.user_error.max_ns, 1000000);
    assert_int_equal(f.kernel_error.n, 1);
    assert_int_equal(f.kernel_error.max_ns, 100000);
    assert_int_equal(f.read_lag.n, 2); /* 0.1 and 0.4 ms */
    assert_int_equal(f.read_lag.max_ns, 400000);
    assert_int_equal(f.outside, 0);
    /* A token that was sent after its stamp: the clocks do not agree. */
    m[0].events[1].text = STR("77020150000");
    assert_int_equal(compute_floor(&f, 1, &err), 0);
    assert_int_equal(f.outside, 1);
    assert_int_equal(f.kernel_error.max_ns, -50000);
}

static void nothing_and_nonsense(void **state)
{
    (void)state;
    struct metrics_floor f;
    struct error err;
    assert_int_equal(compute_floor(&f, 0, &err), 0);
    assert_int_equal(f.events, 0);
    assert_int_equal(f.user_error.n, 0);
    static const char *const texts[] = {
        "soon", "1e9", " 5", "99999999999999999999", "9223372036854775807", "-9223372036854775808"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        make(&m[0], 0, 0);
        arrive(&m[0], 11, EVENT_TEXT, texts[i], 0);
        end(&m[0], 33, OUTCOME_OK);
        assert_int_equal(compute_floor(&f, 1, &err), -1);
        assert_string_equal(err.rule, "calibration");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_against_the_send_time),
        cmocka_unit_test(nothing_and_nonsense),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
