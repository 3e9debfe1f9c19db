#include "codec/yaml.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "codec/json_write.h"
#include "fixture.h"

/* The document as one line of JSON. */
static void assert_yaml(const char *yaml, const char *json)
{
    struct error err = {0};
    const struct json *doc = NULL;
    struct buf b = BUF_INIT(BUF_ANY);
    struct json_writer w;
    if (yaml_parse(&doc, str_of(yaml), &JSON_LIMITS_DEFAULT, &arena, &err) < 0)
        fail_msg("%s: %s", yaml, err.message);
    json_writer_init(&w, &b, 0);
    json_put_value(&w, doc);
    assert_text(buf_str(&b), json);
    buf_release(&b);
}

static int refuse(struct str text, struct error *err)
{
    const struct json *doc = NULL;
    int status = yaml_parse(&doc, text, &JSON_LIMITS_DEFAULT, &arena, err);
    assert_null(doc);
    return status;
}

static void plain_scalars(void **state)
{
    (void)state;
    assert_yaml("[null, Null, NULL, ~]", "[null,null,null,null]");
    assert_yaml("a:\nb: ", "{\"a\":null,\"b\":null}");
    assert_yaml("[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]");
    assert_yaml("[0, -0, 12, -1.50, 1e3, 1E-3, 123456789012345678901]",
                "[0,-0,12,-1.50,1e3,1E-3,123456789012345678901]");
    /* What YAML 1.1 or looser readers take for something else is text. */
    assert_yaml("[yes, no, on, tRue, nil, 0x10, 0o17, 017, +1, .5, 5., .inf, .nan, 1_000, 12:30]",
                "[\"yes\",\"no\",\"on\",\"tRue\",\"nil\",\"0x10\",\"0o17\",\"017\",\"+1\",\".5\","
                "\"5.\",\".inf\",\".nan\",\"1_000\",\"12:30\"]");
    assert_yaml("[2026-12-01, 60s, http://127.0.0.1:8080/v1]",
                "[\"2026-12-01\",\"60s\",\"http://127.0.0.1:8080/v1\"]");
    assert_yaml("%YAML 1.1\n---\n[yes, 0x10]", "[\"yes\",\"0x10\"]");
}

static void quoted_scalars_are_text(void **state)
{
    (void)state;
    assert_yaml("['null', \"true\", '1', \"\"]", "[\"null\",\"true\",\"1\",\"\"]");
    assert_yaml("'it''s'", "\"it's\"");
    assert_yaml("\"\\x41\\u00e9\\U0001F600\\n\\t\\0\"",
                "\"A\xc3\xa9\xf0\x9f\x98\x80\\n\\t\\u0000\"");
    assert_yaml("a: |\n  1\n  x\nb: >-\n  one\n  two\nc: |+\n  k\n\n",
                "{\"a\":\"1\\nx\\n\",\"b\":\"one two\",\"c\":\"k\\n\\n\"}");
}

static void containers(void **state)
{
    (void)state;
    assert_yaml("a:\n  - 1\n  - b: 2\n    c: 3\n  - - 4\n", "{\"a\":[1,{\"b\":2,\"c\":3},[4]]}");
    assert_yaml("{a: [1, {b: c}], \"d\": {}}", "{\"a\":[1,{\"b\":\"c\"}],\"d\":{}}");
    assert_yaml("{\"a\":1,\"b\":[true,null]}", "{\"a\":1,\"b\":[true,null]}"); /* JSON is YAML */
    assert_yaml("1: a\ntrue: b\n\"\": c\n'<<': d\n",
                "{\"1\":\"a\",\"true\":\"b\",\"\":\"c\",\"<<\":\"d\"}");
    assert_yaml("? k\n: v\n", "{\"k\":\"v\"}");
    assert_yaml("a: 1 # remark\n# remark\nb: 'x # y'\n", "{\"a\":1,\"b\":\"x # y\"}");
    assert_yaml("a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}");
    assert_yaml("\xef\xbb\xbf"
                "a: 1",
                "{\"a\":1}");
}

