#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "conn.h"
#include "job.h"

#define TAG_LISTEN (UINT64_MAX - 1)
#define TAG_STOP (UINT64_MAX - 2)
#define BACKLOG 4096
#define SCRATCH_MAX ((size_t)64 << 20)

const char *server_url(const struct server *s)
{
    return s->url;
}

/* 4,096 connections need as many descriptors; what the system refuses shows when it is reached. */
static void raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= SERVER_CONNECTIONS_MAX + 64)
        return;
    files.rlim_cur =
        files.rlim_max < SERVER_CONNECTIONS_MAX + 64 ? files.rlim_max : SERVER_CONNECTIONS_MAX + 64;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static int not_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
                   fcntl(fd, F_SETFD, FD_CLOEXEC) < 0
               ? -1
               : 0;
}

/* A socket that a server left behind when it was killed may be taken; anything else stays. */
static int clear_path(const struct sockaddr_un *at, struct error *err)
{
    struct stat there;
    int fd, got;
    if (lstat(at->sun_path, &there) < 0)
        return 0;
    fd = S_ISSOCK(there.st_mode) ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
    got = fd >= 0 ? connect(fd, (const struct sockaddr *)at, sizeof *at) : 0;
    if (got < 0 && errno == ECONNREFUSED) {
        close(fd);
        unlink(at->sun_path);
        return 0;
    }
    if (fd >= 0)
        close(fd);
    error_set(err, ERROR_ENVIRONMENT, "--unix: %s is there already", at->sun_path);
    return error_remedy(err, "choose another path, or end what listens there");
}

static int listen_unix(struct server *s, struct error *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(s->o->unix_path) >= sizeof at.sun_path) {
        error_set(err, ERROR_USAGE, "--unix: the path is longer than %zu bytes",
                  sizeof at.sun_path - 1);
        return error_remedy(err, "choose a shorter path");
    }
    memcpy(at.sun_path, s->o->unix_path, strlen(s->o->unix_path) + 1);
    if (clear_path(&at, err) < 0)
        return -1;
    s->listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&at, sizeof at) < 0)
        return error_set_errno(err, errno, "cannot listen on %s", s->o->unix_path);
    snprintf(s->url, sizeof s->url, "unix:%s", s->o->unix_path);
    return 0;
}

static int listen_tcp(struct server *s, struct error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->o->port)};
    socklen_t n = sizeof at;
    int one = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    if (s->listen_fd < 0 ||
        setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(s->listen_fd, (struct sockaddr *)&at, sizeof at) < 0 ||
        getsockname(s->listen_fd, (struct sockaddr *)&at, &n) < 0) {
        error_set_errno(err, errno, "cannot listen on 127.0.0.1:%lld", (long long)s->o->port);
        err->kind = ERROR_ENVIRONMENT;
        return error_remedy(err, "--port 0 takes a free port");
    }
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
    return 0;
}

static int open_socket(struct server *s, struct error *err)
{
    if ((s->o->unix_path ? listen_unix(s, err) : listen_tcp(s, err)) < 0)
        return -1;
    if (not_blocking(s->listen_fd) < 0 || listen(s->listen_fd, BACKLOG) < 0)
        return error_set_errno(err, errno, "cannot listen");
    return poller_set(s->poller, s->listen_fd, POLLER_IN, TAG_LISTEN, err);
}

static const char *name_of(const struct sim_options *o)
{
    const char *slash;
    if (o->model)
        return o->model;
    if (!o->tokenizer)
        return "null";
    slash = strrchr(o->tokenizer, '/');
    return slash ? slash + 1 : o->tokenizer;
}

static int open_pools(struct server *s, struct error *err)
{
    const struct sim_options *o = s->o;
    struct str piece = o->stamp ? STR("0000000000000000000") : STR(" tok");
    int64_t bang;
    if (!o->tokenizer)
        return pool_new_single(&s->pool, 0, piece, err);
    struct tokenizer_options how = {0};
    (void)tokenizer_reference_parse(&how.reference, o->reference); /* the options were checked */
    if (tokenizer_open(&s->tokenizer, o->tokenizer, &how, err) < 0)
        return -1;
    if (o->null)
        return pool_new_single(&s->pool, 0, piece, err);
    if (pool_new(&s->pool, s->tokenizer, strcmp(o->text, "noisy") == 0 ? POOL_NOISY : POOL_STABLE,
                 err) < 0)
        return -1;
    bang = tokenizer_id_of(s->tokenizer, STR("!"));
    if (pool_new_single(&s->bang, bang < 0 ? 0 : (uint32_t)bang, STR("!"), err) < 0)
        return -1;
    if (fault_has(&o->faults.faults, FAULT_SPLIT_UTF8))
        return pool_new(&s->wide, s->tokenizer, POOL_WIDE, err);
    return 0;
}

static void init_model(struct server *s)
{
    const struct sim_options *o = s->o;
    const struct faults *f = &o->faults.faults;
    struct model_options m = {
        .batching = strcmp(o->batching, "serial") == 0 ? BATCHING_SERIAL : BATCHING_CONTINUOUS,
        .slots = (unsigned)o->slots,
        .prefill_tok_s = o->prefill_tok_s,
        .prefill_chunk = o->prefill_chunk,
        .base_ns = o->decode_base_ns,
        .per_sequence_ns = o->decode_per_seq_ns,
        .jitter = o->jitter,
        .seed = (uint64_t)o->seed,
    };
    if (fault_has(f, FAULT_CAP_INFLIGHT) && f->arg[FAULT_CAP_INFLIGHT] > 0)
        m.admitted = (unsigned)f->arg[FAULT_CAP_INFLIGHT];
    model_init(&s->model, &m, &job_hooks, s);
}

