#include "cli/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/arena.h"
#include "codec/json.h"

struct args {
    bool ids;
    const char *tokenizer, *special;
    int64_t count, window_ns;
    double share;
    struct option_list bands;
    struct option_repeated lanes;
};

static const struct option table[] = {
    {"Input", OPTION_HEADING, 0, .help = "h"},
    {"ids", OPTION_FLAG, OFFSET(struct args, ids), .letter = 'i'},
    {"tokenizer", OPTION_STRING, OFFSET(struct args, tokenizer), "FILE", .not_in_file = true},
    {"special-text", OPTION_STRING, OFFSET(struct args, special), "HOW", "parsed",
     .choices = "parsed|plain"},
    {"count", OPTION_I64, OFFSET(struct args, count), "N", "64", .min = 1, .max = 100},
    {"window", OPTION_DURATION, OFFSET(struct args, window_ns), "TIME", "60s", .help = "h"},
    {"share", OPTION_DOUBLE, OFFSET(struct args, share), "X", "0.5", .help = "h"},
    {"bands", OPTION_LIST, OFFSET(struct args, bands), "LIST", "1,4,8", .min = 1, .max = 4096},
    {"lane", OPTION_REPEATED, OFFSET(struct args, lanes), "ROLE=URL", .help = "h"},
    OPTIONS_END,
};

#define WORDS 80

static int parse(struct args *a, struct operands *o, struct error *err, int n, const char **words)
{
    static char *argv[WORDS];

    assert_true(n <= WORDS);
    for (int i = 0; i < n; i++)
        argv[i] = (char *)(uintptr_t)words[i];
    *a = (struct args){0};
    *err = (struct error){0};
    option_defaults(table, a);
    return option_parse(table, a, n, argv, o, err);
}
#define PARSE(a, o, err, ...)                                                       \
    parse(a, o, err, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), \
          (const char *[]){__VA_ARGS__})

static void test_defaults(void **state)
{
    struct args a;
    struct operands o;
    struct error err;
    (void)state;

    assert_int_equal(PARSE(&a, &o, &err, "file"), 0);
    assert_string_equal(a.special, "parsed");
    assert_int_equal(a.count, 64);
    assert_int_equal(a.window_ns, INT64_C(60000000000));
    assert_true(a.share == 0.5);
    assert_int_equal(a.bands.n, 3);
    assert_int_equal(a.bands.v[2], 8);
    assert_null(a.tokenizer);
    assert_int_equal(o.n, 1);
    assert_string_equal(o.v[0], "file");
    assert_false(option_given(table, &o, "count"));
}

static void test_spellings(void **state)
{
    struct args a;
    struct operands o;
    struct error err;
    (void)state;

    assert_int_equal(PARSE(&a, &o, &err, "one", "--ids", "--tokenizer", "t.json", "--count=7",
                           "two", "--window", "1.5s", "--bands=16, 1", "--lane", "a=b", "--lane",
                           "c=d", "-", "--", "--ids"),
                     0);
    assert_true(a.ids);
    assert_string_equal(a.tokenizer, "t.json");
    assert_int_equal(a.count, 7);
    assert_int_equal(a.window_ns, 1500000000);
    assert_int_equal(a.bands.n, 2);
    assert_int_equal(a.bands.v[0], 16);
    assert_int_equal(a.lanes.n, 2);
    assert_string_equal(a.lanes.v[1], "c=d");
    assert_int_equal(o.n, 4);
    assert_string_equal(o.v[0], "one");
    assert_string_equal(o.v[2], "-");
    assert_string_equal(o.v[3], "--ids");
    assert_true(option_given(table, &o, "count"));
    assert_int_equal(PARSE(&a, &o, &err, "-i", "--help"), 0);
    assert_true(a.ids);
    assert_true(o.help);
}

#define REFUSED(text, fix, ...)                                  \
    do {                                                         \
        struct args a_;                                          \
        struct operands o_;                                      \
        struct error e_;                                         \
        assert_int_equal(PARSE(&a_, &o_, &e_, __VA_ARGS__), -1); \
        assert_int_equal(e_.kind, ERROR_USAGE);                  \
        assert_string_equal(e_.message, text);                   \
        assert_string_equal(e_.remedy, fix);                     \
    } while (0)

static void test_refusals(void **state)
{
    (void)state;
    REFUSED("there is no option '--tokeniser'", "did you mean --tokenizer?", "--tokeniser", "x");
    REFUSED("there is no option '--tok'", "did you mean --tokenizer?", "--tok=x");
    REFUSED("there is no option '--zzzzzz'", "", "--zzzzzz");
    REFUSED("there is no option '-x'", "", "-x");
    REFUSED("--count needs a value: --count N", "", "--count");
    REFUSED("--count '12x' is not an integer", "", "--count", "12x");
    REFUSED("--count 0 is outside 1 to 100", "", "--count", "0");
    REFUSED("--count 101 is outside 1 to 100", "", "--count", "101");
    REFUSED("--window '60' is not a duration", "write a number and a unit: 250ms, 60s, 30min, 1h",
            "--window", "60");
    REFUSED("--special-text 'raw' is none of parsed|plain", "", "--special-text", "raw");
    REFUSED("--bands '1,,2' is not a list of integers such as 1,4,8", "", "--bands", "1,,2");
    REFUSED("--bands '' is not a list of integers such as 1,4,8", "", "--bands", "");
    REFUSED("--ids takes no value", "", "--ids=yes");
    REFUSED("--count is given twice", "give it once", "--count", "1", "--count", "2");
}

