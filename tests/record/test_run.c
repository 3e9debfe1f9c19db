/* The defaults of spec section 5 and the w1 preset of sections 1 and 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/run.h"
#include "record/workload.h"

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

/* Prompt lengths 40 % 128, 30 % 512, 20 % 2048, 10 % 8192; generation 40 % 16, 40 % 128, 20 % 512.
 */
static void w2(void **state)
{
    static const int64_t prompts[][2] = {{128, 40}, {512, 30}, {2048, 20}, {8192, 10}};
    static const int64_t outputs[][2] = {{16, 40}, {128, 40}, {512, 20}};
    (void)state;
    struct run_plan p;
    char lengths[RUN_LENGTHS_TEXT];
    run_plan_w2(&p);
    assert_string_equal(p.protocol, "w2");
    assert_int_equal(p.corpus_tokens, COUNT_NONE);
    assert_int_equal(p.max_tokens, COUNT_NONE);
    assert_int_equal(p.corpus_mixture.n, 4);
    assert_int_equal(p.corpus_outputs.n, 3);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(p.corpus_mixture.of[i].tokens, prompts[i][0]);
        assert_int_equal(p.corpus_mixture.of[i].percent, prompts[i][1]);
        assert_true(run_plan_has_length(&p, prompts[i][0] + 8));
        assert_false(run_plan_has_length(&p, prompts[i][0] + 9));
        assert_true(run_plan_has_length(&p, prompts[i][0] - 8));
        assert_false(run_plan_has_length(&p, prompts[i][0] - 9));
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(p.corpus_outputs.of[i].tokens, outputs[i][0]);
        assert_int_equal(p.corpus_outputs.of[i].percent, outputs[i][1]);
        assert_true(run_plan_has_answer(&p, outputs[i][0]));
        assert_false(run_plan_has_answer(&p, outputs[i][0] + 1));
    }
    run_plan_lengths(&p, lengths);
    assert_string_equal(lengths, "128, 512, 2048 or 8192 +- 8");
}

