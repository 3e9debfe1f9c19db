/* The loop against scripted servers: what is stamped, how exchanges end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "client.h"
#include "server.h"

#define CHAT "/v1/chat/completions"
#define HEAD \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

static const struct step two_tokens[] = {
    READ,
    SEND(HEAD),
    WAIT(20),
    CHUNK("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"),
    WAIT(20),
    CHUNK("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},"
          "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"),
    SEND("0\r\n\r\n"),
    END,
};

static void stamps_lie_around_what_was_sent(void **state)
{
    (void)state;
    struct server *s = server_start(&(struct server_script){.play = {two_tokens}});
    struct client c;
    struct decoded d;
    int64_t before, after;
    client_open(&c, &(struct wire_endpoint_options){.url = server_url(s)});
    const struct wire_exchange *x = client_ask(&c, CHAT, "{}", 0);
    assert_int_equal(x->end, WIRE_END_OK);
    assert_int_equal(x->http_status, 200);
    assert_true(x->t_issue_ns <= x->t_sent_ns && x->t_sent_ns <= x->t_first_byte_ns);
    decode_exchange(&d, "openai-chat", true, x);
    assert_int_equal(d.s.outcome, OUTCOME_OK);
    assert_int_equal(d.s.events_n, 4); /* a, b, finish, done */
    server_send_time(s, 1, &before, &after);
    const struct sample_read_stamp *r = &d.s.reads[d.s.events[0].read];
    assert_true(r->t_user_ns >= before);
    assert_true(r->t_lower_ns <= after && r->t_lower_ns <= r->t_user_ns);
#ifdef __linux__
    assert_true(r->t_kernel_ns != TIME_NONE);
    assert_true(r->t_kernel_ns >= before - NS_PER_US && r->t_kernel_ns <= r->t_user_ns);
#endif
    decoded_release(&d);
    client_close(&c);
    server_stop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stamps_lie_around_what_was_sent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
