/*
 * What a run's plan says of its workload: which lengths of prompt and answer it promises.
 *
 *     struct run_plan plan;   run_plan_w2(&plan);
 *     if (!run_plan_has_length(&plan, prompt_tokens)) ...     // outside of what the corpus
 * promises
 *
 * Pure; nothing is owned.
 */
#ifndef TALLY_RECORD_WORKLOAD_H
#define TALLY_RECORD_WORKLOAD_H

#include "record/run.h"

/* The preset "w2", the ragged mixture: as w1, but prompts of four lengths (+- 8) and answers of
 * three, each prompt saying its own. */
void run_plan_w2(struct run_plan *p);
/* Whether so many tokens of prompt are what the corpus promises; true where it promises none. */
bool run_plan_has_length(const struct run_plan *p, int64_t tokens);
/* Whether one request may ask for so many: what is declared for all, or for any of a mixture. */
bool run_plan_has_answer(const struct run_plan *p, int64_t max_tokens);
/* "512 +- 8", "128, 512, 2048 or 8192 +- 8": what the corpus promises; "" where it promises none.
 * Cut to fit. */
#define RUN_LENGTHS_TEXT 240
void run_plan_lengths(const struct run_plan *p, char out[RUN_LENGTHS_TEXT]);
/* What the lane was in fact asked about cached prompts: the plan's policy, or "unspecified" where
 * the server refused to be asked. */
const char *run_lane_cache(const struct run_plan *p, const struct run_lane *lane);

#endif
