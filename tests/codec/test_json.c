#include "codec/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "fixture.h"

static const struct json *parse(struct str text)
{
    struct error err = {0};
    const struct json *doc = NULL;
    if (json_parse(&doc, text, &JSON_LIMITS_DEFAULT, &arena, &err) < 0)
        fail_msg("%.*s: %s", STR_ARG(text), err.message);
    return doc;
}

static int refuse(struct str text, struct error *err)
{
    const struct json *doc = NULL;
    int status = json_parse(&doc, text, &JSON_LIMITS_DEFAULT, &arena, err);
    assert_null(doc);
    return status;
}

static void every_type(void **state)
{
    (void)state;
    const struct json *doc =
        parse(STR(" {\"s\":\"a\\u0000b\",\"n\":-1.50E+2,\"t\":true,\"f\":false,"
                  "\"z\":null,\"a\":[1,[],{}],\"o\":{\"\":0}} \n"));
    struct str s;
    int64_t i = 42;
    double d = 42;
    bool b;
    assert_int_equal(doc->type, JSON_OBJECT);
    assert_int_equal(doc->n, 7);
    assert_int_equal(json_str(&s, json_get(doc, "s")), 0);
    assert_str(s, STR("a\0b"));
    assert_text(json_get(doc, "n")->text, "-1.50E+2"); /* as written */
    assert_int_equal(json_double(&d, json_get(doc, "n")), 0);
    assert_true(d == -150);
    assert_int_equal(json_i64(&i, json_get(doc, "n")), -1);
    assert_int_equal(i, 42);
    assert_int_equal(json_bool(&b, json_get(doc, "t")), 0);
    assert_true(b);
    assert_int_equal(json_bool(&b, json_get(doc, "f")), 0);
    assert_false(b);
    assert_int_equal(json_bool(&b, json_get(doc, "z")), -1);
    assert_true(json_is(json_get(doc, "z"), JSON_NULL));
    assert_int_equal(json_i64(&i, json_at(json_get(doc, "a"), 0)), 0);
    assert_int_equal(i, 1);
    assert_int_equal(json_at(json_get(doc, "a"), 1)->n, 0);
    assert_int_equal(json_at(json_get(doc, "a"), 2)->n, 0);
    assert_true(json_is(json_get(json_get(doc, "o"), ""), JSON_NUMBER));
}

static void roots_of_every_type(void **state)
{
    (void)state;
    assert_int_equal(parse(STR("null"))->type, JSON_NULL);
    assert_int_equal(parse(STR("true"))->type, JSON_TRUE);
    assert_text(parse(STR("12"))->text, "12"); /* a number that only the end ends */
    assert_text(parse(STR("\"x\""))->text, "x");
    assert_int_equal(parse(STR("[]"))->type, JSON_ARRAY);
}

static void absent_is_null_everywhere(void **state)
{
    (void)state;
    int64_t i = 42;
    double d = 42;
    bool b = true;
    struct str s = STR("x");
    assert_null(json_get(NULL, "a"));
    assert_null(json_get(parse(STR("[]")), "a"));
    assert_null(json_at(NULL, 0));
    assert_null(json_at(parse(STR("[1]")), 1));
    assert_null(json_at(parse(STR("{}")), 0));
    assert_null(json_path(NULL, "a.b"));
    assert_int_equal(json_i64(&i, NULL), -1);
    assert_int_equal(json_double(&d, NULL), -1);
    assert_int_equal(json_bool(&b, NULL), -1);
    assert_int_equal(json_str(&s, NULL), -1);
    assert_int_equal(i, 42);
    assert_true(d == 42 && b);
    assert_text(s, "x");
    assert_false(json_is(NULL, JSON_NULL));
    assert_false(json_is_bool(NULL));
}

static void paths(void **state)
{
    (void)state;
    const struct json *doc = parse(STR("{\"choices\":[{\"delta\":{\"content\":\"hi\"}}],\"0\":1}"));
    assert_text(json_path(doc, "choices.0.delta.content")->text, "hi");
    assert_text(json_path(doc, "0")->text, "1");
    assert_ptr_equal(json_path(doc, ""), doc);
    assert_null(json_path(doc, "choices.1"));
    assert_null(json_path(doc, "choices.x"));
    assert_null(json_path(doc, "choices.-1"));
    assert_null(json_path(doc, "choices.0.delta.content.deeper"));
    assert_null(json_path(doc, "choices.99999999999999999999"));
}

