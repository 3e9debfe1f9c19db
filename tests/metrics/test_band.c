/* Every definition of spec section 7 on inputs small enough to work by hand; the metrics cases of
 * the wire notes (20-25, 31, 33-36) by their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "make.h"

#define MANY 12

static struct made m[MANY];
static struct arena arena;
static struct metrics_band band;

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

static void compute(size_t n, const struct metrics_band_facts *f)
{
    struct error err = {0};
    struct sample samples[MANY];
    for (size_t i = 0; i < n; i++)
        samples[i] = m[i].s;
    if (metrics_band_compute(samples, n, f, &arena, &band, &err) < 0)
        fail_msg("%s", err.message);
}

#define METRIC(id) (&band.metrics[id])
#define NS(id, stat) (band.metrics[id].stats[stat].ns)
#define assert_absent(id, reason) assert_int_equal(band.metrics[id].why, reason)
#define assert_ms(id, stat, ms)                                          \
    do {                                                                 \
        assert_int_equal(band.metrics[id].why, REASON_NONE);             \
        assert_int_equal(band.metrics[id].stats[stat].why, REASON_NONE); \
        assert_int_equal(band.metrics[id].stats[stat].ns, (ms)*MS);      \
    } while (0)
#define assert_real(id, v)                                   \
    do {                                                     \
        assert_int_equal(band.metrics[id].why, REASON_NONE); \
        assert_true(band.metrics[id].real == (v));           \
    } while (0)

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

/* Window [1000, 3000): warm-up that ends inside it, one request inside, one drained. */
static void case_31_the_window(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(1000, 3000);
    f.t_drained_ns = 3400 * MS;
    make(&m[0], 0, 500);
    m[0].s.phase = PHASE_WARMUP;
    arrive(&m[0], 900, EVENT_TEXT, "a", 1);
    arrive(&m[0], 999, EVENT_TEXT, "b", 1);
    arrive(&m[0], 1000, EVENT_TEXT, "c", 2); /* the open belongs to the window */
    end(&m[0], 1010, OUTCOME_OK);
    make(&m[1], 1, 1100);
    arrive(&m[1], 1200, EVENT_TEXT, "d", 3);
    arrive(&m[1], 1400, EVENT_TEXT, "e", 4);
    end(&m[1], 1500, OUTCOME_OK);
    make(&m[2], 2, 2900);
    arrive(&m[2], 2999, EVENT_TEXT, "f", 5);
    arrive(&m[2], 3000, EVENT_TEXT, "g", 6); /* the close does not */
    arrive(&m[2], 3300, EVENT_TEXT, "h", 1);
    end(&m[2], 3400, OUTCOME_OK);
    compute(3, &f);
    assert_int_equal(band.counts.issued, 2);
    assert_int_equal(band.counts.warmup, 1);
    assert_int_equal(band.counts.drained, 1);
    assert_int_equal(band.counts.sent_outside, 0);
    assert_true(band.counts.conserved);
    assert_int_equal(METRIC(METRIC_TTFT)->n, 2);
    assert_ms(METRIC_TTFT, STAT_MIN, 99);
    assert_ms(METRIC_TTFT, STAT_MAX, 100);
    assert_int_equal(NS(METRIC_TTFT, STAT_MEAN), 99500000);
    /* 2 + 3 + 4 + 5 in two seconds; bins [1, 2) holds 9, [2, 3) holds 5. */
    assert_real(METRIC_AGG, 7.0);
    assert_real(METRIC_PEAK, 9.0);
    assert_real(METRIC_RPS, 1.0); /* warm-up and the first request ended inside */
    assert_real(METRIC_WASTED, 0.0);
    /* Gaps that end after the close are left out and counted: one of 200 ms for 4 tokens is left.
     */
    assert_int_equal(band.tokens.gaps_after_close, 2);
    assert_int_equal(METRIC(METRIC_ITL)->n, 4);
    assert_ms(METRIC_ITL, STAT_MAX, 200);
    assert_int_equal(METRIC(METRIC_CHUNK_GAP)->n, 1);
    assert_int_equal(band.window_ns, 2000 * MS);
    assert_int_equal(band.drain_ns, 400 * MS);
    assert_false(band.suspect);
    assert_int_equal(band.status, STATUS_PASS);
    /* Drained requests are whole: the third one's TPOT is (3300 - 2999) / 7. */
    assert_int_equal(NS(METRIC_TPOT, STAT_MIN), 43000000);
    assert_int_equal(NS(METRIC_TPOT, STAT_MAX), 50000000);
}

