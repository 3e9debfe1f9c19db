/*
 * A conversation as a server would put it in front of its model: text, its parts, its tokens.
 *
 *     struct chat_rendering r = {0};
 *     if (chat_render(&r, template, profile, &request, err) < 0) ...
 *     if (chat_tokenize(&r, tokenizer, profile, err) < 0) ...
 *     chat_rendering_release(&r);
 *
 * Parts lie side by side and cover the text: what the wrapper wrote, and the content of each
 * message where it stands in it. Content that a template changed beyond trimming it counts as
 * wrapper. Ownership: a rendering owns its text, parts and ids. Limits: the template engine's.
 */
#ifndef TALLY_CHAT_RENDER_H
#define TALLY_CHAT_RENDER_H

#include "chat/conversation.h"
#include "token/tokenizer.h"

enum chat_part_kind { PART_WRAPPER, PART_CONTENT };

struct chat_part {
    enum chat_part_kind kind;
    size_t from, to;    /* bytes of the text */
    size_t message;     /* of PART_CONTENT: its number in the request, from 0 */
    size_t first, last; /* ids [first, last) that begin in it; after chat_tokenize */
};

struct chat_rendering {
    struct buf text;
    struct chat_part *parts;
    size_t parts_n, parts_cap;
    struct token_ids ids; /* with offsets into text */
    size_t added_front;   /* ids that the tokenizer itself put in front (BOS) */
    bool stripped_bos;    /* BOS text stood in the rendering and was taken off */
};

/* template NULL: the profile's own, or none. Replaces what *r held. */
int chat_render(struct chat_rendering *r, const struct chat_template *t,
                const struct chat_profile *p, const struct chat_request *q,
                struct error *err) TALLY_MUST_CHECK;
/* Tokens of the rendering as the server counts them. May take BOS text off the front first. */
int chat_tokenize(struct chat_rendering *r, const struct tokenizer *t, const struct chat_profile *p,
                  struct error *err) TALLY_MUST_CHECK;
/* The id that the tokenizer itself puts in front of a text, and its text (appended); false when it
 * puts none. */
bool chat_bos(const struct tokenizer *t, uint32_t *id, struct buf *text);
void chat_rendering_release(struct chat_rendering *r);

#endif
