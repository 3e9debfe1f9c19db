/* Whether the bands were run as the plan declared. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "receipt/sweep.h"
#include "verify/note.h"

/* Its place in the declared order: replicates, bands ascending, lanes A B in odd replicates and B A
 * in even ones. */
static int64_t place_of(const struct run_record *run, const struct run_band *b)
{
    size_t c = 0, lane = b->lane;
    while (c < run->plan.bands_n && run->plan.bands[c] != b->band)
        c++;
    if (run->lanes_n == 2 && b->replicate % 2 == 0)
        lane = 1 - lane;
    return (((int64_t)b->replicate - 1) * (int64_t)run->plan.bands_n + (int64_t)c) *
               (int64_t)run->lanes_n +
           (int64_t)lane;
}

static void check_order(struct verify_work *w, size_t i)
{
    const struct run_record *run = &w->receipt.run;
    const struct run_band *b = &run->bands[i], *before = &run->bands[i - 1];
    char path[64];
    snprintf(path, sizeof path, "bands.%zu", i);
    const struct verify_place at = {.file = RECEIPT_NAME, .path = path};
    if (!run->plan.search && place_of(run, b) <= place_of(run, before))
        verify_fail(w->report, VERIFY_PROTOCOL, &at,
                    "%s c=%d r=%d does not follow %s c=%d r=%d in the declared order",
                    run->lanes[b->lane].role, (int)b->band, (int)b->replicate,
                    run->lanes[before->lane].role, (int)before->band, (int)before->replicate);
    if (b->t_start_ns != TIME_NONE && before->t_drained_ns != TIME_NONE &&
        b->t_start_ns < before->t_drained_ns)
        verify_fail(w->report, VERIFY_PROTOCOL, &at,
                    "starts before the band before it has drained");
}

static bool in_order(int64_t a, int64_t b)
{
    return a == TIME_NONE || b == TIME_NONE || a <= b;
}

static void check_times(struct verify_work *w, size_t i)
{
    const struct run_band *b = &w->receipt.run.bands[i];
    char path[64];
    snprintf(path, sizeof path, "bands.%zu", i);
    if (!in_order(b->t_start_ns, b->t_open_ns) || !in_order(b->t_open_ns, b->t_close_ns) ||
        !in_order(b->t_close_ns, b->t_drained_ns))
        verify_fail(w->report, VERIFY_PROTOCOL,
                    &(struct verify_place){.file = RECEIPT_NAME, .path = path},
                    "start, open, close and drained are not in this order");
}

/* Spec section 5: a window that closed as it should held both of its bounds. */
static void check_window(struct verify_work *w, size_t i)
{
    const struct run_plan *p = &w->receipt.run.plan;
    const struct run_band *b = &w->receipt.run.bands[i];
    char path[64];
    snprintf(path, sizeof path, "bands.%zu", i);
    const struct verify_place at = {.file = RECEIPT_NAME, .path = path};
    if (b->status != STATUS_PASS)
        return;
    if (b->t_open_ns == TIME_NONE || b->t_close_ns == TIME_NONE || b->t_drained_ns == TIME_NONE) {
        verify_fail(w->report, VERIFY_PROTOCOL, &at, "its window passed without open and close");
        return;
    }
    int64_t length = b->t_close_ns - b->t_open_ns;
    if (p->requests == 0 && length < p->window_ns)
        verify_fail(w->report, VERIFY_PROTOCOL, &at,
                    "its window of %.3f s is shorter than declared", (double)length / 1e9);
    if (p->requests == 0 && length > p->max_window_ns)
        verify_fail(w->report, VERIFY_PROTOCOL, &at, "its window of %.3f s is longer than allowed",
                    (double)length / 1e9);
    if (!w->measured || w->measure.facts[i].broken)
        return;
    const struct metrics_counts *c = &w->measure.metrics[i]->counts;
    int64_t ended = c->issued - c->drained, least = run_plan_min_samples(p, b->band);
    if (ended < least)
        verify_fail(w->report, VERIFY_PROTOCOL, &at,
                    "its window closed after %lld requests, before the %lld that were declared",
                    (long long)ended, (long long)least);
}

/* A sweep's bands are the probes of its searches, one search behind the other. */
static void check_sweep(struct verify_work *w)
{
    const struct run_record *run = &w->receipt.run;
    size_t at = 0;
    for (int32_t rep = 1; w->measured && rep <= run->plan.replicates; rep++)
        for (size_t k = 0; k < run->lanes_n; k++) {
            size_t lane = rep % 2 ? k : run->lanes_n - 1 - k;
            struct sweep_result r;
            sweep_replay(run, w->measure.metrics, lane, rep, &r);
            for (int64_t p = 0; p < r.probes; p++, at++)
                if (at >= run->bands_n || run->bands[at].lane != lane ||
                    run->bands[at].replicate != rep)
                    break;
        }
    if (w->measured && at != run->bands_n)
        verify_fail(w->report, VERIFY_PROTOCOL,
                    &(struct verify_place){.file = RECEIPT_NAME, .path = "bands"},
                    "%zu bands are there; the searches explain %zu, lane by lane in the declared "
                    "order",
                    run->bands_n, at);
}

/* At most one prompt was injected, where one was to be, and not before half of the window. */
static void check_injector(struct verify_work *w, size_t i)
{
    const struct run_plan *p = &w->receipt.run.plan;
    const struct run_band *b = &w->receipt.run.bands[i];
    char path[64];
    snprintf(path, sizeof path, "bands.%zu.injector", i);
    const struct verify_place at = {.file = RECEIPT_NAME, .path = path};
    if (!w->measured || w->measure.facts[i].broken)
        return;
    const struct metrics_injector *in = &w->measure.metrics[i]->injector;
    if (in->issued > (p->injector ? 1 : 0))
        verify_fail(w->report, VERIFY_PROTOCOL, &at, "%lld prompts were injected, %s was declared",
                    (long long)in->issued, p->injector ? "one" : "none");
    if (in->sent_ns == TIME_NONE || b->t_open_ns == TIME_NONE)
        return;
    if (in->sent_ns < b->t_open_ns + (p->requests > 0 ? 0 : p->window_ns / 2))
        verify_fail(w->report, VERIFY_PROTOCOL, &at,
                    "the prompt was injected before half of the window");
}

void verify_protocol(struct verify_work *w)
{
    size_t n = w->receipt.run.bands_n;
    for (size_t i = 0; i < n; i++) {
        if (i)
            check_order(w, i);
        check_times(w, i);
        check_window(w, i);
        check_injector(w, i);
    }
    if (w->receipt.run.plan.search)
        check_sweep(w);
    verify_pass(w->report, VERIFY_PROTOCOL, "%zu bands in the declared order", n);
}
