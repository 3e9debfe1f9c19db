#include "cli/run_load.h"

#include "base/num.h"

static bool stated(const struct option_set *given, const char *name)
{
    return option_set_has(run_options, given, name);
}

static void take_bands(struct run_plan *p, const struct option_list *list)
{
    p->bands_n = list->n;
    for (size_t i = 0; i < list->n; i++)
        p->bands[i] = (int32_t)list->v[i];
}

/* Options that mean nothing beside others are refused: what they ask for would not be done. */
static int no_sense(const char *name, const char *needs, struct error *err)
{
    error_set(err, ERROR_USAGE, "--%s means nothing without %s", name, needs);
    return error_remedy(err, "add %s, or leave --%s out", needs, name);
}

static int take_open(struct run_plan *p, const struct run_args *a, const struct option_set *given,
                     struct error *err)
{
    bool gamma = strcmp(a->arrivals, "gamma") == 0;

    if (stated(given, "bands")) {
        error_set(err, ERROR_USAGE, "--bands and --rate are two load models");
        return error_remedy(err, "a band is a concurrency (--bands) or a rate (--rate): give one");
    }
    if (stated(given, "burstiness") && !gamma)
        return no_sense("burstiness", "--arrivals gamma", err);
    if (gamma &&
        !(a->burstiness >= ARRIVALS_BURSTINESS_MIN && a->burstiness <= ARRIVALS_BURSTINESS_MAX))
        return error_set(err, ERROR_USAGE, "--burstiness %g is outside %g to %g", a->burstiness,
                         ARRIVALS_BURSTINESS_MIN, ARRIVALS_BURSTINESS_MAX);
    p->load_model = "open";
    p->arrivals = a->arrivals;
    p->burstiness = gamma ? a->burstiness : -1;
    p->arrival_seed = strcmp(a->arrivals, "constant") == 0 ? COUNT_NONE : a->arrival_seed;
    p->max_in_flight = a->max_in_flight;
    take_bands(p, &a->rates);
    return 0;
}

static int take_closed(const struct option_set *given, struct error *err)
{
    static const char *const of_open[] = {"arrivals", "burstiness", "arrival-seed",
                                          "max-in-flight"};

    for (size_t i = 0; i < sizeof of_open / sizeof of_open[0]; i++)
        if (stated(given, of_open[i]))
            return no_sense(of_open[i], "--rate", err);
    return 0;
}

/* "ttft=500ms,tpot=50ms": each part at most once. */
static int take_slo(struct run_plan *p, const char *text, struct error *err)
{
    const struct {
        const char *name;
        int64_t *ns;
    } parts[] = {{"ttft", &p->slo_ttft_ns}, {"tpot", &p->slo_tpot_ns}, {"e2e", &p->slo_e2e_ns}};
    struct str rest = str_of(text), part, name, value;
    bool more = true;

    while (more) {
        size_t k = 0;
        int64_t ns;
        more = str_cut(rest, ',', &part, &rest);
        bool pair = str_cut(str_trim(part), '=', &name, &value);
        while (k < 3 && !str_eq(name, str_of(parts[k].name)))
            k++;
        if (!pair || k == 3 || *parts[k].ns != COUNT_NONE ||
            num_parse_duration_ns(&ns, value) < 0 || ns <= 0) {
            error_set(err, ERROR_USAGE, "--slo: '%.*s' is no objective, or is there twice",
                      STR_ARG(part));
            return error_remedy(err, "write some of ttft, tpot and e2e, each with a time above 0: "
                                     "--slo ttft=500ms,tpot=50ms");
        }
        *parts[k].ns = ns;
    }
    if (!p->stream && (p->slo_ttft_ns != COUNT_NONE || p->slo_tpot_ns != COUNT_NONE))
        return error_set(err, ERROR_USAGE,
                         "--slo: ttft and tpot need a stream (--no-stream leaves "
                         "e2e alone)");
    return 0;
}

int run_take_load(struct run_plan *p, const struct run_args *a, const struct option_set *given,
                  struct error *err)
{
    if (a->slo && take_slo(p, a->slo, err) < 0)
        return -1;
    return a->rates.n > 0 ? take_open(p, a, given, err) : take_closed(given, err);
}
