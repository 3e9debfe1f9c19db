/* The ways to a server: TLS, client certificates, keys and headers, proxies, Unix sockets, HTTP/2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "client.h"
#include "server.h"
#include "tls.h"

#define CHAT "/v1/chat/completions"
#define HEAD \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define TOKEN(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define FINISH "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"

static const struct step stream[] = {READ,
                                     SEND(HEAD),
                                     WAIT(100),
                                     CHUNK(TOKEN("a")),
                                     WAIT(100),
                                     CHUNK(TOKEN("b") FINISH),
                                     SEND("0\r\n\r\n"),
                                     HOLD};
static const struct step empty_ok[] = {READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                       HOLD};

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "wire-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char paths[8][128];
    static size_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void expect_two_tokens(const struct wire_exchange *x, bool kernel)
{
    struct decoded d;
    assert_string_equal(x->error, "");
    assert_int_equal(x->end, WIRE_END_OK);
    decode_exchange(&d, "openai-chat", true, x);
    assert_int_equal(d.s.outcome, OUTCOME_OK);
    assert_int_equal(d.s.events_n, 3);
    for (size_t i = 0; i < 2; i++) {
        const struct sample_read_stamp *r = &d.s.reads[d.s.events[i].read];
        assert_int_equal(r->t_kernel_ns != TIME_NONE, kernel);
        assert_true(r->t_lower_ns <= r->t_user_ns);
    }
    assert_true(d.s.events[0].read < d.s.events[1].read);
    decoded_release(&d);
}

/* --- TLS ------------------------------------------------------------------------------------ */

static void private_authority(void **state)
{
    (void)state;
    struct server_tls *tls = server_tls_new(folder, false);
    struct server *s = server_start(&(struct server_script){.play = {stream}, .tls = tls});
    struct client c;
    int64_t before, after;
    client_open(
        &c, &(struct wire_endpoint_options){.url = server_url(s), .ca_file = in_folder("ca.pem")});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 5 * NS_PER_S);
#ifdef __linux__
    expect_two_tokens(x, true); /* the time of the ciphertext */
#else
    expect_two_tokens(x, false);
#endif
    assert_true(x->t_tls_ns != TIME_NONE && x->t_tls_ns >= x->t_connect_ns);
    assert_true(x->t_tls_ns <= x->t_sent_ns);
    server_send_time(s, 1, &before, &after);
    assert_true(x->reads[0].t_user_ns >= before);
    if (x->reads[0].t_kernel_ns != TIME_NONE)
        assert_true(x->reads[0].t_kernel_ns >= before - NS_PER_US);
    client_close(&c);
    server_stop(s);
    server_tls_free(tls);
}

/* Two records that wait together: libcurl reads them one by one, and both were looked at. */
static void two_records_at_once(void **state)
{
    (void)state;
    static const struct step play[] = {
        READ, SEND(HEAD), WAIT(20), CHUNK(TOKEN("a")), CHUNK(TOKEN("b") FINISH), SEND("0\r\n\r\n"),
        HOLD};
    struct server_tls *tls = server_tls_new(folder, false);
    struct server *s = server_start(&(struct server_script){.play = {play}, .tls = tls});
    struct client c;
    struct error err = {0};
    client_open(
        &c, &(struct wire_endpoint_options){.url = server_url(s), .ca_file = in_folder("ca.pem")});
    struct wire_request r = {.endpoint = c.endpoint, .path = CHAT, .body = STR("{}")};
    assert_int_equal(wire_loop_send(c.loop, &r, &err), 0);
    while (server_requests(s) == 0)
        assert_int_equal(wire_loop_step(c.loop, clock_mono_ns() + NS_PER_MS, &err), 0);
    /* Not looking while the server writes. */
    clock_sleep_until_ns(clock_mono_ns() + 400 * NS_PER_MS, NULL);
    while (c.done == 0)
        assert_int_equal(wire_loop_step(c.loop, clock_mono_ns() + NS_PER_S, &err), 0);
    assert_int_equal(c.last->end, WIRE_END_OK);
    assert_int_equal(c.last->body.n, strlen(TOKEN("a") TOKEN("b") FINISH));
    for (size_t i = 0; i < c.last->reads_n; i++) {
#ifdef __linux__
        assert_true(c.last->reads[i].t_kernel_ns != TIME_NONE);
        assert_true(c.last->reads[i].t_kernel_ns < c.last->reads[i].t_user_ns - 20 * NS_PER_MS);
#endif
        assert_true(c.last->reads[i].t_lower_ns <= c.last->reads[i].t_user_ns);
    }
    client_close(&c);
    server_stop(s);
    server_tls_free(tls);
}

