/*
 * What stands around a lane's prompts, as a receipt tells it, and read back so that a prompt can be
 * rendered again: probed, or declared by rendering on this side.
 *
 *     chat_wrapper_put(&w, &(struct chat_wrapper){.source = "probed", .hypothesis = h, ...});
 *     struct chat_wrapper_read again;
 *     if (chat_wrapper_read(&again, doc, &arena, err) < 0) ...
 *     again.hypothesis.template = the one whose digest is again.template_sha256
 *
 * Ownership: what is put is borrowed; texts of what is read live in the arena.
 */
#ifndef TALLY_CHAT_WRAPPER_H
#define TALLY_CHAT_WRAPPER_H

#include "chat/hypothesis.h"
#include "codec/json_write.h"

struct chat_wrapper {
    const char *source;                       /* "probed", "declared" */
    const char *status;                       /* "named", "unexplained", "unconfirmed" */
    const struct chat_hypothesis *hypothesis; /* NULL: nothing is known */
    int64_t residue;                          /* COUNT_NONE: not known */
    const struct jinja_time *now;             /* what its template takes for the time; NULL */
    bool raw;                                 /* prompts are sent raw; then: */
    int64_t server_front;                     /* tokens the server puts in front; COUNT_NONE */
    bool front_left_out;                      /* so the prompt's own first one is not sent */
};

void chat_wrapper_put(struct json_writer *w, const struct chat_wrapper *x);

struct chat_wrapper_read {
    bool predicts; /* "named": its counts were shown to be exact; else the rest is unset */
    struct chat_hypothesis hypothesis;
    char template_sha256[SHA256_HEX]; /* "": it needs no template from outside */
    struct jinja_time now;
    bool has_now;
    int64_t added; /* tokens beyond the rendering's ids: the server's own, less ours left out */
};

/* Errors are ERROR_REFUSED: no such wrapper was ever written. */
int chat_wrapper_read(struct chat_wrapper_read *out, const struct json *doc, struct arena *arena,
                      struct error *err) TALLY_MUST_CHECK;

#endif
