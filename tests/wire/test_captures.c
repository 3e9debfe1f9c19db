/*
 * Answers of a real llama-server (../shared/captures/llama-server), each HTTP chunk taken as one
 * read. What is expected was read from the captures by hand. Skipped where ../shared is absent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "client.h"

#define READS_MAX 256

struct expected {
    const char *name, *protocol;
    bool blocking;
    enum sample_outcome outcome;
    enum sample_failure failure;
    const char *error; /* what it starts with */
    int64_t prompt, cached, reported, observed, prefill_tokens;
    const char *text;                        /* joined, of choice 0 */
    int64_t first_read, first_event, tokens; /* token-bearing events; COUNT_NONE where none */
    bool finish, done;
};

#define NONE COUNT_NONE
#define EIGHT " guitar.Source_BARlabs除去ovic ARGS上年"
#define FOUR " guitar.Source_BARlabs"
#define CONTENT_ONLY \
    "The model produced output that does not match the expected Content-only format"

static const struct expected captures[] = {
    {"stream-usage", "openai-chat", false, OUTCOME_OK, FAILURE_NONE, "", 30, 24, 8, NONE, 6, EIGHT,
     0, 1, 8, true, true},
    {"stream-no-usage", "openai-chat", false, OUTCOME_OK, FAILURE_NONE, "", 30, 29, 8, NONE, 1,
     EIGHT, 0, 1, 8, true, true},
    {"stream-logprobs", "openai-chat", false, OUTCOME_OK, FAILURE_NONE, "", 30, 29, 4, 4, 1, FOUR,
     0, 1, 4, true, true},
    {"stream-n2", "openai-chat", false, OUTCOME_OK, FAILURE_NONE, "", 30, 24, 3, NONE, 6,
     " guitar.Source_BAR", 0, 1, 6, true, true},
    {"stream-progress", "openai-chat", false, OUTCOME_OK, FAILURE_NONE, "", 36, 24, 4, NONE, 12,
     " Đông这些人 bacterial sect", 2, 3, 4, true, true},
    {"stream-return-tokens", "openai-chat", false, OUTCOME_OK, FAILURE_NONE, "", 30, 29, 4, NONE, 1,
     FOUR, 0, 1, 4, true, true},
    {"stream-timings-per-token", "openai-chat", false, OUTCOME_OK, FAILURE_NONE, "", 30, 29, 4,
     NONE, 1, FOUR, 0, 1, 4, true, true},
    {"error-mid-stream", "openai-chat", false, OUTCOME_FAILED, FAILURE_SERVER_ERROR,
     "The model produced output that does not match the expected peg-native format", NONE, NONE,
     NONE, NONE, NONE,
     " guitar.Source(startTime Holden disorder宏观권 Cancрок Lego tăngERRORmodulo", 0, 1, 13, false,
     false},
    {"native-completion-stream", "llamacpp-completion", false, OUTCOME_FAILED, FAILURE_SERVER_ERROR,
     CONTENT_ONLY, 2, NONE, 1, 1, NONE, "ético", 0, 0, 1, false, false},
    {"completions-ids-stream", "openai-completions", false, OUTCOME_FAILED, FAILURE_SERVER_ERROR,
     CONTENT_ONLY, NONE, NONE, NONE, NONE, NONE, "ético", 0, 0, 1, false, false},
    {"completions-text-stream", "openai-completions", false, OUTCOME_FAILED, FAILURE_SERVER_ERROR,
     CONTENT_ONLY, NONE, NONE, NONE, NONE, NONE, "ético", 0, 0, 1, false, false},
    {"blocking", "openai-chat", true, OUTCOME_OK, FAILURE_NONE, "", 30, 29, 4, NONE, 1, FOUR, 0, 0,
     1, true, false},
    {"error-bad-json", "openai-chat", false, OUTCOME_FAILED, FAILURE_HTTP,
     "HTTP 500: [json.exception.parse_error.101] parse error at line 1, column 13", NONE, NONE,
     NONE, NONE, NONE, "", NONE, NONE, 0, false, false},
    {"error-no-messages", "openai-chat", false, OUTCOME_FAILED, FAILURE_HTTP,
     "HTTP 400: 'messages' is required", NONE, NONE, NONE, NONE, NONE, "", NONE, NONE, 0, false,
     false},
    {"error-context-exceeded", "openai-chat", false, OUTCOME_FAILED, FAILURE_HTTP,
     "HTTP 400: request (9030 tokens) exceeds the available context size (4096 tokens)", NONE, NONE,
     NONE, NONE, NONE, "", NONE, NONE, 0, false, false},
};

