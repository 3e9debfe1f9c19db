#include "metrics/floor.h"

#include "base/num.h"
#include "metrics/band.h"

struct values {
    int64_t *kernel, *user, *lag;
    size_t kernel_n, user_n, lag_n;
};

static int add_sample(struct metrics_floor *f, struct values *v, const struct sample *s,
                      int64_t zero_mono_ns, struct error *err)
{
    f->requests++;
    if (s->outcome != OUTCOME_OK)
        return 0;
    f->requests_ok++;
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        const struct sample_read_stamp *r = &s->reads[e->read];
        int64_t mono_ns, sent_ns, upper_ns = r->t_user_ns;
        if (e->kind != EVENT_TEXT || e->text.n == 0)
            continue;
        if (num_parse_i64(&mono_ns, e->text) < 0 ||
            __builtin_sub_overflow(mono_ns, zero_mono_ns, &sent_ns) || sent_ns > SAMPLE_TIME_MAX ||
            sent_ns < -SAMPLE_TIME_MAX) {
            error_set(err, ERROR_INPUT, "'%.*s' is no send time", STR_ARG(str_first(e->text, 40)));
            return error_rule(err, "calibration");
        }
        v->user[v->user_n++] = r->t_user_ns - sent_ns;
        if (r->t_kernel_ns != TIME_NONE) {
            upper_ns = r->t_kernel_ns;
            v->kernel[v->kernel_n++] = r->t_kernel_ns - sent_ns;
        }
        f->outside += sent_ns > upper_ns;
        f->events++;
    }
    for (size_t i = 0; i < s->reads_n; i++)
        if (band_read_lag(&s->reads[i]) != COUNT_NONE)
            v->lag[v->lag_n++] = band_read_lag(&s->reads[i]);
    return 0;
}

int metrics_floor_compute(struct metrics_floor *out, const struct sample *samples, size_t n,
                          int64_t zero_mono_ns, struct arena *arena, struct error *err)
{
    struct metrics_floor f = {0};
    struct values v = {0};
    size_t events = 0, reads = 0;
    for (size_t i = 0; i < n; i++) {
        events += samples[i].events_n;
        reads += samples[i].reads_n;
    }
    v.kernel = arena_array(arena, events + 1, sizeof *v.kernel);
    v.user = arena_array(arena, events + 1, sizeof *v.user);
    v.lag = arena_array(arena, reads + 1, sizeof *v.lag);
    if (!v.kernel || !v.user || !v.lag)
        return arena_check(arena, "the client's floor", err);
    for (size_t i = 0; i < n; i++)
        if (add_sample(&f, &v, &samples[i], zero_mono_ns, err) < 0)
            return -1;
    if (band_lag(&f.kernel_error, v.kernel, v.kernel_n, err) < 0 ||
        band_lag(&f.user_error, v.user, v.user_n, err) < 0 ||
        band_lag(&f.read_lag, v.lag, v.lag_n, err) < 0)
        return -1;
    *out = f;
    return 0;
}
