/* A run directory from start to receipt: its layout, its text, its statuses and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/num.h"
#include "make.h"
#include "receipt/compose.h"
#include "receipt/keys.h"
#include "receipt/read.h"
#include "record/sample_file.h"

static const struct json *parse(struct make *m, const char *name)
{
    struct error err = {0};
    const struct json *doc;
    if (json_parse(&doc, make_read(m, name), &JSON_LIMITS_DEFAULT, &m->arena, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    return doc;
}

static const char *text_at(const struct json *doc, const char *path)
{
    const struct json *v = json_path(doc, path);
    if (!v)
        fail_msg("%s is missing", path);
    return v->type == JSON_NULL ? "null" : v->text.p;
}

static void a_sound_run_passes(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    make_run(&m);
    assert_string_equal(m.refusals, "");
    assert_int_equal(m.result.status, STATUS_PASS);
    const struct json *doc = parse(&m, RECEIPT_NAME);
    assert_string_equal(text_at(doc, "schema"), "tallystick.receipt/1");
    assert_string_equal(text_at(doc, "status"), "PASS");
    assert_string_equal(text_at(doc, "ledger"), "none");
    assert_string_equal(text_at(doc, "start"), "2026-12-01T09:30:00.000000Z");
    assert_string_equal(text_at(doc, "tokenization.output_count_source"), "reported");
    assert_string_equal(text_at(doc, "tokenization.method"), "client_tokenizer");
    /* 2 replicates of 2 bands on 2 lanes; by hand: 10 s at a request every 300 ms is 33. */
    assert_int_equal(json_get(doc, "bands")->n, 8);
    assert_string_equal(text_at(doc, "bands.0.counts.issued"), "33");
    assert_string_equal(text_at(doc, "bands.0.counts.ok"), "33");
    assert_string_equal(text_at(doc, "bands.2.counts.issued"), "132");
    /* t_sent to the first token: 50 ms; then 35 ms for 7 more: 5 ms a token, 200 a second. */
    assert_string_equal(text_at(doc, "bands.0.metrics.ttft_ms.p50"), "50.000000");
    assert_string_equal(text_at(doc, "bands.0.metrics.tpot_ms.p50"), "5.000000");
    assert_string_equal(text_at(doc, "bands.1.metrics.tpot_ms.p50"), "6.000000");
    assert_string_equal(text_at(doc, "bands.0.metrics.ttft_ms.p95"), "null");
    const struct json *why = json_path(doc, "bands.0.unproduced_fields");
    /* p95 needs 59 values. */
    assert_true(str_eq(json_get(why, "metrics.ttft_ms.p95")->text, STR("n_too_small")));
    make_release(&m);
}

static void the_directory_is_laid_out(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    make_run(&m);
    assert_true(file_exists(make_path(&m, "run.json")));
    assert_true(file_exists(make_path(&m, "samples/subject.c1.r1.jsonl.gz")));
    assert_true(file_exists(make_path(&m, "samples/comparator.c4.r2.jsonl.gz")));
    assert_false(file_exists(make_path(&m, "samples/subject.c1.r1.jsonl")));
    const struct json *doc = parse(&m, RECEIPT_NAME), *run = parse(&m, RECEIPT_RUN_NAME);
    assert_int_equal(json_get(doc, "files")->n, 1);
    assert_string_equal(text_at(doc, "files.0.name"), "run.json");
    assert_string_equal(text_at(doc, "bands.0.samples.file"), "samples/subject.c1.r1.jsonl.gz");
    char sha256[SHA256_HEX];
    struct error err = {0};
    assert_int_equal(sha256_file_hex(sha256, make_path(&m, "samples/subject.c1.r1.jsonl.gz"), &err),
                     0);
    assert_string_equal(text_at(doc, "bands.0.samples.sha256"), sha256);
    assert_true(json_equal(json_get(doc, "nonce"), json_get(run, "nonce")));
    assert_true(json_equal(json_get(doc, "host"), json_get(run, "host")));
    assert_true(json_equal(json_get(doc, "protocol"), json_get(run, "protocol")));
    make_release(&m);
}

/* As documented: sed 3d receipt.json | sha256sum. */
static void the_run_id_is_of_the_text_without_its_line(void **state)
{
    (void)state;
    struct make m;
    struct error err = {0};
    char digest[SHA256_HEX];
    make_init(&m);
    m.replicates = 1;
    make_run(&m);
    struct str text = make_read(&m, RECEIPT_NAME), line, rest = text;
    struct buf without = BUF_INIT(BUF_ANY);
    for (int i = 1; rest.n; i++) {
        str_cut(rest, '\n', &line, &rest);
        if (i == 3)
            continue;
        buf_addstr(&without, line);
        buf_addc(&without, '\n');
    }
    assert_int_equal(sha256_hex(digest, buf_str(&without), &err), 0);
    assert_string_equal(digest, m.result.run_id);
    assert_string_equal(text_at(parse(&m, RECEIPT_NAME), "run_id"), digest);
    buf_release(&without);
    make_release(&m);
}

