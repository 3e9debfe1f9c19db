#include "gate/matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

#define SIGNED(v) \
    "{\"value\":" v ",\"class\":\"policy\",\"author\":\"A. B.\",\"date\":\"2026-12-01\"}"
#define HEAD                                                                              \
    "{\"version\":1,\"hosts\":[\"h1\",\"h2\"],\"models\":[\"m\"],\"workloads\":[\"w1\"]," \
    "\"bands\":[1,4],\n"
#define PARITY \
    "\"parity\":{\"kind\":\"parity\",\"metrics\":[\"agg_tok_s\"],\"delta\":" SIGNED("0.05") "}"
#define ARMS "\"arms\":{" PARITY "},\n"
#define CELL(host) \
    "{\"host\":\"" host "\",\"model\":\"m\",\"workload\":\"w1\",\"state\":\"MEASURED\"}"
#define WAITING "{\"host\":\"h2\",\"model\":\"m\",\"workload\":\"w1\",\"state\":\"UNMEASURED\","
#define CELLS "\"cells\":[\n" CELL("h1") ",\n" CELL("h2") "]}"

static int read(struct matrix *m, const char *text, struct arena *arena, struct error *err)
{
    const struct json *doc;
    arena_init(arena, (size_t)8 << 20);
    if (json_parse(&doc, str_of(text), &JSON_LIMITS_DEFAULT, arena, err) < 0)
        fail_msg("the test's own text: %s", err->message);
    return matrix_read(m, doc, arena, err);
}

