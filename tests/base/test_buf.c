#include "base/buf.h"

#include "../test.h"

static void appends(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(100);
    assert_text(buf_str(&b), "");
    buf_adds(&b, "ab");
    buf_addc(&b, 'c');
    buf_addstr(&b, STR("d\0e"));
    buf_addstr(&b, (struct str){0});
    buf_addf(&b, "%s-%03d", "x", 7);
    buf_pad(&b, '.', 3);
    assert_str(buf_str(&b), STR("abcd\0ex-007..."));
    assert_int_equal(b.p[b.n], '\0');
    buf_release(&b);
    assert_null(b.p);
    assert_int_equal(b.max, 100);
    buf_adds(&b, "again");
    assert_text(buf_str(&b), "again");
    buf_release(&b);
    buf_release(NULL);
}

static void maximum(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = BUF_INIT(4);
    buf_adds(&b, "abcd"); /* at the limit */
    assert_int_equal(buf_check(&b, "name", &err), 0);
    assert_text(buf_str(&b), "abcd");
    buf_adds(&b, "");
    assert_int_equal(buf_check(&b, "name", &err), 0);
    buf_addc(&b, 'e'); /* one over */
    assert_refused(buf_check(&b, "name", &err), err, ERROR_LIMIT, "name is longer than 4 bytes");
    assert_text(buf_str(&b), "abcd");
    buf_reset(&b);
    assert_int_equal(buf_check(&b, "name", &err), 0);
    buf_addf(&b, "%d", 12345); /* one over by a format */
    assert_int_equal(b.failed, BUF_TOO_LONG);
    buf_adds(&b, "x"); /* failure is sticky */
    assert_text(buf_str(&b), "");
    buf_reset(&b);
    buf_pad(&b, ' ', SIZE_MAX);
    assert_int_equal(b.failed, BUF_TOO_LONG);
    buf_release(&b);
}

static void zeroed_holds_nothing(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = {0};
    buf_adds(&b, "");
    assert_int_equal(buf_check(&b, "nothing", &err), 0);
    buf_addc(&b, 'a');
    assert_int_equal(buf_check(&b, "nothing", &err), -1);
    buf_release(&b);
}

static void huge_maximum(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(SIZE_MAX);
    buf_adds(&b, "ab");
    assert_text(buf_str(&b), "ab");
    assert_null(buf_reserve(&b, SIZE_MAX - 3)); /* no wrap-around */
    assert_int_not_equal(b.failed, BUF_OK);
    buf_release(&b);
}

static void room_and_removal(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1000);
    char *to = buf_reserve(&b, 3);
    assert_non_null(to);
    memcpy(to, "xyz", 3);
    b.n += 3;
    buf_adds(&b, "abc");
    assert_text(buf_str(&b), "xyzabc");
    buf_drop_front(&b, 2);
    assert_text(buf_str(&b), "zabc");
    buf_drop_front(&b, 0);
    buf_truncate(&b, 9);
    assert_text(buf_str(&b), "zabc");
    buf_truncate(&b, 1);
    assert_text(buf_str(&b), "z");
    assert_int_equal(b.p[1], '\0');
    buf_drop_front(&b, 99);
    assert_text(buf_str(&b), "");
    buf_release(&b);
    buf_drop_front(&b, 1); /* nothing held at all */
    buf_truncate(&b, 0);
    buf_reset(&b);
}

static void grows(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(100000);
    for (int i = 0; i < 100000; i++)
        buf_addc(&b, (char)('a' + i % 26));
    assert_int_equal(b.n, 100000);
    assert_int_equal(b.failed, BUF_OK);
    assert_true(b.cap <= b.max + 1);
    for (int i = 0; i < 100000; i += 977)
        assert_int_equal(b.p[i], 'a' + i % 26);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends),
        cmocka_unit_test(maximum),
        cmocka_unit_test(zeroed_holds_nothing),
        cmocka_unit_test(huge_maximum),
        cmocka_unit_test(room_and_removal),
        cmocka_unit_test(grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
