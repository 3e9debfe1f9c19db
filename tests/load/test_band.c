/* The protocol of spec section 5 in virtual time: expected moments are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

/* c = 1, 70 ms a request: the window opens at 140 ms. At its second 2 (2.14 s) 28 have ended, at
 * second 3 42 have, so it closes there; the one sent at 3.08 s is drained until 3.15 s. */
static void test_two_bounds(void **state)
{
    struct world *w = *state;
    struct band_result r;

    w->service_ns = 70 * MS;
    world_run(w, &world_base, &r);
    world_check(w, &r);
    assert_int_equal(r.t_start_ns, 0);
    assert_int_equal(r.t_open_ns, 140 * MS);
    assert_int_equal(r.t_close_ns, 3140 * MS);
    assert_int_equal(r.t_drained_ns, 3150 * MS);
    assert_int_equal(r.status, STATUS_PASS);
    assert_null(r.reason);
    assert_int_equal(r.issued_warmup, 2);
    assert_int_equal(r.issued_window, 43);
    assert_int_equal(r.ended_window, 42);
    assert_false(w->sent[2].issue.start_cohort);
}

/* The time bound alone: 30 are there after 2.1 s, the window lasts its 5 s all the same. */
static void test_time_bound(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.window_ns = 5 * S;
    w->service_ns = 70 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_close_ns, 5140 * MS);
}

/* A window of 1.5 s closes at the first whole second behind it. */
static void test_whole_second(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.window_ns = 1500 * MS;
    config.min_samples = 1;
    w->service_ns = 70 * MS;
    world_run(w, &config, &r);
    assert_int_equal(r.t_close_ns, 2140 * MS);
}

/* Load never pauses without a quiesce period: a worker that is done before the others goes on, as
 * warm-up, and the window opens when the last is done. Worker 0 takes 100 ms, worker 1 155 ms:
 * done at 310 ms, when worker 0 has its fourth in flight. */
static void test_no_pause(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.workers = 2;
    w->service_ns = 100 * MS;
    w->service_step_ns = 55 * MS; /* worker 1: 155 ms, done at 310 ms */
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_open_ns, 310 * MS);
    /* worker 0 sent at 0, 100, 200 and 300 ms, worker 1 at 0 and 155 ms */
    assert_int_equal(r.issued_warmup, 6);
    /* the first of the window is worker 1's, free at that moment */
    assert_int_equal(w->sent[6].issue.worker, 1);
    assert_int_equal(w->sent[6].t_sent_ns, 310 * MS);
    assert_int_equal(w->sent[6].issue.t_planned_ns, 310 * MS);
    /* the request of worker 0 that straddles the opening is no request of the window */
    assert_int_equal(w->sent[7].issue.worker, 0);
    assert_int_equal(w->sent[7].t_sent_ns, 400 * MS);
    for (size_t i = 0; i < w->n; i++)
        assert_false(w->sent[i].issue.start_cohort);
}

/* With a quiesce period all stop, five seconds pass with nothing in flight, all start together. */
static void test_quiesce(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;
    int cohort = 0;

    config.workers = 2;
    config.quiesce_ns = 5 * S;
    w->service_ns = 100 * MS;
    w->service_step_ns = 55 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.issued_warmup, 4);
    assert_int_equal(r.t_open_ns, 5310 * MS);
    for (size_t i = 0; i < w->n; i++) {
        bool first = i == 4 || i == 5;
        assert_int_equal(w->sent[i].issue.start_cohort, first);
        cohort += w->sent[i].issue.start_cohort;
        if (first) {
            assert_int_equal(w->sent[i].t_sent_ns, 5310 * MS);
            assert_int_equal(w->sent[i].issue.t_planned_ns, 5310 * MS);
        }
    }
    assert_int_equal(cohort, 2);
}

/* The maximum is reached with too few samples: INCOMPLETE, the window closed there. */
static void test_max_window(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.max_window_ns = 3500 * MS;
    w->service_ns = 400 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_open_ns, 800 * MS);
    assert_int_equal(r.t_close_ns, 4300 * MS);
    assert_int_equal(r.status, STATUS_INCOMPLETE);
    assert_string_equal(r.reason, "max_window");
    assert_int_equal(r.ended_window, 8);
    /* both bounds at the very second of the maximum: complete */
    memset(w, 0, sizeof *w);
    config.max_window_ns = 3 * S;
    config.window_ns = 3 * S;
    config.min_samples = 7;
    w->service_ns = 400 * MS;
    world_run(w, &config, &r);
    assert_int_equal(r.status, STATUS_PASS);
    assert_int_equal(r.t_close_ns, 3800 * MS);
}

/* max(20, 2c) failures in a row stop the band; one fewer does not. */
static void test_failing(void **state)
{
    struct world *w = *state;
    struct band_result r;

    w->service_ns = 70 * MS;
    w->fail_from = 5;
    w->fail_to = 24;
    world_run(w, &world_base, &r);
    world_check(w, &r);
    assert_int_equal(r.status, STATUS_UNMEASURED);
    assert_string_equal(r.reason, "failing");
    assert_int_equal(r.t_close_ns, TIME_NONE);
    assert_int_equal(w->n, 24);
    assert_int_equal(r.t_drained_ns, 24 * 70 * MS);

    memset(w, 0, sizeof *w);
    w->service_ns = 70 * MS;
    w->fail_from = 5;
    w->fail_to = 23;
    world_run(w, &world_base, &r);
    assert_int_equal(r.status, STATUS_PASS);
    assert_int_equal(band_failing_limit(1), 20);
    assert_int_equal(band_failing_limit(10), 20);
    assert_int_equal(band_failing_limit(11), 22);
    assert_int_equal(band_failing_limit(64), 128);
}