static void what_ends_at_the_close_is_drained(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int late = 0; late < 2; late++) {
        make(&m[0], 0, 0);
        arrive(&m[0], 100, EVENT_TEXT, "a", 1);
        end(&m[0], 1000, OUTCOME_OK);
        m[0].s.t_end_ns -= !late;
        compute(1, &f);
        assert_int_equal(band.counts.drained, late);
        assert_real(METRIC_RPS, (double)!late);
    }
}

static void a_long_drain_is_suspect(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 100, EVENT_TEXT, "a", 1);
    end(&m[0], 120, OUTCOME_OK);
    f.t_drained_ns = 1500 * MS;
    compute(1, &f);
    assert_false(band.suspect);
    f.t_drained_ns++;
    compute(1, &f);
    assert_true(band.suspect);
    assert_int_equal(band.flags, 1u << FLAG_DRAIN);
}

static void a_request_outside_the_window_refuses_the_band(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(1000, 2000);
    static const int64_t at[] = {999, 1000, 1999, 2000};
    static const int64_t outside[] = {1, 0, 0, 1};
    for (int k = 0; k < 4; k++) {
        make(&m[0], 0, at[k]);
        arrive(&m[0], 2100, EVENT_TEXT, "a", 1);
        end(&m[0], 2200, OUTCOME_OK);
        compute(1, &f);
        assert_int_equal(band.counts.sent_outside, outside[k]);
        assert_int_equal(band.status, outside[k] ? STATUS_REFUSED : STATUS_PASS);
        if (outside[k])
            assert_string_equal(band.reason, "sent_outside_window");
    }
}

/* Case 33: one population for mean and percentiles. */
static void case_33_percentiles(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        arrive(&m[i], 10 * (3 - i), EVENT_TEXT, "a", 1);
        end(&m[i], 100, OUTCOME_OK);
    }
    compute(3, &f);
    assert_ms(METRIC_TTFT, STAT_MEAN, 20);
    assert_ms(METRIC_TTFT, STAT_P50, 20);
    assert_ms(METRIC_TTFT, STAT_MAX, 30);
    assert_int_equal(METRIC(METRIC_TTFT)->stats[STAT_P99].why, REASON_N_TOO_SMALL);
}

/* The thresholds 29, 59, 299 on values 1 ... n ms: rank ceil(n p). */
static void percentiles_need_enough(void **state)
{
    (void)state;
    enum { N = 300 };
    static const struct {
        size_t n;
        int64_t p90, p95, p99; /* 0: null */
    } cases[] = {{28, 0, 0, 0},      {29, 27, 0, 0},       {58, 53, 0, 0},      {59, 54, 57, 0},
                 {298, 269, 284, 0}, {299, 270, 285, 297}, {300, 270, 285, 297}};
    struct made *many = calloc(N, sizeof *many);
    struct sample *samples = calloc(N, sizeof *samples);
    struct metrics_band_facts f = facts_of(0, 1000);
    struct error err = {0};
    for (int i = 0; i < N; i++) {
        make(&many[i], i, 0);
        arrive(&many[i], i + 1, EVENT_TEXT, "a", 1);
        end(&many[i], 900, OUTCOME_OK);
        samples[i] = many[i].s;
    }
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        assert_int_equal(metrics_band_compute(samples, cases[k].n, &f, &arena, &band, &err), 0);
        const int64_t want[] = {cases[k].p90, cases[k].p95, cases[k].p99};
        for (int s = 0; s < 3; s++) {
            const struct metrics_stat *stat = &METRIC(METRIC_TTFT)->stats[STAT_P90 + s];
            assert_int_equal(stat->why, want[s] ? REASON_NONE : REASON_N_TOO_SMALL);
            assert_int_equal(stat->ns, want[s] * MS);
        }
    }
    free(many);
    free(samples);
}

