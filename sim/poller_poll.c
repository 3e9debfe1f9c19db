/* With poll, for systems without epoll, and where TALLY_SIM_POLL asks for it (a test does). The
 * last millisecond before a deadline is spun through: it costs CPU, never precision. */
#include "poller.h"

#if !defined(__linux__) || defined(TALLY_SIM_POLL)

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"

struct poller {
    struct pollfd *fd;
    uint64_t *tag;
    nfds_t n, cap, next; /* next: where the following wait begins to report */
};

int poller_new(struct poller **out, struct error *err)
{
    struct poller *p = calloc(1, sizeof *p);
    if (!p)
        return error_no_memory(err);
    *out = p;
    return 0;
}

void poller_free(struct poller *p)
{
    if (!p)
        return;
    free(p->fd);
    free(p->tag);
    free(p);
}

static int grow(struct poller *p, struct error *err)
{
    nfds_t cap = p->cap ? 2 * p->cap : 64;
    struct pollfd *fd = realloc(p->fd, cap * sizeof *fd);
    uint64_t *tag;
    if (!fd)
        return error_no_memory(err);
    p->fd = fd;
    tag = realloc(p->tag, cap * sizeof *tag);
    if (!tag)
        return error_no_memory(err);
    p->tag = tag;
    p->cap = cap;
    return 0;
}

int poller_set(struct poller *p, int fd, unsigned what, uint64_t tag, struct error *err)
{
    nfds_t i = 0;
    while (i < p->n && p->fd[i].fd != fd)
        i++;
    if (i == p->n && p->n == p->cap && grow(p, err) < 0)
        return -1;
    if (i == p->n)
        p->n++;
    p->fd[i] = (struct pollfd){.fd = fd};
    if (what & POLLER_IN)
        p->fd[i].events |= POLLIN;
    if (what & POLLER_OUT)
        p->fd[i].events |= POLLOUT;
    p->tag[i] = tag;
    return 0;
}

void poller_remove(struct poller *p, int fd)
{
    for (nfds_t i = 0; i < p->n; i++) {
        if (p->fd[i].fd != fd)
            continue;
        p->n--;
        p->fd[i] = p->fd[p->n];
        p->tag[i] = p->tag[p->n];
        return;
    }
}

int poller_wait(struct poller *p, int64_t deadline_ns, struct poller_event events[POLLER_BATCH],
                struct error *err)
{
    int64_t left_ns = deadline_ns == INT64_MAX ? INT64_MAX : deadline_ns - clock_mono_ns();
    int timeout = left_ns <= 0 ? 0 : left_ns > 3600 * NS_PER_S ? -1 : (int)(left_ns / NS_PER_MS);
    int used = 0;
    if (poll(p->fd, p->n, timeout) < 0)
        return errno == EINTR ? 0 : error_set_errno(err, errno, "cannot wait for sockets");
    for (nfds_t k = 0; k < p->n && used < POLLER_BATCH; k++) {
        nfds_t i = (p->next + k) % p->n;
        unsigned what = 0;
        if (p->fd[i].revents & POLLIN)
            what |= POLLER_IN;
        if (p->fd[i].revents & POLLOUT)
            what |= POLLER_OUT;
        if (p->fd[i].revents & (POLLERR | POLLHUP | POLLNVAL))
            what |= POLLER_GONE;
        if (what != 0)
            events[used++] = (struct poller_event){p->tag[i], what};
    }
    p->next = p->n > 0 ? (p->next + POLLER_BATCH) % p->n : 0;
    return used;
}

#else
typedef int poller_poll_is_for_others;
#endif
