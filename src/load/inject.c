#include "load/inject.h"

int injection_init(struct injection *in, const struct run_plan *plan,
                   const struct prompts_source *source, struct error *err)
{
    *in = (struct injection){.half_ns = plan->window_ns / 2,
                             .half_requests = plan->requests > 0 ? (plan->requests + 1) / 2 : 0};
    return plan->injector ? prompt_make(source, PHASE_INJECTED, 0, &in->prompt, err) : 0;
}

void injection_release(struct injection *in)
{
    prompt_free(in->prompt);
    in->prompt = NULL;
}

int64_t injection_deadline(const struct injection *in, const struct band *b)
{
    struct band_result r;

    if (!in->prompt || in->half_requests > 0 || band_stage(b) != BAND_WINDOW)
        return INT64_MAX;
    band_get_result(b, &r);
    return r.t_open_ns + in->half_ns;
}

bool injection_due(const struct injection *in, const struct band *b, int64_t now_ns)
{
    struct band_result r;

    if (!in->prompt || band_stage(b) != BAND_WINDOW)
        return false;
    band_get_result(b, &r);
    if (in->half_requests > 0)
        return r.issued_window >= in->half_requests;
    return now_ns >= r.t_open_ns + in->half_ns;
}

struct prompt *injection_take(struct injection *in, int64_t now_ns, struct band_issue *issue)
{
    struct prompt *taken = in->prompt;

    *issue =
        (struct band_issue){.seq = in->issued++, .phase = PHASE_INJECTED, .t_planned_ns = now_ns};
    in->prompt = NULL;
    in->in_flight = true;
    return taken;
}
