#include "cli/run_load.h"

#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "corpus/counter.h"
#include "stats/real.h"

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

/* Points from low to high, in thousandths: step apart, or evenly spaced by ratio. */
static void make_points(struct run_plan *p, int64_t low, int64_t high, int64_t step)
{
    double ratio = stats_exp(stats_ln((double)high / (double)low) / (RUN_BANDS_MAX - 1));
    double at = (double)low;

    p->bands_n = 0;
    for (size_t i = 0; i < RUN_BANDS_MAX; i++, at *= ratio) {
        int64_t v = step ? low + (int64_t)i * step : (int64_t)(at + 0.5);
        if (v > high || i == RUN_BANDS_MAX - 1)
            v = high;
        if (p->bands_n == 0 || v > p->bands[p->bands_n - 1])
            p->bands[p->bands_n++] = (int32_t)v;
    }
}

static int bad_sweep(const char *text, const char *why, struct error *err)
{
    error_set(err, ERROR_USAGE, "--sweep-rate '%.100s' %s", text, why);
    return error_remedy(err,
                        "write LOW..HIGH or LOW..HIGH/STEP, requests a second with up to three "
                        "decimals: --sweep-rate 1..32/0.5");
}

static int take_sweep(struct run_plan *p, const struct run_args *a, const struct option_set *given,
                      struct error *err)
{
    struct str range, step_text, low_text, high_text;
    int64_t low, high, step = 0;
    bool has_step = str_cut(str_of(a->sweep), '/', &range, &step_text);
    size_t dots = str_find(range, STR(".."));

    if (stated(given, "rate") || stated(given, "bands"))
        return error_set(err, ERROR_USAGE, "--sweep-rate and --%s are two load models",
                         stated(given, "rate") ? "rate" : "bands");
    if (stated(given, "max-in-flight")) {
        error_set(err, ERROR_USAGE, "--max-in-flight would hide what --sweep-rate looks for");
        return error_remedy(err, "a cap keeps requests from the server that its objective counts: "
                                 "leave it out");
    }
    if (dots == STR_NONE)
        return bad_sweep(a->sweep, "is no range", err);
    low_text = str_first(range, dots);
    high_text = str_skip(range, dots + 2);
    if (num_parse_milli(&low, low_text) < 0 || num_parse_milli(&high, high_text) < 0 ||
        (has_step && num_parse_milli(&step, step_text) < 0) || (has_step && step == 0))
        return bad_sweep(a->sweep, "is no range", err);
    if (low < 1 || high <= low || high > ARRIVALS_MRPS_MAX)
        return bad_sweep(a->sweep, "does not rise, or leaves 0.001 to 100000", err);
    if (step && (high - low + step - 1) / step + 1 > RUN_BANDS_MAX)
        return bad_sweep(a->sweep, "has more than 64 points: take a larger step", err);
    if (!a->slo) {
        error_set(err, ERROR_USAGE, "--sweep-rate looks for what meets --slo, which is not given");
        return error_remedy(err, "add one: --slo ttft=500ms,tpot=50ms");
    }
    if (!(a->slo_share > 0 && a->slo_share <= 1))
        return error_set(err, ERROR_USAGE, "--slo-share %g is outside 0 to 1", a->slo_share);
    make_points(p, low, high, step);
    p->search = RUN_SEARCH_BISECT;
    p->slo_share = a->slo_share;
    if (!stated(given, "replicates"))
        p->replicates = 1;
    return 0;
}

static int take_open(struct run_plan *p, const struct run_args *a, const struct option_set *given,
                     struct error *err)
{
    bool gamma = strcmp(a->arrivals, "gamma") == 0;

