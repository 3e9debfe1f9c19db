#include "wire/wakeup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "wire/poller.h"

#define PAUSE_NS (150 * NS_PER_US)

struct waker {
    struct poller *poller;
    atomic_int round; /* the round the waiter is ready for */
    _Atomic int64_t woke_ns;
};

static void *wake_each_round(void *arg)
{
    struct waker *w = arg;
    for (int i = 1; i <= WAKEUP_ROUNDS; i++) {
        while (atomic_load(&w->round) < i)
            clock_sleep_until_ns(clock_mono_ns() + PAUSE_NS / 4, NULL);
        /* The waiter is about to block; give it the time to. */
        clock_sleep_until_ns(clock_mono_ns() + PAUSE_NS, NULL);
        atomic_store(&w->woke_ns, clock_mono_ns());
        poller_wake(w->poller);
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int wakeup_calibrate(int64_t *wakeup_ns, struct error *err)
{
    struct waker w = {0};
    struct poller_seen seen;
    int64_t delay[WAKEUP_ROUNDS];
    pthread_t thread;
    int status = 0;
    if (poller_new(&w.poller, 0, err) < 0)
        return -1;
    if (pthread_create(&thread, NULL, wake_each_round, &w) != 0) {
        poller_free(w.poller);
        return error_set(err, ERROR_ENVIRONMENT, "cannot start a thread");
    }
    for (int i = 1; i <= WAKEUP_ROUNDS; i++) {
        atomic_store(&w.round, i);
        if (poller_wait(w.poller, clock_mono_ns() + NS_PER_S, &seen, err) < 0)
            status = -1;
        delay[i - 1] = seen.t_return_ns - atomic_load(&w.woke_ns);
    }
    pthread_join(thread, NULL);
    poller_free(w.poller);
    if (status < 0)
        return -1;
    qsort(delay, WAKEUP_ROUNDS, sizeof delay[0], by_size);
    *wakeup_ns = delay[WAKEUP_RANK - 1] > 0 ? delay[WAKEUP_RANK - 1] : 1;
    return 0;
}

#ifdef __linux__

int64_t thread_run_queue_wait_ns(void)
{
    unsigned long long ran, waited;
    FILE *f = fopen("/proc/thread-self/schedstat", "re");
    int got;
    if (!f)
        return INT64_MIN;
    got = fscanf(f, "%llu %llu", &ran, &waited);
    fclose(f);
    return got == 2 && waited <= INT64_MAX ? (int64_t)waited : INT64_MIN;
}

#else

int64_t thread_run_queue_wait_ns(void)
{
    return INT64_MIN;
}

#endif
