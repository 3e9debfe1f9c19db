/* The loop against scripted servers: what is stamped, and how exchanges end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "client.h"
#include "server.h"

#define CHAT "/v1/chat/completions"
#define HEAD \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define TOKEN(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define FINISH "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"
#define LAST "0\r\n\r\n"

/* One server, one client, one exchange: what most tests need. */
struct pair {
    struct server *server;
    struct client client;
};

static void open_pair(struct pair *p, const struct step *play)
{
    p->server = server_start(&(struct server_script){.play = {play}});
    client_open(&p->client, &(struct wire_endpoint_options){.url = server_url(p->server)});
}

static void close_pair(struct pair *p)
{
    client_close(&p->client);
    server_stop(p->server);
}

static int64_t bytes_stamped(const struct wire_exchange *x)
{
    int64_t n = 0;
    for (size_t i = 0; i < x->reads_n; i++)
        n += x->reads[i].bytes;
    return n;
}

/* Holds for every exchange, however it ended. */
static void check_sound(const struct wire_exchange *x)
{
    struct error err = {0};
    struct sample s;
    assert_int_equal(bytes_stamped(x), (int64_t)x->body.n);
    sample_init(&s);
    s.t_issue_ns = x->t_issue_ns;
    s.t_sent_ns = x->t_sent_ns;
    s.t_first_byte_ns = x->t_first_byte_ns;
    s.t_end_ns = x->t_end_ns;
    s.reads = x->reads;
    s.reads_n = x->reads_n;
    if (sample_check_order(&s, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(x->end == WIRE_END_OK, x->error[0] == '\0');
}

static void expect_end(const struct step *play, enum wire_end end, const char *said)
{
    int64_t timeout = end == WIRE_END_TIMEOUT ? 300 * NS_PER_MS : 20 * NS_PER_S;
    struct pair p;
    open_pair(&p, play);
    const struct wire_exchange *x = client_ask(&p.client, CHAT, "{}", timeout);
    check_sound(x);
    if (x->end != end)
        fail_msg("ended as %d, not as %d: %s", (int)x->end, (int)end, x->error);
    if (said && !strstr(x->error, said))
        fail_msg("said '%s', without '%s'", x->error, said);
    close_pair(&p);
}

/* --- times ---------------------------------------------------------------------------------- */

static const struct step two_tokens[] = {
    READ,      SEND(HEAD), WAIT(100), CHUNK(TOKEN("a")), WAIT(100), CHUNK(TOKEN("b") FINISH DONE),
    WAIT(100), SEND(LAST), END,
};

static void stamps_lie_around_what_was_sent(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, two_tokens);
    struct decoded d;
    const struct wire_exchange *x = client_ask(&p.client, CHAT, "{}", 0);
    static const size_t event_of_send[] = {0, 1}; /* the reads of sends 1 and 2 */
    int64_t before, after;
    assert_int_equal(x->end, WIRE_END_OK);
    check_sound(x);
    server_send_time(p.server, 0, &before, &after);
    assert_true(x->t_first_byte_ns >= before && x->t_headers_ns == x->t_first_byte_ns);
    decode_exchange(&d, "openai-chat", true, x);
    assert_int_equal(d.s.outcome, OUTCOME_OK);
    assert_int_equal(d.s.reads_n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct sample_read_stamp *r = &d.s.reads[d.s.events[event_of_send[i]].read];
        server_send_time(p.server, i + 1, &before, &after);
        assert_true(r->t_user_ns >= before && r->t_lower_ns <= r->t_user_ns);
#ifdef __linux__
        /* The map between the clocks is good to well below a microsecond. How late the kernel may
         * take a segment up on a busy machine is not ours to bound; test_time.c tries its best
         * case. That a wake-up lasts longer than calibrated shows by the kernel's time. */
        assert_true(r->t_kernel_ns >= before - NS_PER_US && r->t_kernel_ns <= r->t_user_ns);
        assert_true(r->t_lower_ns <= r->t_kernel_ns);
#endif
    }
    server_send_time(p.server, 3, &before, &after);
    assert_true(x->t_end_ns >= before); /* the end is that of the response, not the last token */
    decoded_release(&d);
    close_pair(&p);
}

static void a_head_that_comes_in_pieces(void **state)
{
    (void)state;
    static const struct step play[] = {
        READ,      SEND("HTTP/1.1 200 OK\r\nContent-"),
        WAIT(100), SEND("Type: text/plain\r\nContent-Length: 5\r\n\r"),
        WAIT(100), SEND("\nhel"),
        WAIT(100), SEND("lo"),
        END};
    struct pair p;
    open_pair(&p, play);
    const struct wire_exchange *x = client_ask(&p.client, "/x", "", 0);
    int64_t before, after;
    assert_int_equal(x->end, WIRE_END_OK);
    check_sound(x);
    assert_string_equal(x->content_type, "text/plain");
    assert_true(str_eq(buf_str(&x->body), STR("hello")));
    /* Where the head ended in the middle of a read, its bytes may be stamped in two parts. */
    assert_true(x->reads_n == 2 || x->reads_n == 3);
    assert_int_equal(x->reads[x->reads_n - 1].bytes, 2);
    server_send_time(p.server, 2, &before, &after);
    assert_true(x->t_headers_ns >= before && x->reads[0].t_user_ns >= before);
    /* The first line was whole with the second send at the latest. */
    assert_true(x->t_first_byte_ns < x->t_headers_ns);
    close_pair(&p);
}

static void many_bytes_in_many_reads(void **state)
{
    (void)state;
    static const struct step play[] = {READ, SEND(HEAD), FLOOD("3\r\nabc\r\n", 100000), SEND(LAST),
                                       END};
    struct pair p;
    open_pair(&p, play);
    const struct wire_exchange *x = client_ask(&p.client, CHAT, "{}", 0);
    assert_int_equal(x->end, WIRE_END_OK);
    check_sound(x);
    assert_int_equal(x->body.n, 300000);
    for (size_t i = 0; i < x->reads_n; i++)
        assert_true(x->reads[i].bytes <= 16384); /* libcurl's buffer: no two reads are one */
    close_pair(&p);
}

static void unused_times_are_none(void **state)
{
    (void)state;
    static const struct step play[] = {READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                       READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                       HOLD};
    struct pair p;
    open_pair(&p, play);
    const struct wire_exchange *x = client_ask(&p.client, CHAT, "{}", 0);
    assert_false(x->reused);
    assert_int_equal(x->connection, 0);
    assert_true(x->t_connect_ns != TIME_NONE && x->t_connect_ns >= x->t_issue_ns);
    assert_true(x->t_connect_ns <= x->t_sent_ns);
    assert_true(x->t_tls_ns == TIME_NONE);
    assert_int_equal(x->reads_n, 0);
    x = client_ask(&p.client, CHAT, "{}", 0);
    assert_true(x->reused);
    assert_int_equal(x->connection, 0);
    assert_true(x->t_dns_ns == TIME_NONE && x->t_connect_ns == TIME_NONE);
    assert_int_equal(server_connections(p.server), 1);
    close_pair(&p);
}

static void no_reuse_connects_each_time(void **state)
{
    (void)state;
    static const struct step play[] = {READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                       READ, END};
    struct server *s = server_start(&(struct server_script){.play = {play}});
    struct client c;
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s), .no_reuse = true});
    for (int i = 0; i < 3; i++) {
        const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 0);
        assert_int_equal(x->end, WIRE_END_OK);
        assert_false(x->reused);
        assert_int_equal(x->connection, i);
    }
    client_close(&c);
    server_stop(s);
}

