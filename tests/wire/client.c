#include "client.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

static void take(void *ctx, struct wire_exchange *x)
{
    struct client *c = ctx;
    wire_exchange_free(c->last);
    c->last = x;
    c->done++;
}

static void must(int status, const struct error *err)
{
    if (status < 0)
        fprintf(stderr, "%s\n", err->message);
    assert(status == 0);
}

void client_open(struct client *c, const struct wire_endpoint_options *options)
{
    struct error err = {0};
    *c = (struct client){0};
    must(wire_endpoint_new(&c->endpoint, options, &err), &err);
    must(wire_loop_new(
             &c->loop,
             &(struct wire_loop_options){.on_done = take, .ctx = c, .wakeup_ns = 50 * NS_PER_US},
             &err),
         &err);
}

void client_close(struct client *c)
{
    wire_loop_free(c->loop);
    wire_endpoint_free(c->endpoint);
    wire_exchange_free(c->last);
}

const struct wire_exchange *client_ask(struct client *c, const char *path, const char *body,
                                       int64_t timeout_ns)
{
    struct error err = {0};
    size_t before = c->done;
    int64_t limit = clock_mono_ns() + 30 * NS_PER_S;
    must(wire_loop_send(c->loop,
                        &(struct wire_request){.endpoint = c->endpoint,
                                               .path = path,
                                               .body = str_of(body),
                                               .timeout_ns = timeout_ns},
                        &err),
         &err);
    while (c->done == before && clock_mono_ns() < limit)
        must(wire_loop_step(c->loop, limit, &err), &err);
    assert(c->done == before + 1);
    return c->last;
}

void decode_exchange(struct decoded *d, const char *protocol, bool stream,
                     const struct wire_exchange *x)
{
    struct error err = {0};
    struct wire_ask ask = {.stream = stream, .max_tokens = COUNT_NONE, .seed = COUNT_NONE};
    arena_init(&d->arena, (size_t)64 << 20);
    sample_init(&d->s);
    must(wire_decode(wire_protocol_find(protocol), x, &ask, 0, &d->s, &d->arena, &err), &err);
}

void decoded_release(struct decoded *d)
{
    arena_release(&d->arena);
}

struct wire_exchange *exchange_of(struct str body, const size_t *ends, size_t n)
{
    struct wire_exchange *x = calloc(1, sizeof *x);
    size_t at = 0;
    assert(x && n > 0 && ends[n - 1] == body.n);
    x->t_issue_ns = x->t_sent_ns = x->t_dns_ns = x->t_connect_ns = x->t_tls_ns = 0;
    x->t_headers_ns = x->t_first_byte_ns = NS_PER_MS;
    x->t_end_ns = (int64_t)(n + 1) * NS_PER_MS;
    x->connection = 0;
    x->http_status = 200;
    x->http_version = 11;
    x->retry_after_s = COUNT_NONE;
    snprintf(x->content_type, sizeof x->content_type, "text/event-stream");
    buf_init(&x->body, WIRE_RESPONSE_MAX);
    buf_addstr(&x->body, body);
    x->reads = calloc(n, sizeof *x->reads);
    assert(x->reads);
    for (size_t i = 0; i < n; i++) {
        if (ends[i] == at)
            continue;
        x->reads[x->reads_n++] = (struct sample_read_stamp){
            .t_user_ns = (int64_t)(i + 1) * NS_PER_MS,
            .t_kernel_ns = TIME_NONE,
            .t_lower_ns = 0,
            .bytes = (int64_t)(ends[i] - at),
        };
        at = ends[i];
    }
    return x;
}
