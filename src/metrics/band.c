#include "metrics/band.h"

#include <stdlib.h>
#include <string.h>

#include "record/workload.h"
#include "stats/quantile.h"

#define SCRATCH_MAX ((size_t)8 << 30)

bool band_in_window(const struct band_work *w, const struct sample *s)
{
    const struct metrics_band_facts *f = w->facts;
    int64_t at = s->t_sent_ns != TIME_NONE ? s->t_sent_ns : s->t_issue_ns;
    return s->phase == PHASE_WINDOW && f->t_open_ns != TIME_NONE && at != TIME_NONE &&
           at >= f->t_open_ns && (f->t_close_ns == TIME_NONE || at < f->t_close_ns);
}

bool band_is_success(const struct sample *s)
{
    return s->outcome == OUTCOME_OK && s->retry_of == COUNT_NONE;
}

void band_null(struct metrics_metric *m, enum metrics_reason why)
{
    *m = (struct metrics_metric){.why = why};
    for (int i = 0; i < METRICS_STATS; i++)
        m->stats[i].why = why;
}

void band_set_percentile(struct metrics_stat *stat, enum metrics_stat_id id, const int64_t *sorted,
                         size_t n)
{
    *stat = (struct metrics_stat){0};
    if (n < (size_t)metrics_stat_least_n(id)) {
        stat->why = REASON_N_TOO_SMALL;
        return;
    }
    int64_t v = sorted[stats_rank(n, (unsigned)metrics_stat_percent(id)) - 1];
    if (v == STATS_INFINITE)
        stat->why = REASON_CENSORED;
    else
        stat->ns = v;
}

int band_summarize(struct metrics_metric *m, int64_t *values, size_t n, enum metrics_reason none,
                   struct error *err)
{
    if (n == 0) {
        band_null(m, none);
        return 0;
    }
    if (stats_sort(values, n, err) < 0)
        return -1;
    *m = (struct metrics_metric){.n = (int64_t)n};
    while ((size_t)m->censored_n < n && values[n - 1 - (size_t)m->censored_n] == STATS_INFINITE)
        m->censored_n++;
    for (int i = 0; i < METRICS_STATS; i++)
        if (metrics_stat_percent((enum metrics_stat_id)i) > 0)
            band_set_percentile(&m->stats[i], (enum metrics_stat_id)i, values, n);
    if (m->censored_n > 0) {
        m->stats[STAT_MEAN].why = m->stats[STAT_MAX].why = REASON_CENSORED;
    } else {
        m->stats[STAT_MEAN].ns = stats_divide_sum(values, n, (int64_t)n);
        m->stats[STAT_MAX].ns = values[n - 1];
    }
    if (values[0] == STATS_INFINITE)
        m->stats[STAT_MIN].why = REASON_CENSORED;
    else
        m->stats[STAT_MIN].ns = values[0];
    return 0;
}

/* Every prompt is new, or the server is asked to take each as new; unless the workload is meant to
 * repeat itself. */
static bool is_cold(const struct run_plan *plan)
{
    const char *cache = plan->cache_policy ? plan->cache_policy : "";
    bool unique = plan->prompt_policy && strcmp(plan->prompt_policy, "unique") == 0;
    return strcmp(cache, "cold") == 0 || (unique && strcmp(cache, "friendly") != 0);
}

void metrics_facts_from_run(struct metrics_band_facts *f, const struct run_plan *plan,
                            const struct run_lane *lane, const struct run_band *band)
{
    *f = (struct metrics_band_facts){
        .lane = lane->role,
        .band = band->band,
        .replicate = band->replicate,
        .t_open_ns = band->t_open_ns,
        .t_close_ns = band->t_close_ns,
        .t_drained_ns = band->t_drained_ns,
        .stream = plan->stream,
        .open_loop = run_plan_is_open(plan),
        .unsent = band->planned > band->issued ? band->planned - band->issued : 0,
        /* what the kernel stamped with a clock that was set meanwhile is worth nothing */
        .kernel_time =
            plan->time_source && strcmp(plan->time_source, "kernel") == 0 && band->clock.steps <= 0,
        .clock_steps = band->clock.steps,
        .cold = is_cold(plan),
        .injector = plan->injector != NULL,
        .asked_cold = run_lane_cache(plan, lane) && strcmp(run_lane_cache(plan, lane), "cold") == 0,
        .source = metrics_source_find(plan->output_count_source),
        .assignment = metrics_assignment_find(plan->token_assignment),
        .issued = band->issued,
        .issued_warmup = band->issued_warmup,
        .issued_injected = band->issued_injected,
        .slo_ttft_ns = plan->slo_ttft_ns,
        .slo_tpot_ns = plan->slo_tpot_ns,
        .slo_e2e_ns = plan->slo_e2e_ns,
        .ramp = plan->ramp,
        .ramp_n = plan->ramp_n,
        .ramp_step_ns = plan->ramp_step_ns,
        .client = band->client,
    };
}