static void what_the_client_cost(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    for (int i = 0; i < 4; i++)
        arrive(&m[0], i < 3 ? 10 : 20, EVENT_TEXT, "a", 1);
    m[0].events[1].read = m[0].events[2].read = 0; /* three of one read */
    end(&m[0], 30, OUTCOME_OK);
    compute(1, &f);
    assert_true(band.client.multi_event_share == 0.5);
    assert_true(band.client.cpu_share < 0 && band.client.parser_cpu_share < 0);
    assert_int_equal(band.client.loop_lag.p99_ns, COUNT_NONE);
    f.client = (struct run_client_load){500 * MS, 125 * MS, 1000 * MS, 250 * MS, 1, 2, 3};
    compute(1, &f);
    assert_true(band.client.cpu_share == 0.75); /* the wait for a core counts */
    assert_true(band.client.parser_cpu_share == 0.125);
    assert_int_equal(band.client.loop_lag.max_ns, 3);
    assert_int_equal(band.client.suspect & 1u << CLIENT_CPU, 1u << CLIENT_CPU);
}

/* Send lags 1 ... n us: which percentile the client is refused by. */
static void lags_support_a_percentile(void **state)
{
    (void)state;
    enum { N = 299 };
    static const struct {
        size_t n;
        int percent;
        int64_t us;
    } cases[] = {{1, 50, 1},   {28, 50, 14},   {29, 90, 27},  {58, 90, 53},
                 {59, 95, 57}, {298, 95, 284}, {299, 99, 297}};
    struct made *many = calloc(N, sizeof *many);
    struct sample *samples = calloc(N, sizeof *samples);
    struct metrics_band_facts f = facts_of(0, 1000);
    struct error err = {0};
    for (int i = 0; i < N; i++) {
        make(&many[i], i, 1);
        many[i].s.t_planned_ns -= 1000 * (i + 1);
        samples[i] = many[i].s;
        samples[i].outcome = OUTCOME_CANCELLED;
    }
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        assert_int_equal(metrics_band_compute(samples, cases[k].n, &f, &arena, &band, &err), 0);
        assert_int_equal(band.client.send_lag.supported_percent, cases[k].percent);
        assert_int_equal(band.client.send_lag.supported_ns, cases[k].us * 1000);
        assert_int_equal(band.client.send_lag.max_ns, (int64_t)cases[k].n * 1000);
    }
    free(many);
    free(samples);
}

static void failures_rank_as_infinite(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    static const enum sample_outcome outcomes[] = {OUTCOME_OK, OUTCOME_TIMED_OUT, OUTCOME_OK,
                                                   OUTCOME_CANCELLED};
    for (int i = 0; i < 4; i++) {
        make(&m[i], i, 0);
        arrive(&m[i], 10 * (i + 1), EVENT_TEXT, "a", 1);
        arrive(&m[i], 10 * (i + 1) + 2, EVENT_TEXT, "b", 1);
        end(&m[i], 100, outcomes[i]);
    }
    compute(4, &f);
    /* {10, 30, infinite}: the cancelled one has no rank. */
    assert_int_equal(METRIC(METRIC_TTFT)->n, 3);
    assert_int_equal(METRIC(METRIC_TTFT)->censored_n, 1);
    assert_ms(METRIC_TTFT, STAT_P50, 30);
    assert_int_equal(METRIC(METRIC_TTFT)->stats[STAT_MEAN].why, REASON_CENSORED);
    assert_int_equal(METRIC(METRIC_TTFT)->stats[STAT_MAX].why, REASON_CENSORED);
    assert_ms(METRIC_TTFT, STAT_MIN, 10);
    assert_ms(METRIC_TPOT, STAT_P50, 2);
    /* Rates {-, 500, 500}: the failed one is the slowest. */
    assert_real(METRIC_DECODE, 500.0);
    /* The tokens of what did not end ok are wasted, and in no success statistic. */
    assert_real(METRIC_AGG, 4.0);
    assert_real(METRIC_WASTED, 4.0);
    assert_int_equal(METRIC(METRIC_CHUNK_GAP)->n, 2);
    assert_int_equal(band.counts.outcomes[OUTCOME_TIMED_OUT], 1);
    assert_int_equal(band.counts.outcomes[OUTCOME_CANCELLED], 1);
}

