/* Times and tokens of a response, by spec section 7, on inputs small enough to work by hand; the
 * cases 20-25 and 36 of the wire notes by their numbers. */
#include "fixture.h"

static void case_20_a_role_is_no_token(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 5, EVENT_ROLE, "", 0);
    arrive(&m[0], 7, EVENT_EMPTY, "", 0);
    arrive(&m[0], 214, EVENT_TEXT, "a", 1);
    end(&m[0], 300, OUTCOME_OK);
    compute(1, &f);
    assert_ms(METRIC_TTFT, STAT_P50, 214);
    assert_ms(METRIC_TTFB, STAT_P50, 5);
    /* An empty delta that names a token is one. */
    make(&m[0], 0, 0);
    arrive(&m[0], 5, EVENT_ROLE, "", 1);
    arrive(&m[0], 214, EVENT_TEXT, "a", 1);
    end(&m[0], 300, OUTCOME_OK);
    compute(1, &f);
    assert_ms(METRIC_TTFT, STAT_P50, 5);
    assert_ms(METRIC_TTFC, STAT_P50, 214);
}

static void case_21_first_token_and_first_content(void **state)
{
    (void)state;
    static const enum sample_event_kind kinds[] = {EVENT_REASONING, EVENT_TOOL};
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int k = 0; k < 2; k++) {
        make(&m[0], 0, 10);
        arrive(&m[0], 60, kinds[k], "x", 1);
        arrive(&m[0], 90, EVENT_TEXT, "a", 1);
        end(&m[0], 100, OUTCOME_OK);
        compute(1, &f);
        assert_ms(METRIC_TTFT, STAT_P50, 50);
        assert_ms(METRIC_TTFC, STAT_P50, 80);
    }
}

static void case_22_and_23_several_tokens_in_an_arrival(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 100, EVENT_TEXT, "abcdefgh", 8);
    arrive(&m[0], 200, EVENT_TEXT, "ijklmnop", 8);
    end(&m[0], 200, OUTCOME_OK);
    compute(1, &f);
    /* (200 - 100) / (16 - 8), and not 100 / 15. */
    assert_int_equal(NS(METRIC_TPOT, STAT_P50), 12500000);
    assert_real(METRIC_DECODE, 80.0);
    assert_ms(METRIC_CHUNK_GAP, STAT_P50, 100);
    assert_int_equal(METRIC(METRIC_CHUNK_GAP)->n, 1);
    /* Upper {100, 50, 33.4, 25, 20, 16.7, 14.3, 12.5}, lower {12.5, 0 x 7}: the fourth of each. */
    assert_int_equal(METRIC(METRIC_ITL)->n, 8);
    assert_int_equal(NS(METRIC_ITL, STAT_P50), 20000000);
    assert_int_equal(METRIC(METRIC_ITL)->stats[STAT_P50].lower_ns, 0);
    assert_int_equal(NS(METRIC_ITL, STAT_MAX), 100000000);
    assert_int_equal(METRIC(METRIC_ITL)->stats[STAT_MAX].lower_ns, 12500000);
    assert_int_equal(NS(METRIC_ITL, STAT_MEAN), 12500000);
    assert_int_equal(band.tokens.tokens_first_arrival, 8);
    assert_int_equal(METRIC(METRIC_ITL)->stats[STAT_P90].why, REASON_N_TOO_SMALL);
    /* Upper bounds round up, lower ones down: 100 ms / 3 and / 7. */
    make(&m[0], 0, 0);
    arrive(&m[0], 100, EVENT_TEXT, "a", 1);
    arrive(&m[0], 200, EVENT_TEXT, "bcd", 3);
    end(&m[0], 200, OUTCOME_OK);
    compute(1, &f);
    assert_int_equal(NS(METRIC_ITL, STAT_MIN), 33333334);
    assert_int_equal(METRIC(METRIC_ITL)->stats[STAT_MAX].lower_ns, 33333333);
    assert_int_equal(NS(METRIC_ITL, STAT_MEAN), 33333333);
}

