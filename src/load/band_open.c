/* The open loop: requests are sent when they are due, however many are in flight. */
#include <stdlib.h>

#include "load/band_internal.h"

#define PLACES_FIRST 64

static void advance(struct band *b, enum sample_phase phase)
{
    int64_t offset = b->config.arrival(b->config.ctx, phase);

    b->due_ns = offset == INT64_MAX ? INT64_MAX : b->phase_begin_ns + offset;
}

void open_begin(struct band *b, enum sample_phase phase, int64_t now_ns)
{
    b->phase_begin_ns = now_ns;
    advance(b, phase);
}

int open_new(struct band *b, int64_t now_ns, struct error *err)
{
    if (b->config.workers < 0)
        return error_set(err, ERROR_USAGE, "a cap of %d requests in flight", b->config.workers);
    b->let_ns = b->held_ns = TIME_NONE;
    b->result.planned_window = 0;
    open_begin(b, PHASE_WARMUP, now_ns);
    return 0;
}

static bool capped(const struct band *b)
{
    return b->config.workers > 0 && b->in_flight >= b->config.workers;
}

/* Whether an arrival is still to come that is sent when it is due; where load is to pause before
 * the window, warm-up has no more than it needs. */
static bool expects(const struct band *b)
{
    if (capped(b))
        return false;
    if (b->stage == BAND_WARMUP)
        return b->config.quiesce_ns <= 0 || b->result.issued_warmup < b->config.warmup;
    return b->stage == BAND_WINDOW && band_requests_left(b) > 0;
}

bool open_may_send(const struct band *b, int64_t now_ns)
{
    return expects(b) && b->due_ns <= now_ns &&
           (b->stage == BAND_WARMUP || !band_guarded(b, now_ns));
}

int64_t open_deadline(const struct band *b)
{
    int64_t at = b->due_ns > b->now_ns ? b->due_ns : b->now_ns;

    /* who waits for the decision on the close waits for the look at the window */
    return expects(b) && !(b->stage == BAND_WINDOW && band_guarded(b, at)) ? b->due_ns : INT64_MAX;
}

/* A free place, or one more. -1 without memory. */
static int32_t take_place(struct band *b)
{
    if (b->idle_n == 0) {
        int32_t n = b->workers_n > 0 ? b->workers_n * 2 : PLACES_FIRST;
        struct worker *places = realloc(b->workers, (size_t)n * sizeof *places);
        if (places)
            b->workers = places;
        int32_t *idle = places ? realloc(b->idle, (size_t)n * sizeof *idle) : NULL;
        if (!idle)
            return -1;
        b->idle = idle;
        for (int32_t i = n; i > b->workers_n; i--) {
            b->workers[i - 1] = (struct worker){0};
            b->idle[b->idle_n++] = i - 1;
        }
        b->workers_n = n;
    }
    return b->idle[--b->idle_n];
}

bool open_take(struct band *b, struct band_issue *issue)
{
    bool window = b->stage == BAND_WINDOW;
    int32_t place = take_place(b);

    if (place < 0)
        return false;
    issue->worker = place;
    issue->t_planned_ns = issue->t_due_ns = b->due_ns;
    /* what was asked for, a cap or the decision on the close, is not the client's delay */
    if (b->let_ns != TIME_NONE && b->let_ns > issue->t_due_ns)
        issue->t_due_ns = b->let_ns;
    if (b->held_ns != TIME_NONE && b->due_ns < b->held_ns &&
        b->due_ns >= b->held_ns - BAND_CLOSE_GUARD_NS && b->held_ns > issue->t_due_ns)
        issue->t_due_ns = b->held_ns;
    b->workers[place] = (struct worker){.window_request = window,
                                        .warms = !window && issue->phase_index < b->config.warmup};
    b->result.planned_window += window;
    advance(b, issue->phase);
    return true;
}

void open_free(struct band *b, int32_t place, int64_t t_end_ns)
{
    /* in_flight no longer counts it */
    if (b->config.workers > 0 && b->in_flight + 1 == b->config.workers)
        b->let_ns = t_end_ns;
    b->idle[b->idle_n++] = place;
}

void open_warmed(struct band *b, int32_t place, int64_t now_ns)
{
    b->warmed_workers += b->workers[place].warms;
    if (b->warmed_workers < b->config.warmup)
        return;
    if (b->config.quiesce_ns <= 0)
        band_open_window(b, now_ns);
    else if (b->in_flight == 0)
        band_begin_quiesce(b, now_ns);
}

void open_count_planned(struct band *b, int64_t end_ns)
{
    int64_t left = band_requests_left(b);

    if (left > BAND_PLANNED_MAX - b->result.planned_window)
        left = BAND_PLANNED_MAX - b->result.planned_window;
    for (; b->due_ns < end_ns && left > 0; left--) {
        b->result.planned_window++;
        advance(b, PHASE_WINDOW);
    }
}
