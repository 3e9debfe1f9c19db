/* Files of samples: plain and gzip alike, cut off, damaged; errors name file, line and member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "codec/gz.h"
#include "record/sample_file.h"

#define LINE(seq)                                                                \
    "{\"lane\":\"subject\",\"band\":1,\"replicate\":1,\"worker\":0,\"seq\":" seq \
    ",\"phase\":\"window\",\"outcome\":\"ok\"}"

static char path[64];
static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_sample_file.%ld", (long)getpid());
    arena_init(&arena, (size_t)1 << 26);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    arena_release(&arena);
    return 0;
}

static int read_back(struct str text, bool compressed, struct sample **s, size_t *n, bool *cut,
                     struct error *err)
{
    struct buf gz = BUF_INIT(BUF_ANY);
    *err = (struct error){0};
    assert_int_equal(gz_compress(&gz, text, err), 0);
    assert_int_equal(file_write_atomic(path, compressed ? buf_str(&gz) : text, err), 0);
    buf_release(&gz);
    return sample_file_read(s, n, cut, path, &arena, err);
}

static void plain_and_gzip(void **state)
{
    (void)state;
    struct error err;
    struct sample *s;
    size_t n;
    bool cut;
    for (int compressed = 0; compressed < 2; compressed++) {
        assert_int_equal(
            read_back(STR(LINE("0") "\n" LINE("7") "\n"), compressed, &s, &n, &cut, &err), 0);
        assert_int_equal(n, 2);
        assert_int_equal(s[1].seq, 7);
        assert_true(str_eq(s[0].lane, STR("subject")));
        assert_false(cut);
        assert_int_equal(read_back(STR(""), compressed, &s, &n, &cut, &err), 0);
        assert_int_equal(n, 0);
    }
}

static void cut_off(void **state)
{
    (void)state;
    struct error err;
    struct sample *s;
    size_t n = 77;
    bool cut;
    /* Cut in the middle of a line, and just before its LF: both are left out, and said. */
    assert_int_equal(read_back(STR(LINE("0") "\n{\"lane\":"), false, &s, &n, &cut, &err), 0);
    assert_int_equal(n, 1);
    assert_true(cut);
    assert_int_equal(read_back(STR(LINE("0")), false, &s, &n, &cut, &err), 0);
    assert_int_equal(n, 0);
    assert_true(cut);
    n = 77;
    assert_int_equal(read_back(STR(LINE("0") "\n" LINE("1")), true, &s, &n, &cut, &err), -1);
    assert_int_equal(err.line, 2);
    assert_int_equal(n, 77);
}

static void errors_say_where(void **state)
{
    (void)state;
    struct error err;
    struct sample *s;
    size_t n;
    assert_int_equal(read_back(STR(LINE("0") "\n" LINE("-1") "\n"), false, &s, &n, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.message, "\"seq\""));
    assert_int_equal(read_back(STR(LINE("0,\"seq\":1") "\n"), false, &s, &n, NULL, &err), -1);
    assert_non_null(strstr(err.message, "stands twice"));
    assert_int_equal(read_back(STR("\n"), false, &s, &n, NULL, &err), -1);
    assert_int_equal(err.line, 1);
    assert_int_equal(read_back(STR("[[[[[[[[[[1]]]]]]]]]]\n"), false, &s, &n, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_gzip),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(errors_say_where),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
