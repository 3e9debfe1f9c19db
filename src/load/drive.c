#include "load/drive.h"

#include <stdlib.h>

#include "base/clock.h"
#include "load/dialogue.h"
#include "load/inject.h"
#include "load/schedstat.h"
#include "receipt/server_said.h"
#include "wire/clock_map.h"

#define TRACE_AT_ONCE 256            /* prompts of a trace made ahead: bursts are not known here */
#define LOOK_EVERY_NS (NS_PER_S / 5) /* at least so often: was there a signal? */

struct drive {
    const struct drive_config *config;
    struct run_band *out;
    struct band *band;
    struct wire_loop *loop;
    struct prompts *prompts;
    struct judge *judge;
    struct injection injection;
    struct dialogues *dialogues; /* conversations in play; NULL */
    struct clock_pair clocks;
    struct judge_job *held;      /* ended, but the judge had no room for it */
    enum band_stage told;        /* stage that the judge was told of */
    struct arrivals arrivals[2]; /* of an open loop, by phase */
    int64_t next_of_trace[2];    /* of a trace, by phase */
    bool cancelled, broken;
    bool starved;     /* a request is due and its prompt is not ready */
    struct error err; /* why it is broken */
};

static void wake(void *ctx)
{
    struct drive *d = ctx;

    wire_loop_wake(d->loop);
}

static void break_down(struct drive *d, const struct error *err)
{
    if (!d->broken)
        d->err = *err;
    d->broken = true;
    band_interrupt(d->band, clock_mono_ns());
}

/* Jobs that the judge has no room for wait here; while there are any nothing new is sent. */
static void give(struct drive *d)
{
    while (d->held) {
        struct judge_job *job = d->held, *next = job->next;
        if (!judge_give(d->judge, job))
            return;
        d->held = next;
    }
}

static void on_done(void *ctx, struct wire_exchange *x)
{
    struct drive *d = ctx;
    struct judge_job *job = x->tag, **last = &d->held;

    job->exchange = x;
    if (job->issue.phase == PHASE_INJECTED)
        d->injection.in_flight = false;
    else if (!d->dialogues) /* whose next prompt hangs on its answer ends when that is parsed */
        band_ended(d->band, job->issue.worker, x->t_end_ns, clock_mono_ns());
    job->next = NULL;
    while (*last)
        last = &(*last)->next;
    *last = job;
    give(d);
}

/* Hands one prompt to the wire. False when that cannot be: the band is then broken. */
static bool send(struct drive *d, const struct band_issue *issue, struct prompt *prompt)
{
    struct judge_job *job = calloc(1, sizeof *job);
    struct error err = {0};

    if (!job) {
        prompt_free(prompt);
        error_no_memory(&err);
        break_down(d, &err);
        return false;
    }
    job->issue = *issue;
    job->prompt = prompt;
    struct wire_request r = {
        .endpoint = d->config->lane->endpoint,
        .path = d->config->lane->protocol->path,
        .body = buf_str(&prompt->body),
        .timeout_ns = d->config->plan->timeout_ns,
        .tag = job,
    };
    if (wire_loop_send(d->loop, &r, &err) < 0) {
        judge_job_free(job);
        break_down(d, &err);
        return false;
    }
    return true;
}

/* The worker goes on with its own conversation, whose next prompt is ready. */
static void send_turns(struct drive *d)
{
    struct band_issue issue;

    while (!d->held && !d->broken && band_next(d->band, clock_mono_ns(), &issue)) {
        struct prompt *prompt = dialogues_take(d->dialogues, issue.worker);
        struct error err = {0};
        if (!prompt) {
            error_set(&err, ERROR_ENVIRONMENT, "worker %d has no turn to play", issue.worker);
            break_down(d, &err);
            return;
        }
        if (!send(d, &issue, prompt))
            return;
    }
}

/* Who has thought long enough goes on, and is busy to the band until then; nobody thinks any more
 * once the window has closed. */