static void a_flood_of_tls_records(void **state)
{
    (void)state;
    static char block[4097];
    for (size_t i = 0; i < 4096; i++)
        block[i] = (char)('a' + i % 26);
    const struct step play[] = {READ,
                                SEND("HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n"),
                                {DO_FLOOD, block, 2048},
                                HOLD};
    struct server_tls *tls = server_tls_new(folder, false);
    struct server *s = server_start(&(struct server_script){.play = {play}, .tls = tls});
    struct client c;
    int64_t stamped = 0;
    client_open(
        &c, &(struct wire_endpoint_options){.url = server_url(s), .ca_file = in_folder("ca.pem")});
    const struct wire_exchange *x = client_ask(&c, "/x", "", 20 * NS_PER_S);
    assert_int_equal(x->end, WIRE_END_OK);
    assert_int_equal(x->body.n, 8388608);
    for (size_t i = 0; i < x->body.n; i += 4096)
        assert_memory_equal(x->body.p + i, block, 4096); /* nothing held back is lost or moved */
    for (size_t i = 0; i < x->reads_n; i++) {
        assert_true(x->reads[i].bytes <= 16384);
        stamped += x->reads[i].bytes;
    }
    assert_int_equal(stamped, 8388608);
    client_close(&c);
    server_stop(s);
    server_tls_free(tls);
}

static void unknown_authority(void **state)
{
    (void)state;
    struct server_tls *tls = server_tls_new(folder, false);
    struct server *s = server_start(&(struct server_script){.play = {stream}, .tls = tls});
    struct client c;
    struct decoded d;
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s)});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 5 * NS_PER_S);
    assert_int_equal(x->end, WIRE_END_TLS);
    assert_int_equal(server_requests(s), 0);
    assert_true(x->t_sent_ns == TIME_NONE);
    decode_exchange(&d, "openai-chat", true, x);
    assert_int_equal(d.s.failure, FAILURE_TLS);
    decoded_release(&d);
    client_close(&c);
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s), .insecure = true});
    assert_int_equal(client_ask(&c, CHAT, "{}", 5 * NS_PER_S)->end, WIRE_END_OK);
    client_close(&c);
    server_stop(s);
    server_tls_free(tls);
}

static void client_certificates(void **state)
{
    (void)state;
    struct server_tls *tls = server_tls_new(folder, true);
    struct server *s = server_start(&(struct server_script){.play = {stream}, .tls = tls});
    struct client c;
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s),
                                                    .ca_file = in_folder("ca.pem"),
                                                    .client_cert = in_folder("client.pem"),
                                                    .client_key = in_folder("client.key")});
    assert_int_equal(client_ask(&c, CHAT, "{}", 5 * NS_PER_S)->end, WIRE_END_OK);
    client_close(&c);
    /* With TLS 1.3 the refusal comes after the handshake, on the first read. */
    client_open(
        &c, &(struct wire_endpoint_options){.url = server_url(s), .ca_file = in_folder("ca.pem")});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 5 * NS_PER_S);
    assert_true(x->end == WIRE_END_TLS || x->end == WIRE_END_RESET);
    assert_int_equal(server_requests(s), 1);
    client_close(&c);
    server_stop(s);
    server_tls_free(tls);
}

static void plain_http_on_a_tls_port(void **state)
{
    (void)state;
    static const struct step mute[] = {RAW, SEND("HTTP/1.1 400 Bad Request\r\n\r\n"), END};
    struct server *s = server_start(&(struct server_script){.play = {mute}});
    struct client c;
    char url[64];
    snprintf(url, sizeof url, "https://127.0.0.1:%d", server_port(s));
    client_open(&c, &(struct wire_endpoint_options){.url = url});
    assert_int_equal(client_ask(&c, CHAT, "{}", 5 * NS_PER_S)->end, WIRE_END_TLS);
    client_close(&c);
    server_stop(s);
}

/* --- Unix sockets, proxies ------------------------------------------------------------------ */

static void unix_sockets_have_user_time_only(void **state)
{
    (void)state;
    const char *path = in_folder("sock");
    struct server *s = server_start(&(struct server_script){.play = {stream}, .unix_path = path});
    struct client c;
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s), .unix_socket = path});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 5 * NS_PER_S);
    expect_two_tokens(x, false);
    assert_int_equal(x->connection, 0);
    client_close(&c);
    server_stop(s);
}

static void through_a_proxy(void **state)
{
    (void)state;
    struct server *s = server_start(&(struct server_script){.play = {stream}});
    struct client c;
    client_open(&c, &(struct wire_endpoint_options){.url = "http://model.invalid:8080/api",
                                                    .proxy = server_url(s)});
    expect_two_tokens(client_ask(&c, CHAT, "{}", 5 * NS_PER_S),
#ifdef __linux__
                      true
#else
                      false
#endif
    );
    assert_true(str_starts(server_request(s, 0),
                           STR("POST http://model.invalid:8080/api" CHAT " HTTP/1.1\r\n")));
    client_close(&c);
    server_stop(s);
}

