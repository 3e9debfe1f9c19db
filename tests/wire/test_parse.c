/* The stream readers and request builders by themselves: grammar, limits, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "wire/ndjson.h"
#include "wire/sse.h"

/* --- server-sent events --------------------------------------------------------------------- */

static int note_event(void *ctx, const struct sse_event *e, struct error *err)
{
    struct buf *b = ctx;
    (void)err;
    buf_addf(b, "%s%.*s|%.*s@%llu%s\n", e->comment ? "#" : "", STR_ARG(e->name), STR_ARG(e->data),
             (unsigned long long)e->end, e->unterminated ? "!" : "");
    return 0;
}

static void expect_sse(struct str stream, const char *events)
{
    for (size_t at = 0; at <= stream.n; at++) {
        struct buf got = BUF_INIT(BUF_ANY);
        struct error err = {0};
        struct sse sse;
        sse_init(&sse, &(struct sse_reader){.on_event = note_event, .ctx = &got});
        assert_int_equal(sse_feed(&sse, str_first(stream, at), &err), 0);
        assert_int_equal(sse_feed(&sse, str_skip(stream, at), &err), 0);
        assert_int_equal(sse_finish(&sse, &err), 0);
        assert_string_equal(got.n ? got.p : "", events);
        sse_release(&sse);
        buf_release(&got);
    }
}

static void grammar_of_events(void **state)
{
    (void)state;
    expect_sse(STR(""), "");
    expect_sse(STR("data: a\n\n"), "|a@7\n");
    expect_sse(STR("data:a\r\n\r\ndata:  b\r\rdata:c\n\n"), "|a@6\n| b@18\n|c@26\n");
    expect_sse(STR("data: a\ndata: b\n\n"), "|a\nb@15\n");
    expect_sse(STR("event: error\ndata: x\n\ndata: y\n\n"), "error|x@20\n|y@29\n");
    expect_sse(STR(": hi\n:\n"), "#| hi@4\n#|@6\n");
    expect_sse(STR("data:\n\ndata\n\nevent: e\n\n"), "");
    expect_sse(STR("id: 1\nretry: 5\nfoo: bar\n: c"), "#| c@27\n");
    expect_sse(STR("data: a"), "|a@7!\n");
    expect_sse(STR("data: a\n"), "|a@7!\n");
    expect_sse(STR("\xef\xbb\xbf"
                   "data: a\n\n"),
               "|a@10\n");
    expect_sse(STR("\n\n\ndata: a\n\n\n"), "|a@10\n");
    expect_sse(STR("data: a\nevent: late\n\n"), "late|a@7\n");
}

/* A stream of one line that is `n` bytes long, its line end not counted. */
static struct buf long_line(size_t n)
{
    struct buf b = BUF_INIT(BUF_ANY);
    buf_adds(&b, "data:");
    buf_pad(&b, 'x', n - 5);
    buf_adds(&b, "\n\n");
    return b;
}

static int sse_whole(struct str stream, size_t cut, struct error *err)
{
    struct buf got = BUF_INIT(BUF_ANY);
    struct sse sse;
    int status;
    sse_init(&sse, &(struct sse_reader){.on_event = note_event, .ctx = &got});
    status = sse_feed(&sse, str_first(stream, cut), err);
    if (status == 0)
        status = sse_feed(&sse, str_skip(stream, cut), err);
    if (status == 0)
        status = sse_finish(&sse, err);
    sse_release(&sse);
    buf_release(&got);
    return status;
}

static void lines_at_the_limit_and_one_over(void **state)
{
    (void)state;
    static const size_t cuts[] = {0, 7, SSE_LINE_MAX - 1, SSE_LINE_MAX};
    struct buf at = long_line(SSE_LINE_MAX), over = long_line(SSE_LINE_MAX + 1);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct error err = {0};
        assert_int_equal(sse_whole(buf_str(&at), cuts[i], &err), 0);
        assert_int_equal(sse_whole(buf_str(&over), cuts[i], &err), -1);
        assert_int_equal(err.kind, ERROR_LIMIT);
    }
    buf_release(&at);
    buf_release(&over);
}

