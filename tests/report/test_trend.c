/* A trend's limits and words, on small runs by the real producer; what a browser sees of one is in
 * trend.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/yaml.h"
#include "gate/specimen.h"
#include "report/trend.h"

static char root[64];
static struct trend trend;
static struct arena arena;
static struct buf out;

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/tally-test-trend-XXXXXX");
    arena_init(&arena, 1 << 24);
    buf_init(&out, BUF_ANY);
    trend_init(&trend);
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    trend_release(&trend);
    buf_release(&out);
    arena_release(&arena);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command) == 0 ? 0 : -1;
}

/* The n-th run: one lane or two, one band of a second. */
static int add(int n, size_t lanes, struct error *err)
{
    char dir[96], nonce[33];
    struct specimen s;
    snprintf(dir, sizeof dir, "%s/%d", root, n);
    snprintf(nonce, sizeof nonce, "%032x", (unsigned)n + 1);
    specimen_init(&s);
    s.dir = dir;
    s.nonce = nonce;
    s.start_real_ns += (int64_t)n * 1000000000;
    s.lanes_n = lanes;
    s.bands[0] = 1;
    s.bands_n = 1;
    s.replicates = 1;
    s.window_s = 1;
    assert_int_equal(specimen_write(&s, err), 0);
    return trend_add(&trend, dir, "self-consistent, unsigned", true, err);
}

static void expect(const char *text, bool there)
{
    if ((str_find(buf_str(&out), str_of(text)) != STR_NONE) != there)
        fail_msg("'%s' is %s the page", text, there ? "not in" : "in");
}

static void as_many_as_there_may_be(void **state)
{
    struct error err = {0};
    (void)state;
    for (int i = 0; i < TREND_RUNS_MAX; i++)
        assert_int_equal(add(i, 1, &err), 0);
    assert_int_equal(add(TREND_RUNS_MAX, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    assert_non_null(strstr(err.message, "more than 200 runs"));
    assert_int_equal(trend_write(&trend, NULL, &out, &err), 0);
    expect("Trend of 200 runs", true);
}

static void each_run_once(void **state)
{
    char dir[96];
    struct error err = {0};
    (void)state;
    assert_int_equal(add(0, 1, &err), 0);
    snprintf(dir, sizeof dir, "%s/0", root);
    assert_int_equal(trend_add(&trend, dir, "", true, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(trend.n, 1);
}

/* One lane has no ratio; one replicate has no bounds, and says so. */
static void one_lane(void **state)
{
    struct error err = {0};
    (void)state;
    assert_int_equal(add(0, 1, &err), 0);
    assert_int_equal(add(1, 1, &err), 0);
    assert_int_equal(trend_write(&trend, NULL, &out, &err), 0);
    expect("Output rate, c = 1", true);
    expect("subject against comparator", false);
    expect("demanded by the matrix", false);
    expect("one replicate", true);
}

/* What does not verify is told, and joined to nothing. */
static void what_does_not_verify(void **state)
{
    char dir[96];
    struct error err = {0};
    (void)state;
    assert_int_equal(add(0, 1, &err), 0);
    assert_int_equal(add(1, 1, &err), 0);
    trend.runs[1].verifies = false;
    trend.runs[1].verified = "<does not verify>";
    assert_int_equal(trend_write(&trend, NULL, &out, &err), 0);
    expect("Run 2 is PASS and does not verify (&lt;does not verify&gt;)", true);
    expect("subject hollow", true);
    expect("class='line subject'", false);
    snprintf(dir, sizeof dir, "%s/1", root);
    expect(dir, true);
}

static void no_run_is_an_error(void **state)
{
    struct error err = {0};
    (void)state;
    assert_int_equal(trend_write(&trend, NULL, &out, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
}

#define MATRIX(host)                                                               \
    "version: 1\nhosts: [" host "]\nmodels: [tiny]\nworkloads: [w1]\nbands: [1]\n" \
    "arms:\n  ratchet:\n    kind: self-regression\n    metrics: [ttft_ms.p50]\n"   \
    "    delta: {value: 0.03, class: ratchet, author: N. N., date: 2026-12-01}\n"  \
    "cells:\n  - {host: " host ", model: tiny, workload: w1, state: MEASURED}\n"

static void read_matrix(const char *text, struct matrix *m)
{
    const struct json *doc;
    struct error err = {0};
    if (yaml_parse(&doc, str_of(text), &JSON_LIMITS_DEFAULT, &arena, &err) < 0 ||
        matrix_read(m, doc, &arena, &err) < 0)
        fail_msg("%s", err.message);
}

/* Six sound runs make a baseline, five none; and none of another host. */
static void a_baseline_of_six(void **state)
{
    struct trend_rule rules[TREND_RULES_MAX];
    struct matrix m;
    struct error err = {0};
    (void)state;
    read_matrix(MATRIX("bench-1"), &m);
    for (int i = 0; i < 5; i++)
        assert_int_equal(add(i, 1, &err), 0);
    trend_sort(&trend);
    assert_int_equal(trend_rules(&trend, &m, rules, &out), 0);
    expect("a baseline needs 6 sound runs; 5 are here", true);

    assert_int_equal(add(5, 1, &err), 0);
    trend_sort(&trend);
    buf_reset(&out);
    assert_int_equal(trend_rules(&trend, &m, rules, &out), 1);
    assert_int_equal(out.n, 0);
    /* All six took 50 ms, so that the bound is 50 ms, less delta 50 / 0.97. */
    assert_false(rules[0].on_ratio);
    assert_int_equal(rules[0].metric, TREND_TTFT);
    assert_true(fabs(rules[0].value - 50 / 0.97) < 1e-9);

    read_matrix(MATRIX("elsewhere"), &m);
    assert_int_equal(trend_rules(&trend, &m, rules, &out), 0);
    expect("No run was measured in a cell of the matrix", true);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(as_many_as_there_may_be), TEST(each_run_once),      TEST(one_lane),
        TEST(what_does_not_verify),    TEST(no_run_is_an_error), TEST(a_baseline_of_six),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
