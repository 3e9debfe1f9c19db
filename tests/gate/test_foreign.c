/* Result files of other benchmarks: told by their shape, read, paired, and never more than that. */
#include "gate/foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "make.h"

static void read_file(struct foreign *f, const char *name)
{
    struct error err = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/gate/foreign/%s", getenv("TALLY_SOURCE"), name);
    if (foreign_read(f, path, &err) < 0)
        fail_msg("%s: %s", name, err.message);
}

/* The numbers are those that stand in the files, which were written by hand. */
static void each_shape_is_read(void **state)
{
    static const struct {
        const char *file, *version;
        enum foreign_tool tool;
        size_t runs, run;
        int64_t concurrency, completed, failed;
        double values[FOREIGN_METRIC_COUNT]; /* rps, agg, ttft, p99, tpot, gap, e2e; -1: not had */
    } cases[] = {
        {"vllm.json", NULL, FOREIGN_VLLM, 1, 0, 4, 63, 1, {3.9375, 504, 118, 140.25, 7, 6.9, -1}},
        {"sglang.jsonl", "0.5.3", FOREIGN_SGLANG, 2, 1, 8, 64, -1, {4, 960, 100, 110, 7, 7, 1000}},
        {"aiperf.json",
         "0.3.0",
         FOREIGN_AIPERF,
         1,
         0,
         4,
         64,
         2,
         {4.5, 576, 94, 111, 6.25, -1, 890}},
        {"guidellm.json",
         "0.4.0",
         FOREIGN_GUIDELLM,
         2,
         0,
         1,
         64,
         0,
         {1, 128, 105, 150, 7.2, -1, 950}},
        {"guidellm.json",
         "0.4.0",
         FOREIGN_GUIDELLM,
         2,
         1,
         4,
         64,
         0,
         {3.5, 448, 105, 150, 7.2, -1, 950}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct foreign f;
        read_file(&f, cases[i].file);
        assert_int_equal(f.tool, cases[i].tool);
        assert_int_equal(f.runs_n, cases[i].runs);
        assert_string_equal(f.model, "tiny");
        if (cases[i].version)
            assert_string_equal(f.version, cases[i].version);
        else
            assert_null(f.version);
        const struct foreign_run *r = &f.runs[cases[i].run];
        assert_int_equal(r->concurrency, cases[i].concurrency);
        assert_int_equal(r->completed, cases[i].completed);
        assert_int_equal(r->failed, cases[i].failed);
        for (int m = 0; m < FOREIGN_METRIC_COUNT; m++) {
            double wanted = cases[i].values[m];
            if (r->has[m] != (wanted >= 0) || (r->has[m] && r->values[m] != wanted))
                fail_msg("%s: %s is %g, not %g", cases[i].file,
                         foreign_metric_name((enum foreign_metric)m), r->has[m] ? r->values[m] : -1,
                         wanted);
        }
        foreign_release(&f);
    }
}

#define VLLM(c, more)                                                             \
    "{\"tokenizer_id\":\"t\",\"request_throughput\":1,\"output_throughput\":100," \
    "\"max_concurrency\":" c more "}"

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *says;
        int line;
    } cases[] = {
        {"", "", 0},
        {"{}", "neither a run directory nor a result file", 0},
        {"[1, 2]", "neither a run directory nor a result file", 0},
        {"null", "neither a run directory nor a result file", 0},
        {"{\"request_throughput\":1,\"output_throughput\":2}", "neither a run directory", 0},
        {VLLM("4", ",\"median_ttft_ms\":NaN"), "", 1},
        {VLLM("4", ",\"max_concurrency\":8"), "twice", 1},
        {VLLM("4", "") "\n" VLLM("8", "") "\n{\"request_throughput\":\n", "", 3},
        {VLLM("4",
              "") "\n"
                  "{\"request_throughput\":1,\"output_throughput\":1,\"input_throughput\":1}\n",
         "in one file", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct foreign f;
        struct error err = {0};
        if (foreign_read_bytes(&f, str_of(cases[i].text), "f.json", &err) == 0)
            fail_msg("case %zu was taken", i);
        if (!strstr(err.message, cases[i].says) || !err.message[0])
            fail_msg("case %zu says: %s", i, err.message);
        assert_string_equal(err.file, "f.json");
        if (cases[i].line)
            assert_int_equal(err.line, cases[i].line);
    }
}

