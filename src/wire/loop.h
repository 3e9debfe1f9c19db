/* Private to wire: what a loop holds, and the table of its sockets. */
#ifndef TALLY_WIRE_LOOP_H
#define TALLY_WIRE_LOOP_H

#include "wire/clock_map.h"
#include "wire/lag.h"
#include "wire/poller.h"
#include "wire/transfer.h"

#define SOCKETS_MAX ((size_t)1 << 20)

struct loop_socket {
    uint32_t generation; /* of the descriptor's number: an event of an earlier one is stale */
    int64_t connection;  /* COUNT_NONE: not a server's connection */
    int local_port;      /* of a TCP connection, once it was asked for; 0 */
    bool stamped;        /* the kernel gives receive times */
    bool tls;
    bool more;        /* the last read may have left bytes behind */
    int64_t lower_ns; /* the last read's lower bound */
};

struct wire_loop {
    struct wire_loop_options o;
    CURLM *multi;
    struct poller *poller;
    struct clock_map map;
    struct wire_transfer *first, *last, *idle, *held;
    size_t in_flight, idle_n;
    uint64_t next_seq;
    int64_t next_connection;
    int64_t curl_deadline_ns; /* INT64_MAX: none */
    struct read_now now;
    struct loop_socket *sockets; /* by descriptor */
    size_t sockets_n;
    int socket_failure; /* errno of a socket that could not be watched */
    struct poller_seen seen;
    struct wire_loop_report counts; /* since wire_loop_mark; the lags are in `lag` */
    struct lag lag;
    int64_t returned_ns; /* the last wait's return; TIME_NONE */
};

/* The entry of a descriptor, made if need be; NULL past SOCKETS_MAX or without memory. */
struct loop_socket *loop_socket_at(struct wire_loop *loop, int fd);
/* libcurl's CURLMOPT_SOCKETFUNCTION: which sockets to watch, and whose they are. */
int loop_on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg);

int loop_curl_trouble(CURLMcode rc, struct error *err);
/* Hands every transfer that has ended to on_done. */
void loop_take_finished(struct wire_loop *loop);
void loop_hand_over(struct wire_loop *loop, struct wire_transfer *t);

/* loop_reads.c */
void loop_begin_event(struct wire_loop *loop, int fd, int64_t t_user, int64_t t_lower);
int loop_handle(struct wire_loop *loop, size_t i, struct error *err) TALLY_MUST_CHECK;
int loop_resume_held(struct wire_loop *loop, struct error *err) TALLY_MUST_CHECK;
/* Has libcurl give out what it holds back for t. */
CURLcode loop_give_out(struct wire_loop *loop, struct wire_transfer *t);
void loop_forget_held(struct wire_loop *loop, struct wire_transfer *t);

#endif
