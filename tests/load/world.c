#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct band_config world_base = {
    .workers = 1,
    .warmup = 2,
    .window_ns = 1 * S,
    .max_window_ns = 1800 * S,
    .min_samples = 30,
};

static struct sent *first_to_end(struct world *w)
{
    struct sent *first = NULL;

    for (size_t i = 0; i < w->n; i++) {
        if (!w->sent[i].ended && (!first || w->sent[i].t_end_ns < first->t_end_ns))
            first = &w->sent[i];
    }
    return first;
}

static void cancel_all(struct world *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (!w->sent[i].ended) {
            w->sent[i].ended = true;
            w->sent[i].t_end_ns = w->now_ns;
            band_ended(w->band, w->sent[i].issue.worker, w->now_ns, w->now_ns);
        }
    }
}

static void send_due(struct world *w)
{
    struct band_issue issue;

    while (band_next(w->band, w->now_ns, &issue)) {
        assert_true(w->n < SENT_MAX);
        w->sent[w->n++] = (struct sent){
            issue, w->now_ns, w->now_ns + w->service_ns + issue.worker * w->service_step_ns, false};
    }
}

void world_run(struct world *w, const struct band_config *config, struct band_result *r)
{
    struct error err = {0};

    if (w->interrupt_ns == 0)
        w->interrupt_ns = INT64_MAX;
    assert_int_equal(band_new(&w->band, config, w->now_ns, &err), 0);
    while (band_stage(w->band) != BAND_DONE) {
        send_due(w);
        struct sent *s = first_to_end(w);
        int64_t until = band_deadline(w->band);
        bool is_end = s && s->t_end_ns <= until;
        if (is_end)
            until = s->t_end_ns;
        assert_true(until != INT64_MAX); /* else the band would wait for ever */
        if (w->interrupt_ns <= until) {
            w->now_ns = w->interrupt_ns;
            w->interrupt_ns = INT64_MAX;
            band_interrupt(w->band, w->now_ns);
        } else {
            w->now_ns = until + w->late_ns;
            if (is_end) {
                bool ok = !(w->fail_from && s->issue.seq + 1 >= w->fail_from &&
                            s->issue.seq + 1 <= w->fail_to);
                s->ended = true;
                band_ended(w->band, s->issue.worker, s->t_end_ns, w->now_ns);
                band_judged(w->band, s->issue.phase, ok, w->now_ns);
            } else {
                band_tick(w->band, w->now_ns);
            }
        }
        if (band_wants_cancel(w->band))
            cancel_all(w);
    }
    assert_int_equal(band_in_flight(w->band), 0);
    band_get_result(w->band, r);
    band_free(w->band);
}

/* What holds of every band, however it went. */
void world_check(const struct world *w, const struct band_result *r)
{
    int64_t warmup = 0, window = 0;

    for (size_t i = 0; i < w->n; i++) {
        const struct sent *s = &w->sent[i];
        assert_int_equal(s->issue.seq, i);
        assert_true(s->issue.t_planned_ns <= s->t_sent_ns);
        if (s->issue.phase == PHASE_WINDOW) {
            assert_int_equal(s->issue.phase_index, window++);
            assert_true(s->t_sent_ns >= r->t_open_ns);
            if (r->t_close_ns != TIME_NONE)
                assert_true(s->t_sent_ns < r->t_close_ns);
        } else {
            assert_int_equal(s->issue.phase_index, warmup++);
        }
    }
    assert_int_equal(r->issued_warmup, warmup);
    assert_int_equal(r->issued_window, window);
}

int world_setup(void **state)
{
    *state = calloc(1, sizeof(struct world));
    return *state ? 0 : -1;
}

int world_teardown(void **state)
{
    free(*state);
    return 0;
}