/* --- ends ----------------------------------------------------------------------------------- */

/* Wire case 8. libcurl 7.88 would send the POST again on a new connection and report success. */
static void a_dead_connection_is_no_second_request(void **state)
{
    (void)state;
    static const struct step first[] = {READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                        READ, END};
    static const struct step again[] = {READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                        HOLD};
    struct server *s = server_start(&(struct server_script){.play = {first, again}});
    struct client c;
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s)});
    assert_int_equal(client_ask(&c, CHAT, "{}", 0)->end, WIRE_END_OK);
    const struct wire_exchange *x = client_ask(&c, CHAT, "{\"n\":2}", 0);
    struct decoded d;
    assert_int_equal(x->end, WIRE_END_RESET);
    assert_true(x->reused);
    assert_int_equal(x->connection, 0);
    assert_int_equal(x->http_status, 0);
    assert_non_null(strstr(x->error, "reused"));
    assert_non_null(strstr(x->error, "not sent again"));
    assert_int_equal(server_requests(s), 2); /* the second was seen once, on the first connection */
    decode_exchange(&d, "openai-chat", true, x);
    assert_int_equal(d.s.outcome, OUTCOME_FAILED);
    assert_int_equal(d.s.failure, FAILURE_CONNECT);
    decoded_release(&d);
    assert_int_equal(client_ask(&c, CHAT, "{}", 0)->end, WIRE_END_OK);
    client_close(&c);
    server_stop(s);
}

