/* The text of show and verify: its width, its nulls, its words, and hostile documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "make.h"
#include "report/text.h"

static struct arena arena;
static struct buf out;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 30);
    buf_init(&out, BUF_ANY);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    buf_release(&out);
    return 0;
}

static const struct json *parse(struct str text)
{
    const struct json *doc;
    struct error err = {0};
    if (json_parse(&doc, text, &JSON_LIMITS_DEFAULT, &arena, &err) < 0)
        fail_msg("%s", err.message);
    return doc;
}

static void expect_within_80_columns(void)
{
    struct str rest = buf_str(&out), line;
    while (rest.n) {
        str_cut(rest, '\n', &line, &rest);
        if (utf8_width(line) > TEXT_COLUMNS)
            fail_msg("%zu columns: %.*s", utf8_width(line), STR_ARG(line));
        assert_false(str_ends(line, STR(" ")));
    }
}

static void expect_text(const char *text)
{
    if (str_find(buf_str(&out), str_of(text)) == STR_NONE)
        fail_msg("'%s' is not in\n%s", text, out.p);
}

static void a_receipt_in_80_columns(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    make_run(&m);
    show_receipt(parse(make_read(&m, RECEIPT_NAME)), &out);
    expect_within_80_columns();
    expect_text("status     PASS\n");
    /* c = 1, replicate 2: p50 with n on both lanes; p95 of 33 is no percentile yet. */
    expect_text("time to first token, ms\n"
                "                               subject |                   comparator\n"
                "    c rep        p50        p95      n |        p50        p95      n\n"
                "    1   1      50.00         -a     33 |      60.00         -a     33\n"
                "    1   2      50.00         -a     33 |      60.00         -a     33\n"
                "    4   1      50.00      50.00    132 |      60.00      60.00    132\n");
    expect_text("-a  n_too_small: too few values for this percentile\n");
    expect_text("    1   1  subject            512         520           8          -b\n");
    expect_text("-b  server_silent: only the server can know, and it did not say\n");
    expect_text("  c = 1: equal prompt work on 66 prompts\n");
    /* 50 ms against 60 ms. */
    expect_text("    ttft_ms.p50               0.8333 ");
    make_release(&m);
}

static void refusals_in_words(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.method = COUNT_SERVER_USAGE;
    m.body = 505;
    m.wrap[0] = COUNT_NONE;
    m.wrap[1] = 29;
    m.replicates = 1;
    make_run(&m);
    show_receipt(parse(make_read(&m, RECEIPT_NAME)), &out);
    expect_within_80_columns();
    expect_text("status     REFUSED {usage_absent}\n");
    expect_text("REFUSED by rule usage_absent\n"
                "  subject, c = 1, replicate 1: 33 of 33 requests that ended ok came without the\n"
                "  server's prompt count\n");
    expect_text("REFUSED by rule prompt_band\n");
    /* The remedy of a rule is said once. */
    size_t first = str_find(buf_str(&out), STR("remedy: count with"));
    assert_true(first != STR_NONE);
    expect_text("  c = 1: prompt work is not equal");
    expect_text("no ratio: ");
    make_release(&m);
}

static void odd_names(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    p->corpus_path = "\xe6\xbc\xa2\xe5\xad\x97.jsonl";
    lanes[0].model = "\x1b[31mred\x1b[0m\n\xe6\xbc\xa2\xe5\xad\x97 \xe2\x80\xae reversed";
    lanes[0].build = "a build whose name is so long that it cannot stand on one line of a terminal "
                     "of eighty columns at all";
}

static void texts_of_others_are_tamed(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.replicates = 1;
    m.change_plan = odd_names;
    make_run(&m);
    show_receipt(parse(make_read(&m, RECEIPT_NAME)), &out);
    expect_within_80_columns();
    assert_true(str_find_char(buf_str(&out), '\x1b') == STR_NONE);
    expect_text("?[31mred?[0m?\xe6\xbc\xa2\xe5\xad\x97 ? reversed");
    make_release(&m);
}

