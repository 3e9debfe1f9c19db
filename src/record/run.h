/*
 * What a run declares before it starts, and what each band did: plain records. load fills them,
 * receipt writes them and reads them back, verify and report look at them.
 *
 *     struct run_plan plan;   run_plan_init(&plan);
 *     struct run_record run = {.plan = plan, .lanes = lanes, .lanes_n = 2, .bands = bands, ...};
 *
 * Durations and times are int64_t nanoseconds; times count from the run's zero as in sample.h.
 * Strings are borrowed; a NULL char pointer is "not stated" and stands in a receipt as null.
 */
#ifndef TALLY_RECORD_RUN_H
#define TALLY_RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "record/mixture.h"
#include "record/sample.h"
#include "stats/arrivals.h"

#define RUN_LANES_MAX 2
#define RUN_BANDS_MAX 64
#define RUN_REPLICATES_MAX 1000
#define RUN_RAMP_MAX 64
#define RUN_BAND_MAX 100000000 /* a band's number: a concurrency, or a rate in thousandths */
#define RUN_NONCE_HEX 33
/* Nothing is handed over so shortly before a window may close; an open loop plans nothing there. */
#define RUN_CLOSE_GUARD_NS INT64_C(2000000)
#define RUN_SEARCH_BISECT "bracket_bisect"

enum count_method { COUNT_UNSET = 0, COUNT_CLIENT_TOKENIZER, COUNT_SERVER_USAGE };

struct run_plan {
    char nonce[RUN_NONCE_HEX]; /* 128 random bits */
    const char *protocol;      /* "w1", "w2" or "custom" */
    int64_t t_zero_mono_ns, t_zero_real_ns;

    int32_t bands[RUN_BANDS_MAX];
    size_t bands_n;
    int32_t replicates;
    int64_t window_ns, max_window_ns;
    int64_t min_samples; /* 0: max(30, 8c) */
    int64_t requests;    /* 0: bounded by the window; else replaces both bounds */
    int32_t warmup;      /* requests a worker */
    int64_t quiesce_ns, cooldown_ns, timeout_ns;
    double max_error_share;
    /* "longest": at half of the window one longest prompt is sent beside the band; NULL: none */
    const char *injector;

    /* What decides when a request is sent, and what a band's number is: "closed", c workers of
     * which each sends when its last request has ended (a band is c); "open", planned arrivals (a
     * band is a rate, in thousandths of a request a second); "trace", the arrivals and lengths of a
     * recorded trace (a band is how many times as fast they are replayed, in thousandths);
     * "ramp", a closed loop that rises. */
    const char *load_model;
    /* ramp: a closed loop whose concurrency rises as the window goes on, step by step; the one band
     * is the last step's. */
    int32_t ramp[RUN_RAMP_MAX];
    size_t ramp_n;         /* 0: no ramp */
    int64_t ramp_step_ns;  /* whole seconds; 0: no ramp */
    const char *arrivals;  /* open: "constant", "poisson", "gamma" (stats/arrivals.h); else NULL */
    double burstiness;     /* of gamma arrivals; below 0: of no meaning */
    int64_t arrival_seed;  /* of drawn arrivals; COUNT_NONE: none are drawn */
    int64_t max_in_flight; /* open: arrivals past so many in flight wait; 0: no cap */
    /* --slo: what a request must keep to; COUNT_NONE where it is not part of it. */
    int64_t slo_ttft_ns, slo_tpot_ns, slo_e2e_ns;
    /* A sweep: the bands are the points of a search for the highest rate at which a share of
     * slo_share of the requests meets the objective; only those that it probes are measured. */
    /* trace: its form (corpus/trace.h), and how long it lasts as recorded. The corpus of such a run
     * is the trace's file, plan.requests how many of its requests are replayed. */
    const char *trace_format;
    int64_t trace_span_ns; /* COUNT_NONE: no trace */
    const char *search;    /* "bracket_bisect" (stats/search.h); NULL: no sweep */
    double slo_share;      /* below 0: no sweep */
    const char *wire;      /* "chat" or "completions" */
    /* How a prompt is put: "messages"; on the wire "completions", where this client renders it,
     * "ids" or "text", the same for all lanes. The members that follow are then the rendering's. */
    const char *prompt_form;
    const char *template_profile; /* whose handling is followed: "transformers" …; NULL */
    const char *template_path;    /* name of the template's file; NULL */
    char template_sha256[SHA256_HEX];
    const char *template_kwargs; /* further variables: one JSON object; NULL */
    const char *template_now;    /* what templates take for the time: 2026-12-01T09:30:00Z; NULL */
    bool stream;
    int64_t max_tokens; /* COUNT_NONE: each prompt says its own */
    double temperature;
    int64_t seed;
    bool ignore_eos;
    bool token_progress;   /* every chunk is asked to say how many tokens there are so far */
    const char *system;    /* system message given explicitly; NULL */
    int64_t shared_prefix; /* tokens of the system message, drawn to be shared; 0: none is */
    /* Conversations: what becomes part of the next prompt, "live" answers or the "recorded" ones;
     * NULL: prompts stand alone. Between an answer and the next turn a worker thinks. */
    const char *answers;
    int64_t think_ns;
    const char *prompt_policy; /* "unique" */
    /* "cold": the server is asked not to reuse a cached prompt; "unspecified": nothing is asked;
     * "friendly": the workload repeats itself, so cached tokens are expected */
    const char *cache_policy;
    const char *time_source; /* "user" or "kernel" */
    bool connection_reuse;
    bool redact_text; /* texts are left out of the samples */
    int64_t retries;