static void the_environments_proxy_is_not_taken(void **state)
{
    (void)state;
    struct server *s = server_start(&(struct server_script){.play = {empty_ok}});
    struct client c;
    setenv("http_proxy", "http://127.0.0.1:9", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:9", 1);
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s)});
    assert_int_equal(client_ask(&c, CHAT, "{}", 5 * NS_PER_S)->end, WIRE_END_OK);
    client_close(&c);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    server_stop(s);
}

/* --- what is sent --------------------------------------------------------------------------- */

static bool has_line(struct str request, const char *line)
{
    char with_end[256];
    snprintf(with_end, sizeof with_end, "\r\n%s\r\n", line);
    return str_find(request, str_of(with_end)) != STR_NONE;
}

static void request_as_sent(void **state)
{
    (void)state;
    static const char *const headers[] = {"X-Team: perf", "X-Empty;:", NULL};
    struct server *s = server_start(&(struct server_script){.play = {empty_ok}});
    struct client c;
    client_open(&c, &(struct wire_endpoint_options){
                        .url = server_url(s), .bearer = "sesame", .headers = headers});
    assert_int_equal(client_ask(&c, CHAT, "{\"n\":1}", 0)->end, WIRE_END_OK);
    struct str r = server_request(s, 0);
    assert_true(str_starts(r, STR("POST " CHAT " HTTP/1.1\r\n")));
    assert_true(has_line(r, "Content-Type: application/json"));
    assert_true(has_line(r, "Authorization: Bearer sesame"));
    assert_true(has_line(r, "X-Team: perf"));
    assert_true(str_find(r, STR("Expect")) == STR_NONE);
    assert_true(str_find(r, STR("Accept-Encoding")) == STR_NONE);
    assert_true(str_ends(r, STR("\r\n\r\n{\"n\":1}")));
    client_close(&c);
    server_stop(s);
}

static void user_information_stays_out_of_the_url(void **state)
{
    (void)state;
    struct server *s = server_start(&(struct server_script){.play = {empty_ok}});
    struct client c;
    char url[128], clean[128];
    snprintf(url, sizeof url, "http://me:p%%40ss@127.0.0.1:%d/v0/", server_port(s));
    snprintf(clean, sizeof clean, "http://127.0.0.1:%d/v0", server_port(s));
    client_open(&c, &(struct wire_endpoint_options){.url = url});
    assert_string_equal(wire_endpoint_url(c.endpoint), clean);
    assert_int_equal(client_ask(&c, "/x", "{}", 0)->end, WIRE_END_OK);
    assert_true(str_starts(server_request(s, 0), STR("POST /v0/x HTTP/1.1\r\n")));
    assert_true(has_line(server_request(s, 0), "Authorization: Basic bWU6cEBzcw==")); /* me:p@ss */
    client_close(&c);
    server_stop(s);
}

