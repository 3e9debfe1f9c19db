/*
 * What bodies and events of the OpenAI dialects are made of, appended as JSON.
 *
 *     part_content(ch, from, to, &out);        // "reasoning_content":"...","content":"..."
 *     part_usage(job, NULL, &out);             // "usage":{...}, of all choices together
 *
 * Tokens are counted from 0; `to` is not among them.
 */
#ifndef TALLY_SIM_ANSWER_PARTS_H
#define TALLY_SIM_ANSWER_PARTS_H

#include "job.h"

static inline bool is_llama(const struct job *job)
{
    return job->s->profile->dialect == DIALECT_LLAMA;
}

static inline bool is_chat(const struct job *job)
{
    return job->ask.kind == ASK_CHAT;
}

bool part_is_tool_call(const struct job *job);
bool part_wants_logprobs(const struct job *job);

/* "usage":{...} of one choice, or of all (NULL). */
void part_usage(const struct job *job, const struct choice *ch, struct buf *out);
/* "timings":{...}, llama-server's. */
void part_timings(const struct choice *ch, struct buf *out);
/* The value behind "logprobs": null where none are asked for. */
void part_logprobs(const struct choice *ch, int64_t from, int64_t to, struct buf *out);
void part_ids(const struct choice *ch, int64_t from, int64_t to, struct buf *out);
/* The text of tokens, quoted. */
void part_text(const struct choice *ch, int64_t from, int64_t to, struct buf *out);
/* The members of a delta or a message that hold its text: content, and in front of it what is
 * reasoning; or a tool call. */
void part_content(const struct choice *ch, int64_t from, int64_t to, struct buf *out);

#endif
