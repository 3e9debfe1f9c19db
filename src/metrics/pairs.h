/*
 * What the replicates of one band say together: the interval within a lane, the prompt work of two
 * lanes held against each other, and the paired ratios of their window statistics (spec section 7).
 *
 *     struct metrics_pairs p;                     // one concurrency, both lanes, all replicates
 *     if (metrics_pairs_compute(&in, &arena, &p, err) < 0) ...
 *     json_begin_object(&w); metrics_pairs_write_json(&p, &w); json_end_object(&w);
 *
 * x_r = ln(subject/comparator) of replicate r, sign turned where lower is better, so that above 0
 * always favours the subject; L, U = mean -+ t(0.95, n-1) s/sqrt(n); the minimum detectable effect
 * is 1 - exp(-(t.95 + t.80) s/sqrt(n)). Random draws are seeded from hash(2026, lane, band,
 * replicate, metric) (stats/random.h), so the same samples give the same text everywhere.
 * Ownership: arrays live in the arena; the bands must outlive the result.
 * Limits: RUN_REPLICATES_MAX replicates; METRICS_BOOTSTRAP_N resamples.
 */
#ifndef TALLY_METRICS_PAIRS_H
#define TALLY_METRICS_PAIRS_H

#include "metrics/metrics.h"

#define METRICS_BOOTSTRAP_N 10000
#define METRICS_BOOTSTRAP_LOW 250 /* ranks of the bounds among the sorted resamples */
#define METRICS_BOOTSTRAP_HIGH 9750
#define METRICS_BOOTSTRAP_SEED 2026

/* interval_within of a p50: percentile bootstrap over whole requests, pooled over the replicates,
 * resampled within each. Descriptive; it never gates. */
struct metrics_interval {
    enum metrics_reason why;
    int64_t n; /* requests, over all replicates */
    /* Any of the three landing on a censored request makes the whole null{censored}. */
    int64_t p50_ns, low_ns, high_ns;
};

/* replicates[i] may be NULL (missing). `id` is a metric of requests; else REASON_NOT_PER_REQUEST.
 */
int metrics_interval_within(const struct metrics_band *const *replicates, size_t n,
                            enum metric_id id, struct metrics_interval *out,
                            struct error *err) TALLY_MUST_CHECK;
/* Adds members to the open object: the key of every METRIC_TIMES and METRIC_BOUNDS metric with null
 * or {n, p50, low, high}, and "unproduced_fields". */
int metrics_intervals_write_json(const struct metrics_band *const *replicates, size_t n,
                                 struct json_writer *w, struct error *err) TALLY_MUST_CHECK;

/* Prompt work, request by request: the lanes sent the same prompts, so the counts of each prompt id
 * must agree. A request's work is what the server reported, else what the client rendered for the
 * lane; unknown is not equal. */
struct metrics_work_pair {
    enum metrics_reason why;          /* REASON_NONE: equal */
    int64_t shared;                   /* prompts that both lanes did in the same replicate */
    int64_t unknown, differ;          /* of these */
    struct metrics_spread difference; /* subject - comparator */
    double excess; /* (sum subject - sum comparator) / sum comparator over known shared prompts */
};

/* What is paired: metric and statistic (STAT_P50 of times, the value of reals). */
#define METRICS_PAIRED(X)                 \
    X(PAIRED_TTFT, METRIC_TTFT, STAT_P50) \
    X(PAIRED_TTFC, METRIC_TTFC, STAT_P50) \
    X(PAIRED_TPOT, METRIC_TPOT, STAT_P50) \
    X(PAIRED_DECODE, METRIC_DECODE, 0)    \
    X(PAIRED_E2E, METRIC_E2E, STAT_P50)   \
    X(PAIRED_AGG, METRIC_AGG, 0)          \
    X(PAIRED_RPS, METRIC_RPS, 0)          \
    X(PAIRED_PREFILL, METRIC_PREFILL, 0)  \
    X(PAIRED_GOODPUT, METRIC_GOODPUT, 0)

enum metrics_paired {
#define X(id, metric, stat) id,
    METRICS_PAIRED(X)
#undef X
        METRICS_PAIRED_COUNT
};

struct metrics_ratio {
    enum metrics_reason why;
    double ratio;    /* subject / comparator: exp of the mean log-ratio, sign not turned */
    size_t n;        /* pairs that there are */
    const double *x; /* x_r of every declared replicate; NaN where it is missing */
    double mean, min, max;
    enum metrics_reason bounds_why; /* n < 2: there is a ratio, and no bounds */
    double s, lower, upper, mde;
};

struct metrics_serialization {
    enum metrics_reason why;
    size_t n;
    const double *index; /* of every declared replicate; NaN where it is missing */
    double mean;         /* geometric */
};

struct metrics_pairs_input {
    int32_t band;
    size_t replicates; /* as declared */
    /* [replicates] each; NULL where a replicate is missing or its band is not valid. */
    const struct metrics_band *const *subject, *const *comparator;
    double max_error_share;
    bool unequal_work; /* declared as unequal-work: ratios are computed nevertheless */
};

struct metrics_pairs {
    int32_t band;
    bool unequal_work;
    /* PASS, INCOMPLETE (a pair is missing), or REFUSED (unequal or unknown work, errors) */
    enum status status;
    size_t replicates;
    struct metrics_work_pair work;
    struct metrics_ratio ratios[METRICS_PAIRED_COUNT];
    struct metrics_serialization serialization;
};

int metrics_pairs_compute(const struct metrics_pairs_input *in, struct arena *arena,
                          struct metrics_pairs *out, struct error *err) TALLY_MUST_CHECK;
/* Adds members to the open object: "band", "status", "prompt_work", "ratios",
 * "serialization_index", "unproduced_fields". */
void metrics_pairs_write_json(const struct metrics_pairs *p, struct json_writer *w);

/* The key of a paired statistic: "ttft_ms.p50", "agg_tok_s". */
const char *metrics_paired_name(enum metrics_paired p);
enum metric_id metrics_paired_metric(enum metrics_paired p);

#endif