static void endpoints_that_are_none(void **state)
{
    (void)state;
    static const char *const urls[] = {"",
                                       "localhost:8080",
                                       "ftp://host/",
                                       "http://",
                                       "http://host:port",
                                       "http://host/?q=1",
                                       "http://host/#f",
                                       "file:///etc/passwd",
                                       NULL};
    struct error err = {0};
    struct wire_endpoint *e = NULL;
    for (size_t i = 0; urls[i]; i++) {
        assert_int_equal(
            wire_endpoint_new(&e, &(struct wire_endpoint_options){.url = urls[i]}, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_true(err.remedy[0] != '\0');
        assert_null(e);
    }
    static const char *const split[] = {"X-A: b\r\nX-Evil: 1", NULL};
    static const char *const bare[] = {"no colon", NULL};
    assert_int_equal(
        wire_endpoint_new(&e, &(struct wire_endpoint_options){.url = "http://h", .headers = split},
                          &err),
        -1);
    assert_int_equal(
        wire_endpoint_new(&e, &(struct wire_endpoint_options){.url = "http://h", .headers = bare},
                          &err),
        -1);
    assert_int_equal(
        wire_endpoint_new(&e, &(struct wire_endpoint_options){.url = "http://h", .bearer = "key\n"},
                          &err),
        -1);
    assert_null(strstr(err.message, "key\n")); /* a secret is not repeated */
}

/* --- HTTP/2 --------------------------------------------------------------------------------- */

static void add_frame(struct buf *b, int type, int flags, const void *payload, size_t n)
{
    buf_addc(b, (char)(n >> 16));
    buf_addc(b, (char)(n >> 8));
    buf_addc(b, (char)n);
    buf_addc(b, (char)type);
    buf_addc(b, (char)flags);
    buf_add(b, type == 4 ? "\0\0\0\0" : "\0\0\0\1", 4); /* SETTINGS are the connection's */
    buf_add(b, payload, n);
}

/* Plain with prior knowledge, and over TLS where the server offers it. */
static void over_http2(bool with_tls)
{
    /* RFC 7541: 0x88 is ":status: 200"; 0x5f is a literal "content-type". */
    static const char head[] = "\x88\x5f\x11text/event-stream";
    struct buf open = BUF_INIT(BUF_ANY), first = BUF_INIT(BUF_ANY), last = BUF_INIT(BUF_ANY);
    struct server_tls *tls = with_tls ? server_tls_new(folder, false) : NULL;
    add_frame(&open, 4, 0, "", 0);
    add_frame(&open, 4, 1, "", 0);
    add_frame(&open, 1, 4, head, sizeof head - 1);
    add_frame(&first, 0, 0, TOKEN("a"), strlen(TOKEN("a")));
    add_frame(&last, 0, 1, TOKEN("b") FINISH, strlen(TOKEN("b") FINISH));
    const struct step steps[] = {
        RAW,       {DO_SEND, open.p, open.n}, WAIT(100), {DO_SEND, first.p, first.n},
        WAIT(100), {DO_SEND, last.p, last.n}, HOLD};
    if (tls)
        server_tls_offer_h2(tls);
    struct server *s = server_start(&(struct server_script){.play = {steps}, .tls = tls});
    struct client c;
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s),
                                                    .http2 = true,
                                                    .ca_file = tls ? in_folder("ca.pem") : NULL});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 5 * NS_PER_S);
    expect_two_tokens(x, false); /* frames of many streams may share a read: user time only */
    assert_int_equal(x->http_version, 20);
    assert_int_equal(x->http_status, 200);
    assert_int_equal(x->connection, 0);
    client_close(&c);
    server_stop(s);
    server_tls_free(tls);
    buf_release(&open);
    buf_release(&first);
    buf_release(&last);
}

static void http2_with_prior_knowledge(void **state)
{
    (void)state;
    over_http2(false);
}

static void http2_over_tls(void **state)
{
    (void)state;
    over_http2(true);
}

static void tls_through_a_proxy(void **state)
{
    (void)state;
    static const struct step play[] = {
        READ,
        SEND("HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n"),
        START_TLS,
        READ,
        WAIT(50),
        SEND(HEAD),
        CHUNK(TOKEN("a")),
        WAIT(100),
        CHUNK(TOKEN("b") FINISH),
        SEND("0\r\n\r\n"),
        HOLD};
    struct server_tls *tls = server_tls_new(folder, false);
    struct server *s =
        server_start(&(struct server_script){.play = {play}, .tls = tls, .late_tls = true});
    struct client c;
    int64_t before, after;
    client_open(&c, &(struct wire_endpoint_options){.url = "https://localhost:4433",
                                                    .proxy = server_url(s),
                                                    .ca_file = in_folder("ca.pem")});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 5 * NS_PER_S);
    assert_string_equal(x->error, "");
    assert_int_equal(x->http_status, 200);
    assert_string_equal(x->content_type, "text/event-stream");
    assert_true(str_starts(server_request(s, 0), STR("CONNECT localhost:4433 HTTP/1.1\r\n")));
    assert_true(str_starts(server_request(s, 1), STR("POST " CHAT " HTTP/1.1\r\n")));
    assert_true(str_find(server_request(s, 1), STR("localhost:4433")) != STR_NONE);
    server_send_time(s, 1, &before, &after);
    assert_true(x->t_first_byte_ns >= before); /* the proxy's own answer is not the response's */
    assert_true(x->t_sent_ns < before);
    client_close(&c);
    server_stop(s);
    server_tls_free(tls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_authority),
        cmocka_unit_test(two_records_at_once),
        cmocka_unit_test(a_flood_of_tls_records),
        cmocka_unit_test(unknown_authority),
        cmocka_unit_test(client_certificates),
        cmocka_unit_test(plain_http_on_a_tls_port),
        cmocka_unit_test(unix_sockets_have_user_time_only),
        cmocka_unit_test(through_a_proxy),
        cmocka_unit_test(the_environments_proxy_is_not_taken),
        cmocka_unit_test(request_as_sent),
        cmocka_unit_test(user_information_stays_out_of_the_url),
        cmocka_unit_test(endpoints_that_are_none),
        cmocka_unit_test(http2_with_prior_knowledge),
        cmocka_unit_test(http2_over_tls),
        cmocka_unit_test(tls_through_a_proxy),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
