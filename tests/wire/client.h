/* What the wire tests share: one exchange against a URL, decoded. */
#ifndef TALLY_TESTS_WIRE_CLIENT_H
#define TALLY_TESTS_WIRE_CLIENT_H

#include "wire/protocol.h"

struct client {
    struct wire_loop *loop;
    struct wire_endpoint *endpoint;
    struct wire_exchange *last; /* the newest; freed with the next */
    size_t done;
};

/* Both assert on failure. options->url is what is talked to. */
void client_open(struct client *c, const struct wire_endpoint_options *options);
void client_close(struct client *c);
/* Sends one request and steps until it has ended; the exchange stays the client's. */
const struct wire_exchange *client_ask(struct client *c, const char *path, const char *body,
                                       int64_t timeout_ns);

/* Decodes into an arena of its own; release both with sample_drop. */
struct decoded {
    struct arena arena;
    struct sample s;
};

void decode_exchange(struct decoded *d, const char *protocol, bool stream,
                     const struct wire_exchange *x);
void decoded_release(struct decoded *d);

/* An exchange as if `body` had come in reads that end at `ends` (n of them; the last is the
 * body's). Read i is stamped (i + 1) ms. Status 200 and an event stream. */
struct wire_exchange *exchange_of(struct str body, const size_t *ends, size_t n);

#endif
