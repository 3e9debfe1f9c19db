/*
 * The conversations that a probe asks a server to count: few, short, and each telling something.
 *
 *     struct chat_shapes s;
 *     if (chat_shapes_make(&s, tokenizer, first_prompt, &arena, err) < 0) ...
 *     s.items[i].request.messages ...
 *
 * Ownership: all in the arena. Requests open the assistant's turn and carry no time: set now.
 */
#ifndef TALLY_CHAT_SHAPES_H
#define TALLY_CHAT_SHAPES_H

#include "chat/conversation.h"
#include "token/tokenizer.h"

#define CHAT_SHAPES_MAX 12
#define CHAT_SHAPE_WORKLOAD "workload" /* its name */

struct chat_shape {
    const char *name;  /* "short", "special_text", … */
    const char *tells; /* what it is there for */
    struct chat_request request;
    struct str body; /* the last user message's text */
};
struct chat_shapes {
    struct chat_shape items[CHAT_SHAPES_MAX];
    size_t n;
};

/* prompt: the workload's own first one; {NULL, 0} when there is none. tokenizer may be NULL, then
 * the special-token shape uses ChatML's strings. */
int chat_shapes_make(struct chat_shapes *out, const struct tokenizer *t, struct str prompt,
                     struct arena *a, struct error *err) TALLY_MUST_CHECK;

#endif
