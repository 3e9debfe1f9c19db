/* The open loop, and the ramp, in virtual time: expected moments are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

struct planned {
    int64_t gap_ns, first_ns;
    int64_t k[2]; /* by phase */
    int64_t n;    /* 0: no end */
};

static int64_t evenly(void *ctx, enum sample_phase phase)
{
    struct planned *p = ctx;
    int64_t k = p->k[phase]++;

    return p->n && k >= p->n ? INT64_MAX : p->first_ns + k * p->gap_ns;
}

static struct band_config open_config(struct planned *p)
{
    struct band_config config = world_base;

    config.workers = 0;
    config.arrival = evenly;
    config.ctx = p;
    return config;
}

/* Wire case 26: 500 ms of service, 10 requests/s planned, 8 requests, cap 1. From plan 500, 900, …,
 * 3300 ms: mean 1900, p99 (rank 8 of 8) 3300; from send 500 ms each. */
static void test_case_26(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 100 * MS};
    struct band_config config = open_config(&plan);
    struct band_result r;
    int64_t sum = 0, worst = 0;

    config.warmup = 0;
    config.requests = config.min_samples = 8;
    config.workers = 1;
    w->service_ns = 500 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(w->n, 8);
    for (size_t i = 0; i < 8; i++) {
        int64_t from_plan = w->sent[i].t_end_ns - w->sent[i].issue.t_planned_ns;
        assert_int_equal(w->sent[i].issue.t_planned_ns, (int64_t)i * 100 * MS);
        assert_int_equal(w->sent[i].t_end_ns - w->sent[i].t_sent_ns, 500 * MS);
        /* it waited for the cap, which was asked for: not late by its own doing */
        assert_int_equal(w->sent[i].issue.t_due_ns, w->sent[i].t_sent_ns);
        sum += from_plan;
        worst = from_plan > worst ? from_plan : worst;
    }
    assert_int_equal(sum / 8, 1900 * MS);
    assert_int_equal(worst, 3300 * MS); /* nearest rank: ceil(0.99 * 8) = 8 */
    assert_int_equal(r.planned_window, 8);
    assert_int_equal(r.issued_window, 8);
    assert_int_equal(r.status, STATUS_PASS);
    assert_int_equal(r.t_close_ns, 4000 * MS + 1);
}

/* The same without a cap: none is asked for, so none is kept; each is sent when it is due. */
static void test_no_cap(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 1 * MS};
    struct band_config config = open_config(&plan);
    struct band_result r;

    config.warmup = 0;
    config.requests = config.min_samples = 5000;
    w->service_ns = 60 * S; /* all 5,000 at once */
    world_run(w, &config, &r);
    world_check(w, &r);
    for (size_t i = 0; i < w->n; i++) {
        assert_int_equal(w->sent[i].t_sent_ns, (int64_t)i * MS);
        assert_int_equal(w->sent[i].issue.worker, i); /* a place each, and none twice */
    }
    assert_int_equal(w->n, 5000);
    assert_int_equal(r.status, STATUS_PASS);
}

/* Wire case 29: 200 a second for ten minutes by a loop that wakes up 0.9 ms late each time: the
 * last is sent 0.9 ms late, not more. */
static void test_case_29(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 5 * MS};
    struct band_config config = open_config(&plan);
    struct band_result r;

    config.warmup = 0;
    config.window_ns = 90 * S;
    config.min_samples = 1;
    w->service_ns = 70 * MS;
    w->late_ns = 900 * 1000;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_close_ns, 90 * S);
    assert_int_equal(r.issued_window, 18000);
    assert_int_equal(r.planned_window, 18000);
    for (size_t i = 0; i < w->n; i++) {
        assert_int_equal(w->sent[i].issue.t_planned_ns, (int64_t)i * 5 * MS);
        assert_in_range(w->sent[i].t_sent_ns - w->sent[i].issue.t_planned_ns, 0, 900 * 1000);
    }
}

/* Warm-up has arrivals of its own; the window's begin when the second request has ended: 0 and 100
 * ms, done at 350 ms, with those of 200 and 300 ms sent as warm-up. */
static void test_open_warmup(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 100 * MS, .first_ns = 7 * MS};
    struct band_config config = open_config(&plan);
    struct band_result r;

    config.min_samples = 1;
    w->service_ns = 250 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_open_ns, 357 * MS);
    assert_int_equal(r.issued_warmup, 4);
    assert_int_equal(w->sent[4].issue.t_planned_ns, 364 * MS);
    assert_int_equal(r.t_close_ns, 1357 * MS);
    /* 7, 107, …, 907 ms into the window */
    assert_int_equal(r.issued_window, 10);
    assert_int_equal(r.planned_window, 10);
    /* the last, of 907 ms, is drained */
    assert_int_equal(r.t_drained_ns, 357 * MS + 907 * MS + 250 * MS);

    /* with a quiesce period: two requests, silence, and the window's own from its opening on */
    memset(w, 0, sizeof *w);
    plan = (struct planned){.gap_ns = 100 * MS, .first_ns = 7 * MS};
    config.quiesce_ns = 5 * S;
    w->service_ns = 250 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.issued_warmup, 2);
    assert_int_equal(r.t_open_ns, 5357 * MS);
    assert_int_equal(w->sent[2].issue.t_planned_ns, 5364 * MS);
}

