/*
 * The options of `tally run`: their table, and what they mean as a plan and lanes.
 *
 *     struct run_args args;  struct run_inputs in = {0};
 *     if (run_inputs_init(&in, &args, given, err) < 0) ...   // reads tokenizer, corpus, secrets
 *     load_prepare(&load, &in.options, err);
 *     run_inputs_release(&in);
 */
#ifndef TALLY_CLI_RUN_ARGS_H
#define TALLY_CLI_RUN_ARGS_H

#include "chat/hypothesis.h"
#include "cli/option.h"
#include "corpus/corpus.h"
#include "load/load.h"
#include "token/tokenizer.h"

#define RUN_SECRET_MAX 8192
#define RUN_PREFIX_MAX 100000 /* tokens */
#define RUN_TEMPLATES_MAX 4

struct run_args {
    struct option_repeated lanes, hosts, builds, binaries, weights, models, bearer_files;
    const char *ca_file;
    bool insecure;
    const char *tokenizer, *reference, *tokenizer_sha256, *count, *special_text;
    const char *corpus, *prompts, *cache, *system, *conversations, *answers;
    int64_t think_ns, shared_prefix;
    const char *protocol, *wire, *as, *kwargs;
    struct option_list bands, rates, speeds, ramp;
    int64_t ramp_step_ns;
    const char *trace, *trace_format;
    int64_t trace_limit;
    const char *arrivals, *slo, *sweep;
    double burstiness, slo_share;
    int64_t arrival_seed, max_in_flight;
    int64_t replicates, window_ns, max_window_ns, min_samples, requests, warmup;
    int64_t quiesce_ns, cooldown_ns, timeout_ns, max_tokens, seed;
    double temperature, max_error_share;
    bool no_ignore_eos, no_stream, no_token_progress, no_probe, inject;
    struct option_repeated templates;
    const char *out, *sign, *ledger, *same_model;
    struct option_list looks;
    bool calibrate, redact_text, dry_run, json, quiet;
    struct option_repeated before_lane, after_lane;
    int64_t lane_timeout_ns;
    int64_t burn_ns, clock_step_ns;
};

extern const struct option run_options[];

struct run_inputs {
    struct load_options options;
    struct tokenizer *tokenizer;
    struct corpus corpus;
    bool has_corpus;
    struct trace trace;
    struct talk talk;
    struct buf prefix; /* the system message that all prompts share */
    struct chat_template *templates[RUN_TEMPLATES_MAX];
    struct chat_named_template named[RUN_TEMPLATES_MAX];
    char secrets[RUN_LANES_MAX][RUN_SECRET_MAX + 1];
    char differs[256]; /* options by which a run of w1 or w2 is none; "" */
};

/* given: the rows of run_options that were stated, on the command line or in the file. */
int run_inputs_init(struct run_inputs *in, const struct run_args *args,
                    const struct option_set *given, struct error *err) TALLY_MUST_CHECK;
/* Only the lanes of args (lanes, models, bearer_files, …) into in->options. */
int run_inputs_lanes(struct run_inputs *in, const struct run_args *args,
                     struct error *err) TALLY_MUST_CHECK;
void run_inputs_release(struct run_inputs *in); /* NULL and zeroed are fine */

#endif
