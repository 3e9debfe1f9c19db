/* Private to wire: what OpenAI's two completion protocols have in common. */
#ifndef TALLY_WIRE_OPENAI_H
#define TALLY_WIRE_OPENAI_H

#include "wire/events.h"

/* stream, stream_options, the sampling members, extra members, and the object's end. */
int openai_build_rest(const struct wire_ask *ask, struct json_writer *w,
                      struct error *err) TALLY_MUST_CHECK;

/* What one choice said, piece by piece; then events_of_choice turns it into events. */
struct openai_choice {
    const struct json *choice; /* finish_reason, logprobs, token_ids, index */
    bool role;
    struct str reasoning, text, tool;
};

void openai_add_choice(struct wire_events *out, const struct openai_choice *c);
/* usage and timings of the document, put on the last event since `first`; an EVENT_EMPTY when
 * the document said nothing at all. */
void openai_add_rest(struct wire_events *out, size_t first, const struct json *doc);
/* The choices array; -1 when the document has neither choices nor usage. */
int openai_choices(const struct json **choices, const struct json *doc,
                   struct error *err) TALLY_MUST_CHECK;

#endif
