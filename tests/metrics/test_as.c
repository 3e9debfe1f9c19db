/* Other tools' definitions on one answer small enough to work by hand, and their statistics on
 * values whose results numpy gives (numpy 1.24: percentile, median, std). */
#include "metrics/as_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "make.h"

#define MANY 4

static struct made m[MANY];
static struct arena arena;
static struct as_result result;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void compute_as(const char *name, size_t n)
{
    struct metrics_band_facts f = facts_of(0, 1000);
    struct error err = {0};
    struct sample samples[MANY];
    f.source = SOURCE_REPORTED;
    for (size_t i = 0; i < n; i++)
        samples[i] = m[i].s;
    const struct as_profile *p = as_find(name);
    assert_non_null(p);
    if (as_compute(&result, p, samples, n, &f, &arena, &err) < 0)
        fail_msg("%s", err.message);
}

static const struct as_row *row(const char *name)
{
    for (size_t i = 0; i < result.n; i++)
        if (strcmp(result.rows[i].name, name) == 0)
            return &result.rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void near(const char *name, double v)
{
    const struct as_row *r = row(name);
    double off = r->value - v;
    assert_int_equal(r->why, REASON_NONE);
    if (off < -1e-9 || off > 1e-9)
        fail_msg("%s is %.12g, not %.12g", name, r->value, v);
}

static void absent(const char *name, enum metrics_reason why)
{
    assert_int_equal(row(name)->why, why);
}

/* Issued at 0 ms, sent at 1 ms; a role at 5, "a" at 105, "bc" of two tokens at 205, the finish at
 * 206, usage without choices at 207, [DONE] at 208, the end at 210. */
static void answer(struct made *a, bool with_usage)
{
    make(a, 0, 1);
    a->s.t_issue_ns = 0;
    a->s.http_status = 200;
    a->s.max_tokens = 8;
    a->s.prompt_body = 10;
    a->s.prompt_reported = with_usage ? 12 : COUNT_NONE;
    arrive(a, 5, EVENT_ROLE, "", 0);
    arrive(a, 105, EVENT_TEXT, "a", 0);
    arrive(a, 205, EVENT_TEXT, "bc", 0);
    arrive(a, 206, EVENT_FINISH, "", 0);
    a->events[1].retokenized = 1;
    a->events[2].retokenized = 2;
    for (size_t i = 0; i < 4; i++)
        a->events[i].has_choices = true;
    arrive(a, 207, EVENT_USAGE, "", 0);
    a->events[4].usage.completion = with_usage ? 3 : COUNT_NONE;
    arrive(a, 208, EVENT_DONE, "", 0);
    end(a, 210, OUTCOME_OK);
    a->s.output_reported.total = with_usage ? 3 : COUNT_NONE;
    a->s.output_retokenized.total = 3;
}

static void one_answer_six_tools(void **state)
{
    (void)state;
    answer(&m[0], true);
    compute_as("vllm", 1);
    near("mean_ttft_ms", 5);     /* the role */
    near("mean_itl_ms", 67);     /* (100 + 100 + 1) / 3, the finish too */
    near("mean_tpot_ms", 100.5); /* (206 - 5) / 2 */
    near("mean_e2el_ms", 206);
    near("duration", 0.21);
    near("total_input_tokens", 12);
    near("output_throughput", 3 / 0.21);
    near("max_output_tokens_per_s", 4); /* chunks */
    compute_as("sglang", 1);
    near("mean_ttft_ms", 105);
    near("mean_itl_ms", 100);
    near("mean_e2e_latency_ms", 208); /* [DONE] */
    near("mean_tpot_ms", 51.5);       /* (208 - 105) / 2 */
    near("total_input_tokens", 10);
    near("concurrency", 0.208 / 0.21);
    compute_as("aiperf", 1);
    near("time_to_first_token.avg", 105);
    near("time_to_second_token.avg", 100);
    near("request_latency.avg", 205);
    near("inter_token_latency.avg", 50); /* (205 - 105) / 2 */
    near("output_token_throughput_per_user.avg", 20);
    near("benchmark_duration", 0.205); /* to the last content */
    compute_as("guidellm", 1);
    near("time_to_first_token_ms.mean", 104);  /* from the send */
    near("time_per_output_token_ms.mean", 68); /* (205 - 1) / 3 */
    near("inter_token_latency_ms.mean", 50);
    near("request_latency.mean", 0.209);
    compute_as("inference-perf", 1);
    near("time_to_first_token.mean", 0.105);
    near("inter_token_latency.mean", 0.05); /* (100 + 0) / 2 */
    near("inter_token_latency.min", 0);
    near("normalized_time_per_output_token.mean", 0.07);
    compute_as("perf-gate-2.2", 1);
    near("ttft_ms.p50", 104);
    near("itl_ms.p50", 100);
    near("decode_tok_s.p50", 20);
    near("agg_tok_s", 3 / 0.209);
    absent("scaling_efficiency", REASON_NO_BASE);
}

/* Without usage each tool falls back in its own way. */
static void without_usage(void **state)
{
    (void)state;
    answer(&m[0], false);
    compute_as("vllm", 1);
    near("total_output_tokens", 3); /* the text, tokenized */
    near("total_input_tokens", 10);
    compute_as("sglang", 1);
    near("total_output_tokens", 8); /* what was asked for */
    compute_as("guidellm", 1);
    near("output_token_count.mean", 2); /* chunks */
    compute_as("perf-gate-2.2", 1);
    absent("agg_tok_s", REASON_NO_COUNT);
    absent("decode_tok_s.p50", REASON_NO_COUNT);
    m[0].s.output_retokenized.total = COUNT_NONE;
    compute_as("aiperf", 1);
    absent("output_token_throughput", REASON_NO_COUNT);
    absent("inter_token_latency.avg", REASON_NO_COUNT);
    near("time_to_first_token.avg", 105);
}

/* A chunk that carries text and finish is one chunk. */
static void one_chunk_is_one_gap(void **state)
{
    (void)state;
    answer(&m[0], true);
    m[0].events[3].same_chunk = true;
    compute_as("vllm", 1);
    near("mean_itl_ms", 100);
    near("mean_e2el_ms", 205);
    near("max_output_tokens_per_s", 3);
}

/* What the tools take for a success, spec section 7 does not. */
static void broken_answers(void **state)
{
    (void)state;
    answer(&m[0], true);
    m[0].s.outcome = OUTCOME_FAILED;
    m[0].s.failure = FAILURE_SERVER_ERROR;
    answer(&m[1], true);
    m[1].s.outcome = OUTCOME_TRUNCATED;
    answer(&m[2], true);
    m[2].s.outcome = OUTCOME_TIMED_OUT;
    m[2].s.http_status = 0;
    answer(&m[3], true);
    m[3].s.phase = PHASE_WARMUP;
    compute_as("vllm", 4);
    near("completed", 2);
    near("failed", 1);
    compute_as("aiperf", 4);
    near("request_count", 1);
    compute_as("perf-gate-2.2", 4);
    near("requested", 3);
    near("completed", 0);
    near("timeouts", 1);
    near("truncated", 1);
    absent("ttft_ms.p50", REASON_NOTHING);
}

/* Two that touch are one at a time in [start, end), and two within the second. */
static void concurrency(void **state)
{
    (void)state;
    answer(&m[0], true);
    answer(&m[1], true);
    m[1].s.t_issue_ns = 206 * MS;
    m[1].s.t_sent_ns = 207 * MS;
    for (size_t i = 0; i < m[1].s.reads_n; i++)
        m[1].reads[i].t_user_ns += 206 * MS;
    m[1].s.t_end_ns += 206 * MS;
    compute_as("vllm", 2);
    near("max_concurrent_requests", 1);
    compute_as("sglang", 2);
    near("max_concurrent_requests", 2);
    m[1].s.t_issue_ns = 205 * MS;
    compute_as("vllm", 2);
    near("max_concurrent_requests", 2);
}

static void statistics_of_numpy(void **state)
{
    (void)state;
    double v[] = {40, 10, 30, 20}, ones[] = {1, 1, 1, 1};
    struct as_values a = {.v = v, .weight = ones, .n = 4, .arena = &arena};
    as_sort(&a);
#define OF(kind, percent, rule) as_statistic(&a, &(struct as_stat){"x", kind, percent}, rule)
    assert_true(OF(AS_MEDIAN, 0, AS_LINEAR) == 25);
    assert_true(OF(AS_PERCENTILE, 90, AS_LINEAR) == 37);
    double p99 = OF(AS_PERCENTILE, 99, AS_LINEAR) - 39.7, std = OF(AS_STD, 0, AS_LINEAR);
    assert_true(p99 > -1e-12 && p99 < 1e-12);
    assert_true(std > 11.180339887 && std < 11.180339888);
    assert_true(OF(AS_MEDIAN, 0, AS_LOWER) == 20);
    assert_true(OF(AS_PERCENTILE, 75, AS_NEAREST) == 30);
    assert_true(OF(AS_PERCENTILE, 76, AS_NEAREST) == 40);
    /* Weighted: 10 once, 20 three times. */
    double two[] = {20, 10}, weights[] = {3, 1};
    a = (struct as_values){.v = two, .weight = weights, .n = 2, .arena = &arena};
    as_sort(&a);
    assert_true(OF(AS_MEAN, 0, AS_LOWER) == 17.5);
    assert_true(OF(AS_PERCENTILE, 25, AS_LOWER) == 10);
    assert_true(OF(AS_PERCENTILE, 26, AS_LOWER) == 20);
}

static void scaling(void **state)
{
    (void)state;
    struct as_result base;
    answer(&m[0], true);
    compute_as("perf-gate-2.2", 1);
    base = result;
    answer(&m[0], true);
    m[0].s.output_reported.total = 6;
    compute_as("perf-gate-2.2", 1);
    as_set_base(&result, &base, 4);
    near("scaling_efficiency", 0.5);
    as_set_base(&result, &base, 1);
    absent("scaling_efficiency", REASON_IS_BASE);
}

static void every_profile_says_its_rules(void **state)
{
    (void)state;
    assert_int_equal(as_count(), 6);
    assert_null(as_find("none"));
    for (size_t i = 0; i < as_count(); i++) {
        const struct as_profile *p = as_at(i);
        const char *texts[] = {p->tool,  p->source, p->quantile, p->window,
                               p->clock, p->tokens, p->success};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            assert_true(strlen(texts[k]) > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_answer_six_tools, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_usage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_chunk_is_one_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(concurrency, set_up, tear_down),
        cmocka_unit_test_setup_teardown(statistics_of_numpy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scaling, set_up, tear_down),
        cmocka_unit_test(every_profile_says_its_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
