/* Two columns by hand: what is cut where, what is marked how, and what is coloured. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/side_by_side.h"

#define N(array) (sizeof(array) / sizeof *(array))

/* Columns of (width - 4 - 3) / 2. */
static void expect(int width, bool colour, const struct side_stretch *s, size_t n, const char *want)
{
    const struct term term = {.tty = colour, .colour = colour, .width = width};
    struct error err = {0};
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    assert_non_null(f);
    assert_int_equal(side_by_side(f, &term, "a", "b", s, n, &err), 0);
    fclose(f);
    assert_string_equal(text, want);
    free(text);
}

static void marks(void **state)
{
    (void)state;
    const struct side_stretch s[] = {
        {STR("same\n"), STR("same\n"), true},
        {STR(""), STR("only right"), false},
        {STR("only left"), STR(""), false},
        {STR("x"), STR("yy"), false},
    };
    expect(31, false, s, N(s),
           "    a              b\n"
           "    same\\n         same\\n\n"
           "                 > only right\n"
           "    only left    <\n"
           "    x            | yy\n");
}

/* 12 columns: wide characters take two, combining marks none, and no row is wider. */
static void wide(void **state)
{
    (void)state;
    const struct side_stretch s[] = {
        {STR("a\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c\xe4\xbd\xa0\xe5\xa5\xbd"),
         STR("e\xcc\x81"
             "23456789012"),
         false},
    };
    expect(31, false, s, N(s),
           "    a              b\n"
           "    a\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c\xe4\xbd\xa0  | e\xcc\x81"
           "23456789012\n"
           "    \xe5\xa5\xbd           <\n");
}

static void escapes(void **state)
{
    (void)state;
    const struct side_stretch s[] = {{STR("\x1b[31m\t\xff\xc2\x9b"), STR("\n\n"), false}};
    /* an escape is one character of a row: it is cut before, not within */
    expect(31, false, s, N(s),
           "    a              b\n"
           "    \\x1b[31m\\t   | \\n\n"
           "    \\xff\\xc2\\x9b | \\n\n");
}

static void colours(void **state)
{
    (void)state;
    const struct side_stretch s[] = {{STR("s"), STR("s"), true}, {STR("l"), STR("r"), false}};
    const struct term term = {.tty = true, .colour = true, .width = 31};
    char want[256];
    snprintf(want, sizeof want,
             "    %sa           %s   %sb%s\n"
             "    s              s\n"
             "    %sl%s            | %sr%s\n",
             term_on(&term, TERM_BOLD), term_off(&term), term_on(&term, TERM_BOLD), term_off(&term),
             term_on(&term, TERM_ERROR), term_off(&term), term_on(&term, TERM_GOOD),
             term_off(&term));
    expect(31, true, s, N(s), want);
}

/* What is the same is shown up to SIDE_SAME_ROWS rows; what differs is shown whole. */
static void long_stretches(void **state)
{
    (void)state;
    const struct str six = STR("1\n2\n3\n4\n5\n6\n"), seven = STR("1\n2\n3\n4\n5\n6\n7\n");
    const struct side_stretch at[] = {{six, six, true}}, over[] = {{seven, seven, true}},
                              differs[] = {{STR(""), seven, false}};
    expect(31, false, at, 1,
           "    a              b\n"
           "    1\\n            1\\n\n    2\\n            2\\n\n    3\\n            3\\n\n"
           "    4\\n            4\\n\n    5\\n            5\\n\n    6\\n            6\\n\n");
    expect(31, false, over, 1,
           "    a              b\n"
           "    1\\n            1\\n\n    2\\n            2\\n\n    3\\n            3\\n\n"
           "    (1 row the same)\n"
           "    5\\n            5\\n\n    6\\n            6\\n\n    7\\n            7\\n\n");
    expect(31, false, differs, 1,
           "    a              b\n"
           "                 > 1\\n\n                 > 2\\n\n                 > 3\\n\n"
           "                 > 4\\n\n                 > 5\\n\n                 > 6\\n\n"
           "                 > 7\\n\n");
}

/* However narrow the terminal, a column keeps 12. */
static void narrow(void **state)
{
    (void)state;
    const struct side_stretch s[] = {{STR("123456789012x"), STR(""), false}};
    expect(1, false, s, 1,
           "    a              b\n"
           "    123456789012 <\n"
           "    x            <\n");
    expect(0, false, NULL, 0, "    a              b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks),   cmocka_unit_test(wide),           cmocka_unit_test(escapes),
        cmocka_unit_test(colours), cmocka_unit_test(long_stretches), cmocka_unit_test(narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
