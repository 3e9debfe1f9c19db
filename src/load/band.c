#include "load/band.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"

#define FAILING_MIN 20

struct worker {
    bool busy, window_request; /* the one in flight was sent in the window */
    int32_t warmed;            /* warm-up requests that ended */
    bool had_window;           /* has sent in the window */
    int64_t free_since_ns;
};

struct band {
    struct band_config config;
    struct worker *workers;
    int32_t *idle; /* ring of workers that may send, in the order in which they became free */
    int32_t idle_first, idle_n;
    enum band_stage stage;
    int32_t in_flight, warmed_workers;
    int64_t quiesce_until_ns; /* TIME_NONE until nothing is in flight */
    int64_t next_second;      /* the whole second of the window that is looked at next, from 1 */
    int64_t failures_in_row;
    int64_t seq;
    bool cancel;
    struct band_result result;
};

int64_t band_failing_limit(int32_t workers)
{
    return 2 * (int64_t)workers > FAILING_MIN ? 2 * (int64_t)workers : FAILING_MIN;
}

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

static void open_window(struct band *b, int64_t now_ns)
{
    b->stage = BAND_WINDOW;
    b->result.t_open_ns = now_ns;
    b->next_second = 1;
    /* who waited for the window is free from its opening on, not since its warm-up */
    for (int32_t i = 0; i < b->idle_n; i++) {
        int32_t w = b->idle[((int64_t)b->idle_first + i) % b->config.workers];
        if (b->config.quiesce_ns > 0)
            b->workers[w].free_since_ns = now_ns;
    }
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
    b->stage = BAND_DRAIN;
    if (b->in_flight == 0) {
        b->stage = BAND_DONE;
        b->result.t_drained_ns = close_ns == TIME_NONE ? now_ns : close_ns;
    }
}

int band_new(struct band **out, const struct band_config *config, int64_t now_ns, struct error *err)
{
    struct band *b;

    if (config->workers < 1 || config->workers > BAND_WORKERS_MAX)
        return error_set(err, ERROR_USAGE, "a band of %d is outside 1 to %d", config->workers,
                         BAND_WORKERS_MAX);
    b = calloc(1, sizeof *b);
    if (!b)
        return error_no_memory(err);
    b->config = *config;
    b->workers = calloc((size_t)config->workers, sizeof *b->workers);
    b->idle = calloc((size_t)config->workers, sizeof *b->idle);
    if (!b->workers || !b->idle) {
        band_free(b);
        return error_no_memory(err);
    }
    b->quiesce_until_ns = TIME_NONE;
    b->result = (struct band_result){.t_start_ns = now_ns,
                                     .t_open_ns = TIME_NONE,
                                     .t_close_ns = TIME_NONE,
                                     .t_drained_ns = TIME_NONE,
                                     .status = STATUS_UNMEASURED};
    for (int32_t i = 0; i < config->workers; i++)
        idle_push(b, i, now_ns);
    if (config->warmup <= 0)
        open_window(b, now_ns);
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

/* Whom the guard held back was not late: it was due when the decision fell. */
static void release_held(struct band *b, int64_t at_ns)
{
    for (int32_t i = 0; i < b->idle_n; i++) {
        struct worker *w = &b->workers[b->idle[((int64_t)b->idle_first + i) % b->config.workers]];
        if (w->free_since_ns >= at_ns - BAND_CLOSE_GUARD_NS && w->free_since_ns < at_ns)
            w->free_since_ns = at_ns;
    }
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
        release_held(b, at_ns);
        b->next_second++;
    }
}

void band_tick(struct band *b, int64_t now_ns)
{
    if (b->stage == BAND_QUIESCE && b->quiesce_until_ns != TIME_NONE &&
        now_ns >= b->quiesce_until_ns)
        open_window(b, now_ns);
    while (b->stage == BAND_WINDOW && now_ns >= next_look(b))
        look_at_window(b, next_look(b), now_ns);
}

