/*
 * Faults on purpose: a table of what can be wrong with an answer, and which requests it befalls.
 *
 *     if (fault_add(&plan, "truncate:5", err) < 0) ...
 *     struct faults f = fault_for(&plan, request_number);        // numbers count from 1
 *     if (fault_has(&f, FAULT_TRUNCATE) && made == f.arg[FAULT_TRUNCATE]) ...
 *
 * Arguments are counts of tokens, milliseconds or bytes, as the table says; durations are kept in
 * nanoseconds.
 */
#ifndef TALLY_SIM_FAULT_H
#define TALLY_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum fault_arg {
    FAULT_NO_ARG = 0,
    FAULT_TOKENS,
    FAULT_TIME,
    FAULT_BYTES,
    FAULT_SECONDS,
    FAULT_NUMBER
};

/* kind, name, argument, default, what happens */
#define FAULTS(X)                                                                              \
    X(FAULT_DELAY, "delay", FAULT_TIME, "1s", "nothing is sent for TIME")                      \
    X(FAULT_STALL, "stall", FAULT_TIME, "1h", "nothing for TIME behind the first token")       \
    X(FAULT_RESET, "reset", FAULT_TOKENS, "1", "the connection is reset behind N tokens")      \
    X(FAULT_TRUNCATE, "truncate", FAULT_TOKENS, "1",                                           \
      "the body ends well-formed behind N tokens, without finish_reason or [DONE]")            \
    X(FAULT_CUT, "cut", FAULT_TOKENS, "1", "the connection closes behind N tokens, body open") \
    X(FAULT_BAD_CHUNK_SIZE, "bad-chunk-size", FAULT_TOKENS, "1",                               \
      "behind N tokens a chunk's size is no number")                                           \
    X(FAULT_SLOW_BODY, "slow-body", FAULT_BYTES, "64", "at most N bytes every 10 ms")          \
    X(FAULT_429, "429", FAULT_SECONDS, "1", "429 with Retry-After: N and a JSON error")        \
    X(FAULT_500_HTML, "500-html", FAULT_NO_ARG, "", "500 with a page of HTML")                 \
    X(FAULT_HTML, "html", FAULT_NO_ARG, "", "200 with a page of HTML")                         \
    X(FAULT_ERROR_BEFORE, "error-before", FAULT_NO_ARG, "", "500 with a JSON error")           \
    X(FAULT_ERROR_FIRST, "error-first", FAULT_NO_ARG, "",                                      \
      "200, then an error event before any token, then [DONE]")                                \
    X(FAULT_ERROR_MID_STREAM, "error-mid-stream", FAULT_TOKENS, "1",                           \
      "200, N tokens, an error event, [DONE]")                                                 \
    X(FAULT_REPLAY, "replay", FAULT_NO_ARG, "", "all tokens are made, then sent at once")      \
    X(FAULT_KEEPALIVE_CLOSE, "keepalive-close", FAULT_NO_ARG, "",                              \
      "a second request on a connection finds it closed")                                      \
    X(FAULT_HEADER_FLOOD, "header-flood", FAULT_BYTES, "67108864", "N bytes of headers")       \
    X(FAULT_ENDLESS_LINE, "endless-line", FAULT_BYTES, "268435456",                            \
      "N bytes of one line of the body")                                                       \
    X(FAULT_NO_FINISH, "no-finish", FAULT_NO_ARG, "", "no finish_reason, but [DONE]")          \
    X(FAULT_NO_DONE, "no-done", FAULT_NO_ARG, "", "finish_reason, but no [DONE]")              \
    X(FAULT_DONE_ONLY, "done-only", FAULT_NO_ARG, "", "the whole body is [DONE]")              \
    X(FAULT_USAGE_ABSENT, "usage-absent", FAULT_NO_ARG, "",                                    \
      "no usage and no timings, asked or not")                                                 \
    X(FAULT_USAGE_CUMULATIVE, "usage-cumulative", FAULT_NO_ARG, "", "usage in every event")    \
    X(FAULT_SPLIT_UTF8, "split-utf8", FAULT_TIME, "5ms",                                       \
      "writes end inside characters, the rest TIME later")                                     \
    X(FAULT_ONE_BYTE_WRITES, "one-byte-writes", FAULT_TIME, "50us",                            \
      "every byte is a write, TIME apart")                                                     \
    X(FAULT_EARLY_STOP, "early-stop", FAULT_TOKENS, "1",                                       \
      "the model ends at token N although ignore_eos")                                         \
    X(FAULT_WRONG_COUNT, "wrong-count", FAULT_NUMBER, "1", "usage says N tokens too many")     \
    X(FAULT_REPEAT, "repeat", FAULT_NO_ARG, "", "every token is '!'")                          \
    X(FAULT_BATCH_REPEAT, "batch-repeat", FAULT_NO_ARG, "",                                    \
      "every token is '!' of an answer that is asked for while others are made")               \
    X(FAULT_BATCH_DRIFT, "batch-drift", FAULT_TOKENS, "1",                                     \
      "an answer whose token N is made beside others is another one from there on")            \
    X(FAULT_COMMENTS, "comments", FAULT_NO_ARG, "",                                            \
      "comments, retry: and empty data: between the events")                                   \
    X(FAULT_CRLF, "crlf", FAULT_NO_ARG, "", "event lines end in CRLF, no space behind data:")  \
    X(FAULT_CAP_INFLIGHT, "cap-inflight", FAULT_NUMBER, "1",                                   \
      "at most N requests are worked on at once, whatever the slots say")

enum fault_kind {
#define X(kind, name, arg, fallback, text) kind,
    FAULTS(X)
#undef X
        FAULTS_N
};

struct faults {
    uint64_t has; /* bit of each kind */
    int64_t arg[FAULTS_N];
};

struct fault_plan {
    struct faults faults;
    int64_t every, first, after; /* 0: all requests */
};

static inline bool fault_has(const struct faults *f, enum fault_kind kind)
{
    return f->has >> kind & 1;
}

/* "KIND" or "KIND:ARG". ERROR_USAGE with the nearest name, or with what the argument must be. */
int fault_add(struct fault_plan *plan, const char *text, struct error *err) TALLY_MUST_CHECK;
/* What befalls the request of that number. */
struct faults fault_for(const struct fault_plan *plan, int64_t number);

struct fault_info {
    const char *name, *fallback, *text;
    enum fault_arg arg;
};
const struct fault_info *fault_describe(enum fault_kind kind);
const char *fault_arg_name(enum fault_arg arg); /* "N", "TIME" */

#endif
