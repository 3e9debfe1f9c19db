#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/kernel_time.h"
#include "wire/loop.h"

struct loop_socket *loop_socket_at(struct wire_loop *loop, int fd)
{
    size_t n = loop->sockets_n ? loop->sockets_n : 64;
    struct loop_socket *grown;
    if (fd < 0 || (size_t)fd >= SOCKETS_MAX)
        return NULL;
    if ((size_t)fd < loop->sockets_n)
        return &loop->sockets[fd];
    while (n <= (size_t)fd)
        n *= 2;
    grown = realloc(loop->sockets, n * sizeof *grown);
    if (!grown)
        return NULL;
    for (size_t i = loop->sockets_n; i < n; i++)
        grown[i] = (struct loop_socket){.connection = COUNT_NONE};
    loop->sockets = grown;
    loop->sockets_n = n;
    return &grown[fd];
}

int64_t loop_connection(const struct wire_loop *loop, int fd)
{
    return fd >= 0 && (size_t)fd < loop->sockets_n ? loop->sockets[fd].connection : COUNT_NONE;
}

static int port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        return 0;
    if (a.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&a)->sin_port);
    if (a.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&a)->sin6_port);
    return 0;
}

int loop_find_socket(struct wire_loop *loop, int local_port)
{
    for (size_t fd = 0; local_port > 0 && fd < loop->sockets_n; fd++) {
        struct loop_socket *s = &loop->sockets[fd];
        if (s->connection == COUNT_NONE)
            continue;
        if (s->local_port == 0)
            s->local_port = port_of((int)fd);
        if (s->local_port == local_port)
            return (int)fd;
    }
    return -1;
}

curl_socket_t loop_open_socket(struct wire_loop *loop, struct wire_transfer *t,
                               const struct curl_sockaddr *address)
{
    bool tcp = address->family == AF_INET || address->family == AF_INET6;
    struct loop_socket *s;
    int fd = socket(address->family, address->socktype, address->protocol);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            t->socket_errno = errno;
        return CURL_SOCKET_BAD;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    s = loop_socket_at(loop, fd);
    if (!s) {
        t->socket_errno = ENOMEM;
        close(fd);
        return CURL_SOCKET_BAD;
    }
    *s = (struct loop_socket){
        .generation = s->generation + 1, .connection = loop->next_connection++, .tls = t->tls};
    s->stamped = tcp && !loop->o.user_time_only && !t->shares && kernel_time_enable(fd) == 0;
    t->opened++;
    return fd;
}

int loop_close_socket(struct wire_loop *loop, curl_socket_t fd)
{
    struct loop_socket *s = loop_socket_at(loop, fd);
    if (s)
        *s = (struct loop_socket){.generation = s->generation + 1, .connection = COUNT_NONE};
    return close(fd);
}

int loop_on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct wire_loop *loop = arg;
    struct wire_transfer *t = NULL;
    struct loop_socket *s = loop_socket_at(loop, fd);
    struct error err = {0};
    unsigned want = 0;
    (void)socket_arg;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
    if (!s) {
        loop->socket_failure = ENOMEM;
        return 0;
    }
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
        want |= POLLER_IN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
        want |= POLLER_OUT;
    if (t && what != CURL_POLL_REMOVE && s->connection != COUNT_NONE) {
        t->fd = fd;
        /* Not the new connection on which libcurl would send again. */
        if (!t->x->reused || t->opened == 0)
            t->x->connection = s->connection;
    }
    if (poller_set(loop->poller, fd, want, (uint64_t)s->generation << 32 | (uint32_t)fd, &err) < 0)
        loop->socket_failure = errno ? errno : ENOMEM;
    return 0;
}
