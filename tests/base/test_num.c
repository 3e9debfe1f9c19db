#include "base/num.h"

#include <math.h>

#include "../test.h"
#include "repr_table.h"

static void integers(void **state)
{
    (void)state;
    int64_t i = 42;
    uint64_t u = 42;
    assert_int_equal(num_parse_i64(&i, STR("9223372036854775807")), 0);
    assert_true(i == INT64_MAX);
    assert_int_equal(num_parse_i64(&i, STR("-9223372036854775808")), 0);
    assert_true(i == INT64_MIN);
    assert_int_equal(num_parse_u64(&u, STR("18446744073709551615")), 0);
    assert_true(u == UINT64_MAX);
    assert_int_equal(num_parse_i64(&i, STR("-0")), 0);
    assert_int_equal(i, 0);
    assert_int_equal(num_parse_i64(&i, STR("007")), 0);
    assert_int_equal(i, 7);
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x10",
                                      "--1",
                                      "1_000",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        i = 42;
        assert_int_equal(num_parse_i64(&i, str_of(bad[k])), -1);
        assert_int_equal(i, 42);
    }
    u = 42;
    assert_int_equal(num_parse_u64(&u, STR("18446744073709551616")), -1);
    assert_int_equal(num_parse_u64(&u, STR("-1")), -1);
    assert_int_equal(num_parse_u64(&u, STR("1\0")), -1);
    assert_int_equal(u, 42);
}

static void reals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double v;
    } good[] = {
        {"0", 0.0},
        {"-0", -0.0},
        {"1.5", 1.5},
        {"-2.5e-3", -0.0025},
        {"1E+2", 100.0},
        {"0.1", 0.1},
        {"5e-324", 5e-324},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"1e-400", 0.0},
        {"0e999", 0.0},
        {"9007199254740993", 9007199254740992.0}, /* half to even */
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double v = 42;
        assert_int_equal(num_parse_double(&v, str_of(good[i].text)), 0);
        assert_memory_equal(&v, &good[i].v, sizeof v); /* the sign of zero counts */
    }
    static const char *const bad[] = {"",      "-",     ".5",  "5.",    "01",     "-01",     "1e",
                                      "1e+",   "+1",    "nan", "inf",   "0x1p3",  "1 ",      " 1",
                                      "1.5.2", "1e5.5", "1,5", "1e400", "-1e400", "Infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double v = 42;
        assert_int_equal(num_parse_double(&v, str_of(bad[i])), -1);
        assert_true(v == 42);
    }
}

static void longest_real(void **state)
{
    (void)state;
    char text[NUM_DOUBLE_TEXT_MAX + 1];
    double v = 42;
    memset(text, '1', sizeof text);
    memcpy(text, "0.", 2);
    assert_int_equal(num_parse_double(&v, str_make(text, NUM_DOUBLE_TEXT_MAX)), 0); /* at it */
    assert_true(v == 1.0 / 9);
    assert_int_equal(num_parse_double(&v, str_make(text, sizeof text)), -1); /* one over */
}

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"7ns", 7},
        {"20us", 20000},
        {"250ms", 250000000},
        {"60s", 60000000000},
        {"1.5s", 1500000000},
        {"30min", 1800000000000},
        {"30m", 1800000000000},
        {"1h", 3600000000000},
        {"0", 0},
        {"0.0", 0},
        {"0s", 0},
        {"0.000000001s", 1},
        {"0.5us", 500},
        {"1.25min", 75000000000},
        {"0.001us", 1},
        {"1.000000001h", 3600000003600},
        {"9223372036854775807ns", INT64_MAX},
        {"2562047h", INT64_C(9223369200000000000)},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t ns = -1;
        assert_int_equal(num_parse_duration_ns(&ns, str_of(good[i].text)), 0);
        assert_int_equal(ns, good[i].ns);
    }
    static const char *const bad[] = {"",
                                      "5",
                                      "s",
                                      "-1s",
                                      "1.s",
                                      ".5s",
                                      "1 s",
                                      "1S",
                                      "1sec",
                                      "1e3s",
                                      "1.5",
                                      "1.5ns",
                                      "0.0001us",
                                      "0.0000000001s", /* ten digits */
                                      "9223372036854775808ns",
                                      "2562048h",
                                      "99999999999999999999s",
                                      "1s ",
                                      "1s1ms"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ns = -1;
        assert_int_equal(num_parse_duration_ns(&ns, str_of(bad[i])), -1);
        assert_int_equal(ns, -1);
    }
}

