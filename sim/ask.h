/*
 * What a request for an answer asks: the JSON body of /v1/chat/completions, /v1/completions,
 * llama.cpp's /completion, Ollama's /api/chat and /api/generate, read into one shape.
 *
 *     if (ask_read(&ask, ASK_CHAT, body, &arena, err) < 0) ...      // err->message for the client
 *
 * Ownership: texts live in the arena. Unknown members are passed over, as servers do.
 * Limits: ASK_CHOICES_MAX answers (n), JSON_LIMITS_DEFAULT of values.
 */
#ifndef TALLY_SIM_ASK_H
#define TALLY_SIM_ASK_H

#include "base/arena.h"
#include "codec/json.h"

#define ASK_CHOICES_MAX 16
#define ASK_TOKENS_MAX INT64_C(1000000)

enum ask_kind { ASK_CHAT = 0, ASK_COMPLETION, ASK_NATIVE, ASK_OLLAMA_CHAT, ASK_OLLAMA_GENERATE };

struct ask_message {
    struct str role, content;
};

struct ask {
    enum ask_kind kind;
    const struct ask_message *messages; /* chat */
    size_t n_messages;
    struct str prompt;   /* completion, when it is text */
    const uint32_t *ids; /* completion, when it is token ids */
    size_t n_ids;
    bool has_ids;
    bool raw; /* Ollama: no template around the prompt */
    bool stream;
    bool include_usage, continuous_usage;
    bool ignore_eos, cache_prompt, timings_per_token, return_progress;
    struct str cache_salt; /* "" where there is none */
    bool return_tokens;    /* native: "tokens" in each event */
    bool return_token_ids; /* vLLM */
    bool logprobs;
    int64_t top_logprobs;
    int64_t max_tokens; /* -1: until the model ends */
    int64_t n;          /* answers */
    uint64_t seed;
    bool greedy; /* temperature 0: every answer of one request is the same */
};

int ask_read(struct ask *ask, enum ask_kind kind, const struct json *doc, struct arena *arena,
             struct error *err) TALLY_MUST_CHECK;
/* The messages of a document that has only them (/apply-template). */
int ask_read_messages(struct ask *ask, const struct json *doc, struct arena *arena,
                      struct error *err) TALLY_MUST_CHECK;

#endif
