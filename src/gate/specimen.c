#include "gate/specimen.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define TOKENS 8
#define WINDOW (10 * NS_PER_S)
#define PERIOD (300 * NS_PER_MS)
#define BETWEEN (22 * NS_PER_S) /* from one band's start to the next one's */
#define BODY 64                 /* tokens of a prompt where nothing counts them */
#define WRAP 8                  /* tokens that both lanes add */
#define ZERO_REAL INT64_C(1796117400000000000)

static const char *const words[TOKENS] = {" one", " two", " six", " ten",
                                          " sky", " sea", " red", " far"};

struct request {
    struct specimen *s;
    const struct run_record *run;
    const struct run_band *band;
    int32_t worker;
    int64_t seq, index, at_ns;
    bool warmup;
    struct buf text;
    struct sample_read_stamp reads[TOKENS];
    struct sample_event events[TOKENS + 3];
    char prompt_id[160];
};

static int count_prompt(struct request *q, struct sample *out, struct error *err)
{
    struct corpus_draw draw = {q->run->plan.nonce, q->band->replicate, q->band->band, q->warmup,
                               q->index};
    struct corpus_prompt prompt;
    out->prompt_body = BODY;
    snprintf(q->prompt_id, sizeof q->prompt_id, "p:r%d.c%d.%c%lld", (int)draw.replicate,
             (int)draw.band, q->warmup ? 'w' : 'u', (long long)q->index);
    if (q->s->corpus) {
        if (corpus_unique(q->s->corpus, &q->s->counter->counter, &draw, &q->text, &prompt, err) < 0)
            return -1;
        out->prompt_body = prompt.tokens;
        snprintf(q->prompt_id, sizeof q->prompt_id, "%.*s:r%d.c%d.%c%lld",
                 STR_ARG(str_first(prompt.item->id, 64)), (int)draw.replicate, (int)draw.band,
                 q->warmup ? 'w' : 'u', (long long)q->index);
    }
    out->prompt_id = str_of(q->prompt_id);
    out->prompt_reported = out->prompt_body + WRAP;
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

static void put_event(struct request *q, struct sample *out, uint32_t read,
                      enum sample_event_kind kind)
{
    struct sample_event *e = &q->events[out->events_n++];
    sample_event_init(e);
    e->read = read;
    e->kind = kind;
    e->has_choices = kind == EVENT_TEXT || kind == EVENT_FINISH;
}

/* The comparator is a little slower, so that ratios are not 1. */
static void put_events(struct request *q, struct sample *out)
{
    bool subject = q->band->lane == 0;
    int64_t first = (subject ? 50 : 60) * NS_PER_MS, step = (subject ? 5 : 6) * NS_PER_MS;
    for (uint32_t k = 0; k < TOKENS; k++) {
        int64_t at = out->t_sent_ns + first + k * step;
        q->reads[k] = (struct sample_read_stamp){at, TIME_NONE, at - 1000, 180};
        put_event(q, out, k, EVENT_TEXT);
        q->events[k].text = str_of(words[k]);
        q->events[k].retokenized = 1;
    }
    put_event(q, out, TOKENS - 1, EVENT_FINISH);
    q->events[TOKENS].finish_reason = STR("length");
    put_event(q, out, TOKENS - 1, EVENT_USAGE);
    q->events[TOKENS + 1].usage.prompt = out->prompt_reported;
    q->events[TOKENS + 1].usage.completion = TOKENS;
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
    out.output_reported.total = TOKENS;
    out.saw_finish = out.saw_done = true;
    if (count_prompt(q, &out, err) < 0)
        return -1;
    put_events(q, &out);
    return count_output(q, &out, err) < 0 ? -1 : receipt_band_add(r, &out, err);
}

static int add_band(struct request *q, struct receipt_run *r, struct run_band *b, struct error *err)
{
    int32_t c = b->band;
    q->band = b;
    q->seq = 0;
    if (receipt_band_open(r, b->lane, c, b->replicate, err) < 0)
        return -1;
    for (int phase = 0; phase < 2; phase++) {
        int64_t start = phase ? b->t_open_ns : b->t_start_ns;
        int64_t n = phase ? WINDOW / PERIOD : 2;
        q->warmup = phase == 0;
        q->index = 0;
        for (int64_t k = 0; k < n; k++)
            for (q->worker = 0; q->worker < c; q->worker++, q->seq++, q->index++) {
                q->at_ns = start + k * PERIOD + q->worker * NS_PER_MS;
                if (add_request(q, r, err) < 0)
                    return -1;
            }
        *(phase ? &b->issued : &b->issued_warmup) = q->index;
    }
    return receipt_band_close(r, b, err);
}

static void plan_it(const struct specimen *s, struct run_plan *p)
{
    run_plan_init(p);
    memcpy(p->nonce, "5e1f7e575e1f7e575e1f7e575e1f7e57", RUN_NONCE_HEX);
    p->t_zero_real_ns = ZERO_REAL;
    p->bands[0] = 1;
    p->bands[1] = 4;
    p->bands_n = 2;
    p->replicates = 2;
    p->window_ns = WINDOW;
    p->max_tokens = TOKENS;
    p->method = COUNT_CLIENT_TOKENIZER;
    p->same_model = "specimen";
    p->corpus_tokens = BODY;
    p->corpus_tolerance = 8;
    memset(p->corpus_sha256, 'c', SHA256_HEX - 1);
    memset(p->tokenizer_sha256, 'a', SHA256_HEX - 1);
    memset(p->vocabulary_sha256, 'b', SHA256_HEX - 1);
    memset(p->pipeline_sha256, 'd', SHA256_HEX - 1);
    if (!s->corpus)
        return;
    const struct corpus_tokenizer *t = &s->counter->identity;
    p->corpus_tokens = s->corpus->promise.tokens;
    p->corpus_tolerance = s->corpus->promise.tolerance;
    memcpy(p->corpus_sha256, s->corpus->sha256, SHA256_HEX);
    memcpy(p->tokenizer_sha256, t->tokenizer_sha256, SHA256_HEX);
    memcpy(p->vocabulary_sha256, t->vocabulary_sha256, SHA256_HEX);
    memcpy(p->pipeline_sha256, t->pipeline_sha256, SHA256_HEX);
    p->tokenizer_reference = t->reference;
}

static int add_bands(struct request *q, struct receipt_run *r, struct run_band *bands, size_t *n,
                     struct error *err)
{
    const struct run_plan *p = &q->run->plan;
    int64_t start = NS_PER_S;
    for (int32_t rep = 1; rep <= p->replicates; rep++)
        for (size_t c = 0; c < p->bands_n; c++)
            for (size_t k = 0; k < 2; k++, start += BETWEEN) {
                struct run_band *b = &bands[(*n)++];
                *b = (struct run_band){.lane = rep % 2 ? k : 1 - k,
                                       .band = p->bands[c],
                                       .replicate = rep,
                                       .t_start_ns = start,
                                       .t_open_ns = start + NS_PER_S,
                                       .t_close_ns = start + NS_PER_S + WINDOW,
                                       .t_drained_ns = start + NS_PER_S + WINDOW,
                                       .status = STATUS_PASS,
                                       .client = {200 * NS_PER_MS, 100 * NS_PER_MS, 11 * NS_PER_S,
                                                  NS_PER_MS, 2000, 9000, 30000}};
                if (add_band(q, r, b, err) < 0)
                    return -1;
            }
    return 0;
}

int specimen_write(struct specimen *s, struct error *err)
{
    static const struct run_lane lanes[] = {
        {.role = "subject", .url = "http://127.0.0.1:1", .host = "specimen", .build = "1"},
        {.role = "comparator", .url = "http://127.0.0.1:2", .host = "specimen", .build = "2"}};
    struct run_band bands[8];
    struct run_record run = {.lanes = lanes, .lanes_n = 2, .t_start_real_ns = ZERO_REAL};
    struct request q = {.s = s, .run = &run};
    struct receipt_run *r = NULL;
    struct receipt_result result;
    int status = -1;
    plan_it(s, &run.plan);
    buf_init(&q.text, BUF_ANY);
    if (receipt_start(&r, s->dir, &run, &s->client, err) < 0)
        goto out;
    run.bands = bands;
    if (add_bands(&q, r, bands, &run.bands_n, err) < 0)
        goto out;
    run.t_end_real_ns = ZERO_REAL + (int64_t)run.bands_n * BETWEEN;
    if (receipt_finish(r, &run, &result, err) < 0)
        goto out;
    memcpy(s->run_id, result.run_id, sizeof s->run_id);
    status = 0;
out:
    receipt_run_free(r);
    buf_release(&q.text);
    return status;
}
