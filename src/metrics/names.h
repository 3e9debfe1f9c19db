/*
 * The names of everything a band's metrics consist of: one table each gives the enum, the key in a
 * receipt, the unit, the direction and the help text that JSON, `show` and the docs use.
 *
 *     for (int i = 0; i < METRIC_COUNT; i++) puts(metrics_info(i)->key);
 *
 * Everything here is constant.
 */
#ifndef TALLY_METRICS_NAMES_H
#define TALLY_METRICS_NAMES_H

/* How a metric is made and printed: an object of statistics in ms; the same with each percentile a
 * pair [lower, upper]; one real. */
enum metric_shape { METRIC_TIMES, METRIC_BOUNDS, METRIC_REAL };
enum metric_better { BETTER_LOWER, BETTER_HIGHER, BETTER_NONE };

/* id, key, shape, unit, better, population, help */
#define METRICS(X)                                                                                 \
    X(METRIC_TTFT, "ttft_ms", METRIC_TIMES, "ms", BETTER_LOWER, "requests",                        \
      "sent to the read that carries the first token of any kind")                                 \
    X(METRIC_TTFC, "ttfc_ms", METRIC_TIMES, "ms", BETTER_LOWER, "requests",                        \
      "sent to the read that carries the first visible content")                                   \
    X(METRIC_TTFB, "ttfb_ms", METRIC_TIMES, "ms", BETTER_LOWER, "requests",                        \
      "sent to the first byte of the response")                                                    \
    X(METRIC_CONNECT, "connect_ms", METRIC_TIMES, "ms", BETTER_LOWER, "new connections",           \
      "name lookup, connection and TLS set-up")                                                    \
    X(METRIC_CHUNK_GAP, "chunk_gap_ms", METRIC_TIMES, "ms", BETTER_LOWER, "gaps of ok requests",   \
      "gap between successive arrivals")                                                           \
    X(METRIC_ITL, "itl_ms", METRIC_BOUNDS, "ms", BETTER_LOWER, "tokens of ok requests",            \
      "time from token to token, each percentile as [lower, upper] bound")                         \
    X(METRIC_TPOT, "tpot_ms", METRIC_TIMES, "ms", BETTER_LOWER, "requests",                        \
      "time per output token behind the first arrival")                                            \
    X(METRIC_DECODE, "decode_tok_s", METRIC_REAL, "tok/s", BETTER_HIGHER, "requests",              \
      "tokens a second behind the first arrival; median over requests")                            \
    X(METRIC_E2E, "e2e_ms", METRIC_TIMES, "ms", BETTER_LOWER, "requests",                          \
      "sent to the last token")                                                                    \
    X(METRIC_TTFT_PLAN, "ttft_from_plan_ms", METRIC_TIMES, "ms", BETTER_LOWER, "planned requests", \
      "planned arrival to the first token (open loop)")                                            \
    X(METRIC_E2E_PLAN, "e2e_from_plan_ms", METRIC_TIMES, "ms", BETTER_LOWER, "planned requests",   \
      "planned arrival to the last token (open loop)")                                             \
    X(METRIC_AGG, "agg_tok_s", METRIC_REAL, "tok/s", BETTER_HIGHER, "tokens",                      \
      "tokens of ok requests that arrive in the window, a second of it")                           \
    X(METRIC_PEAK, "peak_tok_s", METRIC_REAL, "tok/s", BETTER_HIGHER, "tokens",                    \
      "largest one-second bin of the window")                                                      \
    X(METRIC_WASTED, "wasted_tok_s", METRIC_REAL, "tok/s", BETTER_LOWER, "tokens",                 \
      "tokens of requests that did not end ok, a second of the window")                            \
    X(METRIC_PREFILL, "prefill_tok_s", METRIC_REAL, "tok/s", BETTER_HIGHER, "requests",            \
      "prefill rate over uncached tokens as the server reports it; median over requests")          \
    X(METRIC_RPS, "completed_rps", METRIC_REAL, "1/s", BETTER_HIGHER, "requests",                  \
      "requests that ended ok inside the window, a second of it")                                  \
    X(METRIC_PLANNED_RPS, "planned_rps", METRIC_REAL, "1/s", BETTER_NONE, "requests",              \
      "rate at which the requests that were sent had been planned (open loop)")                    \
    X(METRIC_ACHIEVED_RPS, "achieved_rps", METRIC_REAL, "1/s", BETTER_NONE, "requests",            \
      "rate at which requests were sent")                                                          \
    X(METRIC_SLO, "slo_attainment", METRIC_REAL, "share", BETTER_HIGHER, "requests",               \
      "share of issued requests that meet the objective")                                          \
    X(METRIC_GOODPUT, "goodput_rps", METRIC_REAL, "1/s", BETTER_HIGHER, "requests",                \
      "requests that meet the objective, a second of the window")                                  \
    X(METRIC_SCALING, "scaling_efficiency", METRIC_REAL, "ratio", BETTER_HIGHER, "bands",          \
      "(agg(c)/agg(1))/c")                                                                         \
    X(METRIC_STALL, "injector_stall_ms", METRIC_REAL, "ms", BETTER_LOWER, "gaps during prefill",   \
      "largest gap during the injected prefill, less the median gap before")