struct capture {
    struct buf file, body;
    size_t ends[READS_MAX], reads;
    int status;
    char type[128];
};

static void take_chunks(struct capture *c, struct str rest)
{
    while (rest.n > 0) {
        char *end;
        size_t n = (size_t)strtoul(rest.p, &end, 16);
        rest = str_skip(rest, (size_t)(end - rest.p) + 2);
        if (n == 0)
            return;
        assert_true(n + 2 <= rest.n && c->reads < READS_MAX);
        buf_addstr(&c->body, str_first(rest, n));
        c->ends[c->reads++] = c->body.n;
        rest = str_skip(rest, n + 2);
    }
}

static bool load(struct capture *c, const char *name)
{
    const char *shared = getenv("TALLY_SHARED");
    char path[512];
    struct error err = {0};
    struct str head;
    size_t at;
    *c = (struct capture){0};
    buf_init(&c->body, WIRE_RESPONSE_MAX);
    snprintf(path, sizeof path, "%s/captures/llama-server/%s.response.http", shared ? shared : "",
             name);
    if (!shared || !file_exists(path))
        return false;
    assert_int_equal(file_read(&c->file, path, WIRE_RESPONSE_MAX, &err), 0);
    at = str_find(buf_str(&c->file), STR("\r\n\r\n"));
    assert_true(at != STR_NONE);
    head = str_first(buf_str(&c->file), at + 2);
    c->status = atoi(head.p + strlen("HTTP/1.1 "));
    at = str_find(head, STR("Content-Type: "));
    assert_true(at != STR_NONE);
    snprintf(c->type, sizeof c->type, "%.*s", (int)strcspn(head.p + at + 14, "\r"),
             head.p + at + 14);
    if (str_find(head, STR("chunked")) != STR_NONE) {
        take_chunks(c, str_skip(buf_str(&c->file), head.n + 2));
    } else {
        buf_addstr(&c->body, str_skip(buf_str(&c->file), head.n + 2));
        c->ends[c->reads++] = c->body.n;
    }
    return true;
}

static struct wire_exchange *as_answer(const struct capture *c, const size_t *ends, size_t n)
{
    struct wire_exchange *x = exchange_of(buf_str(&c->body), ends, n);
    x->http_status = c->status;
    snprintf(x->content_type, sizeof x->content_type, "%s", c->type);
    return x;
}

static void check(const struct expected *e, const struct sample *s)
{
    struct buf text = BUF_INIT(BUF_ANY);
    int64_t first = COUNT_NONE, tokens = 0;
    assert_int_equal(s->outcome, e->outcome);
    assert_int_equal(s->failure, e->failure);
    assert_true(str_starts(s->error, str_of(e->error)));
    assert_int_equal(s->error.n == 0, e->error[0] == '\0');
    assert_int_equal(s->prompt_reported, e->prompt);
    assert_int_equal(s->prompt_cached, e->cached);
    assert_int_equal(s->output_reported.total, e->reported);
    assert_int_equal(s->output_observed.total, e->observed);
    assert_int_equal(s->prefill_tokens, e->prefill_tokens);
    assert_int_equal(s->saw_finish, e->finish);
    assert_int_equal(s->saw_done, e->done);
    sample_join_text(s, EVENT_TEXT, &text);
    assert_true(str_eq(buf_str(&text), str_of(e->text)));
    buf_release(&text);
    for (size_t i = 0; i < s->events_n; i++) {
        if (!sample_event_has_token(&s->events[i]))
            continue;
        tokens++;
        if (first == COUNT_NONE)
            first = (int64_t)i;
    }
    assert_int_equal(first, e->first_event);
    assert_int_equal(tokens, e->tokens);
}

