/*
 * The loop that talks to servers and stamps what it reads: one thread, many streams.
 *
 *     struct wire_loop *loop;
 *     if (wire_loop_new(&loop, &(struct wire_loop_options){.on_done = take, .ctx = me}, err) < 0) …
 *     wire_loop_send(loop, &request, err);              // returns at once
 *     wire_loop_step(loop, deadline_ns, err);           // waits for events, until the deadline
 *
 * The timing path only stamps and stores bytes: nothing is parsed here. A finished exchange is
 * handed to on_done, which owns it from then on (wire_exchange_free) and may give it to another
 * thread, where wire/protocol.h turns it into a sample.
 * Times are monotonic nanoseconds (absolute; not since the run's zero).
 * Limits: WIRE_RESPONSE_MAX bytes a response and WIRE_HEADER_MAX of headers; past the
 * first the exchange ends with FAILURE_CLIENT, past the second with FAILURE_PROTOCOL, and says so.
 * No redirect is followed, nothing is re-sent.
 */
#ifndef TALLY_WIRE_HTTP_H
#define TALLY_WIRE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "record/sample.h"

#define WIRE_RESPONSE_MAX ((size_t)64 << 20)
#define WIRE_HEADER_MAX ((size_t)256 << 10)
#define WIRE_ERROR_MAX 500

struct wire_loop;
struct wire_endpoint;
struct clock_pair; /* wire/clock_map.h */

/* Where a lane's requests go, and how; strings are copied. */
struct wire_endpoint_options {
    const char *url;            /* base: http(s)://host[:port][/prefix] */
    const char *bearer;         /* secret from file or environment; NULL */
    const char *const *headers; /* "Name: value"; NULL-terminated; NULL */
    const char *unix_socket, *proxy, *ca_file, *client_cert, *client_key; /* NULL */
    bool insecure; /* no verification; recorded in the receipt */
    bool no_reuse; /* a fresh connection for every request */
    bool http2;
    int64_t connect_timeout_ns; /* 0: 10 s */
};

int wire_endpoint_new(struct wire_endpoint **out, const struct wire_endpoint_options *o,
                      struct error *err) TALLY_MUST_CHECK;
void wire_endpoint_free(struct wire_endpoint *e);
/* From now on every request opens a connection of its own. Call it while none is under way. */
void wire_endpoint_forbid_reuse(struct wire_endpoint *e);
const char *wire_endpoint_url(const struct wire_endpoint *e); /* without user info */

struct wire_request {
    struct wire_endpoint *endpoint;
    const char *path;   /* "/v1/chat/completions" */
    struct str body;    /* JSON, copied; empty: a GET */
    int64_t timeout_ns; /* from t_issue; 0: none */
    void *tag;          /* the caller's, returned in the exchange */
};

enum wire_end {
    WIRE_END_OK = 0,  /* the response ended as HTTP says it must */
    WIRE_END_CUT,     /* the connection closed before the response's declared end */
    WIRE_END_CONNECT, /* no connection, name not resolved */
    WIRE_END_TLS,
    WIRE_END_RESET,    /* closed or reset before any byte of a response (reused: says so) */
    WIRE_END_PROTOCOL, /* not HTTP, bad chunk sizes, past WIRE_HEADER_MAX */
    WIRE_END_TIMEOUT,
    WIRE_END_LIMIT, /* past WIRE_RESPONSE_MAX */
    WIRE_END_CANCELLED,
    WIRE_END_CLIENT, /* memory, descriptors */
};

struct wire_exchange {
    void *tag;
    int64_t t_issue_ns, t_dns_ns, t_connect_ns, t_tls_ns, t_sent_ns;
    int64_t t_headers_ns, t_first_byte_ns, t_end_ns; /* TIME_NONE where never reached */
    int64_t connection;
    bool reused;
    int32_t http_status;
    int32_t http_version; /* 10, 11, 20, 30; 0 = none came */
    char content_type[128];
    int64_t retry_after_s;           /* COUNT_NONE */
    struct buf body;                 /* the response's bytes, chunk framing removed */
    struct sample_read_stamp *reads; /* which read delivered which bytes of body, in order */
    size_t reads_n, reads_cap;
    enum wire_end end;
    char error[WIRE_ERROR_MAX + 1]; /* in words; "" */
};

void wire_exchange_free(struct wire_exchange *x);

struct wire_loop_options {
    void (*on_done)(void *ctx, struct wire_exchange *x);
    void *ctx;
    int32_t max_in_flight; /* 0: no cap */
    bool user_time_only;   /* leave kernel receive times alone even where there are any */
    int64_t wakeup_ns;     /* calibrated wake-up latency; 0: wire_loop_new calibrates (20 ms) */
    const struct clock_pair *clocks; /* what the kernel's times are mapped by; NULL: the system's */
    int64_t burn_ns; /* spin that long before every read: to try what saturation does */
};

int wire_loop_new(struct wire_loop **out, const struct wire_loop_options *o,
                  struct error *err) TALLY_MUST_CHECK;
void wire_loop_free(struct wire_loop *loop); /* cancels what is in flight, without on_done */
int wire_loop_send(struct wire_loop *loop, const struct wire_request *r,
                   struct error *err) TALLY_MUST_CHECK;
/* Ends every transfer in flight as WIRE_END_CANCELLED (on_done is called for each). */
void wire_loop_cancel_all(struct wire_loop *loop);
size_t wire_loop_in_flight(const struct wire_loop *loop);
/* Waits until something happens or the absolute deadline passes, and dispatches once. */
int wire_loop_step(struct wire_loop *loop, int64_t deadline_ns, struct error *err) TALLY_MUST_CHECK;
/* What the loop did and how late it was, since wire_loop_mark or its start. */
struct wire_loop_report {
    int64_t waits, blocked;      /* polls; those that had to wait */
    int64_t reads, kernel_reads; /* reads of sockets; those with a kernel receive time */
    int64_t wakeup_ns;           /* what a blocked wait is taken to last too long */
    int64_t clock_steps;         /* of the real clock: kernel times of this span are void if any */
    int64_t clock_step_ns;       /* the largest, with its sign */
    int64_t clock_error_ns;      /* worst half-width of the map from real to monotonic time */
    /* From a poll's return to the next poll: what a ready socket may have waited unseen.
     * COUNT_NONE where nothing was polled; to 3 %. */
    int64_t lag_p50_ns, lag_p99_ns, lag_max_ns;
};

void wire_loop_mark(struct wire_loop *loop); /* a band starts */
void wire_loop_report(struct wire_loop *loop, struct wire_loop_report *out);
/* Makes a wire_loop_step that waits in another thread return; async-signal-safe. */
void wire_loop_wake(struct wire_loop *loop);

/* One request and its whole answer, for /v1/models and the like: blocks. ERROR_ENVIRONMENT when
 * there was no HTTP answer, naming the URL and the remedy; any status is an answer. */
int wire_fetch(struct wire_endpoint *e, const char *path, struct str body, int64_t timeout_ns,
               struct wire_exchange **out, struct error *err) TALLY_MUST_CHECK;

#endif