/* Text that completes no token brings none; the gap runs on to the arrival that does. */
static void an_arrival_without_a_token(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 100, EVENT_TEXT, "a", 1);
    arrive(&m[0], 150, EVENT_TEXT, "b", 0);
    arrive(&m[0], 220, EVENT_TEXT, "c", 1);
    end(&m[0], 300, OUTCOME_OK);
    compute(1, &f);
    assert_int_equal(METRIC(METRIC_ITL)->n, 1);
    assert_ms(METRIC_ITL, STAT_P50, 120);
    assert_ms(METRIC_TPOT, STAT_P50, 120);
    assert_int_equal(METRIC(METRIC_CHUNK_GAP)->n, 2);
    assert_ms(METRIC_E2E, STAT_P50, 220);
}

static void case_24_the_end_is_the_last_token(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 20);
    arrive(&m[0], 100, EVENT_TEXT, "a", 1);
    arrive(&m[0], 130, EVENT_TEXT, "b", 1);
    arrive(&m[0], 400, EVENT_FINISH, "", 0);
    arrive(&m[0], 500, EVENT_USAGE, "", 0);
    arrive(&m[0], 600, EVENT_DONE, "", 0);
    end(&m[0], 700, OUTCOME_OK);
    compute(1, &f);
    assert_ms(METRIC_E2E, STAT_P50, 110);
    assert_ms(METRIC_TPOT, STAT_P50, 30);
}

static void case_25_one_token(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 100, EVENT_TEXT, "a", 1);
    end(&m[0], 120, OUTCOME_OK);
    compute(1, &f);
    assert_absent(METRIC_TPOT, REASON_ONE_ARRIVAL);
    assert_absent(METRIC_ITL, REASON_ONE_ARRIVAL);
    assert_absent(METRIC_CHUNK_GAP, REASON_ONE_ARRIVAL);
    assert_absent(METRIC_DECODE, REASON_ONE_ARRIVAL);
    assert_ms(METRIC_TTFT, STAT_P50, 100);
    assert_ms(METRIC_E2E, STAT_P50, 100);
    assert_int_equal(band.tokens.assignment, ASSIGN_SINGLE);
    assert_real(METRIC_AGG, 1.0);
}

static void tokens_that_do_not_add_up(void **state)
{
    (void)state;
    static const enum metric_id of_tokens[] = {METRIC_ITL, METRIC_TPOT, METRIC_DECODE, METRIC_AGG,
                                               METRIC_PEAK};
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 1);
    arrive(&m[0], 20, EVENT_TEXT, "b", 1);
    end(&m[0], 30, OUTCOME_OK);
    m[0].s.output_reported.total = 3; /* one that was never shown */
    f.source = SOURCE_REPORTED;
    compute(1, &f);
    for (int k = 0; k < 5; k++)
        assert_absent(of_tokens[k], REASON_UNASSIGNED);
    assert_int_equal(band.tokens.unassigned, 1);
    assert_int_equal(band.tokens.assignment, ASSIGN_IDS);
    assert_ms(METRIC_TTFT, STAT_P50, 10);
    assert_ms(METRIC_CHUNK_GAP, STAT_P50, 10);
    f.source = SOURCE_NONE;
    compute(1, &f);
    for (int k = 0; k < 5; k++)
        assert_absent(of_tokens[k], REASON_NO_COUNT);
    f.source = SOURCE_OBSERVED;
    compute(1, &f);
    assert_int_equal(METRIC(METRIC_TPOT)->why, REASON_NONE);
}

