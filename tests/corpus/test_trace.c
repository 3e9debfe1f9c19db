/* Traces of the three forms: what is read, and what is refused, with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "corpus/corpus.h"
#include "corpus/trace.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

static int read(struct trace *t, const char *text, struct error *err)
{
    *err = (struct error){0};
    return trace_read_bytes(t, str_of(text), "t", TRACE_AUTO, 0, err);
}

static void is(const struct trace *t, enum trace_format format, const struct trace_item *items,
               size_t n)
{
    assert_int_equal(t->format, format);
    assert_int_equal(t->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(t->items[i].at_ns, items[i].at_ns);
        assert_int_equal(t->items[i].prompt_tokens, items[i].prompt_tokens);
        assert_int_equal(t->items[i].output_tokens, items[i].output_tokens);
    }
}

static void jsonl(void **state)
{
    static const struct trace_item items[] = {{0, 512, 128}, {1500 * MS, 1, 1}, {1500 * MS, 7, 9}};
    struct error err;
    struct trace t;
    (void)state;
    /* times count from the first; members of other names are passed over */
    assert_int_equal(
        read(&t,
             "{\"time\": 10.25, \"prompt_tokens\": 512, \"output_tokens\": 128}\n"
             "\n"
             "{\"time\":11.75,\"prompt_tokens\":1,\"output_tokens\":1,\"model\":\"x\"}\r\n"
             "{\"output_tokens\":9,\"time\":11.75,\"prompt_tokens\":7}",
             &err),
        0);
    is(&t, TRACE_JSONL, items, 3);
    trace_release(&t);
}

static void mooncake(void **state)
{
    static const struct trace_item items[] = {{0, 6955, 52}, {3053 * MS, 6472, 26}};
    struct error err;
    struct trace t;
    (void)state;
    assert_int_equal(read(&t,
                          "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, "
                          "\"hash_ids\": [46, 47, 48]}\n"
                          "{\"timestamp\": 30535, \"input_length\": 6472, \"output_length\": 26, "
                          "\"hash_ids\": []}\n",
                          &err),
                     0);
    is(&t, TRACE_MOONCAKE, items, 2);
    trace_release(&t);
}

/* The stamps of 2023 (seven decimals) and of 2024 (six, with an offset); a day's end between. */
static void azure(void **state)
{
    static const struct trace_item one[] = {{0, 4808, 10}, {52 * MS, 3180, 8}};
    static const struct trace_item two[] = {{0, 2162, 5}, {9930 * INT64_C(1000) + S, 2399, 6}};
    struct error err;
    struct trace t;
    (void)state;
    assert_int_equal(read(&t,
                          "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
                          "2023-11-16 18:17:03.9799600,4808,10\r\n"
                          "2023-11-16 18:17:04.0319600,3180,8\r\n",
                          &err),
                     0);
    is(&t, TRACE_AZURE, one, 2);
    trace_release(&t);
    assert_int_equal(read(&t,
                          "\xef\xbb\xbfTIMESTAMP,ContextTokens,GeneratedTokens\n"
                          "2024-05-09 23:59:59+00:00,2162,5\n"
                          "2024-05-10 00:00:00.009930+00:00,2399,6\n",
                          &err),
                     0);
    is(&t, TRACE_AZURE, two, 2);
    trace_release(&t);
}

