#include "load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/random.h"
#include "load/drive.h"
#include "load/preflight.h"
#include "load/prompt_form.h"
#include "load/refuse.h"
#include "load/reuse.h"
#include "load/schedule.h"
#include "load/step.h"
#include "load/sweep_run.h"
#include "load/wrapper.h"
#include "receipt/again.h"
#include "receipt/redact.h"
#include "record/workload.h"

#define FILES_BESIDE 64 /* open files that are no connections */
#define OPEN_FILES_MAX 1048576
#define TEXTS_MAX ((size_t)64 << 20)

struct load {
    struct load_options options;
    struct corpus_token_counter counter;
    struct load_lane lanes[RUN_LANES_MAX];
    struct run_lane lane_records[RUN_LANES_MAX];
    struct schedule_step *steps;
    struct run_band *bands;
    size_t steps_n, bands_n;
    struct arena arena; /* texts of the bands' records */
    struct receipt_run *receipt;
    struct load_wrappers *wrappers;
    struct load_rendering *rendering; /* of --wire completions; NULL */
    struct lane_switch lanes_up;
    struct run_calibration calibration;
};

static const struct corpus_counter *counter_of(const struct load *l)
{
    return l->options.tokenizer ? &l->counter.counter : NULL;
}

static void note(const struct load *l, bool warning, const char *text)
{
    if (l->options.progress.note)
        l->options.progress.note(l->options.progress.ctx, warning, text);
}

static bool stopped(const struct load *l)
{
    return l->options.stop && *l->options.stop;
}

/* Checks --------------------------------------------------------------------------------------- */

static bool is_of_protocol(const struct corpus_promise *p, const struct run_plan *plan)
{
    return p->tokens == plan->corpus_tokens && p->tolerance != CORPUS_NOT_PROMISED &&
           p->tolerance <= plan->corpus_tolerance &&
           mixture_equal(&p->mixture, &plan->corpus_mixture) &&
           (plan->corpus_outputs.n == 0 || mixture_equal(&p->outputs, &plan->corpus_outputs));
}

static int not_of_protocol(const struct load_options *o, struct error *err)
{
    char lengths[RUN_LENGTHS_TEXT];
    const char *name = o->plan.protocol;

    run_plan_lengths(&o->plan, lengths);
    error_set(err, ERROR_REFUSED, "the corpus does not promise the %s tokens of %s%s", lengths,
              name, o->plan.corpus_outputs.n > 0 ? " in its shares, and of its answers" : "");
    error_at_file(err, o->corpus->path);
    error_rule(err, "corpus.tokens");
    if (o->plan.corpus_mixture.n > 0)
        return error_remedy(err,
                            "make one that does: tally corpus make --mixture %s --tolerance %lld "
                            "--tokenizer FILE -o FILE",
                            name, (long long)o->plan.corpus_tolerance);
    return error_remedy(err,
                        "make one that does: tally corpus make --tokens %lld --tolerance "
                        "%lld --tokenizer FILE -o FILE",
                        (long long)o->plan.corpus_tokens, (long long)o->plan.corpus_tolerance);
}

/* The band is asserted on the text as sent, so it is the same for every lane. */
static int check_corpus(struct load_options *o, struct error *err)
{
    const struct corpus_promise *p = &o->corpus->promise;
    struct corpus_token_counter counter;
    struct corpus_seen seen;

    if (strcmp(o->plan.protocol, "custom") != 0 && !is_of_protocol(p, &o->plan))
        return not_of_protocol(o, err);
    if (o->tokenizer && p->stated) {
        corpus_counter_init(&counter, o->tokenizer, o->plan.special_text);
        if (corpus_check(o->corpus, &counter.counter, &counter.identity, &seen, err) < 0)
            return -1;
    }
    o->plan.corpus_path = o->corpus->path;
    memcpy(o->plan.corpus_sha256, o->corpus->sha256, SHA256_HEX);
    o->plan.corpus_count = o->trace ? (int64_t)o->trace->n : (int64_t)o->corpus->n;
    o->plan.corpus_tokens = p->tokens;
    o->plan.corpus_tolerance = p->tolerance;
    o->plan.corpus_mixture = p->mixture;
    o->plan.corpus_outputs = p->outputs;
    return 0;
}