static void ends_of_transport(void **state)
{
    (void)state;
    static const struct step silent[] = {READ, END};
    static const struct step reset[] = {READ, RESET};
    static const struct step cut_chunks[] = {READ, SEND(HEAD), CHUNK(TOKEN("a")), END};
    static const struct step cut_length[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), END};
    static const struct step cut_reset[] = {READ, SEND(HEAD), CHUNK(TOKEN("a")), WAIT(50), RESET};
    static const struct step held[] = {READ, SEND(HEAD), CHUNK(TOKEN("a")), HOLD};
    static const struct step mute[] = {READ, HOLD};
    expect_end(silent, WIRE_END_RESET, "closed before any byte");
    expect_end(reset, WIRE_END_RESET, "closed before any byte");
    expect_end(cut_chunks, WIRE_END_CUT, NULL);
    expect_end(cut_length, WIRE_END_CUT, NULL);
    expect_end(cut_reset, WIRE_END_CUT, NULL);
    expect_end(held, WIRE_END_TIMEOUT, "300 ms");
    expect_end(mute, WIRE_END_TIMEOUT, "300 ms");
}

static void ends_of_protocol(void **state)
{
    (void)state;
    static const struct step ssh[] = {READ, SEND("SSH-2.0-OpenSSH_9.2\r\n\r\n"), END};
    static const struct step bad_size[] = {READ, SEND(HEAD), SEND("zz\r\nabc\r\n"), HOLD};
    static const struct step huge_size[] = {READ, SEND(HEAD), SEND("fffffffffffffffffff\r\nabc"),
                                            HOLD};
    expect_end(ssh, WIRE_END_PROTOCOL, NULL);
    expect_end(bad_size, WIRE_END_PROTOCOL, NULL);
    expect_end(huge_size, WIRE_END_PROTOCOL, NULL);
}

static void ends_of_limits(void **state)
{
    (void)state;
    static const struct step headers[] = {READ, SEND("HTTP/1.1 200 OK\r\n"),
                                          FLOOD("X-Filler: 0123456789012345678901234567890123456789"
                                                "012345678901234567890123456789\r\n",
                                                100000),
                                          END};
    static const struct step header[] = {READ, SEND("HTTP/1.1 200 OK\r\nX-Filler: "),
                                         FLOOD("0123456789abcdef", 655360), /* 10 MB, one line */
                                         SEND("\r\n\r\n"), END};
    expect_end(headers, WIRE_END_PROTOCOL, "headers");
    expect_end(header, WIRE_END_PROTOCOL, "a response header without end");
}

#define BLOCK 1024 /* bytes; 65536 of them are WIRE_RESPONSE_MAX */

static void a_response_at_its_limit_and_one_over(void **state)
{
    (void)state;
    static char block[BLOCK + 1];
    memset(block, 'x', BLOCK);
    static const struct step at[] = {READ,
                                     SEND("HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n"),
                                     {DO_FLOOD, block, 65536},
                                     END};
    static const struct step over[] = {READ,
                                       SEND("HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n"),
                                       {DO_FLOOD, block, 65536},
                                       SEND("x"),
                                       END};
    assert_int_equal(WIRE_RESPONSE_MAX, 67108864);
    for (int i = 0; i < 2; i++) {
        struct pair p;
        open_pair(&p, i == 0 ? at : over);
        const struct wire_exchange *x = client_ask(&p.client, "/x", "", 0);
        assert_int_equal(x->end, i == 0 ? WIRE_END_OK : WIRE_END_LIMIT);
        check_sound(x);
        close_pair(&p);
    }
}

/* libcurl by itself reads on while there is anything: two turns of the loop for all of it. */
static void a_flood_is_read_in_turns(void **state)
{
    (void)state;
    static char block[16 * BLOCK + 1];
    memset(block, 'x', 16 * BLOCK);
    const struct step play[] = {READ,
                                SEND("HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n"),
                                {DO_FLOOD, block, 2048},
                                END};
    struct pair p;
    struct wire_loop_report report;
    open_pair(&p, play);
    const struct wire_exchange *x = client_ask(&p.client, "/x", "", 0);
    assert_int_equal(x->end, WIRE_END_OK);
    check_sound(x);
    assert_int_equal(x->body.n, 33554432);
    for (size_t i = 0; i < x->reads_n; i++)
        assert_true(x->reads[i].bytes <= 16384);
    wire_loop_report(p.client.loop, &report);
    assert_true(report.waits >= 33554432 / 16384 / 3); /* two reads a turn, at most */
    close_pair(&p);
}