/* For those who see all samples of a band. */
static bool is_own_success(const struct sample *s)
{
    return s->phase != PHASE_INJECTED && band_is_success(s);
}

unsigned metrics_sources(const struct sample *samples, size_t n)
{
    unsigned all = (1u << METRICS_SOURCES) - 1;
    for (size_t i = 0; i < n; i++)
        for (int source = 0; is_own_success(&samples[i]) && source < METRICS_SOURCES; source++)
            if (timeline_count(&samples[i], (enum metrics_source)source) == COUNT_NONE)
                all &= ~(1u << source);
    return all;
}

enum metrics_source metrics_best_source(unsigned sources)
{
    for (int source = 0; source < METRICS_SOURCES; source++)
        if (sources & 1u << source)
            return (enum metrics_source)source;
    return SOURCE_NONE;
}

unsigned metrics_ways(const struct sample *samples, size_t n)
{
    unsigned ways = ~0u;
    for (size_t i = 0; i < n; i++) {
        size_t bearing = 0;
        for (size_t e = 0; e < samples[i].events_n; e++)
            bearing += sample_event_has_token(&samples[i].events[e]);
        if (is_own_success(&samples[i]) && bearing > 1)
            ways &= timeline_ways(&samples[i]);
    }
    return ways;
}

enum metrics_assignment metrics_best_way(unsigned ways)
{
    return timeline_first_way(ways);
}

/* One way for the whole band: the run's, where it names one that this band offers; else the first
 * that every ok request of several arrivals offers. */
int band_assign(struct band_work *w, struct error *err)
{
    struct metrics_tokens *out = &w->out->tokens;
    enum metrics_source source = w->facts->source;
    unsigned ways = ~0u;
    bool several = false, any = false;
    for (size_t i = 0; i < w->n; i++) {
        if (timeline_make(&w->lines[i], &w->samples[i], w->facts->kernel_time, w->scratch, err) < 0)
            return -1;
        if (!band_is_success(&w->samples[i]))
            continue;
        any |= w->lines[i].n > 0;
        if (w->lines[i].n > 1) {
            ways &= timeline_ways(&w->samples[i]);
            several = true;
        }
    }
    out->source = source;
    bool named = w->facts->assignment != ASSIGN_NONE && ways & 1u << w->facts->assignment;
    out->assignment = several ? named ? w->facts->assignment : timeline_first_way(ways)
                      : any ? ASSIGN_SINGLE
                              : ASSIGN_NONE;
    out->total = source == SOURCE_NONE ? COUNT_NONE : 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (!band_is_success(s))
            continue;
        int64_t count = timeline_count(s, source);
        timeline_assign(&w->lines[i], s, out->assignment, count);
        if (w->lines[i].n > 0 && !w->lines[i].assigned) {
            w->unassigned = true;
            out->unassigned++;
        }
        if (band_in_window(w, s) && out->total != COUNT_NONE)
            out->total = count == COUNT_NONE ? COUNT_NONE : out->total + count;
    }
    return 0;
}

static void refuse(struct metrics_band *out, const char *reason)
{
    if (out->status == STATUS_REFUSED)
        return;
    out->status = STATUS_REFUSED;
    out->reason = reason;
}

static void judge(struct band_work *w)
{
    struct metrics_band *out = w->out;
    out->status = STATUS_PASS;
    out->reason = NULL;
    out->flags = 0;
    if (!out->counts.conserved)
        refuse(out, "conservation");
    if (out->counts.sent_outside > 0)
        refuse(out, "sent_outside_window");
    /* what is no answer stays none on a faster client, so it is said first */
    if (out->outputs.degenerate * 2 > out->outputs.checked)
        refuse(out, "invalid_correctness");
    if (out->client.verdict == CLIENT_SATURATED)
        refuse(out, "client_saturated");
    if (out->drain_ns != COUNT_NONE && out->window_ns != COUNT_NONE &&
        out->drain_ns > out->window_ns / 2)
        out->flags |= 1u << FLAG_DRAIN;
    if (out->client.verdict == CLIENT_SUSPECT)
        out->flags |= 1u << FLAG_CLIENT;
    if (w->facts->cold && out->work.cached_unexplained > 0)
        out->flags |= 1u << FLAG_CACHED;
    if (out->outputs.degenerate > 0)
        out->flags |= 1u << FLAG_DEGENERATE;
    if (out->counts.zero_token > 0)
        out->flags |= 1u << FLAG_ZERO_TOKEN;
    if (out->work.departed_requests > 0)
        out->flags |= 1u << FLAG_DEPARTS;
    if (w->facts->clock_steps > 0)
        out->flags |= 1u << FLAG_CLOCK;
    out->suspect = out->flags != 0;
}