/* Case 34: nothing but failures gives nulls, not zeros. */
static void case_34_all_failed(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        end(&m[i], 100, OUTCOME_FAILED);
    }
    compute(3, &f);
    assert_int_equal(METRIC(METRIC_TTFT)->n, 3);
    for (int s = 0; s < METRICS_STATS; s++)
        assert_int_not_equal(METRIC(METRIC_TTFT)->stats[s].why, REASON_NONE);
    assert_int_equal(METRIC(METRIC_E2E)->stats[STAT_P50].why, REASON_CENSORED);
    assert_absent(METRIC_DECODE, REASON_CENSORED);
    assert_absent(METRIC_ITL, REASON_NOTHING);
    assert_int_equal(band.counts.failures[FAILURE_SERVER_ERROR], 3);
    assert_int_equal(band.counts.outcomes[OUTCOME_OK], 0);
    assert_real(METRIC_AGG, 0.0); /* tokens a second of ok requests: truly none */
    /* And with no request at all there is nothing to rank. */
    compute(0, &f);
    assert_absent(METRIC_TTFT, REASON_NOTHING);
    assert_absent(METRIC_E2E, REASON_NOTHING);
    assert_absent(METRIC_TPOT, REASON_NOTHING);
}

static void case_35_conservation(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    static const enum sample_outcome all[] = {OUTCOME_OK,        OUTCOME_FAILED, OUTCOME_TIMED_OUT,
                                              OUTCOME_TRUNCATED, OUTCOME_SHORT,  OUTCOME_CANCELLED};
    for (int i = 0; i < 6; i++) {
        make(&m[i], i, 0);
        end(&m[i], 100, all[i]);
    }
    f.issued = 6;
    f.issued_warmup = 0;
    compute(6, &f);
    assert_int_equal(band.counts.issued, 6);
    for (int k = 0; k < OUTCOME_COUNT; k++)
        assert_int_equal(band.counts.outcomes[k], 1);
    assert_true(band.counts.conserved);
    /* The loop issued one more than there are samples. */
    f.issued = 7;
    compute(6, &f);
    assert_false(band.counts.conserved);
    assert_int_equal(band.status, STATUS_REFUSED);
    assert_string_equal(band.reason, "conservation");
    f.issued = 6;
    f.issued_warmup = 1;
    compute(6, &f);
    assert_false(band.counts.conserved);
    /* A line taken out of the middle, and a line put in twice, whatever the loop counted. */
    f.issued = f.issued_warmup = COUNT_NONE;
    m[3].s.seq = 6;
    compute(6, &f);
    assert_false(band.counts.conserved);
    m[3].s.seq = 2;
    compute(6, &f);
    assert_false(band.counts.conserved);
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

static void objectives(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 2000);
    static const int64_t second[] = {30, 31, 0,
                                     30}; /* ms of the last of three tokens; 0: one token */
    for (int i = 0; i < 4; i++) {
        make(&m[i], i, 0);
        arrive(&m[i], 10, EVENT_TEXT, "a", 1);
        if (second[i])
            arrive(&m[i], second[i], EVENT_TEXT, "bc", 2);
        end(&m[i], 100, i == 3 ? OUTCOME_SHORT : OUTCOME_OK);
    }
    compute(4, &f);
    assert_absent(METRIC_SLO, REASON_NO_SLO);
    assert_absent(METRIC_GOODPUT, REASON_NO_SLO);
    f.slo_ttft_ns = 10 * MS;
    f.slo_tpot_ns = 10 * MS;
    compute(4, &f);
    assert_real(METRIC_SLO, 0.5); /* the first and the one-token one, of four issued */
    assert_real(METRIC_GOODPUT, 1.0);
    f.slo_ttft_ns = 10 * MS - 1;
    compute(4, &f);
    assert_real(METRIC_SLO, 0.0);
    f.slo_ttft_ns = TIME_NONE;
    f.slo_tpot_ns = 11 * MS;
    compute(4, &f);
    assert_real(METRIC_SLO, 0.75);
}