/* The same two arrivals of 1 and 2 tokens, told in four ways; the first that is there is used. */
static void assignment(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int way = ASSIGN_IDS; way <= ASSIGN_OFFSETS; way++) {
        make(&m[0], 0, 0);
        struct sample_event *a = arrive(&m[0], 10, EVENT_TEXT, "a", way == ASSIGN_IDS ? 1 : 0);
        struct sample_event *b = arrive(&m[0], 30, EVENT_TEXT, "bc", way == ASSIGN_IDS ? 2 : 0);
        if (way <= ASSIGN_LOGPROBS) {
            a->logprob_n = 1;
            b->logprob_n = 2;
        }
        if (way <= ASSIGN_USAGE) {
            a->usage.completion = 1;
            b->usage.completion = 3;
        }
        a->retokenized = 1;
        b->retokenized = 2;
        m[0].tokens = 3;
        end(&m[0], 40, OUTCOME_OK);
        compute(1, &f);
        assert_int_equal(band.tokens.assignment, way);
        assert_int_equal(NS(METRIC_TPOT, STAT_P50), 10000000);
    }
    /* None of them: several arrivals, and nothing says whose the tokens are. */
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 0);
    arrive(&m[0], 30, EVENT_TEXT, "bc", 0);
    m[0].tokens = 3;
    end(&m[0], 40, OUTCOME_OK);
    compute(1, &f);
    assert_int_equal(band.tokens.assignment, ASSIGN_NONE);
    assert_absent(METRIC_TPOT, REASON_UNASSIGNED);
    /* Tool arguments cannot be tokenized as text. */
    m[0].events[0].retokenized = 1;
    m[0].events[1].retokenized = 2;
    m[0].events[1].kind = EVENT_TOOL;
    compute(1, &f);
    assert_absent(METRIC_TPOT, REASON_UNASSIGNED);
    /* Usage that runs backwards is none, also where its steps up come to the count. */
    static const int64_t backwards[] = {2, 1, 2};
    make(&m[0], 0, 0);
    for (int i = 0; i < 3; i++)
        arrive(&m[0], 10 + i, EVENT_TEXT, "a", 0)->usage.completion = backwards[i];
    m[0].tokens = 3;
    end(&m[0], 40, OUTCOME_OK);
    compute(1, &f);
    assert_absent(METRIC_TPOT, REASON_UNASSIGNED);
}

/* Events of one read, or of reads with one stamp, are one arrival. */
static void arrivals_share_a_stamp(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 1);
    arrive(&m[0], 10, EVENT_TEXT, "b", 1);
    arrive(&m[0], 40, EVENT_TEXT, "c", 1);
    end(&m[0], 50, OUTCOME_OK);
    compute(1, &f);
    assert_int_equal(METRIC(METRIC_CHUNK_GAP)->n, 1);
    assert_ms(METRIC_TPOT, STAT_P50, 30);
    assert_int_equal(band.tokens.tokens_first_arrival, 2);
}

static void kernel_time(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 1);
    arrive(&m[0], 40, EVENT_TEXT, "b", 1);
    arrive(&m[0], 50, EVENT_TEXT, "c", 1);
    m[0].reads[0].t_kernel_ns = 8 * MS;
    m[0].reads[0].t_lower_ns = 7 * MS;
    m[0].reads[2].t_kernel_ns = 39 * MS; /* before the user time of the read before it */
    end(&m[0], 60, OUTCOME_OK);
    compute(1, &f);
    assert_ms(METRIC_TTFT, STAT_P50, 10);
    assert_ms(METRIC_TTFB, STAT_P50, 10);
    assert_ms(METRIC_E2E, STAT_P50, 50);
    /* Lags 10 - 7, 0, and 50 - 39: a lower bound of 50 cannot hold for what was there at 39. */
    assert_int_equal(band.client.read_lag.n, 3);
    assert_int_equal(band.client.read_lag.p50_ns, 3 * MS);
    assert_int_equal(band.client.read_lag.max_ns, 11 * MS);
    f.kernel_time = true;
    compute(1, &f);
    assert_ms(METRIC_TTFT, STAT_P50, 8);
    assert_ms(METRIC_TTFB, STAT_P50, 8);
    assert_ms(METRIC_E2E, STAT_P50, 40); /* time does not run backwards: one arrival at 40 */
    assert_int_equal(METRIC(METRIC_CHUNK_GAP)->n, 1);
}

/* Spec section 6: a step of the real clock makes the band use user time, SUSPECT; what the kernel's
 * stamps say of lags is then no more known than they are. */
