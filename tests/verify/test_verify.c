/* What the producer wrote verifies; any edit of it turns the right rule red and names the place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "make.h"
#include "verify/verify.h"

static void look(struct verify_report *v, struct make *m)
{
    struct error err = {0};
    const struct verify_options o = {0};
    if (verify_dir(v, m->dir, &o, &err) < 0)
        fail_msg("%s", err.message);
}

static void print_failures(const struct verify_report *v)
{
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        for (size_t i = 0; i < v->rules[r].failures_n; i++) {
            const struct verify_failure *f = &v->rules[r].failures[i];
            print_message("  %s: %s:%d %s: %s\n", verify_rule_name((enum verify_rule)r), f->file,
                          (int)f->line, f->path, f->what);
        }
}

static void expect_sound(struct make *m)
{
    struct verify_report v;
    look(&v, m);
    if (v.verdict != VERIFY_OK)
        print_failures(&v);
    assert_int_equal(v.verdict, VERIFY_OK);
    assert_int_equal(verify_exit_code(&v), 0);
    assert_string_equal(verify_summary(&v), "self-consistent, unsigned");
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        if (r != VERIFY_SIGNATURE && r != VERIFY_PROMPTS && r != VERIFY_RENDERED &&
            r != VERIFY_OUTPUTS)
            assert_int_equal(v.rules[r].state, VERIFY_PASSED);
    verify_release(&v);
}

static void what_was_written_verifies(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    make_run(&m);
    expect_sound(&m);
    /* Sealing again what was not edited changes nothing. */
    struct str before = make_read(&m, RECEIPT_NAME);
    make_reseal(&m);
    assert_true(str_eq(before, make_read(&m, RECEIPT_NAME)));
    expect_sound(&m);
    make_release(&m);
}

static void one_lane_and_one_band_verify(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    make_run(&m);
    expect_sound(&m);
    make_release(&m);
}

static void a_refused_run_verifies_as_refused(void **state)
{
    (void)state;
    struct make m;
    struct verify_report v;
    make_init(&m);
    m.method = COUNT_SERVER_USAGE;
    m.wrap[0] = COUNT_NONE;
    m.wrap[1] = 29;
    m.replicates = 1;
    make_run(&m);
    expect_sound(&m);
    look(&v, &m);
    assert_string_equal(v.status, "REFUSED");
    verify_release(&v);
    make_release(&m);
}

/* Edits. `resealed` ones have every digest and the run id set anew, as somebody would who knows the
 * format: then only the recomputation can tell. */
struct edit {
    const char *name, *file, *after, *from, *to;
    bool resealed;
    enum verify_rule rule;
    const char *where; /* file the failure must name; NULL: receipt.json */
    const char *path;  /* the failure's path must begin so; NULL: any */
    int64_t line;      /* 0: any */
};

