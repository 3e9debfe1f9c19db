/*
 * What a server said of itself before and after a band: the document that keeps it verbatim, and
 * what a receipt takes from it.
 *
 *     struct server_answer before[] = {{.path = "/props", .status = 200, .body = body, ...}};
 *     if (server_said_write(&out, &(struct server_said){before, 1, after, n}, err) < 0) ...
 *     if (server_said_read(&band.server, buf_str(&out), err) < 0) ...   // all but .file
 *
 * load writes the document, and both receipt_server_keep and verify read it: a value that is not in
 * it is not produced, never inferred. Known are llama-server's /props, /slots and /metrics, vLLM's
 * and SGLang's /metrics, Ollama's /api/ps, aprender's /v1/effective-config; of a body that is not
 * of its form nothing is taken. Counters are told as their growth over the band, one that ran
 * backwards (the server was started anew) not at all.
 * Limits: SERVER_BODY_MAX bytes of a body (longer ones are kept as their size alone),
 * SERVER_ANSWERS_MAX answers either side, SERVER_SAID_MAX bytes of the document.
 */
#ifndef TALLY_RECEIPT_SERVER_SAID_H
#define TALLY_RECEIPT_SERVER_SAID_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "record/run.h"

#define SERVER_SAID_SCHEMA "tallystick.server/1"
#define SERVER_BODY_MAX ((size_t)2 << 20)
#define SERVER_ANSWERS_MAX 16
#define SERVER_SAID_MAX ((size_t)128 << 20)

struct server_answer {
    const char *path;
    int64_t t_ns;        /* when it was asked, since the run's zero */
    int32_t status;      /* of HTTP; 0: no answer came */
    const char *type;    /* Content-Type; "" */
    struct str body;     /* verbatim; what is not UTF-8 is kept as U+FFFD */
    const char *trouble; /* why no answer came; "" */
};

struct server_said {
    const struct server_answer *before;
    size_t before_n;
    const struct server_answer *after;
    size_t after_n;
};

int server_said_write(struct buf *out, const struct server_said *said,
                      struct error *err) TALLY_MUST_CHECK;
/* A server that said nothing. */
void server_said_nothing(struct run_server *server);
/* ERROR_REFUSED, rule "server", when text is no such document. */
int server_said_read(struct run_server *server, struct str text,
                     struct error *err) TALLY_MUST_CHECK;

#endif