static void refused(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *said;
    } cases[] = {
        {"", 0, "no request"},
        {"\n\n", 0, "no request"},
        {"\xef\xbb\xbf", 0, "no request"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n", 0, "no request"},
        {"time,tokens\n", 1, "neither JSON nor the header"},
        {"{\"time\":0,\"prompt_tokens\":1,\"output_tokens\":1}\n{\"time\":1,", 2, ""},
        {"{\"time\":\"0\",\"prompt_tokens\":1,\"output_tokens\":1}", 1, "\"time\""},
        {"{\"time\":0,\"prompt_tokens\":1.5,\"output_tokens\":1}", 1, "\"prompt_tokens\""},
        {"{\"time\":0,\"prompt_tokens\":1}", 1, "\"output_tokens\""},
        {"{\"timestamp\":0,\"input_length\":1}", 1, "\"output_length\""},
        {"{\"time\":0,\"prompt_tokens\":0,\"output_tokens\":1}", 1, "0 prompt"},
        {"{\"time\":0,\"prompt_tokens\":1,\"output_tokens\":0}", 1, "0 output"},
        {"{\"time\":0,\"prompt_tokens\":1,\"output_tokens\":-1}", 1, "-1 output"},
        {"{\"time\":1e300,\"prompt_tokens\":1,\"output_tokens\":1}", 1, "out of range"},
        {"{\"time\":5,\"prompt_tokens\":1,\"output_tokens\":1}\n"
         "{\"time\":4,\"prompt_tokens\":1,\"output_tokens\":1}",
         2, "before the one above"},
        {"{\"time\":0,\"prompt_tokens\":1,\"output_tokens\":1}\n"
         "{\"time\":34560000.5,\"prompt_tokens\":1,\"output_tokens\":1}",
         2, "400 days"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n1720-11-16 18:17:03,1,1\n"
         "2046-11-16 18:17:03,1,1\n",
         3, "400 days"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2046-11-16 18:17:03,1,1\n"
         "1720-11-16 18:17:03,1,1\n",
         3, "before the one above"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,1\n", 2, "three columns"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,1\n", 2, "no time"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,1,1,1\n", 2, "no numbers"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,x,1\n", 2, "no numbers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err;
        struct trace t;
        if (read(&t, cases[i].text, &err) == 0)
            fail_msg("case %zu is read", i);
        if (!strstr(err.message, cases[i].said) || err.line != cases[i].line)
            fail_msg("case %zu: line %d: %s", i, (int)err.line, err.message);
    }
}

static void put_lines(struct buf *out, int64_t n, int64_t tokens)
{
    for (int64_t i = 0; i < n; i++)
        buf_addf(out, "{\"time\":%lld,\"prompt_tokens\":%lld,\"output_tokens\":1}\n",
                 (long long)i / 10, (long long)tokens);
}

/* At each limit, and one past it. */
static void limits(void **state)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct error err = {0};
    struct trace t;
    (void)state;
    put_lines(&text, TRACE_ITEMS_MAX, 1);
    assert_int_equal(trace_read_bytes(&t, buf_str(&text), "t", TRACE_AUTO, 0, &err), 0);
    assert_int_equal(t.n, TRACE_ITEMS_MAX);
    trace_release(&t);
    buf_adds(&text, "{\"time\":200000,\"prompt_tokens\":1,\"output_tokens\":1}\n");
    assert_int_equal(trace_read_bytes(&t, buf_str(&text), "t", TRACE_AUTO, 0, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    assert_int_equal(err.line, TRACE_ITEMS_MAX + 1);
    /* a part of it is a trace: what lies behind is not read */
    assert_int_equal(trace_read_bytes(&t, buf_str(&text), "t", TRACE_AUTO, 3, &err), 0);
    assert_int_equal(t.n, 3);
    trace_release(&t);

    buf_reset(&text);
    put_lines(&text, 1, CORPUS_TOKENS_MAX);
    assert_int_equal(trace_read_bytes(&t, buf_str(&text), "t", TRACE_AUTO, 0, &err), 0);
    trace_release(&t);
    buf_reset(&text);
    put_lines(&text, 1, CORPUS_TOKENS_MAX + 1);
    assert_int_equal(trace_read_bytes(&t, buf_str(&text), "t", TRACE_AUTO, 0, &err), -1);

    for (size_t more = 0; more < 2; more++) {
        buf_reset(&text);
        put_lines(&text, 1, 1);
        buf_truncate(&text, text.n - 1);
        while (text.n < TRACE_LINE_MAX + more)
            buf_addc(&text, ' ');
        int rc = trace_read_bytes(&t, buf_str(&text), "t", TRACE_AUTO, 0, &err);
        assert_int_equal(rc, more ? -1 : 0);
        trace_release(&t);
    }
    buf_release(&text);
}

static void when_due(void **state)
{
    static const struct trace_item at = {.at_ns = 3 * S + 1}, late = {.at_ns = TRACE_SPAN_MAX_NS};
    const struct trace t = {.n = 5};
    (void)state;
    assert_int_equal(trace_due_ns(&at, 1000), 3 * S + 1);
    assert_int_equal(trace_due_ns(&at, 2000), 1500 * MS);
    assert_int_equal(trace_due_ns(&at, 500), 6 * S + 2);
    assert_int_equal(trace_due_ns(&at, 3000), S);
    assert_int_equal(trace_due_ns(&at, 1), 3000 * S + 1000);
    assert_int_equal(trace_due_ns(&late, 1000), TRACE_SPAN_MAX_NS);
    assert_int_equal(trace_due_ns(&late, 100000000), TRACE_SPAN_MAX_NS / 100000);
    assert_int_equal(trace_pick(&t, false, 0), 0);
    assert_int_equal(trace_pick(&t, false, 6), 1);
    assert_int_equal(trace_pick(&t, true, 0), 4);
    assert_int_equal(trace_pick(&t, true, 6), 3);
}

/* The form is asserted where it is named. */
static void named(void **state)
{
    struct error err = {0};
    struct trace t;
    (void)state;
    for (int f = 0; f < TRACE_AUTO; f++)
        assert_int_equal(trace_format_find(trace_format_name((enum trace_format)f)), f);
    assert_int_equal(trace_format_find("auto"), TRACE_AUTO);
    assert_int_equal(trace_format_find(NULL), TRACE_AUTO);
    assert_int_equal(trace_read_bytes(&t,
                                      STR("{\"time\":0,\"prompt_tokens\":1,\"output_tokens\":1}"),
                                      "t", TRACE_MOONCAKE, 0, &err),
                     -1);
    assert_non_null(strstr(err.message, "\"timestamp\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jsonl),   cmocka_unit_test(mooncake), cmocka_unit_test(azure),
        cmocka_unit_test(refused), cmocka_unit_test(limits),   cmocka_unit_test(when_due),
        cmocka_unit_test(named),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