#define S1 "samples/subject.c1.r1.jsonl.gz"
static const struct edit edits[] = {
    {"a metric", RECEIPT_NAME, "\"ttft_ms\"", "\"p50\": 50.000000", "\"p50\": 49.000000", false,
     VERIFY_RUN_ID, NULL, "run_id", 3},
    {"a metric", RECEIPT_NAME, "\"ttft_ms\"", "\"p50\": 50.000000", "\"p50\": 49.000000", true,
     VERIFY_METRICS, NULL, "bands.0.metrics.ttft_ms.p50", 0},
    {"the last digit", RECEIPT_NAME, "\"ttft_ms\"", "\"p50\": 50.000000", "\"p50\": 50.000001",
     true, VERIFY_METRICS, NULL, "bands.0.metrics.ttft_ms.p50", 0},
    {"a rate", RECEIPT_NAME, "\"peak_tok_s\"", "\"value\": 32", "\"value\": 26", true, VERIFY_PEAK,
     NULL, "bands.0.metrics.peak_tok_s.value", 0},
    {"completed - 1", RECEIPT_NAME, "\"counts\"", "\"ok\": 33", "\"ok\": 32", true, VERIFY_COUNTS,
     NULL, "bands.0.counts.ok", 0},
    {"one timeout", RECEIPT_NAME, "\"counts\"", "\"timed_out\": 0", "\"timed_out\": 1", true,
     VERIFY_COUNTS, NULL, "bands.0.counts.timed_out", 0},
    {"issued by the loop", RECEIPT_NAME, "\"loop\"", "\"issued\": 33", "\"issued\": 34", true,
     VERIFY_CONSERVATION, S1, NULL, 0},
    {"a ratio", RECEIPT_NAME, "\"ttft_ms.p50\"", "\"ratio\": 0.83", "\"ratio\": 0.82", true,
     VERIFY_RATIOS, NULL, "pairs.0.ratios.ttft_ms.p50.ratio", 0},
    {"the status", RECEIPT_NAME, "\"interrupted\"", "\"status\": \"PASS\"", "\"status\": \"FAIL\"",
     true, VERIFY_STATUS, NULL, "status", 0},
    {"a band's status", RECEIPT_NAME, "\"bands\": [\n    {", "\"status\": \"PASS\"",
     "\"status\": \"REFUSED\"", true, VERIFY_STATUS, NULL, "bands.0.status", 0},
    {"a missing key", RECEIPT_NAME, "\"counts\"", "\"zero_token_n\": 0,", "", true, VERIFY_PRESENT,
     NULL, "bands.0.counts.zero_token_n", 0},
    {"an unknown key", RECEIPT_NAME, "\"counts\"", "\"zero_token_n\": 0,",
     "\"zero_token_n\": 0,\n        \"extra\": 1,", true, VERIFY_PRESENT, NULL,
     "bands.0.counts.extra", 0},
    {"the tokenization block", RECEIPT_NAME, NULL, "\"tokenization\"", "\"tokenisation\"", true,
     VERIFY_SCHEMA, NULL, NULL, 0},
    {"the method", RECEIPT_NAME, NULL, "\"client_tokenizer\"", "\"server_usage\"", true,
     VERIFY_RUN_JSON, "run.json", "tokenization.method", 0},
    {"a digest typed by hand", RECEIPT_NAME, "\"tokenizer_sha256\"", "aaaa", "aaab", true,
     VERIFY_RUN_JSON, "run.json", "tokenization.tokenizer_sha256", 0},
    {"the join key", RECEIPT_NAME, "\"join_key\"", "\"stream\": true", "\"stream\": false", true,
     VERIFY_KEYS, NULL, "lanes.0.join_key.stream", 0},
    {"the request digest", RECEIPT_NAME, "\"request_sha256\": \"", "1", "2", true, VERIFY_KEYS,
     NULL, "workload.request_sha256", 0},
    {"an unproduced field", RECEIPT_NAME, "\"unproduced_fields\": {\n        ", "n_too_small",
     "censored", true, VERIFY_METRICS, NULL, "bands.0.unproduced_fields", 0},
    {"white space", RECEIPT_NAME, NULL, "\"ok\": 33", "\"ok\":  33", true, VERIFY_FORM, NULL, NULL,
     0},
    {"a number's spelling", RECEIPT_NAME, "\"timeout_ms\"", ": 600000.000000", ": 600000.0", true,
     VERIFY_SCHEMA, NULL, NULL, 0},
    {"a window moved", RECEIPT_NAME, "\"open_ms\"", ": 2000.000000", ": 3000.000000", true,
     VERIFY_WINDOW, S1, NULL, 3},
    {"a window shortened", RECEIPT_NAME, "\"close_ms\"", ": 12000.000000", ": 11999.000000", true,
     VERIFY_PROTOCOL, NULL, "bands.0", 0},
    {"a replicate undeclared", RECEIPT_NAME, "\"protocol\"", "\"replicates\": 2",
     "\"replicates\": 1", true, VERIFY_SCHEMA, NULL, NULL, 0},
    {"a sample's time", S1, "\"seq\":5", "\"t_sent\":2900010000", "\"t_sent\":2900010001", false,
     VERIFY_DIGESTS, S1, NULL, 0},
    {"a sample's time", S1, "\"seq\":5", "\"t_sent\":2900010000", "\"t_sent\":2900009999", true,
     VERIFY_METRICS, NULL, "bands.0.", 0},
    {"a sample's first read", S1, "\"seq\":5", "\"t_user\":2950010000", "\"t_user\":2940010000",
     true, VERIFY_TIME_ORDER, S1, NULL, 6},
    {"a sample sent late", S1, "\"seq\":34", "\"t_issue\":11600000000,", "\"t_issue\":11600010001,",
     true, VERIFY_TIME_ORDER, S1, NULL, 35},
    {"a sequence number", S1, "\"seq\":5", ",\"phase\"", "5,\"phase\"", true, VERIFY_CONSERVATION,
     S1, NULL, 6},
    {"an outcome", S1, "\"seq\":5", "\"outcome\":\"ok\"", "\"outcome\":\"timed_out\"", true,
     VERIFY_COUNTS, NULL, "bands.0.counts.ok", 0},
    {"a sample of another lane", S1, "\"seq\":4,", "\"lane\":\"subject\"",
     "\"lane\":\"comparator\"", true, VERIFY_SAMPLES, S1, NULL, 6},
    {"a member nobody knows", S1, "\"seq\":4,", "\"phase\"", "\"fase\"", true, VERIFY_SAMPLES, S1,
     NULL, 5},
    {"a prompt count", S1, "\"seq\":4,", "\"prompt_body\":512", "\"prompt_body\":521", true,
     VERIFY_STATUS, NULL, "bands.0.status", 0},
    {"a token count", S1, "\"seq\":4,", "\"output_reported\":{\"total\":8",
     "\"output_reported\":{\"total\":9", true, VERIFY_METRICS, NULL, "bands.0.", 0},
    {"run.json", RECEIPT_RUN_NAME, NULL, "\"replicates\": 2", "\"replicates\": 3", false,
     VERIFY_DIGESTS, RECEIPT_RUN_NAME, NULL, 0},
    {"run.json", RECEIPT_RUN_NAME, NULL, "\"replicates\": 2", "\"replicates\": 3", true,
     VERIFY_RUN_JSON, RECEIPT_RUN_NAME, "protocol.replicates", 0},
};

