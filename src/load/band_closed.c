/* The closed loop: a worker sends, waits, sends again. A ramp adds workers as the window goes on.
 */
#include <stdlib.h>

#include "load/band_internal.h"

static void idle_push(struct band *b, int32_t worker, int64_t now_ns)
{
    b->workers[worker].free_since_ns = now_ns;
    b->idle[(int64_t)(b->idle_first + b->idle_n) % b->config.workers] = worker;
    b->idle_n++;
}

static int32_t idle_pop(struct band *b)
{
    int32_t worker = b->idle[b->idle_first];

    b->idle_first = (int32_t)(((int64_t)b->idle_first + 1) % b->config.workers);
    b->idle_n--;
    return worker;
}

static int32_t idle_at(const struct band *b, int32_t i)
{
    return b->idle[((int64_t)b->idle_first + i) % b->config.workers];
}

int closed_new(struct band *b, int64_t now_ns, struct error *err)
{
    const struct band_config *c = &b->config;

    if (c->workers < 1 || c->workers > BAND_WORKERS_MAX)
        return error_set(err, ERROR_USAGE, "a band of %d is outside 1 to %d", c->workers,
                         BAND_WORKERS_MAX);
    b->workers = calloc((size_t)c->workers, sizeof *b->workers);
    b->idle = calloc((size_t)c->workers, sizeof *b->idle);
    if (!b->workers || !b->idle)
        return error_no_memory(err);
    b->workers_n = c->ramp_n ? c->ramp[0] : c->workers;
    for (int32_t i = 0; i < b->workers_n; i++)
        idle_push(b, i, now_ns);
    return 0;
}

/* A worker done with its warm-up waits only where load is to pause before the window. */
bool closed_may_send(const struct band *b, int64_t now_ns)
{
    if (b->idle_n == 0)
        return false;
    if (b->stage == BAND_WARMUP)
        return true;
    return b->stage == BAND_WINDOW && band_requests_left(b) > 0 && !band_guarded(b, now_ns);
}

void closed_take(struct band *b, struct band_issue *issue)
{
    int32_t i = idle_pop(b);
    struct worker *w = &b->workers[i];

    w->window_request = b->stage == BAND_WINDOW;
    issue->worker = i;
    issue->start_cohort =
        w->window_request && !w->had_window && (b->config.quiesce_ns > 0 || b->config.warmup <= 0);
    issue->t_planned_ns = issue->t_due_ns = w->free_since_ns;
    w->had_window |= w->window_request;
}

void closed_warmed(struct band *b, int32_t worker, int64_t t_end_ns, int64_t now_ns)
{
    struct worker *w = &b->workers[worker];

    w->warmed++;
    if (w->warmed == b->config.warmup)
        b->warmed_workers++;
    /* with a quiesce period a worker that is done stays out until the window */
    if (b->config.quiesce_ns > 0 && w->warmed >= b->config.warmup) {
        w->free_since_ns = t_end_ns;
        if (b->warmed_workers < b->workers_n)
            return;
        band_begin_quiesce(b, now_ns);
        b->idle_first = b->idle_n = 0;
        for (int32_t i = 0; i < b->workers_n; i++)
            idle_push(b, i, now_ns);
        return;
    }
    idle_push(b, worker, t_end_ns);
    if (b->warmed_workers == b->workers_n)
        band_open_window(b, now_ns);
}

void closed_free(struct band *b, int32_t worker, int64_t t_end_ns)
{
    idle_push(b, worker, t_end_ns);
}

/* Who waited for the window is free from its opening on, not since his warm-up. */
void closed_window_opens(struct band *b, int64_t now_ns)
{
    for (int32_t i = 0; b->config.quiesce_ns > 0 && i < b->idle_n; i++)
        b->workers[idle_at(b, i)].free_since_ns = now_ns;
}

void closed_release(struct band *b, int64_t at_ns)
{
    for (int32_t i = 0; i < b->idle_n; i++) {
        struct worker *w = &b->workers[idle_at(b, i)];
        if (w->free_since_ns >= at_ns - BAND_CLOSE_GUARD_NS && w->free_since_ns < at_ns)
            w->free_since_ns = at_ns;
    }
}

int64_t closed_next_step(const struct band *b)
{
    if (b->stage != BAND_WINDOW || b->ramp_at + 1 >= b->config.ramp_n)
        return INT64_MAX;
    return b->result.t_open_ns + ((int64_t)b->ramp_at + 1) * b->config.ramp_step_ns;
}

void closed_step(struct band *b, int64_t at_ns)
{
    int32_t to = b->config.ramp[++b->ramp_at];

    for (; b->workers_n < to; b->workers_n++)
        idle_push(b, b->workers_n, at_ns);
}
