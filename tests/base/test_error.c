#include "base/error.h"

#include <errno.h>
#include <stdio.h>

#include "../test.h"
#include "base/status.h"
#include "base/utf8.h"

static void assert_format(const struct error *err, const char *wanted)
{
    struct buf b = BUF_INIT(BUF_ANY);
    error_format(err, &b);
    assert_text(buf_str(&b), wanted);
    buf_release(&b);
}

static void setting(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(error_set(&err, ERROR_INPUT, "a %d", 1), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
    assert_int_equal(error_at_file(&err, "f.json"), -1);
    assert_int_equal(error_at_file(&err, "outer.json"), -1); /* the first file stays */
    error_at_line(&err, 3, 9);
    error_at_offset(&err, 0);
    error_rule(&err, "prompt-band");
    error_remedy(&err, "do %s", "this");
    assert_string_equal(err.remedy, "do this");
    assert_string_equal(err.rule, "prompt-band");
    assert_format(&err, "f.json:3:9: a 1");
    error_wrap(&err, "cannot start lane %s", "x");
    assert_format(&err, "f.json:3:9: cannot start lane x: a 1");
    error_set(&err, ERROR_IO, "fresh"); /* and nothing of the old one is left */
    assert_format(&err, "fresh");
    assert_string_equal(err.remedy, "");
    assert_string_equal(err.rule, "");
}

static void places(void **state)
{
    (void)state;
    struct error err = {0};
    error_set(&err, ERROR_INPUT, "m");
    error_at_line(&err, 2, 5);
    assert_format(&err, "line 2, column 5: m");
    error_at_file(&err, "f");
    error_at_line(&err, 2, 0);
    assert_format(&err, "f:2: m");
    error_at_line(&err, 0, 0);
    assert_format(&err, "f: m");
    error_at_offset(&err, 0);
    assert_format(&err, "f: m (at byte 0)");
}

static void own_text_as_argument(void **state)
{
    (void)state;
    struct error err = {0};
    error_set(&err, ERROR_INPUT, "inner");
    error_set(&err, ERROR_INPUT, "outer %s", err.message);
    assert_string_equal(err.message, "outer inner");
    error_remedy(&err, "try");
    error_remedy(&err, "%s again", err.remedy);
    assert_string_equal(err.remedy, "try again");
}

/* A text of exactly the room fits; one byte more is cut and says so. */
static void long_texts(void **state)
{
    (void)state;
    char text[ERROR_MESSAGE_MAX + 100];
    struct error err = {0};
    memset(text, 'x', sizeof text);
    text[ERROR_MESSAGE_MAX - 1] = '\0';
    error_set(&err, ERROR_INPUT, "%s", text);
    assert_string_equal(err.message, text);
    text[ERROR_MESSAGE_MAX - 1] = 'x';
    text[ERROR_MESSAGE_MAX] = '\0';
    error_set(&err, ERROR_INPUT, "%s", text);
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_MAX - 1);
    assert_string_equal(err.message + ERROR_MESSAGE_MAX - 4, "...");
    error_wrap(&err, "outer");
    assert_int_equal(strncmp(err.message, "outer: xxx", 10), 0);
    assert_string_equal(err.message + ERROR_MESSAGE_MAX - 4, "...");
    error_set_errno(&err, ENOENT, "%s", text);
    assert_string_equal(err.message + ERROR_MESSAGE_MAX - 4, "...");
    error_at_file(&err, text);
    assert_int_equal(strlen(err.file), ERROR_FILE_MAX - 1);
    assert_string_equal(err.file + ERROR_FILE_MAX - 4, "...");
}

