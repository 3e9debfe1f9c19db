/* The short way through JSON tells what json_stream tells, or nothing. */
#include "codec/json_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event_log.h"

#define DEPTH 4

static void plain_texts_are_told_alike(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "0",
        "-1",
        "12345678901234567890123",
        "\"\"",
        "null",
        "true",
        "false",
        "[[],{},[{}]]",
        "{\"a\":1,\"b\":[1,2,3],\"c\":{\"d\":null}}",
        "[\"\xe6\xbc\xa2\",\"\xf0\x9f\x98\x80\",\"\x7f\"]",
        "{\"\":\"\"}",
        "[{\"a\":[{}]}]",
        "[0,-0]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct buf mine = BUF_INIT(BUF_ANY), theirs = BUF_INIT(BUF_ANY);
        assert_true(log_stream(&theirs, str_of(texts[i]), DEPTH));
        if (!json_plain(&event_log, &mine, str_of(texts[i]), DEPTH))
            fail_msg("%s is not taken", texts[i]);
        assert_true(str_eq(buf_str(&mine), buf_str(&theirs)));
        buf_release(&mine);
        buf_release(&theirs);
    }
}

/* Good JSON or bad: what is not plain is left to the long way. */
static void anything_else_is_left(void **state)
{
    static const char *const texts[] = {
        "",
        " {}",
        "{} ",
        "{}\n",
        "{ }",
        "[1, 2]",
        "{\"a\" :1}",
        "1.5",
        "1e3",
        "01",
        "-",
        "+1",
        "\"a\\n\"",
        "\"\\u0041\"",
        "\"a\tb\"",
        "\"a",
        "nul",
        "nulls",
        "tru",
        "[",
        "{",
        "[1",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{1:2}",
        "[1}",
        "{\"a\":1]",
        "]",
        "}",
        "1 2",
        "[]]",
        "\"\xff\"",
        "\"\xed\xa0\x80\"",
        "\"\xc0\xaf\"",
        "{\"\xff\":1}",
        "NaN",
        "[[[[[]]]]]",
        "\"a\"b",
        "--1",
        "// x",
        "'a'",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct buf log = BUF_INIT(BUF_ANY);
        if (json_plain(&event_log, &log, str_of(texts[i]), DEPTH))
            fail_msg("%s is taken", texts[i]);
        buf_release(&log);
    }
    struct buf log = BUF_INIT(BUF_ANY);
    assert_false(json_plain(&event_log, &log, STR("\"a\0\""), DEPTH));
    buf_release(&log);
}

/* Every prefix of a text, and every byte of it replaced: never a text that json_stream refuses. */
static void cut_and_broken_texts(void **state)
{
    static const char text[] = "{\"a\":[1,-2,null,true],\"b\":\"\xe6\xbc\xa2 x\",\"c\":{}}";
    static const char other[] = "{}[],:\"\\019-tnx \n\x80";
    (void)state;
    for (size_t at = 0; at < sizeof text - 1; at++) {
        char broken[sizeof text];
        struct buf mine = BUF_INIT(BUF_ANY), theirs = BUF_INIT(BUF_ANY);
        assert_false(json_plain(&event_log, &mine, str_make(text, at), DEPTH));
        for (size_t k = 0; k < sizeof other - 1; k++) {
            memcpy(broken, text, sizeof text);
            broken[at] = other[k];
            struct str t = str_make(broken, sizeof text - 1);
            buf_reset(&mine);
            buf_reset(&theirs);
            if (!json_plain(&event_log, &mine, t, DEPTH))
                continue;
            assert_true(log_stream(&theirs, t, DEPTH));
            assert_true(str_eq(buf_str(&mine), buf_str(&theirs)));
        }
        buf_release(&mine);
        buf_release(&theirs);
    }
}

static void depth_ends_at_its_limit(void **state)
{
    char text[2 * JSON_PLAIN_DEPTH + 3];
    (void)state;
    for (unsigned n = JSON_PLAIN_DEPTH; n <= JSON_PLAIN_DEPTH + 1; n++) {
        struct buf log = BUF_INIT(BUF_ANY);
        memset(text, '[', n);
        memset(text + n, ']', n);
        assert_int_equal(json_plain(&event_log, &log, str_make(text, 2 * n), 1000),
                         n == JSON_PLAIN_DEPTH);
        assert_int_equal(json_plain(&event_log, &log, str_make(text, 2 * n), n - 1), false);
        buf_release(&log);
    }
}

static int refuse(void *ctx, struct str text, struct error *err)
{
    (void)ctx;
    (void)text;
    return error_set(err, ERROR_INPUT, "not this one");
}

static void a_callback_that_refuses_ends_it(void **state)
{
    struct json_events on = event_log;
    struct buf log = BUF_INIT(BUF_ANY);
    (void)state;
    on.number = refuse;
    assert_false(json_plain(&on, &log, STR("[1]"), DEPTH));
    assert_true(json_plain(&on, &log, STR("[\"1\"]"), DEPTH));
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_texts_are_told_alike),
        cmocka_unit_test(anything_else_is_left),
        cmocka_unit_test(cut_and_broken_texts),
        cmocka_unit_test(depth_ends_at_its_limit),
        cmocka_unit_test(a_callback_that_refuses_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
