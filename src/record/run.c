#include "record/run.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

void run_plan_init(struct run_plan *p)
{
    *p = (struct run_plan){
        .protocol = "custom",
        .bands = {1, 4, 8, 16},
        .bands_n = 4,
        .replicates = 6,
        .window_ns = 60 * NS_PER_S,
        .max_window_ns = 30 * 60 * NS_PER_S,
        .warmup = 2,
        .cooldown_ns = 10 * NS_PER_S,
        .timeout_ns = 10 * 60 * NS_PER_S,
        .load_model = "closed",
        .burstiness = -1,
        .arrival_seed = COUNT_NONE,
        .slo_ttft_ns = COUNT_NONE,
        .slo_tpot_ns = COUNT_NONE,
        .slo_e2e_ns = COUNT_NONE,
        .slo_share = -1,
        .trace_span_ns = COUNT_NONE,
        .wire = "chat",
        .prompt_form = "messages",
        .stream = true,
        .max_tokens = 128,
        .seed = 2026,
        .ignore_eos = true,
        .prompt_policy = "unique",
        .cache_policy = "cold",
        .time_source = "user",
        .connection_reuse = true,
        .token_progress = true,
        .special_text = "parsed",
        .corpus_count = COUNT_NONE,
        .corpus_tokens = COUNT_NONE,
        .corpus_tolerance = COUNT_NONE,
    };
}

void run_plan_w1(struct run_plan *p)
{
    run_plan_init(p);
    p->protocol = "w1";
    p->replicates = 5;
    p->quiesce_ns = 5 * NS_PER_S;
    p->corpus_tokens = 512;
    p->corpus_tolerance = 8;
}

bool run_plan_is_open(const struct run_plan *p)
{
    return (p->load_model && strcmp(p->load_model, "open") == 0) || run_plan_is_trace(p);
}

bool run_plan_is_trace(const struct run_plan *p)
{
    return p->load_model && strcmp(p->load_model, "trace") == 0;
}

bool run_band_is_capped(const struct run_plan *p, const struct run_band *b)
{
    bool closed = p->load_model && strcmp(p->load_model, "closed") == 0;
    return closed && b->server.file && b->server.slots != COUNT_NONE && b->server.slots < b->band;
}

int64_t run_plan_min_samples(const struct run_plan *p, int32_t band)
{
    if (p->requests > 0)
        return p->requests;
    if (p->ramp_n > 0)
        return 0;
    if (p->min_samples > 0)
        return p->min_samples;
    return !run_plan_is_open(p) && 8 * (int64_t)band > 30 ? 8 * (int64_t)band : 30;
}

void run_plan_arrivals(const struct run_plan *p, int32_t band, int32_t replicate,
                       enum sample_phase phase, struct arrivals *out)
{
    char text[128];

    snprintf(text, sizeof text, "%lld/arrivals/b%d/r%d/%s", (long long)p->arrival_seed, (int)band,
             (int)replicate, sample_phase_name(phase));
    arrivals_init(out, arrivals_kind_find(p->arrivals), band, p->burstiness,
                  random_seed_of(str_of(text)));
}

static int check_trace(const struct run_plan *p, struct error *err)
{
    if (!p->trace_format || p->trace_span_ns < 0)
        return error_set(err, ERROR_REFUSED, "the trace's form and span are not stated");
    if (p->requests < 1 || p->arrivals)
        return error_set(err, ERROR_REFUSED, "a trace has requests, and arrivals of its own");
    return 0;
}

static int check_arrivals(const struct run_plan *p, struct error *err)
{
    enum arrivals_kind kind = arrivals_kind_find(p->arrivals);

    if (kind == ARRIVALS_KIND_COUNT)
        return error_set(err, ERROR_REFUSED, "the open loop's arrivals are of no known kind");
    if (kind == ARRIVALS_GAMMA &&
        !(p->burstiness >= ARRIVALS_BURSTINESS_MIN && p->burstiness <= ARRIVALS_BURSTINESS_MAX))
        return error_set(err, ERROR_REFUSED, "gamma arrivals need a burstiness of %g to %g",
                         ARRIVALS_BURSTINESS_MIN, ARRIVALS_BURSTINESS_MAX);
    if (kind != ARRIVALS_CONSTANT && p->arrival_seed < 0)
        return error_set(err, ERROR_REFUSED, "arrivals are drawn, and no seed is stated");
    return 0;
}

