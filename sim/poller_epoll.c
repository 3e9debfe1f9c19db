#include "poller.h"

#if defined(__linux__) && !defined(TALLY_SIM_POLL)

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

#define TAG_TIMER UINT64_MAX

struct poller {
    int ep, timer;
    int64_t armed_ns; /* INT64_MAX: not armed */
};

int poller_new(struct poller **out, struct error *err)
{
    /* edge-triggered: the timer is set anew, never read */
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = TAG_TIMER};
    struct poller *p = calloc(1, sizeof *p);
    if (!p)
        return error_no_memory(err);
    p->armed_ns = INT64_MAX;
    p->ep = epoll_create1(EPOLL_CLOEXEC);
    p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (p->ep < 0 || p->timer < 0 || epoll_ctl(p->ep, EPOLL_CTL_ADD, p->timer, &ev) < 0) {
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
    free(p);
}

int poller_set(struct poller *p, int fd, unsigned what, uint64_t tag, struct error *err)
{
    struct epoll_event ev = {.data.u64 = tag};
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

void poller_remove(struct poller *p, int fd)
{
    struct epoll_event ev = {0};
    epoll_ctl(p->ep, EPOLL_CTL_DEL, fd, &ev);
}

/* A timer that is too early only costs a wake-up, so it is set anew only when it would be late. */
static int arm(struct poller *p, int64_t deadline_ns, struct error *err)
{
    struct itimerspec at = {0};
    if (deadline_ns >= p->armed_ns)
        return 0;
    at.it_value.tv_sec = deadline_ns / NS_PER_S;
    at.it_value.tv_nsec = deadline_ns % NS_PER_S;
    if (timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &at, NULL) < 0)
        return error_set_errno(err, errno, "cannot set the event loop's timer");
    p->armed_ns = deadline_ns;
    return 0;
}

static unsigned what_of(uint32_t events)
{
    unsigned what = 0;
    if (events & EPOLLIN)
        what |= POLLER_IN;
    if (events & EPOLLOUT)
        what |= POLLER_OUT;
    if (events & (EPOLLERR | EPOLLHUP))
        what |= POLLER_GONE;
    return what;
}

int poller_wait(struct poller *p, int64_t deadline_ns, struct poller_event events[POLLER_BATCH],
                struct error *err)
{
    struct epoll_event ev[POLLER_BATCH];
    int timeout = -1, n, used = 0;
    if (deadline_ns <= clock_mono_ns())
        timeout = 0;
    else if (deadline_ns != INT64_MAX && arm(p, deadline_ns, err) < 0)
        return -1;
    n = epoll_wait(p->ep, ev, POLLER_BATCH, timeout);
    if (n < 0)
        return errno == EINTR ? 0 : error_set_errno(err, errno, "cannot wait for sockets");
    for (int i = 0; i < n; i++) {
        if (ev[i].data.u64 == TAG_TIMER)
            p->armed_ns = INT64_MAX;
        else
            events[used++] = (struct poller_event){ev[i].data.u64, what_of(ev[i].events)};
    }
    return used;
}

#else
typedef int poller_epoll_is_for_linux;
#endif
