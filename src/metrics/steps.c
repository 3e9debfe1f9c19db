/* A ramp, step by step: the metrics of what was sent in each, as if each were a window. */
#include "metrics/band.h"

#define STEP_ARENA_MAX ((size_t)4 << 30)

static int measure_step(const struct band_work *w, size_t k, struct metrics_step *out,
                        struct error *err)
{
    struct metrics_band_facts facts = *w->facts;
    struct metrics_band *m;
    struct arena arena;
    int status = -1;
    facts.t_open_ns += (int64_t)k * facts.ramp_step_ns;
    facts.t_close_ns = facts.t_open_ns + facts.ramp_step_ns;
    facts.t_drained_ns = TIME_NONE;
    facts.ramp_n = 0;
    arena_init(&arena, STEP_ARENA_MAX);
    m = arena_alloc(&arena, sizeof *m);
    if (!m) {
        arena_check(&arena, "metrics", err);
        goto out;
    }
    if (metrics_band_compute(w->samples, w->n, &facts, &arena, m, err) < 0)
        goto out;
    *out = (struct metrics_step){
        .c = w->facts->ramp[k], .t_open_ns = facts.t_open_ns, .t_close_ns = facts.t_close_ns};
    for (int i = 0; i < METRIC_COUNT; i++) {
        out->metrics[i] = m->metrics[i];
        out->metrics[i].values = NULL;
        out->metrics[i].values_n = 0;
    }
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        bool here = s->phase == PHASE_WINDOW && s->t_sent_ns != TIME_NONE &&
                    s->t_sent_ns >= facts.t_open_ns && s->t_sent_ns < facts.t_close_ns;
        out->requests += here;
        out->ok += here && band_is_success(s);
    }
    status = 0;
out:
    arena_release(&arena);
    return status;
}

int band_steps(struct band_work *w, struct error *err)
{
    const struct metrics_band_facts *f = w->facts;
    if (f->ramp_n == 0)
        return 0;
    struct metrics_step *steps = arena_array(w->arena, f->ramp_n, sizeof *steps);
    if (!steps)
        return arena_check(w->arena, "metrics", err);
    /* a window that was cut off has the steps that it came to the end of */
    for (size_t k = 0; w->out->window_ns != COUNT_NONE && k < f->ramp_n; k++) {
        if (((int64_t)k + 1) * f->ramp_step_ns > w->out->window_ns)
            break;
        if (measure_step(w, k, &steps[k], err) < 0)
            return -1;
        w->out->steps_n++;
    }
    w->out->steps = steps;
    return 0;
}