static void test_limits(void **state)
{
    const char *words[2 * OPTION_ITEMS_MAX + 2];
    struct args a;
    struct operands o;
    struct error err;
    (void)state;

    for (size_t i = 0; i < OPTION_ITEMS_MAX + 1; i++) {
        words[2 * i] = "--lane";
        words[2 * i + 1] = "x=y";
    }
    char *argv[2 * OPTION_ITEMS_MAX + 2];
    for (int over = 0; over < 2; over++) {
        int n = 2 * (OPTION_ITEMS_MAX + over);
        for (int i = 0; i < n; i++)
            argv[i] = (char *)(uintptr_t)words[i];
        a = (struct args){0};
        err = (struct error){0};
        assert_int_equal(option_parse(table, &a, n, argv, &o, &err), over ? -1 : 0);
    }
    assert_int_equal(err.kind, ERROR_LIMIT);
    assert_string_equal(err.message, "--lane is given more than 64 times");
}

static int apply(struct args *a, struct option_set given, const char *text, struct error *err)
{
    static struct arena arena; /* strings of the document stay while the test looks at them */
    const struct json *doc;

    arena_release(&arena);
    arena_init(&arena, 1 << 20);
    *err = (struct error){0};
    assert_int_equal(json_parse(&doc, str_of(text), &JSON_LIMITS_DEFAULT, &arena, err), 0);
    *a = (struct args){0};
    option_defaults(table, a);
    return option_apply_document(table, a, &given, doc, "gate.yaml", err);
}

static void test_document(void **state)
{
    struct args a;
    struct error err;
    (void)state;

    assert_int_equal(apply(&a, (struct option_set){0},
                           "{\"ids\":true,\"special_text\":\"plain\",\"count\":9,"
                           "\"window\":\"2s\",\"share\":0.25,\"bands\":[2,4],\"lane\":[\"a=b\"]}",
                           &err),
                     0);
    assert_true(a.ids);
    assert_string_equal(a.special, "plain");
    assert_int_equal(a.count, 9);
    assert_int_equal(a.window_ns, 2000000000);
    assert_true(a.share == 0.25);
    assert_int_equal(a.bands.n, 2);
    assert_string_equal(a.lanes.v[0], "a=b");
    /* what stood on the command line wins */
    struct option_set given = {0};
    option_set_add(table, &given, "count");
    assert_int_equal(apply(&a, given, "{\"count\":9}", &err), 0);
    assert_int_equal(a.count, 64);
    assert_int_equal(apply(&a, (struct option_set){0}, "null", &err), 0);
}

static void test_document_refusals(void **state)
{
    struct args a;
    struct error err;
    (void)state;

    assert_int_equal(apply(&a, (struct option_set){0}, "{\n  \"special_txt\": \"plain\"}", &err),
                     -1);
    assert_string_equal(err.message, "there is no key 'special_txt'");
    assert_string_equal(err.remedy, "did you mean 'special_text'?");
    assert_string_equal(err.file, "gate.yaml");
    assert_int_equal(err.line, 2);
    assert_int_equal(apply(&a, (struct option_set){0}, "{\"special-text\":\"plain\"}", &err), -1);
    assert_string_equal(err.remedy, "did you mean 'special_text'?");
    assert_int_equal(apply(&a, (struct option_set){0}, "{\"count\":[1]}", &err), -1);
    assert_string_equal(err.message, "'count' is an array; a single value is wanted");
    assert_int_equal(apply(&a, (struct option_set){0}, "{\"count\":\"x\"}", &err), -1);
    assert_string_equal(err.message, "--count 'x' is not an integer");
    assert_int_equal(apply(&a, (struct option_set){0}, "{\"ids\":1}", &err), -1);
    assert_string_equal(err.message, "'ids' is a number; true or false is wanted");
    assert_int_equal(apply(&a, (struct option_set){0}, "{\"bands\":[1,\"x\"]}", &err), -1);
    assert_int_equal(apply(&a, (struct option_set){0}, "{\"count\":\"1\\u0000\"}", &err), -1);
    /* an option that never comes from a file is unknown there */
    assert_int_equal(apply(&a, (struct option_set){0}, "{\"tokenizer\":\"x\"}", &err), -1);
    assert_int_equal(apply(&a, (struct option_set){0}, "[1]", &err), -1);
    assert_string_equal(err.message, "the document is an array; a mapping of options is wanted");
}

static void test_suggest(void **state)
{
    const char *const c[] = {"count", "corpus", "run", "show", "verify"};
    (void)state;

    assert_string_equal(suggest("cuont", c, 5), "count");
    assert_string_equal(suggest("corp", c, 5), "corpus");
    assert_string_equal(suggest("veryfi", c, 5), "verify");
    assert_string_equal(suggest("rnu", c, 5), "run");
    assert_null(suggest("gate", c, 5));
    assert_null(suggest("x", c, 5));
    assert_null(suggest("a-very-long-word-that-is-beyond-the-limit-of-forty-bytes", c, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_document), cmocka_unit_test(test_document_refusals),
        cmocka_unit_test(test_suggest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
