/*
 * What is asked of a server and how its answer reads: one adapter a protocol, one small file each.
 *
 *     const struct wire_protocol *p = wire_protocol_find("openai-chat");
 *     wire_build(p, &ask, &body, err);
 *     wire_decode(p, exchange, &ask, zero_ns, &sample, &arena, err);   // off the timing path
 *
 * An adapter says in `events` what a document holds: role, text, reasoning and tool deltas, token
 * ids and logprobs where the server gives them, usage wherever it stands. Usage that came in a
 * document with other events stands on the last of them, else on an EVENT_USAGE of its own.
 *
 * wire_decode fills a sample from an exchange: times (made relative to zero_ns), reads, events,
 * reported counts, saw_finish, saw_done, outcome, failure and error. It never fails on what a
 * server sent (that is an outcome); -1 is only out of memory. Client-side counts
 * (prompt_body, output_retokenized) and `short` are the caller's: see wire_judge_length.
 * An event's read is the one that carried the last byte of its data; line ends say nothing new.
 * Limits: WIRE_EVENTS_MAX events an answer and the limits of a sample; past them FAILURE_CLIENT.
 */
#ifndef TALLY_WIRE_PROTOCOL_H
#define TALLY_WIRE_PROTOCOL_H

#include "base/arena.h"
#include "codec/json.h"
#include "record/sample.h"
#include "wire/http.h"

#define WIRE_EVENTS_MAX SAMPLE_EVENTS_MAX

struct wire_message {
    struct str role, content;
};

/* What one request asks for. */
struct wire_ask {
    const char *model;                   /* NULL: left out */
    const struct wire_message *messages; /* chat */
    size_t messages_n;
    struct str prompt;          /* completions, as text */
    const uint32_t *prompt_ids; /* completions, as ids: instead of prompt */
    size_t prompt_ids_n;
    int64_t max_tokens, seed; /* COUNT_NONE: left out */
    double temperature;
    bool has_temperature;
    bool stream, include_usage, ignore_eos;
    /* Every chunk is to say how many tokens there are so far: vLLM's continuous_usage_stats and
     * llama-server's timings_per_token, both asked for at once; each server knows one. */
    bool token_progress;
    bool redact_text; /* no word of the server's goes into the sample's error */
    /* No cached prompt is to be reused: llama-server's cache_prompt, and where there is a salt
     * cache_salt (vLLM, SGLang, TensorRT-LLM), which keeps requests of different salts apart. Both
     * are asked for at once; each server knows one. */
    bool no_cache;
    struct str cache_salt;
    struct str extra_json; /* an object whose members are added to the body; "" */
};

/* The events of one answer while it is decoded; strings and ids live in the arena. */
struct wire_events {
    struct arena *arena;
    struct sample_event *list;
    size_t n, cap;
    size_t text, ids;                   /* bytes and ids kept so far, for the sample's limits */
    uint32_t read;                      /* the read that events being added came with */
    int64_t prefill_tokens, prefill_ns; /* as the server says; COUNT_NONE */
    bool failed;                        /* memory, or more than WIRE_EVENTS_MAX */
};

struct wire_protocol {
    const char *name; /* "openai-chat", "openai-completions" */
    const char *path; /* "/v1/chat/completions" */
    bool ndjson;      /* newline-delimited JSON instead of server-sent events */
    bool takes_messages, takes_ids, takes_ignore_eos; /* what the server can be asked */
    int (*build)(const struct wire_ask *ask, struct buf *body, struct error *err);
    /* Turns one JSON document of the stream (or the whole blocking answer) into events; -1 when
     * it is not what the protocol promises. Error objects have been taken out before. */
    int (*decode)(const struct json *doc, bool stream, struct wire_events *out, struct error *err);
};

const struct wire_protocol *wire_protocol_find(const char *name); /* NULL when unknown */
const struct wire_protocol *wire_protocol_at(size_t i);           /* NULL past the last */

int wire_build(const struct wire_protocol *p, const struct wire_ask *ask, struct buf *body,
               struct error *err) TALLY_MUST_CHECK;
int wire_decode(const struct wire_protocol *p, const struct wire_exchange *x,
                const struct wire_ask *ask, int64_t zero_ns, struct sample *s, struct arena *arena,
                struct error *err) TALLY_MUST_CHECK;
/* ok -> short when ignore_eos was asked for and fewer than max_tokens came, judged by the best
 * count at hand (observed, reported), never by the echo of a parameter. */
void wire_judge_length(struct sample *s, const struct wire_ask *ask);

#endif
