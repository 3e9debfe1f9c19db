/*
 * The raw record of one request, as it was observed: nothing here is derived but the outcome and
 * the token counts that are made when the response is parsed.
 *
 *     struct sample s;
 *     if (sample_read(&s, json_line, &arena, err) < 0) ...
 *     sample_write(&s, &writer);                      // one JSON object, one line
 *
 * Times are integer nanoseconds on the monotonic clock since the run's zero (run.json records where
 * that lay on both clocks); TIME_NONE where there is none. Counts are COUNT_NONE where the server
 * said nothing: never 0 in its place.
 * Ownership: strings and arrays of a sample live in the arena it was read into or built in; the
 * JSON document it was read from is not needed afterwards. In JSON, members that are absent, false
 * or empty are left out; sample_read puts them back.
 */
#ifndef TALLY_RECORD_SAMPLE_H
#define TALLY_RECORD_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "codec/json.h"
#include "codec/json_write.h"

#define TIME_NONE INT64_MIN
#define COUNT_NONE INT64_C(-1)

/* What one sample may hold; wire ends a response that would pass one with FAILURE_CLIENT. Times and
 * counts are bounded so that no difference and no sum over a run can overflow. */
#define SAMPLE_READS_MAX ((size_t)1 << 18)
#define SAMPLE_EVENTS_MAX ((size_t)1 << 18)
#define SAMPLE_IDS_MAX ((size_t)1 << 20)   /* over all events */
#define SAMPLE_TEXT_MAX ((size_t)16 << 20) /* bytes of text over all events */
#define SAMPLE_NAME_MAX ((size_t)4096)     /* lane, prompt id, finish reason, error */
#define SAMPLE_LINE_MAX ((size_t)96 << 20) /* bytes of one JSON line */
#define SAMPLE_TIME_MAX (INT64_C(1) << 60) /* 36 years, either way */
#define SAMPLE_COUNT_MAX INT64_C(1000000000000)

#define SAMPLE_PHASES(X)      \
    X(PHASE_WARMUP, "warmup") \
    X(PHASE_WINDOW, "window") \
    X(PHASE_INJECTED, "injected") /* out of band: in no statistic, with its own order of issue */

/* Outcome of a request, spec section 7. `failed` comes with a failure kind. */
#define SAMPLE_OUTCOMES(X)            \
    X(OUTCOME_OK, "ok")               \
    X(OUTCOME_FAILED, "failed")       \
    X(OUTCOME_TIMED_OUT, "timed_out") \
    X(OUTCOME_TRUNCATED, "truncated") \
    X(OUTCOME_SHORT, "short")         \
    X(OUTCOME_CANCELLED, "cancelled")

#define SAMPLE_FAILURES(X)                                                                        \
    X(FAILURE_NONE, "none")                                                                       \
    X(FAILURE_CONNECT, "connect")                                                                 \
    X(FAILURE_TLS, "tls")                                                                         \
    X(FAILURE_HTTP, "http")                 /* a status other than 2xx */                         \
    X(FAILURE_PROTOCOL, "protocol")         /* bytes that are not what the protocol promises */   \
    X(FAILURE_SERVER_ERROR, "server_error") /* an error object, also in the middle of a stream */ \
    X(FAILURE_CLIENT, "client")             /* our own limits or resources */

#define SAMPLE_EVENTS(X)            \
    X(EVENT_ROLE, "role")           \
    X(EVENT_TEXT, "text")           \
    X(EVENT_REASONING, "reasoning") \
    X(EVENT_TOOL, "tool")           \
    X(EVENT_EMPTY, "empty")         \
    X(EVENT_USAGE, "usage")         \
    X(EVENT_FINISH, "finish")       \
    X(EVENT_DONE, "done")           \
    X(EVENT_ERROR, "error")         \
    X(EVENT_COMMENT, "comment")

enum sample_phase {
#define X(id, name) id,
    SAMPLE_PHASES(X)
};
enum sample_outcome { SAMPLE_OUTCOMES(X) OUTCOME_COUNT };
enum sample_failure { SAMPLE_FAILURES(X) };
enum sample_event_kind { SAMPLE_EVENTS(X) };
#undef X

/* One read from the socket. */
struct sample_read_stamp {
    int64_t t_user_ns;   /* poll returned, before anything was read */
    int64_t t_kernel_ns; /* the kernel's receive time, upper bound; TIME_NONE */
    int64_t t_lower_ns;  /* nothing of this read can have arrived before; TIME_NONE */
    int64_t bytes;       /* of the response as the HTTP layer delivered it */
};

struct sample_usage {
    int64_t prompt, completion, cached, reasoning; /* COUNT_NONE */
};

struct sample_event {
    uint32_t read; /* index into reads: the one that carried its last byte */
    enum sample_event_kind kind;
    bool same_chunk;  /* of the same SSE event (or line) as the event before it */
    bool has_choices; /* the chunk's choices array was there and not empty */
    int32_t choice;
    struct str text; /* content, reasoning or tool arguments; "" where there is none */
    bool redacted;   /* text was left out on request; text_bytes tells how long it was */
    int64_t text_bytes;
    const uint32_t *ids; /* token ids the server named */
    size_t ids_n;
    int64_t logprob_n; /* tokens of the logprobs array; COUNT_NONE */
    /* Tokens of the joined text (tokenized once) whose last byte lies in this event's text;
     * COUNT_NONE where nothing was tokenized. See sample_assign_tokens. */
    int64_t retokenized;
    struct sample_usage usage; /* all COUNT_NONE where the event has none */
    struct str finish_reason;
};

