#include "codec/json_write.h"

#include "../test.h"

static void one_line(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = BUF_INIT(1000);
    struct json_writer w;
    json_writer_init(&w, &b, 0);
    json_begin_object(&w);
    json_key(&w, "a");
    json_put_i64(&w, INT64_MIN);
    json_key_str(&w, STR("b\"\n"));
    json_begin_array(&w);
    json_put_null(&w);
    json_put_bool(&w, true);
    json_put_bool(&w, false);
    json_put_ms(&w, -1500000);
    json_put_real9(&w, 0.1);
    json_put_cstr(&w, NULL);
    json_put_cstr(&w, "x");
    json_put_raw(&w, STR("{\"raw\":1}"));
    json_end_array(&w);
    json_key(&w, "c");
    json_begin_object(&w);
    json_end_object(&w);
    json_key(&w, "d");
    json_begin_array(&w);
    json_end_array(&w);
    json_end_object(&w);
    assert_int_equal(json_writer_check(&w, "test", &err), 0);
    assert_text(buf_str(&b),
                "{\"a\":-9223372036854775808,\"b\\\"\\n\":[null,true,false,-1.500000,0.1,"
                "null,\"x\",{\"raw\":1}],\"c\":{},\"d\":[]}");
    buf_release(&b);
}

static void indented(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = BUF_INIT(1000);
    struct json_writer w;
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_key(&w, "a");
    json_begin_array(&w);
    json_put_i64(&w, 1);
    json_begin_object(&w);
    json_key(&w, "b");
    json_put_i64(&w, 2);
    json_end_object(&w);
    json_end_array(&w);
    json_key(&w, "e");
    json_begin_array(&w);
    json_end_array(&w);
    json_end_object(&w);
    assert_int_equal(json_writer_check(&w, "test", &err), 0);
    assert_text(buf_str(&b), "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n"
                             "  \"e\": []\n}");
    buf_release(&b);
}

static void quoted(void **state)
{
    (void)state;
    static const struct {
        struct str in;
        const char *out;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{NULL, 0}, "\"\""},
        {{"a/b", 3}, "\"a/b\""},
        {{"\"\\\b\f\n\r\t", 7}, "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
        {{"\0\x01\x1f\x7f", 4}, "\"\\u0000\\u0001\\u001f\x7f\""},
        {{"\xc3\xa9\xf0\x9f\x98\x80", 6}, "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {{"a\xff\"", 3}, "\"a\xef\xbf\xbd\\\"\""},
        {{"\xed\xa0\x80", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = BUF_INIT(1000);
        json_add_quoted(&b, cases[i].in);
        assert_text(buf_str(&b), cases[i].out);
        buf_release(&b);
    }
}

static void a_parsed_value_as_it_was(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":[1.50,1E5,-0,123456789012345678901],\"b\":{\"c\":\"\\u0001\"},"
        "\"d\":[null,true,false,{},[]]}";
    struct error err = {0};
    struct arena arena;
    struct buf b = BUF_INIT(1000);
    struct json_writer w;
    const struct json *doc;
    arena_init(&arena, 1 << 20);
    assert_int_equal(json_parse(&doc, str_of(text), &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    json_writer_init(&w, &b, 0);
    json_put_value(&w, doc);
    assert_int_equal(json_writer_check(&w, "test", &err), 0);
    assert_text(buf_str(&b), text);
    buf_reset(&b);
    json_writer_init(&w, &b, 0);
    json_put_value(&w, NULL);
    assert_text(buf_str(&b), "null");
    buf_release(&b);
    arena_release(&arena);
}

/* The deepest document there is, inside a few levels of our own. */
static void deepest(void **state)
{
    (void)state;
    struct error err = {0};
    struct arena arena;
    struct buf text = BUF_INIT(10000), b = BUF_INIT(10000);
    struct json_writer w;
    const struct json *doc;
    struct json_limits limits = {1 << 20, 10000, JSON_DEPTH_MOST};
    arena_init(&arena, 1 << 20);
    buf_pad(&text, '[', JSON_DEPTH_MOST);
    buf_pad(&text, ']', JSON_DEPTH_MOST);
    assert_int_equal(json_parse(&doc, buf_str(&text), &limits, &arena, &err), 0);
    json_writer_init(&w, &b, 0);
    for (unsigned i = JSON_DEPTH_MOST; i < JSON_WRITE_DEPTH; i++)
        json_begin_array(&w);
    json_put_value(&w, doc);
    for (unsigned i = JSON_DEPTH_MOST; i < JSON_WRITE_DEPTH; i++)
        json_end_array(&w);
    assert_int_equal(json_writer_check(&w, "test", &err), 0);
    assert_int_equal(b.n, 2 * JSON_WRITE_DEPTH);
    buf_release(&text);
    buf_release(&b);
    arena_release(&arena);
}

static void full_buffer(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = BUF_INIT(7);
    struct json_writer w;
    json_writer_init(&w, &b, 0);
    json_put_str(&w, STR("abcde")); /* seven with its quotes: at the limit */
    assert_int_equal(json_writer_check(&w, "line", &err), 0);
    buf_reset(&b);
    json_writer_init(&w, &b, 0);
    json_put_str(&w, STR("abcdef"));
    assert_refused(json_writer_check(&w, "line", &err), err, ERROR_LIMIT, "line is longer than 7");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line), cmocka_unit_test(indented),
        cmocka_unit_test(quoted),   cmocka_unit_test(a_parsed_value_as_it_was),
        cmocka_unit_test(deepest),  cmocka_unit_test(full_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
