/*
 * What is asked of a lane before the clock starts: is it there, which model does it serve, what
 * does it say of itself, and one real completion, exactly as the run will ask for them.
 *
 *     if (preflight_identify(&lane, &config, err) < 0) ...   // fills lane.record
 *     if (preflight_complete(&lane, &config, err) < 0) ...   // fills lane.first
 *
 * A parameter that the server refuses (ignore_eos, stream_options, cache_prompt) is left out from
 * then on and recorded. A server that is still loading (503 from /health) is waited for. Errors are
 * ERROR_ENVIRONMENT (no server, not such a server) or ERROR_USAGE (which model?).
 */
#ifndef TALLY_LOAD_PREFLIGHT_H
#define TALLY_LOAD_PREFLIGHT_H

#include "load/lane.h"
#include "load/progress.h"
#include "load/prompts.h"
#include "token/tokenizer.h"

#define PREFLIGHT_LOADING_NS (600 * INT64_C(1000000000)) /* a server may load for so long */

#define PREFLIGHT_SAID_MAX 160

struct preflight_config {
    const struct corpus *corpus;
    const struct corpus_counter *counter; /* NULL */
    const struct tokenizer *tokenizer;    /* NULL */
    const struct load_progress *progress; /* NULL */
    /* Called before lane i is talked to, where several are in one go; -1 ends it. NULL. */
    int (*enter)(void *ctx, size_t lane, struct error *err);
    void *enter_ctx;
};

int preflight_identify(struct load_lane *lane, const struct preflight_config *config,
                       struct error *err) TALLY_MUST_CHECK;
/* With --wire completions, after prompt_form_settle. */
int preflight_complete(struct load_lane *lane, const struct preflight_config *config,
                       struct error *err) TALLY_MUST_CHECK;

/* What a server said that is not what was asked for, cut to a line. */
void preflight_said(struct str body, char out[PREFLIGHT_SAID_MAX]);

#endif
