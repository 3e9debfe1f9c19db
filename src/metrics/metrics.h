/*
 * The metrics of one band: what one lane did at one concurrency in one replicate, computed from its
 * samples by the definitions of spec section 7. Pure: the same samples and facts give the same
 * struct and the same text everywhere, so the receipt's writer and verify both call these two:
 *
 *     struct metrics_band m;
 *     if (metrics_band_compute(samples, n, &facts, &arena, &m, err) < 0) ...
 *     json_begin_object(&w); json_key(&w, "lane"); ...; metrics_write_json(&m, &w); ...
 *
 * metrics_write_json adds members to the object that is open: "counts", "metrics", "tokens",
 * "prompt_work", "outputs", "injector", "validity", "unproduced_fields". Every key is there in
 * every band; a value that cannot be had is null, and its path stands in "unproduced_fields" with
 * the reason.
 *
 * In order, for a run:
 *   1. sources = metrics_sources(...) of every band, ANDed; plan.output_count_source =
 *      metrics_best_source(sources);                  one source serves both lanes
 *      likewise ways = metrics_ways(...) and plan.token_assignment = metrics_best_way(ways);
 *   2. metrics_band_compute for every (lane, band, replicate);
 *   3. metrics_set_base(&band, &band_of_c_1) for every band, same lane and replicate;
 *   4. metrics/pairs.h: intervals, paired ratios, prompt work across the lanes.
 *
 * Ownership: arrays in struct metrics_band live in the arena and strings point into the samples.
 * Units: times are integer ns, printed as ms with six decimals; means are rounded half to even to
 * a whole ns; other reals have nine significant digits.
 * Limits: METRICS_SAMPLES_MAX samples a band. -1 only for that, for memory, and for samples whose
 * time runs backwards (rule "time_order") or that are of another band than the facts say.
 */
#ifndef TALLY_METRICS_METRICS_H
#define TALLY_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/status.h"
#include "codec/json_write.h"
#include "metrics/client.h"
#include "metrics/names.h"
#include "record/run.h"
#include "record/sample.h"

#define METRICS_VERSION 1
#define METRICS_SAMPLES_MAX ((size_t)4 << 20)

/* What the samples themselves do not say. */
struct metrics_band_facts {
    const char *lane;                            /* must be the samples' own */
    int32_t band, replicate;                     /* likewise */
    int64_t t_open_ns, t_close_ns, t_drained_ns; /* TIME_NONE where never reached */
    bool stream;                                 /* a stream was asked for */
    bool open_loop;                              /* arrivals were planned */
    int64_t unsent;                              /* open loop: planned, never sent */
    bool kernel_time;                            /* an arrival is the kernel's stamp, if any */
    int64_t clock_steps;                         /* of the real clock in the band; COUNT_NONE */
    bool cold;                                   /* cached prompt tokens are unexpected */
    bool injector;                               /* a prompt was to be injected */
    bool asked_cold;                             /* the lane was asked to reuse none */
    enum metrics_source source;                  /* the run's output_count_source */
    enum metrics_assignment
        assignment;                /* the run's token_assignment; ASSIGN_NONE: the band's own */
    int64_t issued_injected;       /* likewise */
    int64_t issued, issued_warmup; /* counted by the loop; COUNT_NONE */
    int64_t slo_ttft_ns, slo_tpot_ns, slo_e2e_ns; /* below 0: not part of --slo */
    struct run_client_load client;
    /* A ramp: the concurrency of each step of the window, and how long one is. ramp_n 0: none. */
    const int32_t *ramp;
    size_t ramp_n;
    int64_t ramp_step_ns;
};

/* From the plan and the band's record: everything above (no SLO, closed loop). */
void metrics_facts_from_run(struct metrics_band_facts *f, const struct run_plan *plan,
                            const struct run_lane *lane, const struct run_band *band);

/* One statistic of a metric in ns; with [lower, upper] bounds, ns is the upper. */
struct metrics_stat {
    enum metrics_reason why; /* REASON_NONE: it is there */
    int64_t ns, lower_ns;
};

struct metrics_metric {
    enum metrics_reason why; /* not REASON_NONE: the metric as a whole is null */
    int64_t n;               /* population: requests, gaps or tokens, as names.h says */
    int64_t censored_n;      /* of these, ranked as infinite */
    double real;             /* METRIC_REAL */
    struct metrics_stat stats[METRICS_STATS]; /* METRIC_TIMES, METRIC_BOUNDS */
    /* One value a request in record order, for intervals: ns, INT64_MAX = infinite. NULL, 0 where
     * the metric is not one of requests or is null. */
    const int64_t *values;
    size_t values_n;
};

struct metrics_counts {
    int64_t issued; /* requests of the window, as the samples show them */
    int64_t outcomes[OUTCOME_COUNT];
    int64_t failures[FAILURE_CLIENT + 1];
    int64_t drained; /* sent in the window, ended at or after its close */
    int64_t start_cohort;
    int64_t retries;      /* attempts that followed another */
    int64_t zero_token;   /* ok without any token */
    int64_t sent_outside; /* phase window, sent before its open or at or after its close */
    int64_t warmup, warmup_not_ok;
    int64_t injected; /* beside the band: in nothing else here */
    bool conserved; /* issued = sum of outcomes = what the loop counted; seq without gap or twin */
};

/* Two readings of output tokens, held against each other over the requests that have both. */
struct metrics_disagreement {
    int64_t n, differ;
    int64_t min, max, sum; /* second less first; 0 when n is 0 */
};