static void the_clock_was_set(void **state)
{
    (void)state;
    struct run_plan plan;
    struct run_lane lane = {.role = "subject"};
    struct run_band b = {.band = 1, .replicate = 1, .clock.steps = 0};
    struct metrics_band_facts f;
    run_plan_init(&plan);
    plan.time_source = "kernel";
    metrics_facts_from_run(&f, &plan, &lane, &b);
    assert_true(f.kernel_time);
    b.clock.steps = COUNT_NONE; /* not looked at */
    metrics_facts_from_run(&f, &plan, &lane, &b);
    assert_true(f.kernel_time);
    b.clock.steps = 1;
    metrics_facts_from_run(&f, &plan, &lane, &b);
    assert_false(f.kernel_time);

    struct metrics_band_facts of = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 1);
    arrive(&m[0], 40, EVENT_TEXT, "b", 1);
    m[0].reads[0].t_kernel_ns = 8 * MS;
    end(&m[0], 60, OUTCOME_OK);
    compute(1, &of);
    assert_int_equal(band.flags & 1u << FLAG_CLOCK, 0);
    assert_int_equal(band.client.read_lag.n, 2);
    of.clock_steps = f.clock_steps;
    compute(1, &of);
    assert_int_equal(band.flags, 1u << FLAG_CLOCK);
    assert_true(band.suspect);
    assert_ms(METRIC_TTFT, STAT_P50, 10);
    assert_int_equal(band.client.read_lag.n, 0);
    assert_true(band.client.unknown & 1u << CLIENT_READ_LAG);
}

static void case_36_streaming_off(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    f.stream = false;
    make(&m[0], 0, 0);
    arrive(&m[0], 400, EVENT_TEXT, "abc", 0);
    end(&m[0], 400, OUTCOME_OK);
    m[0].s.output_observed.total = COUNT_NONE;
    m[0].s.output_reported.total = 3;
    f.source = SOURCE_REPORTED;
    compute(1, &f);
    static const enum metric_id off[] = {METRIC_TTFT, METRIC_TTFC, METRIC_CHUNK_GAP,
                                         METRIC_ITL,  METRIC_TPOT, METRIC_DECODE};
    for (int k = 0; k < 6; k++)
        assert_absent(off[k], REASON_STREAMING_OFF);
    assert_ms(METRIC_E2E, STAT_P50, 400);
    assert_real(METRIC_AGG, 3.0);
}

static void connections(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 1);
    end(&m[0], 20, OUTCOME_OK);
    compute(1, &f);
    assert_absent(METRIC_CONNECT, REASON_CONNECTION_REUSED);
    m[0].s.reused = false;
    m[0].s.t_issue_ns = 0;
    m[0].s.t_dns_ns = 1 * MS;
    m[0].s.t_connect_ns = 3 * MS;
    m[0].s.t_sent_ns = 7 * MS;
    compute(1, &f);
    assert_ms(METRIC_CONNECT, STAT_P50, 3);
    assert_ms(METRIC_TTFT, STAT_P50, 3); /* outside TTFT */
    assert_int_equal(band.client.send_lag.max_ns, 4 * MS);
    m[0].s.t_tls_ns = 6 * MS;
    compute(1, &f);
    assert_ms(METRIC_CONNECT, STAT_P50, 6);
    assert_int_equal(band.client.send_lag.max_ns, 1 * MS);
    /* A connection that never came ranks as infinite. */
    static const enum sample_failure never[] = {FAILURE_CONNECT, FAILURE_TLS};
    for (int k = 0; k < 2; k++) {
        make(&m[1], 1, 0);
        end(&m[1], 30, OUTCOME_FAILED);
        m[1].s.failure = never[k];
        compute(2, &f);
        assert_int_equal(METRIC(METRIC_CONNECT)->n, 2);
        assert_int_equal(METRIC(METRIC_CONNECT)->censored_n, 1);
        assert_ms(METRIC_CONNECT, STAT_P50, 6);
    }
}

