/*
 * What the lanes of a run put around a prompt, as the probe found it: told in the receipt, and
 * predicted for every request.
 *
 *     struct load_wrappers *w;
 *     if (wrappers_ask(&w, &config, err) < 0) ...        // sets lane.wrapper, lane.record
 *     n = load_wrapper_count(lane.wrapper, messages, 2); // COUNT_NONE when it is not known
 *     wrappers_free(w);
 *
 * Only a wrapper that predicts every count of the probe predicts requests; another one is told as
 * unexplained. Ownership: lanes borrow from the wrappers, which must outlive their use.
 */
#ifndef TALLY_LOAD_WRAPPER_H
#define TALLY_LOAD_WRAPPER_H

#include "chat/hypothesis.h"
#include "load/lane.h"
#include "load/progress.h"

struct load_wrappers;

struct wrappers_config {
    struct load_lane *lanes; /* after preflight */
    size_t lanes_n;
    const struct tokenizer *tokenizer;
    const struct chat_named_template *templates; /* beside the tokenizer's and the servers' own */
    size_t templates_n;
    int (*enter)(void *ctx, size_t lane, struct error *err); /* of probe_options */
    void *enter_ctx;
    const struct load_progress *progress; /* is told why two lanes differ */
    struct arena *arena;                  /* of the lanes' records */
};

int wrappers_ask(struct load_wrappers **out, const struct wrappers_config *config,
                 struct error *err) TALLY_MUST_CHECK;
/* The probe's whole evidence, as a file of the run directory: it is listed and digested with it. */
int wrappers_write(const struct load_wrappers *w, const char *dir,
                   struct error *err) TALLY_MUST_CHECK;
void wrappers_free(struct load_wrappers *w); /* NULL is fine */
/* Tokens of the conversation behind the lane's wrapper; any thread. w may be NULL. */
int64_t load_wrapper_count(const struct load_wrapper *w, const struct wire_message *messages,
                           size_t n);

#endif
