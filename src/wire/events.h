/* Private to wire: what the adapters share in building requests and reading answers. */
#ifndef TALLY_WIRE_EVENTS_H
#define TALLY_WIRE_EVENTS_H

#include "codec/json_write.h"
#include "wire/protocol.h"

/* A new last event with nothing in it, or NULL (and out->failed). */
struct sample_event *events_add(struct wire_events *out, enum sample_event_kind kind);
struct str events_keep(struct wire_events *out, struct str s); /* a copy in the arena */

/* A member that is a string with bytes in it; else "". */
struct str events_text(const struct json *object, const char *name);
/* A member that is a count; else COUNT_NONE. */
int64_t events_count(const struct json *object, const char *name);
/* Token ids of an array of numbers, in the arena; 0 when it is anything else. */
size_t events_ids(struct wire_events *out, const struct json *array, const uint32_t **ids);

extern const struct sample_usage usage_none;
bool usage_is_none(const struct sample_usage *u);
/* `timings` of llama.cpp: fills what `u` does not know. */
void usage_from_timings(struct sample_usage *u, const struct json *timings);
/* What the server says its prefill took; the last word counts. */
void events_prefill(struct wire_events *out, int64_t tokens, double ns);
void events_prefill_timings(struct wire_events *out, const struct json *timings);
/* Puts u on the last event added since `first`, or on one of its own. */
void events_usage(struct wire_events *out, size_t first, const struct sample_usage *u);

/* The text of an error object, in any of the shapes servers use; false when doc is none. */
bool events_error(const struct json *doc, struct str *message);

/* Members every protocol writes alike. */
int build_model(const struct wire_ask *ask, struct json_writer *w, struct error *err);
int build_messages(const struct wire_ask *ask, struct json_writer *w, struct error *err);
int build_prompt(const struct wire_ask *ask, struct json_writer *w, struct error *err);
/* max_tokens, temperature, seed, ignore_eos under OpenAI's names, with `max_name` for the first. */
void build_sampling(const struct wire_ask *ask, const char *max_name, struct json_writer *w);
void build_no_cache(const struct wire_ask *ask, struct json_writer *w);
/* Adds extra_json's members and ends the object. */
int build_end(const struct wire_ask *ask, struct json_writer *w, struct error *err);

extern const struct wire_protocol protocol_openai_chat;
extern const struct wire_protocol protocol_openai_completions;
extern const struct wire_protocol protocol_llamacpp;
extern const struct wire_protocol protocol_ollama_chat;
extern const struct wire_protocol protocol_ollama_generate;

#endif
