#ifdef __linux__
#define _DEFAULT_SOURCE /* SO_TIMESTAMPNS, MSG_TRUNC */
#endif
#include "wire/kernel_time.h"

#ifdef __linux__

#include <string.h>
#include <sys/socket.h>
#include <time.h>

#ifndef SCM_TIMESTAMPNS
#define SCM_TIMESTAMPNS SO_TIMESTAMPNS
#endif

int kernel_time_enable(int fd)
{
    int on = 1;
    return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0 ? 0 : -1;
}

int kernel_time_peek(int fd, size_t most, size_t *waiting, int64_t *real_ns)
{
    /* MSG_TRUNC on a TCP socket counts without copying: the place is never written to, and is
     * there only so that what we claim is true. */
    char place[KERNEL_TIME_PEEK_MAX];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct timespec)) * 2];
    } control;
    struct iovec io = {.iov_base = place, .iov_len = most < sizeof place ? most : sizeof place};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(fd, &m, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
    if (n <= 0)
        return -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        struct timespec ts;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&ts, CMSG_DATA(c), sizeof ts);
        if (ts.tv_sec == 0)
            return -1;
        *waiting = (size_t)n;
        *real_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
        return 0;
    }
    return -1;
}

#else

int kernel_time_enable(int fd)
{
    (void)fd;
    return -1;
}

int kernel_time_peek(int fd, size_t most, size_t *waiting, int64_t *real_ns)
{
    (void)fd, (void)most, (void)waiting, (void)real_ns;
    return -1;
}

#endif