static int check_inject(const struct load_options *o, struct error *err)
{
    if (!o->plan.injector || !run_plan_is_trace(&o->plan))
        return 0;
    error_set(err, ERROR_USAGE, "--inject sends a corpus's longest prompt; a trace has none");
    return error_remedy(err, "leave one of --inject and --trace away");
}

/* A worker plays its conversation by messages, one turn after the other. */
static int check_talk(const struct load_options *o, struct error *err)
{
    if (!o->talk)
        return 0;
    if (strcmp(o->plan.wire, "chat") != 0) {
        error_set(err, ERROR_USAGE, "--conversations are messages: --wire %s sends none",
                  o->plan.wire);
        return error_remedy(err, "leave --wire away");
    }
    if (run_plan_is_open(&o->plan)) {
        error_set(err, ERROR_USAGE,
                  "--conversations need a closed loop: a turn follows its answer");
        return error_remedy(err, "give --bands instead of rates");
    }
    if (o->plan.injector) {
        error_set(err, ERROR_USAGE, "--inject sends a longest prompt; conversations have none");
        return error_remedy(err, "leave one of --inject and --conversations away");
    }
    return 0;
}

int load_check(struct load_options *o, struct error *err)
{
    if (o->lanes_n < 1 || o->lanes_n > RUN_LANES_MAX)
        return error_set(err, ERROR_USAGE, "a run has one or two lanes, not %zu", o->lanes_n);
    if (o->plan.method == COUNT_UNSET)
        return error_set(err, ERROR_USAGE, "the run has no way to count tokens");
    if (schedule_check(&o->plan, err) < 0 || check_talk(o, err) < 0 || check_inject(o, err) < 0)
        return -1;
    return check_corpus(o, err);
}

/* A worker is a connection; an open loop has as many as it comes to, so as many files as may be.
 * The hard limit is the administrator's. */
static int raise_open_files(const struct run_plan *plan, struct error *err)
{
    bool open = run_plan_is_open(plan);
    rlim_t need = (rlim_t)plan->bands[plan->bands_n - 1] + FILES_BESIDE;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    if (open)
        need = limit.rlim_max < OPEN_FILES_MAX ? limit.rlim_max : OPEN_FILES_MAX;
    if (limit.rlim_cur >= need)
        return 0;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need) {
        error_set(err, ERROR_ENVIRONMENT,
                  "a band of %d needs %llu open files; the hard limit is %llu",
                  plan->bands[plan->bands_n - 1], (unsigned long long)need,
                  (unsigned long long)limit.rlim_max);
        return error_remedy(err, "raise it (ulimit -Hn), or leave that band out");
    }
    limit.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return error_set(err, ERROR_ENVIRONMENT, "the limit of open files cannot be raised");
    return 0;
}

static int make_nonce(struct run_plan *plan, struct error *err)
{
    uint8_t bytes[(RUN_NONCE_HEX - 1) / 2];

    if (random_bytes(bytes, sizeof bytes, err) < 0)
        return -1;
    hex_encode(plan->nonce, bytes, sizeof bytes);
    return 0;
}

static void describe_tokenizer(struct load *l)
{
    struct run_plan *p = &l->options.plan;
    struct tokenizer_info info;

    if (!l->options.tokenizer)
        return;
    tokenizer_describe(l->options.tokenizer, &info);
    p->tokenizer_reference = info.reference;
    memcpy(p->tokenizer_sha256, info.tokenizer_sha256, SHA256_HEX);
    memcpy(p->vocabulary_sha256, info.vocabulary_sha256, SHA256_HEX);
    memcpy(p->pipeline_sha256, info.pipeline_sha256, SHA256_HEX);
    corpus_counter_init(&l->counter, l->options.tokenizer, p->special_text);
}

/* Before the clock starts a lane that cannot be started ends the run. */
static int enter_lane(void *ctx, size_t i, struct error *err)
{
    struct load *l = ctx;
    struct lane_trouble trouble;

    if (lane_switch_to(&l->lanes_up, i, &trouble, err) < 0)
        return -1;
    if (stopped(l))
        return error_set(err, ERROR_INTERRUPTED, "interrupted before anything was measured");
    if (!trouble.reason)
        return 0;
    error_set(err, ERROR_ENVIRONMENT, "%s", trouble.detail);
    error_rule(err, trouble.reason);
    return error_remedy(err, "run the command by hand; --lane-timeout allows it more time");
}