    enum count_method method;
    const char *special_text;        /* "parsed" or "plain" */
    const char *output_count_source; /* "observed", "reported", "retokenized"; NULL until known */
    const char *token_assignment; /* "ids", "cumulative_usage" …: one for all; NULL until known */
    const char *tokenizer_path;   /* NULL with COUNT_SERVER_USAGE */
    const char *tokenizer_reference;   /* "huggingface" or "llama.cpp" */
    char tokenizer_sha256[SHA256_HEX]; /* "" where there is none */
    char vocabulary_sha256[SHA256_HEX];
    char pipeline_sha256[SHA256_HEX];

    const char *corpus_path;
    char corpus_sha256[SHA256_HEX];
    const char *same_model; /* the lanes are declared to serve this one model; NULL */
    int64_t corpus_count, corpus_tokens, corpus_tolerance; /* COUNT_NONE where not promised */
    struct mixture corpus_mixture, corpus_outputs;         /* n = 0 where not promised */
};

struct run_lane {
    const char *role; /* "subject" or "comparator"; also the lane's name in samples */
    const char *url;  /* without user info */
    const char *host; /* declared label of the machine it runs on; NULL */
    const char *model;
    const char *path;            /* that its requests go to: "/v1/chat/completions"; NULL */
    const char *build;           /* as declared, or NULL */
    const char *build_sha256;    /* digest of the local binary, or NULL */
    const char *weights_sha256;  /* of the model's file, where it is known; NULL */
    const char *reported_json;   /* identity as reported: one JSON value, verbatim; NULL */
    bool ignore_eos_refused;     /* the server refused the parameter; it was left out */
    bool cache_policy_refused;   /* the server refused to be asked not to reuse a cached prompt */
    bool token_progress_refused; /* the server refused to be asked for it */
    bool stream_usage_refused;   /* the server refused stream_options */
    const char *wrapper_json;    /* probed or declared wrapper: one JSON value; NULL */
};

/* What the client itself cost and how late it was; filled from clocks, not from samples. */
struct run_client_load {
    int64_t loop_cpu_ns, parser_cpu_ns, wall_ns; /* over the band; COUNT_NONE */
    int64_t run_queue_wait_ns;                   /* of the timing thread; COUNT_NONE */
    int64_t loop_lag_p50_ns, loop_lag_p99_ns, loop_lag_max_ns; /* COUNT_NONE */
};

/* What the clocks did over a band. Members are COUNT_NONE, INT64_MIN or NULL where nobody said. */
struct run_clock {
    const char *source;      /* the kernel's clock source */
    int64_t adjtimex_status; /* its STA_* bits at the band's end */
    int64_t frequency_ppb;   /* by which adjtimex corrects the clock */
    int64_t slew_ppb;        /* how much faster the monotonic clock ran than the raw one */
    int64_t steps;           /* of the real clock against the monotonic one */
    int64_t largest_step_ns; /* with its sign; TIME_NONE without any */
    int64_t error_ns;        /* worst half-width of the map between the two */
};

/* What only the server can know of a band, taken from its own endpoints as they were kept. Members
 * are COUNT_NONE, INT64_MIN, negative or NULL where it did not say. */