static void scaling(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 8);
    end(&m[0], 100, OUTCOME_OK);
    compute(1, &f);
    assert_real(METRIC_SCALING, 1.0);
    struct metrics_band one = band;
    f.band = 4;
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        m[i].s.band = 4;
        arrive(&m[i], 10, EVENT_TEXT, "a", 8);
        end(&m[i], 100, OUTCOME_OK);
    }
    compute(3, &f);
    assert_absent(METRIC_SCALING, REASON_NO_BASE);
    metrics_set_base(&band, &one);
    assert_real(METRIC_SCALING, 0.75); /* (24/8)/4 */
    one.metrics[METRIC_AGG].why = REASON_UNASSIGNED;
    metrics_set_base(&band, &one);
    assert_absent(METRIC_SCALING, REASON_BASE_NULL);
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

/* A reported prompt count that its wrapper does not predict is flagged; one that it does, or that
 * nothing predicts, is not. */
static void prompt_departs(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 2; i++) {
        make(&m[i], i, 0);
        arrive(&m[i], 10, EVENT_TEXT, "a", 1);
        end(&m[i], 20, OUTCOME_OK);
        m[i].s.prompt_reported = 534;
    }
    m[0].s.prompt_rendered = 534;
    compute(2, &f);
    assert_int_equal(band.work.departed_requests, 0);
    assert_int_equal(band.flags, 0);
    m[1].s.prompt_rendered = 513;
    compute(2, &f);
    assert_int_equal(band.work.departed_requests, 1);
    assert_int_equal(band.flags, 1u << FLAG_DEPARTS);
    m[1].s.prompt_reported = COUNT_NONE;
    compute(2, &f);
    assert_int_equal(band.flags, 0);
}

static void prompt_work(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    static const int64_t body[] = {512, 505, 520}, reported[] = {541, 534, COUNT_NONE};
    static const char *const ids[] = {"c", "a", "b"};
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        m[i].s.prompt_id = str_of(ids[i]);
        m[i].s.prompt_body = body[i];
        m[i].s.prompt_reported = reported[i];
        end(&m[i], 20, OUTCOME_TRUNCATED);
    }
    compute(3, &f);
    assert_int_equal(band.work.body.n, 3);
    assert_int_equal(band.work.body.min, 505);
    assert_int_equal(band.work.body.median, 512);
    assert_int_equal(band.work.body.max, 520);
    assert_int_equal(band.work.reported.n, 2);
    assert_int_equal(band.work.delta.n, 2);
    assert_int_equal(band.work.delta.min, 29);
    assert_int_equal(band.work.delta.max, 29);
    assert_int_equal(band.work.rendered.n, 0);
    assert_true(str_eq(band.work.prompts[0].id, STR("a")));
    assert_int_equal(band.work.prompts[2].body, 512);
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

static void retries_enter_no_success(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    end(&m[0], 5, OUTCOME_FAILED);
    make(&m[1], 1, 10);
    arrive(&m[1], 20, EVENT_TEXT, "a", 4);
    end(&m[1], 30, OUTCOME_OK);
    m[1].s.retry_of = 0;
    compute(2, &f);
    assert_int_equal(band.counts.retries, 1);
    assert_int_equal(METRIC(METRIC_TTFT)->n, 1);
    assert_int_equal(METRIC(METRIC_TTFT)->stats[STAT_P50].why, REASON_CENSORED);
    assert_real(METRIC_AGG, 0.0);
    assert_real(METRIC_WASTED, 4.0);
    assert_true(band.counts.conserved);
}

