#include "gate/specimen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "chat/prompt.h"
#include "receipt/server_said.h"

#define TOKENS SPECIMEN_TOKENS
#define PERIOD (300 * NS_PER_MS)
#define WRAPPER "apr"
#define WRAPPER_JSON                                                                              \
    "{\"source\":\"probed\",\"status\":\"named\",\"name\":\"" WRAPPER "\",\"profile\":\"" WRAPPER \
    "\",\"template_sha256\":null,\"system\":null,\"special_text\":\"plain\",\"bos_added\":false," \
    "\"residue\":0,\"now\":null,\"server_front\":null,\"front_left_out\":null}"
#define WARMUP 2 /* requests a worker */
#define BETWEEN \
    (12 * NS_PER_S) /* from one band's window to the next one's, its own length beside */

static const char *const words[TOKENS] = {" one", " two", " six", " ten",
                                          " sky", " sea", " red", " far"};

struct request {
    struct specimen *s;
    const struct run_record *run;
    struct run_band *band;
    int32_t worker;
    int64_t seq, index, at_ns;
    bool warmup;
    struct buf text;
    struct sample_read_stamp reads[TOKENS];
    struct sample_event events[TOKENS + 3];
    char prompt_id[160];
};

void specimen_init(struct specimen *s)
{
    static const char *const argv[] = {"tally", "run", "--lane", "subject=http://127.0.0.1:8001"};
    *s = (struct specimen){
        .client = {"0.0.0-test", "0123abc"},
        .bands = {1, 4},
        .bands_n = 2,
        .lanes_n = 2,
        .replicates = 2,
        .window_s = 10,
        .method = COUNT_CLIENT_TOKENIZER,
        .body = 512,
        .wrap = {8, 8},
        .finish = true,
        .argv = argv,
        .argc = sizeof argv / sizeof argv[0],
        .nonce = "00112233445566778899aabbccddeeff",
        .hosts = {"bench-1", "bench-1"},
        .builds = {"apr 1.2", "b80fb11a"},
        .start_real_ns = SPECIMEN_ZERO_REAL,
    };
}

/* Behind the one wrapper that is built in, so that nothing else is needed to render it again. */
static int count_rendering(const struct request *q, struct sample *out, struct error *err)
{
    struct chat_hypothesis h = {.profile = *chat_profile_find(WRAPPER)};
    const struct chat_prompter p = {.hypothesis = &h, .tokenizer = q->s->counter->tokenizer};
    struct chat_rendering r = {0};
    int status = chat_prompt(&p, buf_str(&q->text), &r, err);
    out->prompt_rendered = (int64_t)r.ids.n;
    chat_rendering_release(&r);
    return status;
}

static int count_prompt(struct request *q, struct sample *out, struct error *err)
{
    struct corpus_draw draw = {q->run->plan.nonce, q->band->replicate, q->band->band, q->warmup,
                               q->index};
    struct corpus_prompt prompt;
    int64_t wrap = q->s->wrap[q->band->lane];
    out->prompt_body = q->s->body;
    snprintf(q->prompt_id, sizeof q->prompt_id, "%s-%d-%d-%d", q->warmup ? "warm" : "p",
             (int)draw.replicate, (int)draw.band, (int)q->seq);
    if (q->s->corpus) {
        if (corpus_unique(q->s->corpus, &q->s->counter->counter, &draw, &q->text, &prompt, err) < 0)
            return -1;
        out->prompt_body = prompt.tokens;
        snprintf(q->prompt_id, sizeof q->prompt_id, "%.*s:r%d.c%d.%c%lld",
                 STR_ARG(str_first(prompt.item->id, 64)), (int)draw.replicate, (int)draw.band,
                 q->warmup ? 'w' : 'u', (long long)q->index);
    }
    out->prompt_id = str_of(q->prompt_id);
    out->prompt_rendered = out->prompt_body;
    if (q->s->corpus && count_rendering(q, out, err) < 0)
        return -1;
    if (wrap != COUNT_NONE)
        out->prompt_reported = out->prompt_body + wrap;
    return 0;
}

static int count_output(struct request *q, struct sample *out, struct error *err)
{
    struct token_ids ids = {.with_offsets = true};
    int status = 0;
    out->output_retokenized.total = out->output_retokenized.text = TOKENS;
    if (!q->s->counter)
        return 0;
    buf_reset(&q->text);
    sample_join_text(out, EVENT_TEXT, &q->text);
    status = tokenizer_encode(q->s->counter->tokenizer, buf_str(&q->text), &q->s->counter->how,
                              &ids, err);
    if (status == 0)
        status = sample_assign_tokens(q->events, out->events_n, EVENT_TEXT, ids.to, ids.n, err);
    out->output_retokenized.total = out->output_retokenized.text = (int64_t)ids.n;
    token_ids_release(&ids);
    return status;
}

