#define _XOPEN_SOURCE 700 /* nftw */

#include "make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

#include "base/clock.h"
#include "base/file.h"
#include "codec/gz.h"
#include "receipt/compose.h"
#include "receipt/envelope.h"
#include "receipt/files.h"
#include "receipt/read.h"

#define ZERO_REAL INT64_C(1796117400000000000) /* 2026-12-01T09:30:00Z */
#define PERIOD (300 * NS_PER_MS)

void make_init(struct make *m)
{
    static const char *const words[] = {"tally", "run", "--lane", "subject=http://127.0.0.1:8001"};
    *m = (struct make){
        .bands = {1, 4},
        .bands_n = 2,
        .lanes_n = 2,
        .replicates = 2,
        .window_s = 10,
        .method = COUNT_CLIENT_TOKENIZER,
        .body = 512,
        .wrap = {8, 8},
        .finish = true,
        .argv = words,
        .argc = 4,
    };
    arena_init(&m->arena, (size_t)1 << 30);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void make_release(struct make *m)
{
    if (m->dir[0])
        nftw(m->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    arena_release(&m->arena);
    *m = (struct make){0};
}

static void fill_plan(struct make *m, struct run_plan *p)
{
    run_plan_w1(p);
    memcpy(p->nonce, "00112233445566778899aabbccddeeff", RUN_NONCE_HEX);
    p->t_zero_mono_ns = 77000000001;
    p->t_zero_real_ns = ZERO_REAL;
    memcpy(p->bands, m->bands, sizeof m->bands);
    p->bands_n = m->bands_n;
    p->replicates = m->replicates;
    p->window_ns = m->window_s * NS_PER_S;
    p->quiesce_ns = 0;
    p->max_tokens = MAKE_TOKENS;
    p->method = m->method;
    p->corpus_path = "corpus.jsonl";
    memset(p->corpus_sha256, 'c', SHA256_HEX - 1);
    p->corpus_count = 64;
    if (m->method == COUNT_CLIENT_TOKENIZER) {
        p->tokenizer_path = "tokenizer.json";
        p->tokenizer_reference = "huggingface";
        memset(p->tokenizer_sha256, 'a', SHA256_HEX - 1);
        memset(p->vocabulary_sha256, 'b', SHA256_HEX - 1);
        memset(p->pipeline_sha256, 'd', SHA256_HEX - 1);
    }
}

struct built {
    struct sample_read_stamp reads[MAKE_TOKENS + 1];
    struct sample_event events[MAKE_TOKENS + 3];
};

static void fill_events(struct make *m, struct sample *s, bool subject, struct built *b)
{
    int64_t first = (subject ? 50 : 60) * NS_PER_MS, step = (subject ? 5 : 6) * NS_PER_MS;
    int64_t wrap = m->wrap[subject ? 0 : 1];
    static const char *const words[] = {" one", " two", " six", " ten",
                                        " sky", " sea", " red", " far"};
    size_t n = 0;
    for (size_t k = 0; k < MAKE_TOKENS; k++) {
        b->reads[k] = (struct sample_read_stamp){
            .t_user_ns = s->t_sent_ns + first + (int64_t)k * step,
            .t_kernel_ns = TIME_NONE,
            .t_lower_ns = s->t_sent_ns + first + (int64_t)k * step - 1000,
            .bytes = 180};
        struct sample_event *e = &b->events[n++];
        sample_event_init(e);
        e->read = (uint32_t)k;
        e->kind = EVENT_TEXT;
        e->has_choices = true;
        e->text = str_of(words[k]);
        e->retokenized = 1;
    }
    struct sample_event *finish = &b->events[n++], *usage, *done;
    sample_event_init(finish);
    finish->read = MAKE_TOKENS - 1;
    finish->kind = EVENT_FINISH;
    finish->has_choices = true;
    finish->finish_reason = STR("length");
    if (wrap != COUNT_NONE) {
        usage = &b->events[n++];
        sample_event_init(usage);
        usage->read = MAKE_TOKENS - 1;
        usage->kind = EVENT_USAGE;
        usage->usage.prompt = s->prompt_body + wrap;
        usage->usage.completion = MAKE_TOKENS;
        s->prompt_reported = s->prompt_body + wrap;
        s->output_reported.total = s->output_reported.text = MAKE_TOKENS;
    }
    done = &b->events[n++];
    sample_event_init(done);
    done->read = MAKE_TOKENS - 1;
    done->kind = EVENT_DONE;
    s->reads = b->reads;
    s->reads_n = MAKE_TOKENS;
    s->events = b->events;
    s->events_n = n;
    s->t_first_byte_ns = s->t_headers_ns = b->reads[0].t_user_ns;
    s->t_end_ns = b->reads[MAKE_TOKENS - 1].t_user_ns;
}

static void add_sample(struct make *m, struct receipt_run *r, const struct run_band *b,
                       const char *lane, int32_t worker, int64_t seq, int64_t at, bool warmup,
                       int64_t *issued)
{
    struct error err = {0};
    struct sample s;
    struct built built;
    char id[64];
    sample_init(&s);
    snprintf(id, sizeof id, "%s-%d-%d-%d", warmup ? "warm" : "p", (int)b->replicate, (int)b->band,
             (int)seq);
    s.lane = str_of(lane);
    s.band = b->band;
    s.replicate = b->replicate;
    s.worker = worker;
    s.seq = seq;
    s.phase = warmup ? PHASE_WARMUP : PHASE_WINDOW;
    s.prompt_id = str_of(id);
    memset(s.body_sha256, 'e', SHA256_HEX - 1);
    s.max_tokens = MAKE_TOKENS;
    s.seed = 2026;
    s.t_planned_ns = s.t_issue_ns = at;
    s.t_sent_ns = at + 10000;
    s.connection = worker;
    s.reused = true;
    s.http_status = 200;
    s.prompt_body = s.prompt_rendered = m->body;
    s.output_retokenized.total = s.output_retokenized.text = MAKE_TOKENS;
    s.saw_finish = s.saw_done = true;
    fill_events(m, &s, lane[0] == 's', &built);
    ++*issued;
    if (m->change && m->change(m, &s))
        return;
    if (receipt_band_add(r, &s, &err) < 0)
        fail_msg("%s", err.message);
}

static void add_band(struct make *m, struct receipt_run *r, struct run_band *b, const char *lane,
                     int64_t start, bool close)
{
    struct error err = {0};
    int64_t seq = 0, requests = m->window_s * NS_PER_S / PERIOD;
    *b = (struct run_band){.lane = b->lane,
                           .band = b->band,
                           .replicate = b->replicate,
                           .t_start_ns = start,
                           .t_open_ns = start + NS_PER_S,
                           .status = STATUS_PASS,
                           .client = {.loop_cpu_ns = 200 * NS_PER_MS,
                                      .parser_cpu_ns = 100 * NS_PER_MS,
                                      .wall_ns = (m->window_s + 1) * NS_PER_S,
                                      .run_queue_wait_ns = 1000000,
                                      .loop_lag_p50_ns = 2000,
                                      .loop_lag_p99_ns = 9000,
                                      .loop_lag_max_ns = 30000},
                           .clock = {.source = "tsc",
                                     .adjtimex_status = 8193,
                                     .frequency_ppb = -1,
                                     .slew_ppb = 12345,
                                     .largest_step_ns = TIME_NONE,
                                     .error_ns = 40}};
    b->t_close_ns = b->t_open_ns + m->window_s * NS_PER_S;
    b->t_drained_ns = b->t_close_ns + 20 * NS_PER_MS;
    if (receipt_band_open(r, b->lane, b->band, b->replicate, &err) < 0)
        fail_msg("%s", err.message);
    for (int32_t w = 0; w < b->band; w++)
        for (int k = 0; k < 2; k++)
            add_sample(m, r, b, lane, w, seq++, start + k * PERIOD + w * NS_PER_MS, true,
                       &b->issued_warmup);
    for (int64_t k = 0; k < requests; k++)
        for (int32_t w = 0; w < b->band; w++)
            add_sample(m, r, b, lane, w, seq++, b->t_open_ns + k * PERIOD + w * NS_PER_MS, false,
                       &b->issued);
    if (m->change_band)
        m->change_band(m, b);
    if (close && receipt_band_close(r, b, &err) < 0)
        fail_msg("%s", err.message);
}

static void keep_result(struct make *m)
{
    size_t at = 0;
    for (size_t i = 0; i < m->result.refusals_n && at < sizeof m->refusals; i++) {
        const struct receipt_refusal *r = &m->result.refusals[i];
        int n = snprintf(m->refusals + at, sizeof m->refusals - at, "%s %s %d %d: %s\n", r->rule,
                         r->lane ? r->lane : "-", (int)r->band, (int)r->replicate, r->seen);
        at += n > 0 ? (size_t)n : 0;
    }
    m->result.refusals = NULL;
}

static void measure_all(struct make *m, struct receipt_run *r, struct run_record *run)
{
    struct run_band *bands =
        arena_array(&m->arena, m->lanes_n * m->bands_n * (size_t)m->replicates + 1, sizeof *bands);
    int64_t start = NS_PER_S;
    size_t n = 0, most = m->lanes_n * m->bands_n * (size_t)m->replicates;
    for (int32_t rep = 1; rep <= m->replicates; rep++)
        for (size_t c = 0; c < m->bands_n; c++)
            for (size_t k = 0; k < m->lanes_n; k++) {
                size_t lane = rep % 2 || m->lanes_n == 1 ? k : 1 - k;
                bands[n] = (struct run_band){.lane = lane, .band = m->bands[c], .replicate = rep};
                n++;
                add_band(m, r, &bands[n - 1], run->lanes[lane].role, start,
                         n < most || !m->leave_open);
                start += (m->window_s + 12) * NS_PER_S;
            }
    run->bands = bands;
    run->bands_n = n;
    run->t_end_real_ns = ZERO_REAL + start;
}

void make_run(struct make *m)
{
    struct error err = {0};
    struct receipt_run *r;
    const struct receipt_client client = {"0.0.0-test", "0123abc"};
    struct run_lane lanes[2] = {
        {.role = "subject",
         .url = "http://127.0.0.1:8001",
         .host = "bench-1",
         .model = "tiny",
         .build = "apr 1.2",
         .reported_json = "{\"models\":[\"tiny\"],\"n\":1.50}"},
        {.role = "comparator",
         .url = "http://127.0.0.1:8002",
         .host = "bench-1",
         .model = "tiny",
         .build = "b80fb11a"},
    };
    struct run_record run = {.lanes = lanes,
                             .lanes_n = m->lanes_n,
                             .t_start_real_ns = ZERO_REAL,
                             .interrupted = m->interrupted,
                             .argv = m->argv,
                             .argc = m->argc};
    fill_plan(m, &run.plan);
    run.plan.same_model = "tiny";
    if (m->change_plan)
        m->change_plan(m, &run.plan, lanes);
    snprintf(m->dir, sizeof m->dir, "%s/tally-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(m->dir));
    if (receipt_start(&r, m->dir, &run, &client, &err) < 0)
        fail_msg("%s", err.message);
    measure_all(m, r, &run);
    if (m->finish) {
        if (receipt_finish(r, &run, &m->result, &err) < 0)
            fail_msg("%s", err.message);
        keep_result(m);
    }
    receipt_run_free(r);
}

char *make_path(struct make *m, const char *name)
{
    struct error err = {0};
    struct buf path = BUF_INIT(4096);
    assert_int_equal(path_join(&path, m->dir, name, &err), 0);
    char *kept = arena_cstr(&m->arena, buf_str(&path));
    buf_release(&path);
    return kept;
}

static bool is_gz(const char *name)
{
    return str_ends(str_of(name), STR(".gz"));
}

struct str make_read(struct make *m, const char *name)
{
    struct error err = {0};
    struct buf text = BUF_INIT(0);
    int status = is_gz(name) ? gz_read(&text, make_path(m, name), BUF_ANY, &err)
                             : file_read(&text, make_path(m, name), BUF_ANY, &err);
    if (status < 0)
        fail_msg("%s", err.message);
    struct str kept = arena_str(&m->arena, buf_str(&text));
    buf_release(&text);
    return kept;
}

void make_write(struct make *m, const char *name, struct str bytes)
{
    struct error err = {0};
    struct buf gz = BUF_INIT(BUF_ANY);
    if (is_gz(name)) {
        assert_int_equal(gz_compress(&gz, bytes, &err), 0);
        bytes = buf_str(&gz);
    }
    if (file_write_atomic(make_path(m, name), bytes, &err) < 0)
        fail_msg("%s", err.message);
    buf_release(&gz);
}

struct str make_replaced(struct make *m, struct str text, const char *after, const char *from,
                         const char *to)
{
    struct buf out = BUF_INIT(BUF_ANY);
    size_t begin = after ? str_find(text, str_of(after)) : 0;
    assert_true(begin != STR_NONE);
    begin += after ? strlen(after) : 0;
    size_t at = str_find(str_skip(text, begin), str_of(from));
    if (at == STR_NONE)
        fail_msg("no %s behind %s", from, after ? after : "the start");
    at += begin;
    buf_addstr(&out, str_first(text, at));
    buf_adds(&out, to);
    buf_addstr(&out, str_skip(text, at + strlen(from)));
    struct str kept = arena_str(&m->arena, buf_str(&out));
    buf_release(&out);
    return kept;
}

void make_reseal(struct make *m)
{
    struct error err = {0};
    struct file_list list;
    struct str text = make_read(m, RECEIPT_NAME), id;
    char digest[SHA256_HEX];
    assert_int_equal(file_list_read(&list, m->dir, ENVELOPE_NAME, &err), 0);
    for (size_t i = 0; i < list.n; i++) {
        char name[256];
        snprintf(name, sizeof name, "\"%.*s\"", STR_ARG(list.files[i].name));
        size_t at = str_find(text, str_of(name)), key = STR_NONE;
        if (at == STR_NONE)
            continue;
        key = str_find(str_skip(text, at), STR("\"sha256\": \""));
        assert_true(key != STR_NONE);
        memcpy((char *)text.p + at + key + 11, list.files[i].sha256, SHA256_HEX - 1);
    }
    file_list_release(&list);
    if (receipt_text_id(text, &id, digest, &err) == 0)
        memcpy((char *)id.p, digest, SHA256_HEX - 1);
    make_write(m, RECEIPT_NAME, text);
}