static void nobody_listens(void **state)
{
    (void)state;
    static const struct step none[] = {END};
    struct server *s = server_start(&(struct server_script){.play = {none}});
    char url[64];
    struct client c;
    struct decoded d;
    snprintf(url, sizeof url, "%s", server_url(s));
    server_stop(s);
    client_open(&c, &(struct wire_endpoint_options){.url = url});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 0);
    assert_int_equal(x->end, WIRE_END_CONNECT);
    assert_true(x->t_sent_ns == TIME_NONE && x->t_end_ns != TIME_NONE);
    decode_exchange(&d, "openai-chat", true, x);
    assert_int_equal(d.s.failure, FAILURE_CONNECT);
    assert_int_equal(d.s.http_status, 0);
    decoded_release(&d);
    client_close(&c);
}

/* --- the loop itself ------------------------------------------------------------------------ */

struct crowd {
    size_t done, ok;
};

static void count(void *ctx, struct wire_exchange *x)
{
    struct crowd *crowd = ctx;
    crowd->done++;
    crowd->ok += x->end == WIRE_END_OK;
    wire_exchange_free(x);
}

#define CROWD 300

static void no_hidden_cap_on_connections(void **state)
{
    (void)state;
    /* No answer begins before all have connected: a cap below would never get there. */
    static const struct step play[] = {
        READ, WAIT(1000), SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), HOLD};
    struct server *s = server_start(&(struct server_script){.play = {play}});
    struct wire_endpoint *e;
    struct wire_loop *loop;
    struct crowd crowd = {0};
    struct error err = {0};
    int64_t until = clock_mono_ns() + 20 * NS_PER_S;
    assert_int_equal(
        wire_endpoint_new(&e, &(struct wire_endpoint_options){.url = server_url(s)}, &err), 0);
    assert_int_equal(wire_loop_new(&loop,
                                   &(struct wire_loop_options){
                                       .on_done = count, .ctx = &crowd, .max_in_flight = CROWD},
                                   &err),
                     0);
    struct wire_request r = {.endpoint = e, .path = "/", .body = STR("{}")};
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(wire_loop_send(loop, &r, &err), 0);
    assert_int_equal(wire_loop_in_flight(loop), CROWD);
    assert_int_equal(wire_loop_send(loop, &r, &err), -1); /* one over the cap that was asked for */
    assert_int_equal(err.kind, ERROR_LIMIT);
    while (crowd.done < CROWD && clock_mono_ns() < until) {
        assert_int_equal(wire_loop_step(loop, until, &err), 0);
        if (crowd.done == 0 && server_requests(s) == SERVER_REQUESTS)
            assert_int_equal(wire_loop_in_flight(loop), CROWD);
    }
    assert_int_equal(crowd.ok, CROWD);
    assert_int_equal(server_connections(s), CROWD);
    struct wire_loop_report report;
    wire_loop_report(loop, &report);
    assert_true(report.reads >= CROWD && report.wakeup_ns > 0 && report.blocked <= report.waits);
    assert_true(report.lag_p50_ns <= report.lag_p99_ns && report.lag_p99_ns <= report.lag_max_ns);
    wire_loop_mark(loop);
    wire_loop_report(loop, &report);
    assert_int_equal(report.reads, 0);
    assert_int_equal(report.lag_max_ns, COUNT_NONE);
    wire_loop_free(loop);
    wire_endpoint_free(e);
    server_stop(s);
}

static void cancelled_all_at_once(void **state)
{
    (void)state;
    static const struct step play[] = {READ, SEND(HEAD), CHUNK(TOKEN("a")), HOLD};
    struct server *s = server_start(&(struct server_script){.play = {play}});
    struct client c;
    struct error err = {0};
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s)});
    struct wire_request r = {.endpoint = c.endpoint, .path = CHAT, .body = STR("{}")};
    for (int i = 0; i < 5; i++)
        assert_int_equal(wire_loop_send(c.loop, &r, &err), 0);
    int64_t until = clock_mono_ns() + 600 * NS_PER_MS;
    while (clock_mono_ns() < until)
        assert_int_equal(wire_loop_step(c.loop, until, &err), 0);
    assert_int_equal(c.done, 0);
    wire_loop_cancel_all(c.loop);
    assert_int_equal(c.done, 5);
    assert_int_equal(wire_loop_in_flight(c.loop), 0);
    assert_int_equal(c.last->end, WIRE_END_CANCELLED);
    check_sound(c.last);
    assert_int_equal(c.last->http_status, 200);
    struct decoded d;
    decode_exchange(&d, "openai-chat", true, c.last);
    assert_int_equal(d.s.outcome, OUTCOME_CANCELLED);
    assert_int_equal(d.s.events_n, 1);
    decoded_release(&d);
    client_close(&c);
    server_stop(s);
}

