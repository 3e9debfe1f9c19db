/* What the stamps rest on: the map between the clocks, lags, wake-ups, the kernel's receive time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "record/sample.h"
#include "wire/clock_map.h"
#include "wire/http.h"
#include "wire/kernel_time.h"
#include "wire/lag.h"
#include "wire/poller.h"
#include "wire/wakeup.h"

/* --- clocks that tick as told --------------------------------------------------------------- */

struct fake {
    int64_t now_ns, offset_ns;
    const int64_t *ticks; /* what each reading takes; the last goes on */
    size_t n, at;
};

static void tick(struct fake *f)
{
    f->now_ns += f->ticks[f->at];
    if (f->at + 1 < f->n)
        f->at++;
}

static int64_t fake_mono(void *ctx)
{
    struct fake *f = ctx;
    tick(f);
    return f->now_ns;
}

static int64_t fake_real(void *ctx)
{
    struct fake *f = ctx;
    tick(f);
    return f->now_ns + f->offset_ns;
}

static void the_narrowest_sandwich_counts(void **state)
{
    (void)state;
    /* mono, real, mono: the first sandwich is 2000 wide, the second 40, the others 200. */
    static const int64_t ticks[] = {10, 1500, 500, 10, 30, 10, 100};
    struct fake f = {.offset_ns = 5000000, .ticks = ticks, .n = 7};
    struct clock_map m;
    clock_map_init(&m, &(struct clock_pair){fake_mono, fake_real, &f});
    clock_map_look(&m);
    /* The second: real was read 30 after the first mono of 40: the middle is at 20, so the offset
     * comes out 10 too large, within the error of 20. */
    assert_int_equal(m.error_ns, 20);
    assert_int_equal(m.offset_ns, 5000010);
    assert_int_equal(clock_map_to_mono(&m, 5000010 + 77), 77);
    assert_int_equal(m.steps, 0);
}

static void steps_are_found_and_nothing_else(void **state)
{
    (void)state;
    static const int64_t ticks[] = {20};
    struct fake f = {.offset_ns = 1000, .ticks = ticks, .n = 1};
    struct clock_map m;
    clock_map_init(&m, &(struct clock_pair){fake_mono, fake_real, &f});
    clock_map_look(&m); /* offset 1000, error 20 */
    /* Intervals of error 20 each and the slack: a move of 140 may be none, 141 must be one. */
    f.offset_ns = 1000 + 40 + CLOCK_MAP_SLACK_NS;
    clock_map_look(&m);
    assert_int_equal(m.steps, 0);
    f.offset_ns += 40 + CLOCK_MAP_SLACK_NS + 1;
    clock_map_look(&m);
    assert_int_equal(m.steps, 1);
    assert_int_equal(m.largest_step_ns, 141);
    f.offset_ns -= 5000000;
    clock_map_look(&m);
    clock_map_look(&m);
    assert_int_equal(m.steps, 2);
    assert_int_equal(m.largest_step_ns, -5000000);
    assert_int_equal(m.offset_ns, f.offset_ns);
    assert_int_equal(m.looks, 5);
}

static int64_t true_mono(void *ctx)
{
    (void)ctx;
    return clock_mono_ns();
}

static int64_t set_forward(void *ctx)
{
    return clock_real_ns() + *(int64_t *)ctx;
}

/* A band is one mark to report: a clock that is set within it is told of, also when it is set back
 * again; one that was set before it is no matter. */
static void a_step_is_told_by_the_loop(void **state)
{
    (void)state;
    struct error err = {0};
    struct wire_loop *loop;
    struct wire_loop_report r;
    int64_t by = 0;
    const struct clock_pair clocks = {true_mono, set_forward, &by};
    const struct wire_loop_options o = {.wakeup_ns = NS_PER_MS, .clocks = &clocks};
    assert_int_equal(wire_loop_new(&loop, &o, &err), 0);
    by = 5 * NS_PER_S;
    wire_loop_mark(loop);
    wire_loop_report(loop, &r);
    assert_int_equal(r.clock_steps, 0);
    assert_true(r.clock_error_ns >= 0);
    by = 2 * NS_PER_S;
    wire_loop_report(loop, &r);
    assert_int_equal(r.clock_steps, 1);
    /* Three seconds back, as near as two looks can tell. */
    assert_true(r.clock_step_ns + 3 * NS_PER_S < NS_PER_MS &&
                r.clock_step_ns + 3 * NS_PER_S > -NS_PER_MS);
    wire_loop_mark(loop);
    wire_loop_report(loop, &r);
    assert_int_equal(r.clock_steps, 0);
    wire_loop_free(loop);
}

