#include "server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tls.h"

#define CONNECTIONS_MAX 2048
#define REQUEST_MAX ((size_t)8 << 20)

struct server {
    struct server_script script;
    int listener, port;
    int stop[2]; /* a pipe: readable when the server must stop */
    char url[64];
    pthread_t acceptor;
    pthread_t players[CONNECTIONS_MAX];
    pthread_mutex_t lock;
    size_t connections, requests, sends;
    struct buf request[SERVER_REQUESTS];
    int64_t before_ns[SERVER_SENDS], after_ns[SERVER_SENDS];
};

struct player {
    struct server *server;
    const struct step *steps;
    int fd;
    struct tls_session *tls;
};

static bool stopped(const struct server *s, int wait_ms)
{
    struct pollfd p = {.fd = s->stop[0], .events = POLLIN};
    return poll(&p, 1, wait_ms) > 0;
}

/* Waits until the socket can be read, or the server stops. */
static bool readable(const struct player *p)
{
    struct pollfd f[2] = {{.fd = p->fd, .events = POLLIN},
                          {.fd = p->server->stop[0], .events = POLLIN}};
    if (p->tls && tls_pending(p->tls))
        return true;
    return poll(f, 2, 20000) > 0 && !f[1].revents;
}

static ssize_t get(struct player *p, char *to, size_t n)
{
    if (!readable(p))
        return -1;
    return p->tls ? tls_read(p->tls, to, n) : recv(p->fd, to, n, 0);
}