static void numbers_keep_their_text(void **state)
{
    (void)state;
    int64_t i = 42;
    double d;
    const struct json *doc =
        parse(STR("[9223372036854775807,9223372036854775808,-0,1e400,1.0,"
                  "0.1000000000000000055511151231257827,123456789012345678901]"));
    assert_int_equal(json_i64(&i, json_at(doc, 0)), 0);
    assert_true(i == INT64_MAX);
    assert_int_equal(json_i64(&i, json_at(doc, 1)), -1);
    assert_int_equal(json_double(&d, json_at(doc, 1)), 0);
    assert_true(d == 9223372036854775808.0);
    assert_int_equal(json_i64(&i, json_at(doc, 2)), 0);
    assert_int_equal(i, 0);
    assert_int_equal(json_double(&d, json_at(doc, 3)), -1);
    assert_text(json_at(doc, 3)->text, "1e400");
    assert_int_equal(json_i64(&i, json_at(doc, 4)), -1);
    assert_text(json_at(doc, 5)->text, "0.1000000000000000055511151231257827");
    assert_text(json_at(doc, 6)->text, "123456789012345678901");
}

static void strings(void **state)
{
    (void)state;
    assert_text(parse(STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""))->text, "\"\\/\b\f\n\r\t");
    assert_text(parse(STR("\"\\u00e9\\u20AC\\uD83D\\uDE00\\ud83d\\ude00\""))->text,
                "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
    assert_text(parse(STR("\"\xf0\x9f\x98\x80\x7f\""))->text, "\xf0\x9f\x98\x80\x7f");
    assert_text(parse(STR("\"\\\\ud800\""))->text, "\\ud800"); /* an escaped backslash, then text */
    assert_text(parse(STR("\"\\uFFFF\\ufdd0\""))->text, "\xef\xbf\xbf\xef\xb7\x90");
}

static void places(void **state)
{
    (void)state;
    const struct json *doc = parse(STR("{\n  \"a\" : 1,\n  \"bc\":[ \"x\\n\\u0041\",\n\ttrue],"
                                       " \"d\": {\"e\":null}}"));
    static const struct {
        const char *path;
        uint32_t line, column;
    } wanted[] = {
        {"", 1, 1},     {"a", 2, 9},  {"bc", 3, 8},   {"bc.0", 3, 10},
        {"bc.1", 4, 2}, {"d", 4, 14}, {"d.e", 4, 19},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct json *v = json_path(doc, wanted[i].path);
        assert_int_equal(v->line, wanted[i].line);
        assert_int_equal(v->column, wanted[i].column);
    }
}

