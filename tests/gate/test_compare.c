/* tally compare's verdicts, on receipts that the real producer wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "gate/compare.h"
#include "make.h"

static const struct compare_options five_percent = {.margin = 0.05};

static const struct compare_row *row_of(const struct compare *c, int32_t band, const char *metric)
{
    for (size_t i = 0; i < c->rows_n; i++)
        if (c->rows[i].band == band && strcmp(c->rows[i].metric, metric) == 0)
            return &c->rows[i];
    fail_msg("no row %s at c = %d", metric, (int)band);
    return NULL;
}

static void expect_refused(struct make *m, const struct compare_options *o, const char *rule,
                           const char *said)
{
    struct compare c;
    struct error err = {0};
    assert_int_equal(compare_dirs(&c, m->dir, NULL, o, &err), -1);
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.rule, rule);
    assert_true(err.remedy[0]);
    if (str_find(str_of(err.message), str_of(said)) == STR_NONE)
        fail_msg("'%s' is not in '%s'", said, err.message);
}

/* The subject takes 50 ms to the first token and 5 ms a token, the comparator 60 and 6: the ratio
 * is 5/6 each time, so that x = ln 1.2 = 0.1823 for every replicate and both bounds are x. */
static void faster_beyond_doubt(void **state)
{
    (void)state;
    struct make m;
    struct compare c;
    struct error err = {0};
    make_init(&m);
    make_run(&m);
    if (compare_dirs(&c, m.dir, NULL, &five_percent, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(c.status, STATUS_PASS);
    assert_null(c.caveat);
    const struct compare_row *r = row_of(&c, 4, "ttft_ms.p50");
    assert_true(r->ratio > 0.83333 && r->ratio < 0.83334);
    assert_true(r->lower > 0.18232 && r->lower < 0.18233);
    assert_int_equal(r->n, 2);
    assert_string_equal(r->why, "better beyond doubt");
    assert_int_equal(c.bands_n, 2);
    assert_true(c.bands[0].has_serialization);
    /* decode 200 against 166.7 tok/s, aggregate equal: 1.2 */
    assert_true(c.bands[0].serialization > 1.19 && c.bands[0].serialization < 1.21);
    compare_release(&c);
    make_release(&m);
}

static bool slow_subject(struct make *m, struct sample *s)
{
    /* In every second replicate only, where asked for: then the replicates disagree. */
    bool all = m->argc == 4;
    if (s->lane.p[0] != 's' || (!all && s->replicate % 2))
        return false;
    for (size_t i = 0; i < s->reads_n; i++) {
        struct sample_read_stamp *r = (struct sample_read_stamp *)&s->reads[i];
        int64_t by = 30000000 + (int64_t)i * 4000000;
        r->t_user_ns += by;
        r->t_lower_ns += by;
    }
    s->t_first_byte_ns = s->t_headers_ns = s->reads[0].t_user_ns;
    s->t_end_ns = s->reads[s->reads_n - 1].t_user_ns;
    return false;
}

/* 80 ms against 60 in every replicate: x = -ln(4/3) with no spread at all. */
static void slower_beyond_doubt(void **state)
{
    (void)state;
    struct make m;
    struct compare c;
    struct error err = {0};
    make_init(&m);
    m.change = slow_subject;
    make_run(&m);
    assert_int_equal(compare_dirs(&c, m.dir, NULL, &five_percent, &err), 0);
    assert_int_equal(c.status, STATUS_FAIL);
    const struct compare_row *r = row_of(&c, 1, "ttft_ms.p50");
    assert_int_equal(r->status, STATUS_FAIL);
    assert_true(r->ratio > 1.3333 && r->ratio < 1.3334);
    compare_release(&c);
    make_release(&m);
}

/* +0.182 and -0.288: nothing can be said. */
static void replicates_that_disagree(void **state)
{
    (void)state;
    struct make m;
    struct compare c;
    struct error err = {0};
    make_init(&m);
    m.change = slow_subject;
    m.argc = 3;
    make_run(&m);
    assert_int_equal(compare_dirs(&c, m.dir, NULL, &five_percent, &err), 0);
    assert_int_equal(row_of(&c, 1, "ttft_ms.p50")->status, STATUS_INCONCLUSIVE);
    assert_int_equal(c.status, STATUS_INCONCLUSIVE);
    compare_release(&c);
    make_release(&m);
}

static void one_replicate_has_no_bounds(void **state)
{
    (void)state;
    struct make m;
    struct compare c;
    struct error err = {0};
    make_init(&m);
    m.replicates = 1;
    make_run(&m);
    assert_int_equal(compare_dirs(&c, m.dir, NULL, &five_percent, &err), 0);
    assert_int_equal(c.status, STATUS_INCOMPLETE);
    compare_release(&c);
    make_release(&m);
}

/* Spec section 1: 513 against 534 for the same text. */
static void unequal_prompt_work_is_refused(void **state)
{
    (void)state;
    struct make m;
    struct compare c;
    struct error err = {0};
    struct compare_options declared = five_percent;
    make_init(&m);
    m.body = 505;
    m.wrap[0] = 8;
    m.wrap[1] = 29;
    make_run(&m);
    expect_refused(&m, &five_percent, "prompt_work",
                   "unequal prompt work: subject less comparator "
                   "is -21 to -21 tokens a prompt, -3.93 %");
    declared.unequal_work = true;
    assert_int_equal(compare_dirs(&c, m.dir, NULL, &declared, &err), 0);
    assert_string_equal(c.caveat, "unequal prompt work, declared");
    compare_release(&c);
    make_release(&m);
}

static void silent_lane_is_refused(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.wrap[0] = COUNT_NONE;
    make_run(&m);
    /* The lane predicts nothing of its own: what it rendered is all there is. */
    struct compare c;
    struct error err = {0};
    int status = compare_dirs(&c, m.dir, NULL, &five_percent, &err);
    assert_int_equal(status, -1);
    assert_string_equal(err.rule, "prompt_work");
    make_release(&m);
}

static void other_host(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    (void)p;
    lanes[1].host = "bench-2";
}

static void no_host(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    (void)p;
    lanes[0].host = lanes[1].host = NULL;
}

static void no_model(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    (void)lanes;
    p->same_model = NULL;
}

static void join_keys_must_agree(void **state)
{
    (void)state;
    static const struct {
        void (*change)(struct make *, struct run_plan *, struct run_lane *);
        const char *said;
    } cases[] = {{other_host, "\"host\" of the join key differs"},
                 {no_host, "\"host\" of the join key is not known"},
                 {no_model, "\"model\" of the join key is not known"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct make m;
        make_init(&m);
        m.replicates = 1;
        m.change_plan = cases[i].change;
        make_run(&m);
        expect_refused(&m, &five_percent, "join_key", cases[i].said);
        make_release(&m);
    }
}

static void longer_window(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    (void)lanes;
    p->timeout_ns *= 2;
}

static void two_receipts(void **state)
{
    (void)state;
    struct make a, b, other;
    struct compare c;
    struct error err = {0};
    make_init(&a);
    make_init(&b);
    make_init(&other);
    a.lanes_n = b.lanes_n = other.lanes_n = 1;
    other.change_plan = longer_window;
    make_run(&a);
    make_run(&b);
    make_run(&other);
    if (compare_dirs(&c, a.dir, b.dir, &five_percent, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(c.status, STATUS_PASS);
    assert_true(row_of(&c, 1, "ttft_ms.p50")->ratio == 1);
    compare_release(&c);
    assert_int_equal(compare_dirs(&c, a.dir, other.dir, &five_percent, &err), -1);
    assert_string_equal(err.rule, "join_key");
    assert_true(str_find(str_of(err.message), STR("\"timeout_ms\"")) != STR_NONE);
    /* One lane alone is no comparison. */
    assert_int_equal(compare_dirs(&c, a.dir, NULL, &five_percent, &err), -1);
    assert_string_equal(err.rule, "one_lane");
    make_release(&a);
    make_release(&b);
    make_release(&other);
}

static void what_does_not_verify_is_not_compared(void **state)
{
    (void)state;
    struct make m;
    make_init(&m);
    m.replicates = 1;
    make_run(&m);
    make_write(
        &m, RECEIPT_NAME,
        make_replaced(&m, make_read(&m, RECEIPT_NAME), "\"ttft_ms\"", "50.000000", "40.000000"));
    expect_refused(&m, &five_percent, "verify", "does not verify");
    make_release(&m);
}

static void a_margin_is_a_share(void **state)
{
    (void)state;
    static const double bad[] = {0, -0.1, 1, 2};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct compare c;
        struct error err = {0};
        const struct compare_options o = {.margin = bad[i]};
        assert_int_equal(compare_dirs(&c, "/nonexistent", NULL, &o, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
    }
}

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* argc picks the case: what is declared, and each lane's weights. */
static const struct {
    const char *declared, *subject, *comparator;
    const char *said; /* NULL: compared */
} weights[] = {
    {NULL, A, A, NULL},
    {NULL, A, B, "\"model\" of the join key differs"},
    {NULL, A, NULL, "\"model\" of the join key is not known"},
    {NULL, NULL, NULL, "\"model\" of the join key is not known"},
    {"tiny", A, B, NULL}, /* a GGUF and the safetensors that it was made of */
    {"tiny", NULL, NULL, NULL},
};

static void with_weights(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    p->same_model = weights[m->argc].declared;
    lanes[0].weights_sha256 = weights[m->argc].subject;
    lanes[1].weights_sha256 = weights[m->argc].comparator;
}

static void weights_are_equal_or_declared_so(void **state)
{
    static const char *const argv[sizeof weights / sizeof weights[0]] = {"a", "b", "c",
                                                                         "d", "e", "f"};
    (void)state;
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        struct make m;
        struct compare c;
        struct error err = {0};
        make_init(&m);
        m.bands_n = 1;
        m.argv = argv;
        m.argc = i;
        m.change_plan = with_weights;
        make_run(&m);
        if (weights[i].said) {
            expect_refused(&m, &five_percent, "join_key", weights[i].said);
        } else {
            if (compare_dirs(&c, m.dir, NULL, &five_percent, &err) < 0)
                fail_msg("case %zu: %s", i, err.message);
            compare_release(&c);
        }
        /* Both digests stand in the receipt, whatever was declared. */
        struct str text = make_read(&m, RECEIPT_NAME);
        if (weights[i].comparator)
            assert_true(str_find(text, str_of(weights[i].comparator)) != STR_NONE);
        make_release(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faster_beyond_doubt),
        cmocka_unit_test(slower_beyond_doubt),
        cmocka_unit_test(replicates_that_disagree),
        cmocka_unit_test(one_replicate_has_no_bounds),
        cmocka_unit_test(unequal_prompt_work_is_refused),
        cmocka_unit_test(silent_lane_is_refused),
        cmocka_unit_test(join_keys_must_agree),
        cmocka_unit_test(two_receipts),
        cmocka_unit_test(what_does_not_verify_is_not_compared),
        cmocka_unit_test(a_margin_is_a_share),
        cmocka_unit_test(weights_are_equal_or_declared_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