struct metrics_tokens {
    enum metrics_source source;
    enum metrics_assignment assignment;
    int64_t unassigned; /* requests whose arrivals do not add up to the count */
    int64_t total;      /* output tokens of ok requests by `source`; COUNT_NONE */
    struct sample_counts readings[METRICS_SOURCES]; /* sums over ok requests that have them */
    int64_t readings_n[METRICS_SOURCES];
    struct metrics_disagreement reported_observed, reported_retokenized, observed_retokenized;
    int64_t gaps_after_close, tokens_first_arrival; /* left out of itl_ms */
};

/* Smallest, median (nearest rank), largest over the window's requests that have it. */
struct metrics_spread {
    int64_t n, min, median, max;
};

struct metrics_prompt {
    struct str id;
    int64_t body, rendered, reported, cached; /* COUNT_NONE */
    /* What an ok request answered: token ids, or code points where the server names no ids. */
    const uint32_t *output;
    size_t output_n;
    bool output_is_ids;
    struct str digest; /* of its text, as the sample states it; "" */
    int64_t turn;      /* of a conversation, from 1; COUNT_NONE */
};

/* Prompt work of the requests that were the same turn of their conversations. */
#define METRICS_TURNS_MAX 64 /* turns told apart; later ones are in no list */
struct metrics_turn {
    int64_t turn, n, departed;
    struct metrics_spread body, rendered, reported, cached;
};

struct metrics_work {
    struct metrics_spread body, rendered, reported, cached, delta; /* delta: reported - body */
    int64_t cached_requests;                                       /* with cached tokens above 0 */
    /* Of these, with more than the wrapper holds (rendered, or else reported, less body): text that
     * a lane can only know from the same prompt, or a part of it, sent before. */
    int64_t cached_unexplained;
    int64_t departed_requests; /* whose reported count is not the one predicted; a flag only */
    const struct metrics_turn *turns; /* those that there are, ascending */
    size_t turns_n;
    const struct metrics_prompt *prompts; /* one a request of the window, by id */
    size_t prompts_n;
    const struct metrics_prompt *warmup; /* of warm-up, likewise */
    size_t warmup_n;
};

/* The answers, those of warm-up too, held against those of the window of c = 1 to the same prompts
 * (same prompt id). Where texts were left out only their digests are compared. */
struct metrics_agreement {
    enum metrics_reason why;
    int64_t compared, identical;
    int64_t agreed,
        of;           /* tokens (or characters) before the first difference; of so many at c = 1 */
    int64_t earliest; /* the earliest difference, counted from 0; COUNT_NONE without any */
    int64_t by_ids;   /* of compared: by token ids, by_digest by digest, the others by characters */
    int64_t by_digest; /* not among agreed and of */
};

/* The prompt that was injected beside the band, and what the others' gaps were around its prefill,
 * which lasts from its being sent to its first token. */
struct metrics_injector {
    int64_t issued;
    int64_t sent_ns; /* TIME_NONE: none was sent */
    enum sample_outcome outcome;
    int64_t prompt_body, prompt_reported; /* COUNT_NONE */
    int64_t prefill_ns;                   /* COUNT_NONE where it did not end ok */
    int64_t gaps_before, gaps_during;     /* ended before it; overlap it */
    int64_t median_before_ns, largest_ns; /* of the former, of the latter */
};

struct metrics_outputs {
    struct metrics_agreement agreement;
    int64_t degenerate;      /* ok requests whose output is mostly one token over and over */
    int64_t longest_run;     /* longest run of one token (or character, without ids) */
    int64_t checked;         /* ok requests that could be looked at */
    int64_t answers;         /* ok requests of the window whose answer has a digest */
    char sha256[SHA256_HEX]; /* of these, "ID DIGEST\n" each, by id; "" without any */
};

/* What was sent in one step of a ramp, measured as if the step were a window. */
struct metrics_step {
    int32_t c;
    int64_t t_open_ns, t_close_ns;
    int64_t requests, ok;
    struct metrics_metric metrics[METRIC_COUNT]; /* without `values` */
};

struct metrics_band {
    struct metrics_band_facts facts;
    enum status status;          /* PASS, or REFUSED with a reason: what the samples alone decide */
    const char *reason;          /* "conservation", "sent_outside_window", "client_saturated",
                                  * "invalid_correctness"; NULL */
    bool suspect;                /* the SUSPECT flag: any of flags */
    unsigned flags;              /* METRICS_FLAGS of names.h */
    int64_t window_ns, drain_ns; /* COUNT_NONE */
    struct metrics_counts counts;
    struct metrics_metric metrics[METRIC_COUNT];
    struct metrics_tokens tokens;
    struct metrics_work work;
    struct metrics_outputs outputs;
    struct metrics_injector injector;
    struct metrics_client client;
    const struct metrics_step *steps; /* of a ramp, those that the window came to the end of */
    size_t steps_n;
};

/* Bit 1 << source for each that every ok sample gives; all bits where there is no ok sample. */
unsigned metrics_sources(const struct sample *samples, size_t n);
/* The best in the order observed, reported, retokenized; SOURCE_NONE without any. */
enum metrics_source metrics_best_source(unsigned sources);

/* Bit 1 << assignment for each way that every ok sample of several arrivals offers. */
unsigned metrics_ways(const struct sample *samples, size_t n);
/* The best of them; ASSIGN_NONE without any. */
enum metrics_assignment metrics_best_way(unsigned ways);

int metrics_band_compute(const struct sample *samples, size_t n,
                         const struct metrics_band_facts *facts, struct arena *arena,
                         struct metrics_band *out, struct error *err) TALLY_MUST_CHECK;
/* What needs the band of c = 1 of the same lane and replicate (or NULL): scaling_efficiency and the
 * agreement of outputs. */
void metrics_set_base(struct metrics_band *band, const struct metrics_band *base);

void metrics_write_json(const struct metrics_band *m, struct json_writer *w);

#endif