static int check_open(const struct run_plan *p, struct error *err)
{
    if ((run_plan_is_trace(p) ? check_trace : check_arrivals)(p, err) < 0)
        return -1;
    for (size_t i = 0; i < p->bands_n; i++)
        if (p->bands[i] < 1 || p->bands[i] > ARRIVALS_MRPS_MAX)
            return error_set(err, ERROR_REFUSED, "a rate or a speed is 0.001 to %lld",
                             (long long)(ARRIVALS_MRPS_MAX / 1000));
    return 0;
}

static bool has_slo(const struct run_plan *p)
{
    return p->slo_ttft_ns != COUNT_NONE || p->slo_tpot_ns != COUNT_NONE ||
           p->slo_e2e_ns != COUNT_NONE;
}

static int check_search(const struct run_plan *p, struct error *err)
{
    if (strcmp(p->search, RUN_SEARCH_BISECT) != 0)
        return error_set(err, ERROR_REFUSED, "the search is of no known kind");
    if (!run_plan_is_open(p) || run_plan_is_trace(p) || p->max_in_flight > 0)
        return error_set(err, ERROR_REFUSED, "a sweep is one of rates, without a cap");
    if (!has_slo(p) || !(p->slo_share > 0 && p->slo_share <= 1))
        return error_set(err, ERROR_REFUSED, "a sweep needs an objective and a share of 0 to 1");
    return 0;
}

static int check_ramp(const struct run_plan *p, struct error *err)
{
    bool good = p->ramp_n >= 1 && p->ramp_n <= RUN_RAMP_MAX && p->ramp[0] >= 1 && p->bands_n == 1 &&
                p->bands[0] == p->ramp[p->ramp_n - 1] && p->requests == 0;

    for (size_t i = 1; good && i < p->ramp_n; i++)
        good = p->ramp[i] > p->ramp[i - 1];
    if (!good)
        return error_set(err, ERROR_REFUSED, "a ramp is a list that rises to its one band");
    if (p->ramp_step_ns < NS_PER_S || p->ramp_step_ns % NS_PER_S != 0 ||
        p->ramp_step_ns > SAMPLE_TIME_MAX / RUN_RAMP_MAX ||
        p->window_ns != (int64_t)p->ramp_n * p->ramp_step_ns)
        return error_set(err, ERROR_REFUSED,
                         "a ramp's steps are whole seconds, and its window is all of them");
    return 0;
}

int run_plan_check_load(const struct run_plan *p, struct error *err)
{
    if (p->load_model && strcmp(p->load_model, "ramp") == 0)
        return check_ramp(p, err);
    if (p->ramp_n > 0)
        return error_set(err, ERROR_REFUSED, "steps of a ramp in a load that does not rise");
    if (p->search && check_search(p, err) < 0)
        return -1;
    if (run_plan_is_open(p))
        return check_open(p, err);
    if (!p->load_model || strcmp(p->load_model, "closed") != 0)
        return error_set(err, ERROR_REFUSED, "the load model is of no known kind");
    return 0;
}

/* A rate without trailing zeros: thousandths, as they were typed. */
static void rate_text(char *out, size_t n, int32_t mrps)
{
    int rest = mrps % 1000, digits = 3;

    if (rest == 0) {
        snprintf(out, n, "%d", mrps / 1000);
        return;
    }
    for (; rest % 10 == 0; rest /= 10)
        digits--;
    snprintf(out, n, "%d.%0*d", mrps / 1000, digits, rest);
}

void run_band_number(char out[RUN_BAND_NAME_MAX], const struct run_plan *p, int32_t band)
{
    if (run_plan_is_open(p))
        rate_text(out, RUN_BAND_NAME_MAX, band);
    else
        snprintf(out, RUN_BAND_NAME_MAX, "%d", (int)band);
}

void run_band_name(char out[RUN_BAND_NAME_MAX], const struct run_plan *p, int32_t band)
{
    char rate[16];

    if (!run_plan_is_open(p)) {
        snprintf(out, RUN_BAND_NAME_MAX, "c = %d", (int)band);
        return;
    }
    rate_text(rate, sizeof rate, band);
    if (run_plan_is_trace(p))
        snprintf(out, RUN_BAND_NAME_MAX, "speed %s", rate);
    else
        snprintf(out, RUN_BAND_NAME_MAX, "%s req/s", rate);
}
