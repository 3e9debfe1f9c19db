#include "load/reuse.h"

#include "base/clock.h"

#define GIVE_UP_NS (120 * NS_PER_S) /* for one answer of one token */

struct answer {
    struct wire_exchange *exchange;
};

static void take(void *ctx, struct wire_exchange *x)
{
    struct answer *a = ctx;
    wire_exchange_free(a->exchange);
    a->exchange = x;
}

/* One answer; *a has the exchange when it ended. */
static int ask_once(struct wire_loop *loop, struct load_lane *lane,
                    const struct prompts_source *source, int64_t index, struct answer *a,
                    struct error *err)
{
    struct prompt *prompt = NULL;
    int64_t deadline_ns = clock_mono_ns() + GIVE_UP_NS;
    if (prompt_make(source, PHASE_WARMUP, index, &prompt, err) < 0)
        return -1;
    struct wire_request request = {
        .endpoint = lane->endpoint,
        .path = lane->protocol->path,
        .body = buf_str(&prompt->body),
        .timeout_ns = lane->plan->timeout_ns,
    };
    wire_exchange_free(a->exchange);
    a->exchange = NULL;
    int status = wire_loop_send(loop, &request, err);
    prompt_free(prompt);
    while (status == 0 && !a->exchange && clock_mono_ns() < deadline_ns)
        status = wire_loop_step(loop, clock_mono_ns() + NS_PER_S, err);
    if (status == 0 && !a->exchange) {
        error_set(err, ERROR_ENVIRONMENT, "lane %s: no answer of one token within %lld s",
                  lane->options.role, (long long)(GIVE_UP_NS / NS_PER_S));
        status = error_remedy(err, "look at the server's own log");
    }
    return status;
}

int reuse_ask(struct load_lane *lane, const struct prompts_source *source, bool *kept,
              struct error *err)
{
    struct run_plan plan = *lane->plan;
    const struct run_plan *before = lane->plan;
    struct answer a = {0};
    struct wire_loop *loop = NULL;
    int status = -1;
    plan.max_tokens = 1;
    lane->plan = &plan;
    if (wire_loop_new(&loop, &(struct wire_loop_options){.on_done = take, .ctx = &a}, err) < 0 ||
        ask_once(loop, lane, source, 1, &a, err) < 0 ||
        ask_once(loop, lane, source, 2, &a, err) < 0)
        goto out;
    *kept = a.exchange->reused && a.exchange->end == WIRE_END_OK;
    status = 0;
out:
    lane->plan = before;
    wire_loop_free(loop);
    wire_exchange_free(a.exchange);
    return status;
}