int server_new(struct server **out, const struct sim_options *o, struct error *err)
{
    struct server *s = calloc(1, sizeof *s);
    if (!s)
        return error_no_memory(err);
    s->o = o;
    s->listen_fd = s->times.fd = -1;
    s->accepts = true;
    s->profile = profile_find(o->profile);
    s->model_name = name_of(o);
    s->start_s = clock_real_ns() / NS_PER_S;
    s->ready_ns = clock_mono_ns() + o->loading_ns;
    buf_init(&s->scratch, SCRATCH_MAX);
    s->conns = calloc(SERVER_CONNECTIONS_MAX, sizeof *s->conns);
    s->todo = calloc(2 * SERVER_CONNECTIONS_MAX, sizeof *s->todo);
    s->cache = calloc((size_t)o->slots, sizeof *s->cache);
    if (!s->conns || !s->todo || !s->cache) {
        error_no_memory(err);
        goto fail;
    }
    raise_files();
    init_model(s);
    if (open_pools(s, err) < 0 || poller_new(&s->poller, err) < 0 ||
        (o->log_times && times_open(&s->times, o->log_times, err) < 0) || open_socket(s, err) < 0)
        goto fail;
    *out = s;
    return 0;
fail:
    server_free(s);
    return -1;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->conns && i < SERVER_CONNECTIONS_MAX; i++)
        conn_free(s->conns[i]);
    if (s->listen_fd >= 0) {
        close(s->listen_fd);
        if (s->o->unix_path && s->url[0])
            unlink(s->o->unix_path);
    }
    for (int64_t i = 0; s->cache && i < s->o->slots; i++)
        free(s->cache[i].id);
    poller_free(s->poller);
    timers_release(&s->timers);
    times_release(&s->times);
    pool_free(s->pool);
    pool_free(s->wide);
    pool_free(s->bang);
    tokenizer_free(s->tokenizer);
    buf_release(&s->scratch);
    free(s->conns);
    free(s->todo);
    free(s->cache);
    free(s);
}

static void turn_away(int fd)
{
    static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                               "Connection: close\r\n\r\n";
    ssize_t sent = send(fd, full, sizeof full - 1, 0);
    (void)sent; /* it is closed either way */
    close(fd);
}

static void accept_all(struct server *s)
{
    struct error err;
    for (;;) {
        int one = 1, fd = accept(s->listen_fd, NULL, NULL);
        unsigned i = 0;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && s->n_conns > 0 &&
            poller_set(s->poller, s->listen_fd, 0, TAG_LISTEN, &err) == 0)
            s->accepts = false; /* until a connection ends */
        if (fd < 0)
            return;
        if (s->n_conns == SERVER_CONNECTIONS_MAX || not_blocking(fd) < 0) {
            turn_away(fd);
            continue;
        }
        if (!s->o->unix_path)
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        while (s->conns[i])
            i++;
        if (conn_new(&s->conns[i], s, fd, i, &err) < 0)
            turn_away(fd);
        else
            s->n_conns++;
        if (i >= s->conns_end)
            s->conns_end = i + 1;
    }
}

static void forget(struct server *s, unsigned index)
{
    struct error err;
    s->conns[index] = NULL;
    s->n_conns--;
    while (s->conns_end > 0 && !s->conns[s->conns_end - 1])
        s->conns_end--;
    if (!s->accepts)
        s->accepts = poller_set(s->poller, s->listen_fd, POLLER_IN, TAG_LISTEN, &err) == 0;
}

static struct conn *find(const struct server *s, uint64_t tag)
{
    struct conn *c = s->conns[tag & (SERVER_CONNECTIONS_MAX - 1)];
    return c && conn_tag(c) == tag ? c : NULL;
}

/* Settling may take a next request, which may ask to be settled again: with the next round, so that
 * one connection's pipeline does not keep the others waiting. Each stands in a round once. */
static void settle_all(struct server *s)
{
    size_t n = s->n_todo;
    for (size_t i = 0; i < n; i++) {
        unsigned index = s->todo[i];
        if (conn_settle(s->conns[index]))
            forget(s, index);
    }
    s->n_todo -= n;
    memmove(s->todo, s->todo + n, s->n_todo * sizeof *s->todo);
}

static void handle(struct server *s, const struct poller_event *e)
{
    struct conn *c = e->tag == TAG_LISTEN ? NULL : find(s, e->tag);
    if (e->tag == TAG_LISTEN)
        accept_all(s);
    if (!c)
        return;
    if (e->what & POLLER_IN)
        conn_readable(c);
    if (e->what & POLLER_OUT && !c->dead)
        conn_flush(c);
    if (e->what & POLLER_GONE)
        conn_kill(c);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int server_run(struct server *s, int stop_fd, struct error *err)
{
    struct poller_event events[POLLER_BATCH];
    if (poller_set(s->poller, stop_fd, POLLER_IN, TAG_STOP, err) < 0)
        return -1;
    for (;;) {
        int64_t due_ns = earlier(model_next_ns(&s->model), timers_next_ns(&s->timers)), now_ns;
        uint64_t tag;
        int n = poller_wait(s->poller, s->flat_out > 0 || s->n_todo > 0 ? 0 : due_ns, events, err);
        if (n < 0)
            return -1;
        for (int i = 0; i < n; i++) {
            if (events[i].tag == TAG_STOP)
                return times_close(&s->times, err);
            handle(s, &events[i]);
        }
        now_ns = clock_mono_ns();
        model_run(&s->model, now_ns);
        while (timers_take(&s->timers, now_ns, &tag)) {
            struct conn *c = find(s, tag);
            if (c && !c->dead)
                conn_wake(c, now_ns);
        }
        null_pump(s);
        settle_all(s);
    }
}