static void test_warmup_failed(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.workers = 4;
    w->service_ns = 70 * MS;
    w->fail_from = 6;
    w->fail_to = 6;
    world_run(w, &config, &r);
    assert_int_equal(r.status, STATUS_UNMEASURED);
    assert_string_equal(r.reason, "warmup_failed");
    assert_int_equal(r.t_open_ns, TIME_NONE);
    assert_int_equal(r.issued_window, 0);
}

static void test_interrupted(void **state)
{
    struct world *w = *state;
    struct band_result r;

    w->service_ns = 70 * MS;
    w->interrupt_ns = 1000 * MS;
    world_run(w, &world_base, &r);
    world_check(w, &r);
    assert_int_equal(r.status, STATUS_INCOMPLETE);
    assert_string_equal(r.reason, "interrupted");
    assert_int_equal(r.t_close_ns, TIME_NONE);
    assert_int_equal(r.t_drained_ns, 1000 * MS);
    assert_int_equal(r.ended_window, 12); /* 140 + 12 * 70 = 980 */

    /* in the silence before the window */
    memset(w, 0, sizeof *w);
    struct band_config config = world_base;
    config.quiesce_ns = 5 * S;
    w->service_ns = 70 * MS;
    w->interrupt_ns = 3 * S;
    world_run(w, &config, &r);
    assert_string_equal(r.reason, "interrupted");
    assert_int_equal(r.t_open_ns, TIME_NONE);
    assert_int_equal(r.t_drained_ns, 3 * S);
}

/* --requests: exactly so many in the window, which closes when the last has ended. */
static void test_requests(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.workers = 3;
    config.requests = 10;
    config.min_samples = 10;
    config.window_ns = 60 * S;
    w->service_ns = 70 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.issued_window, 10);
    assert_int_equal(r.ended_window, 10);
    assert_int_equal(r.t_open_ns, 140 * MS);
    /* 3 + 3 + 3 + 1: four rounds */
    assert_int_equal(r.t_close_ns, 140 * MS + 4 * 70 * MS + 1);
    assert_int_equal(r.t_drained_ns, r.t_close_ns);
    assert_int_equal(r.status, STATUS_PASS);
}

static void test_no_warmup(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.warmup = 0;
    w->service_ns = 70 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_open_ns, 0);
    assert_true(w->sent[0].issue.start_cohort);
    assert_false(w->sent[1].issue.start_cohort);
}

/* A loop that wakes up late neither moves the close nor sends at or after it. */
static void test_late_loop(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;

    config.workers = 16;
    config.min_samples = 128;
    w->service_ns = 61 * MS;
    w->service_step_ns = 1700001;
    w->late_ns = 900 * 1000;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal((r.t_close_ns - r.t_open_ns) % S, 0);
    assert_int_equal(r.status, STATUS_PASS);
}

/* Nothing is handed over in the last moment before the window may close, and whoever had to wait
 * for that decision was not late. */
static void test_guard(void **state)
{
    struct world *w = *state;
    struct band_config config = world_base;
    struct band_result r;
    bool held = false;

    config.min_samples = 20;
    config.warmup = 1;
    /* opens at 99.9 ms; a request ends 1 ms before second 1 (999 = 10 * 99.9), with 10 ended */
    w->service_ns = 99900000;
    world_run(w, &config, &r);
    world_check(w, &r);
    for (size_t i = 0; i < w->n; i++) {
        int64_t into = w->sent[i].t_sent_ns - r.t_open_ns;
        assert_true(into % S < S - BAND_CLOSE_GUARD_NS);
        if (into == S) {
            held = true;
            assert_int_equal(w->sent[i].issue.t_planned_ns, w->sent[i].t_sent_ns);
        }
    }
    assert_true(held);
    /* 10 more end between second 1 and 1999 ms: 20 are enough at second 2 */
    assert_int_equal(r.t_close_ns - r.t_open_ns, 2 * S);
}

static void test_worker_limit(void **state)
{
    struct band_config config = world_base;
    struct error err = {0};
    struct band *b = NULL;
    (void)state;

    config.workers = 0;
    assert_int_equal(band_new(&b, &config, 0, &err), -1);
    config.workers = BAND_WORKERS_MAX + 1;
    assert_int_equal(band_new(&b, &config, 0, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    config.workers = BAND_WORKERS_MAX;
    assert_int_equal(band_new(&b, &config, 0, &err), 0);
    band_free(b);
    band_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two_bounds), TEST(test_time_bound),    TEST(test_whole_second),
        TEST(test_no_pause),   TEST(test_quiesce),       TEST(test_max_window),
        TEST(test_failing),    TEST(test_warmup_failed), TEST(test_interrupted),
        TEST(test_requests),   TEST(test_no_warmup),     TEST(test_late_loop),
        TEST(test_guard),      TEST(test_worker_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
