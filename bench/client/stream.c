/*
 * Our own client under the floor's conditions: N streams through the wire loop, then, off the
 * timing path, the answers decoded.
 *
 *     stream PORT STREAMS [PATH] < request-body
 *
 * Prints one JSON object with the floor's members, cpu_ns being the timing thread's while streams
 * run, and parser_cpu_ns beside it. Where the server writes "sent_ns":N (its monotonic time, on
 * this machine) into each event, also the error of the stamps against it: kernel and user, p50 and
 * p99, and how many were not between lower and upper bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "wire/protocol.h"

#define BODY_MAX 65536
#define STREAMS_MAX 16384
#define ERRORS_MAX ((size_t)4 << 20)

struct run {
    struct wire_exchange *done[STREAMS_MAX];
    size_t n;
};

struct errors {
    int64_t *kernel, *user;
    size_t n, kernel_n, outside;
};

static void take(void *ctx, struct wire_exchange *x)
{
    struct run *r = ctx;
    r->done[r->n++] = x;
}

static void must(int status, const struct error *err)
{
    if (status == 0)
        return;
    fprintf(stderr, "stream: %s\n", err->message);
    exit(1);
}

static void run_streams(struct wire_loop *loop, const struct wire_request *r, int streams,
                        struct run *run)
{
    struct error err = {0};
    for (int i = 0; i < streams; i++)
        must(wire_loop_send(loop, r, &err), &err);
    while (run->n < (size_t)streams)
        must(wire_loop_step(loop, INT64_MAX, &err), &err);
}

static void add_error(struct errors *e, const struct sample_read_stamp *r, int64_t sent)
{
    if (e->n == ERRORS_MAX)
        return;
    e->user[e->n++] = r->t_user_ns - sent;
    if (r->t_kernel_ns != TIME_NONE)
        e->kernel[e->kernel_n++] = r->t_kernel_ns - sent;
    if (sent > (r->t_kernel_ns != TIME_NONE ? r->t_kernel_ns : r->t_user_ns))
        e->outside++;
}

/* Each event's send time against the read that carried it. */
static void compare(const struct wire_exchange *x, struct errors *e)
{
    static const char key[] = "\"sent_ns\":";
    struct str body = buf_str(&x->body);
    size_t at = 0, read = 0;
    int64_t end = x->reads_n ? x->reads[0].bytes : 0;
    for (;;) {
        size_t hit = str_find(str_skip(body, at), (struct str){key, sizeof key - 1});
        if (hit == STR_NONE)
            return;
        at += hit + sizeof key - 1;
        while (end < (int64_t)at && read + 1 < x->reads_n)
            end += x->reads[++read].bytes;
        add_error(e, &x->reads[read], strtoll(body.p + at, NULL, 10));
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_errors(const char *name, int64_t *list, size_t n)
{
    if (n == 0)
        return;
    qsort(list, n, sizeof *list, by_size);
    printf(",\"%s_error_ns\":{\"n\":%zu,\"p50\":%lld,\"p99\":%lld}", name, n,
           (long long)list[(n - 1) / 2], (long long)list[(n - 1) * 99 / 100]);
}

static size_t decode_all(const struct run *run, size_t *reads, size_t *stamps)
{
    const struct wire_protocol *p = wire_protocol_find("openai-chat");
    struct wire_ask ask = {.stream = true, .max_tokens = COUNT_NONE, .seed = COUNT_NONE};
    size_t events = 0;
    for (size_t i = 0; i < run->n; i++) {
        struct arena arena;
        struct sample s;
        struct error err = {0};
        arena_init(&arena, (size_t)256 << 20);
        sample_init(&s);
        must(wire_decode(p, run->done[i], &ask, 0, &s, &arena, &err), &err);
        events += s.events_n;
        *reads += s.reads_n;
        for (size_t k = 0; k < s.reads_n; k++)
            *stamps += s.reads[k].t_kernel_ns != TIME_NONE;
        arena_release(&arena);
    }
    return events;
}

int main(int argc, char **argv)
{
    static char body[BODY_MAX];
    static struct run run;
    int port = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    int streams = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    struct error err = {0};
    struct errors e = {0};
    struct wire_endpoint *endpoint;
    struct wire_loop *loop;
    struct wire_loop_report report;
    struct rusage use;
    char url[64];
    size_t reads = 0, stamps = 0, events;
    if (port <= 0 || streams <= 0 || streams > STREAMS_MAX) {
        fprintf(stderr, "usage: stream PORT STREAMS [PATH] < request-body\n");
        return 2;
    }
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", port);
    must(wire_endpoint_new(&endpoint, &(struct wire_endpoint_options){.url = url, .no_reuse = true},
                           &err),
         &err);
    must(wire_loop_new(&loop, &(struct wire_loop_options){.on_done = take, .ctx = &run}, &err),
         &err);
    struct wire_request r = {.endpoint = endpoint,
                             .path = argc > 3 ? argv[3] : "/v1/chat/completions",
                             .body = {body, fread(body, 1, sizeof body, stdin)}};
    int64_t cpu = clock_thread_cpu_ns(), wall = clock_mono_ns();
    wire_loop_mark(loop);
    run_streams(loop, &r, streams, &run);
    wire_loop_report(loop, &report);
    cpu = clock_thread_cpu_ns() - cpu;
    wall = clock_mono_ns() - wall;
    getrusage(RUSAGE_SELF, &use);
    int64_t parser = clock_thread_cpu_ns();
    events = decode_all(&run, &reads, &stamps);
    parser = clock_thread_cpu_ns() - parser;
    e.kernel = malloc(ERRORS_MAX * sizeof *e.kernel);
    e.user = malloc(ERRORS_MAX * sizeof *e.user);
    if (!e.kernel || !e.user)
        return 1;
    for (size_t i = 0; i < run.n; i++)
        compare(run.done[i], &e);
    printf("{\"events\":%zu,\"reads\":%zu,\"kernel_stamps\":%zu,\"cpu_ns\":%lld,"
           "\"parser_cpu_ns\":%lld,\"wall_ns\":%lld,\"rss_kib\":%ld,\"waits\":%lld,"
           "\"lag_p99_ns\":%lld,\"wakeup_ns\":%lld",
           events, reads, stamps, (long long)cpu, (long long)parser, (long long)wall, use.ru_maxrss,
           (long long)report.waits, (long long)report.lag_p99_ns, (long long)report.wakeup_ns);
    print_errors("kernel", e.kernel, e.kernel_n);
    print_errors("user", e.user, e.n);
    printf(",\"outside\":%zu}\n", e.outside);
    for (size_t i = 0; i < run.n; i++)
        wire_exchange_free(run.done[i]);
    free(e.kernel);
    free(e.user);
    wire_loop_free(loop);
    wire_endpoint_free(endpoint);
    return 0;
}
