/* Directories made to harm the reader: refused with a rule, never followed, never run out of. */
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
#include "codec/gz.h"
#include "make.h"
#include "verify/verify.h"

#define S1 "samples/subject.c1.r1.jsonl.gz"

static struct make m;

static int set_up(void **state)
{
    (void)state;
    make_init(&m);
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    make_run(&m);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    make_release(&m);
    return 0;
}

static void expect(enum verify_rule rule, const char *file)
{
    struct verify_report v;
    struct error err = {0};
    const struct verify_options o = {0};
    if (verify_dir(&v, m.dir, &o, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(v.verdict, VERIFY_BROKEN);
    if (v.rules[rule].state != VERIFY_FAILED)
        for (int r = 0; r < VERIFY_RULE_COUNT; r++)
            if (v.rules[r].failures_n)
                print_message("%s: %s %s %s\n", verify_rule_name((enum verify_rule)r),
                              v.rules[r].failures[0].file, v.rules[r].failures[0].path,
                              v.rules[r].failures[0].what);
    assert_int_equal(v.rules[rule].state, VERIFY_FAILED);
    if (file)
        assert_string_equal(v.rules[rule].failures[0].file, file);
    verify_release(&v);
}

static void replace(const char *after, const char *from, const char *to)
{
    make_write(&m, RECEIPT_NAME, make_replaced(&m, make_read(&m, RECEIPT_NAME), after, from, to));
    make_reseal(&m);
}

static void a_link_out_of_the_directory(void **state)
{
    (void)state;
    assert_int_equal(symlink("/etc/passwd", make_path(&m, "samples/extra.jsonl")), 0);
    expect(VERIFY_DIRECTORY, "samples/extra.jsonl");
}

static void a_link_in_place_of_the_receipt(void **state)
{
    (void)state;
    const char *path = make_path(&m, RECEIPT_NAME), *away = make_path(&m, "away.json");
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(symlink("away.json", path), 0);
    expect(VERIFY_DIRECTORY, RECEIPT_NAME);
}

static void a_pipe(void **state)
{
    (void)state;
    assert_int_equal(unlink(make_path(&m, RECEIPT_NAME)), 0);
    assert_int_equal(mkfifo(make_path(&m, RECEIPT_NAME), 0600), 0);
    expect(VERIFY_DIRECTORY, RECEIPT_NAME);
}

static void a_path_that_leads_out(void **state)
{
    (void)state;
    replace(NULL, "\"" S1 "\"", "\"../../../../etc/passwd\"");
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
}

static void a_listed_path_that_leads_out(void **state)
{
    (void)state;
    replace("\"files\"", "\"run.json\"", "\"../../../../etc/passwd\"");
    expect(VERIFY_DIGESTS, NULL);
}

static void huge_numbers(void **state)
{
    (void)state;
    static const char *const values[] = {"99999999999999999999999999", "1e999", "-1", "1.5"};
    struct str stored = make_read(&m, RECEIPT_NAME);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char to[64];
        snprintf(to, sizeof to, "\"replicates\": %s", values[i]);
        replace("\"protocol\"", "\"replicates\": 1", to);
        expect(VERIFY_SCHEMA, RECEIPT_NAME);
        make_write(&m, RECEIPT_NAME, stored);
    }
    replace("\"protocol\"", "\"replicates\": 1", "\"replicates\": 1000");
    expect(VERIFY_RUN_JSON, NULL);
}

static void times_past_the_limit(void **state)
{
    (void)state;
    replace("\"open_ms\"", ": 2000.000000", ": 9223372036854.775807");
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
}

static void nan_spelt_in(void **state)
{
    (void)state;
    replace("\"load_1m\"", ": ", ": NaN, \"x\": ");
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
}

static void duplicate_keys(void **state)
{
    (void)state;
    replace(NULL, "\"interrupted\": false", "\"interrupted\": false,\n  \"interrupted\": true");
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
}

static void deep_nesting(void **state)
{
    (void)state;
    struct buf deep = BUF_INIT(BUF_ANY);
    buf_adds(&deep, "\"reported\": ");
    buf_pad(&deep, '[', 100000);
    buf_pad(&deep, ']', 100000);
    buf_addc(&deep, ',');
    replace("\"lanes\"", "\"reported\"", buf_str(&deep).p);
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
    buf_release(&deep);
}

/* 300 MB of one letter in 300 kB: past a line's limit. */
static void a_gzip_bomb(void **state)
{
    (void)state;
    struct error err = {0};
    const char *plain = make_path(&m, "bomb"), *gz = make_path(&m, S1);
    FILE *f = fopen(plain, "w");
    char piece[65536];
    assert_non_null(f);
    memset(piece, 'a', sizeof piece);
    for (int i = 0; i < 300 * 16; i++)
        assert_int_equal(fwrite(piece, 1, sizeof piece, f), sizeof piece);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(gz_compress_file(plain, gz, &err), 0);
    assert_int_equal(unlink(plain), 0);
    make_reseal(&m);
    expect(VERIFY_SAMPLES, S1);
}

static void a_sample_file_that_is_no_gzip(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(file_write_atomic(make_path(&m, S1), STR("{}\n"), &err), 0);
    make_reseal(&m);
    expect(VERIFY_SAMPLES, S1);
}

static void bytes_behind_the_gzip_stream(void **state)
{
    (void)state;
    FILE *f = fopen(make_path(&m, S1), "a");
    assert_non_null(f);
    assert_int_equal(fputc('x', f), 'x');
    assert_int_equal(fclose(f), 0);
    make_reseal(&m);
    expect(VERIFY_SAMPLES, S1);
}

static void an_empty_receipt(void **state)
{
    (void)state;
    make_write(&m, RECEIPT_NAME, STR(""));
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
    make_write(&m, RECEIPT_NAME, STR("null\n"));
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
    make_write(&m, RECEIPT_NAME, STR("{\"schema\": \"tallystick.receipt/2\"}\n"));
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
}

static void a_band_twice(void **state)
{
    (void)state;
    struct str text = make_read(&m, RECEIPT_NAME);
    size_t from = str_find(text, STR("\"bands\": [\n    {")) + 11;
    size_t to = str_find(text, STR("  ],\n  \"intervals\""));
    struct buf out = BUF_INIT(BUF_ANY);
    buf_addstr(&out, str_first(text, to));
    buf_truncate(&out, out.n - 1);
    buf_addc(&out, ',');
    buf_add(&out, text.p + from, to - from);
    buf_addstr(&out, str_skip(text, to));
    make_write(
        &m, RECEIPT_NAME,
        make_replaced(&m, buf_str(&out), "\"protocol\"", "\"replicates\": 1", "\"replicates\": 2"));
    make_reseal(&m);
    expect(VERIFY_SCHEMA, RECEIPT_NAME);
    buf_release(&out);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_link_out_of_the_directory),
        TEST(a_link_in_place_of_the_receipt),
        TEST(a_pipe),
        TEST(a_path_that_leads_out),
        TEST(a_listed_path_that_leads_out),
        TEST(huge_numbers),
        TEST(times_past_the_limit),
        TEST(nan_spelt_in),
        TEST(duplicate_keys),
        TEST(deep_nesting),
        TEST(a_gzip_bomb),
        TEST(a_sample_file_that_is_no_gzip),
        TEST(bytes_behind_the_gzip_stream),
        TEST(an_empty_receipt),
        TEST(a_band_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
