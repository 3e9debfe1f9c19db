/* Lines of plain and gzip files: the same from both, whole, and within the limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "codec/gz.h"
#include "codec/gz_lines.h"

static char path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_gz_lines.%ld", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void put(struct str bytes)
{
    struct error err = {0};
    assert_int_equal(file_write_atomic(path, bytes, &err), 0);
}

/* Joins all lines by '|', with '$' behind a line that had no LF; returns what gz_lines_next did. */
static int read_all(struct buf *out, size_t line_max, uint64_t total, struct error *err)
{
    struct gz_lines *r;
    struct str line;
    int got;
    int64_t number = 0;
    buf_reset(out);
    assert_int_equal(gz_lines_open(&r, path, &(struct gz_lines_limits){line_max, total}, err), 0);
    while ((got = gz_lines_next(r, &line, err)) > 0) {
        buf_addstr(out, line);
        buf_addc(out, gz_lines_unterminated(r) ? '$' : '|');
        assert_int_equal(gz_lines_number(r), ++number);
    }
    gz_lines_free(r);
    return got;
}

static void both(struct str text, const char *want)
{
    struct error err = {0};
    struct buf out = BUF_INIT(BUF_ANY), gz = BUF_INIT(BUF_ANY);
    assert_int_equal(gz_compress(&gz, text, &err), 0);
    for (int compressed = 0; compressed < 2; compressed++) {
        put(compressed ? buf_str(&gz) : text);
        assert_int_equal(read_all(&out, 100, 1000, &err), 0);
        assert_true(str_eq(buf_str(&out), str_of(want)));
    }
    buf_release(&out);
    buf_release(&gz);
}

static void lines(void **state)
{
    (void)state;
    both(STR(""), "");
    both(STR("\n"), "|");
    both(STR("a\nbc\n\nd\n"), "a|bc||d|");
    both(STR("a\nbc"), "a|bc$");
    both(STR("\x1f\n\x8b\n"), "\x1f|\x8b|");
}

static void long_files(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf text = BUF_INIT(BUF_ANY), gz = BUF_INIT(BUF_ANY), out = BUF_INIT(BUF_ANY);
    for (int i = 0; i < 60000; i++) {
        buf_addf(&text, "%d", i * 7919 % 10007);
        buf_pad(&text, 'x', (size_t)(i * 31 % 97));
        buf_addc(&text, '\n');
    }
    assert_int_equal(gz_compress(&gz, buf_str(&text), &err), 0);
    for (int compressed = 0; compressed < 2; compressed++) {
        put(buf_str(compressed ? &gz : &text));
        assert_int_equal(read_all(&out, 200, UINT64_MAX, &err), 0);
        for (size_t i = 0; i < out.n; i++)
            if (out.p[i] == '|')
                out.p[i] = '\n';
        assert_true(str_eq(buf_str(&out), buf_str(&text)));
    }
    buf_release(&text);
    buf_release(&gz);
    buf_release(&out);
}

static void limits(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf out = BUF_INIT(BUF_ANY);
    put(STR("ab\nabcde\n"));
    assert_int_equal(read_all(&out, 5, 9, &err), 0);
    assert_int_equal(read_all(&out, 4, 9, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    assert_int_equal(err.line, 2);
    assert_string_equal(err.file, path);
    assert_int_equal(read_all(&out, 5, 8, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    /* A line that never ends stops at the limit, and not at the end of memory. */
    struct buf zeros = BUF_INIT(BUF_ANY), gz = BUF_INIT(BUF_ANY);
    buf_pad(&zeros, 'z', (size_t)64 << 20);
    assert_int_equal(gz_compress(&gz, buf_str(&zeros), &err), 0);
    put(buf_str(&gz));
    assert_int_equal(read_all(&out, 1 << 20, UINT64_MAX, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    buf_release(&zeros);
    buf_release(&gz);
    buf_release(&out);
}

static void damage(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf gz = BUF_INIT(BUF_ANY), out = BUF_INIT(BUF_ANY);
    assert_int_equal(gz_compress(&gz, STR("one\ntwo\nthree\n"), &err), 0);
    for (size_t n = 2; n < gz.n; n++) {
        put(str_first(buf_str(&gz), n));
        assert_int_equal(read_all(&out, 100, 1000, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
    buf_addc(&gz, 'x');
    put(buf_str(&gz));
    assert_int_equal(read_all(&out, 100, 1000, &err), -1);
    assert_non_null(strstr(err.message, "follow"));
    buf_truncate(&gz, gz.n - 1);
    gz.p[gz.n - 8] ^= 1; /* the checksum */
    put(buf_str(&gz));
    assert_int_equal(read_all(&out, 100, 1000, &err), -1);
    buf_release(&gz);
    buf_release(&out);
    struct gz_lines *r;
    assert_int_equal(gz_lines_open(&r, "no such file", &(struct gz_lines_limits){1, 1}, &err), -1);
    assert_int_equal(err.kind, ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(long_files),
        cmocka_unit_test(limits),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