static void end_thoughts(struct drive *d)
{
    int64_t now_ns = clock_mono_ns(), at_ns;
    int32_t worker;

    while (dialogues_wake(d->dialogues, now_ns, band_stage(d->band) >= BAND_DRAIN, &worker, &at_ns))
        band_ended(d->band, worker, at_ns, now_ns);
}

static int answered(void *ctx, const struct band_issue *issue, bool ok, const struct sample *s,
                    struct error *err)
{
    struct drive *d = ctx;

    return issue->phase == PHASE_INJECTED
               ? 0
               : dialogues_answered(d->dialogues, issue->worker, ok, s, err);
}

/* A prompt that was taken for a request that then may not be sent is kept for the next one. */
static void send_due(struct drive *d)
{
    struct band_issue issue;

    d->starved = false;
    while (!d->held && !d->broken) {
        int64_t now_ns = clock_mono_ns();
        enum sample_phase phase;
        struct prompt *prompt;
        struct error err;
        if (!band_would_send(d->band, now_ns, &phase))
            return;
        prompt = prompts_take(d->prompts, phase);
        if (!prompt) {
            if (prompts_error(d->prompts, &err))
                break_down(d, &err);
            d->starved = true;
            return; /* the prompts' thread wakes us */
        }
        /* the same moment as asked about: the answer is the same */
        if (!band_next(d->band, now_ns, &issue)) {
            prompt_free(prompt);
            return;
        }
        if (!send(d, &issue, prompt))
            return;
    }
}

static void inject_due(struct drive *d)
{
    struct band_issue issue;
    int64_t now_ns = clock_mono_ns();

    if (!d->held && !d->broken && injection_due(&d->injection, d->band, now_ns)) {
        struct prompt *prompt = injection_take(&d->injection, now_ns, &issue);
        d->injection.in_flight = send(d, &issue, prompt);
    }
}

static void take_verdicts(struct drive *d)
{
    struct judge_verdict v;
    struct error err;

    while (judge_verdict(d->judge, &v)) {
        if (v.phase == PHASE_INJECTED)
            continue;
        if (d->dialogues)
            dialogues_think(d->dialogues, v.worker, clock_mono_ns() + d->config->plan->think_ns);
        band_judged(d->band, v.phase, v.ok, clock_mono_ns());
    }
    if (d->dialogues)
        end_thoughts(d);
    if (!d->broken && judge_error(d->judge, &err))
        break_down(d, &err);
}

static void tell_stage(struct drive *d)
{
    struct band_result r;

    if (band_stage(d->band) == d->told)
        return;
    d->told = band_stage(d->band);
    band_get_result(d->band, &r);
    judge_set_stage(d->judge, d->told, r.t_open_ns);
}

static int run_loop(struct drive *d, struct error *err)
{
    /* what was injected may take longer than all the others */
    while (band_stage(d->band) != BAND_DONE || d->injection.in_flight) {
        int64_t now_ns, deadline_ns;
        (d->dialogues ? send_turns : send_due)(d);
        inject_due(d);
        tell_stage(d);
        now_ns = clock_mono_ns();
        deadline_ns = band_deadline(d->band);
        if (deadline_ns > injection_deadline(&d->injection, d->band))
            deadline_ns = injection_deadline(&d->injection, d->band);
        if (deadline_ns > now_ns + LOOK_EVERY_NS)
            deadline_ns = now_ns + LOOK_EVERY_NS;
        if (d->dialogues && deadline_ns > dialogues_deadline(d->dialogues))
            deadline_ns = dialogues_deadline(d->dialogues);
        /* a request that is due but cannot be sent yet is no reason to spin */
        if (d->held || (d->starved && deadline_ns < now_ns + NS_PER_MS))
            deadline_ns = now_ns + NS_PER_MS;
        if (wire_loop_step(d->loop, deadline_ns, err) < 0)
            return -1;
        give(d);
        take_verdicts(d);
        now_ns = clock_mono_ns();
        band_tick(d->band, now_ns);
        if (d->config->stop && *d->config->stop)
            band_interrupt(d->band, now_ns);
        if (band_wants_cancel(d->band) && !d->cancelled) {
            d->cancelled = true;
            wire_loop_cancel_all(d->loop);
        }
    }
    return 0;
}

