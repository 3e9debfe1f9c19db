#include "conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "job.h"
#include "route.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* main ignores SIGPIPE */
#endif

#define READ_SIZE ((size_t)64 << 10)
#define FLOOD_SIZE ((size_t)64 << 10)
#define HEAD_MAX 1024
#define LINGER_NS (2 * NS_PER_S) /* a refused client gets so long to read why */

int conn_new(struct conn **out, struct server *s, int fd, unsigned index, struct error *err)
{
    struct conn *c = calloc(1, sizeof *c);
    if (!c)
        return error_no_memory(err);
    *c = (struct conn){.s = s,
                       .fd = fd,
                       .index = index,
                       .generation = ++s->generation,
                       .in = BUF_INIT(HTTP_HEADER_MAX + HTTP_BODY_MAX + READ_SIZE),
                       .out = BUF_INIT(CONN_OUT_MAX),
                       .watching = POLLER_IN};
    if (poller_set(s->poller, fd, POLLER_IN, conn_tag(c), err) < 0) {
        free(c);
        return -1;
    }
    *out = c;
    return 0;
}

void conn_free(struct conn *c)
{
    if (!c)
        return;
    job_free(c->job);
    poller_remove(c->s->poller, c->fd);
    close(c->fd);
    http_release(&c->parser);
    buf_release(&c->in);
    buf_release(&c->out);
    free(c->marks);
    free(c);
}

void conn_todo(struct conn *c)
{
    if (c->in_todo)
        return;
    c->in_todo = true;
    c->s->todo[c->s->n_todo++] = c->index;
}

void conn_kill(struct conn *c)
{
    c->dead = true;
    conn_todo(c);
}

static void watch(struct conn *c, unsigned what)
{
    struct error err;
    if (what == c->watching)
        return;
    c->watching = what;
    if (poller_set(c->s->poller, c->fd, what, conn_tag(c), &err) < 0)
        conn_kill(c);
}

void conn_wake_at(struct conn *c, int64_t due_ns)
{
    if (due_ns != INT64_MAX && !timers_add(&c->s->timers, due_ns, conn_tag(c)))
        conn_kill(c);
}

void conn_mark(struct conn *c, int64_t request, int64_t token)
{
    if (c->s->times.fd < 0)
        return;
    if (c->marks_at + c->marks_n == c->marks_cap && c->marks_at > 0) {
        memmove(c->marks, c->marks + c->marks_at, c->marks_n * sizeof *c->marks);
        c->marks_at = 0;
    }
    if (c->marks_at + c->marks_n == c->marks_cap) {
        size_t cap = c->marks_cap ? 2 * c->marks_cap : 16;
        struct conn_mark *grown =
            cap <= CONN_MARKS_MAX ? realloc(c->marks, cap * sizeof *grown) : NULL;
        if (!grown) {
            conn_kill(c);
            return;
        }
        c->marks = grown;
        c->marks_cap = cap;
    }
    c->marks[c->marks_at + c->marks_n++] = (struct conn_mark){c->queued, request, token};
}

static void log_sent(struct conn *c, int64_t before_ns)
{
    int64_t after_ns = clock_mono_ns();
    while (c->marks_n > 0 && c->marks[c->marks_at].end <= c->sent) {
        const struct conn_mark *m = &c->marks[c->marks_at++];
        times_add(&c->s->times, m->request, m->token, before_ns, after_ns);
        c->marks_n--;
    }
    if (c->marks_n == 0)
        c->marks_at = 0;
}

void conn_raw(struct conn *c, struct str bytes)
{
    buf_addstr(&c->out, bytes);
    c->queued += bytes.n;
    if (c->out.failed)
        conn_kill(c);
}

/* How much of what waits goes into the next write. */
static size_t portion(const struct conn *c, struct str waiting)
{
    size_t n = waiting.n;
    if (c->drip > 0 && n > c->drip)
        n = c->drip;
    for (size_t i = 0; c->split_ns > 0 && i + 1 < n; i++)
        if ((unsigned char)waiting.p[i] >= 0xc0 && (waiting.p[i + 1] & 0xc0) == 0x80)
            return i + 1;
    return n;
}