static void events_at_the_limit_and_one_over(void **state)
{
    (void)state;
    /* Two lines and the LF between them. */
    for (size_t more = 0; more < 2; more++) {
        struct buf b = BUF_INIT(BUF_ANY);
        struct error err = {0};
        size_t half = SSE_EVENT_MAX / 2;
        for (size_t i = 0; i < 3; i++) {
            size_t n = i == 0 ? half - 10 : i == 1 ? half - 10 : 18 + more;
            buf_adds(&b, "data:");
            buf_pad(&b, 'x', n);
            buf_adds(&b, "\n");
        }
        buf_adds(&b, "\n");
        assert_int_equal(sse_whole(buf_str(&b), 0, &err), more == 0 ? 0 : -1);
        if (more)
            assert_int_equal(err.kind, ERROR_LIMIT);
        buf_release(&b);
    }
}

/* --- newline-delimited JSON ----------------------------------------------------------------- */

static int note_line(void *ctx, const struct ndjson_line *line, struct error *err)
{
    struct buf *b = ctx;
    (void)err;
    buf_addf(b, "%.*s@%llu%s\n", STR_ARG(line->text), (unsigned long long)line->end,
             line->unterminated ? "!" : "");
    return 0;
}

static void expect_lines(struct str stream, const char *lines)
{
    for (size_t at = 0; at <= stream.n; at++) {
        struct buf got = BUF_INIT(BUF_ANY);
        struct error err = {0};
        struct ndjson nd;
        ndjson_init(&nd, &(struct ndjson_reader){.on_line = note_line, .ctx = &got});
        assert_int_equal(ndjson_feed(&nd, str_first(stream, at), &err), 0);
        assert_int_equal(ndjson_feed(&nd, str_skip(stream, at), &err), 0);
        assert_int_equal(ndjson_finish(&nd, &err), 0);
        assert_string_equal(got.n ? got.p : "", lines);
        ndjson_release(&nd);
        buf_release(&got);
    }
}

static void grammar_of_lines(void **state)
{
    (void)state;
    expect_lines(STR(""), "");
    expect_lines(STR("{}\n[]\r\n"), "{}@2\n[]@5\n");
    expect_lines(STR("\n\r\n  \n{}\n"), "{}@8\n");
    expect_lines(STR("{}\n{\"a\""), "{}@2\n{\"a\"@7!\n");
}

static void json_lines_at_the_limit_and_one_over(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++)
        for (size_t crlf = 0; crlf < 2; crlf++) {
            struct buf b = BUF_INIT(BUF_ANY), got = BUF_INIT(BUF_ANY);
            struct error err = {0};
            struct ndjson nd;
            buf_pad(&b, 'x', NDJSON_LINE_MAX + over);
            buf_adds(&b, crlf ? "\r\n" : "\n");
            ndjson_init(&nd, &(struct ndjson_reader){.on_line = note_line, .ctx = &got});
            assert_int_equal(ndjson_feed(&nd, str_first(buf_str(&b), 9), &err), 0);
            assert_int_equal(ndjson_feed(&nd, str_skip(buf_str(&b), 9), &err), over ? -1 : 0);
            if (over)
                assert_int_equal(err.kind, ERROR_LIMIT);
            ndjson_release(&nd);
            buf_release(&b);
            buf_release(&got);
        }
}

/* --- limits of an answer -------------------------------------------------------------------- */

static void decode_lines(struct decoded *d, const struct buf *body)
{
    struct wire_exchange *x = exchange_of(buf_str(body), &body->n, 1);
    decode_exchange(d, "openai-chat", true, x);
    wire_exchange_free(x);
}

