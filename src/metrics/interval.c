#include <stdio.h>

#include "metrics/pairs.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/random.h"

#define SEED_TEXT 512

static uint64_t seed_of(const struct metrics_band *b, enum metric_id id)
{
    char text[SEED_TEXT];
    int n = snprintf(text, sizeof text, "%d/%s/c%d/r%d/%s", METRICS_BOOTSTRAP_SEED, b->facts.lane,
                     b->facts.band, b->facts.replicate, metrics_info(id)->key);
    return random_seed_of(str_first(str_of(text), (size_t)n));
}

int metrics_interval_within(const struct metrics_band *const *replicates, size_t n,
                            enum metric_id id, struct metrics_interval *out, struct error *err)
{
    static const struct bootstrap_options options = {METRICS_BOOTSTRAP_N, METRICS_BOOTSTRAP_LOW,
                                                     METRICS_BOOTSTRAP_HIGH};
    struct bootstrap_stratum strata[RUN_REPLICATES_MAX];
    struct bootstrap b;
    size_t used = 0;
    int64_t total = 0;
    if (n > RUN_REPLICATES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d replicates", RUN_REPLICATES_MAX);
    *out = (struct metrics_interval){.why = REASON_NOTHING};
    for (size_t i = 0; i < n; i++) {
        if (!replicates[i])
            continue;
        const struct metrics_metric *m = &replicates[i]->metrics[id];
        if (m->why != REASON_NONE) {
            out->why = m->why;
            return 0;
        }
        if (!m->values) {
            out->why = REASON_NOT_PER_REQUEST;
            return 0;
        }
        strata[used++] =
            (struct bootstrap_stratum){m->values, m->values_n, seed_of(replicates[i], id)};
        total += (int64_t)m->values_n;
    }
    if (total == 0)
        return 0;
    if (bootstrap_median(strata, used, &options, &b, err) < 0)
        return -1;
    bool censored =
        b.median == STATS_INFINITE || b.low == STATS_INFINITE || b.high == STATS_INFINITE;
    *out = (struct metrics_interval){censored ? REASON_CENSORED : REASON_NONE, total, b.median,
                                     b.low, b.high};
    return 0;
}

static void put_ms(struct json_writer *w, const char *name, int64_t ns)
{
    json_key(w, name);
    json_put_ms(w, ns);
}

int metrics_intervals_write_json(const struct metrics_band *const *replicates, size_t n,
                                 struct json_writer *w, struct error *err)
{
    enum metrics_reason why[METRIC_COUNT] = {REASON_NONE};
    for (int id = 0; id < METRIC_COUNT; id++) {
        const struct metrics_info *info = metrics_info((enum metric_id)id);
        struct metrics_interval v;
        if (info->shape == METRIC_REAL)
            continue;
        if (metrics_interval_within(replicates, n, (enum metric_id)id, &v, err) < 0)
            return -1;
        why[id] = v.why;
        json_key(w, info->key);
        if (v.why != REASON_NONE) {
            json_put_null(w);
            continue;
        }
        json_begin_object(w);
        json_key(w, "n");
        json_put_i64(w, v.n);
        put_ms(w, "p50", v.p50_ns);
        put_ms(w, "low", v.low_ns);
        put_ms(w, "high", v.high_ns);
        json_end_object(w);
    }
    json_key(w, "unproduced_fields");
    json_begin_object(w);
    for (int id = 0; id < METRIC_COUNT; id++)
        if (why[id] != REASON_NONE) {
            json_key(w, metrics_info((enum metric_id)id)->key);
            json_put_cstr(w, metrics_reason_name(why[id]));
        }
    json_end_object(w);
    return 0;
}
