/*
 * What each server does around a chat template, as one table that a person can read and correct.
 *
 *     const struct chat_profile *p = chat_profile_find("llama-server");
 *
 * The table is profile.c. Facts come from the servers' sources and from what they answered.
 */
#ifndef TALLY_CHAT_PROFILE_H
#define TALLY_CHAT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "jinja/jinja.h"

enum chat_when_absent { ABSENT_UNDEFINED, ABSENT_NONE };
enum chat_null_content { NULL_KEPT, NULL_IS_EMPTY };
enum chat_parts { PARTS_KEPT, PARTS_JOINED, PARTS_BY_TEMPLATE };
enum chat_arguments { ARGUMENTS_KEPT, ARGUMENTS_PARSED };
enum chat_tools {
    TOOLS_KEPT,
    TOOLS_DESCRIBED_EMPTY, /* {type, function {name, description, parameters}}; "" where missing */
    TOOLS_DESCRIBED_NULL,  /* the same, null where missing */
    TOOLS_DESCRIPTION_FIRST, /* function {description, name, parameters, strict} */
};
enum chat_thinking { THINKING_UNSET, THINKING_ON_IF_READ, THINKING_OFF };
enum chat_last_assistant { LAST_KEPT, LAST_PREFILLED, LAST_AS_USER };
enum chat_markup { MARKUP_KEPT, MARKUP_DEFUSED }; /* "<|" in content: '<' U+200B '|' */

struct chat_profile {
    const char *name, *summary;
    bool raw;             /* no template: the messages' contents alone */
    const char *built_in; /* the server's own template; NULL: the one that is given */
    struct jinja_syntax syntax;
    enum chat_when_absent tools_absent; /* tools when the request has none */
    bool documents;                     /* documents = None is defined */
    bool generation_prompt_always;      /* add_generation_prompt is defined when false too */
    bool special_tokens;                /* bos_token and its like are given */
    bool only_role_and_content;         /* messages are cut down to these */
    bool developer_is_system;
    bool dates; /* date_string and datetime are given */
    enum chat_null_content null_content;
    enum chat_parts parts;
    enum chat_arguments arguments;
    enum chat_tools tools;
    enum chat_thinking thinking;
    enum chat_last_assistant last_assistant;
    enum chat_markup markup;
    bool adds_special;  /* the tokenizer's own BOS is added; its text is stripped first */
    bool plain_content; /* special-token text inside content is not parsed as one */
};

/* NULL when there is none of that name (or no name). */
const struct chat_profile *chat_profile_find(const char *name);
/* The i-th; NULL past the last. */
const struct chat_profile *chat_profile_at(size_t i);
/* "transformers|llama-server|…", for option tables and messages. */
#define CHAT_PROFILE_NAMES "transformers|llama-server|vllm|sglang|tgi|apr|apr-template|none"

#endif
