#include "base/clock.h"
#include "wire/http.h"

struct waiting {
    struct wire_exchange *x;
};

static void take(void *ctx, struct wire_exchange *x)
{
    struct waiting *w = ctx;
    w->x = x;
}

static int no_answer(const struct wire_exchange *x, const struct wire_endpoint *e, const char *path,
                     struct error *err)
{
    if (x->end == WIRE_END_CLIENT || x->end == WIRE_END_LIMIT)
        error_set(err, ERROR_ENVIRONMENT, "%s", x->error);
    else
        error_set(err, ERROR_ENVIRONMENT, "no answer from the server: %s", x->error);
    err->remedy[0] = '\0';
    if (x->end == WIRE_END_TLS)
        error_remedy(err, "name the authority's certificate, or check the host name");
    else if (x->end == WIRE_END_CONNECT)
        error_remedy(err, "start the server, or check host and port");
    else
        error_remedy(err, "check that an HTTP server listens there");
    error_wrap(err, "%s%s", wire_endpoint_url(e), path);
    return -1;
}

int wire_fetch(struct wire_endpoint *e, const char *path, struct str body, int64_t timeout_ns,
               struct wire_exchange **out, struct error *err)
{
    struct waiting w = {0};
    struct wire_loop_options o = {.on_done = take, .ctx = &w, .user_time_only = true};
    struct wire_request r = {.endpoint = e, .path = path, .body = body, .timeout_ns = timeout_ns};
    struct wire_loop *loop;
    int status;
    o.wakeup_ns = 1; /* no read's time is looked at */
    if (wire_loop_new(&loop, &o, err) < 0)
        return -1;
    status = wire_loop_send(loop, &r, err);
    while (status == 0 && !w.x)
        status = wire_loop_step(loop, INT64_MAX, err);
    wire_loop_free(loop);
    if (status == 0 && w.x->http_status == 0)
        status = no_answer(w.x, e, path, err);
    if (status == 0)
        *out = w.x;
    else
        wire_exchange_free(w.x);
    return status;
}
