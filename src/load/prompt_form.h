/*
 * How a prompt that is rendered here can be put to every lane: as token ids, or as text where a
 * server takes no ids; one way for all. Found out with one token of output a question.
 *
 *     if (prompt_form_settle(lanes, n, &plan, &config, err) < 0) ...
 *
 * Sets plan.prompt_form, each lane's form, protocol and wrapper record. A server without
 * /v1/completions is asked over llama.cpp's own /completion. A BOS that a server adds to one which
 * the rendering has already is seen by its count: then ours is left out for that lane. What departs
 * from our count all the same is told, and recorded as the wrapper's residue.
 * Errors are ERROR_ENVIRONMENT: a lane takes a raw prompt in no way.
 */
#ifndef TALLY_LOAD_PROMPT_FORM_H
#define TALLY_LOAD_PROMPT_FORM_H

#include "load/preflight.h"
#include "load/rendering.h"

int prompt_form_settle(struct load_lane *lanes, size_t n, struct run_plan *plan,
                       const struct preflight_config *config, struct error *err) TALLY_MUST_CHECK;

#endif
