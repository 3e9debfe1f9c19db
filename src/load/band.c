#include "load/band.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "load/band_internal.h"

#define FAILING_MIN 20

int64_t band_failing_limit(int32_t workers)
{
    return 2 * (int64_t)workers > FAILING_MIN ? 2 * (int64_t)workers : FAILING_MIN;
}

void band_open_window(struct band *b, int64_t now_ns)
{
    b->stage = BAND_WINDOW;
    b->result.t_open_ns = now_ns;
    b->next_second = 1;
    if (b->config.arrival)
        open_begin(b, PHASE_WINDOW, now_ns);
    else
        closed_window_opens(b, now_ns);
}

void band_begin_quiesce(struct band *b, int64_t now_ns)
{
    b->stage = BAND_QUIESCE;
    b->quiesce_until_ns = now_ns + b->config.quiesce_ns;
}

/* Nothing is sent from here on; the window, if there was one, closed at close_ns. */
static void stop(struct band *b, int64_t close_ns, int64_t now_ns, enum status status,
                 const char *reason)
{
    if (b->stage >= BAND_DRAIN)
        return;
    b->result.status = status;
    b->result.reason = reason;
    b->result.t_close_ns = close_ns;
    if (b->config.arrival && b->stage == BAND_WINDOW)
        open_count_planned(b, close_ns == TIME_NONE ? now_ns : close_ns - BAND_CLOSE_GUARD_NS);
    b->stage = BAND_DRAIN;
    if (b->in_flight == 0) {
        b->stage = BAND_DONE;
        b->result.t_drained_ns = close_ns == TIME_NONE ? now_ns : close_ns;
    }
}

int band_new(struct band **out, const struct band_config *config, int64_t now_ns, struct error *err)
{
    struct band *b = calloc(1, sizeof *b);

    if (!b)
        return error_no_memory(err);
    b->config = *config;
    b->now_ns = now_ns;
    b->quiesce_until_ns = TIME_NONE;
    b->result = (struct band_result){.t_start_ns = now_ns,
                                     .t_open_ns = TIME_NONE,
                                     .t_close_ns = TIME_NONE,
                                     .t_drained_ns = TIME_NONE,
                                     .status = STATUS_UNMEASURED,
                                     .planned_window = COUNT_NONE};
    if ((config->arrival ? open_new : closed_new)(b, now_ns, err) < 0) {
        band_free(b);
        return -1;
    }
    if (config->warmup <= 0)
        band_open_window(b, now_ns);
    *out = b;
    return 0;
}

void band_free(struct band *b)
{
    if (!b)
        return;
    free(b->workers);
    free(b->idle);
    free(b);
}

/* The moment at which the window's bounds are looked at next. */
static int64_t next_look(const struct band *b)
{
    int64_t second = b->result.t_open_ns + b->next_second * NS_PER_S;
    int64_t last = b->result.t_open_ns + b->config.max_window_ns;

    return b->config.requests > 0 || last < second ? last : second;
}

/* Spec section 5: closes at the first whole second at which both bounds hold. */
static void look_at_window(struct band *b, int64_t at_ns, int64_t now_ns)
{
    int64_t elapsed = at_ns - b->result.t_open_ns;
    bool whole = elapsed == b->next_second * NS_PER_S;

    if (b->config.requests <= 0 && whole && elapsed >= b->config.window_ns &&
        b->result.ended_window >= b->config.min_samples)
        stop(b, at_ns, now_ns, STATUS_PASS, NULL);
    else if (elapsed >= b->config.max_window_ns)
        stop(b, at_ns, now_ns, STATUS_INCOMPLETE, "max_window");
    if (b->stage == BAND_WINDOW) {
        b->held_ns = at_ns;
        if (!b->config.arrival)
            closed_release(b, at_ns);
        b->next_second++;
    }
}

void band_tick(struct band *b, int64_t now_ns)
{
    b->now_ns = now_ns;
    if (b->stage == BAND_QUIESCE && b->quiesce_until_ns != TIME_NONE &&
        now_ns >= b->quiesce_until_ns)
        band_open_window(b, now_ns);
    while (b->stage == BAND_WINDOW && now_ns >= next_look(b)) {
        while (closed_next_step(b) <= next_look(b))
            closed_step(b, closed_next_step(b));
        look_at_window(b, next_look(b), now_ns);
    }
    while (closed_next_step(b) <= now_ns)
        closed_step(b, closed_next_step(b));
}

int64_t band_requests_left(const struct band *b)
{
    return b->config.requests > 0 ? b->config.requests - b->result.issued_window : INT64_MAX;
}