static int64_t relative(int64_t t_ns, int64_t zero_ns)
{
    return t_ns == TIME_NONE ? TIME_NONE : t_ns - zero_ns;
}

static const char *detail_of(struct drive *d, const struct judge_summary *sum)
{
    struct buf text = BUF_INIT(1024);
    const char *kept = NULL;

    if (!sum->first_error[0] && !d->broken)
        return NULL;
    buf_adds(&text, d->broken ? d->err.message : "first request that did not end ok: ");
    if (!d->broken)
        buf_adds(&text, sum->first_error);
    if (!text.failed)
        kept = arena_cstr(d->config->arena, buf_str(&text));
    buf_release(&text);
    return kept;
}

/* COUNT_NONE and the like where the system does not say: clock_state has INT64_MIN and "". */
static struct run_clock clock_of(struct drive *d, const struct clock_state *from,
                                 const struct wire_loop_report *report)
{
    struct clock_state to;
    bool told;

    clock_state_read(&to);
    told = to.freq_scaled_ppm != INT64_MIN;
    return (struct run_clock){
        .source = to.source[0] ? arena_cstr(d->config->arena, str_of(to.source)) : NULL,
        .adjtimex_status = to.status,
        /* of 2^-16 parts per million, which stay far below 2^32 */
        .frequency_ppb = told ? to.freq_scaled_ppm * 1000 / 65536 : INT64_MIN,
        .slew_ppb = clock_state_slew_ppb(from, &to),
        .steps = report->clock_steps,
        .largest_step_ns = report->clock_steps > 0 ? report->clock_step_ns : TIME_NONE,
        .error_ns = report->clock_error_ns,
    };
}

static void fill_record(struct drive *d, const struct judge_summary *sum,
                        const struct run_client_load *client)
{
    struct band_result r;
    int64_t zero_ns = d->config->plan->t_zero_mono_ns;

    band_get_result(d->band, &r);
    d->out->t_start_ns = relative(r.t_start_ns, zero_ns);
    d->out->t_open_ns = relative(r.t_open_ns, zero_ns);
    d->out->t_close_ns = relative(r.t_close_ns, zero_ns);
    d->out->t_drained_ns = relative(r.t_drained_ns, zero_ns);
    d->out->status = r.status;
    d->out->reason = d->broken ? "client_error" : r.reason;
    /* a window that ran its course and in which nothing ended ok has measured nothing */
    if (r.status == STATUS_PASS && sum->window_ok == 0) {
        d->out->status = STATUS_UNMEASURED;
        d->out->reason = "nothing_ok";
    }
    d->out->detail = detail_of(d, sum);
    d->out->issued = r.issued_window;
    d->out->issued_warmup = r.issued_warmup;
    d->out->planned = r.planned_window == COUNT_NONE ? 0 : r.planned_window;
    d->out->issued_injected = d->injection.issued;
    d->out->client = *client;
}

static int64_t mono(void *ctx)
{
    (void)ctx;
    return clock_mono_ns();
}

static int64_t stepped_real(void *ctx)
{
    struct drive *d = ctx;

    return clock_real_ns() +
           (d->band && band_stage(d->band) >= BAND_WINDOW ? d->config->clock_step_ns : 0);
}

/* Warm-up of a trace: its requests at once. The window: as recorded, but so many times as fast. */
static int64_t trace_arrival(struct drive *d, enum sample_phase phase)
{
    const struct run_plan *plan = d->config->plan;
    int64_t k = d->next_of_trace[phase]++;

    if (phase == PHASE_WARMUP)
        return k < plan->warmup ? 0 : INT64_MAX;
    return k < plan->requests ? trace_due_ns(&d->config->trace->items[k], d->out->band) : INT64_MAX;
}

