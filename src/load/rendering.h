/*
 * --wire completions: one template, rendered on this side, and what every lane is sent of it.
 *
 *     struct load_rendering *x;
 *     if (rendering_open(&x, &options, err) < 0) ...     // completes options.plan
 *     struct load_raw raw = {0};
 *     if (rendering_put(lane, prompt, &raw, &ask, err) < 0) ...
 *     load_raw_release(&raw); rendering_close(x);
 *
 * The token ids are the same for every lane. Where a server puts a BOS in front by itself and the
 * rendering begins with one, that one is left out for it, so that its model sees it once.
 * Ownership: templates, tokenizer and texts of the options are borrowed; the plan borrows from the
 * rendering. Threads: many may render at once.
 */
#ifndef TALLY_LOAD_RENDERING_H
#define TALLY_LOAD_RENDERING_H

#include "chat/prompt.h"
#include "load/lane.h"

struct load_options;
struct load_rendering;

/* *out is NULL on the wire "chat". Errors are ERROR_USAGE: no template, more than one, no object.
 */
int rendering_open(struct load_rendering **out, struct load_options *options,
                   struct error *err) TALLY_MUST_CHECK;
void rendering_close(struct load_rendering *x); /* NULL is fine */

/* One prompt as a lane is sent it; must outlive the ask that points into it. */
struct load_raw {
    struct chat_rendering rendering;
    struct buf text;     /* what is sent as text */
    int64_t sent, count; /* tokens sent, and what the lane makes of them; COUNT_NONE */
};

int rendering_put(const struct load_rendering *x, const struct load_form *form, struct str prompt,
                  struct load_raw *raw, struct wire_ask *ask, struct error *err) TALLY_MUST_CHECK;
void load_raw_release(struct load_raw *raw);
/* Whether the rendering begins with the tokenizer's own BOS. */
bool rendering_has_front(const struct load_rendering *x, const struct load_raw *raw);
/* Tokens of the rendered text if no special token in it were parsed as one; COUNT_NONE. */
int64_t rendering_plain_count(const struct load_rendering *x, const struct load_raw *raw);
const struct chat_hypothesis *rendering_hypothesis(const struct load_rendering *x);
const struct jinja_time *rendering_now(const struct load_rendering *x);
bool rendering_counts(const struct load_rendering *x); /* there is a tokenizer */

#endif
