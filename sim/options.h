/*
 * The command line of tally-sim: one table of options, which yields parsing, help and suggestions.
 *
 *     struct sim_options o;
 *     if (options_parse(&o, argc, argv, err) < 0) ...        // ERROR_USAGE, with a remedy
 *     if (o.help) options_help(stdout);
 *
 * Strings are borrowed from argv. What --help shows as a default is parsed by the same code as what
 * is typed.
 */
#ifndef TALLY_SIM_OPTIONS_H
#define TALLY_SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "fault.h"

struct sim_options {
    const char *profile, *tokenizer, *reference, *unix_path, *model;
    int64_t port;

    int64_t slots, prefill_chunk, context;
    double prefill_tok_s, jitter;
    int64_t decode_base_ns, decode_per_seq_ns;
    const char *batching;
    int64_t seed, natural_tokens, tokens_per_chunk, reasoning;
    bool tool_call;
    const char *text;

    int64_t loading_ns;

    bool null, stamp, no_spread;
    double rate;
    int64_t first_ns;
    const char *log_times;

    struct fault_plan faults;
    bool help, version;
};

int options_parse(struct sim_options *o, int argc, char **argv, struct error *err) TALLY_MUST_CHECK;
void options_help(struct buf *out);

#endif