/* Text, reasoning and tool-call tokens apart; COUNT_NONE each. */
struct sample_counts {
    int64_t total, text, reasoning, tool;
};

struct sample {
    struct str lane; /* "subject" or "comparator" */
    int32_t band;    /* concurrency */
    int32_t replicate;
    int32_t worker;
    int64_t seq; /* order of issue within band, lane and replicate, of what is not injected */
    enum sample_phase phase;
    bool start_cohort; /* met an idle server together with all others */

    struct str prompt_id;
    char body_sha256[SHA256_HEX]; /* of the request body's bytes as sent */
    int64_t max_tokens, seed;     /* COUNT_NONE where not asked for */
    int64_t turn; /* of a conversation, from 1; COUNT_NONE: the prompt stands alone */

    int64_t t_planned_ns; /* open loop: when it was due; closed loop: when the worker was free */
    /* When it was to be sent, where that is later than planned: a cap on requests in flight, or the
     * decision on the window's close, kept it waiting. TIME_NONE: as planned. */
    int64_t t_due_ns;
    int64_t t_issue_ns;                       /* handed to the HTTP layer */
    int64_t t_dns_ns, t_connect_ns, t_tls_ns; /* ends; TIME_NONE on a reused connection */
    int64_t connection;                       /* id of the connection; COUNT_NONE */
    bool reused;
    int64_t retry_of;  /* seq of the attempt before; COUNT_NONE */
    int64_t t_sent_ns; /* before the first request byte on a connected socket */
    int64_t t_headers_ns, t_first_byte_ns, t_end_ns;
    int32_t http_status;   /* 0 = none came */
    int32_t http_version;  /* 10, 11, 20, 30; 0 = none came */
    int64_t retry_after_s; /* the header Retry-After, in seconds; COUNT_NONE */

    const struct sample_read_stamp *reads;
    size_t reads_n;
    const struct sample_event *events;
    size_t events_n;

    int64_t prompt_body, prompt_rendered, prompt_reported, prompt_cached;
    /* Prefill as the server reports it: prompt tokens computed (cached ones are not) and the time
     * that took (llama-server: timings.prompt_n, timings.prompt_ms). */
    int64_t prefill_tokens, prefill_ns;
    struct sample_counts output_reported, output_retokenized, output_observed;
    char output_sha256[SHA256_HEX]; /* of all text the answer brought: sample_digest_output; "" */
    bool saw_finish, saw_done;

    enum sample_outcome outcome;
    enum sample_failure failure;
    struct str error; /* what was said, at most 500 bytes of it */
};

/* A sample, and an event, whose times and counts are all absent. */
void sample_init(struct sample *s);
void sample_event_init(struct sample_event *e);
void sample_write(const struct sample *s, struct json_writer *w);
/* Errors name the member; an unknown member is one. The sample passes sample_check. */
int sample_read(struct sample *s, const struct json *line, struct arena *arena,
                struct error *err) TALLY_MUST_CHECK;

/* Limits, ranges, and that outcome and failure agree: what sample_read refuses. A producer calls it
 * before it writes, so that no sample is written that cannot be read. */
int sample_check(const struct sample *s, struct error *err) TALLY_MUST_CHECK;
/* That time does not run backwards: planned, due <= issued <= sent <= first byte and first read <=
 * every later read <= end; events in the order of their reads; lower bound and kernel time not
 * after user time; an ok request was sent and ended. Rule "time_order". */
int sample_check_order(const struct sample *s, struct error *err) TALLY_MUST_CHECK;

/* Leaves the texts out of the events, and the token ids, which are texts to whoever has the
 * tokenizer: their number then stands as logprob_n. Error texts go too. `events` is the array of s
 * that the producer still owns. */
void sample_redact(struct sample_event *events, size_t events_n);

/* The events that carry a token: text, reasoning or tool with text (also when it was redacted), or
 * any that names one by an id or a logprob. */
bool sample_event_has_token(const struct sample_event *e);

/* Appends to out the joined text of one kind (EVENT_TEXT, EVENT_REASONING) of choice 0. */
void sample_join_text(const struct sample *s, enum sample_event_kind kind, struct buf *out);
/* SHA-256 of the text of choice 0, token-bearing event after event, whatever their kinds; "" where
 * there is no text, or where it was left out. */
int sample_digest_output(const struct sample *s, char out[SHA256_HEX],
                         struct error *err) TALLY_MUST_CHECK;
/* Sets `retokenized` on the events of that kind, given where in the joined text each of n tokens
 * ends (byte offset behind its last byte, ascending): a token belongs to the event that holds its
 * last byte; one that ends at 0 to the first event. Events without text get 0. `events` is the
 * array of s that the producer still owns. An offset past the joined text is ERROR_INPUT. */
int sample_assign_tokens(struct sample_event *events, size_t events_n, enum sample_event_kind kind,
                         const uint32_t *ends, size_t n, struct error *err) TALLY_MUST_CHECK;

const char *sample_phase_name(enum sample_phase p);
const char *sample_outcome_name(enum sample_outcome o);
const char *sample_failure_name(enum sample_failure f);
const char *sample_event_name(enum sample_event_kind k);

#endif