static int settle_form(struct load *l, const struct preflight_config *config, struct error *err)
{
    if (prompt_form_settle(l->lanes, l->options.lanes_n, &l->options.plan, config, err) < 0)
        return -1;
    for (size_t i = 0; i < l->options.lanes_n; i++) {
        if (enter_lane(l, i, err) < 0 || preflight_complete(&l->lanes[i], config, err) < 0)
            return -1;
    }
    return 0;
}

static int ask_lanes(struct load *l, struct error *err)
{
    struct preflight_config config = {
        .corpus = l->options.corpus,
        .counter = counter_of(l),
        .tokenizer = l->options.tokenizer,
        .progress = &l->options.progress,
        .enter = enter_lane,
        .enter_ctx = l,
    };

    for (size_t i = 0; i < l->options.lanes_n; i++) {
        if (load_lane_init(&l->lanes[i], &l->options.lanes[i], &l->options.plan, err) < 0)
            return -1;
        l->lanes[i].rendering = l->rendering;
    }
    for (size_t i = 0; i < l->options.lanes_n; i++) {
        /* one turn for both questions, unless all lanes must agree on a form in between */
        if (enter_lane(l, i, err) < 0 || preflight_identify(&l->lanes[i], &config, err) < 0 ||
            (!l->rendering && preflight_complete(&l->lanes[i], &config, err) < 0))
            return -1;
    }
    if (l->rendering && settle_form(l, &config, err) < 0)
        return -1;
    for (size_t i = 0; i < l->options.lanes_n; i++)
        l->lane_records[i] = l->lanes[i].record;
    return 0;
}

/* What the lanes put around a prompt: asked of a few short conversations, the same for both. */
static int ask_wrappers(struct load *l, struct error *err)
{
    const struct load_options *o = &l->options;
    const struct wrappers_config config = {
        .lanes = l->lanes,
        .lanes_n = o->lanes_n,
        .tokenizer = o->tokenizer,
        .templates = o->templates,
        .templates_n = o->templates_n,
        .progress = &o->progress,
        .arena = &l->arena,
        .enter = enter_lane,
        .enter_ctx = l,
    };

    if (o->no_probe || !o->tokenizer || strcmp(o->plan.wire, "chat") != 0)
        return 0;
    if (wrappers_ask(&l->wrappers, &config, err) < 0)
        return -1;
    for (size_t i = 0; i < o->lanes_n; i++)
        l->lane_records[i] = l->lanes[i].record;
    return 0;
}

/* Reuse is one setting for all lanes: where one does not keep connections, none is reused. */
static int ask_reuse(struct load *l, struct error *err)
{
    for (size_t i = 0; i < l->options.lanes_n && l->options.plan.connection_reuse; i++) {
        struct prompts_source source = {
            .lane = &l->lanes[i],
            .corpus = l->options.corpus,
            .counter = counter_of(l),
            .nonce = l->options.plan.nonce,
            .unique = strcmp(l->options.plan.prompt_policy, "unique") == 0,
        };
        bool kept = false;
        char text[192];
        if (enter_lane(l, i, err) < 0 || reuse_ask(&l->lanes[i], &source, &kept, err) < 0)
            return -1;
        if (kept)
            continue;
        l->options.plan.connection_reuse = false;
        snprintf(text, sizeof text,
                 "lane %s closes its connection behind an answer: every request of this run opens "
                 "its own (TTFT does not count that)",
                 l->lanes[i].options.role);
        note(l, true, text);
    }
    for (size_t i = 0; i < l->options.lanes_n && !l->options.plan.connection_reuse; i++)
        wire_endpoint_forbid_reuse(l->lanes[i].endpoint);
    return 0;
}