static struct sample_event *put_event(struct request *q, struct sample *out, uint32_t read,
                                      enum sample_event_kind kind)
{
    struct sample_event *e = &q->events[out->events_n++];
    sample_event_init(e);
    e->read = read;
    e->kind = kind;
    e->has_choices = kind == EVENT_TEXT || kind == EVENT_FINISH;
    return e;
}

/* The comparator is a little slower, so that ratios are not 1. */
static void put_events(struct request *q, struct sample *out)
{
    bool subject = q->band->lane == 0;
    int64_t first = (subject ? 50 : 60) * NS_PER_MS, step = (subject ? 5 : 6) * NS_PER_MS;
    for (uint32_t k = 0; k < TOKENS; k++) {
        int64_t at = out->t_sent_ns + first + k * step;
        q->reads[k] = (struct sample_read_stamp){at, TIME_NONE, at - 1000, 180};
        struct sample_event *e = put_event(q, out, k, EVENT_TEXT);
        e->text = str_of(words[k]);
        e->retokenized = 1;
    }
    put_event(q, out, TOKENS - 1, EVENT_FINISH)->finish_reason = STR("length");
    if (out->prompt_reported != COUNT_NONE) {
        struct sample_event *e = put_event(q, out, TOKENS - 1, EVENT_USAGE);
        e->usage.prompt = out->prompt_reported;
        e->usage.completion = TOKENS;
        out->output_reported.total = out->output_reported.text = TOKENS;
    }
    put_event(q, out, TOKENS - 1, EVENT_DONE);
    out->reads = q->reads;
    out->reads_n = TOKENS;
    out->events = q->events;
    out->t_first_byte_ns = out->t_headers_ns = q->reads[0].t_user_ns;
    out->t_end_ns = q->reads[TOKENS - 1].t_user_ns;
}

static int add_request(struct request *q, struct receipt_run *r, struct error *err)
{
    struct sample out;
    sample_init(&out);
    out.lane = str_of(q->run->lanes[q->band->lane].role);
    out.band = q->band->band;
    out.replicate = q->band->replicate;
    out.worker = q->worker;
    out.seq = q->seq;
    out.phase = q->warmup ? PHASE_WARMUP : PHASE_WINDOW;
    memset(out.body_sha256, 'e', SHA256_HEX - 1);
    out.max_tokens = TOKENS;
    out.seed = q->run->plan.seed;
    out.t_planned_ns = out.t_issue_ns = q->at_ns;
    out.t_sent_ns = q->at_ns + 10000;
    out.connection = q->worker;
    out.reused = true;
    out.http_status = 200;
    out.saw_finish = out.saw_done = true;
    if (count_prompt(q, &out, err) < 0)
        return -1;
    put_events(q, &out);
    if (count_output(q, &out, err) < 0)
        return -1;
    ++*(q->warmup ? &q->band->issued_warmup : &q->band->issued);
    if (q->s->change && q->s->change(q->s->ctx, &out))
        return 0;
    if (sample_digest_output(&out, out.output_sha256, err) < 0)
        return -1;
    return receipt_band_add(r, &out, err);
}

static int keep_server(struct receipt_run *r, struct run_band *b, struct error *err)
{
    static const struct server_answer before[] = {
        {.path = "/props", .status = 200, .body = {"{\"total_slots\":64}", 18}}};
    struct buf text = BUF_INIT(SERVER_SAID_MAX);
    int status = server_said_write(&text, &(struct server_said){before, 1, NULL, 0}, err);
    if (status == 0)
        status = receipt_server_keep(r, b, buf_str(&text), err);
    buf_release(&text);
    return status;
}

static int add_phase(struct request *q, struct receipt_run *r, bool warmup, struct error *err)
{
    int64_t start = warmup ? q->band->t_start_ns : q->band->t_open_ns;
    int64_t n = warmup ? WARMUP : q->s->window_s * NS_PER_S / PERIOD;
    q->warmup = warmup;
    q->index = 0;
    for (int64_t k = 0; k < n; k++)
        for (q->worker = 0; q->worker < q->band->band; q->worker++, q->seq++, q->index++) {
            q->at_ns = start + k * PERIOD + q->worker * NS_PER_MS;
            if (add_request(q, r, err) < 0)
                return -1;
        }
    return 0;
}

