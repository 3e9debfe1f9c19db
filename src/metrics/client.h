/*
 * Whether the client was the bottleneck: the figures of spec section 6 and the verdict on them.
 *
 *     struct metrics_client c = {.cpu_share = 0.12, ...};
 *     metrics_judge_client(&c);                  // sets c.verdict and c.reasons
 *
 * Pure: judged on recorded lags alone. Times are ns; COUNT_NONE, or a share below 0, where a figure
 * was not recorded: that limit is then not judged and CLIENT_UNKNOWN says so.
 */
#ifndef TALLY_METRICS_CLIENT_H
#define TALLY_METRICS_CLIENT_H

#include <stdint.h>

#define CLIENT_VERDICTS(X)       \
    X(CLIENT_OK, "ok")           \
    X(CLIENT_SUSPECT, "suspect") \
    X(CLIENT_SATURATED, "saturated")

enum client_verdict {
#define X(id, key) id,
    CLIENT_VERDICTS(X)
#undef X
};

/* What was judged; bits of `suspect`, `saturated` and `unknown`. Limits in percent: of the median
 * chunk gap, of the median TTFT, of one core. */
#define CLIENT_RULES(X)                                                           \
    X(CLIENT_READ_LAG, "read_lag", 1, 5, "read lag against the median chunk gap") \
    X(CLIENT_SEND_LAG, "send_lag", 1, 5, "send lag against the median TTFT")      \
    X(CLIENT_CPU, "cpu", 70, 90, "CPU and run-queue time of the timing thread, of one core")

enum client_rule {
#define X(id, key, suspect, saturated, help) id,
    CLIENT_RULES(X)
#undef X
        CLIENT_RULE_COUNT
};

/* Nearest-rank, like every percentile: below 100 values p99 is the largest. One late value in
 * thirty is no evidence that one in a hundred is late, so a band is refused by the highest
 * percentile that so many values support (p99 from 299 on, p95 from 59, p90 from 29, else p50), and
 * flagged by p99. */
struct client_lag {
    int64_t n, p50_ns, p99_ns, max_ns; /* COUNT_NONE where n is 0 or was not recorded */
    int64_t supported_ns;              /* at that percentile */
    int supported_percent;
};

struct metrics_client {
    double cpu_share, parser_cpu_share; /* of one core; run-queue wait counted in the first */
    double multi_event_share;           /* of the reads that carried tokens: those with several */
    struct client_lag send_lag, read_lag, loop_lag;
    int64_t median_chunk_gap_ns, median_ttft_ns; /* what the lags are held against; COUNT_NONE */
    enum client_verdict verdict;
    unsigned suspect, saturated, unknown; /* 1 << rule */
};

void metrics_judge_client(struct metrics_client *c);
const char *client_verdict_name(enum client_verdict v);
const char *client_rule_name(enum client_rule r);
const char *client_rule_help(enum client_rule r);

#endif