/* RFC 8259 and nothing beyond it. */
static void not_json(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        int64_t line, column;
    } bad[] = {
        {{"", 0}, 1, 1},
        {{" \n ", 3}, 2, 2},
        {{"{", 1}, 1, 2},
        {{"[1,", 3}, 1, 4},
        {{"[1,]", 4}, 1, 4},
        {{"{\"a\":1,}", 8}, 1, 8},
        {{"{\"a\" 1}", 7}, 1, 6},
        {{"{a:1}", 5}, 1, 2},
        {{"{1:2}", 5}, 1, 2},
        {{"[1 2]", 5}, 1, 4},
        {{"[1,,2]", 6}, 1, 4},
        {{"[1,\"a\\\"\\\\\" \"d\\\"ef\"]", 18}, 1, 12},
        {{"[1, false true]", 15}, 1, 11},
        {{"1 2", 3}, 1, 4}, /* only the end shows that the 2 has ended */
        {{"{} x", 4}, 1, 4},
        {{"x {}", 4}, 1, 1},
        {{"]", 1}, 1, 1},
        {{"[}", 2}, 1, 2},
        {{"[1]]", 4}, 1, 4},
        {{"tru", 3}, 1, 4},
        {{"True", 4}, 1, 1},
        {{"NaN", 3}, 1, 1},
        {{"[Infinity]", 10}, 1, 2},
        {{"01", 2}, 1, 3},
        {{"[-]", 3}, 1, 3},
        {{"[1.]", 4}, 1, 4},
        {{"[.5]", 4}, 1, 2},
        {{"[+1]", 4}, 1, 2},
        {{"[1e]", 4}, 1, 4},
        {{"[0x10]", 6}, 1, 3},
        {{"'a'", 3}, 1, 1},
        {{"// c\n1", 6}, 1, 1},
        {{"/* c */ 1", 9}, 1, 1},
        {{"[1, # c\n2]", 10}, 1, 5},
        {{"\xef\xbb\xbf{}", 5}, 1, 1},
        {{"\"a\nb\"", 5}, 1, 3},
        {{"\"\t\"", 3}, 1, 2},
        {{"\"\0\"", 3}, 1, 2},
        {{"\"\\x41\"", 6}, 1, 3},
        {{"\"\\u12g4\"", 8}, 1, 6},
        {{"\"\\u12", 5}, 1, 6},
        {{"\"abc", 4}, 1, 5},
        {{"\"abc\\", 5}, 1, 6},
        {{"1\0", 2}, 1, 2},
        {{"{\n \"a\": 1,\n \"b\": oops\n}", 22}, 3, 7},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err;
        assert_refused(refuse(bad[i].text, &err), err, ERROR_INPUT, "not JSON: ");
        if (err.line != bad[i].line || err.column != bad[i].column)
            fail_msg("%.*s: %lld:%lld, wanted %lld:%lld (%s)", STR_ARG(bad[i].text),
                     (long long)err.line, (long long)err.column, (long long)bad[i].line,
                     (long long)bad[i].column, err.message);
        assert_true(err.offset > 0);
    }
}

/* Readers turn half a pair into '?', three raw bytes or nothing; there is no character, so none. */
static void lone_surrogates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t column;
    } bad[] = {
        {"\"\\ud800\"", 2},
        {"\"\\udc00\"", 2},
        {"\"a\\uD800b\"", 3},
        {"\"\\ud800\\n\"", 2},
        {"\"\\ud800\\u0041\"", 2},
        {"\"\\ud800\\ud800\\udc00\"", 2},
        {"\"\\ude00\\ud83d\"", 2},
        {"{\"\\udbff\":1}", 3},
        {"\"\\ud83d\\ude00\\ude00\"", 14},
        {"[\"\\ud83d\",\"\\ude00\"]", 3},
        {"\"\\ud83d\\n\\ude00\"", 2}, /* another escape between the halves */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err;
        assert_refused(refuse(str_of(bad[i].text), &err), err, ERROR_INPUT, "surrogate");
        assert_int_equal(err.column, bad[i].column);
        assert_int_equal(err.offset, bad[i].column);
        assert_true(err.remedy[0] != '\0');
    }
    /* What is wrong before it comes first. */
    struct error err;
    assert_refused(refuse(STR("[x, \"\\ud800\"]"), &err), err, ERROR_INPUT, "not JSON: ");
    assert_int_equal(err.column, 2);
}

static void ill_formed_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "[\"\xff\"]",     "[\"\xc0\xaf\"]",   "[\"\xed\xa0\x80\"]",        "[\"\xf4\x90\x80\x80\"]",
        "[\"\xe2\x82\"]", "{\"\xc0\x80\":1}", "[\"\\n\xf5\x80\x80\x80\"]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err;
        assert_refused(refuse(str_of(bad[i]), &err), err, ERROR_INPUT, "not UTF-8");
        assert_int_equal(err.line, 1);
    }
}