static bool names_the_place(const struct verify_result *r, const struct edit *e)
{
    const char *file = e->where ? e->where : RECEIPT_NAME;
    for (size_t i = 0; i < r->failures_n; i++) {
        const struct verify_failure *f = &r->failures[i];
        if (strcmp(f->file, file) == 0 &&
            (!e->path || strncmp(f->path, e->path, strlen(e->path)) == 0) &&
            (!e->line || f->line == e->line))
            return true;
    }
    return false;
}

static void any_edit_turns_its_rule_red(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    make_run(&m);
    const struct str receipt = make_read(&m, RECEIPT_NAME);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        const struct edit *e = &edits[i];
        struct verify_report v;
        struct str stored = make_read(&m, e->file);
        make_write(&m, e->file, make_replaced(&m, stored, e->after, e->from, e->to));
        if (e->resealed)
            make_reseal(&m);
        look(&v, &m);
        bool right = v.rules[e->rule].state == VERIFY_FAILED &&
                     names_the_place(&v.rules[e->rule], e) && v.verdict == VERIFY_BROKEN &&
                     verify_exit_code(&v) == 4;
        if (!right) {
            print_failures(&v);
            fail_msg("%s%s: %s is not red where it should be", e->name,
                     e->resealed ? ", resealed" : "", verify_rule_name(e->rule));
        }
        verify_release(&v);
        make_write(&m, e->file, stored);
        make_write(&m, RECEIPT_NAME, receipt);
    }
    expect_sound(&m);
    make_release(&m);
}

