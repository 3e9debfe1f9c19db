/* Commands end, fail, hang, print, and leave things behind. */
#include "base/command.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/num.h"

#define LONG (60 * NS_PER_S)

static struct command_result r;

static int set_up(void **state)
{
    (void)state;
    buf_init(&r.output, COMMAND_OUTPUT_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_release(&r.output);
    return 0;
}

static void run(const char *line, int64_t timeout_ns, const volatile sig_atomic_t *stop)
{
    static const char *const more[] = {"TALLY_TEST_WORD=two words", "HOME=/nowhere", NULL};
    struct error err = {0};
    if (command_run(&r, line, more, timeout_ns, stop, &err) < 0)
        fail_msg("%s", err.message);
}

static void how_they_end(void **state)
{
    (void)state;
    run("exit 0", LONG, NULL);
    assert_false(command_failed(&r));
    assert_true(r.took_ns > 0 && r.exit_code == 0 && r.signal == 0);
    run("exit 7", LONG, NULL);
    assert_true(command_failed(&r) && r.exit_code == 7);
    run("/no/such/program", LONG, NULL);
    assert_int_equal(r.exit_code, 127); /* POSIX, 2.8.2: command not found */
    run("kill -9 $$", LONG, NULL);
    assert_true(command_failed(&r) && r.exit_code == -1 && r.signal == SIGKILL);
}

static void what_they_see_and_print(void **state)
{
    (void)state;
    run("echo \"$TALLY_TEST_WORD\"; echo $HOME >&2; cat", LONG, NULL); /* cat: nothing to read */
    assert_true(str_eq(buf_str(&r.output), STR("two words\n/nowhere\n")));
    /* Only the last of it is kept: 5,000 lines of five bytes. */
    run("i=0; while [ $i -lt 5000 ]; do echo line; i=$((i+1)); done; echo end", LONG, NULL);
    assert_int_equal(r.output.n, COMMAND_OUTPUT_MAX);
    assert_true(str_ends(buf_str(&r.output), STR("line\nend\n")));
    run("true", LONG, NULL);
    assert_int_equal(r.output.n, 0);
}

static void they_are_bounded(void **state)
{
    (void)state;
    int64_t began_ns = clock_mono_ns();
    run("echo begun; sleep 600", NS_PER_S / 5, NULL);
    assert_true(r.timed_out && command_failed(&r));
    assert_int_equal(r.signal, SIGTERM);
    assert_true(str_eq(buf_str(&r.output), STR("begun\n")));
    /* One that does not listen is killed. */
    run("trap '' TERM; while :; do sleep 1; done", NS_PER_S / 5, NULL);
    assert_true(r.timed_out);
    assert_int_equal(r.signal, SIGKILL);
    assert_true(r.took_ns >= COMMAND_GRACE_NS);
    assert_true(clock_mono_ns() - began_ns < LONG);
    volatile sig_atomic_t stop = 1;
    run("sleep 600", LONG, &stop);
    assert_true(r.stopped && !r.timed_out && command_failed(&r));
}

static int64_t number_printed(void)
{
    int64_t pid = 0;
    assert_int_equal(num_parse_i64(&pid, str_trim(buf_str(&r.output))), 0);
    return pid;
}

static bool is_there(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

static void what_is_left_behind(void **state)
{
    (void)state;
    /* A server that is started in the background outlives the command... */
    run("sleep 600 & echo $!", LONG, NULL);
    int64_t pid = number_printed();
    assert_false(command_failed(&r));
    assert_true(is_there(pid));
    assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
    /* ...but not one that had to be ended. */
    run("sleep 600 & echo $!; wait", NS_PER_S / 5, NULL);
    pid = number_printed();
    for (int i = 0; i < 500 && is_there(pid); i++)
        clock_sleep_until_ns(clock_mono_ns() + 10 * NS_PER_MS, NULL);
    /* A zombie may wait for its new parent where that is slow: it runs no more. */
    if (is_there(pid)) {
        char path[64], state_of = 'Z';
        snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
        FILE *f = fopen(path, "re");
        if (f) {
            assert_int_equal(fscanf(f, "%*d %*s %c", &state_of), 1);
            fclose(f);
        }
        assert_int_equal(state_of, 'Z');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_they_end),
        cmocka_unit_test(what_they_see_and_print),
        cmocka_unit_test(they_are_bounded),
        cmocka_unit_test(what_is_left_behind),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