static void one_capture(void **state)
{
    const struct expected *e = *state;
    struct capture c;
    struct decoded d;
    struct wire_exchange *x;
    if (!load(&c, e->name)) {
        print_message("[ SKIPPED  ] captures are not at hand: TALLY_SHARED\n");
        skip();
    }
    x = as_answer(&c, c.ends, c.reads);
    decode_exchange(&d, e->protocol, !e->blocking, x);
    check(e, &d.s);
    if (e->first_event != COUNT_NONE)
        assert_int_equal(d.s.events[e->first_event].read, e->first_read);
    decoded_release(&d);
    wire_exchange_free(x);
    for (size_t at = 0; at < c.body.n; at++) {
        size_t ends[2] = {at, c.body.n};
        x = as_answer(&c, ends, 2);
        decode_exchange(&d, e->protocol, !e->blocking, x);
        check(e, &d.s);
        decoded_release(&d);
        wire_exchange_free(x);
    }
    buf_release(&c.file);
    buf_release(&c.body);
}

static void ids_of_logprobs(void **state)
{
    (void)state;
    static const uint32_t ids[] = {16986, 30350, 47405, 70271};
    struct capture c;
    struct decoded d;
    if (!load(&c, "stream-logprobs")) {
        print_message("[ SKIPPED  ] captures are not at hand: TALLY_SHARED\n");
        skip();
    }
    struct wire_exchange *x = as_answer(&c, c.ends, c.reads);
    decode_exchange(&d, "openai-chat", true, x);
    for (size_t i = 0; i < 4; i++) {
        const struct sample_event *e = &d.s.events[i + 1]; /* behind the role */
        assert_int_equal(e->read, i);
        assert_int_equal(e->ids_n, 1);
        assert_int_equal(e->ids[0], ids[i]);
        assert_int_equal(e->logprob_n, 1);
    }
    decoded_release(&d);
    wire_exchange_free(x);
    buf_release(&c.file);
    buf_release(&c.body);
}

static void reads_of_stream_usage(void **state)
{
    (void)state;
    struct capture c;
    struct decoded d;
    if (!load(&c, "stream-usage")) {
        print_message("[ SKIPPED  ] captures are not at hand: TALLY_SHARED\n");
        skip();
    }
    assert_int_equal(c.reads, 10);
    struct wire_exchange *x = as_answer(&c, c.ends, c.reads);
    decode_exchange(&d, "openai-chat", true, x);
    assert_int_equal(d.s.events_n, 12); /* role, 8 texts, finish, usage, done */
    assert_int_equal(d.s.events[0].kind, EVENT_ROLE);
    assert_int_equal(d.s.events[0].read, 0);
    for (uint32_t i = 1; i <= 8; i++) {
        assert_int_equal(d.s.events[i].kind, EVENT_TEXT);
        assert_int_equal(d.s.events[i].read, i - 1);
    }
    assert_int_equal(d.s.events[9].kind, EVENT_FINISH);
    assert_int_equal(d.s.events[9].read, 8);
    assert_int_equal(d.s.events[10].kind, EVENT_USAGE);
    assert_int_equal(d.s.events[10].read, 8);
    assert_int_equal(d.s.events[11].kind, EVENT_DONE);
    assert_int_equal(d.s.events[11].read, 9);
    assert_int_equal(d.s.prefill_ns, 6737000);
    decoded_release(&d);
    wire_exchange_free(x);
    buf_release(&c.file);
    buf_release(&c.body);
}

int main(void)
{
    enum { N = sizeof captures / sizeof *captures };
    struct CMUnitTest tests[N + 2];
    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){.name = captures[i].name,
                                       .test_func = one_capture,
                                       .initial_state = (void *)(uintptr_t)&captures[i]};
    tests[N] = (struct CMUnitTest)cmocka_unit_test(ids_of_logprobs);
    tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(reads_of_stream_usage);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