static int add_band(struct request *q, struct receipt_run *r, int64_t start, bool close,
                    struct error *err)
{
    struct run_band *b = q->band;
    int64_t window = q->s->window_s * NS_PER_S;
    *b = (struct run_band){
        .lane = b->lane,
        .band = b->band,
        .replicate = b->replicate,
        .t_start_ns = start,
        .t_open_ns = start + NS_PER_S,
        .t_close_ns = start + NS_PER_S + window,
        .t_drained_ns = start + NS_PER_S + window + 20 * NS_PER_MS,
        .status = STATUS_PASS,
        .client = {.loop_cpu_ns = 200 * NS_PER_MS,
                   .parser_cpu_ns = 100 * NS_PER_MS,
                   .wall_ns = window + NS_PER_S,
                   .run_queue_wait_ns = NS_PER_MS,
                   .loop_lag_p50_ns = 2000,
                   .loop_lag_p99_ns = 9000,
                   .loop_lag_max_ns = 30000},
        .clock = {.source = "tsc",
                  .adjtimex_status = 8193,
                  .frequency_ppb = -1,
                  .slew_ppb = 12345,
                  .largest_step_ns = TIME_NONE,
                  .error_ns = 40},
    };
    q->seq = 0;
    if (receipt_band_open(r, b->lane, b->band, b->replicate, err) < 0 ||
        add_phase(q, r, true, err) < 0 || add_phase(q, r, false, err) < 0)
        return -1;
    if (keep_server(r, b, err) < 0)
        return -1;
    if (q->s->change_band)
        q->s->change_band(q->s->ctx, b);
    return close ? receipt_band_close(r, b, err) : 0;
}

static void plan_it(const struct specimen *s, struct run_plan *p)
{
    run_plan_w1(p);
    snprintf(p->nonce, sizeof p->nonce, "%s", s->nonce);
    p->t_zero_mono_ns = 77000000001;
    p->t_zero_real_ns = s->start_real_ns;
    memcpy(p->bands, s->bands, sizeof s->bands);
    p->bands_n = s->bands_n;
    p->replicates = s->replicates;
    p->window_ns = s->window_s * NS_PER_S;
    p->quiesce_ns = 0;
    p->max_tokens = TOKENS;
    p->method = s->method;
    p->same_model = "tiny";
    p->corpus_path = "corpus.jsonl";
    p->corpus_count = 64;
    memset(p->corpus_sha256, 'c', SHA256_HEX - 1);
    if (s->corpus) {
        p->corpus_tokens = s->corpus->promise.tokens;
        p->corpus_tolerance = s->corpus->promise.tolerance;
        memcpy(p->corpus_sha256, s->corpus->sha256, SHA256_HEX);
    }
    if (s->method != COUNT_CLIENT_TOKENIZER)
        return;
    p->tokenizer_path = "tokenizer.json";
    p->tokenizer_reference = "huggingface";
    memset(p->tokenizer_sha256, 'a', SHA256_HEX - 1);
    memset(p->vocabulary_sha256, 'b', SHA256_HEX - 1);
    memset(p->pipeline_sha256, 'd', SHA256_HEX - 1);
    if (!s->counter)
        return;
    const struct corpus_tokenizer *t = &s->counter->identity;
    memcpy(p->tokenizer_sha256, t->tokenizer_sha256, SHA256_HEX);
    memcpy(p->vocabulary_sha256, t->vocabulary_sha256, SHA256_HEX);
    memcpy(p->pipeline_sha256, t->pipeline_sha256, SHA256_HEX);
    p->tokenizer_reference = t->reference;
}

/* Odd replicates measure the subject first, even ones the comparator. */
static int add_bands(struct request *q, struct receipt_run *r, struct run_band *bands,
                     struct run_record *run, struct error *err)
{
    const struct specimen *s = q->s;
    size_t most = s->lanes_n * s->bands_n * (size_t)s->replicates;
    int64_t start = NS_PER_S;
    for (int32_t rep = 1; rep <= s->replicates; rep++)
        for (size_t c = 0; c < s->bands_n; c++)
            for (size_t k = 0; k < s->lanes_n; k++) {
                q->band = &bands[run->bands_n++];
                *q->band = (struct run_band){.lane = rep % 2 || s->lanes_n == 1 ? k : 1 - k,
                                             .band = s->bands[c],
                                             .replicate = rep};
                if (add_band(q, r, start, run->bands_n < most || !s->leave_open, err) < 0)
                    return -1;
                start += s->window_s * NS_PER_S + BETWEEN;
            }
    run->t_end_real_ns = s->start_real_ns + start;
    return 0;
}

