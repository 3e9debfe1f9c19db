/*
 * HTTP/1.1 requests, read from a connection's buffer as it grows. No sockets, no clock.
 *
 *     struct http_parser p = {0};
 *     switch (http_parse(&p, buf_str(&in), &request, &refusal)) { case HTTP_MORE: ... }
 *     buf_drop_front(&in, http_end(&p)); http_next(&p);     // what follows is the next request
 *
 * The bytes given are always all that came since the request began. Strings of a ready request
 * point into them, or into the parser when the body came in chunks; they live until either changes.
 * Limits: HTTP_HEADER_MAX bytes of request line and headers, HTTP_HEADERS_MAX headers,
 * HTTP_BODY_MAX bytes of body; past them a refusal with 431 or 413.
 */
#ifndef TALLY_SIM_HTTP_H
#define TALLY_SIM_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

#define HTTP_HEADER_MAX ((size_t)16 << 10)
#define HTTP_HEADERS_MAX 100
#define HTTP_BODY_MAX ((size_t)32 << 20)
#define HTTP_CHUNK_LINE_MAX 256 /* bytes of a chunk's size line, or of one trailer */

struct http_request {
    struct str method, path, query; /* query without '?' */
    struct str body;
    bool keep_alive;
};

struct http_refusal {
    int status;
    const char *why;
};

enum http_progress { HTTP_MORE = 0, HTTP_READY, HTTP_BAD };

/* Zeroed is ready for use. */
struct http_parser {
    size_t skip;     /* empty lines before the request */
    size_t scanned;  /* no end of the headers lies before this byte */
    size_t header_n; /* 0: still open */
    size_t length;   /* of the body, as Content-Length says */
    size_t at;       /* chunked: the next byte to decode */
    size_t end;
    bool chunked, expects; /* expects: the client waits for "100 Continue" */
    struct http_request request;
    struct buf body; /* chunked */
};

/* After HTTP_BAD the connection can only be answered with the refusal and closed. */
enum http_progress http_parse(struct http_parser *p, struct str bytes, struct http_request *out,
                              struct http_refusal *why);
/* True once for a request whose body is held back until it is asked for. */
bool http_wants_continue(struct http_parser *p);
/* After HTTP_READY: the bytes of the request. */
size_t http_end(const struct http_parser *p);
void http_next(struct http_parser *p);    /* ready for the next request */
void http_release(struct http_parser *p); /* NULL and zeroed are fine */

const char *http_reason(int status); /* "Not Found" */

#endif