/* Samples taken out, put in, or a whole file: resealed each time. */
static void files_that_do_not_belong(void **state)
{
    (void)state;
    struct make m;
    struct verify_report v;
    make_init(&m);
    m.replicates = 1;
    make_run(&m);
    const struct str receipt = make_read(&m, RECEIPT_NAME);

    make_write(&m, "samples/subject.c9.r1.jsonl.gz", make_read(&m, S1));
    look(&v, &m);
    assert_int_equal(v.rules[VERIFY_UNLISTED].state, VERIFY_FAILED);
    assert_string_equal(v.rules[VERIFY_UNLISTED].failures[0].file,
                        "samples/subject.c9.r1.jsonl.gz");
    verify_release(&v);
    unlink(make_path(&m, "samples/subject.c9.r1.jsonl.gz"));

    struct str stored = make_read(&m, S1), line, rest;
    str_cut(stored, '\n', &line, &rest);
    make_write(&m, S1, rest);
    make_reseal(&m);
    look(&v, &m);
    assert_int_equal(v.rules[VERIFY_CONSERVATION].state, VERIFY_FAILED);
    assert_string_equal(v.rules[VERIFY_CONSERVATION].failures[0].file, S1);
    verify_release(&v);

    unlink(make_path(&m, S1));
    make_write(&m, RECEIPT_NAME, receipt);
    look(&v, &m);
    assert_int_equal(v.rules[VERIFY_DIGESTS].state, VERIFY_FAILED);
    assert_int_equal(v.rules[VERIFY_SAMPLES].state, VERIFY_FAILED);
    /* What cannot be computed is not called verified. */
    assert_int_equal(v.rules[VERIFY_METRICS].state, VERIFY_SKIPPED);
    assert_true(v.rules[VERIFY_METRICS].seen[0]);
    verify_release(&v);
    make_write(&m, S1, stored);
    expect_sound(&m);
    make_release(&m);
}

/* Every number of the receipt, one at a time: the run id goes red for each, and for each that is
 * derived another rule as well. */
static void every_number_counts(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    make_run(&m);
    const struct str receipt = make_read(&m, RECEIPT_NAME);
    char *text = arena_cstr(&m.arena, receipt);
    size_t flips = 0;
    for (size_t i = 0; i < receipt.n; i++) {
        bool begins =
            i >= 2 && text[i - 1] == ' ' && text[i - 2] == ':' && text[i] >= '0' && text[i] <= '9';
        if (!begins || flips++ % 3)
            continue;
        char before = text[i];
        struct verify_report v;
        text[i] = before == '9' ? '8' : (char)(before + 1);
        make_write(&m, RECEIPT_NAME, str_make(text, receipt.n));
        look(&v, &m);
        assert_int_equal(v.verdict, VERIFY_BROKEN);
        verify_release(&v);
        text[i] = before;
    }
    assert_true(flips > 60);
    make_write(&m, RECEIPT_NAME, receipt);
    expect_sound(&m);
    make_release(&m);
}

static void a_run_that_was_cut_off(void **state)
{
    (void)state;
    struct make m;
    struct verify_report v;
    make_init(&m);
    m.replicates = 1;
    m.finish = false;
    m.leave_open = true;
    make_run(&m);
    /* An interrupted compression may lie there too. */
    make_write(&m, "samples/comparator.c4.r1.jsonl.gz.tmp", STR("half"));
    look(&v, &m);
    assert_int_equal(v.verdict, VERIFY_INCOMPLETE);
    assert_int_equal(verify_exit_code(&v), 3);
    assert_string_equal(v.reason, "interrupted");
    assert_int_equal(v.bands, 4);
    assert_int_equal(v.samples, 2 * (35 + 140));
    verify_release(&v);
    make_release(&m);
}