/* One stream of a client that stamps every token 50 us after it was sent. */
static int keep_floor(struct receipt_run *r, struct run_record *run, struct error *err)
{
    struct sample_read_stamp reads[TOKENS];
    struct sample_event events[TOKENS + 1];
    char text[TOKENS][24];
    struct sample one;
    sample_init(&one);
    one.lane = STR("floor");
    one.band = one.replicate = 1;
    one.phase = PHASE_WINDOW;
    one.t_issue_ns = 1000;
    one.t_sent_ns = 2000;
    one.http_status = 200;
    one.saw_finish = true;
    for (int k = 0; k < TOKENS; k++) {
        int64_t sent_ns = (k + 1) * 10 * NS_PER_MS;
        reads[k] = (struct sample_read_stamp){sent_ns + 50000, TIME_NONE, sent_ns + 20000, 180};
        snprintf(text[k], sizeof text[k], "%lld", (long long)(sent_ns + run->plan.t_zero_mono_ns));
        sample_event_init(&events[k]);
        events[k].read = (uint32_t)k;
        events[k].kind = EVENT_TEXT;
        events[k].text = str_of(text[k]);
    }
    sample_event_init(&events[TOKENS]);
    events[TOKENS].read = TOKENS - 1;
    events[TOKENS].kind = EVENT_FINISH;
    events[TOKENS].finish_reason = STR("length");
    one.reads = reads;
    one.reads_n = TOKENS;
    one.events = events;
    one.events_n = TOKENS + 1;
    one.t_first_byte_ns = reads[0].t_user_ns;
    one.t_end_ns = reads[TOKENS - 1].t_user_ns;
    run->calibration = (struct run_calibration){
        .streams = 1,
        .tokens = TOKENS,
        .rate = 100,
        .client = {2 * NS_PER_MS, COUNT_NONE, 90 * NS_PER_MS, NS_PER_MS, 2000, 9000, 30000},
    };
    return receipt_calibration_keep(r, &run->calibration, &one, 1, err);
}

static void keep_result(struct specimen *s)
{
    size_t at = 0;
    for (size_t i = 0; i < s->result.refusals_n && at < sizeof s->refusals; i++) {
        const struct receipt_refusal *r = &s->result.refusals[i];
        int n = snprintf(s->refusals + at, sizeof s->refusals - at, "%s %s %d %d: %s\n", r->rule,
                         r->lane ? r->lane : "-", (int)r->band, (int)r->replicate, r->seen);
        at += n > 0 ? (size_t)n : 0;
    }
    s->result.refusals = NULL;
}

int specimen_write(struct specimen *s, struct error *err)
{
    struct run_lane lanes[RUN_LANES_MAX] = {
        {.role = "subject",
         .url = "http://127.0.0.1:8001",
         .host = s->hosts[0],
         .model = "tiny",
         .build = s->builds[0],
         .reported_json = "{\"models\":[\"tiny\"],\"n\":1.50}"},
        {.role = "comparator",
         .url = "http://127.0.0.1:8002",
         .host = s->hosts[1],
         .model = "tiny",
         .build = s->builds[1]},
    };
    struct run_record run = {.lanes = lanes,
                             .lanes_n = s->lanes_n,
                             .t_start_real_ns = s->start_real_ns,
                             .interrupted = s->interrupted,
                             .argv = s->argv,
                             .argc = s->argc};
    static const struct run_command commands[] = {
        {.when = "before_lane",
         .lane = "subject",
         .command = "./start subject",
         .t_ns = -NS_PER_S,
         .took_ns = NS_PER_S / 2,
         .signal = INT64_MIN,
         .output = "started\n"},
        {.when = "after_lane",
         .lane = "subject",
         .command = "./stop subject",
         .t_ns = NS_PER_S,
         .took_ns = NS_PER_S,
         .exit_code = INT64_MIN,
         .signal = 15,
         .timed_out = true},
    };
    struct run_band *bands =
        calloc(s->lanes_n * s->bands_n * (size_t)s->replicates + 1, sizeof *bands);
    struct request q = {.s = s, .run = &run};
    struct receipt_run *r = NULL;
    int status = -1;
    buf_init(&q.text, BUF_ANY);
    if (!bands) {
        error_no_memory(err);
        goto out;
    }
    plan_it(s, &run.plan);
    for (size_t i = 0; s->corpus && i < s->lanes_n; i++)
        lanes[i].wrapper_json = WRAPPER_JSON;
    if (s->change_plan)
        s->change_plan(s->ctx, &run.plan, lanes);
    if (receipt_start(&r, s->dir, &run, &s->client, err) < 0)
        goto out;
    if (keep_floor(r, &run, err) < 0)
        goto out;
    run.bands = bands;
    run.commands = commands;
    run.commands_n = sizeof commands / sizeof *commands;
    if (add_bands(&q, r, bands, &run, err) < 0)
        goto out;
    if (s->finish) {
        if (receipt_finish(r, &run, &s->result, err) < 0)
            goto out;
        keep_result(s);
    }
    status = 0;
out:
    receipt_run_free(r);
    free(bands);
    buf_release(&q.text);
    return status;
}