static int64_t next_arrival(void *ctx, enum sample_phase phase)
{
    struct drive *d = ctx;

    if (d->config->trace)
        return trace_arrival(d, phase);
    return arrivals_next(&d->arrivals[phase]);
}

static void configure_band(struct drive *d, struct band_config *out)
{
    const struct run_plan *plan = d->config->plan;

    *out = (struct band_config){
        .workers = d->out->band,
        .warmup = plan->warmup,
        .quiesce_ns = plan->quiesce_ns,
        .window_ns = plan->window_ns,
        .max_window_ns = plan->max_window_ns,
        .min_samples = run_plan_min_samples(plan, d->out->band),
        .requests = plan->requests,
        .ramp = plan->ramp,
        .ramp_n = plan->ramp_n,
        .ramp_step_ns = plan->ramp_step_ns,
    };
    if (!run_plan_is_open(plan))
        return;
    out->workers = (int32_t)plan->max_in_flight;
    out->arrival = next_arrival;
    out->ctx = d;
    for (int phase = PHASE_WARMUP; phase <= PHASE_WINDOW && !d->config->trace; phase++)
        run_plan_arrivals(plan, d->out->band, d->out->replicate, (enum sample_phase)phase,
                          &d->arrivals[phase]);
}

/* As many prompts as may be wanted at once: one a worker, or what is due in a second. */
static int32_t at_once(const struct run_plan *plan, int32_t band)
{
    if (run_plan_is_trace(plan))
        return TRACE_AT_ONCE;
    return run_plan_is_open(plan) ? band / 1000 + 1 : band;
}

static int start_prompts(struct drive *d, const struct prompts_source *source, struct error *err)
{
    if (prompts_start(&d->prompts, source, err) < 0)
        return -1;
    prompts_wait_ready(d->prompts);
    return prompts_error(d->prompts, err) ? -1 : 0;
}

static int start_talking(struct drive *d, const struct prompts_source *source, struct error *err)
{
    bool live = strcmp(d->config->plan->answers, "live") == 0;

    return dialogues_new(&d->dialogues, source, d->config->talk, live, d->out->band, err);
}

static int start(struct drive *d, struct error *err)
{
    const struct drive_config *c = d->config;
    struct band_config config;
    struct wire_loop_options loop = {
        .on_done = on_done,
        .ctx = d,
        .user_time_only = strcmp(c->plan->time_source, "user") == 0,
        .burn_ns = c->burn_ns,
        .clocks = c->clock_step_ns ? &d->clocks : NULL,
    };
    struct prompts_source prompts = {
        .lane = c->lane,
        .corpus = c->corpus,
        .trace = c->trace,
        .counter = c->counter,
        .nonce = c->plan->nonce,
        .unique = strcmp(c->plan->prompt_policy, "unique") == 0,
        .after_1 = !run_plan_is_open(c->plan) && c->plan->bands[0] == 1 && d->out->band > 1,
        .replicate = d->out->replicate,
        .band = d->out->band,
        .at_once = at_once(c->plan, d->out->band),
        .wake = wake,
        .ctx = d,
    };
    struct judge_config judge = {
        .lane = c->lane,
        .receipt = c->receipt,
        .tokenizer = c->tokenizer,
        .zero_ns = c->plan->t_zero_mono_ns,
        .band = d->out->band,
        .replicate = d->out->replicate,
        .progress = c->progress,
        .state = c->state,
        .answered = c->talk ? answered : NULL,
        .wake = wake,
        .ctx = d,
    };

    configure_band(d, &config);
    d->clocks = (struct clock_pair){mono, stepped_real, d};
    if (wire_loop_new(&d->loop, &loop, err) < 0 ||
        injection_init(&d->injection, c->plan, &prompts, err) < 0 ||
        (c->talk ? start_talking(d, &prompts, err) : start_prompts(d, &prompts, err)) < 0 ||
        judge_start(&d->judge, &judge, err) < 0)
        return -1;
    return band_new(&d->band, &config, clock_mono_ns(), err);
}