struct run_server {
    const char *file; /* within the run directory: what it said, verbatim; NULL: it was not asked */
    char sha256[SHA256_HEX]; /* of the file; "" */
    int64_t slots;           /* requests that it works on at once */
    int64_t in_flight_max;
    int64_t preemptions, prompt_tokens, output_tokens; /* over the band, by its own counters */
    double kv_use_before, kv_use_after;                /* share of the KV cache in use */
    int64_t gpu_layers_requested, gpu_layers_resolved;
    double gpu_memory_share; /* of the model */
};

struct run_band {
    size_t lane; /* index into lanes */
    int32_t band, replicate;
    int64_t t_start_ns, t_open_ns, t_close_ns, t_drained_ns; /* TIME_NONE where never reached */
    enum status status; /* PASS: measured; INCOMPLETE, UNMEASURED, REFUSED with a reason */
    const char *reason; /* "failing", "max_window", "interrupted", "warmup_failed" …; NULL */
    const char *detail; /* a sentence with what was seen; NULL */
    /* Requests of the window (retries included), and of warm-up, counted by the loop as it issued
     * them: what the samples are held against. COUNT_NONE where it was not counted. */
    int64_t issued, issued_warmup, issued_injected;
    int64_t planned; /* open: arrivals of the window, sent or not; 0 in a closed loop */
    struct run_client_load client;
    struct run_clock clock;
    struct run_server server;
    const char *sample_file;        /* name within the run directory */
    char sample_sha256[SHA256_HEX]; /* of the stored bytes */
};

/* A command that started or stopped a lane's server, as it was run. */
struct run_command {
    const char *when; /* "before_lane", "after_lane" */
    const char *lane; /* its role */
    const char *command;
    int64_t t_ns, took_ns;
    int64_t exit_code, signal; /* INT64_MIN: ended by a signal; by itself */
    bool timed_out;
    const char *output; /* the last of what it printed; NULL: nothing */
};

/* The floor of the client, measured before the first band. */
struct run_calibration {
    const char *file;        /* its samples, within the run directory; NULL: none was measured */
    char sha256[SHA256_HEX]; /* of the stored bytes */
    int64_t streams, tokens; /* at once; of each */
    double rate;             /* tokens a second of each stream */
    struct run_client_load client;
};

struct run_record {
    struct run_plan plan;
    const struct run_lane *lanes;
    size_t lanes_n;
    const struct run_band *bands;
    size_t bands_n;
    const struct run_command *commands; /* in the order in which they were run */
    size_t commands_n;
    struct run_calibration calibration;
    int64_t t_start_real_ns, t_end_real_ns;
    bool interrupted;
    const char *const *argv; /* command line with secrets taken out */
    size_t argc;
};

/* Whether the server said that it works on fewer requests at once than the band sends. */
bool run_band_is_capped(const struct run_plan *p, const struct run_band *b);
#define RUN_ADMISSION_CAPPED "admission_capped" /* the reason of such a band */

void run_plan_init(struct run_plan *p); /* every default of spec section 5 */
/* The preset "w1": 512 +- 8 prompt tokens, 128 generated, greedy, ignore_eos, 5 replicates,
 * quiesce 5 s. */
void run_plan_w1(struct run_plan *p);
/* Requests that must have ended before the window of a band may close: max(30, 8c) in a closed
 * loop, 30 in an open one, unless declared; none in a ramp, which lasts as long as its steps. */
int64_t run_plan_min_samples(const struct run_plan *p, int32_t band);
bool run_plan_is_open(const struct run_plan *p); /* requests are planned: a rate's, or a trace's */
bool run_plan_is_trace(const struct run_plan *p);
/* The arrivals of one phase of an open band, from that phase's beginning: drawn from the seed
 * "SEED/arrivals/bBAND/rREPLICATE/PHASE", the same for every lane. Not of a trace. The plan passed
 * run_plan_check_load. */
void run_plan_arrivals(const struct run_plan *p, int32_t band, int32_t replicate,
                       enum sample_phase phase, struct arrivals *out);
/* That the load model is known and its parameters and bands are within range: ERROR_REFUSED. */
int run_plan_check_load(const struct run_plan *p, struct error *err) TALLY_MUST_CHECK;

/* What a band is called in text: "c = 4", "2.5 req/s", "speed 2". */
#define RUN_BAND_NAME_MAX 32
void run_band_name(char out[RUN_BAND_NAME_MAX], const struct run_plan *p, int32_t band);
/* Its number alone: "4", "2.5". */
void run_band_number(char out[RUN_BAND_NAME_MAX], const struct run_plan *p, int32_t band);

#endif