enum metric_id {
#define X(id, key, shape, unit, better, population, help) id,
    METRICS(X)
#undef X
        METRIC_COUNT
};

/* The statistics of an object, in order. Percentiles are nearest-rank; least_n is the population
 * below which one is null. */
#define METRICS_STAT_TABLE(X)   \
    X(STAT_MEAN, "mean", 0, 1)  \
    X(STAT_MIN, "min", 0, 1)    \
    X(STAT_P50, "p50", 50, 1)   \
    X(STAT_P90, "p90", 90, 29)  \
    X(STAT_P95, "p95", 95, 59)  \
    X(STAT_P99, "p99", 99, 299) \
    X(STAT_MAX, "max", 0, 1)

enum metrics_stat_id {
#define X(id, key, percent, least_n) id,
    METRICS_STAT_TABLE(X)
#undef X
        METRICS_STATS
};

/* Why a value is null. */
#define METRICS_REASONS(X)                                                                         \
    X(REASON_NONE, "none", "the value is there")                                                   \
    X(REASON_N_TOO_SMALL, "n_too_small", "too few values for this percentile")                     \
    X(REASON_CENSORED, "censored", "the rank lands on a request that did not end ok")              \
    X(REASON_NOTHING, "nothing_measured", "no request that could be measured")                     \
    X(REASON_STREAMING_OFF, "streaming_off", "no stream was asked for, so nothing is timed in it") \
    X(REASON_ONE_ARRIVAL, "one_arrival", "all tokens of a request came at once")                   \
    X(REASON_ONE_REQUEST, "one_request", "a rate needs the time between two requests")             \
    X(REASON_UNASSIGNED, "tokens_unassigned",                                                      \
      "tokens cannot be assigned to arrivals so that they add up to the count used")               \
    X(REASON_NO_COUNT, "no_output_count", "no reading of output tokens that every request has")    \
    X(REASON_NO_WINDOW, "no_window", "the window was never opened or never closed")                \
    X(REASON_PARTIAL_SECOND, "partial_second", "the window is no whole number of seconds")         \
    X(REASON_CLOSED_LOOP, "closed_loop", "nothing is planned in a closed loop")                    \
    X(REASON_CONNECTION_REUSED, "connections_reused", "no request opened a connection")            \
    X(REASON_NO_RAMP, "no_ramp", "the load did not rise step by step")                             \
    X(REASON_NO_SLO, "no_slo", "no objective was given")                                           \
    X(REASON_SERVER_SILENT, "server_silent", "only the server can know, and it did not say")       \
    X(REASON_NO_BASE, "no_band_1", "no band of c = 1 to compare with")                             \
    X(REASON_IS_BASE, "is_base", "this is the band that the others are held against")              \
    X(REASON_NO_SHARED, "no_shared_prompts", "no prompt was answered in both bands")               \
    X(REASON_NO_DIFFERENCE, "no_difference", "all answers that were compared are the same")        \
    X(REASON_BASE_NULL, "base_null", "a value this one is made of is null")                        \
    X(REASON_NOT_RECORDED, "not_recorded", "the client did not record it")                         \
    X(REASON_NOT_PER_REQUEST, "not_per_request", "intervals resample whole requests")              \
    X(REASON_TOO_FEW_REPLICATES, "too_few_replicates", "at least two pairs are needed")            \
    X(REASON_PAIR_MISSING, "pair_missing", "a replicate of one lane is not valid")                 \
    X(REASON_ZERO, "zero_value", "a ratio with zero has no logarithm")                             \
    X(REASON_ERROR_SHARE, "error_share", "more requests failed than max_error_share allows")       \
    X(REASON_UNEQUAL_WORK, "unequal_prompt_work", "the lanes did unequal prompt work")             \
    X(REASON_UNKNOWN_WORK, "unknown_prompt_work", "the prompt work of a lane is not known")        \
    X(REASON_COUNT_MISMATCH, "token_assignment_mismatch",                                          \
      "the lanes' tokens were counted or assigned differently")                                    \
    X(REASON_ONE_LANE, "one_lane", "there is only one lane")                                       \
    X(REASON_NO_CONVERSATIONS, "no_conversations", "prompts stand alone")                          \
    X(REASON_NO_INJECTOR, "no_injector", "nothing was to be injected")                             \
    X(REASON_NOT_INJECTED, "not_injected", "the injected prompt was not sent, or did not end ok")  \
    X(REASON_TEXTS_LEFT_OUT, "texts_left_out", "texts were left out of the samples")               \
    X(REASON_NOT_ASKED, "not_asked", "the server was not asked for it")

