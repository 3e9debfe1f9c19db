/* The verdict on the client: each limit at its edge, on both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/client.h"
#include "record/sample.h"

struct row {
    int64_t read_lag, chunk_gap, send_lag, ttft;
    double cpu;
    enum client_verdict verdict;
    unsigned suspect, saturated, unknown;
};

static void table(void **state)
{
    (void)state;
    enum { READ = 1u << CLIENT_READ_LAG, SEND = 1u << CLIENT_SEND_LAG, CPU = 1u << CLIENT_CPU };
    static const struct row rows[] = {
        {100, 10000, 2000, 200000, 0.70, CLIENT_OK, 0, 0, 0},
        {101, 10000, 2000, 200000, 0.70, CLIENT_SUSPECT, READ, 0, 0},
        {500, 10000, 2000, 200000, 0.70, CLIENT_SUSPECT, READ, 0, 0},
        {501, 10000, 2000, 200000, 0.70, CLIENT_SATURATED, 0, READ, 0},
        {100, 10000, 2001, 200000, 0.70, CLIENT_SUSPECT, SEND, 0, 0},
        {100, 10000, 10000, 200000, 0.70, CLIENT_SUSPECT, SEND, 0, 0},
        {100, 10000, 10001, 200000, 0.70, CLIENT_SATURATED, 0, SEND, 0},
        {100, 10000, 2000, 200000, 0.71, CLIENT_SUSPECT, CPU, 0, 0},
        {100, 10000, 2000, 200000, 0.90, CLIENT_SUSPECT, CPU, 0, 0},
        {100, 10000, 2000, 200000, 0.91, CLIENT_SATURATED, 0, CPU, 0},
        {501, 10000, 2001, 200000, 0.71, CLIENT_SATURATED, SEND | CPU, READ, 0},
        /* 1 % of 99 ns is no whole ns: a lag of 1 is above it, 0 is not. */
        {0, 99, 0, 99, 0, CLIENT_OK, 0, 0, 0},
        {1, 99, 0, 99, 0, CLIENT_SUSPECT, READ, 0, 0},
        {1, 0, 0, 0, 0, CLIENT_SATURATED, 0, READ, 0},
        /* What was not recorded is not judged, and is said. */
        {COUNT_NONE, 10000, 1, 200000, 0.1, CLIENT_OK, 0, 0, READ},
        {1, COUNT_NONE, 1, 200000, 0.1, CLIENT_OK, 0, 0, READ},
        {1, 10000, 1, COUNT_NONE, 0.1, CLIENT_OK, 0, 0, SEND},
        {1, 10000, 1, 200000, -1, CLIENT_OK, 0, 0, CPU},
        {SAMPLE_TIME_MAX, SAMPLE_TIME_MAX, 0, 1, 0, CLIENT_SATURATED, 0, READ, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        struct metrics_client c = {
            .cpu_share = r->cpu,
            .read_lag = {1000, 0, r->read_lag, r->read_lag, r->read_lag, 99},
            .send_lag = {1000, 0, r->send_lag, r->send_lag, r->send_lag, 99},
            .median_chunk_gap_ns = r->chunk_gap,
            .median_ttft_ns = r->ttft,
            .suspect = 7, /* whatever stood there is forgotten */
        };
        metrics_judge_client(&c);
        if (c.verdict != r->verdict || c.suspect != r->suspect || c.saturated != r->saturated ||
            c.unknown != r->unknown)
            fail_msg("row %zu: verdict %d, suspect %u, saturated %u, unknown %u", i, c.verdict,
                     c.suspect, c.saturated, c.unknown);
    }
}

/* One of thirty sends late: flagged, and not refused, while nine in ten are in time. */
static void few_values(void **state)
{
    (void)state;
    struct metrics_client c = {
        .cpu_share = 0.1,
        .send_lag = {30, 1, 50001, 50001, 10, 90},
        .read_lag = {1000, 1, 1, 1, 1, 99},
        .median_chunk_gap_ns = 1000,
        .median_ttft_ns = 1000000,
    };
    metrics_judge_client(&c);
    assert_int_equal(c.verdict, CLIENT_SUSPECT);
    assert_int_equal(c.suspect, 1u << CLIENT_SEND_LAG);
    c.send_lag.supported_ns = 50001;
    metrics_judge_client(&c);
    assert_int_equal(c.verdict, CLIENT_SATURATED);
    assert_int_equal(c.saturated, 1u << CLIENT_SEND_LAG);
}

static void no_lags(void **state)
{
    (void)state;
    struct metrics_client c = {.read_lag = {0, COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE, 0},
                               .send_lag = {0, COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE, 0},
                               .median_chunk_gap_ns = 5,
                               .median_ttft_ns = 5};
    metrics_judge_client(&c);
    assert_int_equal(c.unknown, 1u << CLIENT_READ_LAG | 1u << CLIENT_SEND_LAG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(table), cmocka_unit_test(few_values),
                                       cmocka_unit_test(no_lags)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