static bool put(struct player *p, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = p->tls ? tls_write(p->tls, bytes, n) : send(p->fd, bytes, n, MSG_NOSIGNAL);
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static bool is_whole(const struct buf *b)
{
    struct str all = buf_str(b), rest;
    size_t head = str_find(all, STR("\r\n\r\n")), at;
    unsigned long length = 0;
    if (head == STR_NONE)
        return false;
    rest = str_first(all, head);
    at = str_find(rest, STR("Content-Length: "));
    if (at != STR_NONE)
        length = strtoul(rest.p + at + 16, NULL, 10);
    return all.n >= head + 4 + length;
}

static bool read_request(struct player *p)
{
    struct server *s = p->server;
    struct buf b = BUF_INIT(REQUEST_MAX);
    char bytes[4096];
    while (!is_whole(&b)) {
        ssize_t n = get(p, bytes, sizeof bytes);
        if (n <= 0) {
            buf_release(&b);
            return false;
        }
        buf_add(&b, bytes, (size_t)n);
    }
    pthread_mutex_lock(&s->lock);
    if (s->requests < SERVER_REQUESTS) {
        s->request[s->requests++] = b;
        b = (struct buf){0};
    }
    pthread_mutex_unlock(&s->lock);
    buf_release(&b);
    return true;
}

static bool send_stamped(struct player *p, const struct step *step)
{
    struct server *s = p->server;
    struct buf b = BUF_INIT(BUF_ANY);
    int64_t before, after;
    bool ok;
    if (step->what == DO_CHUNK)
        buf_addf(&b, "%zx\r\n", step->n);
    buf_add(&b, step->bytes, step->n);
    if (step->what == DO_CHUNK)
        buf_adds(&b, "\r\n");
    before = clock_mono_ns();
    ok = put(p, b.p, b.n);
    after = clock_mono_ns();
    buf_release(&b);
    pthread_mutex_lock(&s->lock);
    if (s->sends < SERVER_SENDS) {
        s->before_ns[s->sends] = before;
        s->after_ns[s->sends++] = after;
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

static void reset(struct player *p)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

static bool flood(struct player *p, const struct step *step)
{
    size_t n = strlen(step->bytes);
    for (size_t i = 0; i < step->n; i++)
        if (!put(p, step->bytes, n))
            return false;
    return true;
}

static bool play(struct player *p, const struct step *step)
{
    char bytes[65536];
    switch (step->what) {
    case DO_READ:
        return read_request(p);
    case DO_RAW:
        return get(p, bytes, sizeof bytes) > 0;
    case DO_SEND:
    case DO_CHUNK:
        return send_stamped(p, step);
    case DO_FLOOD:
        return flood(p, step);
    case DO_WAIT:
        return !stopped(p->server, (int)step->n);
    case DO_HOLD:
        return !stopped(p->server, -1);
    case DO_TLS:
        p->tls = tls_accept(p->server->script.tls, p->fd);
        return p->tls != NULL;
    case DO_RESET:
        reset(p);
        return false;
    case DO_END:
        return false;
    }
    return false;
}

static void *run_player(void *arg)
{
    struct player *p = arg;
    const struct step *step = p->steps;
    bool going = true;
    if (p->server->script.tls && !p->server->script.late_tls) {
        p->tls = tls_accept(p->server->script.tls, p->fd);
        going = p->tls != NULL;
    }
    while (going && play(p, step))
        step++;
    tls_close(p->tls, going && step->what == DO_END);
    close(p->fd);
    free(p);
    return NULL;
}

static const struct step *play_of(const struct server *s, size_t i)
{
    const struct step *last = NULL;
    for (size_t k = 0; k < SERVER_PLAYS && s->script.play[k]; k++) {
        last = s->script.play[k];
        if (k == i)
            break;
    }
    return last;
}

static void *run_acceptor(void *arg)
{
    struct server *s = arg;
    for (;;) {
        struct pollfd f[2] = {{.fd = s->listener, .events = POLLIN},
                              {.fd = s->stop[0], .events = POLLIN}};
        struct player *p;
        int fd, on = 1;
        if (poll(f, 2, -1) < 0 || f[1].revents || s->connections == CONNECTIONS_MAX)
            return NULL;
        fd = accept(s->listener, NULL, NULL);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        p = calloc(1, sizeof *p);
        assert(p);
        *p = (struct player){.server = s, .fd = fd, .steps = play_of(s, s->connections)};
        pthread_mutex_lock(&s->lock);
        assert(pthread_create(&s->players[s->connections], NULL, run_player, p) == 0);
        s->connections++;
        pthread_mutex_unlock(&s->lock);
    }
}

static void listen_tcp(struct server *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t n = sizeof a;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert(s->listener >= 0 && bind(s->listener, (struct sockaddr *)&a, sizeof a) == 0);
    assert(getsockname(s->listener, (struct sockaddr *)&a, &n) == 0);
    s->port = ntohs(a.sin_port);
    snprintf(s->url, sizeof s->url, "http%s://127.0.0.1:%d",
             s->script.tls && !s->script.late_tls ? "s" : "", s->port);
}

static void listen_unix(struct server *s)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", s->script.unix_path);
    unlink(a.sun_path);
    s->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(s->listener >= 0 && bind(s->listener, (struct sockaddr *)&a, sizeof a) == 0);
    snprintf(s->url, sizeof s->url, "http://localhost");
}

struct server *server_start(const struct server_script *script)
{
    struct server *s = calloc(1, sizeof *s);
    assert(s);
    signal(SIGPIPE, SIG_IGN);
    s->script = *script;
    pthread_mutex_init(&s->lock, NULL);
    assert(pipe(s->stop) == 0);
    if (script->unix_path)
        listen_unix(s);
    else
        listen_tcp(s);
    assert(listen(s->listener, 512) == 0);
    assert(pthread_create(&s->acceptor, NULL, run_acceptor, s) == 0);
    return s;
}

void server_stop(struct server *s)
{
    assert(write(s->stop[1], "x", 1) == 1);
    pthread_join(s->acceptor, NULL);
    for (size_t i = 0; i < s->connections; i++)
        pthread_join(s->players[i], NULL);
    close(s->listener);
    close(s->stop[0]);
    close(s->stop[1]);
    for (size_t i = 0; i < s->requests; i++)
        buf_release(&s->request[i]);
    if (s->script.unix_path)
        unlink(s->script.unix_path);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int server_port(const struct server *s)
{
    return s->port;
}

const char *server_url(const struct server *s)
{
    return s->url;
}

static size_t locked(struct server *s, const size_t *n)
{
    size_t v;
    pthread_mutex_lock(&s->lock);
    v = *n;
    pthread_mutex_unlock(&s->lock);
    return v;
}

size_t server_connections(struct server *s)
{
    return locked(s, &s->connections);
}

size_t server_requests(struct server *s)
{
    return locked(s, &s->requests);
}

size_t server_sends(struct server *s)
{
    return locked(s, &s->sends);
}

struct str server_request(struct server *s, size_t i)
{
    struct str r;
    pthread_mutex_lock(&s->lock);
    assert(i < s->requests);
    r = buf_str(&s->request[i]);
    pthread_mutex_unlock(&s->lock);
    return r;
}

void server_send_time(struct server *s, size_t i, int64_t *before_ns, int64_t *after_ns)
{
    /* What was sent may have been read before its sender has noted the time. */
    for (int tries = 0; server_sends(s) <= i && tries < 5000; tries++)
        clock_sleep_until_ns(clock_mono_ns() + NS_PER_MS, NULL);
    pthread_mutex_lock(&s->lock);
    assert(i < s->sends);
    *before_ns = s->before_ns[i];
    *after_ns = s->after_ns[i];
    pthread_mutex_unlock(&s->lock);
}
