/*
 * Each prompt behind its lane's wrapper once more: what prompt_rendered is held against.
 *
 *     struct rendered *r;
 *     if (rendered_open(&r, work, tokenizer, err) < 0) ...
 *     if (rendered_count(r, lane, prompt, &count, err) < 0) ...   // COUNT_NONE: cannot be told
 *     rendered_conclude(r); rendered_close(r);
 *
 * Templates come from the options, the tokenizer's file, and what a server showed of its own in the
 * receipt; each is taken only when it has the digest that the receipt states.
 */
#ifndef TALLY_VERIFY_RENDERED_H
#define TALLY_VERIFY_RENDERED_H

#include "token/tokenizer.h"
#include "verify/note.h"

struct rendered;

int rendered_open(struct rendered **out, struct verify_work *w, const struct tokenizer *t,
                  struct error *err) TALLY_MUST_CHECK;
/* Looks at one sample's prompt_rendered; `at` is where it stands. */
int rendered_check(struct rendered *r, size_t lane, const struct sample *s, struct str prompt,
                   const struct verify_place *at, struct error *err) TALLY_MUST_CHECK;
void rendered_conclude(struct rendered *r);
void rendered_close(struct rendered *r); /* NULL is fine */

#endif
