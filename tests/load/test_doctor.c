/*
 * What doctor says of machines: made of files below a root of our own, level by level, and tried
 * out on this one where only the shape is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "load/doctor.h"

static char root[64];

static void put(const char *path, const char *text)
{
    struct error err = {0};
    struct buf whole = BUF_INIT(FILE_PATH_MAX);
    buf_addf(&whole, "%s%s", root, path);
    *strrchr(whole.p, '/') = '\0';
    assert_int_equal(dir_make(whole.p, &err), 0);
    whole.p[strlen(whole.p)] = '/';
    assert_int_equal(file_write_atomic(whole.p, str_of(text), &err), 0);
    buf_release(&whole);
}

static const struct doctor_finding *find(const struct doctor *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->finding[i].name, name) == 0)
            return &d->finding[i];
    return NULL;
}

/* A finding that is not OK says why and what to do; one that is has nothing to say. */
static void check_words(const struct doctor *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct doctor_finding *f = &d->finding[i];
        assert_true(f->seen[0]);
        assert_int_equal(f->why[0] != '\0', f->level != DOCTOR_OK);
        assert_int_equal(f->remedy[0] != '\0', f->level != DOCTOR_OK);
    }
}

#define GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
#define NO_TURBO "/sys/devices/system/cpu/intel_pstate/no_turbo"
#define BOOST "/sys/devices/system/cpu/cpufreq/boost"
#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define RANGE "/proc/sys/net/ipv4/ip_local_port_range"
#define SOCKETS "/proc/net/sockstat"
#define GROUP "/sys/fs/cgroup/cpu.max"