static void empty_documents(void **state)
{
    (void)state;
    assert_yaml("", "null");
    assert_yaml("# nothing\n", "null");
    assert_yaml("---\n", "null");
    assert_yaml("---\n...\n", "null");
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        int64_t line, column;
        const char *message;
    } bad[] = {
        {"a: &x 1\n", 1, 5, "anchors"},
        {"a: &x\n  b: 1\n", 1, 5, "anchors"},
        {"- &x [1]\n", 1, 4, "anchors"},
        {"a:\n  b: *x\n", 2, 7, "aliases"},
        {"a: 1\nb: !!str 1\n", 2, 4, "tags"},
        {"!x {a: 1}\n", 1, 1, "tags"},
        {"a: 1\nb: 2\na: 3\n", 3, 1, "the key \"a\" stands twice"},
        {"{a: 1, 'a': 2}", 1, 8, "the key \"a\" stands twice"},
        {"a: 1\n---\nb: 2\n", 3, 1, "a second document"},
        {"a: 1\n...\nb\n", 3, 1, "a second document"},
        {"? [1]\n: 2\n", 1, 3, "a key that is a list or a mapping"},
        {"{{a: 1}: 2}", 1, 2, "a key that is a list or a mapping"},
        {": 1\n", 1, 1, "an empty key"},
        {"a: 1\n<<: {b: 2}\n", 2, 1, "merge keys"},
        {"a:\n\t- 1\n", 2, 1, "not YAML"},
        {"a: [1, 2\n", 2, 1, "not YAML"},
        {"a: 1\nb: \"x\n", 2, 5, "not YAML"},
        {"a: b: c", 1, 5, "not YAML"},
        {"a: 1\n  b: 2\n", 1, 4, "not YAML"},
        {"@a: 1\n", 1, 1, "not YAML"},
        {"a: \"\\ud800\"\n", 1, 5, "not YAML"},
        {"a: \"\\q\"\n", 1, 5, "not YAML"},
        {"a: 'x\n", 1, 5, "not YAML"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err;
        assert_refused(refuse(str_of(bad[i].yaml), &err), err, ERROR_INPUT, bad[i].message);
        if (err.line != bad[i].line || err.column != bad[i].column)
            fail_msg("%s: %lld:%lld, wanted %lld:%lld (%s)", bad[i].yaml, (long long)err.line,
                     (long long)err.column, (long long)bad[i].line, (long long)bad[i].column,
                     err.message);
        assert_true(err.remedy[0] != '\0');
    }
}

static void bytes_that_are_no_text(void **state)
{
    (void)state;
    struct error err;
    assert_refused(refuse(STR("a: 1\nb: \xff"), &err), err, ERROR_INPUT, "not UTF-8");
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 4);
    assert_int_equal(err.offset, 9);
    assert_refused(refuse(STR("a: \0"), &err), err, ERROR_INPUT, "NUL");
    assert_int_equal(err.column, 4);
    assert_refused(refuse(STR("\xff\xfe"
                              "a\0"),
                          &err),
                   err, ERROR_INPUT, "not UTF-8"); /* UTF-16 */
}

static void places(void **state)
{
    (void)state;
    struct error err = {0};
    const struct json *doc;
    assert_int_equal(yaml_parse(&doc,
                                STR("bands: [1, 4]\nlanes:\n  - role: subject\n    url: \"x\"\n"
                                    "none:\n"),
                                &JSON_LIMITS_DEFAULT, &arena, &err),
                     0);
    static const struct {
        const char *path;
        uint32_t line, column;
    } wanted[] = {
        {"", 1, 1},        {"bands", 1, 8},         {"bands.1", 1, 12},     {"lanes", 3, 3},
        {"lanes.0", 3, 5}, {"lanes.0.role", 3, 11}, {"lanes.0.url", 4, 10}, {"none", 5, 1},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct json *v = json_path(doc, wanted[i].path);
        if (!v || v->line != wanted[i].line || v->column != wanted[i].column)
            fail_msg("%s: %u:%u", wanted[i].path, v ? v->line : 0, v ? v->column : 0);
    }
}

static void limits(void **state)
{
    (void)state;
    struct error err = {0};
    const struct json *doc = NULL;
    struct json_limits few = {12, 4, 2};
    assert_int_equal(yaml_parse(&doc, STR("[1, [2], 3]\n"), &few, &arena, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT); /* five values */
    assert_int_equal(yaml_parse(&doc, STR("[1, [2   ]]\n"), &few, &arena, &err), 0);
    assert_refused(yaml_parse(&doc, STR("[1, [2   ]]\n\n"), &few, &arena, &err), err, ERROR_LIMIT,
                   "YAML longer than 12 bytes");
    assert_refused(yaml_parse(&doc, STR("[[[]]]"), &few, &arena, &err), err, ERROR_LIMIT,
                   "YAML nested deeper than 2 levels");
    assert_int_equal(err.column, 3);
    struct arena small;
    arena_init(&small, 64);
    assert_refused(
        yaml_parse(&doc, STR("[abc, def, ghi, jkl, mno]"), &JSON_LIMITS_DEFAULT, &small, &err), err,
        ERROR_LIMIT, "YAML needs more than");
    arena_release(&small);
}

static void files(void **state)
{
    (void)state;
    char path[] = "tally_yaml_XXXXXX";
    const struct json *doc = NULL;
    struct error err = {0};
    close(mkstemp(path));
    assert_int_equal(file_write_atomic(path, STR("a: 1\n"), &err), 0);
    assert_int_equal(yaml_parse_file(&doc, path, &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    assert_text(json_get(doc, "a")->text, "1");
    assert_int_equal(file_write_atomic(path, STR("a: 1\na: 2\n"), &err), 0);
    assert_refused(yaml_parse_file(&doc, path, &JSON_LIMITS_DEFAULT, &arena, &err), err,
                   ERROR_INPUT, "twice");
    assert_string_equal(err.file, path);
    unlink(path);
    assert_refused(yaml_parse_file(&doc, path, &JSON_LIMITS_DEFAULT, &arena, &err), err, ERROR_IO,
                   "cannot open");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_scalars, set_up, tear_down),
        cmocka_unit_test_setup_teardown(quoted_scalars_are_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(containers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty_documents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_that_are_no_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