static void make_flood(struct conn *c)
{
    size_t n = c->flood < FLOOD_SIZE ? c->flood : FLOOD_SIZE;
    char *to;
    buf_reset(&c->out);
    c->out_at = 0;
    if (c->flood_kind == FLOOD_HEADERS) {
        while (c->out.n + 80 <= n || c->out.n == 0)
            buf_adds(&c->out, "X-Flood: 0123456789012345678901234567890123456789012345678901234567"
                              "890123456789\r\n");
        c->flood -= c->out.n < c->flood ? c->out.n : c->flood;
    } else if ((to = buf_reserve(&c->out, n))) {
        memset(to, 'a', n);
        c->out.n += n;
        c->flood -= n;
    }
    c->queued += c->out.n;
    if (c->out.failed)
        conn_kill(c);
}

/* One send. False when nothing more can be sent now. */
static bool send_some(struct conn *c, int64_t now_ns)
{
    struct str waiting = str_skip(buf_str(&c->out), c->out_at);
    size_t n = portion(c, waiting);
    int64_t before_ns = c->marks_n > 0 ? clock_mono_ns() : 0;
    ssize_t sent = send(c->fd, waiting.p, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
        return true;
    if (sent < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            watch(c, c->watching | POLLER_OUT);
        else
            conn_kill(c);
        return false;
    }
    c->out_at += (size_t)sent;
    c->sent += (uint64_t)sent;
    if (c->marks_n > 0)
        log_sent(c, before_ns);
    if (c->out_at < c->out.n && (c->drip_ns > 0 || (c->split_ns > 0 && n < waiting.n))) {
        c->hold_ns = now_ns + (c->split_ns > 0 ? c->split_ns : c->drip_ns);
        conn_wake_at(c, c->hold_ns);
        return false;
    }
    return true;
}

void conn_flush(struct conn *c)
{
    int64_t now_ns = c->hold_ns != 0 || c->drip_ns > 0 || c->split_ns > 0 ? clock_mono_ns() : 0;
    while (!c->dead) {
        if (c->hold_ns > now_ns)
            return; /* conn_wake comes */
        c->hold_ns = 0;
        if (c->out_at == c->out.n && c->flood > 0)
            make_flood(c);
        if (c->out_at == c->out.n)
            break;
        if (!send_some(c, now_ns))
            return;
    }
    buf_reset(&c->out);
    c->out_at = 0;
    watch(c, c->watching & ~(unsigned)POLLER_OUT);
    if (!c->busy)
        conn_todo(c);
}

void conn_wake(struct conn *c, int64_t now_ns)
{
    if (c->shut)
        conn_kill(c);
    else if (c->hold_ns != 0 && c->hold_ns <= now_ns)
        conn_flush(c);
    if (c->job && !c->dead)
        job_wake(c->job, now_ns);
}

void conn_head(struct conn *c, int status, const char *type, int64_t length, const char *extra)
{
    const struct profile *p = c->s->profile;
    struct buf head = BUF_INIT(HEAD_MAX);
    c->chunked = length < 0 && c->keep_alive;
    if (length < 0 && !c->chunked)
        c->closing = true;
    buf_addf(&head, "HTTP/1.1 %d %s\r\n", status, http_reason(status));
    if (p->server)
        buf_addf(&head, "Server: %s\r\n", p->server);
    if (p->dialect == DIALECT_LLAMA)
        buf_adds(&head, "Access-Control-Allow-Origin: \r\n");
    buf_adds(&head, extra);
    buf_addf(&head, "Content-Type: %s\r\n", type);
    if (length >= 0)
        buf_addf(&head, "Content-Length: %lld\r\n", (long long)length);
    else if (c->chunked)
        buf_adds(&head, "Transfer-Encoding: chunked\r\n");
    if (!c->keep_alive)
        buf_adds(&head, "Connection: close\r\n");
    else if (p->dialect == DIALECT_LLAMA)
        buf_adds(&head, "Keep-Alive: timeout=5, max=100\r\n");
    buf_adds(&head, "\r\n");
    if (head.failed)
        conn_kill(c);
    conn_raw(c, buf_str(&head));
    buf_release(&head);
}

void conn_chunk(struct conn *c, struct str bytes)
{
    char size[24];
    if (bytes.n == 0)
        return; /* an empty chunk would end the body */
    if (c->chunked) {
        int n = snprintf(size, sizeof size, "%zx\r\n", bytes.n);
        conn_raw(c, str_make(size, (size_t)n));
    }
    conn_raw(c, bytes);
    if (c->chunked)
        conn_raw(c, STR("\r\n"));
}

void conn_last_chunk(struct conn *c)
{
    if (c->chunked)
        conn_raw(c, STR("0\r\n\r\n"));
}

void conn_end(struct conn *c)
{
    c->busy = false;
    if (c->hold_ns == INT64_MAX)
        c->hold_ns = 0; /* replay: now */
    if (!c->keep_alive)
        c->closing = true;
    conn_flush(c);
    conn_todo(c);
}

void conn_answer(struct conn *c, int status, const char *type, struct str body, const char *extra)
{
    conn_head(c, status, type, (int64_t)body.n, extra);
    conn_raw(c, body);
    conn_end(c);
}

/* Requests that came whole are taken one at a time; the rest waits in `in`. */
static void take_request(struct conn *c)
{
    struct http_request request;
    struct http_refusal refusal = {0};
    enum http_progress got = http_parse(&c->parser, buf_str(&c->in), &request, &refusal);
    if (got == HTTP_MORE) {
        if (http_wants_continue(&c->parser)) {
            conn_raw(c, STR("HTTP/1.1 100 Continue\r\n\r\n"));
            conn_flush(c);
        }
        return;
    }
    c->busy = true;
    if (got == HTTP_BAD) {
        c->keep_alive = false;
        c->lingers = true;
        route_refuse(c, refusal.status, refusal.why);
        return;
    }
    c->served++;
    if (c->refuses_next) {
        conn_kill(c);
        return;
    }
    c->keep_alive = request.keep_alive;
    c->drip = 0;
    c->drip_ns = c->split_ns = 0;
    route(c, &request);
    buf_drop_front(&c->in, http_end(&c->parser));
    http_next(&c->parser);
}

void conn_readable(struct conn *c)
{
    char dropped[4096];
    size_t room = c->lingers ? sizeof dropped : READ_SIZE;
    char *to = c->lingers ? dropped : buf_reserve(&c->in, READ_SIZE);
    if (!to) {
        conn_kill(c);
        return;
    }
    ssize_t got = recv(c->fd, to, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        conn_kill(c); /* an end of its half is taken as gone, as llama-server does */
        return;
    }
    if (c->lingers)
        return;
    c->in.n += (size_t)got;
    /* While an answer is in the making no more than one read of the next request is taken. */
    if (c->busy)
        watch(c, c->watching & ~(unsigned)POLLER_IN);
    else if (!c->closing)
        take_request(c);
}

static void reset(const struct conn *c)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

bool conn_settle(struct conn *c)
{
    bool sent = c->out_at == c->out.n && c->flood == 0 && c->hold_ns == 0;
    c->in_todo = false;
    if (c->job && (!c->busy || c->dead)) {
        job_free(c->job);
        c->job = NULL;
    }
    if (c->dead || (c->closing && sent && !c->busy)) {
        if (c->resetting)
            reset(c);
        else
            shutdown(c->fd, SHUT_WR);
        if (c->lingers && !c->dead && !c->shut) {
            /* closing with bytes unread would reset the connection, and the answer with it */
            c->shut = true;
            buf_release(&c->in);
            watch(c, POLLER_IN);
            c->hold_ns = clock_mono_ns() + LINGER_NS;
            conn_wake_at(c, c->hold_ns);
            return false;
        }
        conn_free(c);
        return true;
    }
    if (!c->busy && sent && !c->closing) {
        watch(c, c->watching | POLLER_IN);
        if (c->in.n > 0)
            take_request(c);
    }
    return false;
}
