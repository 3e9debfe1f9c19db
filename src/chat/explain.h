/*
 * Why two renderings of one conversation count differently: causes in words, whose tokens add up
 * to the whole difference, always.
 *
 *     struct chat_explanation x = {0};
 *     struct chat_side a = {"subject", &ra}, b = {"comparator", &rb};
 *     if (chat_explain(&x, &a, &b, tokenizer, request, err) < 0) ...
 *     for (size_t i = 0; i < x.n; i++) ... x.items[i].words
 *     chat_explanation_release(&x);
 *
 * The two are aligned token by token; every stretch that differs is one cause. A difference that
 * no rule names is CAUSE_WRAPPER with its text, so the sum of `tokens` is b's count less a's.
 * Where servers reported counts, chat_explain_rest adds what the predictions do not account for.
 */
#ifndef TALLY_CHAT_EXPLAIN_H
#define TALLY_CHAT_EXPLAIN_H

#include "chat/align.h"
#include "chat/render.h"

/* cause, its name in JSON, what it says */
#define CHAT_CAUSES(X)                                                        \
    X(CAUSE_SYSTEM, "system_message", "a system turn")                        \
    X(CAUSE_BOS, "bos", "a beginning-of-sequence token")                      \
    X(CAUSE_GENERATION, "generation_prompt", "the opening of the answer")     \
    X(CAUSE_THINKING, "thinking", "a thinking block")                         \
    X(CAUSE_DATE, "date", "a date")                                           \
    X(CAUSE_TOOLS, "tools", "the tools' description")                         \
    X(CAUSE_SPECIAL_TEXT, "special_text", "special-token text as plain text") \
    X(CAUSE_WHITESPACE, "whitespace", "white space")                          \
    X(CAUSE_SEAM, "seam", "the same text cut into other tokens")              \
    X(CAUSE_CONTENT, "content", "content that the other has not")             \
    X(CAUSE_WRAPPER, "wrapper", "wrapper text")                               \
    X(CAUSE_TRUNCATION, "truncation", "a prompt cut short")                   \
    X(CAUSE_UNEXPLAINED, "unexplained", "tokens that no rendering accounts for")

enum chat_cause_kind {
#define X(cause, name, says) cause,
    CHAT_CAUSES(X)
#undef X
};

const char *chat_cause_name(enum chat_cause_kind cause);
/* Whether it stands at a place of the renderings; what a server did to the whole does not. */
bool chat_cause_has_hunk(enum chat_cause_kind cause);

struct chat_side {
    const char *name; /* "subject" */
    const struct chat_rendering *rendering;
};

struct chat_cause {
    enum chat_cause_kind kind;
    int64_t tokens;         /* what b has more than a; negative: less */
    struct align_hunk hunk; /* ids of both renderings */
    char *words;            /* "comparator adds a system turn, 21 tokens: \"…\"" */
};

struct chat_explanation {
    struct chat_cause *items;
    size_t n, cap;
    int64_t delta; /* b's count less a's; the sum of all tokens */
};

int chat_explain(struct chat_explanation *x, const struct chat_side *a, const struct chat_side *b,
                 const struct tokenizer *t, const struct chat_request *q,
                 struct error *err) TALLY_MUST_CHECK;
/* One side's server cut the prompt: `reached` of `rendered` tokens came to its model. */
int chat_explain_cut(struct chat_explanation *x, const struct chat_side *side, bool is_b,
                     int64_t reached, struct error *err) TALLY_MUST_CHECK;
/* The servers' own difference: what is not explained becomes a cause, and delta is reported_delta
 * afterwards. */
int chat_explain_rest(struct chat_explanation *x, int64_t reported_delta,
                      struct error *err) TALLY_MUST_CHECK;
void chat_explanation_release(struct chat_explanation *x);

#endif
