#include "load/judge.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "load/queue.h"

#define WAITING_MAX 1024 /* exchanges not parsed yet; past it no new request is sent */
#define SAMPLE_ARENA_MAX ((size_t)256 << 20)
#define STATE_EVERY_NS (NS_PER_S / 4)
#define RECENT_MAX 128 /* first-token times that progress is told of */

struct judge {
    struct judge_config config;
    struct queue waiting;
    pthread_t thread;
    pthread_mutex_t mutex; /* over what follows */
    struct judge_job *first, *last;
    bool failed;
    struct error err;
    enum band_stage stage;
    int64_t open_ns;
    /* only the judge's thread, until it has ended */
    struct judge_summary summary;
    int64_t tokens, next_state_ns;
    int64_t recent_ns[RECENT_MAX], recent_n; /* TTFT of the last ok requests of the window */
};

void judge_job_free(struct judge_job *job)
{
    if (!job)
        return;
    prompt_free(job->prompt);
    wire_exchange_free(job->exchange);
    free(job);
}

/* Counts ------------------------------------------------------------------------------------- */

struct retokenizer {
    const struct tokenizer *tokenizer;
    struct token_ids ids;
    struct buf text;
};

/* Tokenizes the joined text of one kind, once, and gives each token to the event that holds its
 * last byte. COUNT_NONE when the tokenizer has no offsets that fit. */
static int64_t retokenize(struct retokenizer *r, struct sample *s, struct sample_event *events,
                          enum sample_event_kind kind, const struct encode_options *how)
{
    struct error err = {0};

    buf_reset(&r->text);
    sample_join_text(s, kind, &r->text);
    if (r->text.failed)
        return COUNT_NONE;
    if (r->text.n == 0)
        return 0;
    r->ids.with_offsets = true;
    if (tokenizer_encode(r->tokenizer, buf_str(&r->text), how, &r->ids, &err) < 0)
        return COUNT_NONE;
    if (sample_assign_tokens(events, s->events_n, kind, r->ids.to, r->ids.n, &err) < 0)
        return COUNT_NONE;
    return (int64_t)r->ids.n;
}

static bool has_tool_text(const struct sample *s)
{
    for (size_t i = 0; i < s->events_n; i++) {
        if (s->events[i].kind == EVENT_TOOL)
            return true;
    }
    return false;
}

static void count_output(const struct load_lane *lane, const struct tokenizer *tokenizer,
                         struct sample *s, struct sample_event *events)
{
    struct retokenizer r = {.tokenizer = tokenizer, .text = BUF_INIT(SAMPLE_TEXT_MAX + 1)};
    bool plain = str_eq(str_of(lane->plan->special_text), STR("plain"));
    struct encode_options how = {.special_text = plain ? SPECIAL_TEXT_PLAIN : SPECIAL_TEXT_PARSED};
    struct sample_counts *c = &s->output_retokenized;

    c->text = retokenize(&r, s, events, EVENT_TEXT, &how);
    c->reasoning = retokenize(&r, s, events, EVENT_REASONING, &how);
    /* a tool call's arguments come without the markup that the model generated around them */
    c->tool = has_tool_text(s) ? COUNT_NONE : 0;
    c->total = c->text == COUNT_NONE || c->reasoning == COUNT_NONE || c->tool == COUNT_NONE
                   ? COUNT_NONE
                   : c->text + c->reasoning + c->tool;
    token_ids_release(&r.ids);
    buf_release(&r.text);
}

int judge_sample(const struct load_lane *lane, const struct tokenizer *tokenizer,
                 const struct judge_job *job, int64_t zero_ns, struct sample *s,
                 struct arena *arena, struct error *err)
{
    struct wire_message messages[2];
    struct wire_ask ask;

    load_lane_ask(lane, (struct str){NULL, 0}, job->prompt->max_tokens, messages, &ask);
    sample_init(s);
    if (wire_decode(lane->protocol, job->exchange, &ask, zero_ns, s, arena, err) < 0)
        return -1;
    s->lane = str_of(lane->record.role);
    s->worker = job->issue.worker;
    s->seq = job->issue.seq;
    s->phase = job->issue.phase;
    s->start_cohort = job->issue.start_cohort;
    s->prompt_id = str_of(job->prompt->id);
    memcpy(s->body_sha256, job->prompt->body_sha256, sizeof s->body_sha256);
    s->t_planned_ns = job->issue.t_planned_ns - zero_ns;
    if (job->issue.t_due_ns > job->issue.t_planned_ns)
        s->t_due_ns = job->issue.t_due_ns - zero_ns;
    s->turn = job->prompt->turn;
    s->prompt_body = job->prompt->tokens;
    s->prompt_rendered = job->prompt->rendered;
    /* the array lies in our arena; only the sample's view of it is read-only */
    if (tokenizer && s->events_n > 0)
        count_output(lane, tokenizer, s, (struct sample_event *)(uintptr_t)s->events);
    wire_judge_length(s, &ask);
    return sample_digest_output(s, s->output_sha256, err);
}