static void one_length(void **state)
{
    (void)state;
    struct run_plan p;
    char lengths[RUN_LENGTHS_TEXT];
    run_plan_w1(&p);
    assert_true(run_plan_has_length(&p, 504));
    assert_true(run_plan_has_length(&p, 520));
    assert_false(run_plan_has_length(&p, 503));
    assert_false(run_plan_has_length(&p, 521));
    assert_true(run_plan_has_answer(&p, 128));
    assert_false(run_plan_has_answer(&p, 127));
    run_plan_lengths(&p, lengths);
    assert_string_equal(lengths, "512 +- 8");
    run_plan_init(&p); /* nothing is promised */
    assert_true(run_plan_has_length(&p, 1));
    run_plan_lengths(&p, lengths);
    assert_string_equal(lengths, "");
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

static void load_models(void **state)
{
    (void)state;
    struct run_plan p;
    struct error err = {0};
    run_plan_init(&p);
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    assert_false(run_plan_is_open(&p));
    p.load_model = "half-open";
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.load_model = "open";
    assert_int_equal(run_plan_check_load(&p, &err), -1); /* arrivals of no kind */
    p.arrivals = "constant";
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    assert_true(run_plan_is_open(&p));
    assert_int_equal(run_plan_min_samples(&p, 16000), 30); /* a rate is no number of workers */
    p.arrivals = "poisson";
    assert_int_equal(run_plan_check_load(&p, &err), -1); /* drawn from no seed */
    p.arrival_seed = 2026;
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    p.arrivals = "gamma";
    assert_int_equal(run_plan_check_load(&p, &err), -1); /* no burstiness */
    p.burstiness = ARRIVALS_BURSTINESS_MAX;
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    p.burstiness = ARRIVALS_BURSTINESS_MAX + 1;
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.burstiness = ARRIVALS_BURSTINESS_MIN;
    p.bands[3] = RUN_BAND_MAX;
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    p.bands[3] = RUN_BAND_MAX + 1;
    assert_int_equal(run_plan_check_load(&p, &err), -1);
}

static void ramps_traces_and_sweeps(void **state)
{
    (void)state;
    struct run_plan p;
    struct error err = {0};
    char name[RUN_BAND_NAME_MAX];

    run_plan_init(&p);
    p.load_model = "ramp";
    p.bands_n = 1;
    p.bands[0] = 8;
    p.ramp[0] = 1;
    p.ramp[1] = 8;
    p.ramp_n = 2;
    p.ramp_step_ns = 3000000000;
    p.window_ns = 6000000000;
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    assert_int_equal(run_plan_min_samples(&p, 8), 0);
    p.window_ns++;
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.window_ns--;
    p.ramp[0] = 8; /* does not rise */
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.ramp[0] = 0;
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.ramp[0] = 1;
    p.bands[0] = 9; /* is not where it ends */
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.bands[0] = 8;
    p.load_model = "closed"; /* steps in a load without any */
    assert_int_equal(run_plan_check_load(&p, &err), -1);

    run_plan_init(&p);
    p.load_model = "trace";
    p.bands[0] = 1500;
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.trace_format = "azure";
    p.trace_span_ns = 0;
    assert_int_equal(run_plan_check_load(&p, &err), -1); /* of no requests */
    p.requests = 1;
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    assert_true(run_plan_is_open(&p));
    run_band_name(name, &p, 1500);
    assert_string_equal(name, "speed 1.5");

    run_plan_init(&p);
    p.load_model = "open";
    p.arrivals = "constant";
    p.search = RUN_SEARCH_BISECT;
    p.slo_share = 1;
    assert_int_equal(run_plan_check_load(&p, &err), -1); /* without an objective */
    p.slo_e2e_ns = 1;
    assert_int_equal(run_plan_check_load(&p, &err), 0);
    p.slo_share = 1.01;
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.slo_share = 0.5;
    p.max_in_flight = 1;
    assert_int_equal(run_plan_check_load(&p, &err), -1);
    p.max_in_flight = 0;
    p.search = "golden_section";
    assert_int_equal(run_plan_check_load(&p, &err), -1);
}

/* The seed's text is what the documents say, and no lane stands in it. */
static void arrivals_of_a_band(void **state)
{
    (void)state;
    struct run_plan p;
    struct arrivals a, b;
    run_plan_init(&p);
    p.load_model = "open";
    p.arrivals = "poisson";
    p.arrival_seed = 2026;
    run_plan_arrivals(&p, 2500, 1, PHASE_WINDOW, &a);
    arrivals_init(&b, ARRIVALS_POISSON, 2500, 0,
                  random_seed_of(STR("2026/arrivals/b2500/r1/window")));
    for (int k = 0; k < 10; k++)
        assert_int_equal(arrivals_next(&a), arrivals_next(&b));
    run_plan_arrivals(&p, 2500, 2, PHASE_WINDOW, &b);
    assert_true(arrivals_next(&a) != arrivals_next(&b));
}

static void names(void **state)
{
    (void)state;
    struct run_plan p;
    char name[RUN_BAND_NAME_MAX];
    static const struct {
        int32_t mrps;
        const char *name;
    } rates[] = {{1, "0.001 req/s"}, {20, "0.02 req/s"},     {2500, "2.5 req/s"},
                 {4000, "4 req/s"},  {10010, "10.01 req/s"}, {RUN_BAND_MAX, "100000 req/s"}};
    run_plan_init(&p);
    run_band_name(name, &p, 16);
    assert_string_equal(name, "c = 16");
    p.load_model = "open";
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        run_band_name(name, &p, rates[i].mrps);
        assert_string_equal(name, rates[i].name);
        run_band_number(name, &p, rates[i].mrps);
        assert_int_equal(strncmp(name, rates[i].name, strlen(name)), 0);
        assert_string_equal(rates[i].name + strlen(name), " req/s");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(w1),
        cmocka_unit_test(w2),
        cmocka_unit_test(one_length),
        cmocka_unit_test(samples_before_the_window_may_close),
        cmocka_unit_test(load_models),
        cmocka_unit_test(ramps_traces_and_sweeps),
        cmocka_unit_test(arrivals_of_a_band),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