/* The two commands that would measure equal work, a line each. */
static void tell_equal_work(const struct load *l)
{
    struct buf text = BUF_INIT(TEXTS_MAX);
    struct arena arena;
    char line[4096];

    arena_init(&arena, TEXTS_MAX);
    const char *const *argv =
        redact_argv((size_t)l->options.argc, (const char *const *)l->options.argv, &arena);
    if (argv)
        again_equal_work(&text, argv, (size_t)l->options.argc);
    for (struct str one, rest = buf_str(&text); rest.n;) {
        str_cut(rest, '\n', &one, &rest);
        snprintf(line, sizeof line, "%s%.*s", str_starts(one, STR("tally ")) ? "  " : "",
                 STR_ARG(one));
        note(l, false, line);
    }
    buf_release(&text);
    arena_release(&arena);
}

int load_prepare(struct load **out, const struct load_options *options, struct error *err)
{
    struct load *l = calloc(1, sizeof *l);

    if (!l)
        return error_no_memory(err);
    l->options = *options;
    arena_init(&l->arena, TEXTS_MAX);
    l->lanes_up = (struct lane_switch){
        .lanes = l->lanes,
        .progress = &l->options.progress,
        .stop = l->options.stop,
        .timeout_ns = l->options.lane_timeout_ns,
        .up = RUN_LANES_MAX,
    };
    memcpy(l->lanes_up.commands, l->options.commands, sizeof l->lanes_up.commands);
    arena_init(&l->lanes_up.arena, TEXTS_MAX);
    if (load_check(&l->options, err) < 0 || raise_open_files(&l->options.plan, err) < 0 ||
        make_nonce(&l->options.plan, err) < 0)
        goto fail;
    describe_tokenizer(l);
    if (rendering_open(&l->rendering, &l->options, err) < 0)
        goto fail;
    l->steps_n = schedule_length(&l->options.plan, l->options.lanes_n);
    l->steps = calloc(l->steps_n, sizeof *l->steps);
    l->bands = calloc(l->steps_n, sizeof *l->bands);
    if (!l->steps || !l->bands) {
        error_no_memory(err);
        goto fail;
    }
    schedule_make(&l->options.plan, l->options.lanes_n, l->steps);
    if (ask_lanes(l, err) < 0 || ask_wrappers(l, err) < 0 || ask_reuse(l, err) < 0 ||
        refuse_lanes(l->lanes, l->options.lanes_n, &l->options.plan, err) < 0)
        goto fail;
    if (warn_of_lanes(l->lanes, l->options.lanes_n, &l->options.progress))
        tell_equal_work(l);
    *out = l;
    return 0;
fail:
    load_free(l);
    return -1;
}

void load_free(struct load *l)
{
    if (!l)
        return;
    /* after a failure too no server is left behind */
    struct error ignored = {0};
    if (l->lanes_up.lanes)
        (void)!lane_switch_leave(&l->lanes_up, &ignored);
    lane_switch_release(&l->lanes_up);
    receipt_run_free(l->receipt);
    wrappers_free(l->wrappers);
    rendering_close(l->rendering);
    for (size_t i = 0; i < RUN_LANES_MAX; i++)
        load_lane_release(&l->lanes[i]);
    arena_release(&l->arena);
    free(l->steps);
    free(l->bands);
    free(l);
}

const struct load_lane *load_lane_at(const struct load *l, size_t i)
{
    return i < l->options.lanes_n ? &l->lanes[i] : NULL;
}

const struct run_plan *load_plan(const struct load *l)
{
    return &l->options.plan;
}

void load_estimate(const struct load *l, int64_t *requests, int64_t *ns)
{
    int64_t latency_ns[RUN_LANES_MAX] = {l->lanes[0].first.took_ns, l->lanes[1].first.took_ns};

    schedule_estimate(&l->options.plan, l->options.lanes_n, latency_ns, requests, ns);
}