    if (!a->sweep && stated(given, "bands")) {
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
    if (a->sweep)
        return take_sweep(p, a, given, err);
    take_bands(p, &a->rates);
    return 0;
}

/* The plan alone; run_take_trace reads the file. */
static int take_trace(struct run_plan *p, const struct run_args *a, const struct option_set *given,
                      struct error *err)
{
    static const char *const others[] = {"bands",  "rate",       "sweep-rate", "arrivals",
                                         "corpus", "max-tokens", "requests",   "prompts"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (stated(given, others[i])) {
            error_set(err, ERROR_USAGE, "--trace says what --%s would say", others[i]);
            return error_remedy(err, "leave one of them out (--trace-limit N replays the first N "
                                     "requests)");
        }
    p->load_model = "trace";
    p->max_in_flight = a->max_in_flight;
    p->max_tokens = COUNT_NONE;
    if (a->speeds.n > 0) {
        take_bands(p, &a->speeds);
    } else {
        p->bands_n = 1;
        p->bands[0] = 1000;
    }
    return 0;
}

static int take_ramp(struct run_plan *p, const struct run_args *a, const struct option_set *given,
                     struct error *err)
{
    static const char *const others[] = {"bands",    "rate",   "sweep-rate", "trace",
                                         "requests", "window", "min-samples"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (stated(given, others[i])) {
            error_set(err, ERROR_USAGE, "--ramp says what --%s would say", others[i]);
            return error_remedy(err,
                                "leave one of them out (--ramp-step is how long a level lasts)");
        }
    for (size_t i = 0; i < a->ramp.n; i++) {
        if (i > 0 && a->ramp.v[i] <= a->ramp.v[i - 1])
            return error_set(err, ERROR_USAGE, "--ramp must rise: %lld does not",
                             (long long)a->ramp.v[i]);
        p->ramp[i] = (int32_t)a->ramp.v[i];
    }
    if (a->ramp_step_ns < NS_PER_S || a->ramp_step_ns % NS_PER_S != 0 ||
        a->ramp_step_ns > SAMPLE_TIME_MAX / RUN_RAMP_MAX)
        return error_set(err, ERROR_USAGE, "--ramp-step must be whole seconds, at least one");
    p->load_model = "ramp";
    p->ramp_n = a->ramp.n;
    p->ramp_step_ns = a->ramp_step_ns;
    p->window_ns = (int64_t)p->ramp_n * p->ramp_step_ns;
    if (p->max_window_ns < p->window_ns)
        p->max_window_ns = p->window_ns;
    p->bands_n = 1;
    p->bands[0] = p->ramp[p->ramp_n - 1];
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
    if (a->ramp.n > 0)
        return take_ramp(p, a, given, err);
    if (stated(given, "ramp-step"))
        return no_sense("ramp-step", "--ramp", err);
    if (a->trace)
        return take_trace(p, a, given, err);
    if (stated(given, "trace-speed"))
        return no_sense("trace-speed", "--trace", err);
    if (stated(given, "trace-limit"))
        return no_sense("trace-limit", "--trace", err);
    if (!a->sweep && stated(given, "slo-share"))
        return no_sense("slo-share", "--sweep-rate", err);
    return a->rates.n > 0 || a->sweep ? take_open(p, a, given, err) : take_closed(given, err);
}

#define TRACE_FIRST_TOKENS 64 /* of the text with which lanes are asked before the clock starts */

/* Lanes are asked before the clock starts with a text of its own; nothing of the trace is spent. */
static int make_first(struct run_inputs *in, const struct run_args *a, struct error *err)
{
    const struct corpus_draw which = {"trace", 1, 1, true, 0};
    struct corpus_token_counter counter;
    struct buf text = BUF_INIT(0), line = BUF_INIT(BUF_ANY);
    int rc;

    corpus_counter_init(&counter, in->tokenizer, in->options.plan.special_text);
    rc = corpus_exact(TRACE_FIRST_TOKENS, &counter.counter, &which, &text, err);
    if (rc == 0) {
        /* plain words: nothing to escape */
        buf_addf(&line, "{\"id\":\"first\",\"text\":\"%.*s\"}\n", STR_ARG(buf_str(&text)));
        rc = buf_check(&line, "a prompt", err);
    }
    if (rc == 0)
        rc = corpus_read_bytes(&in->corpus, buf_str(&line), a->trace, err);
    buf_release(&text);
    buf_release(&line);
    if (rc < 0)
        return -1;
    in->has_corpus = true;
    in->corpus.items[0].max_tokens = TRACE_FIRST_TOKENS / 4;
    memcpy(in->corpus.sha256, in->trace.sha256, sizeof in->corpus.sha256);
    return 0;
}

int run_take_trace(struct run_inputs *in, const struct run_args *a, const struct option_set *given,
                   struct error *err)
{
    struct run_plan *p = &in->options.plan;

    (void)given;
    if (!in->tokenizer) {
        error_set(err, ERROR_USAGE,
                  "--trace needs --tokenizer: prompts are made to the recorded "
                  "lengths");
        return error_remedy(err, "give the model's own tokenizer: --tokenizer FILE");
    }
    if (trace_read(&in->trace, a->trace, trace_format_find(a->trace_format), a->trace_limit, err) <
            0 ||
        make_first(in, a, err) < 0)
        return -1;
    p->requests = (int64_t)in->trace.n;
    p->trace_format = trace_format_name(in->trace.format);
    p->trace_span_ns = in->trace.items[in->trace.n - 1].at_ns;
    in->options.corpus = &in->corpus;
    in->options.trace = &in->trace;
    return 0;
}
