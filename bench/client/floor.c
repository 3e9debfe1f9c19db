/*
 * The floor: what a client must spend at the least to stamp events. A bare epoll + recvmsg loop
 * that opens N streams, reads with the kernel's receive time, counts `data:` lines, and does
 * nothing else: no HTTP library, no JSON, nothing stored.
 *
 *     floor PORT STREAMS [PATH] < request-body
 *
 * Sends the same request on every stream and reads until the server closes each (Connection:
 * close), then prints one JSON object: events, reads, CPU time of this process, wall time, the
 * largest resident set. Every other client of this bench is shown as a ratio to it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STREAMS_MAX 16384
#define BODY_MAX 65536
#define READ_MAX 65536
#define READY_MAX 256

static int64_t now_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int open_stream(int port, const char *request, size_t n)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    for (size_t at = 0; at < n;) {
        ssize_t w = write(fd, request + at, n - at);
        if (w < 0)
            die("write");
        at += (size_t)w;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Lines that begin with "data:", counted across reads by where in the pattern each stream is. */
static uint64_t count_events(const char *p, size_t n, uint8_t *state)
{
    static const char pattern[] = "\ndata:";
    uint64_t events = 0;
    uint8_t s = *state;
    for (size_t i = 0; i < n; i++) {
        s = p[i] == pattern[s] ? (uint8_t)(s + 1) : p[i] == '\n' ? 1 : 0;
        if (s == sizeof pattern - 1) {
            events++;
            s = 0;
        }
    }
    *state = s;
    return events;
}

int main(int argc, char **argv)
{
    static char body[BODY_MAX], request[BODY_MAX + 512], data[READ_MAX];
    static uint8_t state[STREAMS_MAX + 64];
    int port = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    int streams = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    const char *path = argc > 3 ? argv[3] : "/v1/chat/completions";
    if (port <= 0 || streams <= 0 || streams > STREAMS_MAX) {
        fprintf(stderr, "usage: floor PORT STREAMS [PATH] < request-body\n");
        return 2;
    }
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    size_t body_n = fread(body, 1, sizeof body, stdin);
    int head = snprintf(request, sizeof request,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json"
                        "\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                        path, port, body_n);
    memcpy(request + head, body, body_n);

    int ep = epoll_create1(EPOLL_CLOEXEC), open = 0;
    for (; open < streams; open++) {
        struct epoll_event e = {.events = EPOLLIN};
        e.data.u64 =
            (uint64_t)open << 32 | (uint32_t)open_stream(port, request, (size_t)head + body_n);
        if (epoll_ctl(ep, EPOLL_CTL_ADD, (int)(uint32_t)e.data.u64, &e) < 0)
            die("epoll_ctl");
    }
    uint64_t events = 0, reads = 0, stamps = 0;
    int64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall = now_ns(CLOCK_MONOTONIC), sum = 0;
    while (open > 0) {
        struct epoll_event ready[READY_MAX];
        int n = epoll_wait(ep, ready, READY_MAX, 10000);
        if (n <= 0)
            break;
        sum ^= now_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < n; i++) {
            int fd = (int)(uint32_t)ready[i].data.u64;
            _Alignas(struct cmsghdr) char control[128];
            struct iovec iov = {data, sizeof data};
            struct msghdr m = {.msg_iov = &iov,
                               .msg_iovlen = 1,
                               .msg_control = control,
                               .msg_controllen = sizeof control};
            ssize_t got = recvmsg(fd, &m, 0);
            if (got < 0 && (errno == EAGAIN || errno == EINTR))
                continue;
            if (got <= 0) {
                close(fd);
                open--;
                continue;
            }
            reads++;
            for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
                if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS)
                    stamps++;
            events += count_events(data, (size_t)got, &state[ready[i].data.u64 >> 32]);
        }
    }
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf(
        "{\"events\":%llu,\"reads\":%llu,\"kernel_stamps\":%llu,\"cpu_ns\":%lld,\"wall_ns\":%lld,"
        "\"rss_kib\":%ld,\"check\":%lld}\n",
        (unsigned long long)events, (unsigned long long)reads, (unsigned long long)stamps,
        (long long)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu),
        (long long)(now_ns(CLOCK_MONOTONIC) - wall), use.ru_maxrss, (long long)(sum & 1));
    return open ? 1 : 0;
}
