/* CSV after RFC 4180, and the blocks of --sparklines, on documents written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/json.h"
#include "metrics/names.h"
#include "report/show_csv.h"

static const struct json *parse(const char *text, struct arena *arena)
{
    const struct json *doc;
    struct error err = {0};
    if (json_parse(&doc, str_of(text), &JSON_LIMITS_DEFAULT, arena, &err) < 0)
        fail_msg("%s", err.message);
    return doc;
}

static void fields(void **state)
{
    static const struct {
        struct str in;
        const char *want;
    } cases[] = {
        {{"", 0}, ""},
        {{"plain text", 10}, "plain text"},
        {{"a,b", 3}, "\"a,b\""},
        {{"say \"x\"", 7}, "\"say \"\"x\"\"\""},
        {{"a\nb", 3}, "\"a\nb\""},
        {{"a\rb", 3}, "\"a\rb\""},
        {{"\"", 1}, "\"\"\"\""},
        {{"\xE8\xA8\x88", 3}, "\xE8\xA8\x88"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = BUF_INIT(64);
        csv_field(&b, cases[i].in);
        assert_true(str_eq(buf_str(&b), str_of(cases[i].want)));
        buf_release(&b);
    }
}

/* The record of a metric, without its end of line. */
static struct str record_of(struct str csv, const char *metric)
{
    struct str line, name[7], rest;
    while (csv.n) {
        str_cut(csv, '\n', &line, &csv);
        assert_true(str_ends(line, STR("\r")));
        line.n--;
        rest = line;
        for (size_t i = 0; i < 7; i++)
            str_cut(rest, ',', &name[i], &rest);
        if (str_eq(name[6], str_of(metric)))
            return line;
    }
    fail_msg("no record of %s", metric);
    return line;
}

static void expect(struct str csv, const char *metric, const char *want)
{
    struct str got = record_of(csv, metric);
    if (!str_eq(got, str_of(want)))
        fail_msg("%.*s\nis not\n%s", STR_ARG(got), want);
}

#define DOC                                                                                   \
    "{\"run_id\":\"r1\",\"bands\":[{\"lane\":\"subject\",\"band\":4,\"replicate\":2,"         \
    "\"status\":\"REFUSED\",\"reason\":\"a, \\\"b\\\"\",\"metrics\":{"                        \
    "\"ttft_ms\":{\"n\":3,\"censored_n\":1,\"mean\":1.500000,\"min\":1.0,\"p50\":2.0,"        \
    "\"p90\":null,\"p95\":null,\"p99\":null,\"max\":null},\"ttfc_ms\":null,"                  \
    "\"itl_ms\":{\"n\":7,\"mean\":5.4,\"min\":[0.0,1.5],\"p50\":[5.1,5.2],\"p90\":null,"      \
    "\"p95\":null,\"p99\":null,\"max\":[9.0,10.25]},\"agg_tok_s\":{\"n\":12,\"value\":401}}," \
    "\"unproduced_fields\":{\"metrics.ttft_ms.p90\":\"n_too_small\","                         \
    "\"metrics.ttft_ms.max\":\"censored\",\"metrics.ttfc_ms\":\"nothing_measured\","          \
    "\"metrics.ttft_ms_more\":\"none of ours\",\"counts.planned\":\"closed_loop\"}}]}"

static void records(void **state)
{
    struct arena arena;
    struct buf out = BUF_INIT(BUF_ANY);
    size_t lines = 0;
    (void)state;
    arena_init(&arena, 1 << 20);
    show_csv(parse(DOC, &arena), &out);
    expect(
        buf_str(&out), "metric",
        "run_id,lane,band,replicate,status,reason,metric,unit,n,censored_n,value,mean,min,p50,"
        "p90,p95,p99,max,min_upper,p50_upper,p90_upper,p95_upper,p99_upper,max_upper,unproduced");
    /* The reason holds a comma, so a naive cut sees two fields: it is looked for by its text. */
    assert_true(str_find(buf_str(&out),
                         STR("r1,subject,4,2,REFUSED,\"a, \"\"b\"\"\",ttft_ms,ms,3,1,,1.500000,1.0,"
                             "2.0,,,,,,,,,,,p90=n_too_small max=censored\r\n")) != STR_NONE);
    assert_true(str_find(buf_str(&out), STR(",ttfc_ms,ms,,,,,,,,,,,,,,,,,nothing_measured\r\n")) !=
                STR_NONE);
    assert_true(str_find(buf_str(&out), STR(",itl_ms,ms,7,,,5.4,0.0,5.1,,,,9.0,1.5,5.2,,,,10.25,"
                                            "\r\n")) != STR_NONE);
    assert_true(str_find(buf_str(&out), STR(",agg_tok_s,tok/s,12,,401,,,,,,,,,,,,,,\r\n")) !=
                STR_NONE);
    for (size_t i = 0; i < out.n; i++)
        lines += out.p[i] == '\n';
    assert_int_equal(lines, 1 + METRIC_COUNT); /* the header and one of each metric */
    buf_release(&out);
    arena_release(&arena);
}

/* Damaged documents give what they hold. */
static void anything(void **state)
{
    static const char *const docs[] = {"null",
                                       "[]",
                                       "{\"bands\":3}",
                                       "{\"bands\":[3]}",
                                       "{\"bands\":[]}",
                                       ("{\"bands\":[{\"metrics\":[],\"unproduced_fields\":3}],"
                                        "\"lanes\":[1],\"protocol\":{\"bands\":[\"x\",null]}}")};
    (void)state;
    for (size_t i = 0; i < sizeof docs / sizeof docs[0]; i++) {
        struct arena arena;
        struct buf out = BUF_INIT(BUF_ANY);
        arena_init(&arena, 1 << 20);
        show_csv(parse(docs[i], &arena), &out);
        assert_true(str_starts(buf_str(&out), STR("run_id,")));
        show_sparklines(parse(docs[i], &arena), &out);
        assert_int_equal(out.failed, 0);
        buf_release(&out);
        arena_release(&arena);
    }
}

/* 50, 100 and 400 of 400: an eighth is the second lowest block, a quarter the third, all the
 * highest. Two replicates: the middle between them. What was not measured is '-'. */
static void blocks(void **state)
{
    static const char doc[] =
        "{\"lanes\":[{\"role\":\"subject\"}],\"protocol\":{\"bands\":[1,2,4,8]},\"bands\":["
        "{\"lane\":\"subject\",\"band\":1,\"metrics\":{\"agg_tok_s\":{\"value\":40}}},"
        "{\"lane\":\"subject\",\"band\":1,\"metrics\":{\"agg_tok_s\":{\"value\":60}}},"
        "{\"lane\":\"subject\",\"band\":2,\"metrics\":{\"agg_tok_s\":{\"value\":100}}},"
        "{\"lane\":\"subject\",\"band\":4,\"metrics\":{\"agg_tok_s\":null}},"
        "{\"lane\":\"subject\",\"band\":8,\"metrics\":{\"agg_tok_s\":{\"value\":400}}}]}";
    struct arena arena;
    struct buf out = BUF_INIT(BUF_ANY);
    (void)state;
    arena_init(&arena, 1 << 20);
    show_sparklines(parse(doc, &arena), &out);
    assert_true(
        str_find(buf_str(&out),
                 STR("subject      \xE2\x96\x82\xE2\x96\x83-\xE2\x96\x88  50.00 to 400\n")) !=
        STR_NONE);
    buf_release(&out);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),
        cmocka_unit_test(records),
        cmocka_unit_test(anything),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