static void milliseconds(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0.000000"},
        {1, "0.000001"},
        {-1, "-0.000001"},
        {1234567, "1.234567"},
        {-1000000, "-1.000000"},
        {999999, "0.999999"},
        {INT64_MAX, "9223372036854.775807"},
        {INT64_MIN, "-9223372036854.775808"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = BUF_INIT(100);
        num_add_ms(&b, cases[i].ns);
        assert_text(buf_str(&b), cases[i].text);
        buf_release(&b);
    }
}

/* Nine significant digits of the exact binary value, half to even: Python's decimal module with
 * prec=9 and ROUND_HALF_EVEN gives these. The first four are exact ties. */
static void nine_digits(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {12345678.25, "12345678.2"},
        {12345678.75, "12345678.8"},
        {100000000.5, "100000000"},
        {100000001.5, "100000002"},
        {999999999.5, "1e+09"},
        {123456789.5, "123456790"},
        {1.0 / 3, "0.333333333"},
        {2.0 / 3, "0.666666667"},
        {0.1, "0.1"},
        {1.0, "1"},
        {1e15, "1e+15"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {-2.5e-7, "-2.5e-07"},
        {-0.0, "0"},
        {5e-324, "4.94065646e-324"},
        {0x1.fffffffffffffp1023, "1.79769313e+308"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = BUF_INIT(100);
        num_add_real9(&b, cases[i].v);
        assert_text(buf_str(&b), cases[i].text);
        assert_true(num_is_json(buf_str(&b)));
        buf_release(&b);
    }
}

static void python_repr(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(100);
    for (size_t i = 0; i < sizeof repr_table / sizeof repr_table[0]; i++) {
        double v;
        memcpy(&v, &repr_table[i].bits, sizeof v);
        buf_reset(&b);
        num_add_repr(&b, v);
        assert_text(buf_str(&b), repr_table[i].text);
    }
    buf_reset(&b);
    num_add_repr(&b, (double)INFINITY);
    num_add_repr(&b, -(double)INFINITY);
    num_add_repr(&b, (double)NAN);
    num_add_repr(&b, -(double)NAN);
    assert_text(buf_str(&b), "inf-infnannan");
    buf_release(&b);
}

static void grouped(void **state)
{
    (void)state;
    static const struct {
        int64_t v;
        const char *text;
    } cases[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {12345678, "12,345,678"},
        {-999, "-999"},
        {-1000, "-1,000"},
        {-123456, "-123,456"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = BUF_INIT(100);
        num_add_grouped(&b, cases[i].v);
        assert_text(buf_str(&b), cases[i].text);
        buf_release(&b);
    }
}

static void ms_reads_back_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"0.000000", 0},
                {"-0.000001", -1},
                {"1.234567", 1234567},
                {"9223372036854.775807", INT64_MAX},
                {"-9223372036854.775808", INT64_MIN}};
    static const char *const bad[] = {"",          "1",         "1.0",       "1.2345678",
                                      "01.000000", "+1.000000", "-0.000000", "1.00000e1",
                                      ".000001",   "1.-00001",  " 1.000000", "9223372036854.775808",
                                      "1.000000 "};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t ns = 7;
        assert_int_equal(num_parse_ms(&ns, str_of(good[i].text)), 0);
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ns = 7;
        assert_int_equal(num_parse_ms(&ns, str_of(bad[i])), -1);
        assert_int_equal(ns, 7);
    }
}

static void thousandths(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t v;
    } good[] = {{"0", 0},       {"2", 2000},      {"2.5", 2500},
                {"0.125", 125}, {"007.10", 7100}, {"9223372036854775.807", INT64_MAX}};
    static const char *const bad[] = {"",
                                      ".5",
                                      "2.",
                                      "2.1234",
                                      "-1",
                                      "+1",
                                      "1e3",
                                      "1..2",
                                      "1.2.3",
                                      "0x1",
                                      " 1",
                                      "9223372036854775.808",
                                      "9223372036854776"};
    int64_t v = 7;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(num_parse_milli(&v, str_of(good[i].text)), 0);
        assert_int_equal(v, good[i].v);
    }
    v = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(num_parse_milli(&v, str_of(bad[i])), -1);
        assert_int_equal(v, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ms_reads_back_exactly),
        cmocka_unit_test(integers),
        cmocka_unit_test(reals),
        cmocka_unit_test(longest_real),
        cmocka_unit_test(durations),
        cmocka_unit_test(milliseconds),
        cmocka_unit_test(thousandths),
        cmocka_unit_test(nine_digits),
        cmocka_unit_test(python_repr),
        cmocka_unit_test(grouped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