static void constant_output(void **state)
{
    (void)state;
    static const uint32_t same[32] = {0};
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        struct sample_event *e = arrive(&m[i], 10, EVENT_TEXT, "!", 1);
        if (i > 0) {
            e->ids = same;
            e->ids_n = 16;
            m[i].tokens = 16;
        }
        end(&m[i], 20, OUTCOME_OK);
    }
    m[2].events[0].ids_n = 15;
    compute(3, &f);
    assert_int_equal(band.outputs.checked, 3);
    assert_int_equal(band.outputs.degenerate, 1);
    assert_int_equal(band.outputs.longest_run, 16);
    assert_int_equal(band.flags, 1u << FLAG_DEGENERATE);
    assert_int_equal(band.status, STATUS_PASS);
    m[2].events[0].ids_n = 16;
    compute(3, &f);
    assert_int_equal(band.status, STATUS_REFUSED);
    assert_string_equal(band.reason, "invalid_correctness");
    /* Half of the answers are not most of them; a run of half the tokens is a degenerate one. */
    m[2].events[0].ids = made_ids;
    m[2].s.seq = 1;
    m[1] = m[2];
    m[1].s.events = m[1].events;
    m[1].s.reads = m[1].reads;
    m[0].events[0].ids = same;
    m[0].events[0].ids_n = 16;
    arrive(&m[0], 12, EVENT_TEXT, "x", 16);
    end(&m[0], 20, OUTCOME_OK);
    compute(2, &f);
    assert_int_equal(band.outputs.checked, 2);
    assert_int_equal(band.outputs.degenerate, 1);
    assert_int_equal(band.status, STATUS_PASS);
    m[0].events[1].ids_n = 15;
    m[0].events[1].ids = same + 1; /* thirty-one alike */
    m[0].events[0].ids_n = 16;
    compute(2, &f);
    assert_int_equal(band.outputs.longest_run, 31);
    /* Case 39 without ids: thirty-two of one character, and one short of it. */
    for (int i = 0; i < 2; i++) {
        make(&m[0], 0, 0);
        arrive(&m[0], 10, EVENT_TEXT, "!!!!!!!!!!!!!!!!", 0);
        arrive(&m[0], 12, EVENT_TEXT, i ? "!!!!!!!!!!!!!!!" : "!!!!!!!!!!!!!!!!", 0);
        end(&m[0], 20, OUTCOME_OK);
        compute(1, &f);
        assert_int_equal(band.outputs.degenerate, !i);
    }
}

/* Case 39: what was answered at c = 1 and what at c = 4, by ids and by characters. */
static void answers_alike(void **state)
{
    (void)state;
    static const uint32_t other[] = {1, 2, 9, 4};
    static const char *const ids[] = {"a", "b", "c"};
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        m[i].s.prompt_id = str_of(ids[i]);
        arrive(&m[i], 10, EVENT_TEXT, "xy", i < 2 ? 4 : 0);
        arrive(&m[i], 20, EVENT_TEXT, "z\xc3\xa9", 0);
        end(&m[i], 30, OUTCOME_OK);
    }
    compute(3, &f);
    assert_int_equal(band.outputs.agreement.why, REASON_IS_BASE);
    struct metrics_band one = band;
    f.band = 4;
    for (int i = 0; i < 3; i++)
        m[i].s.band = 4;
    m[1].events[0].ids = other;
    m[2].events[1].text = STR("z!");
    compute(3, &f);
    assert_int_equal(band.outputs.agreement.why, REASON_NO_BASE);
    metrics_set_base(&band, &one);
    const struct metrics_agreement *a = &band.outputs.agreement;
    assert_int_equal(a->why, REASON_NONE);
    assert_int_equal(a->compared, 3);
    assert_int_equal(a->identical, 1);
    assert_int_equal(a->by_ids, 2);
    assert_int_equal(a->agreed, 4 + 2 + 3);
    assert_int_equal(a->of, 4 + 4 + 4);
    assert_int_equal(a->earliest, 2);
    /* An answer that goes on where the other ended differs there. */
    make(&m[0], 0, 0);
    m[0].s.band = 4;
    m[0].s.prompt_id = STR("a");
    arrive(&m[0], 10, EVENT_TEXT, "xy", 6);
    end(&m[0], 30, OUTCOME_OK);
    compute(1, &f);
    metrics_set_base(&band, &one);
    assert_int_equal(a->identical, 0);
    assert_int_equal(a->earliest, 4);
    /* Other prompts, and ids against characters, are not compared. */
    m[0].s.prompt_id = STR("z");
    compute(1, &f);
    metrics_set_base(&band, &one);
    assert_int_equal(a->why, REASON_NO_SHARED);
    m[0].s.prompt_id = STR("c");
    compute(1, &f);
    metrics_set_base(&band, &one);
    assert_int_equal(a->why, REASON_NO_SHARED);
}