static void the_systems_clocks(void **state)
{
    (void)state;
    struct clock_map m;
    struct clock_state a, b;
    clock_map_init(&m, &clock_pair_system);
    clock_map_look(&m);
    int64_t real = clock_real_ns(), mono = clock_mono_ns();
    int64_t off = clock_map_to_mono(&m, real) - mono;
    assert_true(off > -NS_PER_MS && off < NS_PER_MS);
    assert_true(m.error_ns >= 0 && m.error_ns < NS_PER_MS);
    clock_state_read(&a);
    clock_sleep_until_ns(clock_mono_ns() + 20 * NS_PER_MS, NULL);
    clock_state_read(&b);
#ifdef __linux__
    int64_t ppb = clock_state_slew_ppb(&a, &b);
    /* A container or a bare chroot may have no /sys: then the source is not known. */
    assert_int_equal(a.source[0] != '\0',
                     file_exists("/sys/devices/system/clocksource/clocksource0/"
                                 "current_clocksource"));
    assert_true(ppb != INT64_MIN && ppb > -10000000 && ppb < 10000000); /* 1 %: NTP slews less */
#endif
    assert_true(b.mono_ns > a.mono_ns);
}

static void slew_in_parts_per_billion(void **state)
{
    (void)state;
    struct clock_state a = {.mono_ns = 1000, .raw_ns = 2000};
    struct clock_state b = {.mono_ns = 1000 + 1000100000, .raw_ns = 2000 + 1000000000};
    assert_int_equal(clock_state_slew_ppb(&a, &b), 100000);
    b.raw_ns = INT64_MIN;
    assert_true(clock_state_slew_ppb(&a, &b) == INT64_MIN);
}

/* --- lags ----------------------------------------------------------------------------------- */

static void lags_by_rank(void **state)
{
    (void)state;
    static struct lag lag;
    assert_int_equal(lag_quantile(&lag, 50), COUNT_NONE);
    for (int64_t i = 1; i <= 10; i++)
        lag_add(&lag, i); /* below 32 each value is its own bucket */
    assert_int_equal(lag_quantile(&lag, 50), 5);
    assert_int_equal(lag_quantile(&lag, 99), 10);
    assert_int_equal(lag_quantile(&lag, 1), 1);
    lag_add(&lag, 1000000);
    assert_int_equal(lag_quantile(&lag, 100), 1000000);
    assert_int_equal(lag_quantile(&lag, 50), 6);
    lag_add(&lag, -5);
    assert_int_equal(lag_quantile(&lag, 1), 0);
}

static void lags_are_off_by_a_32nd_at_most(void **state)
{
    (void)state;
    for (int64_t ns = 1; ns < LAG_MAX_NS / 2; ns = ns * 3 + 1) {
        static struct lag lag;
        lag = (struct lag){0};
        lag_add(&lag, ns);
        lag_add(&lag, LAG_MAX_NS); /* so that the maximum does not cap the first */
        int64_t q = lag_quantile(&lag, 50);
        assert_true(q >= ns && q - ns <= ns / LAG_SHARE);
    }
    static struct lag past;
    lag_add(&past, LAG_MAX_NS);
    lag_add(&past, INT64_MAX);
    assert_int_equal(lag_quantile(&past, 100), LAG_MAX_NS);
    assert_int_equal(past.count[LAG_DOUBLINGS][LAG_SHARE - 1], 2);
}

static void a_wake_up_takes_some_time(void **state)
{
    (void)state;
    struct error err = {0};
    int64_t ns = 0;
    assert_int_equal(wakeup_calibrate(&ns, &err), 0);
    assert_true(ns > 0 && ns < NS_PER_S);
#ifdef __linux__
    if (access("/proc/thread-self/schedstat", R_OK) == 0)
        assert_true(thread_run_queue_wait_ns() >= 0);
#endif
}

/* --- sockets -------------------------------------------------------------------------------- */

static void connect_pair(int *client, int *server)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t n = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &n), 0);
    *client = socket(AF_INET, SOCK_STREAM, 0);
    kernel_time_enable(*client);
    assert_int_equal(connect(*client, (struct sockaddr *)&a, sizeof a), 0);
    *server = accept(listener, NULL, NULL);
    assert_true(*server >= 0);
    close(listener);
}

#ifdef __linux__
/* Two segments wait; a look gives the time of the second. True when that came out tight: the kernel
 * may take a segment up late on a busy machine. */
static bool look_at_two(int client, int server)
{
    struct clock_map m;
    char got[64];
    size_t waiting = 0;
    int64_t real_ns = 0, before, after, mono;
    assert_int_equal(kernel_time_peek(client, 16384, &waiting, &real_ns), -1); /* nothing waits */
    assert_int_equal(write(server, "first", 5), 5);
    clock_sleep_until_ns(clock_mono_ns() + 20 * NS_PER_MS, NULL);
    before = clock_mono_ns();
    assert_int_equal(write(server, "second", 6), 6);
    after = clock_mono_ns();
    clock_sleep_until_ns(clock_mono_ns() + 20 * NS_PER_MS, NULL);
    clock_map_init(&m, &clock_pair_system);
    clock_map_look(&m);
    assert_int_equal(kernel_time_peek(client, 16384, &waiting, &real_ns), 0);
    assert_int_equal(waiting, 11);
    mono = clock_map_to_mono(&m, real_ns);
    assert_true(mono >= before - NS_PER_US - m.error_ns && mono <= clock_mono_ns());
    /* A look takes nothing, and does not look further than it is told. */
    assert_int_equal(kernel_time_peek(client, 4, &waiting, &real_ns), 0);
    assert_int_equal(waiting, 4);
    assert_int_equal(read(client, got, sizeof got), 11);
    assert_memory_equal(got, "firstsecond", 11);
    return mono <= after + 100 * NS_PER_US;
}
#endif

