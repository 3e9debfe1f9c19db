/* Sweeps over a made-up server: which rates are probed, lane by lane, and what is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "load/sweep_run.h"

#define PROBES_MAX 200

struct probes {
    struct schedule_step step[PROBES_MAX];
    size_t n;
    int32_t holds[RUN_LANES_MAX]; /* the highest band that each lane holds */
    int32_t unknown;              /* a band that cannot tell; 0 */
    size_t stop_behind;           /* the run is stopped behind so many; 0 */
    char told[1024];
};

static int measure(void *ctx, const struct schedule_step *step, bool *go_on, enum sweep_seen *seen,
                   const char **why, struct error *err)
{
    struct probes *p = ctx;
    (void)err;

    assert_true(p->n < PROBES_MAX);
    p->step[p->n++] = *step;
    *go_on = p->n != p->stop_behind;
    *seen = step->band == p->unknown             ? SWEEP_UNKNOWN
            : step->band <= p->holds[step->lane] ? SWEEP_MET
                                                 : SWEEP_MISSED;
    *why = *seen == SWEEP_UNKNOWN ? "client_saturated" : NULL;
    return 0;
}

static void keep_note(void *ctx, bool warning, const char *text)
{
    struct probes *p = ctx;
    size_t n = strlen(p->told);

    snprintf(p->told + n, sizeof p->told - n, "%s%s\n", warning ? "! " : "", text);
}

/* Rates of 1 ... 16 a second. */
static void run(struct probes *p, size_t lanes_n, int32_t replicates)
{
    struct run_plan plan;
    struct error err = {0};

    run_plan_init(&plan);
    plan.load_model = "open";
    plan.bands_n = 16;
    plan.replicates = replicates;
    for (int32_t i = 0; i < 16; i++)
        plan.bands[i] = 1000 * (i + 1);
    const struct sweep_run s = {.plan = &plan,
                                .roles = {"subject", "comparator"},
                                .lanes_n = lanes_n,
                                .measure = measure,
                                .note = keep_note,
                                .ctx = p};
    assert_int_equal(sweep_run(&s, &err), 0);
}

static void check_bands(const struct probes *p, size_t from, const int32_t *bands, size_t n,
                        size_t lane)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(p->step[from + i].band, bands[i] * 1000);
        assert_int_equal(p->step[from + i].lane, lane);
    }
}

/* Points 0, 1, 3, 7 are 1, 2, 4 and 8 a second; 8 is missed, then 6 met and 7 missed. */
static void one_lane(void **state)
{
    static const int32_t bands[] = {1, 2, 4, 8, 6, 7};
    struct probes p = {.holds = {6500}};
    (void)state;

    run(&p, 1, 1);
    assert_int_equal(p.n, 6);
    check_bands(&p, 0, bands, 6, 0);
    assert_string_equal(p.told,
                        "lane subject meets the objective at 6 req/s and misses it at 7 req/s\n");
}

static void ends_of_the_range(void **state)
{
    struct probes none = {.holds = {500}}, all = {.holds = {16000}};
    (void)state;

    run(&none, 1, 1);
    assert_int_equal(none.n, 1);
    assert_string_equal(none.told,
                        "lane subject misses the objective at 1 req/s, the lowest rate\n");
    run(&all, 1, 1);
    assert_int_equal(all.n, 5); /* 1, 2, 4, 8, 16 */
    assert_string_equal(all.told,
                        "lane subject meets the objective at 16 req/s, the highest rate\n");
}

/* A search of its own for each lane and replicate; A B, then B A. */
static void lanes_and_replicates(void **state)
{
    struct probes p = {.holds = {500, 16000}};
    static const size_t lanes[] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
    (void)state;

    run(&p, 2, 2);
    assert_int_equal(p.n, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(p.step[i].lane, lanes[i]);
        assert_int_equal(p.step[i].replicate, i < 6 ? 1 : 2);
    }
}

static void what_cannot_tell_ends_a_search(void **state)
{
    struct probes p = {.holds = {16000, 500}, .unknown = 4000};
    (void)state;

    run(&p, 2, 1);
    assert_int_equal(p.n, 4); /* 1, 2, 4 of the one, 1 of the other */
    assert_string_equal(p.told,
                        "! the sweep of lane subject ends at 4 req/s: the band cannot tell "
                        "(client_saturated)\n"
                        "lane comparator misses the objective at 1 req/s, the lowest rate\n");
}

static void stopped(void **state)
{
    struct probes p = {.holds = {16000, 16000}, .stop_behind = 2};
    (void)state;

    run(&p, 2, 3);
    assert_int_equal(p.n, 2);
    assert_string_equal(p.told, "");
}

static void most_probes(void **state)
{
    (void)state;
    assert_int_equal(sweep_most_probes(1), 1);
    assert_int_equal(sweep_most_probes(2), 2);
    /* 16 points: 0, 1, 3, 7, 15, then 11, 13, 14 */
    assert_int_equal(sweep_most_probes(16), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lane),
        cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(lanes_and_replicates),
        cmocka_unit_test(what_cannot_tell_ends_a_search),
        cmocka_unit_test(stopped),
        cmocka_unit_test(most_probes),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
