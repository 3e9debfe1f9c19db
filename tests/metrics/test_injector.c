/* injector_stall_ms: the definition of docs/metrics.md, each value worked by hand. */
#include "fixture.h"

/* Two requests that get a token every 10 ms, and one long prompt sent at 500 ms whose first token
 * comes at 600 ms. The one request waits 65 ms for its token in between, the other 40 ms. */
static struct metrics_band_facts scene(void)
{
    struct metrics_band_facts f = facts_of(0, 1000);
    static const int64_t a[] = {470, 480, 490, 555, 565}, b[] = {475, 485, 525, 598, 608};
    for (int i = 0; i < 2; i++) {
        make(&m[i], i, 400);
        for (int k = 0; k < 5; k++)
            arrive(&m[i], i ? b[k] : a[k], EVENT_TEXT, "a", 1);
        end(&m[i], 650, OUTCOME_OK);
    }
    make(&m[2], 0, 500);
    m[2].s.phase = PHASE_INJECTED;
    m[2].s.prompt_body = 8192;
    arrive(&m[2], 600, EVENT_TEXT, "a", 1);
    end(&m[2], 610, OUTCOME_OK);
    f.injector = true;
    f.issued_injected = 1;
    return f;
}

/* Before 500: gaps 10, 10 (a) and 10 (b); median 10. During [500, 600]: a 490-555 and 555-565, b
 * 485-525, 525-598 and 598-608; the largest is 73. */
static void stall(void **state)
{
    (void)state;
    struct metrics_band_facts f = scene();
    compute(3, &f);
    assert_real(METRIC_STALL, 63.0);
    assert_int_equal(METRIC(METRIC_STALL)->n, 5);
    const struct metrics_injector *in = &band.injector;
    assert_int_equal(in->sent_ns, 500 * MS);
    assert_int_equal(in->prefill_ns, 100 * MS);
    assert_int_equal(in->prompt_body, 8192);
    assert_int_equal(in->gaps_before, 3);
    assert_int_equal(in->gaps_during, 5);
    assert_int_equal(in->median_before_ns, 10 * MS);
    assert_int_equal(in->largest_ns, 73 * MS);
    assert_true(band.counts.conserved);
}

/* A gap that ends as the prefill begins is before it, one that begins as it ends is neither; one
 * that ends at or after the close is during it all the same. */
static void borders(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 580);
    f.injector = true;
    f.issued_injected = 1;
    make(&m[0], 0, 400);
    arrive(&m[0], 490, EVENT_TEXT, "a", 1);
    arrive(&m[0], 500, EVENT_TEXT, "a", 1); /* 10 before */
    arrive(&m[0], 600, EVENT_TEXT, "a", 1); /* 100 during, past the close */
    arrive(&m[0], 900, EVENT_TEXT, "a", 1); /* 300 behind it */
    end(&m[0], 910, OUTCOME_OK);
    make(&m[1], 0, 500);
    m[1].s.phase = PHASE_INJECTED;
    arrive(&m[1], 600, EVENT_TEXT, "a", 1);
    end(&m[1], 600, OUTCOME_OK);
    compute(2, &f);
    assert_real(METRIC_STALL, 90.0);
    assert_int_equal(band.injector.gaps_before, 1);
    assert_int_equal(band.injector.gaps_during, 1);
}

/* Who notices nothing has a stall of nothing, or less. */
static void unnoticed(void **state)
{
    (void)state;
    struct metrics_band_facts f = scene();
    make(&m[0], 0, 400);
    arrive(&m[0], 450, EVENT_TEXT, "a", 1);
    arrive(&m[0], 470, EVENT_TEXT, "a", 1); /* 20 before */
    arrive(&m[0], 495, EVENT_TEXT, "a", 1); /* 25 before: the median of two is the lower */
    arrive(&m[0], 510, EVENT_TEXT, "a", 1); /* 15 during */
    end(&m[0], 520, OUTCOME_OK);
    m[1] = m[2];
    m[1].s.reads = m[1].reads;
    m[1].s.events = m[1].events;
    compute(2, &f);
    assert_real(METRIC_STALL, -5.0);
}

/* In no number of the band: not in the counts, times, rates, prompts, lags, nor the choice of how
 * tokens are counted. */
static void apart(void **state)
{
    (void)state;
    struct metrics_band_facts f = scene();
    struct sample all[3];
    f.issued = 2;
    m[2].s.output_reported.total = m[2].s.output_observed.total = COUNT_NONE;
    m[2].s.prompt_cached = 5000;
    f.cold = true;
    compute(3, &f);
    struct metrics_band with = band;
    f.issued_injected = 0;
    compute(2, &f);
    assert_int_equal(with.counts.issued, 2);
    assert_int_equal(with.counts.injected, 1);
    assert_int_equal(band.counts.injected, 0);
    assert_int_equal(with.flags, 0);
    assert_int_equal(with.work.prompts_n, 2);
    assert_int_equal(with.outputs.checked, 2);
    assert_int_equal(with.client.send_lag.n, band.client.send_lag.n);
    for (int id = 0; id < METRIC_COUNT; id++) {
        if (id == METRIC_STALL)
            continue;
        assert_int_equal(with.metrics[id].why, band.metrics[id].why);
        assert_int_equal(with.metrics[id].n, band.metrics[id].n);
        assert_true(with.metrics[id].real == band.metrics[id].real);
        for (int k = 0; k < METRICS_STATS; k++)
            assert_int_equal(with.metrics[id].stats[k].ns, band.metrics[id].stats[k].ns);
    }
    for (int i = 0; i < 3; i++)
        all[i] = m[i].s;
    assert_int_equal(metrics_sources(all, 3), metrics_sources(all, 2));
    assert_int_equal(metrics_ways(all, 3), metrics_ways(all, 2));
    /* one that the loop did not send, or that is missing, is seen */
    compute(3, &f);
    assert_false(band.counts.conserved);
    assert_string_equal(band.reason, "conservation");
}

static void absent(void **state)
{
    (void)state;
    struct metrics_band_facts f = scene();
    f.injector = false;
    f.issued_injected = 0;
    compute(2, &f);
    assert_absent(METRIC_STALL, REASON_NO_INJECTOR);
    f.injector = true; /* the band stopped before half of its window */
    compute(2, &f);
    assert_absent(METRIC_STALL, REASON_NOT_INJECTED);
    f.issued_injected = 1;
    m[2].s.outcome = OUTCOME_TIMED_OUT;
    compute(3, &f);
    assert_absent(METRIC_STALL, REASON_NOT_INJECTED);
    assert_int_equal(band.injector.outcome, OUTCOME_TIMED_OUT);
    m[2].s.outcome = OUTCOME_OK;
    f.stream = false;
    compute(3, &f);
    assert_absent(METRIC_STALL, REASON_STREAMING_OFF);
    f.stream = true;
    for (int i = 0; i < 2; i++) { /* nothing before it */
        make(&m[i], i, 505);
        arrive(&m[i], 510, EVENT_TEXT, "a", 1);
        arrive(&m[i], 520, EVENT_TEXT, "a", 1);
        end(&m[i], 530, OUTCOME_OK);
    }
    compute(3, &f);
    assert_absent(METRIC_STALL, REASON_NOTHING);
    assert_int_equal(band.injector.gaps_during, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stall), cmocka_unit_test(borders), cmocka_unit_test(unnoticed),
        cmocka_unit_test(apart), cmocka_unit_test(absent),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