int load_example(const struct load_options *options, size_t i, struct buf *out, struct error *err)
{
    struct load_options with = *options, *o = &with;
    struct load_rendering *rendering = NULL;
    struct corpus_token_counter counter;
    struct prompts_source source = {
        .corpus = o->corpus,
        .nonce = "example",
        .unique = strcmp(o->plan.prompt_policy, "unique") == 0,
        .replicate = 1,
        .band = o->plan.bands[0],
    };
    struct load_lane lane;
    struct prompt *prompt;
    int rc;

    if (o->tokenizer) {
        corpus_counter_init(&counter, o->tokenizer, o->plan.special_text);
        source.counter = &counter.counter;
    }
    if (rendering_open(&rendering, o, err) < 0)
        return -1;
    if (load_lane_init(&lane, &o->lanes[i], &o->plan, err) < 0) {
        rendering_close(rendering);
        return -1;
    }
    lane.rendering = rendering;
    source.lane = &lane;
    rc = prompt_make(&source, PHASE_WARMUP, 0, &prompt, err);
    if (rc == 0) {
        buf_addstr(out, buf_str(&prompt->body));
        prompt_free(prompt);
    }
    load_lane_release(&lane);
    rendering_close(rendering);
    return rc;
}

/* Measuring ------------------------------------------------------------------------------------ */

/* At least so long from the beginning of step i on. */
static int64_t left_from(const struct load *l, size_t i)
{
    int64_t all = 0;

    for (; i < l->steps_n; i++) {
        const struct schedule_step *s = &l->steps[i];
        int64_t n, ns;
        schedule_estimate_step(&l->options.plan, s->band, l->lanes[s->lane].first.took_ns, &n, &ns);
        all += ns + l->options.plan.cooldown_ns;
    }
    return all;
}

static void tell_band(const struct load *l, const struct load_state *state,
                      const struct run_band *b)
{
    struct load_band_done done = {.state = *state, .status = b->status, .reason = b->reason};

    if (!l->options.progress.band_done)
        return;
    done.state.ended = b->issued;
    done.drain_ns = b->t_close_ns == TIME_NONE || b->t_drained_ns == TIME_NONE
                        ? 0
                        : b->t_drained_ns - b->t_close_ns;
    l->options.progress.band_done(l->options.progress.ctx, &done);
}

static struct step_shared shared_of(struct load *l)
{
    return (struct step_shared){&l->lanes_up, l->receipt, l->options.stop};
}

/* Of a sweep: at most. */
static size_t bands_in_all(const struct load *l)
{
    const struct run_plan *p = &l->options.plan;

    if (!p->search)
        return l->steps_n;
    return (size_t)sweep_most_probes((int64_t)p->bands_n) * l->options.lanes_n *
           (size_t)p->replicates;
}

static int measure_step(struct load *l, const struct schedule_step *s, struct error *err)
{
    size_t i = l->bands_n;
    struct run_band *b = &l->bands[l->bands_n];
    const struct step_shared shared = shared_of(l);
    struct drive_config config = {
        .plan = &l->options.plan,
        .lane = &l->lanes[s->lane],
        .corpus = l->options.corpus,
        .trace = l->options.trace,
        .talk = l->options.talk,
        .counter = counter_of(l),
        .tokenizer = l->options.tokenizer,
        .receipt = l->receipt,
        .burn_ns = l->options.burn_ns,
        .clock_step_ns = l->options.clock_step_ns,
        .progress = &l->options.progress,
        .state = {.lane = l->lanes[s->lane].record.role,
                  .band = s->band,
                  .replicate = s->replicate,
                  .replicates = l->options.plan.replicates,
                  .band_index = i,
                  .bands_in_all = bands_in_all(l),
                  .left_ns = l->options.plan.search ? -1 : left_from(l, i)},
        .stop = l->options.stop,
        .arena = &l->arena,
    };

    *b = (struct run_band){.lane = s->lane, .band = s->band, .replicate = s->replicate};
    run_band_name(config.state.band_name, &l->options.plan, s->band);
    if (step_band(&shared, &config, b, err) < 0)
        return error_wrap(err, "lane %s, %s, replicate %d", config.state.lane,
                          config.state.band_name, s->replicate);
    l->bands_n++;
    tell_band(l, &config.state, b);
    return 0;
}

static struct run_record record_of(const struct load *l, int64_t end_real_ns)
{
    return (struct run_record){
        .plan = l->options.plan,
        .lanes = l->lane_records,
        .lanes_n = l->options.lanes_n,
        .bands = l->bands,
        .bands_n = l->bands_n,
        .t_start_real_ns = l->options.plan.t_zero_real_ns,
        .t_end_real_ns = end_real_ns,
        .calibration = l->calibration,
        .interrupted = stopped(l),
        .argv = (const char *const *)l->options.argv,
        .argc = (size_t)l->options.argc,
    };
}