enum metrics_reason {
#define X(id, key, help) id,
    METRICS_REASONS(X)
#undef X
        METRICS_REASON_COUNT
};

/* Readings of output tokens, best first. */
#define METRICS_SOURCE_TABLE(X)    \
    X(SOURCE_OBSERVED, "observed") \
    X(SOURCE_REPORTED, "reported") \
    X(SOURCE_RETOKENIZED, "retokenized")

enum metrics_source {
#define X(id, key) id,
    METRICS_SOURCE_TABLE(X)
#undef X
        METRICS_SOURCES,
    SOURCE_NONE = METRICS_SOURCES
};

/* How tokens were assigned to arrivals, best first. `single` needs nothing: every request had one
 * arrival. */
#define METRICS_ASSIGNMENTS(X)          \
    X(ASSIGN_IDS, "ids")                \
    X(ASSIGN_LOGPROBS, "logprobs")      \
    X(ASSIGN_USAGE, "cumulative_usage") \
    X(ASSIGN_OFFSETS, "offsets")        \
    X(ASSIGN_SINGLE, "single_arrival")  \
    X(ASSIGN_NONE, "none")

enum metrics_assignment {
#define X(id, key) id,
    METRICS_ASSIGNMENTS(X)
#undef X
};

/* What makes a band SUSPECT: bit 1 << flag. */
#define METRICS_FLAG_TABLE(X)                                                              \
    X(FLAG_DRAIN, "drain_over_half_window", "draining took longer than half the window")   \
    X(FLAG_CLIENT, "client_suspect", "the client was close to being the bottleneck")       \
    X(FLAG_CACHED, "cached_tokens",                                                        \
      "more cached prompt tokens than the wrapper holds, in a cold workload")              \
    X(FLAG_DEGENERATE, "degenerate_output", "outputs that repeat one token over and over") \
    X(FLAG_ZERO_TOKEN, "zero_token_answers", "requests that ended ok without a token")     \
    X(FLAG_DEPARTS, "prompt_departs", "a reported prompt count is not the predicted one")  \
    X(FLAG_CLOCK, "clock_stepped", "the real clock was set while the band ran")

enum metrics_flag {
#define X(id, key, help) id,
    METRICS_FLAG_TABLE(X)
#undef X
        METRICS_FLAGS
};

struct metrics_info {
    const char *key;
    enum metric_shape shape;
    const char *unit;
    enum metric_better better;
    const char *population, *help;
};

const struct metrics_info *metrics_info(enum metric_id id);
const char *metrics_stat_name(enum metrics_stat_id id);
int metrics_stat_percent(enum metrics_stat_id id); /* 0: no percentile */
int metrics_stat_least_n(enum metrics_stat_id id);
const char *metrics_reason_name(enum metrics_reason r);
const char *metrics_reason_help(enum metrics_reason r);
const char *metrics_source_name(enum metrics_source s);    /* NULL for SOURCE_NONE */
enum metrics_source metrics_source_find(const char *name); /* SOURCE_NONE when unknown or NULL */
enum metrics_assignment metrics_assignment_find(const char *name); /* ASSIGN_NONE: unknown */
const char *metrics_assignment_name(enum metrics_assignment a);
const char *metrics_flag_name(enum metrics_flag f);
const char *metrics_flag_help(enum metrics_flag f);

#endif