static int check_input(const struct sample *samples, size_t n,
                       const struct metrics_band_facts *facts, struct error *err)
{
    if (n > METRICS_SAMPLES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %zu samples in a band", METRICS_SAMPLES_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct sample *s = &samples[i];
        if (!str_eq(s->lane, str_of(facts->lane)) || s->band != facts->band ||
            s->replicate != facts->replicate) {
            error_set(err, ERROR_INPUT,
                      "sample %zu is of %.*s, c = %d, replicate %d, and not of %s, c = %d, "
                      "replicate %d",
                      i, STR_ARG(s->lane), s->band, s->replicate, facts->lane, facts->band,
                      facts->replicate);
            return error_rule(err, "band_identity");
        }
        if (sample_check_order(s, err) < 0)
            return error_wrap(err, "sample %zu (seq %lld)", i, (long long)s->seq);
    }
    return 0;
}

/* What is no request of the band's own is taken out first, so that no statistic can hold it. */
static int take_apart(struct band_work *w, struct error *err)
{
    const struct sample *all = w->samples;
    size_t n = w->n, apart = 0;
    for (size_t i = 0; i < n; i++)
        apart += all[i].phase == PHASE_INJECTED;
    if (apart == 0)
        return 0;
    struct sample *own = arena_array(w->scratch, n - apart, sizeof *own);
    struct sample *others = arena_array(w->scratch, apart, sizeof *others);
    if (!own || !others)
        return arena_check(w->scratch, "metrics", err);
    for (size_t i = 0, a = 0, b = 0; i < n; i++)
        *(all[i].phase == PHASE_INJECTED ? &others[b++] : &own[a++]) = all[i];
    w->samples = own;
    w->n = n - apart;
    w->apart = others;
    w->apart_n = apart;
    return 0;
}

static int compute(struct band_work *w, struct error *err)
{
    const struct metrics_band_facts *f = w->facts;
    struct metrics_band *out = w->out;
    bool closed = f->t_open_ns != TIME_NONE && f->t_close_ns != TIME_NONE;
    w->lines = arena_array(w->scratch, w->n, sizeof *w->lines);
    if (!w->lines)
        return arena_check(w->scratch, "metrics", err);
    out->facts = *f;
    out->window_ns =
        closed && f->t_close_ns > f->t_open_ns ? f->t_close_ns - f->t_open_ns : COUNT_NONE;
    out->drain_ns = closed && f->t_drained_ns != TIME_NONE && f->t_drained_ns >= f->t_close_ns
                        ? f->t_drained_ns - f->t_close_ns
                        : COUNT_NONE;
    for (int i = 0; i < METRIC_COUNT; i++)
        band_null(&out->metrics[i], REASON_NOTHING);
    if (band_assign(w, err) < 0 || band_counts(w, err) < 0 || band_times(w, err) < 0 ||
        band_gaps(w, err) < 0 || band_rates(w, err) < 0 || band_prompts(w, err) < 0)
        return -1;
    if (band_outputs(w, err) < 0 || band_injector(w, err) < 0 || band_client(w, err) < 0 ||
        band_steps(w, err) < 0)
        return -1;
    metrics_set_base(out, NULL);
    judge(w);
    return 0;
}

int metrics_band_compute(const struct sample *samples, size_t n,
                         const struct metrics_band_facts *facts, struct arena *arena,
                         struct metrics_band *out, struct error *err)
{
    struct arena scratch;
    struct metrics_band *made = calloc(1, sizeof *made);
    struct band_work w = {.samples = samples,
                          .n = n,
                          .facts = facts,
                          .arena = arena,
                          .scratch = &scratch,
                          .out = made};
    if (!made)
        return error_no_memory(err);
    arena_init(&scratch, SCRATCH_MAX);
    int status = check_input(samples, n, facts, err);
    if (status == 0)
        status = take_apart(&w, err);
    if (status == 0)
        status = compute(&w, err);
    if (status == 0)
        *out = *made;
    arena_release(&scratch);
    free(made);
    return status;
}
