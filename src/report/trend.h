/*
 * Several runs over time and commits: one self-contained HTML page of their trend.
 *
 *     struct trend t;
 *     trend_init(&t);
 *     if (trend_add(&t, "runs/monday", "self-consistent, unsigned", true, err) < 0) ...
 *     if (trend_write(&t, matrix_or_NULL, &out, err) < 0) ...
 *     trend_release(&t);
 *
 * Of each run the numbers that follow from its samples are kept: per lane and band the mean over
 * replicates with its t bounds, and the paired ratios. Runs are shown in the order of their start.
 * Neighbours are joined by a line where their join keys are equal (receipt/keys.h), by a dashed one
 * where a field of them is not known, and by none where they differ: the page says which field.
 * What is not PASS, or does not verify, is drawn hollow and joined to nothing.
 *
 * A matrix adds lines: 1 - delta of its comparing arms on the ratios, and on the subject's own
 * numbers the baseline of a self-regression without a build, from the first six sound runs.
 * Ownership: everything is kept in the trend's arena. Limits: TREND_RUNS_MAX runs.
 */
#ifndef TALLY_REPORT_TREND_H
#define TALLY_REPORT_TREND_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "gate/matrix.h"
#include "metrics/pairs.h"
#include "record/run.h"

#define TREND_RUNS_MAX 200
#define TREND_LANES RUN_LANES_MAX

/* What is drawn: a statistic of each lane, and of the two lanes' ratio. */
#define TREND_METRICS(X)                                              \
    X(TREND_AGG, PAIRED_AGG, "Output rate", "tok/s")                  \
    X(TREND_TTFT, PAIRED_TTFT, "Time to first token, median", "ms")   \
    X(TREND_TPOT, PAIRED_TPOT, "Time per output token, median", "ms") \
    X(TREND_E2E, PAIRED_E2E, "Whole request, median", "ms")

enum trend_metric {
#define X(id, paired, title, unit) id,
    TREND_METRICS(X)
#undef X
        TREND_METRIC_COUNT
};

struct trend_info {
    enum metrics_paired paired;
    const char *title, *unit;
};

/* n 0: none. lo and hi are NaN with one replicate. sound: every replicate is PASS. */
struct trend_value {
    double mean, lo, hi, log_mean; /* log_mean: of the logarithms, for a baseline of sessions */
    size_t n;
    bool sound;
};

struct trend_lane {
    const char *role, *model, *host, *build;         /* NULL where unknown */
    struct trend_value (*bands)[TREND_METRIC_COUNT]; /* one a band of the run */
};

struct trend_run {
    const char *dir, *run_id, *protocol, *client, *load_model, *reason, *verified;
    int64_t start_ns;
    enum status status;
    bool verifies;
    int32_t *bands;
    size_t bands_n, lanes_n;
    struct trend_lane lanes[TREND_LANES];
    struct trend_value (*ratios)[TREND_METRIC_COUNT]; /* above 1 favours the subject; NULL */
    const struct json *join;                          /* of the subject */
    /* Against the run before it, once sorted: the field, or NULL for equal keys. */
    const char *differs;
    bool unknown;
};

struct trend {
    struct arena arena;
    struct trend_run *runs;
    size_t n;
    int32_t bands[RUN_BANDS_MAX]; /* of all runs, rising */
    size_t bands_n;
};

void trend_init(struct trend *t);
void trend_release(struct trend *t); /* NULL and zeroed are fine */
/* verified: what verify said, a phrase; verifies: whether it said so without a failure. The same
 * receipt twice is ERROR_USAGE. */
int trend_add(struct trend *t, const char *dir, const char *verified, bool verifies,
              struct error *err) TALLY_MUST_CHECK;
/* Sorts the runs, then appends the page. matrix may be NULL. */
int trend_write(struct trend *t, const struct matrix *matrix, struct buf *out,
                struct error *err) TALLY_MUST_CHECK;

/* Shared by trend*.c. */
const struct trend_info *trend_info(enum trend_metric m);
void trend_sort(struct trend *t);
/* A run's value at a concurrency; NULL where it has none. lane TREND_LANES: the ratio. */
const struct trend_value *trend_value(const struct trend_run *r, size_t lane, int32_t band,
                                      enum trend_metric m);
/* The run's lane of that role; TREND_LANES when it has none. */
size_t trend_lane_of(const struct trend_run *r, const char *role);
/* Sound numbers of a run that verifies. */
bool trend_sound(const struct trend_run *r, const struct trend_value *v);

/* A line of the matrix over the plots of one metric. */
struct trend_rule {
    bool on_ratio;
    enum trend_metric metric;
    int32_t band; /* 0: all of them */
    double value;
    char text[160], note[256]; /* beside the line; below the plots */
};
#define TREND_RULES_MAX 256
/* The lines that hold for these runs, and in *note why there are none (""). */
size_t trend_rules(const struct trend *t, const struct matrix *m,
                   struct trend_rule out[TREND_RULES_MAX], struct buf *note);

#endif