static void zero_tokens(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_FINISH, "", 0);
    end(&m[0], 20, OUTCOME_OK);
    compute(1, &f);
    assert_int_equal(band.counts.zero_token, 1);
    assert_int_equal(band.flags, 1u << FLAG_ZERO_TOKEN);
    assert_int_equal(METRIC(METRIC_TTFT)->stats[STAT_P50].why, REASON_CENSORED);
}

static void partial_seconds_have_no_peak(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1500);
    make(&m[0], 0, 0);
    arrive(&m[0], 1400, EVENT_TEXT, "a", 3);
    end(&m[0], 1400, OUTCOME_OK);
    compute(1, &f);
    assert_real(METRIC_AGG, 2.0);
    assert_absent(METRIC_PEAK, REASON_PARTIAL_SECOND);
    f.t_close_ns = TIME_NONE;
    compute(1, &f);
    assert_absent(METRIC_AGG, REASON_NO_WINDOW);
    assert_absent(METRIC_PEAK, REASON_NO_WINDOW);
    assert_ms(METRIC_TTFT, STAT_P50, 1400);
}

static void what_is_refused(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    struct error err = {0};
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_TEXT, "a", 1);
    end(&m[0], 9, OUTCOME_OK);
    assert_int_equal(metrics_band_compute(&m[0].s, 1, &f, &arena, &band, &err), -1);
    assert_string_equal(err.rule, "time_order");
    end(&m[0], 10, OUTCOME_OK);
    f.replicate = 2;
    assert_int_equal(metrics_band_compute(&m[0].s, 1, &f, &arena, &band, &err), -1);
    assert_string_equal(err.rule, "band_identity");
    f.replicate = 1;
    assert_int_equal(
        metrics_band_compute(&m[0].s, METRICS_SAMPLES_MAX + 1, &f, &arena, &band, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
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
        cmocka_unit_test(case_31_the_window),
        cmocka_unit_test(what_ends_at_the_close_is_drained),
        cmocka_unit_test(a_long_drain_is_suspect),
        cmocka_unit_test(a_request_outside_the_window_refuses_the_band),
        cmocka_unit_test(case_33_percentiles),
        cmocka_unit_test(percentiles_need_enough),
        cmocka_unit_test(what_the_client_cost),
        cmocka_unit_test(lags_support_a_percentile),
        cmocka_unit_test(failures_rank_as_infinite),
        cmocka_unit_test(case_34_all_failed),
        cmocka_unit_test(case_35_conservation),
        cmocka_unit_test(case_36_streaming_off),
        cmocka_unit_test(tokens_that_do_not_add_up),
        cmocka_unit_test(assignment),
        cmocka_unit_test(arrivals_share_a_stamp),
        cmocka_unit_test(kernel_time),
        cmocka_unit_test(objectives),
        cmocka_unit_test(scaling),
        cmocka_unit_test(open_loop),
        cmocka_unit_test(connections),
        cmocka_unit_test(prefill_rate),
        cmocka_unit_test(prompt_departs),
        cmocka_unit_test(prompt_work),
        cmocka_unit_test(readings),
        cmocka_unit_test(retries_enter_no_success),
        cmocka_unit_test(constant_output),
        cmocka_unit_test(answers_alike),
        cmocka_unit_test(zero_tokens),
        cmocka_unit_test(partial_seconds_have_no_peak),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