static void prefill_rate(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 2; i++) {
        make(&m[i], i, 0);
        arrive(&m[i], 10, EVENT_TEXT, "a", 1);
        end(&m[i], 20, OUTCOME_OK);
    }
    compute(2, &f);
    assert_absent(METRIC_PREFILL, REASON_SERVER_SILENT);
    /* Case 15: 237 tokens of which 236 were cached: the rate is over the one. */
    m[0].s.prompt_reported = 237;
    m[0].s.prompt_cached = 236;
    m[0].s.prefill_tokens = 1;
    m[0].s.prefill_ns = 4 * MS;
    f.cold = true;
    compute(2, &f);
    assert_real(METRIC_PREFILL, 250.0);
    assert_int_equal(METRIC(METRIC_PREFILL)->n, 1);
    assert_int_equal(band.work.cached_requests, 1);
    assert_int_equal(band.flags, 1u << FLAG_CACHED);
    f.cold = false;
    compute(2, &f);
    assert_int_equal(band.flags, 0);
}

/* 551 tokens behind a wrapper, of which 505 are the body: 46 lie in the wrapper. A server that kept
 * its first 34 had never seen the prompt; one that kept 47 knew a token of the body. */
static void cached_wrapper(void **state)
{
    static const struct {
        int64_t body, rendered, reported, cached;
        bool unexplained;
    } cases[] = {
        {505, 551, 551, 0, false},
        {505, 551, 551, 34, false},
        {505, 551, 551, 46, false},
        {505, 551, 551, 47, true},
        {505, COUNT_NONE, 551, 46, false},
        {505, COUNT_NONE, 551, 47, true},
        {505, 551, COUNT_NONE, 46, false},
        {505, 551, 551, COUNT_NONE, false},
        {COUNT_NONE, COUNT_NONE, 551, 1, true}, /* nothing is known of the wrapper */
        {505, COUNT_NONE, COUNT_NONE, 1, true},
        {505, 500, 500, 1, true}, /* a wrapper that holds less than nothing explains nothing */
    };
    struct metrics_band_facts f = facts_of(0, 1000);
    (void)state;

    f.cold = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(&m[0], 0, 0);
        arrive(&m[0], 10, EVENT_TEXT, "a", 1);
        end(&m[0], 20, OUTCOME_OK);
        m[0].s.prompt_body = cases[i].body;
        m[0].s.prompt_rendered = cases[i].rendered;
        m[0].s.prompt_reported = cases[i].reported;
        m[0].s.prompt_cached = cases[i].cached;
        compute(1, &f);
        assert_int_equal(band.work.cached_requests, cases[i].cached > 0);
        assert_int_equal(band.work.cached_unexplained, cases[i].unexplained);
        assert_int_equal(!!(band.flags & 1u << FLAG_CACHED), cases[i].unexplained);
    }
}

/* Cold is what has unique prompts or is asked to be; a workload that repeats itself is not. */
static void cold_workloads(void **state)
{
    static const struct {
        const char *prompts, *cache;
        bool refused, cold, asked;
    } cases[] = {
        {"unique", "cold", false, true, true},         {"unique", "cold", true, true, false},
        {"unique", "unspecified", false, true, false}, {"unique", "friendly", false, false, false},
        {"fixed", "unspecified", false, false, false}, {"fixed", "cold", false, true, true},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_plan p;
        struct run_lane lane = {.role = "subject", .cache_policy_refused = cases[i].refused};
        struct run_band b = {0};
        struct metrics_band_facts f;
        run_plan_init(&p);
        p.prompt_policy = cases[i].prompts;
        p.cache_policy = cases[i].cache;
        metrics_facts_from_run(&f, &p, &lane, &b);
        assert_int_equal(f.cold, cases[i].cold);
        assert_int_equal(f.asked_cold, cases[i].asked);
    }
}

