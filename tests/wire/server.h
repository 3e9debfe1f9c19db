/*
 * A scripted server for the tests: each accepted connection plays one list of steps.
 *
 *     static const struct step once[] = {READ, SEND("HTTP/1.1 200 OK\r\n..."), END};
 *     struct server *s = server_start(&(struct server_script){.play = {once}});
 *     ... server_port(s) ...
 *     server_stop(s);
 *
 * Connections beyond the listed ones play the last list again. Sends are stamped on the monotonic
 * clock just before and after they are written; requests are kept as they came.
 */
#ifndef TALLY_TESTS_WIRE_SERVER_H
#define TALLY_TESTS_WIRE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define SERVER_PLAYS 8
#define SERVER_SENDS 4096
#define SERVER_REQUESTS 64

enum step_do {
    DO_END = 0, /* an orderly close */
    DO_READ,    /* one whole request */
    DO_SEND,
    DO_CHUNK, /* the bytes as one chunk of a chunked body, in one write */
    DO_WAIT,  /* `n` milliseconds */
    DO_RESET,
    DO_HOLD,  /* neither reads nor closes until the server stops */
    DO_FLOOD, /* sends `bytes` again and again until the client goes away, at most `n` times */
    DO_RAW,   /* reads whatever comes, once */
    DO_TLS,   /* begins TLS here, where the script says late_tls */
};

struct step {
    enum step_do what;
    const char *bytes;
    size_t n;
};

#define READ             \
    {                    \
        DO_READ, NULL, 0 \
    }
#define SEND(text)                         \
    {                                      \
        DO_SEND, "" text, sizeof(text) - 1 \
    }
#define CHUNK(text)                         \
    {                                       \
        DO_CHUNK, "" text, sizeof(text) - 1 \
    }
#define WAIT(ms)            \
    {                       \
        DO_WAIT, NULL, (ms) \
    }
#define RESET             \
    {                     \
        DO_RESET, NULL, 0 \
    }
#define HOLD             \
    {                    \
        DO_HOLD, NULL, 0 \
    }
#define RAW             \
    {                   \
        DO_RAW, NULL, 0 \
    }
#define FLOOD(text, times)         \
    {                              \
        DO_FLOOD, "" text, (times) \
    }
#define START_TLS       \
    {                   \
        DO_TLS, NULL, 0 \
    }
#define END             \
    {                   \
        DO_END, NULL, 0 \
    }

struct server_tls; /* see tls.h */

struct server_script {
    const struct step *play[SERVER_PLAYS];
    const char *unix_path; /* instead of a port on 127.0.0.1 */
    struct server_tls *tls;
    bool late_tls; /* not from the first byte but at START_TLS */
};

struct server;

struct server *server_start(const struct server_script *script);
void server_stop(struct server *s);
int server_port(const struct server *s);
const char *server_url(const struct server *s);

size_t server_connections(struct server *s);
size_t server_requests(struct server *s);
/* The i-th request: head and body as they came; lives until server_stop. */
struct str server_request(struct server *s, size_t i);
size_t server_sends(struct server *s);
/* Just before and just after the i-th send was written. */
void server_send_time(struct server *s, size_t i, int64_t *before_ns, int64_t *after_ns);

#endif