static void a_signature_counts(void **state)
{
    (void)state;
    struct make m;
    struct verify_report v;
    struct error err = {0};
    struct ed25519_key *key, *other;
    struct envelope_signer signer = {.name = "lab"}, stranger = {.name = "somebody"};
    make_init(&m);
    m.replicates = 1;
    make_run(&m);
    assert_int_equal(ed25519_key_make(&key, &err), 0);
    assert_int_equal(ed25519_key_make(&other, &err), 0);
    assert_int_equal(ed25519_public_of(key, &signer.key, &err), 0);
    assert_int_equal(ed25519_public_of(other, &stranger.key, &err), 0);
    const struct verify_options need = {.keys = &signer, .keys_n = 1, .need_signature = true};
    const struct verify_options strange = {.keys = &stranger, .keys_n = 1};

    assert_int_equal(verify_dir(&v, m.dir, &need, &err),
                     0); /* unsigned, and a signature is needed */
    assert_int_equal(v.verdict, VERIFY_BROKEN);
    verify_release(&v);

    assert_int_equal(envelope_write(m.dir, key, str_of(m.result.run_id), &err), 0);
    assert_int_equal(verify_dir(&v, m.dir, &need, &err), 0);
    assert_int_equal(v.verdict, VERIFY_OK);
    assert_string_equal(v.signed_by, "lab");
    assert_string_equal(verify_summary(&v), "verified, signed by a trusted key");
    verify_release(&v);

    assert_int_equal(verify_dir(&v, m.dir, &strange, &err), 0);
    assert_int_equal(v.verdict, VERIFY_OK);
    assert_int_equal(v.rules[VERIFY_SIGNATURE].state, VERIFY_SKIPPED);
    assert_string_equal(verify_summary(&v),
                        "self-consistent, signed by a key that nobody here trusts");
    verify_release(&v);

    /* An envelope of another run over these files. */
    assert_int_equal(unlink(make_path(&m, ENVELOPE_NAME)), 0);
    assert_int_equal(envelope_write(m.dir, key, STR("0000"), &err), 0);
    assert_int_equal(verify_dir(&v, m.dir, &need, &err), 0);
    assert_int_equal(v.rules[VERIFY_SIGNATURE].state, VERIFY_FAILED);
    verify_release(&v);
    ed25519_key_free(key);
    ed25519_key_free(other);
    make_release(&m);
}

/* Found by killing a run at random moments: killed while its envelope was written. */
static void a_signing_that_was_cut_off(void **state)
{
    (void)state;
    struct make m;
    struct verify_report v;
    struct error err = {0};
    struct ed25519_key *key;
    make_init(&m);
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    make_run(&m);
    make_write(&m, ENVELOPE_NAME ".tmp", STR("{\"payload\":\"half"));
    expect_sound(&m);
    /* Beside an envelope it is a file that nobody signed. */
    assert_int_equal(ed25519_key_make(&key, &err), 0);
    assert_int_equal(envelope_write(m.dir, key, str_of(m.result.run_id), &err), 0);
    assert_false(file_exists(make_path(&m, ENVELOPE_NAME ".tmp")));
    make_write(&m, ENVELOPE_NAME ".tmp", STR("x"));
    look(&v, &m);
    assert_int_equal(v.rules[VERIFY_DIRECTORY].state, VERIFY_FAILED);
    verify_release(&v);
    ed25519_key_free(key);
    make_release(&m);
}

static void what_is_no_directory(void **state)
{
    (void)state;
    struct verify_report v;
    struct error err = {0};
    const struct verify_options o = {0};
    assert_int_equal(verify_dir(&v, "/nonexistent/run", &o, &err), -1);
    assert_int_equal(err.kind, ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_verifies),
        cmocka_unit_test(one_lane_and_one_band_verify),
        cmocka_unit_test(a_refused_run_verifies_as_refused),
        cmocka_unit_test(any_edit_turns_its_rule_red),
        cmocka_unit_test(files_that_do_not_belong),
        cmocka_unit_test(every_number_counts),
        cmocka_unit_test(a_run_that_was_cut_off),
        cmocka_unit_test(a_signature_counts),
        cmocka_unit_test(a_signing_that_was_cut_off),
        cmocka_unit_test(what_is_no_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
