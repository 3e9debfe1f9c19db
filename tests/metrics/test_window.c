/* What belongs to the window, how requests are ranked and counted, and what the window as a whole
 * gives: by hand; the cases 31 and 33-35 of the wire notes by their numbers. */
#include "fixture.h"

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
        cmocka_unit_test(case_31_the_window),
        cmocka_unit_test(what_ends_at_the_close_is_drained),
        cmocka_unit_test(a_long_drain_is_suspect),
        cmocka_unit_test(a_request_outside_the_window_refuses_the_band),
        cmocka_unit_test(case_33_percentiles),
        cmocka_unit_test(percentiles_need_enough),
        cmocka_unit_test(failures_rank_as_infinite),
        cmocka_unit_test(case_34_all_failed),
        cmocka_unit_test(case_35_conservation),
        cmocka_unit_test(objectives),
        cmocka_unit_test(scaling),
        cmocka_unit_test(retries_enter_no_success),
        cmocka_unit_test(partial_seconds_have_no_peak),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
