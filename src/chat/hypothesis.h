/*
 * What a server may be doing with a conversation, as predictions that its counts can refute.
 *
 *     size_t n = chat_hypotheses(h, CHAT_HYPOTHESES_MAX, templates, templates_n);
 *     if (chat_predict(&h[i], &request, tokenizer, &rendering, err) < 0) ...
 *
 * A hypothesis is a profile × a template × a default system message × special text parsed or
 * plain × the tokenizer's own BOS added or not. They come with the plainest first: a server does
 * as its profile says unless its counts say otherwise. A wrapper is named only by a hypothesis
 * that predicts every shape exactly.
 */
#ifndef TALLY_CHAT_HYPOTHESIS_H
#define TALLY_CHAT_HYPOTHESIS_H

#include "chat/render.h"

#define CHAT_HYPOTHESES_MAX 256
#define CHAT_HYPOTHESIS_NAME 160

struct chat_hypothesis {
    struct chat_profile profile; /* with the departures applied */
    const struct chat_template *template;
    const char *system;              /* put in front where the conversation has none; NULL */
    int departures;                  /* from the profile as it stands in the table */
    char name[CHAT_HYPOTHESIS_NAME]; /* "llama-server, template 1, content as plain text" */
};

struct chat_named_template {
    const char *name; /* in hypotheses' names: "subject's", "model.gguf" */
    const struct chat_template *template;
};

size_t chat_hypotheses(struct chat_hypothesis *out, size_t max,
                       const struct chat_named_template *templates, size_t n);
/* Rendering and tokens under the hypothesis; -1 also where the template refuses. */
int chat_predict(const struct chat_hypothesis *h, const struct chat_request *q,
                 const struct tokenizer *t, struct chat_rendering *out,
                 struct error *err) TALLY_MUST_CHECK;

#endif
