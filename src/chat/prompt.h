/*
 * A prompt rendered by this client instead of by a server: the text and the token ids that a raw
 * completion is asked with.
 *
 *     const struct chat_prompter p = {.hypothesis = h, .tokenizer = t, .now = &now};
 *     struct chat_rendering r = {0};
 *     if (chat_prompt(&p, prompt, &r, err) < 0) ...
 *     if (chat_prompt_front(&p, &r, &front)) ...   // begins with the tokenizer's own BOS
 *     chat_rendering_release(&r);
 *
 * Ownership: all that a prompter points to is borrowed; many threads may share one.
 * Limits: the template engine's.
 */
#ifndef TALLY_CHAT_PROMPT_H
#define TALLY_CHAT_PROMPT_H

#include "chat/hypothesis.h"

struct chat_prompter {
    const struct chat_hypothesis *hypothesis;
    const struct tokenizer *tokenizer; /* NULL: text alone */
    const char *system;                /* a system message in front; NULL */
    const struct json *kwargs;         /* an object of further variables; NULL */
    const struct jinja_time *now;
};

/* Replaces what *out held: text, and ids where there is a tokenizer. */
int chat_prompt(const struct chat_prompter *p, struct str prompt, struct chat_rendering *out,
                struct error *err) TALLY_MUST_CHECK;
/* The same for a conversation: a list of messages. */
int chat_prompt_messages(const struct chat_prompter *p, const struct json *messages,
                         struct chat_rendering *out, struct error *err) TALLY_MUST_CHECK;
/* Whether the rendering begins with the id that the tokenizer itself puts in front of a text; its
 * spelling is appended to *spelling. */
bool chat_prompt_front(const struct chat_prompter *p, const struct chat_rendering *r,
                       struct buf *spelling);

#endif