bool band_guarded(const struct band *b, int64_t now_ns)
{
    int64_t look = next_look(b), elapsed = look - b->result.t_open_ns;
    bool may_close = elapsed >= b->config.max_window_ns ||
                     (b->config.requests <= 0 && elapsed >= b->config.window_ns);

    return may_close && now_ns >= look - BAND_CLOSE_GUARD_NS;
}

static bool may_send(const struct band *b, int64_t now_ns)
{
    return b->config.arrival ? open_may_send(b, now_ns) : closed_may_send(b, now_ns);
}

bool band_would_send(struct band *b, int64_t now_ns, enum sample_phase *phase)
{
    band_tick(b, now_ns);
    *phase = b->stage == BAND_WINDOW ? PHASE_WINDOW : PHASE_WARMUP;
    return may_send(b, now_ns);
}

static void give_up(struct band *b, int64_t now_ns, enum status status, const char *reason)
{
    if (b->stage >= BAND_DRAIN)
        return;
    b->cancel = true;
    stop(b, TIME_NONE, now_ns, status, reason);
}

bool band_next(struct band *b, int64_t now_ns, struct band_issue *issue)
{
    bool window;

    band_tick(b, now_ns);
    if (!may_send(b, now_ns))
        return false;
    window = b->stage == BAND_WINDOW;
    *issue = (struct band_issue){
        .phase = window ? PHASE_WINDOW : PHASE_WARMUP,
        .phase_index = window ? b->result.issued_window : b->result.issued_warmup,
    };
    if (!b->config.arrival) {
        closed_take(b, issue);
    } else if (!open_take(b, issue)) {
        give_up(b, now_ns, STATUS_UNMEASURED, "client_memory");
        return false;
    }
    issue->seq = b->seq++;
    (*(window ? &b->result.issued_window : &b->result.issued_warmup))++;
    b->workers[issue->worker].busy = true;
    b->in_flight++;
    return true;
}

void band_ended(struct band *b, int32_t worker, int64_t t_end_ns, int64_t now_ns)
{
    struct worker *w = &b->workers[worker];

    assert(worker >= 0 && worker < b->workers_n && w->busy);
    band_tick(b, t_end_ns);
    w->busy = false;
    b->in_flight--;
    if (w->window_request && b->stage == BAND_WINDOW)
        b->result.ended_window++;
    if (b->stage >= BAND_DRAIN) {
        if (b->in_flight == 0 && b->stage == BAND_DRAIN) {
            b->stage = BAND_DONE;
            b->result.t_drained_ns = t_end_ns;
        }
        return;
    }
    if (b->config.arrival)
        open_free(b, worker, t_end_ns);
    if (b->stage == BAND_WARMUP) {
        b->config.arrival ? open_warmed(b, worker, now_ns)
                          : closed_warmed(b, worker, t_end_ns, now_ns);
        return;
    }
    if (!b->config.arrival)
        closed_free(b, worker, t_end_ns);
    /* [open, close) is half open: the last end must lie inside */
    if (b->config.requests > 0 && b->result.ended_window == b->config.requests)
        stop(b, now_ns > t_end_ns ? now_ns : t_end_ns + 1, now_ns, STATUS_PASS, NULL);
}

void band_judged(struct band *b, enum sample_phase phase, bool ok, int64_t now_ns)
{
    b->failures_in_row = ok ? 0 : b->failures_in_row + 1;
    if (ok)
        return;
    if (phase == PHASE_WARMUP)
        give_up(b, now_ns, STATUS_UNMEASURED, "warmup_failed");
    else if (b->failures_in_row >= band_failing_limit(b->config.workers))
        give_up(b, now_ns, STATUS_UNMEASURED, "failing");
}

void band_interrupt(struct band *b, int64_t now_ns)
{
    give_up(b, now_ns, STATUS_INCOMPLETE, "interrupted");
}

enum band_stage band_stage(const struct band *b)
{
    return b->stage;
}

int64_t band_deadline(const struct band *b)
{
    int64_t at = b->stage == BAND_QUIESCE  ? b->quiesce_until_ns
                 : b->stage == BAND_WINDOW ? next_look(b)
                                           : INT64_MAX;
    int64_t next = b->config.arrival ? open_deadline(b) : closed_next_step(b);

    return next < at ? next : at;
}

bool band_wants_cancel(const struct band *b)
{
    return b->cancel;
}

int32_t band_in_flight(const struct band *b)
{
    return b->in_flight;
}

void band_get_result(const struct band *b, struct band_result *out)
{
    *out = b->result;
}