static void two_writings_are_the_same(void **state)
{
    (void)state;
    struct make a, b;
    make_init(&a);
    make_init(&b);
    make_run(&a);
    make_run(&b);
    /* Load averages may differ between the two; all that is derived may not. */
    const struct json *x = parse(&a, RECEIPT_NAME), *y = parse(&b, RECEIPT_NAME);
    assert_true(json_equal(json_get(x, "bands"), json_get(y, "bands")));
    assert_true(json_equal(json_get(x, "lanes"), json_get(y, "lanes")));
    make_release(&a);
    make_release(&b);
}

static void what_is_read_back_composes_the_same_head(void **state)
{
    (void)state;
    struct make m;
    struct receipt_read r;
    struct error err = {0};
    make_init(&m);
    make_run(&m);
    if (receipt_read_dir(&r, m.dir, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(r.complete);
    assert_int_equal(r.run.bands_n, 8);
    assert_int_equal(r.run.bands[1].lane, 1);
    assert_int_equal(r.run.bands[0].t_open_ns, 2 * INT64_C(1000000000));
    assert_string_equal(r.run.lanes[0].build, "apr 1.2");
    assert_string_equal(r.run.lanes[0].reported_json, "{\"models\":[\"tiny\"],\"n\":1.50}");
    assert_null(r.run.lanes[1].reported_json);
    /* run.json was composed from the producer's record: the reader's must give the same bytes. */
    struct receipt_parts parts = {.run = &r.run, .host = &r.host, .program = &r.program};
    struct buf text = BUF_INIT(RECEIPT_BYTES_MAX);
    const char *source = r.run.plan.output_count_source;
    r.run.plan.output_count_source = r.run.plan.token_assignment = NULL;
    assert_non_null(source);
    assert_int_equal(compose_run(&parts, &m.arena, &text, &err), 0);
    struct str stored = make_read(&m, RECEIPT_RUN_NAME);
    assert_int_equal(text.n, stored.n);
    assert_memory_equal(text.p, stored.p, stored.n);
    buf_release(&text);
    receipt_read_release(&r);
    make_release(&m);
}

static void a_run_that_was_cut_off_is_incomplete(void **state)
{
    (void)state;
    struct make m;
    struct receipt_read r;
    struct sample *samples;
    size_t n;
    bool cut;
    struct error err = {0};
    make_init(&m);
    m.finish = false;
    m.leave_open = true;
    m.replicates = 1;
    make_run(&m);
    assert_int_equal(receipt_read_dir(&r, m.dir, &err), 0);
    assert_false(r.complete);
    assert_int_equal(r.run.plan.bands_n, 2);
    receipt_read_release(&r);
    /* The band that was open is there in plain, and readable up to where it was cut. */
    const char *open = make_path(&m, "samples/comparator.c4.r1.jsonl");
    assert_int_equal(sample_file_read(&samples, &n, &cut, open, &m.arena, &err), 0);
    assert_int_equal(n, 132 + 8);
    assert_false(cut);
    struct str text = make_read(&m, "samples/comparator.c4.r1.jsonl");
    make_write(&m, "samples/comparator.c4.r1.jsonl", str_first(text, text.n - 10));
    assert_int_equal(sample_file_read(&samples, &n, &cut, open, &m.arena, &err), 0);
    assert_int_equal(n, 132 + 7);
    assert_true(cut);
    make_release(&m);
}

static void an_interrupted_run_says_so(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.interrupted = true;
    m.replicates = 1;
    make_run(&m);
    assert_int_equal(m.result.status, STATUS_INCOMPLETE);
    const struct json *doc = parse(&m, RECEIPT_NAME);
    assert_string_equal(text_at(doc, "reason"), "interrupted");
    assert_int_equal(json_get(doc, "interrupted")->type, JSON_TRUE);
    make_release(&m);
}

/* Spec section 1: counted by the servers' own usage, one lane reports nothing and the other is out
 * of the band; each is refused with its own reason. */
static void counting_by_usage_is_refused_for_each_lane(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.method = COUNT_SERVER_USAGE;
    m.body = 505;
    m.wrap[0] = COUNT_NONE;
    m.wrap[1] = 29;
    m.replicates = 1;
    m.bands_n = 1;
    make_run(&m);
    assert_int_equal(m.result.status, STATUS_REFUSED);
    assert_string_equal(m.refusals,
                        "usage_absent subject 1 1: 33 of 33 requests that ended ok came without "
                        "the server's prompt count\n"
                        "prompt_band comparator 1 1: 33 of 33 prompts lie outside 512 +- 8 tokens "
                        "by the server's count: 534 to 534\n");
    make_release(&m);
}

static void the_prompt_band_ends_where_it_says(void **state)
{
    (void)state;
    static const struct {
        int64_t body;
        enum status status;
    } cases[] = {
        {503, STATUS_REFUSED}, {504, STATUS_PASS}, {520, STATUS_PASS}, {521, STATUS_REFUSED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct make m;
        make_init(&m);
        m.lanes_n = m.bands_n = 1;
        m.replicates = 1;
        m.body = cases[i].body;
        make_run(&m);
        assert_int_equal(m.result.status, cases[i].status);
        make_release(&m);
    }
}

static bool lose_one(struct make *m, struct sample *s)
{
    (void)m;
    return s->phase == PHASE_WINDOW && s->seq == 7 && s->lane.p[0] == 's';
}

static bool run_backwards(struct make *m, struct sample *s)
{
    (void)m;
    if (s->phase == PHASE_WINDOW && s->seq == 3)
        s->t_issue_ns = s->t_sent_ns + 5;
    return false;
}

static bool send_late(struct make *m, struct sample *s)
{
    if (s->phase == PHASE_WINDOW && s->seq == 34) {
        int64_t by = m->window_s * 1000000000;
        s->t_planned_ns += by;
        s->t_issue_ns += by;
        s->t_sent_ns += by;
        s->t_first_byte_ns += by;
        s->t_headers_ns += by;
        s->t_end_ns += by;
        for (size_t i = 0; i < s->reads_n; i++) {
            ((struct sample_read_stamp *)s->reads)[i].t_user_ns += by;
            ((struct sample_read_stamp *)s->reads)[i].t_lower_ns += by;
        }
    }
    return false;
}

static void broken_samples_refuse_their_band(void **state)
{
    (void)state;
    static const struct {
        bool (*change)(struct make *, struct sample *);
        const char *refusal;
    } cases[] = {
        {lose_one,
         "conservation subject 1 1: the loop issued 33 and 2 in warm-up; the samples hold "
         "32 and 2\n"},
        {run_backwards, "time_order subject 1 1: line 4: t_sent lies 5 ns before t_issue\n"},
        {send_late, "sent_outside_window subject 1 1: 1 of 33 requests were sent outside the "
                    "window\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct make m;
        make_init(&m);
        m.lanes_n = m.bands_n = 1;
        m.replicates = 1;
        m.change = cases[i].change;
        make_run(&m);
        assert_int_equal(m.result.status, STATUS_REFUSED);
        assert_string_equal(m.refusals, cases[i].refusal);
        make_release(&m);
    }
}

static void fail_band(struct make *m, struct run_band *b)
{
    (void)m;
    if (b->lane == 1 && b->band == 4) {
        b->status = STATUS_UNMEASURED;
        b->reason = "failing";
        b->detail = "20 failures in a row";
    }
}

static void what_the_loop_says_stands(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.replicates = 1;
    m.change_band = fail_band;
    make_run(&m);
    assert_int_equal(m.result.status, STATUS_UNMEASURED);
    const struct json *doc = parse(&m, RECEIPT_NAME);
    assert_string_equal(text_at(doc, "reason"), "failing");
    assert_string_equal(text_at(doc, "bands.3.status"), "UNMEASURED");
    assert_string_equal(text_at(doc, "bands.3.loop.detail"), "20 failures in a row");
    assert_string_equal(text_at(doc, "bands.0.status"), "PASS");
    make_release(&m);
}

static void no_tokenizer(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    (void)lanes;
    p->tokenizer_sha256[0] = p->corpus_sha256[0] = '\0';
}

static void digests_must_be_there(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    m.change_plan = no_tokenizer;
    make_run(&m);
    assert_string_equal(m.refusals, "tokenizer_missing - 0 0: no tokenizer digest is stated\n"
                                    "corpus_missing - 0 0: no corpus digest is stated\n");
    make_release(&m);
}

static void secret_url(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    (void)p;
    lanes[0].url = "http://me:hunter2@127.0.0.1:8001/v1?api_key=hunter2";
}

static void no_secret_stands_in_the_directory(void **state)
{
    (void)state;
    static const char *const words[] = {"tally",     "run",
                                        "--lane",    "subject=http://me:hunter2@127.0.0.1:8001",
                                        "--header",  "Authorization: Bearer hunter2",
                                        "--api-key", "hunter2"};
    struct make m;
    make_init(&m);
    m.argv = words;
    m.argc = 8;
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    m.change_plan = secret_url;
    make_run(&m);
    assert_true(str_find(make_read(&m, RECEIPT_NAME), STR("hunter2")) == STR_NONE);
    assert_true(str_find(make_read(&m, RECEIPT_RUN_NAME), STR("hunter2")) == STR_NONE);
    assert_string_equal(text_at(parse(&m, RECEIPT_NAME), "lanes.0.url"),
                        "http://REDACTED@127.0.0.1:8001/v1?api_key=REDACTED");
    make_release(&m);
}

static void a_directory_in_use_is_left_alone(void **state)
{
    (void)state;
    struct make m;
    struct receipt_run *r;
    struct error err = {0};
    struct run_lane lane = {.role = "subject", .url = "http://h"};
    struct run_record run = {.lanes = &lane, .lanes_n = 1};
    make_init(&m);
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    make_run(&m);
    struct str before = make_read(&m, RECEIPT_NAME);
    run_plan_w1(&run.plan);
    run.plan.method = COUNT_SERVER_USAGE;
    memcpy(run.plan.nonce, "00112233445566778899aabbccddeeff", RUN_NONCE_HEX);
    assert_int_equal(receipt_start(&r, m.dir, &run, &(struct receipt_client){"1", "c"}, &err), -1);
    assert_int_equal(err.kind, ERROR_IO);
    assert_true(err.remedy[0]);
    struct str after = make_read(&m, RECEIPT_NAME);
    assert_true(str_eq(before, after));
    make_release(&m);
}

static void the_cell_knows_nothing_of_the_protocol(void **state)
{
    (void)state;
    struct error err = {0};
    struct run_lane lane = {.role = "subject", .url = "http://h", .host = "a", .build = "b"};
    struct run_record run = {.lanes = &lane, .lanes_n = 1};
    struct buf one = BUF_INIT(BUF_ANY), two = BUF_INIT(BUF_ANY);
    char first[SHA256_HEX], second[SHA256_HEX];
    run_plan_w1(&run.plan);
    assert_int_equal(receipt_cell_json(&run, &one, &err), 0);
    assert_int_equal(receipt_protocol_sha256(&run, first, &err), 0);
    run.plan.replicates = 12;
    run.plan.window_ns *= 2;
    assert_int_equal(receipt_cell_json(&run, &two, &err), 0);
    assert_int_equal(receipt_protocol_sha256(&run, second, &err), 0);
    assert_string_equal(one.p, two.p);
    assert_string_not_equal(first, second);
    lane.build = "b2";
    assert_int_equal(receipt_cell_json(&run, &two, &err), 0);
    assert_string_not_equal(one.p, two.p);
    run.plan.max_tokens++;
    lane.build = "b";
    assert_int_equal(receipt_cell_json(&run, &two, &err), 0);
    assert_string_not_equal(one.p, two.p);
    buf_release(&one);
    buf_release(&two);
}

static void unknown_is_not_equal(void **state)
{
    (void)state;
    struct make m;
    bool unknown;
    make_init(&m);
    m.replicates = 1;
    m.bands_n = 1;
    make_run(&m);
    const struct json *doc = parse(&m, RECEIPT_NAME);
    const struct json *a = json_path(doc, "lanes.0.join_key"),
                      *b = json_path(doc, "lanes.1.join_key");
    assert_null(receipt_join_differs(a, b, &unknown));
    assert_true(
        json_equal(json_path(doc, "lanes.0.join_sha256"), json_path(doc, "lanes.1.join_sha256")));
    const struct json *other;
    struct error err = {0};
    struct str text = make_replaced(&m, make_read(&m, RECEIPT_NAME), "\"join_key\"",
                                    "\"host\": \"bench-1\"", "\"host\": null");
    assert_int_equal(json_parse(&other, text, &JSON_LIMITS_DEFAULT, &m.arena, &err), 0);
    assert_string_equal(receipt_join_differs(json_path(other, "lanes.0.join_key"), b, &unknown),
                        "host");
    assert_true(unknown);
    make_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_run_passes),
        cmocka_unit_test(the_directory_is_laid_out),
        cmocka_unit_test(the_run_id_is_of_the_text_without_its_line),
        cmocka_unit_test(two_writings_are_the_same),
        cmocka_unit_test(what_is_read_back_composes_the_same_head),
        cmocka_unit_test(a_run_that_was_cut_off_is_incomplete),
        cmocka_unit_test(an_interrupted_run_says_so),
        cmocka_unit_test(counting_by_usage_is_refused_for_each_lane),
        cmocka_unit_test(the_prompt_band_ends_where_it_says),
        cmocka_unit_test(broken_samples_refuse_their_band),
        cmocka_unit_test(what_the_loop_says_stands),
        cmocka_unit_test(digests_must_be_there),
        cmocka_unit_test(no_secret_stands_in_the_directory),
        cmocka_unit_test(a_directory_in_use_is_left_alone),
        cmocka_unit_test(the_cell_knows_nothing_of_the_protocol),
        cmocka_unit_test(unknown_is_not_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
