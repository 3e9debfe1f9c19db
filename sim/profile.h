/*
 * The servers that can be played, as data.
 *
 *     const struct profile *p = profile_find("llama-server");   // NULL: no such profile
 *     if (p->stream_usage && ask->include_usage) ...
 */
#ifndef TALLY_SIM_PROFILE_H
#define TALLY_SIM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "token/tokenizer.h"

enum role_chunk {
    ROLE_WITH_FIRST = 0, /* in one HTTP chunk with the first token */
    ROLE_AT_START,       /* a chunk of its own, as soon as the request is accepted */
    ROLE_IN_EACH,        /* every delta repeats it; no chunk of its own */
};

enum dialect { DIALECT_LLAMA = 0, DIALECT_OPENAI, DIALECT_OLLAMA };

struct profile {
    const char *name, *summary;
    enum dialect dialect;       /* order of keys, timings, which paths there are */
    const char *default_system; /* what the template says when no system message is sent; or NULL */
    enum special_text special_text; /* of what stands inside messages and prompts */
    enum role_chunk role;
    bool add_special;         /* chat: the tokenizer's own BOS */
    bool continues_assistant; /* a trailing assistant message is gone on with */
    bool stream_usage;        /* stream_options.include_usage is honoured */
    bool continuous_usage;    /* and continuous_usage_stats */
    bool usage_always;        /* a stream ends with usage whether asked or not */
    bool ignore_eos;          /* the request field is honoured */
    bool counts_stop;         /* completion_tokens holds the stop token */
    bool finish_with_last;    /* finish_reason comes on the last token's own event */
    bool logprobs;
    bool token_ids;          /* return_token_ids gives ids in each choice */
    bool reports_cached;     /* prompt_tokens_details.cached_tokens */
    bool takes_cache_prompt; /* cache_prompt: false reuses nothing */
    bool takes_cache_salt;   /* prompts of different cache_salt share nothing */
    unsigned cache_block;    /* a prompt's known prefix is reused in such steps; 0: not at all */
    bool cuts_prompt;        /* a prompt past the context loses its beginning, unsaid */
    bool text_only;          /* a raw prompt is one text: token ids are refused */
    const char *template;    /* the same in Jinja, as /props shows it; NULL: not shown */
    const char *server;      /* the header; NULL: none */
    const char *fingerprint;
};

extern const struct profile profiles[];
extern const size_t profiles_n;

const struct profile *profile_find(const char *name);

#endif
