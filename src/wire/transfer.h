/*
 * Private to wire: one transfer in flight, the reads it is stamped with, and how it ended.
 *
 * A transfer belongs to a loop. libcurl calls back into it while the loop handles one event of one
 * socket (`struct read_now`); nothing but stamping and storing happens there.
 */
#ifndef TALLY_WIRE_TRANSFER_H
#define TALLY_WIRE_TRANSFER_H

#include <curl/curl.h>

#include "wire/http.h"

/* What the loop knows about the event it is handling. */
struct read_now {
    uint64_t serial; /* of the event; every one is a read of its own */
    int fd;          /* -1: not about a socket */
    int64_t t_user_ns, t_lower_ns;
    int64_t t_kernel_ns; /* TIME_NONE */
    size_t peeked;       /* raw bytes that t_kernel_ns stands for */
};

struct wire_transfer {
    struct wire_transfer *next, *previous;
    struct wire_loop *loop;
    struct wire_exchange *x;
    CURL *easy;
    struct buf body; /* of the request */
    uint64_t seq;
    int fd;                        /* the socket libcurl has this transfer wait on; -1 */
    int64_t timeout_ns, t_base_ns; /* t_base: what libcurl's durations count from */
    size_t header_bytes;
    int opened;  /* sockets opened for it */
    int request; /* times libcurl was about to send the request */
    bool shares; /* HTTP/2: reads of its socket are others' too */
    bool tls;
    bool too_much, no_memory;
    int socket_errno; /* a socket could not be opened; 0 */
    /* The raw bytes of this event's read, as far as libcurl has shown them. */
    uint64_t raw_serial;
    size_t raw_seen; /* before `raw` */
    const char *raw;
    size_t raw_n;
    unsigned raw_reads; /* reads with body bytes */
    /* The second read of an event: held back in libcurl with the stamps it will get. */
    struct read_now ahead;
    struct wire_transfer *next_held;
    bool held, resuming;
    uint64_t stamp_serial; /* the event that the last stamp is of */
    bool stamp_kernel;
    char message[CURL_ERROR_SIZE];
};

struct wire_exchange *exchange_new(void *tag);
/* Sets the callbacks and the request on t->easy. */
int transfer_prepare(struct wire_transfer *t, const struct wire_request *r,
                     struct error *err) TALLY_MUST_CHECK;
/* Fills the exchange's outcome from what libcurl says; before the handle leaves the multi. */
void transfer_conclude(struct wire_transfer *t, CURLcode rc, int64_t now_ns);

/* Of the loop, for the transfer's callbacks. */
const struct read_now *loop_now(const struct wire_loop *loop);
curl_socket_t loop_open_socket(struct wire_loop *loop, struct wire_transfer *t,
                               const struct curl_sockaddr *address);
int loop_close_socket(struct wire_loop *loop, curl_socket_t fd);
int64_t loop_connection(const struct wire_loop *loop, int fd);
/* The descriptor of the connection with that local port; -1. libcurl does not say which connection
 * it chose for a request, but it does tell the pre-request callback the port. */
int loop_find_socket(struct wire_loop *loop, int local_port);
/* A read has been made, and libcurl may make another within the same event: what is known of it. */
void loop_look_ahead(struct wire_loop *loop, struct wire_transfer *t);
/* Has the transfer's second read given out later, with the stamps in t->ahead. */
void loop_hold(struct wire_loop *loop, struct wire_transfer *t);

#endif
