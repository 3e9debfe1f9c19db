#include "wire/poller.h"

#ifndef __linux__

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define POLLER_FDS_MAX ((size_t)1 << 20)

struct poller {
    struct pollfd *fds; /* fds[0] is the wake-up pipe */
    uint64_t *tags;
    size_t n, cap, next; /* next: where a batch that was cut off goes on */
    int pipe[2];
    int64_t wakeup_ns, last_empty_ns;
};

static int grow(struct poller *p, struct error *err)
{
    size_t cap = p->cap ? p->cap * 2 : 64;
    struct pollfd *fds;
    uint64_t *tags;
    if (p->n < p->cap)
        return 0;
    if (cap > POLLER_FDS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %zu sockets", POLLER_FDS_MAX);
    fds = realloc(p->fds, cap * sizeof *fds);
    if (!fds)
        return error_no_memory(err);
    p->fds = fds;
    tags = realloc(p->tags, cap * sizeof *tags);
    if (!tags)
        return error_no_memory(err);
    p->tags = tags;
    p->cap = cap;
    return 0;
}

int poller_new(struct poller **out, int64_t wakeup_ns, struct error *err)
{
    struct poller *p = calloc(1, sizeof *p);
    if (!p)
        return error_no_memory(err);
    p->wakeup_ns = wakeup_ns;
    p->last_empty_ns = clock_mono_ns();
    p->pipe[0] = p->pipe[1] = -1;
    if (grow(p, err) < 0)
        goto fail;
    if (pipe(p->pipe) < 0) {
        error_set_errno(err, errno, "cannot set up the event loop");
        goto fail;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(p->pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(p->pipe[i], F_SETFL, O_NONBLOCK);
    }
    p->fds[0] = (struct pollfd){.fd = p->pipe[0], .events = POLLIN};
    p->n = 1;
    *out = p;
    return 0;
fail:
    poller_free(p);
    return -1;
}

void poller_free(struct poller *p)
{
    if (!p)
        return;
    for (int i = 0; i < 2; i++)
        if (p->pipe[i] >= 0)
            close(p->pipe[i]);
    free(p->fds);
    free(p->tags);
    free(p);
}

int poller_set(struct poller *p, int fd, unsigned what, uint64_t tag, struct error *err)
{
    size_t i = 1;
    while (i < p->n && p->fds[i].fd != fd)
        i++;
    if (what == 0) {
        if (i < p->n) {
            p->n--;
            p->fds[i] = p->fds[p->n];
            p->tags[i] = p->tags[p->n];
        }
        return 0;
    }
    if (i == p->n) {
        if (grow(p, err) < 0)
            return -1;
        p->n++;
    }
    p->fds[i] = (struct pollfd){.fd = fd};
    p->fds[i].events = (short)((what & POLLER_IN ? POLLIN : 0) | (what & POLLER_OUT ? POLLOUT : 0));
    p->tags[i] = tag;
    return 0;
}

static int wait_ms(int64_t now, int64_t deadline_ns)
{
    int64_t ms;
    if (deadline_ns == INT64_MAX)
        return -1;
    if (deadline_ns <= now)
        return 0;
    ms = (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS;
    return ms > 1000000 ? 1000000 : (int)ms;
}

static unsigned what_of(short revents)
{
    unsigned what = 0;
    if (revents & (POLLIN | POLLHUP))
        what |= POLLER_IN;
    if (revents & POLLOUT)
        what |= POLLER_OUT;
    if (revents & (POLLERR | POLLNVAL))
        what |= POLLER_ERROR;
    return what;
}

static void collect(struct poller *p, struct poller_seen *seen)
{
    size_t start = p->next < p->n ? p->next : 0;
    char bytes[64];
    if (p->fds[0].revents)
        while (read(p->pipe[0], bytes, sizeof bytes) > 0)
            ;
    p->last_empty_ns = seen->t_return_ns;
    for (size_t k = 0; k < p->n; k++) {
        size_t i = (start + k) % p->n;
        if (i == 0 || !p->fds[i].revents)
            continue;
        if (seen->n == POLLER_BATCH) {
            p->next = i;
            p->last_empty_ns = seen->t_floor_ns;
            return;
        }
        seen->events[seen->n++] =
            (struct poller_event){.tag = p->tags[i], .what = what_of(p->fds[i].revents)};
    }
}

int poller_wait(struct poller *p, int64_t deadline_ns, struct poller_seen *seen, struct error *err)
{
    int64_t previous = p->last_empty_ns, now;
    int n = poll(p->fds, (nfds_t)p->n, 0);
    seen->n = 0;
    seen->blocked = false;
    now = clock_mono_ns();
    if (n == 0 && deadline_ns > now) {
        previous = now;
        n = poll(p->fds, (nfds_t)p->n, wait_ms(now, deadline_ns));
        now = clock_mono_ns();
        seen->blocked = true;
    }
    seen->t_return_ns = now;
    seen->t_floor_ns = seen->t_lower_ns = previous;
    if (seen->blocked && previous < now - p->wakeup_ns)
        seen->t_lower_ns = now - p->wakeup_ns;
    if (n < 0)
        return errno == EINTR ? 0 : error_set_errno(err, errno, "cannot wait for sockets");
    collect(p, seen);
    return 0;
}

void poller_wake(struct poller *p)
{
    ssize_t put = write(p->pipe[1], "", 1);
    (void)put; /* a full pipe wakes as well */
}

#else
typedef int poller_poll_is_for_others;
#endif
