/*
 * What answers look like: events and bodies in the dialect of the profile, appended to a buffer.
 *
 *     answer_tokens(ch, from, to, last, &out);     // "data: {...}\n\n", or a line of JSON
 *     answer_error(profile, 400, "message", "invalid_request_error", &out);
 *
 * Nothing here touches a socket; the order of keys is that of the server that is played.
 */
#ifndef TALLY_SIM_ANSWER_H
#define TALLY_SIM_ANSWER_H

#include "job.h"

const char *answer_stream_type(const struct job *job);  /* Content-Type */
const char *answer_stream_extra(const struct job *job); /* header lines */

void answer_role(struct choice *ch, struct buf *out);
void answer_progress(struct choice *ch, int64_t processed, int64_t ms, struct buf *out);
/* Tokens from ... to-1 of a choice. last: the choice ends with them. */
void answer_tokens(struct choice *ch, int64_t from, int64_t to, bool last, struct buf *out);
/* finish_reason, where it has an event of its own, and whatever follows it for this choice. */
void answer_finish(struct choice *ch, struct buf *out);
/* What follows the last choice, before [DONE]. */
void answer_usage(struct job *job, struct buf *out);
void answer_done(struct job *job, struct buf *out);
/* An error in the middle of a stream. */
void answer_stream_error(struct job *job, const char *message, struct buf *out);

/* The body of an answer that is not streamed. */
void answer_whole(struct job *job, struct buf *out);

/* The body of a refusal. */
void answer_error(const struct profile *p, int code, const char *message, const char *type,
                  struct buf *out);

/* For answer.c, answer_openai.c, answer_ollama.c: */
void event_open(const struct job *job, struct buf *out);
void event_close(const struct job *job, struct buf *out);
void ollama_tokens(struct choice *ch, int64_t from, int64_t to, struct buf *out);
void ollama_finish(struct choice *ch, struct buf *out);
void ollama_whole(struct job *job, struct buf *out);
bool answer_is_ollama(const struct job *job);
const char *answer_reason(const struct choice *ch);
void answer_text(const struct choice *ch, int64_t from, int64_t to, struct buf *out);

#endif