static void duplicate_keys(void **state)
{
    (void)state;
    struct error err;
    assert_refused(refuse(STR("{\"a\":1,\n \"b\":2, \"a\":3}"), &err), err, ERROR_INPUT,
                   "the key \"a\" stands twice");
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 9);
    /* However the key is written; and only within one object. */
    assert_refused(refuse(STR("{\"a\":1,\"\\u0061\":2}"), &err), err, ERROR_INPUT, "twice");
    parse(STR("{\"a\":{\"a\":1},\"b\":{\"a\":1}}"));
    parse(STR("{\"a\":1,\"A\":2,\"a\\u0000\":3,\"\":4}"));
    /* Large objects are checked another way. */
    for (int n = 15; n <= 40; n++) {
        struct buf text = BUF_INIT(BUF_ANY);
        buf_addc(&text, '{');
        for (int i = 0; i < n; i++)
            buf_addf(&text, "%s\"k%d\":0", i ? "," : "", i);
        buf_addc(&text, '}');
        assert_int_equal(parse(buf_str(&text))->n, n);
        buf_truncate(&text, text.n - 1);
        size_t column = text.n + 2;
        /* The first second one is named, whatever the names' order. */
        buf_adds(&text, ",\"k7\":0,\"k3\":0}");
        assert_refused(refuse(buf_str(&text), &err), err, ERROR_INPUT, "\"k7\" stands twice");
        assert_int_equal(err.column, column);
        buf_truncate(&text, column - 2);
        buf_adds(&text, ",\"k3\":0,\"k7\":0}");
        assert_refused(refuse(buf_str(&text), &err), err, ERROR_INPUT, "\"k3\" stands twice");
        assert_int_equal(err.column, column);
        buf_release(&text);
    }
}

static void nested(struct buf *text, int depth)
{
    buf_reset(text);
    for (int i = 0; i < depth; i++)
        buf_adds(text, i % 2 ? "{\"a\":" : "[");
    buf_addc(text, '1');
    for (int i = depth - 1; i >= 0; i--)
        buf_addc(text, i % 2 ? '}' : ']');
}

static void depth_limit(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(BUF_ANY);
    const struct json *doc = NULL;
    struct error err = {0};
    struct json_limits limits = {1 << 20, 1000, 5};
    nested(&text, 5);
    assert_int_equal(json_parse(&doc, buf_str(&text), &limits, &arena, &err), 0);
    nested(&text, 6);
    assert_refused(json_parse(&doc, buf_str(&text), &limits, &arena, &err), err, ERROR_LIMIT,
                   "deeper than 5 levels");
    assert_int_equal(err.line, 1);
    /* The house's own most, whatever the caller says. */
    limits = (struct json_limits){1 << 20, 10000, 100000};
    nested(&text, JSON_DEPTH_MOST);
    assert_int_equal(json_parse(&doc, buf_str(&text), &limits, &arena, &err), 0);
    nested(&text, JSON_DEPTH_MOST + 1);
    assert_refused(json_parse(&doc, buf_str(&text), &limits, &arena, &err), err, ERROR_LIMIT,
                   "deeper than 512 levels");
    buf_release(&text);
}

static void size_limits(void **state)
{
    (void)state;
    const struct json *doc = NULL;
    struct error err = {0};
    struct json_limits limits = {9, 5, 8};
    /* Nine bytes; five values: the array, the object, and three numbers. */
    assert_int_equal(json_parse(&doc, STR("[1,2,3,4]"), &limits, &arena, &err), 0);
    assert_refused(json_parse(&doc, STR("[1,2,3,4] "), &limits, &arena, &err), err, ERROR_LIMIT,
                   "longer than 9 bytes");
    assert_refused(json_parse(&doc, STR("[1,2,[],1"), &limits, &arena, &err), err, ERROR_INPUT, "");
    limits.bytes = 100;
    assert_int_equal(json_parse(&doc, STR("[{\"a\":1},2,3]"), &limits, &arena, &err), 0);
    assert_refused(json_parse(&doc, STR("[{\"a\":1},2,\n3,4]"), &limits, &arena, &err), err,
                   ERROR_LIMIT, "more than 5 values");
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 3);
    struct arena small;
    arena_init(&small, 256);
    assert_refused(json_parse(&doc, STR("[\"0123456789012345\",\"0123456789012345\",\"x\",\"x\"]"),
                              &JSON_LIMITS_DEFAULT, &small, &err),
                   err, ERROR_LIMIT, "JSON needs more than");
    arena_release(&small);
}