/* A worker done with its warm-up waits only where load is to pause before the window. */
static bool may_send(const struct band *b, int64_t now_ns)
{
    if (b->idle_n == 0)
        return false;
    if (b->stage == BAND_WARMUP)
        return true;
    if (b->stage != BAND_WINDOW)
        return false;
    if (b->config.requests > 0)
        return b->result.issued_window < b->config.requests;
    int64_t look = next_look(b), elapsed = look - b->result.t_open_ns;
    bool may_close = elapsed >= b->config.window_ns || elapsed >= b->config.max_window_ns;
    return !may_close || now_ns < look - BAND_CLOSE_GUARD_NS;
}

bool band_would_send(struct band *b, int64_t now_ns, enum sample_phase *phase)
{
    band_tick(b, now_ns);
    *phase = b->stage == BAND_WINDOW ? PHASE_WINDOW : PHASE_WARMUP;
    return may_send(b, now_ns);
}

bool band_next(struct band *b, int64_t now_ns, struct band_issue *issue)
{
    struct worker *w;
    int32_t i;

    band_tick(b, now_ns);
    if (!may_send(b, now_ns))
        return false;
    i = idle_pop(b);
    w = &b->workers[i];
    w->busy = true;
    w->window_request = b->stage == BAND_WINDOW;
    b->in_flight++;
    *issue = (struct band_issue){
        .worker = i,
        .seq = b->seq++,
        .phase = w->window_request ? PHASE_WINDOW : PHASE_WARMUP,
        .phase_index = w->window_request ? b->result.issued_window++ : b->result.issued_warmup++,
        .start_cohort = w->window_request && !w->had_window &&
                        (b->config.quiesce_ns > 0 || b->config.warmup <= 0),
        .t_planned_ns = w->free_since_ns,
    };
    w->had_window |= w->window_request;
    return true;
}

static void warmed(struct band *b, struct worker *w, int32_t worker, int64_t t_end_ns,
                   int64_t now_ns)
{
    w->warmed++;
    if (w->warmed == b->config.warmup)
        b->warmed_workers++;
    /* with a quiesce period a worker that is done stays out until the window */
    if (b->config.quiesce_ns > 0 && w->warmed >= b->config.warmup) {
        w->free_since_ns = t_end_ns;
        if (b->warmed_workers < b->config.workers)
            return;
        b->stage = BAND_QUIESCE;
        b->quiesce_until_ns = now_ns + b->config.quiesce_ns;
        b->idle_first = b->idle_n = 0;
        for (int32_t i = 0; i < b->config.workers; i++)
            idle_push(b, i, now_ns);
        return;
    }
    idle_push(b, worker, t_end_ns);
    if (b->warmed_workers == b->config.workers)
        open_window(b, now_ns);
}

void band_ended(struct band *b, int32_t worker, int64_t t_end_ns, int64_t now_ns)
{
    struct worker *w = &b->workers[worker];

    assert(worker >= 0 && worker < b->config.workers && w->busy);
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
    if (b->stage == BAND_WARMUP) {
        warmed(b, w, worker, t_end_ns, now_ns);
        return;
    }
    idle_push(b, worker, t_end_ns);
    /* [open, close) is half open: the last end must lie inside */
    if (b->config.requests > 0 && b->result.ended_window == b->config.requests)
        stop(b, now_ns > t_end_ns ? now_ns : t_end_ns + 1, now_ns, STATUS_PASS, NULL);
}

static void give_up(struct band *b, int64_t now_ns, enum status status, const char *reason)
{
    if (b->stage >= BAND_DRAIN)
        return;
    b->cancel = true;
    stop(b, TIME_NONE, now_ns, status, reason);
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
    if (b->stage == BAND_QUIESCE)
        return b->quiesce_until_ns;
    return b->stage == BAND_WINDOW ? next_look(b) : INT64_MAX;
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
