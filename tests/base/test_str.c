#include "base/str.h"

#include "../test.h"

static void equality(void **state)
{
    (void)state;
    struct str none = {NULL, 0};
    assert_true(str_eq(none, STR("")));
    assert_true(str_eq(str_of(NULL), none));
    assert_true(str_eq(STR("a\0b"), STR("a\0b")));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_false(str_eq(STR("ab"), STR("abc")));
    assert_true(str_eq_nocase(STR("Content-TYPE"), STR("content-type")));
    assert_false(str_eq_nocase(STR("a"), STR("ab")));
    /* Only ASCII letters fold: '[' and '{' differ by the same bit, and É is not é. */
    assert_false(str_eq_nocase(STR("["), STR("{")));
    assert_false(str_eq_nocase(STR("\xc3\x89"), STR("\xc3\xa9")));
}

static void order(void **state)
{
    (void)state;
    struct str none = {NULL, 0};
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("a"), STR("ab")) < 0);
    assert_true(str_cmp(STR("ab"), STR("a")) > 0);
    assert_int_equal(str_cmp(none, STR("")), 0);
    assert_true(str_cmp(none, STR("a")) < 0);
    assert_true(str_cmp(STR("\x7f"), STR("\x80")) < 0); /* bytes, not signed chars */
}

static void prefixes(void **state)
{
    (void)state;
    assert_true(str_starts(STR("abc"), STR("ab")));
    assert_true(str_starts(STR("abc"), STR("")));
    assert_false(str_starts(STR("ab"), STR("abc")));
    assert_true(str_ends(STR("abc"), STR("bc")));
    assert_true(str_ends((struct str){0}, (struct str){0}));
    assert_false(str_ends(STR("bc"), STR("abc")));
}

static void parts(void **state)
{
    (void)state;
    assert_text(str_skip(STR("abc"), 1), "bc");
    assert_text(str_skip(STR("abc"), 3), "");
    assert_text(str_skip(STR("abc"), 4), "");
    assert_null(str_skip((struct str){0}, 5).p);
    assert_text(str_first(STR("abc"), 2), "ab");
    assert_text(str_first(STR("abc"), 9), "abc");
}

static void searches(void **state)
{
    (void)state;
    assert_int_equal(str_find(STR("abcabd"), STR("abd")), 3);
    assert_int_equal(str_find(STR("aaab"), STR("aab")), 1);
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_int_equal(str_find(STR("abc"), STR("c")), 2);
    assert_int_equal(str_find(STR("abc"), STR("cd")), STR_NONE);
    assert_int_equal(str_find(STR("ab"), STR("abc")), STR_NONE);
    assert_int_equal(str_find((struct str){0}, STR("a")), STR_NONE);
    assert_int_equal(str_find(STR("a\0b"), STR("\0b")), 1);
    assert_int_equal(str_find_char(STR("a\0b"), '\0'), 1);
    assert_int_equal(str_find_char((struct str){0}, 'a'), STR_NONE);
}

static void trimming(void **state)
{
    (void)state;
    assert_text(str_trim(STR(" \t\r\n\v\fab c \n")), "ab c");
    assert_text(str_trim(STR(" \n ")), "");
    assert_text(str_trim((struct str){0}), "");
}

static void cutting(void **state)
{
    (void)state;
    struct str head, rest;
    assert_true(str_cut(STR("a:b:c"), ':', &head, &rest));
    assert_text(head, "a");
    assert_text(rest, "b:c");
    assert_true(str_cut(STR("a:"), ':', &head, &rest));
    assert_text(head, "a");
    assert_text(rest, "");
    assert_false(str_cut(STR("abc"), ':', &head, &rest));
    assert_text(head, "abc");
    assert_text(rest, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality), cmocka_unit_test(order),    cmocka_unit_test(prefixes),
        cmocka_unit_test(parts),    cmocka_unit_test(searches), cmocka_unit_test(trimming),
        cmocka_unit_test(cutting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
