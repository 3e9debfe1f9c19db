/*
 * The options of `tally run` that say how requests come, and what they are held against, as a plan.
 *
 *     if (run_take_load(&plan, args, &given, err) < 0) ...      // ERROR_USAGE names the option
 */
#ifndef TALLY_CLI_RUN_LOAD_H
#define TALLY_CLI_RUN_LOAD_H

#include "cli/run_args.h"

/* Sets the load model with its bands and parameters, and the objective. The plan's other members
 * must be set. */
int run_take_load(struct run_plan *p, const struct run_args *a, const struct option_set *given,
                  struct error *err) TALLY_MUST_CHECK;

/* Reads the trace and makes the run replay it; the tokenizer, which makes its prompts, is open. */
int run_take_trace(struct run_inputs *in, const struct run_args *a, const struct option_set *given,
                   struct error *err) TALLY_MUST_CHECK;

#endif