static void events_of_an_answer_at_the_limit_and_one_over(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(BUF_ANY);
    struct decoded d;
    for (size_t i = 0; i + 2 < WIRE_EVENTS_MAX; i++)
        buf_adds(&b, ":\n");
    buf_adds(&b, "data:{\"choices\":[{\"text\":1,\"finish_reason\":\"stop\"}]}\n\n");
    decode_lines(&d, &b); /* one below: comments and a finish */
    assert_int_equal(d.s.outcome, OUTCOME_OK);
    assert_int_equal(d.s.events_n, WIRE_EVENTS_MAX - 1);
    decoded_release(&d);
    buf_adds(&b, ":\n:\n");
    decode_lines(&d, &b);
    assert_int_equal(d.s.outcome, OUTCOME_FAILED);
    assert_int_equal(d.s.failure, FAILURE_CLIENT);
    assert_int_equal(d.s.events_n, WIRE_EVENTS_MAX);
    decoded_release(&d);
    buf_release(&b);
}

static void a_line_without_end(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(BUF_ANY);
    struct decoded d;
    buf_adds(&b, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: ");
    buf_pad(&b, 'x', SSE_LINE_MAX);
    decode_lines(&d, &b);
    assert_int_equal(d.s.outcome, OUTCOME_FAILED);
    assert_int_equal(d.s.failure, FAILURE_CLIENT); /* our limit, and the error names it */
    assert_true(str_find(d.s.error, STR("4194304")) != STR_NONE);
    assert_int_equal(d.s.events_n, 1); /* what came before is kept */
    decoded_release(&d);
    buf_release(&b);
}

/* --- requests ------------------------------------------------------------------------------- */

#define TEXT(literal)                   \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }

static const struct wire_message hello[] = {{TEXT("user"), TEXT("say \"hi\"\n")}};

static void expect_body(const char *protocol, const struct wire_ask *ask, const char *body)
{
    struct buf b = BUF_INIT(BUF_ANY);
    struct error err = {0};
    if (wire_build(wire_protocol_find(protocol), ask, &b, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(b.p, body);
    buf_release(&b);
}

static void bodies_as_sent(void **state)
{
    (void)state;
    static const uint32_t ids[] = {6023, 1052};
    struct wire_ask ask = {.model = "m",
                           .messages = hello,
                           .messages_n = 1,
                           .max_tokens = 8,
                           .seed = 0,
                           .has_temperature = true,
                           .stream = true,
                           .include_usage = true,
                           .ignore_eos = true,
                           .extra_json = STR("{\"cache_prompt\":false,\"x\":[1.50]}")};
    expect_body("openai-chat", &ask,
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"say "
                "\\\"hi\\\"\\n\"}],\"stream\":true,\"stream_options\":{\"include_usage\":true},"
                "\"max_tokens\":8,\"temperature\":0,\"seed\":0,\"ignore_eos\":true,"
                "\"cache_prompt\":false,\"x\":[1.50]}");
    ask.ignore_eos = false;
    expect_body("ollama-chat", &ask,
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"say "
                "\\\"hi\\\"\\n\"}],\"stream\":true,\"options\":{\"num_predict\":8,"
                "\"temperature\":0,\"seed\":0},\"cache_prompt\":false,\"x\":[1.50]}");
    ask = (struct wire_ask){.prompt_ids = ids,
                            .prompt_ids_n = 2,
                            .max_tokens = COUNT_NONE,
                            .seed = COUNT_NONE,
                            .stream = false,
                            .include_usage = true};
    expect_body("openai-completions", &ask, "{\"prompt\":[6023,1052],\"stream\":false}");
    expect_body("llamacpp-completion", &ask,
                "{\"prompt\":[6023,1052],\"stream\":false,\"return_tokens\":true}");
    ask = (struct wire_ask){.prompt = STR("hi"), .max_tokens = 3, .seed = 7, .stream = true};
    expect_body("llamacpp-completion", &ask,
                "{\"prompt\":\"hi\",\"stream\":true,\"return_tokens\":true,\"n_predict\":3,"
                "\"seed\":7}");
    expect_body("ollama-generate", &ask,
                "{\"prompt\":\"hi\",\"raw\":true,\"stream\":true,\"options\":{\"num_predict\":3,"
                "\"seed\":7}}");
}

static void expect_refused(const char *protocol, const struct wire_ask *ask, enum error_kind kind)
{
    struct buf b = BUF_INIT(BUF_ANY);
    struct error err = {0};
    assert_int_equal(wire_build(wire_protocol_find(protocol), ask, &b, &err), -1);
    assert_int_equal(err.kind, kind);
    assert_true(err.remedy[0] != '\0');
    assert_int_equal(b.n, 0);
    buf_release(&b);
}

static void requests_that_cannot_be_asked(void **state)
{
    (void)state;
    static const uint32_t ids[] = {1};
    static const struct wire_message broken[] = {{TEXT("user"), TEXT("\xff")}};
    struct wire_ask chat = {
        .messages = hello, .messages_n = 1, .max_tokens = COUNT_NONE, .seed = COUNT_NONE};
    struct wire_ask text = {.prompt = STR("hi"), .max_tokens = COUNT_NONE, .seed = COUNT_NONE};
    expect_refused("openai-completions", &chat, ERROR_UNSUPPORTED);
    expect_refused("openai-chat", &text, ERROR_UNSUPPORTED);
    text.prompt_ids = ids;
    text.prompt_ids_n = 1;
    expect_refused("ollama-generate", &text, ERROR_UNSUPPORTED);
    chat.ignore_eos = true;
    expect_refused("ollama-chat", &chat, ERROR_UNSUPPORTED);
    chat.ignore_eos = false;
    chat.extra_json = STR("{\"stream\":false}");
    expect_refused("openai-chat", &chat, ERROR_USAGE);
    chat.extra_json = STR("[1]");
    expect_refused("openai-chat", &chat, ERROR_USAGE);
    chat.extra_json = STR("");
    chat.messages = broken;
    expect_refused("openai-chat", &chat, ERROR_INPUT);
}

static void judged_by_the_tokens_that_came(void **state)
{
    (void)state;
    struct wire_ask ask = {.ignore_eos = true, .max_tokens = 20};
    struct sample s;
    sample_init(&s);
    s.outcome = OUTCOME_OK;
    wire_judge_length(&s, &ask);
    assert_int_equal(s.outcome, OUTCOME_OK); /* no count: nothing to judge by */
    s.output_reported.total = 20;
    wire_judge_length(&s, &ask);
    assert_int_equal(s.outcome, OUTCOME_OK);
    s.output_observed.total = 13; /* wire case 38: what was observed goes first */
    wire_judge_length(&s, &ask);
    assert_int_equal(s.outcome, OUTCOME_SHORT);
    s.outcome = OUTCOME_OK;
    ask.ignore_eos = false;
    wire_judge_length(&s, &ask);
    assert_int_equal(s.outcome, OUTCOME_OK);
    ask.ignore_eos = true;
    s.outcome = OUTCOME_TRUNCATED;
    wire_judge_length(&s, &ask);
    assert_int_equal(s.outcome, OUTCOME_TRUNCATED);
}

static void every_protocol_is_found(void **state)
{
    (void)state;
    const struct wire_protocol *p;
    size_t n = 0;
    for (; (p = wire_protocol_at(n)) != NULL; n++) {
        assert_ptr_equal(wire_protocol_find(p->name), p);
        assert_true(p->path[0] == '/' && p->build && p->decode);
        assert_true(p->takes_messages != p->takes_ids || !p->takes_ids);
    }
    assert_int_equal(n, 5);
    assert_null(wire_protocol_find("grpc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grammar_of_events),
        cmocka_unit_test(lines_at_the_limit_and_one_over),
        cmocka_unit_test(events_at_the_limit_and_one_over),
        cmocka_unit_test(grammar_of_lines),
        cmocka_unit_test(json_lines_at_the_limit_and_one_over),
        cmocka_unit_test(events_of_an_answer_at_the_limit_and_one_over),
        cmocka_unit_test(a_line_without_end),
        cmocka_unit_test(bodies_as_sent),
        cmocka_unit_test(requests_that_cannot_be_asked),
        cmocka_unit_test(judged_by_the_tokens_that_came),
        cmocka_unit_test(every_protocol_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
