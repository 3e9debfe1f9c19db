/*
 * From what a request asks to the token ids that the model would see: ChatML, written by hand.
 *
 *     struct wrapped w = {0};
 *     if (wrap(&w, profile, tokenizer, &ask, err) < 0) ...
 *     w.ids.id[0 .. w.ids.n); wrap_release(&w);
 *
 * Where the profile treats special text as plain, the template's own markers are still special
 * tokens; only what stands inside messages is not.
 */
#ifndef TALLY_SIM_WRAP_H
#define TALLY_SIM_WRAP_H

#include "ask.h"
#include "profile.h"

#define WRAP_TEXT_MAX ((size_t)64 << 20)

struct wrapped {
    struct buf text; /* as rendered; empty when the prompt came as ids */
    struct token_ids ids;
};

/* The rendered conversation alone. */
int wrap_render(struct buf *out, const struct profile *p, const struct ask *ask,
                struct error *err) TALLY_MUST_CHECK;
int wrap(struct wrapped *w, const struct profile *p, const struct tokenizer *t,
         const struct ask *ask, struct error *err) TALLY_MUST_CHECK;
void wrap_release(struct wrapped *w);

#endif