/* Claims the run, and makes its directory. */
static int start_receipt(struct load *l, const struct run_record *record, struct error *err)
{
    const struct load_options *o = &l->options;
    struct buf ledger = BUF_INIT(TEXTS_MAX);
    int rc = -1;

    if (o->claim && o->claim(o->claim_ctx, record, &ledger, err) < 0)
        goto out;
    if (receipt_start(&l->receipt, o->out_dir, record, &o->client, err) < 0)
        goto out;
    if (l->wrappers && wrappers_write(l->wrappers, o->out_dir, err) < 0)
        goto out;
    if (o->claim && receipt_set_ledger(l->receipt, buf_str(&ledger), err) < 0)
        goto out;
    rc = 0;
out:
    buf_release(&ledger);
    return rc;
}

static int calibrate_client(struct load *l, struct error *err)
{
    const struct step_shared shared = shared_of(l);

    if (!l->options.calibrate_url)
        return 0;
    note(l, false, "calibrating: this client against a server that only tells the time");
    return step_floor(&shared, &l->options.plan, l->options.calibrate_url, l->options.burn_ns,
                      &l->calibration, err);
}

/* With times since the run's zero, as all others; those before the clock are negative. */
static const struct run_command *commands_of(struct load *l)
{
    size_t n = l->lanes_up.n;
    struct run_command *list = arena_array(&l->arena, n + 1, sizeof *list);

    for (size_t i = 0; list && i < n; i++) {
        list[i] = l->lanes_up.list[i];
        list[i].t_ns -= l->options.plan.t_zero_mono_ns;
    }
    return list;
}

static void cool_down(const struct load *l)
{
    if (l->bands_n > 0)
        clock_sleep_until_ns(clock_mono_ns() + l->options.plan.cooldown_ns,
                             (const volatile int *)l->options.stop);
}

static int measure_probe(void *ctx, const struct schedule_step *s, bool *go_on,
                         enum sweep_seen *seen, const char **why, struct error *err)
{
    struct load *l = ctx;
    struct run_record so_far;

    cool_down(l);
    if (!stopped(l) && measure_step(l, s, err) < 0)
        return -1;
    *go_on = !stopped(l);
    if (!*go_on)
        return 0;
    so_far = record_of(l, 0);
    return receipt_sweep_look(l->receipt, &so_far, l->bands_n - 1, seen, why, err);
}

static void sweep_note(void *ctx, bool warning, const char *text)
{
    note(ctx, warning, text);
}

static int measure_all(struct load *l, struct error *err)
{
    struct sweep_run sweep = {.plan = &l->options.plan,
                              .lanes_n = l->options.lanes_n,
                              .measure = measure_probe,
                              .note = sweep_note,
                              .ctx = l};

    for (size_t i = 0; i < l->options.lanes_n; i++)
        sweep.roles[i] = l->lanes[i].record.role;
    if (l->options.plan.search)
        return sweep_run(&sweep, err);
    for (size_t i = 0; i < l->steps_n && !stopped(l); i++) {
        cool_down(l);
        if (!stopped(l) && measure_step(l, &l->steps[i], err) < 0)
            return -1;
    }
    return 0;
}

int load_measure(struct load *l, struct load_outcome *out, struct error *err)
{
    struct run_record record;

    l->options.plan.t_zero_mono_ns = clock_mono_ns();
    l->options.plan.t_zero_real_ns = clock_real_ns();
    record = record_of(l, 0);
    if (start_receipt(l, &record, err) < 0)
        return -1;
    if (calibrate_client(l, err) < 0)
        return error_wrap(err, "--calibrate");
    if (measure_all(l, err) < 0)
        return -1;
    if (stopped(l))
        note(l, true, "interrupted: what was measured is kept");
    if (lane_switch_leave(&l->lanes_up, err) < 0)
        return -1;
    record = record_of(l, clock_real_ns());
    record.commands_n = l->lanes_up.n;
    record.commands = commands_of(l);
    if (!record.commands)
        return error_no_memory(err);
    out->interrupted = record.interrupted;
    return receipt_finish(l->receipt, &record, &out->result, err);
}