static void the_kernels_time_is_the_last_bytes(void **state)
{
    (void)state;
#ifdef __linux__
    int client, server, tries = 0;
    size_t waiting = 0;
    int64_t real_ns = 0;
    connect_pair(&client, &server);
    while (!look_at_two(client, server))
        assert_true(++tries < 20);
    close(server);
    assert_int_equal(kernel_time_peek(client, 16384, &waiting, &real_ns), -1);
    close(client);
#else
    skip();
#endif
}

static void lower_bounds_of_waits(void **state)
{
    (void)state;
    struct poller *p;
    struct poller_seen seen;
    struct error err = {0};
    int client, server;
    int64_t wakeup = 200 * NS_PER_US, t0, t1;
    connect_pair(&client, &server);
    assert_int_equal(poller_new(&p, wakeup, &err), 0);
    assert_int_equal(poller_set(p, client, POLLER_IN, 7, &err), 0);
    /* Nothing there: the wait blocks until its deadline, not before. */
    t0 = clock_mono_ns();
    assert_int_equal(poller_wait(p, t0 + 10 * NS_PER_MS, &seen, &err), 0);
    assert_int_equal(seen.n, 0);
    assert_true(seen.blocked && seen.t_return_ns >= t0 + 10 * NS_PER_MS);
    t1 = seen.t_return_ns;
    /* Ready at once: it came after the last wait returned. */
    assert_int_equal(write(server, "x", 1), 1);
    clock_sleep_until_ns(clock_mono_ns() + 5 * NS_PER_MS, NULL);
    assert_int_equal(poller_wait(p, INT64_MAX, &seen, &err), 0);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.events[0].tag, 7);
    assert_int_equal(seen.events[0].what, POLLER_IN);
    assert_false(seen.blocked);
    assert_int_equal(seen.t_lower_ns, t1);
    /* Level-triggered: still there. */
    t1 = seen.t_return_ns;
    assert_int_equal(poller_wait(p, INT64_MAX, &seen, &err), 0);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.t_lower_ns, t1);
    assert_int_equal(poller_set(p, client, 0, 7, &err), 0);
    assert_int_equal(poller_wait(p, clock_mono_ns() + NS_PER_MS, &seen, &err), 0);
    assert_int_equal(seen.n, 0);
    poller_free(p);
    close(client);
    close(server);
}

static void what_a_full_batch_leaves_behind(void **state)
{
    (void)state;
    enum { PAIRS = POLLER_BATCH + 3 };
    static int client[PAIRS], server[PAIRS];
    struct poller *p;
    struct poller_seen seen;
    struct error err = {0};
    int64_t first;
    assert_int_equal(poller_new(&p, NS_PER_US, &err), 0);
    for (size_t i = 0; i < PAIRS; i++) {
        connect_pair(&client[i], &server[i]);
        assert_int_equal(poller_set(p, client[i], POLLER_IN, i, &err), 0);
    }
    assert_int_equal(poller_wait(p, clock_mono_ns(), &seen, &err), 0);
    assert_int_equal(seen.n, 0);
    first = seen.t_return_ns;
    for (size_t i = 0; i < PAIRS; i++)
        assert_int_equal(write(server[i], "x", 1), 1);
    clock_sleep_until_ns(clock_mono_ns() + 5 * NS_PER_MS, NULL);
    assert_int_equal(poller_wait(p, INT64_MAX, &seen, &err), 0);
    assert_int_equal(seen.n, POLLER_BATCH);
    /* The rest was ready then already: the bound must not move up past it. */
    assert_int_equal(poller_wait(p, INT64_MAX, &seen, &err), 0);
    assert_true(seen.n > 0);
    assert_int_equal(seen.t_lower_ns, first);
    for (size_t i = 0; i < PAIRS; i++) {
        close(client[i]);
        close(server[i]);
    }
    poller_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_narrowest_sandwich_counts),
        cmocka_unit_test(steps_are_found_and_nothing_else),
        cmocka_unit_test(a_step_is_told_by_the_loop),
        cmocka_unit_test(the_systems_clocks),
        cmocka_unit_test(slew_in_parts_per_billion),
        cmocka_unit_test(lags_by_rank),
        cmocka_unit_test(lags_are_off_by_a_32nd_at_most),
        cmocka_unit_test(a_wake_up_takes_some_time),
        cmocka_unit_test(the_kernels_time_is_the_last_bytes),
        cmocka_unit_test(lower_bounds_of_waits),
        cmocka_unit_test(what_a_full_batch_leaves_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
