#include "load/calibrate.h"

#include <string.h>

#include "base/clock.h"
#include "load/schedstat.h"
#include "wire/http.h"
#include "wire/protocol.h"

#define TIMEOUT_NS (60 * NS_PER_S)
#define LOOK_EVERY_NS (NS_PER_S / 5)

struct calibration {
    const struct calibrate_config *config;
    struct wire_exchange *done[CALIBRATE_STREAMS_MAX];
    size_t n;
};

static void take(void *ctx, struct wire_exchange *x)
{
    struct calibration *c = ctx;

    c->done[c->n++] = x;
}

static int run_streams(struct calibration *c, struct wire_loop *loop,
                       const struct wire_request *request, struct error *err)
{
    const volatile sig_atomic_t *stop = c->config->stop;
    size_t wanted = (size_t)c->config->streams;

    for (size_t i = 0; i < wanted; i++) {
        if (wire_loop_send(loop, request, err) < 0)
            return -1;
    }
    while (c->n < wanted) {
        if (stop && *stop)
            wire_loop_cancel_all(loop);
        else if (wire_loop_step(loop, clock_mono_ns() + LOOK_EVERY_NS, err) < 0)
            return -1;
    }
    return 0;
}

static int decode(const struct calibration *c, const struct wire_ask *ask, struct sample **samples,
                  struct arena *arena, struct error *err)
{
    const struct wire_protocol *p = wire_protocol_find("openai-chat");
    struct sample *list = arena_array(arena, c->n + 1, sizeof *list);

    if (!list)
        return arena_check(arena, "the client's floor", err);
    for (size_t i = 0; i < c->n; i++) {
        struct sample *s = &list[i];
        sample_init(s);
        if (wire_decode(p, c->done[i], ask, c->config->zero_ns, s, arena, err) < 0)
            return -1;
        s->lane = STR("floor");
        s->band = c->config->streams;
        s->replicate = 1;
        s->worker = (int32_t)i;
        s->seq = (int64_t)i;
        s->phase = PHASE_WINDOW;
    }
    *samples = list;
    return 0;
}

/* The loop's own cost, as of a band. */
static int measure(struct calibration *c, struct wire_loop *loop,
                   const struct wire_request *request, struct run_client_load *client,
                   struct error *err)
{
    struct wire_loop_report report;
    int64_t queued_ns = schedstat_wait_ns(), cpu_ns = clock_thread_cpu_ns();
    int64_t wall_ns = clock_mono_ns();

    wire_loop_mark(loop);
    if (run_streams(c, loop, request, err) < 0)
        return -1;
    wire_loop_report(loop, &report);
    *client = (struct run_client_load){
        .loop_cpu_ns = clock_thread_cpu_ns() - cpu_ns,
        .parser_cpu_ns = COUNT_NONE,
        .wall_ns = clock_mono_ns() - wall_ns,
        .run_queue_wait_ns = queued_ns == COUNT_NONE ? COUNT_NONE : schedstat_wait_ns() - queued_ns,
        .loop_lag_p50_ns = report.lag_p50_ns,
        .loop_lag_p99_ns = report.lag_p99_ns,
        .loop_lag_max_ns = report.lag_max_ns,
    };
    return 0;
}

int calibrate(const struct calibrate_config *config, struct sample **samples, size_t *n,
              struct run_calibration *out, struct arena *arena, struct error *err)
{
    struct calibration c = {.config = config};
    const struct wire_message message = {STR("user"), STR("what time is it?")};
    const struct wire_ask ask = {.model = "null",
                                 .messages = &message,
                                 .messages_n = 1,
                                 .max_tokens = CALIBRATE_TOKENS,
                                 .seed = COUNT_NONE,
                                 .stream = true};
    const struct wire_loop_options options = {.on_done = take,
                                              .ctx = &c,
                                              .user_time_only = config->user_time_only,
                                              .burn_ns = config->burn_ns};
    struct wire_request request = {.path = "/v1/chat/completions", .timeout_ns = TIMEOUT_NS};
    struct buf body = BUF_INIT(65536);
    struct wire_loop *loop = NULL;
    struct run_client_load client;
    int rc = -1;

    if (config->streams < 1 || config->streams > CALIBRATE_STREAMS_MAX)
        return error_set(err, ERROR_LIMIT, "the floor is measured with 1 to %d streams",
                         CALIBRATE_STREAMS_MAX);
    if (wire_endpoint_new(&request.endpoint, &(struct wire_endpoint_options){.url = config->url},
                          err) < 0)
        return -1;
    if (wire_build(wire_protocol_find("openai-chat"), &ask, &body, err) < 0 ||
        wire_loop_new(&loop, &options, err) < 0)
        goto out;
    request.body = buf_str(&body);
    if (measure(&c, loop, &request, &client, err) < 0 || decode(&c, &ask, samples, arena, err) < 0)
        goto out;
    *n = c.n;
    *out = (struct run_calibration){
        .streams = config->streams,
        .tokens = CALIBRATE_TOKENS,
        .rate = CALIBRATE_RATE,
        .client = client,
    };
    rc = 0;
out:
    wire_loop_free(loop);
    for (size_t i = 0; i < c.n; i++)
        wire_exchange_free(c.done[i]);
    wire_endpoint_free(request.endpoint);
    buf_release(&body);
    return rc;
}
