/* Whether an open loop's requests were due when its arrivals, drawn again, say. */
#include <stdlib.h>

#include "verify/note.h"

struct phase_check {
    struct verify_work *w;
    const struct run_band *b;
};

static void fail_at(const struct phase_check *c, const struct sample *s, const char *what)
{
    verify_fail(c->w->report, VERIFY_ARRIVALS, &(struct verify_place){.file = c->b->sample_file},
                "the request of sequence number %lld %s", (long long)s->seq, what);
}

static int by_seq(const void *a, const void *b)
{
    int64_t x = (*(const struct sample *const *)a)->seq,
            y = (*(const struct sample *const *)b)->seq;

    return (x > y) - (x < y);
}

/* The requests of a phase in the order in which they were issued; NULL without memory. */
static const struct sample **in_order(const struct sample *samples, size_t n,
                                      enum sample_phase phase, struct arena *scratch, size_t *found)
{
    const struct sample **list = arena_array(scratch, n + 1, sizeof *list);

    *found = 0;
    for (size_t i = 0; list && i < n; i++)
        if (samples[i].phase == phase && samples[i].retry_of == COUNT_NONE)
            list[(*found)++] = &samples[i];
    if (list)
        qsort(list, *found, sizeof *list, by_seq);
    return list;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Why a request may have been due later than planned: the cap let it through when another ended, or
 * the decision on the close kept it for the guard's time at most. */
static bool may_wait(const struct phase_check *c, const struct sample *s, const int64_t *ends,
                     size_t ends_n)
{
    int64_t late = s->t_due_ns - s->t_planned_ns, open = c->b->t_open_ns;

    if (late < 0)
        return false;
    if (c->w->receipt.run.plan.max_in_flight > 0 && ends_n > 0 &&
        bsearch(&s->t_due_ns, ends, ends_n, sizeof *ends, by_time))
        return true;
    return late <= RUN_CLOSE_GUARD_NS && open != TIME_NONE && s->t_due_ns > open &&
           (s->t_due_ns - open) % INT64_C(1000000000) == 0;
}

static void check_due(const struct phase_check *c, const struct sample *const *list, size_t n,
                      const int64_t *ends, size_t ends_n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i]->t_due_ns != TIME_NONE && !may_wait(c, list[i], ends, ends_n))
            fail_at(c, list[i], "was kept waiting by nothing that was asked for");
}

/* Each request was planned when the arrivals say. On return *drawn has given them all. */
static void check_planned(const struct phase_check *c, const struct sample *const *list, size_t n,
                          int64_t begin_ns, struct arrivals *drawn)
{
    for (size_t i = 0; i < n; i++) {
        int64_t due = begin_ns + arrivals_next(drawn);
        if (begin_ns != TIME_NONE && list[i]->t_planned_ns == due)
            continue;
        fail_at(c, list[i], "was not planned when the drawn arrivals are due");
        return;
    }
}

/* How many the window planned, sent or not. `next` gives those behind the ones that were sent. */
static void check_count(const struct phase_check *c, size_t sent, struct arrivals *next)
{
    const struct run_plan *p = &c->w->receipt.run.plan;
    const struct run_band *b = c->b;
    int64_t planned = (int64_t)sent, most = p->requests > 0 ? p->requests : INT64_MAX;
    bool closed = b->t_open_ns != TIME_NONE && b->t_close_ns != TIME_NONE;

    if (most > (int64_t)METRICS_SAMPLES_MAX)
        most = (int64_t)METRICS_SAMPLES_MAX;
    while (closed && planned < most &&
           b->t_open_ns + arrivals_next(next) < b->t_close_ns - RUN_CLOSE_GUARD_NS)
        planned++;
    /* a window that never closed planned until it was given up, which no sample tells */
    if (closed ? b->planned != planned : b->planned < planned)
        verify_fail(c->w->report, VERIFY_ARRIVALS, &(struct verify_place){.file = RECEIPT_NAME},
                    "band %d replicate %d says that %lld arrivals were planned; it is %lld",
                    (int)b->band, (int)b->replicate, (long long)b->planned, (long long)planned);
}