/* A value that cannot be is not had; it is not 0, and no ratio is made of it. */
static void what_cannot_be_is_not_had(void **state)
{
    struct foreign f;
    struct error err = {0};
    (void)state;
    assert_int_equal(
        foreign_read_bytes(&f,
                           STR("{\"tokenizer_id\":\"t\",\"request_throughput\":1,"
                               "\"output_throughput\":-1,\"median_ttft_ms\":\"7\",\"p99_ttft_ms\":"
                               "null,\"median_tpot_ms\":1e999,\"max_concurrency\":null,"
                               "\"completed\":1.5}"),
                           "f", &err),
        0);
    for (int m = 0; m < FOREIGN_METRIC_COUNT; m++)
        assert_int_equal(f.runs[0].has[m], m == FOREIGN_RPS);
    assert_int_equal(f.runs[0].concurrency, 0);
    assert_int_equal(f.runs[0].completed, -1);
    foreign_release(&f);
    /* Milliseconds are milliseconds only where the file says so. */
    assert_int_equal(
        foreign_read_bytes(&f,
                           STR("{\"input_config\":{},\"request_throughput\":{\"avg\":1,\"unit\":"
                               "\"requests/min\"},\"time_to_first_token\":{\"p50\":1,\"p99\":2,"
                               "\"unit\":\"us\"},\"inter_token_latency\":{\"p50\":3}}"),
                           "f", &err),
        0);
    for (int m = 0; m < FOREIGN_METRIC_COUNT; m++)
        assert_false(f.runs[0].has[m]);
    foreign_release(&f);
}

static void runs_end_at_their_limit(void **state)
{
    (void)state;
    for (int n = FOREIGN_RUNS_MAX; n <= FOREIGN_RUNS_MAX + 1; n++) {
        struct buf text = BUF_INIT(BUF_ANY);
        struct foreign f;
        struct error err = {0};
        for (int i = 0; i < n; i++)
            buf_adds(&text, VLLM("4", "") "\n");
        int status = foreign_read_bytes(&f, buf_str(&text), "many", &err);
        assert_int_equal(status, n > FOREIGN_RUNS_MAX ? -1 : 0);
        if (status < 0)
            assert_int_equal(err.kind, ERROR_LIMIT);
        else
            assert_int_equal(f.runs_n, n);
        foreign_release(status == 0 ? &f : NULL);
        buf_release(&text);
    }
}

static int pair(const char *a, const char *b, size_t *n, struct foreign_row *first,
                struct error *err)
{
    struct foreign x, y;
    struct foreign_row *rows;
    struct arena arena;
    arena_init(&arena, (size_t)1 << 20);
    if (foreign_read_bytes(&x, str_of(a), "a", err) < 0 ||
        foreign_read_bytes(&y, str_of(b), "b", err) < 0)
        fail_msg("%s", err->message);
    int status = foreign_compare(&x, &y, &arena, &rows, n, err);
    if (status == 0)
        *first = rows[0];
    foreign_release(&x);
    foreign_release(&y);
    arena_release(&arena);
    return status;
}

static void only_one_concurrency_is_paired_with_itself(void **state)
{
    struct foreign_row row;
    struct error err = {0};
    size_t n;
    (void)state;
    /* c = 8 has no counterpart; c = 4 has both of its numbers. */
    assert_int_equal(pair(VLLM("4", "") "\n" VLLM("8", "") "\n", VLLM("4", ""), &n, &row, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(row.concurrency, 4);
    assert_true(row.ratio == 1);
    /* c = 4 is not joined with c = 16. */
    assert_int_equal(pair(VLLM("4", ""), VLLM("16", ""), &n, &row, &err), -1);
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.rule, "join_key");
    /* Where one side does not say, and there is no choice, the row does not say either. */
    assert_int_equal(pair(VLLM("4", ""), VLLM("null", ""), &n, &row, &err), 0);
    assert_int_equal(row.concurrency, 0);
    assert_int_equal(pair(VLLM("4", "") "\n" VLLM("8", "") "\n", VLLM("null", ""), &n, &row, &err),
                     -1);
    assert_int_equal(pair(VLLM("4", "") "\n" VLLM("4", "") "\n", VLLM("4", ""), &n, &row, &err),
                     -1);
    assert_string_equal(err.rule, "one_run");
}

/* The specimen's subject: 50 ms to the first token, 5 ms a token, 8 tokens: 85 ms in all. */
static void a_receipt_stands_beside(void **state)
{
    struct make m;
    struct foreign f;
    struct error err = {0};
    (void)state;
    make_init(&m);
    make_run(&m);
    if (foreign_read_receipt(&f, m.dir, "subject", &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(f.tool, FOREIGN_RECEIPT);
    assert_int_equal(f.runs_n, 2);
    assert_int_equal(f.runs[1].concurrency, 4);
    assert_true(f.runs[1].values[FOREIGN_TTFT] == 50);
    assert_true(f.runs[1].values[FOREIGN_TPOT] == 5);
    assert_true(f.runs[1].values[FOREIGN_E2E] == 85);
    assert_false(f.runs[1].has[FOREIGN_TTFT_P99]); /* too few requests for a p99 */
    foreign_release(&f);
    assert_int_equal(foreign_read_receipt(&f, m.dir, "comparator", &err), 0);
    assert_true(f.runs[0].values[FOREIGN_TTFT] == 60);
    foreign_release(&f);
    make_write(&m, "extra.json", STR("{}"));
    assert_int_equal(foreign_read_receipt(&f, m.dir, "subject", &err), -1);
    assert_string_equal(err.rule, "verify");
    make_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_is_read),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(what_cannot_be_is_not_had),
        cmocka_unit_test(runs_end_at_their_limit),
        cmocka_unit_test(only_one_concurrency_is_paired_with_itself),
        cmocka_unit_test(a_receipt_stands_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
