/*
 * A lane's wrapper as it stands in the receipt: probed, or declared by rendering on this side.
 *
 *     wrapper_put_json(&w, &(struct wrapper_facts){.source = "probed", .hypothesis = h, ...});
 */
#ifndef TALLY_LOAD_WRAPPER_JSON_H
#define TALLY_LOAD_WRAPPER_JSON_H

#include "chat/hypothesis.h"
#include "codec/json_write.h"

struct wrapper_facts {
    const char *source;                       /* "probed", "declared" */
    const char *status;                       /* "named", "unexplained", "unconfirmed" */
    const struct chat_hypothesis *hypothesis; /* NULL: nothing is known */
    int64_t residue;                          /* COUNT_NONE: not known */
    const struct jinja_time *now;             /* what its template takes for the time; NULL */
    bool raw;                                 /* prompts are sent raw; then: */
    int64_t server_front;                     /* tokens the server puts in front; COUNT_NONE */
    bool front_left_out;                      /* so the prompt's own first one is not sent */
};

void wrapper_put_json(struct json_writer *w, const struct wrapper_facts *f);

#endif
