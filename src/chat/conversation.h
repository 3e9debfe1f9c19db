/*
 * A conversation as a client sends it, and the template context that a server makes of it.
 *
 *     struct chat_request q = {.messages = doc, .add_generation_prompt = true};
 *     struct jinja_value ctx;
 *     if (chat_context(&ctx, &q, profile, template, &arena, err) < 0) ...
 *
 * Ownership: JSON is borrowed and must outlive the context, which lives in the arena.
 */
#ifndef TALLY_CHAT_CONVERSATION_H
#define TALLY_CHAT_CONVERSATION_H

#include "chat/profile.h"
#include "chat/template_file.h"
#include "codec/json.h"

struct chat_request {
    const struct json *messages; /* an array of {role, content, …} */
    const struct json *tools;    /* an array; NULL when there are none */
    const struct json *kwargs;   /* an object of further variables; NULL */
    const char *system;          /* a system message to put in front; NULL */
    bool add_generation_prompt;
    const struct jinja_time *now;
};

/* The messages as the server's template will see them: a list of dicts. *prefill is the text of a
 * trailing assistant message that the server appends behind the rendering ("" when none). */
int chat_messages(struct jinja_value *out, struct str *prefill, const struct chat_request *q,
                  const struct chat_profile *p, const struct chat_template *t, struct arena *a,
                  struct error *err) TALLY_MUST_CHECK;
/* Everything that the template can read. messages comes from chat_messages. */
int chat_context(struct jinja_value *out, struct jinja_value messages, bool prefilled,
                 const struct chat_request *q, const struct chat_profile *p,
                 const struct chat_template *t, struct arena *a,
                 struct error *err) TALLY_MUST_CHECK;
/* What stands in a message's content as one text: the string, or its text parts by newlines. */
int chat_content_text(struct str *out, const struct json *content, struct arena *a,
                      struct error *err) TALLY_MUST_CHECK;
/* -1 with ERROR_INPUT unless messages is a list of objects with a role. */
int chat_check_messages(const struct json *messages, struct error *err) TALLY_MUST_CHECK;

#endif
