/*
 * One lane as a run uses it: where it is, which model it serves, what it refused, how it answered
 * before the clock started.
 *
 *     struct load_lane lane;
 *     load_lane_init(&lane, &options, plan, err);        // connects nothing yet
 *     preflight_identify(&lane, ...);                    // preflight.h
 *     load_lane_release(&lane);
 *
 * Ownership: the lane owns its endpoint and its texts (in its arena).
 */
#ifndef TALLY_LOAD_LANE_H
#define TALLY_LOAD_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "record/run.h"
#include "record/sample.h"
#include "wire/http.h"
#include "wire/protocol.h"

#define LOAD_LANE_BYTES_MAX ((size_t)256 << 20)

/* As declared by the user; strings are borrowed for the whole run. */
struct load_lane_options {
    const char *role, *url;
    const char *model;   /* NULL: the only one the server lists */
    const char *host;    /* label of the machine; NULL */
    const char *build;   /* as declared; NULL */
    const char *binary;  /* path of the local server binary, to be digested; NULL */
    const char *weights; /* path of the model's file, to be digested; NULL */
    const char *bearer;  /* secret; NULL */
    bool insecure;
    const char *ca_file; /* NULL */
};

/* What one real completion told, before the clock started. */
struct load_first {
    bool done;
    enum sample_outcome outcome;
    int64_t prompt_body, prompt_reported, prompt_cached; /* COUNT_NONE */
    /* Where the stream reports no prompt tokens: what a whole answer to the same prompt says. */
    int64_t prompt_blocking;
    /* Cached tokens that are reported when a lane that was asked to be cold gets the same prompt a
     * second time; COUNT_NONE where it reports none, or was not asked. */
    int64_t repeat_cached;
    int64_t output;  /* best count at hand; COUNT_NONE */
    int64_t asked;   /* tokens it was asked for */
    int64_t took_ns; /* from t_sent to the end */
};

struct load_wrapper;   /* load/wrapper.h */
struct load_rendering; /* load/rendering.h */

/* How a rendered prompt is put to this lane (load/prompt_form.h finds it out). */
struct load_form {
    bool ids;             /* token ids, else text */
    bool leave_out;       /* the rendering's own BOS, which the server adds */
    int64_t server_front; /* tokens that the server puts in front by itself */
    bool confirmed;       /* its own count has shown that it takes the prompt as it is sent */
};

struct load_lane {
    struct load_lane_options options;
    const struct run_plan *plan;
    const struct wire_protocol *protocol;
    struct wire_endpoint *endpoint;
    struct arena arena;
    struct run_lane record; /* what the receipt says of it */
    struct load_first first;
    const struct load_wrapper *wrapper;     /* what the lane puts around prompts; NULL: not known */
    const struct load_rendering *rendering; /* prompts are rendered here; NULL: by the server */
    struct load_form form;                  /* with rendering */
};

int load_lane_init(struct load_lane *lane, const struct load_lane_options *options,
                   const struct run_plan *plan, struct error *err) TALLY_MUST_CHECK;
/* Another protocol than the wire's first one. */
void load_lane_speak(struct load_lane *lane, const struct wire_protocol *protocol);
void load_lane_release(struct load_lane *lane); /* NULL and zeroed are fine */

/* The request for one prompt and an answer of so many tokens, as this lane is asked: what it
 * refused is left out. `messages` is the caller's room for the ask's messages. */
void load_lane_ask(const struct load_lane *lane, struct str prompt, int64_t max_tokens,
                   struct wire_message messages[2], struct wire_ask *ask);

#endif