/* The trace itself is not at hand: its requests came in order, from the phase's beginning on, and a
 * window that passed replayed all of them. */
static void check_traced(const struct phase_check *c, const struct sample *const *list, size_t n,
                         enum sample_phase phase)
{
    const struct run_plan *p = &c->w->receipt.run.plan;
    const struct run_band *b = c->b;
    int64_t before = phase == PHASE_WARMUP ? b->t_start_ns : b->t_open_ns;

    for (size_t i = 0; i < n; i++) {
        if (before == TIME_NONE || list[i]->t_planned_ns < before)
            fail_at(c, list[i], "was planned before the one that the trace has above it");
        before = list[i]->t_planned_ns;
    }
    if (phase == PHASE_WARMUP)
        return;
    if (b->planned < (int64_t)n || b->planned > p->requests ||
        (b->status == STATUS_PASS && b->planned != p->requests))
        verify_fail(
            c->w->report, VERIFY_ARRIVALS, &(struct verify_place){.file = RECEIPT_NAME},
            "band %d replicate %d says that %lld arrivals were planned; %lld were sent, and "
            "the trace has %lld",
            (int)b->band, (int)b->replicate, (long long)b->planned, (long long)n,
            (long long)p->requests);
}

static void check_closed(const struct phase_check *c, const struct sample *samples, size_t n)
{
    const struct run_plan *p = &c->w->receipt.run.plan;
    for (size_t i = 0; i < n; i++)
        if (samples[i].t_due_ns != TIME_NONE)
            fail_at(c, &samples[i], "says when it was due, in a loop that plans nothing");
    for (size_t i = 0; p->ramp_n > 0 && i < n; i++) {
        const struct sample *s = &samples[i];
        int64_t step = (s->t_issue_ns - c->b->t_open_ns) / p->ramp_step_ns;
        if (s->phase != PHASE_WINDOW || s->t_issue_ns == TIME_NONE ||
            c->b->t_open_ns == TIME_NONE || step < 0)
            continue;
        if (step >= (int64_t)p->ramp_n || s->worker >= p->ramp[step])
            fail_at(c, s, "was sent by a worker that the ramp had not come to");
    }
    if (c->b->planned)
        verify_fail(c->w->report, VERIFY_ARRIVALS, &(struct verify_place){.file = RECEIPT_NAME},
                    "says that %lld requests were planned, in a loop that plans none",
                    (long long)c->b->planned);
}

int verify_arrivals(struct verify_work *w, size_t band, const struct sample *samples, size_t n,
                    struct arena *scratch, struct error *err)
{
    const struct phase_check c = {.w = w, .b = &w->receipt.run.bands[band]};
    const struct run_plan *p = &w->receipt.run.plan;

    if (!run_plan_is_open(p)) {
        check_closed(&c, samples, n);
        return 0;
    }
    int64_t *ends = arena_array(scratch, n + 1, sizeof *ends);
    size_t ends_n = 0;
    if (!ends)
        return arena_check(scratch, "the samples", err);
    for (size_t i = 0; i < n; i++)
        if (samples[i].t_end_ns != TIME_NONE)
            ends[ends_n++] = samples[i].t_end_ns;
    qsort(ends, ends_n, sizeof *ends, by_time);
    for (int phase = PHASE_WARMUP; phase <= PHASE_WINDOW; phase++) {
        struct arrivals drawn = {0};
        size_t found;
        const struct sample **list =
            in_order(samples, n, (enum sample_phase)phase, scratch, &found);
        if (!list)
            return arena_check(scratch, "the samples", err);
        check_due(&c, list, found, ends, ends_n);
        if (run_plan_is_trace(p)) {
            check_traced(&c, list, found, (enum sample_phase)phase);
            continue;
        }
        run_plan_arrivals(p, c.b->band, c.b->replicate, (enum sample_phase)phase, &drawn);
        check_planned(&c, list, found, phase == PHASE_WARMUP ? c.b->t_start_ns : c.b->t_open_ns,
                      &drawn);
        if (phase == PHASE_WINDOW)
            check_count(&c, found, &drawn);
    }
    return 0;
}