static void a_whole_matrix_reads(void **state)
{
    (void)state;
    static const char text[] = HEAD
        "\"arms\":{" PARITY ","
        "\"self\":{\"kind\":\"self-regression\",\"metrics\":[\"ttft_ms\"],"
        "\"delta\":" SIGNED(
            "0.1") ",\"baseline_build\":\"v1\",\"baseline_author\":\"A\","
                   "\"baseline_"
                   "date\":\"2026-11-30\"},"
                   "\"sound\":{\"kind\":\"integrity\",\"max_error_"
                   "share\":" SIGNED("0") ",\"max_drain_share\":" SIGNED(
                       "0.5") ",\"max_age_days\":" SIGNED("14") "},"
                                                                "\"memory\":{"
                                                                "\"kind\":"
                                                                "\"memory\","
                                                                "\"reporting\""
                                                                ":true}},"
                                                                "\"cells\":"
                                                                "[" CELL("h1") "," WAITING "\"o"
                                                                               "wne"
                                                                               "r\""
                                                                               ":"
                                                                               "\"o"
                                                                               "\","
                                                                               "\"t"
                                                                               "ick"
                                                                               "et"
                                                                               "\":"
                                                                               "\"t"
                                                                               "\","
                                                                               "\"e"
                                                                               "xpi"
                                                                               "res"
                                                                               "\":"
                                                                               "\"2"
                                                                               "026"
                                                                               "-12"
                                                                               "-"
                                                                               "31"
                                                                               "\"}"
                                                                               "]}";
    struct matrix m;
    struct arena arena;
    struct error err = {0};
    if (read(&m, text, &arena, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(m.hosts_n, 2);
    assert_int_equal(m.bands_n, 2);
    assert_int_equal(m.bands[1], 4);
    assert_int_equal(m.arms_n, 4);
    assert_int_equal(m.arms[0].kind, ARM_PARITY);
    assert_true(m.arms[0].delta.value == 0.05);
    assert_int_equal(m.arms[0].delta.class, CLASS_POLICY);
    assert_true(str_eq(m.arms[1].baseline_build, STR("v1")));
    assert_true(m.arms[2].max_error_share.set && m.arms[2].max_error_share.value == 0);
    assert_true(m.arms[3].reporting);
    assert_int_equal(m.cells_n, 2);
    assert_int_equal(m.cells[1].state, CELL_UNMEASURED);
    /* 2027-01-01T00:00:00Z: the cell holds through the last day of 2026. */
    assert_int_equal(m.cells[1].expires_ns, INT64_C(1798761600000000000));
    arena_release(&arena);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        int line;
    } cases[] = {
        {HEAD "\"arm\":{},\n" CELLS, "no key \"arm\"", 2},
        {HEAD ARMS CELLS "", NULL, 0},
        {HEAD ARMS "\"cells\":[\n" CELL("h1") "]}", "no cell for host h2", 3},
        {HEAD ARMS "\"cells\":[\n" CELL("h1") ",\n" CELL("h1") "]}", "line 4 already", 5},
        {HEAD ARMS "\"cells\":[\n" CELL("h3") "]}", "host \"h3\" is not among", 4},
        {HEAD ARMS "\"cells\":[" CELL("h1") ",\n" WAITING "\"owner\":\"o\",\"ticket\":\"t\"}]}",
         "UNMEASURED needs \"expires\"", 4},
        {HEAD ARMS "\"cells\":[" CELL(
             "h1") ",\n" WAITING "\"owner\":\"o\",\"ticket\":\"t\",\"expires\":\"2026-02-30\"}]}",
         "must be a day", 4},
        {HEAD "\"arms\":{\"p\":{\"kind\":\"parity\",\"metrics\":[\"agg_tok_s\"],\n\"delta\":0.05}},"
              "\n" CELLS,
         "class, author and date", 3},
        {HEAD
         "\"arms\":{\"p\":{\"kind\":\"parity\",\"metrics\":[\"agg_tok_s\"],\n\"delta\":" SIGNED(
             "1") "}},\n" CELLS,
         "above 0 and below 1", 3},
        {HEAD
         "\"arms\":{\"p\":{\"kind\":\"parity\",\"metrics\":[\"agg_tok_s\"],\n\"delta\":" SIGNED(
             "0") "}},\n" CELLS,
         "above 0 and below 1", 3},
        {HEAD "\"arms\":{\"p\":{\"kind\":\"parity\",\"metrics\":[\"agg_tok_s\"]}},\n" CELLS,
         "needs \"delta\"", 2},
        {HEAD "\"arms\":{\"p\":{\"kind\":\"party\"}},\n" CELLS, "no kind of arm", 2},
        {HEAD
         "\"arms\":{\"s\":{\"kind\":\"self-regression\",\"metrics\":[\"agg_tok_s\"],\"baseline_"
         "build\":\"v\","
         "\"delta\":" SIGNED("0.1") "}},\n" CELLS,
         "needs \"baseline_author\"", 2},
        {HEAD "\"arms\":{\"m\":{\"kind\":\"memory\",\"delta\":" SIGNED("0.1") "}},\n" CELLS,
         "has no meaning", 2},
        {HEAD "\"arms\":{\"p\":{\"kind\":\"parity\",\"metrics\":[\"agg_tok_s\",\n\"speed\"],"
              "\"delta\":" SIGNED("0.1") "}},\n" CELLS,
         "\"speed\" is no statistic", 3},
        /* What has no bound cannot fail, so it may only report. */
        {HEAD "\"arms\":{\"m\":{\"kind\":\"memory\"}},\n" CELLS, "needs \"reporting: true\"", 2},
        {HEAD "\"arms\":{\"i\":{\"kind\":\"interference\"}},\n" CELLS, "needs \"reporting: true\"",
         2},
        {HEAD "\"arms\":{\"i\":{\"kind\":\"interference\",\"max_serialization_index\":" SIGNED(
             "0") "}},\n" CELLS,
         "above 0", 2},
        {HEAD "\"arms\":{\"i\":{\"kind\":\"interference\",\"max_serialization_index\":" SIGNED(
             "1.5") "}},\n" CELLS,
         NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct matrix m;
        struct arena arena;
        struct error err = {0};
        int status = read(&m, cases[i].text, &arena, &err);
        if (!cases[i].says) {
            if (status < 0)
                fail_msg("case %zu: %s", i, err.message);
        } else {
            if (status == 0)
                fail_msg("case %zu was taken", i);
            if (!strstr(err.message, cases[i].says))
                fail_msg("case %zu says: %s", i, err.message);
            if (err.line != cases[i].line)
                fail_msg("case %zu is placed in line %d, not %d: %s", i, (int)err.line,
                         cases[i].line, err.message);
        }
        arena_release(&arena);
    }
}

static void bands_must_rise(void **state)
{
    (void)state;
    static const char *const bands[] = {"[]", "[0]", "[4,1]", "[1,1]", "[1.5]", "[100000001]"};
    for (size_t i = 0; i < sizeof bands / sizeof bands[0]; i++) {
        struct buf text = BUF_INIT(BUF_ANY);
        struct matrix m;
        struct arena arena;
        struct error err = {0};
        buf_addf(&text,
                 "{\"version\":1,\"hosts\":[\"h\"],\"models\":[\"m\"],\"workloads\":[\"w\"],"
                 "\"bands\":%s,\"arms\":{},\"cells\":[]}",
                 bands[i]);
        assert_int_equal(read(&m, text.p, &arena, &err), -1);
        assert_non_null(strstr(err.message, "\"bands\""));
        arena_release(&arena);
        buf_release(&text);
    }
}

static void lists_end_at_their_limit(void **state)
{
    (void)state;
    for (int n = MATRIX_NAMES_MAX; n <= MATRIX_NAMES_MAX + 1; n++) {
        struct buf text = BUF_INIT(BUF_ANY);
        struct matrix m;
        struct arena arena;
        struct error err = {0};
        buf_adds(&text, "{\"version\":1,\"hosts\":[\"h\"],\"models\":[\"m\"],\"workloads\":[");
        for (int i = 0; i < n; i++)
            buf_addf(&text, "%s\"w%d\"", i ? "," : "", i);
        buf_adds(&text, "],\"bands\":[1]," ARMS "\"cells\":[");
        for (int i = 0; i < n; i++)
            buf_addf(
                &text,
                "%s{\"host\":\"h\",\"model\":\"m\",\"workload\":\"w%d\",\"state\":\"MEASURED\"}",
                i ? "," : "", i);
        buf_adds(&text, "]}");
        int status = read(&m, text.p, &arena, &err);
        if (n == MATRIX_NAMES_MAX && status < 0)
            fail_msg("at the limit: %s", err.message);
        if (n > MATRIX_NAMES_MAX)
            assert_non_null(status < 0 ? strstr(err.message, "\"workloads\"") : NULL);
        arena_release(&arena);
        buf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_matrix_reads),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line),
        cmocka_unit_test(bands_must_rise),
        cmocka_unit_test(lists_end_at_their_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
