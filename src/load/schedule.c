#include "load/schedule.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "load/band.h"

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

static int check_bands(struct run_plan *p, struct error *err)
{
    bool open = run_plan_is_open(p);
    const char *option = run_plan_is_trace(p) ? "--trace-speed" : open ? "--rate" : "--bands";
    char name[RUN_BAND_NAME_MAX];

    if (p->bands_n < 1 || p->bands_n > RUN_BANDS_MAX)
        return error_set(err, ERROR_USAGE, "%s needs 1 to %d %s", option, RUN_BANDS_MAX,
                         open ? "rates" : "levels of concurrency");
    qsort(p->bands, p->bands_n, sizeof *p->bands, ascending);
    for (size_t i = 0; i < p->bands_n; i++) {
        if (open)
            run_band_name(name, p, p->bands[i]);
        else
            snprintf(name, sizeof name, "%d", p->bands[i]);
        if (!open && (p->bands[i] < 1 || p->bands[i] > BAND_WORKERS_MAX))
            return error_set(err, ERROR_USAGE, "--bands: %d is outside 1 to %d", p->bands[i],
                             BAND_WORKERS_MAX);
        if (i > 0 && p->bands[i] == p->bands[i - 1])
            return error_set(err, ERROR_USAGE, "%s: %s stands there twice", option, name);
    }
    if (run_plan_check_load(p, err) < 0) {
        err->kind = ERROR_USAGE;
        return -1;
    }
    return 0;
}

int schedule_check(struct run_plan *p, struct error *err)
{
    if (check_bands(p, err) < 0)
        return -1;
    if (p->replicates < 1 || p->replicates > RUN_REPLICATES_MAX)
        return error_set(err, ERROR_USAGE, "--replicates %d is outside 1 to %d", p->replicates,
                         RUN_REPLICATES_MAX);
    if (p->timeout_ns <= 0) {
        error_set(err, ERROR_USAGE, "--timeout must be above 0");
        return error_remedy(err, "a request that never ends would keep its band from ending");
    }
    if (p->requests <= 0 && p->window_ns > p->max_window_ns) {
        error_set(err, ERROR_USAGE, "--window is longer than --max-window");
        return error_remedy(err, "give a larger --max-window");
    }
    if (p->max_window_ns <= 0)
        return error_set(err, ERROR_USAGE, "--max-window must be above 0");
    if (p->max_tokens != COUNT_NONE && p->max_tokens < 1)
        return error_set(err, ERROR_USAGE, "--max-tokens must be at least 1");
    return 0;
}

size_t schedule_length(const struct run_plan *p, size_t lanes_n)
{
    return (size_t)p->replicates * p->bands_n * lanes_n;
}

void schedule_make(const struct run_plan *p, size_t lanes_n, struct schedule_step *steps)
{
    size_t n = 0;

    for (int32_t r = 1; r <= p->replicates; r++) {
        for (size_t b = 0; b < p->bands_n; b++) {
            for (size_t k = 0; k < lanes_n; k++) {
                size_t lane = r % 2 == 1 ? k : lanes_n - 1 - k;
                steps[n++] = (struct schedule_step){lane, p->bands[b], r};
            }
        }
    }
}

/* A rate is a rate, whatever the server's latency. */
static void estimate_open(const struct run_plan *p, int32_t mrps, int64_t latency_ns,
                          int64_t *requests, int64_t *ns)
{
    if (run_plan_is_trace(p)) {
        *requests = p->warmup + p->requests;
        *ns = (int64_t)((double)p->trace_span_ns * 1000 / mrps) + p->quiesce_ns + 2 * latency_ns;
        return;
    }
    double rps = (double)mrps / 1000;
    int64_t samples = run_plan_min_samples(p, mrps);
    double window_ns = p->requests > 0 ? 0 : (double)p->window_ns;

    if ((double)samples / rps * 1e9 > window_ns)
        window_ns = (double)samples / rps * 1e9;
    else
        samples = (int64_t)(rps * window_ns / 1e9);
    if (window_ns > (double)p->max_window_ns)
        window_ns = (double)p->max_window_ns;
    *requests = p->warmup + samples;
    *ns = (int64_t)(p->warmup / rps * 1e9 + window_ns) + p->quiesce_ns + 2 * latency_ns;
}

void schedule_estimate_step(const struct run_plan *p, int32_t band, int64_t latency_ns,
                            int64_t *requests, int64_t *ns)
{
    if (run_plan_is_open(p)) {
        estimate_open(p, band, latency_ns, requests, ns);
        return;
    }
    if (p->ramp_n > 0) {
        *requests = (int64_t)p->warmup * p->ramp[0];
        for (size_t i = 0; i < p->ramp_n; i++)
            *requests += p->ramp[i] * (latency_ns > 0 ? p->ramp_step_ns / latency_ns : 1);
        *ns = p->warmup * latency_ns + p->quiesce_ns + p->window_ns + latency_ns;
        return;
    }
    int64_t samples = run_plan_min_samples(p, band);
    int64_t rounds = (samples + band - 1) / band;
    int64_t window_ns = p->requests > 0 ? 0 : p->window_ns;

    if (latency_ns > 0 && rounds * latency_ns > window_ns)
        window_ns = rounds * latency_ns;
    else if (latency_ns > 0 && band * (window_ns / latency_ns) > samples)
        samples = band * (window_ns / latency_ns);
    if (window_ns > p->max_window_ns)
        window_ns = p->max_window_ns;
    *requests = (int64_t)p->warmup * band + samples;
    *ns = p->warmup * latency_ns + p->quiesce_ns + window_ns + latency_ns;
}

void schedule_estimate(const struct run_plan *p, size_t lanes_n,
                       const int64_t latency_ns[RUN_LANES_MAX], int64_t *requests, int64_t *ns)
{
    /* a search that ends soonest probes the lowest rate alone */
    size_t bands = p->search ? 1 : p->bands_n;

    *requests = 0;
    *ns = 0;
    for (size_t b = 0; b < bands; b++) {
        for (size_t lane = 0; lane < lanes_n; lane++) {
            int64_t n, t;
            schedule_estimate_step(p, p->bands[b], latency_ns[lane], &n, &t);
            *requests += n * p->replicates;
            *ns += t * p->replicates;
        }
    }
    *ns += (int64_t)((size_t)p->replicates * bands * lanes_n - 1) * p->cooldown_ns;
}