static int measure(struct drive *d, struct error *err)
{
    struct run_client_load client = {.run_queue_wait_ns = COUNT_NONE};
    struct judge_summary sum = {0};
    int64_t cpu_ns = clock_thread_cpu_ns(), wall_ns = clock_mono_ns();
    int64_t queued_ns = schedstat_wait_ns();
    struct wire_loop_report report;
    struct clock_state clocks;
    int rc;

    clock_state_read(&clocks);

    wire_loop_mark(d->loop);
    rc = run_loop(d, err);
    wire_loop_report(d->loop, &report);
    d->out->clock = clock_of(d, &clocks, &report);

    client.loop_cpu_ns = clock_thread_cpu_ns() - cpu_ns;
    client.wall_ns = clock_mono_ns() - wall_ns;
    client.loop_lag_p50_ns = report.lag_p50_ns;
    client.loop_lag_p99_ns = report.lag_p99_ns;
    client.loop_lag_max_ns = report.lag_max_ns;
    if (queued_ns != COUNT_NONE)
        client.run_queue_wait_ns = schedstat_wait_ns() - queued_ns;
    if (rc < 0)
        wire_loop_cancel_all(d->loop); /* what is in flight comes back through on_done */
    while (d->held) { /* after the band nothing is timed any more: the judge may take its time */
        give(d);
        clock_sleep_until_ns(clock_mono_ns() + NS_PER_MS, NULL);
    }
    if (judge_finish(d->judge, &sum, rc < 0 ? &d->err : err) < 0)
        rc = -1;
    d->judge = NULL;
    client.parser_cpu_ns = sum.cpu_ns;
    fill_record(d, &sum, &client);
    return rc;
}

static void begin_record(struct run_band *out)
{
    *out = (struct run_band){.lane = out->lane,
                             .band = out->band,
                             .replicate = out->replicate,
                             .t_start_ns = TIME_NONE,
                             .t_open_ns = TIME_NONE,
                             .t_close_ns = TIME_NONE,
                             .t_drained_ns = TIME_NONE,
                             .clock = {.adjtimex_status = INT64_MIN,
                                       .frequency_ppb = INT64_MIN,
                                       .slew_ppb = INT64_MIN,
                                       .steps = COUNT_NONE,
                                       .largest_step_ns = TIME_NONE,
                                       .error_ns = COUNT_NONE},
                             .status = STATUS_UNMEASURED,
                             .reason = "client_error"};
    server_said_nothing(&out->server);
}

int drive_band(const struct drive_config *config, struct run_band *out, struct error *err)
{
    struct drive d = {.config = config, .out = out, .told = BAND_DONE};
    struct error ignored = {0};
    struct judge_summary sum;
    int rc = -1;

    begin_record(out);
    if (receipt_band_open(config->receipt, out->lane, out->band, out->replicate, err) < 0)
        return -1;
    if (start(&d, err) < 0)
        goto out;
    rc = measure(&d, err);
    if (rc == 0 && d.broken) {
        *err = d.err;
        rc = -1;
    }
out:
    if (d.judge)
        (void)!judge_finish(d.judge, &sum, &ignored);
    prompts_stop(d.prompts);
    injection_release(&d.injection);
    dialogues_free(d.dialogues);
    wire_loop_free(d.loop);
    band_free(d.band);
    if (receipt_band_close(config->receipt, out, rc < 0 ? &ignored : err) < 0)
        rc = -1;
    return rc;
}

int drive_skip(const struct drive_config *config, struct run_band *out, const char *reason,
               const char *detail, struct error *err)
{
    begin_record(out);
    out->reason = reason;
    out->detail = arena_cstr(config->arena, str_of(detail));
    if (receipt_band_open(config->receipt, out->lane, out->band, out->replicate, err) < 0)
        return -1;
    return receipt_band_close(config->receipt, out, err);
}