static void a_cell_is_as_wide_as_it_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        const char *left, *right;
    } cases[] = {
        {"abc", 5, "abc  ", "  abc"},
        {"abc", 3, "abc", "abc"},
        {"abcdef", 5, "ab...", "ab..."},
        /* Two columns each; half of one is never shown. */
        {"\xe6\xbc\xa2\xe5\xad\x97", 5, "\xe6\xbc\xa2\xe5\xad\x97 ", " \xe6\xbc\xa2\xe5\xad\x97"},
        {"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 5, "\xe6\xbc\xa2...", "\xe6\xbc\xa2..."},
        {"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 4, "...", NULL},
        {"a\tb", 4, "a?b ", " a?b"},
        {"\xff", 2, "\xef\xbf\xbd ", " \xef\xbf\xbd"},
        {"", 2, "  ", "  "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_reset(&out);
        text_cell(&out, str_of(cases[i].text), cases[i].columns);
        if (cases[i].right)
            assert_string_equal(out.p, cases[i].left);
        assert_int_equal(utf8_width(buf_str(&out)), cases[i].columns);
        buf_reset(&out);
        text_right(&out, str_of(cases[i].text), cases[i].columns);
        if (cases[i].right)
            assert_string_equal(out.p, cases[i].right);
        assert_int_equal(utf8_width(buf_str(&out)), cases[i].columns);
    }
}

static void documents_that_are_no_receipt(void **state)
{
    (void)state;
    static const char *const docs[] = {
        "null",
        "[]",
        "{}",
        "{\"lanes\":[1,null],\"bands\":[null,{},{\"lane\":\"subject\",\"band\":1,\"replicate\":1}],"
        "\"protocol\":{\"bands\":[1,\"x\"],\"replicates\":2},\"refusals\":[{},7],\"pairs\":[{}]}",
        "{\"lanes\":[{\"role\":\"subject\"}],\"bands\":[{\"lane\":\"subject\",\"band\":1,"
        "\"replicate\":1,\"metrics\":{\"ttft_ms\":{\"p50\":\"x\",\"n\":1e300}},\"prompt_work\":3}],"
        "\"protocol\":{\"bands\":[1],\"replicates\":1}}",
    };
    for (size_t i = 0; i < sizeof docs / sizeof docs[0]; i++) {
        buf_reset(&out);
        show_receipt(parse(str_of(docs[i])), &out);
        assert_int_equal(out.failed, BUF_OK);
        assert_true(str_starts(buf_str(&out), STR("receipt")));
    }
    expect_text("missing: the receipt does not hold it: it is damaged");
}

static void verify_names_rule_and_place(void **state)
{
    (void)state;
    struct make m;
    struct verify_report v;
    struct error err = {0};
    const struct verify_options o = {0};
    struct json_writer w;
    make_init(&m);
    m.lanes_n = m.bands_n = 1;
    m.replicates = 1;
    make_run(&m);
    make_write(&m, RECEIPT_NAME,
               make_replaced(&m, make_read(&m, RECEIPT_NAME), "\"ttft_ms\"", "\"p50\": 50.000000",
                             "\"p50\": 49.000000"));
    make_reseal(&m);
    assert_int_equal(verify_dir(&v, m.dir, &o, &err), 0);
    verify_text(&v, &out);
    expect_within_80_columns();
    expect_text("FAILED  metrics ");
    expect_text("bands.0.metrics.ttft_ms.p50: says 49.000000;");
    expect_text("\ndoes not verify\n");
    buf_reset(&out);
    json_writer_init(&w, &out, 0);
    verify_json(&v, &w);
    const struct json *doc = parse(buf_str(&out));
    assert_true(str_eq(json_get(doc, "verdict")->text, STR("broken")));
    assert_int_equal(json_get(doc, "rules")->n, VERIFY_RULE_COUNT);
    verify_release(&v);
    make_release(&m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_receipt_in_80_columns),       TEST(refusals_in_words),
        TEST(texts_of_others_are_tamed),     TEST(a_cell_is_as_wide_as_it_says),
        TEST(documents_that_are_no_receipt), TEST(verify_names_rule_and_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