static void levels(void **state)
{
    static const struct {
        const char *path, *text, *name;
        enum doctor_level level;
        const char *seen; /* a part of it */
    } cases[] = {
        {GOVERNOR, "performance\n", "governor", DOCTOR_OK, "performance"},
        {GOVERNOR, "powersave\n", "governor", DOCTOR_SPOILS, "powersave"},
        {NO_TURBO, "1\n", "turbo", DOCTOR_OK, "off"},
        {NO_TURBO, "0\n", "turbo", DOCTOR_NOTE, "on"},
        {BOOST, "0\n", "turbo", DOCTOR_OK, "off"},
        {BOOST, "1\n", "turbo", DOCTOR_NOTE, "on"},
        {"/proc/loadavg", "0.00 0.00 0.00 1/100 1\n", "load", DOCTOR_OK, "0.00"},
        {"/proc/loadavg", "9999.00 0.00 0.00 1/100 1\n", "load", DOCTOR_SPOILS, "9999.00"},
        {"/proc/pressure/cpu", "some avg10=9.99 avg60=50.00 avg300=1 total=1\n", "pressure",
         DOCTOR_OK, "10 %"},
        {"/proc/pressure/cpu", "some avg10=10.00 avg60=0.00 avg300=1 total=1\n", "pressure",
         DOCTOR_SPOILS, "10 %"},
        {"/proc/pressure/cpu", "full avg10=90.00\nsome avg10=1.00\n", "pressure", DOCTOR_OK, "1 %"},
        /* 1 of 100, and a little less */
        {"/proc/stat", "cpu  40 0 19 40 0 0 0 1 0 0\ncpu0 1\n", "steal", DOCTOR_SPOILS, "1.00 %"},
        {"/proc/stat", "cpu  400 0 190 401 0 0 0 9 0 0\n", "steal", DOCTOR_OK, "0.90 %"},
        {SOURCE, "tsc\n", "clock_source", DOCTOR_OK, "tsc"},
        {SOURCE, "hpet\n", "clock_source", DOCTOR_SPOILS, "hpet"},
        {SOURCE, "acpi_pm\n", "clock_source", DOCTOR_SPOILS, "acpi_pm"},
        {RANGE, "32768\t60999\n", "ports", DOCTOR_OK, "28232 of 28232"},
        {RANGE, "40000\t41999\n", "ports", DOCTOR_OK, "2000 of 2000"},
        {RANGE, "40000\t41998\n", "ports", DOCTOR_SPOILS, "1999 of 1999"},
        {GROUP, "max 100000\n", "cpu_limit", DOCTOR_OK, "none"},
        {GROUP, "150000 100000\n", "cpu_limit", DOCTOR_SPOILS, "1.50 processors"},
        {GROUP, "400000 100000\n", "cpu_limit", DOCTOR_NOTE, "4.00 processors"},
        {"/proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    524288 kB\n", "memory", DOCTOR_OK,
         "536 MB"},
        {"/proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    524287 kB\n", "memory",
         DOCTOR_SPOILS, "536 MB"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct doctor d = {0};
        put("/proc/self/cgroup", "0::/\n");
        put(cases[i].path, cases[i].text);
        doctor_read(&d, root);
        const struct doctor_finding *f = find(&d, cases[i].name);
        if (!f || f->level != cases[i].level || !strstr(f->seen, cases[i].seen))
            fail_msg("%s with \"%s\": %s, \"%s\"", cases[i].name, cases[i].text,
                     f ? doctor_level_name(f->level) : "nothing", f ? f->seen : "");
        check_words(&d);
        struct buf path = BUF_INIT(FILE_PATH_MAX);
        buf_addf(&path, "%s%s", root, cases[i].path);
        assert_int_equal(unlink(path.p), 0);
        buf_release(&path);
    }
}

/* Ports that are in use, or wait to be free again, are not free. */
static void ports_in_use(void **state)
{
    struct doctor d = {0};
    (void)state;
    put(RANGE, "40000\t44999\n");
    put(SOCKETS, "sockets: used 9\nTCP: inuse 7 orphan 0 tw 2993 alloc 1 mem 1\nUDP: inuse 5\n");
    doctor_read(&d, root);
    assert_int_equal(find(&d, "ports")->level, DOCTOR_OK);
    assert_non_null(strstr(find(&d, "ports")->seen, "2000 of 5000"));
    put(SOCKETS, "TCP: inuse 7 orphan 0 tw 9999 alloc 1 mem 1\n");
    d.n = 0;
    doctor_read(&d, root);
    assert_int_equal(find(&d, "ports")->level, DOCTOR_SPOILS);
    assert_non_null(strstr(find(&d, "ports")->seen, "0 of 5000"));
}

/* Where nothing can be read, nothing is claimed. */
static void nothing_to_read(void **state)
{
    struct doctor d = {0};
    (void)state;
    doctor_read(&d, "/nowhere/at/all");
    check_words(&d);
    assert_int_equal(find(&d, "governor")->level, DOCTOR_UNKNOWN);
    assert_int_equal(find(&d, "turbo")->level, DOCTOR_UNKNOWN);
    assert_int_equal(find(&d, "load")->level, DOCTOR_UNKNOWN);
    assert_int_equal(find(&d, "clock_source")->level, DOCTOR_UNKNOWN);
    assert_null(find(&d, "ports"));
    assert_null(find(&d, "pressure"));
}

/* Files of nonsense make no finding and no crash. */
static void nonsense(void **state)
{
    static const char *const paths[] = {
        GOVERNOR, NO_TURBO, "/proc/loadavg", "/proc/stat",    SOURCE,
        RANGE,    SOCKETS,  GROUP,           "/proc/meminfo", "/proc/pressure/cpu"};
    static const char *const texts[] = {
        "",   "\n",         "cpu ",          "cpu  x y", "some avg10=", "=",
        "\t", "TCP: inuse", "MemAvailable:", "-1 -1",    "1 0",         "99999999999999999999 1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct doctor d = {0};
        for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
            put(paths[k], texts[i]);
        doctor_read(&d, root);
        check_words(&d);
        assert_true(d.n < DOCTOR_FINDINGS_MAX);
    }
}

static void tried_here(void **state)
{
    struct doctor d = {0};
    (void)state;
    doctor_try(&d, root);
    check_words(&d);
    assert_non_null(find(&d, "kernel_time"));
    assert_non_null(find(&d, "clock_read"));
    assert_non_null(find(&d, "wakeup"));
    assert_non_null(strstr(find(&d, "fsync")->seen, "ms to write and sync a page"));
#ifdef __linux__
    assert_non_null(strstr(find(&d, "kernel_time")->seen, "stamp"));
#endif
    /* It leaves nothing behind. */
    assert_true(dir_is_free(root));
    d.n = 0;
    doctor_try(&d, "/nowhere/at/all");
    assert_int_equal(find(&d, "disk")->level, DOCTOR_SPOILS);
    assert_null(find(&d, "fsync"));
    check_words(&d);
}

static int new_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/tally-test-doctor-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels, new_root, drop_root),
        cmocka_unit_test_setup_teardown(ports_in_use, new_root, drop_root),
        cmocka_unit_test(nothing_to_read),
        cmocka_unit_test_setup_teardown(nonsense, new_root, drop_root),
        cmocka_unit_test_setup_teardown(tried_here, new_root, drop_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