/* The thread ---------------------------------------------------------------------------------- */

static int64_t tokens_of(const struct sample *s)
{
    if (s->output_observed.total != COUNT_NONE)
        return s->output_observed.total;
    if (s->output_reported.total != COUNT_NONE)
        return s->output_reported.total;
    return s->output_retokenized.total == COUNT_NONE ? 0 : s->output_retokenized.total;
}

static void remember_error(struct judge *j, const struct sample *s)
{
    if (j->summary.first_error[0])
        return;
    snprintf(j->summary.first_error, sizeof j->summary.first_error, "%s%s%s%s%.*s",
             sample_outcome_name(s->outcome), s->outcome == OUTCOME_FAILED ? "/" : "",
             s->outcome == OUTCOME_FAILED ? sample_failure_name(s->failure) : "",
             s->error.n ? ": " : "", STR_ARG(str_first(s->error, 400)));
}

/* For progress alone, by user time; the metrics take the kernel's where it is there. */
static void remember_ttft(struct judge *j, const struct sample *s)
{
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (!sample_event_has_token(e) || (size_t)e->read >= s->reads_n)
            continue;
        j->recent_ns[j->recent_n++ % RECENT_MAX] = s->reads[e->read].t_user_ns - s->t_sent_ns;
        return;
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t recent_ttft(const struct judge *j)
{
    int64_t sorted[RECENT_MAX];
    size_t n = j->recent_n < RECENT_MAX ? (size_t)j->recent_n : RECENT_MAX;

    if (n == 0)
        return -1;
    memcpy(sorted, j->recent_ns, n * sizeof sorted[0]);
    qsort(sorted, n, sizeof sorted[0], by_size);
    return sorted[(n - 1) / 2];
}

static void tally_up(struct judge *j, const struct sample *s)
{
    struct judge_summary *sum = &j->summary;

    sum->samples++;
    if (s->outcome != OUTCOME_OK && s->outcome != OUTCOME_CANCELLED)
        remember_error(j, s);
    if (s->phase != PHASE_WINDOW) {
        sum->warmup += s->phase == PHASE_WARMUP;
        return;
    }
    if (s->outcome == OUTCOME_OK) {
        sum->window_ok++;
        j->tokens += tokens_of(s);
        remember_ttft(j, s);
    } else {
        sum->window_not_ok++;
    }
}

static void set_failed(struct judge *j, const struct error *err)
{
    pthread_mutex_lock(&j->mutex);
    if (!j->failed)
        j->err = *err;
    j->failed = true;
    pthread_mutex_unlock(&j->mutex);
    j->config.wake(j->config.ctx);
}

static void give_back(struct judge *j, struct judge_job *job)
{
    bool ok = job->ok; /* once in the list, the job is the timing thread's */

    job->next = NULL;
    pthread_mutex_lock(&j->mutex);
    if (j->last)
        j->last->next = job;
    else
        j->first = job;
    j->last = job;
    pthread_mutex_unlock(&j->mutex);
    /* good news can wait until the loop wakes up anyway, unless a next turn hangs on it */
    if (!ok || j->config.answered)
        j->config.wake(j->config.ctx);
}

/* What stops a band when it goes on and on. What we cancelled ourselves is no failure of the
 * server's, and a short answer is one, only not as long as asked for. */
static bool is_failure(enum sample_outcome outcome)
{
    return outcome != OUTCOME_OK && outcome != OUTCOME_CANCELLED && outcome != OUTCOME_SHORT;
}

static void judge_one(struct judge *j, struct judge_job *job, struct arena *arena)
{
    struct error err = {0};
    struct sample s;

    arena_reset(arena);
    if (judge_sample(j->config.lane, j->config.tokenizer, job, j->config.zero_ns, &s, arena, &err) <
        0) {
        set_failed(j, &err);
        job->ok = false;
    } else {
        s.band = j->config.band;
        s.replicate = j->config.replicate;
        job->ok = !is_failure(s.outcome);
        tally_up(j, &s);
        if (j->config.answered &&
            j->config.answered(j->config.ctx, &job->issue, job->ok, &s, &err) < 0)
            set_failed(j, &err);
        if (j->config.lane->plan->redact_text && s.events_n > 0)
            sample_redact((struct sample_event *)(uintptr_t)s.events, s.events_n);
        if (receipt_band_add(j->config.receipt, &s, &err) < 0)
            set_failed(j, &err);
    }
    prompt_free(job->prompt);
    wire_exchange_free(job->exchange);
    job->prompt = NULL;
    job->exchange = NULL;
    give_back(j, job);
}

static void report_state(struct judge *j, int64_t now_ns)
{
    static const char *const names[] = {"warm-up", "quiesce", "window", "drain", "done"};
    struct load_state state = j->config.state;
    enum band_stage stage;
    int64_t open_ns;

    if (!j->config.progress || !j->config.progress->state || now_ns < j->next_state_ns)
        return;
    j->next_state_ns = now_ns + STATE_EVERY_NS;
    pthread_mutex_lock(&j->mutex);
    stage = j->stage;
    open_ns = j->open_ns;
    pthread_mutex_unlock(&j->mutex);
    state.stage = names[stage];
    state.ended = j->summary.window_ok + j->summary.window_not_ok;
    state.failed = j->summary.window_not_ok;
    state.tok_s = -1;
    state.ttft_ns = recent_ttft(j);
    if (open_ns != TIME_NONE && now_ns > open_ns) {
        state.window_ns = now_ns - open_ns;
        state.tok_s = (double)j->tokens * (double)NS_PER_S / (double)state.window_ns;
        if (state.left_ns >= 0)
            state.left_ns = state.left_ns > state.window_ns ? state.left_ns - state.window_ns : 0;
    }
    j->config.progress->state(j->config.progress->ctx, &state);
}

static void *run_judge(void *ctx)
{
    struct judge *j = ctx;
    struct arena arena;

    arena_init(&arena, SAMPLE_ARENA_MAX);
    while (!queue_is_done(&j->waiting)) {
        struct judge_job *job = queue_pop(&j->waiting, clock_mono_ns() + STATE_EVERY_NS);
        if (job)
            judge_one(j, job, &arena);
        report_state(j, clock_mono_ns());
    }
    j->summary.cpu_ns = clock_thread_cpu_ns();
    arena_release(&arena);
    return NULL;
}

int judge_start(struct judge **out, const struct judge_config *config, struct error *err)
{
    struct judge *j = calloc(1, sizeof *j);

    if (!j)
        return error_no_memory(err);
    j->config = *config;
    j->open_ns = TIME_NONE;
    if (queue_init(&j->waiting, WAITING_MAX, err) < 0) {
        free(j);
        return -1;
    }
    if (pthread_mutex_init(&j->mutex, NULL) == 0) {
        if (pthread_create(&j->thread, NULL, run_judge, j) == 0) {
            *out = j;
            return 0;
        }
        pthread_mutex_destroy(&j->mutex);
    }
    queue_release(&j->waiting);
    free(j);
    return error_set(err, ERROR_ENVIRONMENT, "no thread can be had from the system");
}

bool judge_give(struct judge *j, struct judge_job *job)
{
    return queue_push(&j->waiting, job);
}

bool judge_verdict(struct judge *j, struct judge_verdict *v)
{
    struct judge_job *job;

    pthread_mutex_lock(&j->mutex);
    job = j->first;
    if (job) {
        j->first = job->next;
        if (!j->first)
            j->last = NULL;
    }
    pthread_mutex_unlock(&j->mutex);
    if (!job)
        return false;
    *v = (struct judge_verdict){job->issue.phase, job->issue.worker, job->ok};
    judge_job_free(job);
    return true;
}

bool judge_error(struct judge *j, struct error *err)
{
    bool failed;

    pthread_mutex_lock(&j->mutex);
    failed = j->failed;
    if (failed)
        *err = j->err;
    pthread_mutex_unlock(&j->mutex);
    return failed;
}

void judge_set_stage(struct judge *j, enum band_stage stage, int64_t open_ns)
{
    pthread_mutex_lock(&j->mutex);
    j->stage = stage;
    j->open_ns = open_ns;
    pthread_mutex_unlock(&j->mutex);
}

int judge_finish(struct judge *j, struct judge_summary *out, struct error *err)
{
    struct judge_verdict v;
    bool failed;

    queue_close(&j->waiting);
    pthread_join(j->thread, NULL);
    failed = judge_error(j, err);
    while (judge_verdict(j, &v))
        ;
    *out = j->summary;
    queue_release(&j->waiting);
    pthread_mutex_destroy(&j->mutex);
    free(j);
    return failed ? -1 : 0;
}
