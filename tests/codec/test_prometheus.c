/* The text of metrics. What is right follows from the format's own description (Prometheus
 * documentation, "Exposition formats", version 0.0.4; OpenMetrics 1.0 for exemplars). */
#include "codec/prometheus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"

#define KEPT 8

struct kept {
    struct prom_sample s[KEPT];
    size_t n;
};

static int keep(void *ctx, const struct prom_sample *s)
{
    struct kept *k = ctx;
    if (k->n < KEPT)
        k->s[k->n] = *s;
    k->n++;
    return 0;
}

static int stop_at_two(void *ctx, const struct prom_sample *s)
{
    size_t *n = ctx;
    (void)s;
    return ++*n == 2;
}

static void samples(void **state)
{
    (void)state;
    static const char text[] = "# HELP a words: 1 {\n# TYPE a counter\n"
                               "a 3\n"
                               "\n"
                               "vllm:x_total{engine=\"0\",m=\"a \\\"b\\\" \\\\ }\",} 1.5e3\n"
                               "  b{}\t-0.25  1395066363000\r\n"
                               "c{le=\"+Inf\"} +Inf # {id=\"x\"} 0.5 1.0\n"
                               "d NaN\n"
                               "# EOF";
    struct kept k = {.n = 0};
    struct error err = {0};
    assert_int_equal(prom_read(str_of(text), keep, &k, &err), 0);
    assert_int_equal(k.n, 5);
    assert_true(str_eq(k.s[0].name, STR("a")) && k.s[0].labels.n == 0 && k.s[0].value == 3);
    assert_int_equal(k.s[0].line, 3);
    assert_true(str_eq(k.s[1].name, STR("vllm:x_total")) && k.s[1].value == 1500);
    assert_true(str_eq(k.s[1].labels, STR("engine=\"0\",m=\"a \\\"b\\\" \\\\ }\",")));
    assert_true(str_eq(k.s[2].name, STR("b")) && k.s[2].value == -0.25);
    assert_int_equal(k.s[2].line, 6);
    assert_true(isinf(k.s[3].value) && k.s[3].value > 0);
    assert_true(isnan(k.s[4].value));
    assert_int_equal(prom_read(STR(""), keep, &k, &err), 0);
}

static void reading_can_be_ended(void **state)
{
    (void)state;
    struct error err = {0};
    size_t n = 0;
    assert_int_equal(prom_read(STR("a 1\nb 2\nc 3\n"), stop_at_two, &n, &err), 1);
    assert_int_equal(n, 2);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
        int line, column;
    } cases[] = {
        {"a 1\n1b 2\n", "a metric's name is wanted", 2, 1},
        {"a\n", "a number is wanted behind the metric", 1, 2},
        {"a x\n", "a number is wanted behind the metric", 1, 3},
        {"a 0x10\n", "a number is wanted behind the metric", 1, 3},
        {"a{b=\"x\" 1\n", "',' or '}' is wanted behind a label", 1, 9},
        {"a{b=\"x 1\n", "a label's value does not end", 1, 9},
        {"a{b=x} 1\n", "a label's value in quotes is wanted", 1, 5},
        {"a{=\"x\"} 1\n", "a label's name is wanted", 1, 3},
        {"a{b \"x\"} 1\n", "'=' is wanted behind a label's name", 1, 5},
        {"a 1 soon\n", "what stands behind the number is no time stamp", 1, 5},
        {"a 1 2 3\n", "more than a line may hold", 1, 7},
        {"<html>", "a metric's name is wanted", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kept k = {.n = 0};
        struct error err = {0};
        assert_int_equal(prom_read(str_of(cases[i].text), keep, &k, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_string_equal(err.message, cases[i].why);
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
}

static int read_text(struct buf *b, struct error *err)
{
    struct kept k = {.n = 0};
    *err = (struct error){0};
    return prom_read(buf_str(b), keep, &k, err);
}

/* Each limit, and one over. */
static void limits(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(BUF_ANY);
    struct error err;
    for (size_t over = 0; over < 2; over++) {
        buf_reset(&b);
        buf_adds(&b, "a 1 #");
        buf_pad(&b, 'x', PROM_LINE_MAX - 5 + over);
        buf_addc(&b, '\n');
        assert_int_equal(read_text(&b, &err), over ? -1 : 0);
        assert_true(!over || err.kind == ERROR_LIMIT);

        buf_reset(&b);
        buf_adds(&b, "a{");
        for (size_t i = 0; i < PROM_LABELS_MAX + over; i++)
            buf_adds(&b, "b=\"\",");
        buf_adds(&b, "} 1\n");
        assert_int_equal(read_text(&b, &err), over ? -1 : 0);
        assert_true(!over || err.kind == ERROR_LIMIT);

        buf_reset(&b);
        for (size_t i = 0; i < PROM_SAMPLES_MAX + over; i++)
            buf_adds(&b, "a 1\n");
        buf_adds(&b, "# not counted\n\n");
        assert_int_equal(read_text(&b, &err), over ? -1 : 0);
        assert_true(!over || err.kind == ERROR_LIMIT);
        assert_true(!over || err.line == PROM_SAMPLES_MAX + 1);
    }
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(reading_can_be_ended),
        cmocka_unit_test(refusals),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