static void open_loop(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 5000);
    /* Case 26: planned every 100 ms, 500 ms of service, one at a time. */
    for (int i = 0; i < 8; i++) {
        make(&m[i], i, 500 * i);
        m[i].s.t_planned_ns = m[i].s.t_issue_ns = 100 * i * MS;
        arrive(&m[i], 500 * i + 500, EVENT_TEXT, "a", 1);
        end(&m[i], 500 * i + 500, OUTCOME_OK);
    }
    compute(8, &f);
    assert_absent(METRIC_E2E_PLAN, REASON_CLOSED_LOOP);
    f.open_loop = true;
    compute(8, &f);
    assert_ms(METRIC_E2E_PLAN, STAT_MEAN, 1900);
    assert_ms(METRIC_E2E_PLAN, STAT_MAX, 3300);
    assert_ms(METRIC_E2E, STAT_MEAN, 500);
    assert_ms(METRIC_E2E, STAT_MAX, 500);
    /* Two arrivals that were never sent rank as infinite: {.., 4 of 10} is the fifth value. */
    f.unsent = 2;
    compute(8, &f);
    assert_int_equal(METRIC(METRIC_E2E_PLAN)->n, 10);
    assert_int_equal(METRIC(METRIC_E2E_PLAN)->censored_n, 2);
    assert_ms(METRIC_E2E_PLAN, STAT_P50, 2100);
    assert_int_equal(METRIC(METRIC_E2E_PLAN)->stats[STAT_MEAN].why, REASON_CENSORED);
    assert_ms(METRIC_E2E, STAT_MAX, 500);
}

static void readings(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    static const int64_t reported[] = {128, 128, 20}, retokenized[] = {128, 131, 13};
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        arrive(&m[i], 10, EVENT_TEXT, "a", 1);
        end(&m[i], 20, i == 2 ? OUTCOME_SHORT : OUTCOME_OK);
        m[i].s.output_reported = (struct sample_counts){reported[i], 100, COUNT_NONE, 0};
        m[i].s.output_retokenized.total = retokenized[i];
        m[i].s.output_observed.total = COUNT_NONE;
    }
    f.source = SOURCE_REPORTED;
    compute(3, &f);
    /* The short one is in no statistic of what ended ok. */
    assert_int_equal(band.tokens.total, 256);
    assert_int_equal(band.tokens.readings_n[SOURCE_REPORTED], 2);
    assert_int_equal(band.tokens.readings[SOURCE_REPORTED].text, 200);
    assert_int_equal(band.tokens.readings[SOURCE_REPORTED].reasoning, COUNT_NONE);
    assert_int_equal(band.tokens.readings_n[SOURCE_OBSERVED], 0);
    assert_int_equal(band.tokens.reported_retokenized.n, 2);
    assert_int_equal(band.tokens.reported_retokenized.differ, 1);
    assert_int_equal(band.tokens.reported_retokenized.max, 3);
    assert_int_equal(band.tokens.reported_retokenized.min, 0);
    assert_int_equal(band.tokens.reported_observed.n, 0);

    struct sample s[3] = {m[0].s, m[1].s, m[2].s};
    assert_int_equal(metrics_sources(s, 3), 1u << SOURCE_REPORTED | 1u << SOURCE_RETOKENIZED);
    assert_int_equal(metrics_best_source(metrics_sources(s, 3)), SOURCE_REPORTED);
    s[1].output_reported.total = COUNT_NONE;
    assert_int_equal(metrics_best_source(metrics_sources(s, 3)), SOURCE_RETOKENIZED);
    s[0].output_retokenized.total = COUNT_NONE;
    assert_int_equal(metrics_best_source(metrics_sources(s, 3)), SOURCE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_20_a_role_is_no_token),
        cmocka_unit_test(case_21_first_token_and_first_content),
        cmocka_unit_test(case_22_and_23_several_tokens_in_an_arrival),
        cmocka_unit_test(an_arrival_without_a_token),
        cmocka_unit_test(case_24_the_end_is_the_last_token),
        cmocka_unit_test(case_25_one_token),
        cmocka_unit_test(tokens_that_do_not_add_up),
        cmocka_unit_test(assignment),
        cmocka_unit_test(arrivals_share_a_stamp),
        cmocka_unit_test(kernel_time),
        cmocka_unit_test(the_clock_was_set),
        cmocka_unit_test(case_36_streaming_off),
        cmocka_unit_test(connections),
        cmocka_unit_test(prefill_rate),
        cmocka_unit_test(cached_wrapper),
        cmocka_unit_test(cold_workloads),
        cmocka_unit_test(open_loop),
        cmocka_unit_test(readings),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