static void files(void **state)
{
    (void)state;
    char path[] = "tally_json_XXXXXX";
    const struct json *doc = NULL;
    struct error err = {0};
    close(mkstemp(path));
    assert_int_equal(file_write_atomic(path, STR("{\"a\": 1}\n"), &err), 0);
    assert_int_equal(json_parse_file(&doc, path, &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    assert_true(json_get(doc, "a") != NULL);
    assert_int_equal(file_write_atomic(path, STR("{\n\"a\": x}\n"), &err), 0);
    assert_refused(json_parse_file(&doc, path, &JSON_LIMITS_DEFAULT, &arena, &err), err,
                   ERROR_INPUT, "not JSON");
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 6);
    struct json_limits limits = {3, 10, 10};
    assert_refused(json_parse_file(&doc, path, &limits, &arena, &err), err, ERROR_LIMIT, "3 bytes");
    unlink(path);
    assert_refused(json_parse_file(&doc, path, &limits, &arena, &err), err, ERROR_IO,
                   "cannot open");
    assert_string_equal(err.file, path);
}

static void needed_members(void **state)
{
    (void)state;
    const struct json *doc =
        parse(STR("{\"i\":7,\"d\":1.5,\"b\":true,\"s\":\"x\",\n\"big\":1e999,\"a\":[]}"));
    const struct json *v = NULL;
    struct error err = {0};
    int64_t i = 42;
    double d = 42;
    bool b = false;
    struct str s = {0};
    assert_int_equal(json_need(&v, doc, "a", JSON_ARRAY, &err), 0);
    assert_int_equal(json_need_i64(&i, doc, "i", &err), 0);
    assert_int_equal(json_need_double(&d, doc, "d", &err), 0);
    assert_int_equal(json_need_bool(&b, doc, "b", &err), 0);
    assert_int_equal(json_need_str(&s, doc, "s", &err), 0);
    assert_true(i == 7 && d == 1.5 && b && str_eq(s, STR("x")));
    assert_refused(json_need_i64(&i, doc, "d", &err), err, ERROR_INPUT,
                   "\"d\" must be an integer of 64 bits, not this number");
    assert_refused(json_need_str(&s, doc, "gone", &err), err, ERROR_INPUT,
                   "the member \"gone\" is missing");
    assert_int_equal(err.line, 1);
    assert_refused(json_need_double(&d, doc, "big", &err), err, ERROR_INPUT, "a finite number");
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 7);
    assert_refused(json_need_bool(&b, doc, "s", &err), err, ERROR_INPUT,
                   "\"s\" must be true or false, not a string");
    assert_refused(json_need(&v, doc, "i", JSON_OBJECT, &err), err, ERROR_INPUT,
                   "\"i\" must be an object, not this number");
    assert_refused(json_need_i64(&i, json_get(doc, "a"), "x", &err), err, ERROR_INPUT,
                   "an object with the member \"x\" was expected, not an array");
    assert_refused(json_need_i64(&i, NULL, "x", &err), err, ERROR_INPUT, "was expected");
    assert_int_equal(i, 7);
}

static void equality(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true},
        {"[1,2]", "[2,1]", false},
        {"1", "1.0", false}, /* numbers by their text */
        {"\"1\"", "1", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"{\"a\":1,\"b\":1}", "{\"a\":1,\"c\":1}", false},
        {"[]", "{}", false},
        {"null", "null", true},
        {"true", "false", false},
        {"\"\\u0061\"", "\"a\"", true},
        {"[[],[{}]]", "[[],[{}]]", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct json *a = parse(str_of(cases[i].a)), *b = parse(str_of(cases[i].b));
        assert_int_equal(json_equal(a, b), cases[i].equal);
        assert_int_equal(json_equal(b, a), cases[i].equal);
        assert_true(json_equal(a, a));
    }
    assert_true(json_equal(NULL, NULL));
    assert_false(json_equal(NULL, parse(STR("null"))));
    assert_false(json_equal(parse(STR("null")), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(roots_of_every_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absent_is_null_everywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_keep_their_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lone_surrogates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ill_formed_utf8, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duplicate_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(size_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(needed_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equality, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
