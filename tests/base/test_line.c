#include "base/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "tally_line_XXXXXX";

static void put(struct str text)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    assert_int_equal(fclose(f), 0);
}

static void expect(struct str text, size_t max, const struct str *want, size_t n, int last)
{
    struct line_reader r;
    struct error err = {0};
    struct str line;

    put(text);
    assert_int_equal(line_open(&r, path, max, &err), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(line_next(&r, &line, &err), 1);
        assert_true(str_eq(line, want[i]));
        assert_int_equal(r.number, i + 1);
    }
    assert_int_equal(line_next(&r, &line, &err), last);
    if (last < 0) {
        assert_int_equal(err.kind, ERROR_LIMIT);
        assert_int_equal(err.line, n + 1);
        assert_string_equal(err.file, path);
    }
    line_close(&r);
}
#define EXPECT(text, max, last, ...)                     \
    expect(text, max, (const struct str[]){__VA_ARGS__}, \
           sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str), last)

static void test_lines(void **state)
{
    (void)state;
    EXPECT(STR("a\nb\n"), 10, 0, STR("a"), STR("b"));
    EXPECT(STR("a\r\nb"), 10, 0, STR("a"), STR("b"));
    EXPECT(STR("\n\r\n\rx\n"), 10, 0, STR(""), STR(""), STR("\rx"));
    EXPECT(STR("a\0b\n"), 10, 0, STR("a\0b"));
    expect(STR(""), 10, NULL, 0, 0);
}

static void test_limit(void **state)
{
    (void)state;
    EXPECT(STR("ab\n123\n"), 3, 0, STR("ab"), STR("123"));
    EXPECT(STR("ab\n123\r\nx"), 3, 0, STR("ab"), STR("123"), STR("x"));
    EXPECT(STR("ab\n1234\n"), 3, -1, STR("ab"));
    EXPECT(STR("ab\n1234"), 3, -1, STR("ab"));
}

/* Lines longer than one read, with the end of line at and around the reads' borders. */
static void test_borders(void **state)
{
    (void)state;
    for (size_t n = 65530; n < 65545; n++) {
        char *text = malloc(2 * n + 2);
        assert_non_null(text);
        memset(text, 'x', n);
        text[n] = '\n';
        memset(text + n + 1, 'y', n);
        text[2 * n + 1] = '\n';
        EXPECT(str_make(text, 2 * n + 2), n, 0, str_make(text, n), str_make(text + n + 1, n));
        EXPECT(str_make(text, 2 * n + 1), n, 0, str_make(text, n), str_make(text + n + 1, n));
        expect(str_make(text, 2 * n + 2), n - 1, NULL, 0, -1);
        free(text);
    }
}

static void test_missing(void **state)
{
    struct line_reader r;
    struct error err = {0};
    (void)state;

    assert_int_equal(line_open(&r, "/nonexistent/file", 10, &err), -1);
    assert_int_equal(err.kind, ERROR_IO);
    assert_string_equal(err.file, "/nonexistent/file");
    line_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_missing),
    };
    int fd = mkstemp(path), failed;

    if (fd < 0)
        return 1;
    close(fd);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
