#include "base/clock.h"

#include "../test.h"

/* Instants from GNU date -u -d @N. */
static const struct {
    int64_t ns;
    const char *text;
} instants[] = {
    {0, "1970-01-01T00:00:00.000000Z"},
    {-1, "1969-12-31T23:59:59.999999Z"},
    {INT64_C(951782400000000000), "2000-02-29T00:00:00.000000Z"},
    {INT64_C(1796117400123456000), "2026-12-01T09:30:00.123456Z"},
    {INT64_C(4107542399999999000), "2100-02-28T23:59:59.999999Z"},
    {INT64_C(4107542400000000000), "2100-03-01T00:00:00.000000Z"},
    {INT64_MAX, "2262-04-11T23:47:16.854775Z"},
    {INT64_MIN, "1677-09-21T00:12:43.145224Z"},
};

static void utc_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof instants / sizeof instants[0]; i++) {
        char text[CLOCK_UTC_TEXT];
        clock_format_utc(text, instants[i].ns);
        assert_string_equal(text, instants[i].text);
    }
}

static void utc_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"2026-12-01T09:30:00.123456Z", INT64_C(1796117400123456000)},
        {"2026-12-01T09:30:00", INT64_C(1796117400000000000)},
        {"2026-12-01 09:30:00", INT64_C(1796117400000000000)},
        {"2026-12-01T09:30", INT64_C(1796117400000000000)},
        {"2026-12-01", INT64_C(1796083200000000000)},
        {"2026-12-01T09:30:00.000000001z", INT64_C(1796117400000000001)},
        {"2026-12-01T09:30:00.0000000019", INT64_C(1796117400000000001)},
        {"2000-02-29", INT64_C(951782400000000000)},
        {"1969-12-31T23:59:59", -NS_PER_S},
        {"2016-12-31T23:59:60", INT64_C(1483228800000000000)}, /* a leap second ends the day */
    };
    int64_t ns;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(clock_parse_utc(&ns, str_of(good[i].text)), 0);
        assert_int_equal(ns, good[i].ns);
    }
}

static void utc_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026",
        "2026-12",
        "2026-13-01",
        "2026-00-01",
        "2026-02-29",
        "2100-02-29",
        "2026-04-31",
        "2026-12-01T24:00:00",
        "2026-12-01T09:60:00",
        "2026-12-01T09:30:61",
        "2026-12-01T-0:30:00",
        "2026-12-01T09:30:00.",
        "2026-12-01T09:30:00+01:00",
        "2026-12-01T09:30:00Zx",
        "2026-12-01x",
        "2026-12-01T",
        "26-12-01",
        " 2026-12-01",
        "2263-01-01",
        "1677-01-01",
        "9999-12-31T23:59:59",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ns = 42;
        assert_int_equal(clock_parse_utc(&ns, str_of(bad[i])), -1);
        assert_int_equal(ns, 42);
    }
}

static void clocks_run(void **state)
{
    (void)state;
    int64_t t0 = clock_mono_ns(), cpu0 = clock_thread_cpu_ns();
    int stop = 0;
    clock_sleep_until_ns(t0 + 5 * NS_PER_MS, &stop);
    assert_true(clock_mono_ns() - t0 >= 5 * NS_PER_MS);
    clock_sleep_until_ns(t0, NULL); /* past: at once */
    stop = 1;
    clock_sleep_until_ns(INT64_MAX, &stop);
    assert_true(clock_thread_cpu_ns() >= cpu0);
    assert_true(clock_process_cpu_ns() >= clock_thread_cpu_ns() - NS_PER_MS);
    assert_true(clock_real_ns() > INT64_C(1700000000000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utc_text),
        cmocka_unit_test(utc_parse),
        cmocka_unit_test(utc_refused),
        cmocka_unit_test(clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
