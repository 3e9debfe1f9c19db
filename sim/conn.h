/*
 * One connection: bytes in, requests out of them, answers written as the faults of the day allow.
 *
 *     conn_new(&c, server, fd, index);
 *     conn_readable(c); ... conn_head(c, 200, ...); conn_chunk(c, event); conn_flush(c);
 *     conn_end(c);                     // the answer is whole: the next request may be read
 *     conn_settle(c);                  // frees it when it is over; not from within a hook
 *
 * An answer is appended to `out` and sent by conn_flush. What fails marks the connection dead; only
 * conn_settle frees.
 * Limits: CONN_OUT_MAX bytes waiting to be sent (a client that reads nothing is let go),
 * HTTP_BODY_MAX + HTTP_HEADER_MAX bytes waiting to be read.
 */
#ifndef TALLY_SIM_CONN_H
#define TALLY_SIM_CONN_H

#include "http.h"
#include "server.h"

#define CONN_OUT_MAX ((size_t)64 << 20)
#define CONN_MARKS_MAX 65536 /* tokens waiting to be sent whose times are logged */

struct job;

struct conn_mark {
    uint64_t end; /* of the token's bytes, counted over the connection */
    int64_t request, token;
};

struct conn {
    struct server *s;
    int fd;
    unsigned index, watching;
    uint32_t generation;
    struct buf in, out;
    size_t out_at;
    uint64_t queued, sent; /* bytes over the connection's life */
    struct http_parser parser;
    struct job *job;    /* the answer in the making */
    int64_t served;     /* requests taken */
    bool busy;          /* an answer is in the making */
    bool keep_alive;    /* after this answer */
    bool chunked;       /* this answer's body */
    bool closing;       /* once everything is sent */
    bool resetting;     /* and then with a reset */
    bool shut;          /* lingers, and everything was sent */
    bool lingers;       /* refused: what still comes is read and dropped until the peer closes */
    bool dead, in_todo; /* dead: the socket is of no use any more */
    bool refuses_next;  /* keepalive-close: a further request finds the connection closed */
    /* how writes are spoilt */
    int64_t hold_ns;  /* nothing is sent before; 0: at once, INT64_MAX: until it is lifted */
    size_t drip;      /* bytes a write; 0: all */
    int64_t drip_ns;  /* pause between writes */
    int64_t split_ns; /* writes end inside characters, the rest comes so much later; 0: no */
    size_t flood;     /* bytes still to be made up */
    enum { FLOOD_NONE = 0, FLOOD_HEADERS, FLOOD_LINE } flood_kind;
    struct conn_mark *marks;
    size_t marks_at, marks_n, marks_cap;
};

int conn_new(struct conn **out, struct server *s, int fd, unsigned index, struct error *err);
void conn_free(struct conn *c);

static inline uint64_t conn_tag(const struct conn *c)
{
    return (uint64_t)c->generation << 32 | c->index;
}

void conn_readable(struct conn *c);
void conn_flush(struct conn *c);
void conn_wake(struct conn *c, int64_t now_ns); /* one of its timers is due */
/* Frees the connection when it is over (true), or takes its next request. */
bool conn_settle(struct conn *c);
void conn_todo(struct conn *c); /* asks for conn_settle */
void conn_kill(struct conn *c); /* the peer is gone */

/* The head of an answer. length -1: the body comes in chunks (to the end of the connection for an
 * HTTP/1.0 client). extra: further header lines, each with CRLF, or "". */
void conn_head(struct conn *c, int status, const char *type, int64_t length, const char *extra);
void conn_chunk(struct conn *c, struct str bytes); /* one chunk of a body */
void conn_raw(struct conn *c, struct str bytes);   /* bytes as they are */
void conn_last_chunk(struct conn *c);
void conn_end(struct conn *c);
/* A whole answer: head, body, end. */
void conn_answer(struct conn *c, int status, const char *type, struct str body, const char *extra);
/* The bytes queued last are token `token` of request `request`: their send time is logged. */
void conn_mark(struct conn *c, int64_t request, int64_t token);
/* The loop comes back with conn_wake then. */
void conn_wake_at(struct conn *c, int64_t due_ns);

#endif