/* What the cap kept back until the close was planned, and never sent: 40 a second, one at a time of
 * 100 ms, one second. Due before 998 ms: 0, 25, …, 975, so 40; sent at 0, 100, …, 900, so 10. */
static void test_unsent(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 25 * MS};
    struct band_config config = open_config(&plan);
    struct band_result r;

    config.warmup = 0;
    config.workers = 1;
    config.min_samples = 1;
    w->service_ns = 100 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_close_ns, 1 * S);
    assert_int_equal(r.issued_window, 10);
    assert_int_equal(r.planned_window, 40);
}

/* Arrivals of the last 2 ms before the window may close wait for that decision: they are no part of
 * it where it closes, and were not late where it goes on. */
static void test_open_guard(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 111 * MS}; /* 9 * 111 = 999 ms */
    struct band_config config = open_config(&plan);
    struct band_result r;

    config.warmup = 0;
    config.min_samples = 1;
    w->service_ns = 10 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_close_ns, 1 * S);
    assert_int_equal(r.planned_window, 9);
    assert_int_equal(r.issued_window, 9);

    memset(w, 0, sizeof *w);
    plan = (struct planned){.gap_ns = 111 * MS};
    config.min_samples = 10; /* not before second 2 */
    w->service_ns = 10 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_close_ns, 2 * S);
    assert_int_equal(w->sent[9].issue.t_planned_ns, 999 * MS);
    assert_int_equal(w->sent[9].issue.t_due_ns, 1 * S);
    assert_int_equal(w->sent[9].t_sent_ns, 1 * S);
    assert_int_equal(w->sent[10].issue.t_due_ns, w->sent[10].issue.t_planned_ns);
    /* 18 * 111 = 1998 ms lies in the guard of second 2 */
    assert_int_equal(r.planned_window, 18);
}

/* An interrupted band planned what was due until then. */
static void test_open_interrupted(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 100 * MS};
    struct band_config config = open_config(&plan);
    struct band_result r;

    config.warmup = 0;
    config.workers = 1;
    w->service_ns = 300 * MS;
    w->interrupt_ns = 650 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_string_equal(r.reason, "interrupted");
    assert_int_equal(r.issued_window, 3);  /* 0, 300, 600 ms */
    assert_int_equal(r.planned_window, 7); /* 0, 100, …, 600 ms */
}

/* Arrivals that end, like a trace's: with --requests of as many the window closes with the last. */
static void test_arrivals_end(void **state)
{
    struct world *w = *state;
    struct planned plan = {.gap_ns = 100 * MS, .n = 5};
    struct band_config config = open_config(&plan);
    struct band_result r;

    config.warmup = 0;
    config.requests = config.min_samples = 5;
    w->service_ns = 70 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_close_ns, 470 * MS + 1);
    assert_int_equal(r.planned_window, 5);
}

/* A ramp of 1, 2 and 4 workers, 2 s each, 100 ms a request: 20, 40 and 80 requests. */
static void test_ramp(void **state)
{
    struct world *w = *state;
    static const int32_t steps[] = {1, 2, 4};
    struct band_config config = world_base;
    struct band_result r;
    int64_t in_step[3] = {0};

    config.workers = 4;
    config.ramp = steps;
    config.ramp_n = 3;
    config.ramp_step_ns = 2 * S;
    config.window_ns = 6 * S;
    config.min_samples = 1;
    w->service_ns = 100 * MS;
    world_run(w, &config, &r);
    world_check(w, &r);
    assert_int_equal(r.t_open_ns, 200 * MS); /* the first step's one worker warms up */
    assert_int_equal(r.t_close_ns, 6200 * MS);
    for (size_t i = 2; i < w->n; i++) {
        int64_t step = (w->sent[i].t_sent_ns - r.t_open_ns) / (2 * S);
        in_step[step]++;
        assert_true(w->sent[i].issue.worker < steps[step]);
    }
    assert_int_equal(in_step[0], 20);
    assert_int_equal(in_step[1], 40);
    assert_int_equal(in_step[2], 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_case_26),          TEST(test_no_cap),       TEST(test_case_29),
        TEST(test_open_warmup),      TEST(test_unsent),       TEST(test_open_guard),
        TEST(test_open_interrupted), TEST(test_arrivals_end), TEST(test_ramp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
