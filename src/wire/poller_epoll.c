#include "wire/poller.h"

#ifdef __linux__

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

#define TAG_TIMER UINT64_MAX
#define TAG_WAKE (UINT64_MAX - 1)

struct poller {
    int ep, timer, wake;
    int64_t wakeup_ns;
    int64_t armed_ns;      /* INT64_MAX: not armed */
    int64_t last_empty_ns; /* the last wait that left nothing ready behind returned then */
};

static int watch(struct poller *p, int fd, uint64_t tag)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(p->ep, EPOLL_CTL_ADD, fd, &ev);
}

int poller_new(struct poller **out, int64_t wakeup_ns, struct error *err)
{
    struct poller *p = calloc(1, sizeof *p);
    if (!p)
        return error_no_memory(err);
    p->wakeup_ns = wakeup_ns;
    p->armed_ns = INT64_MAX;
    p->last_empty_ns = clock_mono_ns();
    p->ep = epoll_create1(EPOLL_CLOEXEC);
    p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    p->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (p->ep < 0 || p->timer < 0 || p->wake < 0 || watch(p, p->timer, TAG_TIMER) < 0 ||
        watch(p, p->wake, TAG_WAKE) < 0) {
        error_set_errno(err, errno, "cannot set up the event loop");
        poller_free(p);
        return -1;
    }
    *out = p;
    return 0;
}

void poller_free(struct poller *p)
{
    if (!p)
        return;
    if (p->ep >= 0)
        close(p->ep);
    if (p->timer >= 0)
        close(p->timer);
    if (p->wake >= 0)
        close(p->wake);
    free(p);
}

int poller_set(struct poller *p, int fd, unsigned what, uint64_t tag, struct error *err)
{
    struct epoll_event ev = {.data.u64 = tag};
    if (what == 0) {
        epoll_ctl(p->ep, EPOLL_CTL_DEL, fd, &ev); /* closed descriptors have left by themselves */
        return 0;
    }
    if (what & POLLER_IN)
        ev.events |= EPOLLIN;
    if (what & POLLER_OUT)
        ev.events |= EPOLLOUT;
    if (epoll_ctl(p->ep, EPOLL_CTL_MOD, fd, &ev) == 0)
        return 0;
    if (errno == ENOENT && epoll_ctl(p->ep, EPOLL_CTL_ADD, fd, &ev) == 0)
        return 0;
    return error_set_errno(err, errno, "cannot watch a socket");
}

/* A timer that is too early only costs a wake-up, so it is set anew only when it would be late. */
static int arm(struct poller *p, int64_t deadline_ns, struct error *err)
{
    struct itimerspec at = {0};
    if (deadline_ns >= p->armed_ns)
        return 0;
    if (deadline_ns < 1)
        deadline_ns = 1;
    at.it_value.tv_sec = deadline_ns / NS_PER_S;
    at.it_value.tv_nsec = deadline_ns % NS_PER_S;
    if (timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &at, NULL) < 0)
        return error_set_errno(err, errno, "cannot set the event loop's timer");
    p->armed_ns = deadline_ns;
    return 0;
}

static void drain(int fd)
{
    uint64_t count;
    ssize_t got = read(fd, &count, sizeof count);
    (void)got; /* nothing there is as good */
}

static unsigned what_of(uint32_t events)
{
    unsigned what = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        what |= POLLER_IN;
    if (events & EPOLLOUT)
        what |= POLLER_OUT;
    if (events & EPOLLERR)
        what |= POLLER_ERROR;
    return what;
}

int poller_wait(struct poller *p, int64_t deadline_ns, struct poller_seen *seen, struct error *err)
{
    struct epoll_event ev[POLLER_BATCH];
    int64_t previous = p->last_empty_ns, now;
    int n = epoll_wait(p->ep, ev, POLLER_BATCH, 0);
    seen->n = 0;
    now = clock_mono_ns();
    seen->blocked = false;
    if (n == 0 && deadline_ns > now) {
        /* Nothing was ready: what comes now wakes us, so it came after this, and no longer ago
         * than a wake-up takes. */
        previous = now;
        if (arm(p, deadline_ns, err) < 0)
            return -1;
        n = epoll_wait(p->ep, ev, POLLER_BATCH, -1);
        now = clock_mono_ns();
        seen->blocked = true;
    }
    seen->t_return_ns = now;
    seen->t_floor_ns = seen->t_lower_ns = previous;
    if (seen->blocked && previous < now - p->wakeup_ns)
        seen->t_lower_ns = now - p->wakeup_ns;
    if (n < 0)
        return errno == EINTR ? 0 : error_set_errno(err, errno, "cannot wait for sockets");
    if (n < POLLER_BATCH)
        p->last_empty_ns = now;
    for (int i = 0; i < n; i++) {
        if (ev[i].data.u64 == TAG_TIMER) {
            drain(p->timer);
            p->armed_ns = INT64_MAX;
        } else if (ev[i].data.u64 == TAG_WAKE) {
            drain(p->wake);
        } else {
            seen->events[seen->n++] =
                (struct poller_event){.tag = ev[i].data.u64, .what = what_of(ev[i].events)};
        }
    }
    return 0;
}

void poller_wake(struct poller *p)
{
    uint64_t one = 1;
    ssize_t put = write(p->wake, &one, sizeof one);
    (void)put; /* a full counter wakes as well */
}

#else
typedef int poller_epoll_is_for_linux;
#endif