static void no_descriptor_left(void **state)
{
    (void)state;
    static const struct step play[] = {READ, HOLD};
    struct pair p;
    struct rlimit old, none;
    open_pair(&p, play);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    int lowest = dup(0); /* all below are in use */
    assert_true(lowest >= 0 && close(lowest) == 0);
    none.rlim_cur = (rlim_t)lowest;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const struct wire_exchange *x = client_ask(&p.client, CHAT, "{}", 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(x->end, WIRE_END_CLIENT); /* ours, not the server's */
    assert_non_null(strstr(x->error, strerror(EMFILE)));
    close_pair(&p);
}

static void *wake_later(void *loop)
{
    clock_sleep_until_ns(clock_mono_ns() + 30 * NS_PER_MS, NULL);
    wire_loop_wake(loop);
    return NULL;
}

static void woken_from_another_thread(void **state)
{
    (void)state;
    struct wire_loop *loop;
    struct error err = {0};
    pthread_t thread;
    int64_t began = clock_mono_ns(), took;
    assert_int_equal(wire_loop_new(&loop, &(struct wire_loop_options){0}, &err), 0);
    assert_int_equal(pthread_create(&thread, NULL, wake_later, loop), 0);
    assert_int_equal(wire_loop_step(loop, began + 10 * NS_PER_S, &err), 0);
    took = clock_mono_ns() - began;
    assert_true(took < 5 * NS_PER_S);
    pthread_join(thread, NULL);
    began = clock_mono_ns();
    assert_int_equal(wire_loop_step(loop, began + 20 * NS_PER_MS, &err), 0);
    took = clock_mono_ns() - began;
    assert_true(took >= 20 * NS_PER_MS); /* a deadline is not passed early */
    wire_loop_free(loop);
}

static void freed_with_requests_in_flight(void **state)
{
    (void)state;
    static const struct step play[] = {READ, HOLD};
    struct pair p;
    open_pair(&p, play);
    struct error err = {0};
    struct wire_request r = {.endpoint = p.client.endpoint, .path = CHAT, .body = STR("{}")};
    assert_int_equal(wire_loop_send(p.client.loop, &r, &err), 0);
    assert_int_equal(wire_loop_step(p.client.loop, clock_mono_ns() + 50 * NS_PER_MS, &err), 0);
    close_pair(&p);
    assert_int_equal(p.client.done, 0);
}

static void one_answer_to_a_fetch(void **state)
{
    (void)state;
    static const struct step play[] = {
        READ, SEND("HTTP/1.1 503 Loading\r\nContent-Length: 2\r\nRetry-After: 7\r\n\r\n{}"), END};
    struct server *s = server_start(&(struct server_script){.play = {play}});
    struct wire_endpoint *e;
    struct wire_exchange *x = NULL;
    struct error err = {0};
    assert_int_equal(
        wire_endpoint_new(&e, &(struct wire_endpoint_options){.url = server_url(s)}, &err), 0);
    assert_int_equal(wire_fetch(e, "/health", STR(""), NS_PER_S, &x, &err), 0);
    assert_int_equal(x->http_status, 503);
    assert_int_equal(x->retry_after_s, 7);
    assert_true(str_starts(server_request(s, 0), STR("GET /health HTTP/1.1\r\n")));
    wire_exchange_free(x);
    x = NULL;
    server_stop(s);
    assert_int_equal(wire_fetch(e, "/health", STR(""), NS_PER_S, &x, &err), -1);
    assert_null(x);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "/health"));
    assert_true(err.remedy[0] != '\0');
    wire_endpoint_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_lie_around_what_was_sent),
        cmocka_unit_test(a_head_that_comes_in_pieces),
        cmocka_unit_test(many_bytes_in_many_reads),
        cmocka_unit_test(unused_times_are_none),
        cmocka_unit_test(no_reuse_connects_each_time),
        cmocka_unit_test(a_dead_connection_is_no_second_request),
        cmocka_unit_test(ends_of_transport),
        cmocka_unit_test(ends_of_protocol),
        cmocka_unit_test(ends_of_limits),
        cmocka_unit_test(a_response_at_its_limit_and_one_over),
        cmocka_unit_test(a_flood_is_read_in_turns),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(no_hidden_cap_on_connections),
        cmocka_unit_test(cancelled_all_at_once),
        cmocka_unit_test(no_descriptor_left),
        cmocka_unit_test(woken_from_another_thread),
        cmocka_unit_test(freed_with_requests_in_flight),
        cmocka_unit_test(one_answer_to_a_fetch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