static void cut_between_characters(void **state)
{
    (void)state;
    struct error err = {0};
    for (int shift = 0; shift < 4; shift++) {
        char text[1200];
        int n = snprintf(text, sizeof text, "%.*s", shift, "aaaa");
        while (n + 4 < (int)sizeof text)
            n += snprintf(text + n, sizeof text - (size_t)n, "\xf0\x9f\x98\x80");
        error_set(&err, ERROR_INPUT, "%s", text);
        assert_true(utf8_valid(str_of(err.message)));
        assert_true(str_ends(str_of(err.message), STR("\x80...")));
    }
}

/* What a server sent may stand in a message; it must not clear the screen of who reads it. */
static void control_characters(void **state)
{
    (void)state;
    struct error err = {0};
    error_set(&err, ERROR_INPUT, "%s", "a\nb\r\t\x1b[2J\x7f\xc3\xa9");
    error_at_file(&err, "odd\nname");
    assert_format(&err, "odd\\nname: a\\nb\\r\\t\\x1b[2J\\x7f\xc3\xa9");
}

static void from_errno(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(error_set_errno(&err, ENOSPC, "cannot write %s", "f"), -1);
    assert_int_equal(err.kind, ERROR_IO);
    assert_int_equal(strncmp(err.message, "cannot write f: ", 16), 0);
    assert_true(strlen(err.message) > 16);
    static const int with_remedy[] = {ENOENT, EACCES, EPERM, ENOSPC, EDQUOT,
                                      EMFILE, ENFILE, EROFS, EISDIR, EADDRINUSE};
    for (size_t i = 0; i < sizeof with_remedy / sizeof with_remedy[0]; i++) {
        error_set_errno(&err, with_remedy[i], "x");
        assert_true(err.remedy[0] != '\0');
    }
    error_no_memory(&err);
    assert_int_equal(err.kind, ERROR_MEMORY);
    assert_true(err.remedy[0] != '\0');
}

/* Spec section 3. */
static void exit_codes(void **state)
{
    (void)state;
    assert_int_equal(error_exit_code(ERROR_USAGE), 2);
    assert_int_equal(error_exit_code(ERROR_INPUT), 2);
    assert_int_equal(error_exit_code(ERROR_UNMEASURED), 3);
    assert_int_equal(error_exit_code(ERROR_REFUSED), 4);
    assert_int_equal(error_exit_code(ERROR_IO), 5);
    assert_int_equal(error_exit_code(ERROR_ENVIRONMENT), 5);
    assert_int_equal(error_exit_code(ERROR_INTERRUPTED), 130);
    assert_string_equal(error_kind_name(ERROR_REFUSED), "refused");
    assert_string_equal(error_kind_name((enum error_kind)99), "unknown");
    assert_int_equal(error_exit_code((enum error_kind)99), 5);
}

/* Spec section 3: worst first, one order everywhere. */
static void statuses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int code;
    } wanted[] = {{"FAIL", 1},         {"REFUSED", 4}, {"UNMEASURED", 3},    {"INCOMPLETE", 3},
                  {"INCONCLUSIVE", 3}, {"PASS", 0},    {"NOT_APPLICABLE", 0}};
    const int n = (int)(sizeof wanted / sizeof wanted[0]);
    for (int i = 0; i < n; i++) {
        enum status s;
        assert_int_equal(status_parse(&s, str_of(wanted[i].name)), 0);
        assert_int_equal(s, i);
        assert_string_equal(status_name(s), wanted[i].name);
        assert_int_equal(status_exit_code(s), wanted[i].code);
        for (int j = 0; j < n; j++)
            assert_int_equal(status_worse((enum status)i, (enum status)j), i < j ? i : j);
    }
    enum status untouched = STATUS_PASS;
    assert_int_equal(status_parse(&untouched, STR("pass")), -1);
    assert_int_equal(status_parse(&untouched, STR("")), -1);
    assert_int_equal(untouched, STATUS_PASS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting),
        cmocka_unit_test(places),
        cmocka_unit_test(own_text_as_argument),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(cut_between_characters),
        cmocka_unit_test(control_characters),
        cmocka_unit_test(from_errno),
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
