/* Paired ratios, prompt work and intervals: by hand, and against tests/stats/reference.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/pairs.h"
#include "stats/real.h"

#define MOST 8

static struct metrics_band subject[MOST], comparator[MOST];
static const struct metrics_band *s_list[MOST], *c_list[MOST];
static struct metrics_prompt s_prompts[MOST][4], c_prompts[MOST][4];
static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 26);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void fill(struct metrics_band *b, const char *lane, int32_t replicate,
                 struct metrics_prompt *prompts)
{
    static const char *const ids[] = {"a", "b", "c"};
    *b = (struct metrics_band){.facts = {.lane = lane, .band = 4, .replicate = replicate}};
    for (int id = 0; id < METRIC_COUNT; id++)
        b->metrics[id].why = REASON_NOTHING;
    for (int i = 0; i < 3; i++)
        prompts[i] = (struct metrics_prompt){.id = str_of(ids[i]),
                                             .body = 505,
                                             .rendered = COUNT_NONE,
                                             .reported = 513,
                                             .cached = COUNT_NONE};
    b->work.prompts = prompts;
    b->work.prompts_n = 3;
    b->counts.issued = b->counts.outcomes[OUTCOME_OK] = 100;
    b->tokens.source = SOURCE_REPORTED;
    b->tokens.assignment = ASSIGN_USAGE;
}

static void set_real(struct metrics_band *b, enum metric_id id, double v)
{
    b->metrics[id] = (struct metrics_metric){.n = 100, .real = v};
}

static void fill_all(size_t n)
{
    for (size_t r = 0; r < n; r++) {
        fill(&subject[r], "subject", (int32_t)r + 1, s_prompts[r]);
        fill(&comparator[r], "comparator", (int32_t)r + 1, c_prompts[r]);
        set_real(&subject[r], METRIC_AGG, 100);
        set_real(&comparator[r], METRIC_AGG, 50);
        s_list[r] = &subject[r];
        c_list[r] = &comparator[r];
    }
}

static void compute(struct metrics_pairs *p, size_t n, bool unequal)
{
    struct error err = {0};
    const struct metrics_pairs_input in = {.band = 4,
                                           .replicates = n,
                                           .subject = s_list,
                                           .comparator = c_list,
                                           .unequal_work = unequal};
    assert_int_equal(metrics_pairs_compute(&in, &arena, p, &err), 0);
}

static bool near(double a, double b)
{
    double d = a - b;
    return d < 1e-12 && d > -1e-12;
}

/* The six log-ratios of reference.py, once as a rate and once, turned, as a latency. */
static void log_ratios(void **state)
{
    (void)state;
    static const double x[] = {0.031, -0.012, 0.054, 0.022, 0.017, 0.040};
    struct metrics_pairs p;
    fill_all(6);
    for (int r = 0; r < 6; r++) {
        set_real(&subject[r], METRIC_AGG, 100 * stats_exp(x[r]));
        set_real(&comparator[r], METRIC_AGG, 100);
        for (int lane = 0; lane < 2; lane++) {
            struct metrics_metric *m = &(lane ? subject : comparator)[r].metrics[METRIC_TTFT];
            *m = (struct metrics_metric){.n = 100};
            m->stats[STAT_P50].ns =
                lane ? (int64_t)(1e15 * stats_exp(-x[r]) + 0.5) : INT64_C(1000000000000000);
        }
    }
    compute(&p, 6, false);
    static const enum metrics_paired both[] = {PAIRED_AGG, PAIRED_TTFT};
    for (int k = 0; k < 2; k++) {
        const struct metrics_ratio *r = &p.ratios[both[k]];
        assert_int_equal(r->why, REASON_NONE);
        assert_int_equal(r->bounds_why, REASON_NONE);
        assert_int_equal(r->n, 6);
        assert_true(near(r->mean, 0.0253333333333333));
        assert_true(near(r->s, 0.022553639765383));
        assert_true(near(r->lower, 0.00677980590752085));
        assert_true(near(r->upper, 0.0438868607591458));
        assert_true(near(r->mde, 0.0266584327078755));
        assert_true(near(r->min, -0.012) && near(r->max, 0.054));
        assert_true(near(r->x[2], 0.054));
        assert_true(near(stats_ln(r->ratio), k ? -0.0253333333333333 : 0.0253333333333333));
    }
    assert_int_equal(p.status, STATUS_PASS);
    assert_int_equal(p.ratios[PAIRED_E2E].why, REASON_NOTHING);
    assert_string_equal(metrics_paired_name(PAIRED_TTFT), "ttft_ms.p50");
}

/* The names follow the table. */
static void names(void **state)
{
    (void)state;
    for (int k = 0; k < METRICS_PAIRED_COUNT; k++) {
        const char *name = metrics_paired_name((enum metrics_paired)k);
        const char *key = metrics_info(metrics_paired_metric((enum metrics_paired)k))->key;
        assert_int_equal(strncmp(name, key, strlen(key)), 0);
        assert_true(name[strlen(key)] == '\0' || strcmp(name + strlen(key), ".p50") == 0);
    }
}

static void serialization_index(void **state)
{
    (void)state;
    struct metrics_pairs p;
    fill_all(2);
    for (int r = 0; r < 2; r++) {
        set_real(&subject[r], METRIC_DECODE, 60);
        set_real(&comparator[r], METRIC_DECODE, 40);
        set_real(&subject[r], METRIC_AGG, 75);
        set_real(&comparator[r], METRIC_AGG, r ? 400 : 100);
    }
    compute(&p, 2, false);
    /* (60/40) / (75/100) = 2; (60/40) / (75/400) = 8; the geometric mean is 4. */
    assert_int_equal(p.serialization.why, REASON_NONE);
    assert_true(near(p.serialization.index[0], 2));
    assert_true(near(p.serialization.index[1], 8));
    assert_true(near(p.serialization.mean, 4));
    subject[0].metrics[METRIC_DECODE].why = REASON_UNASSIGNED;
    compute(&p, 2, false);
    assert_int_equal(p.serialization.why, REASON_UNASSIGNED);
}

/* The numbers of spec section 1: 534 against 513 for the same prompt, 4.09 % more work. */
static void unequal_work(void **state)
{
    (void)state;
    struct metrics_pairs p;
    fill_all(2);
    compute(&p, 2, false);
    assert_int_equal(p.work.why, REASON_NONE);
    assert_int_equal(p.work.shared, 6);
    assert_int_equal(p.work.difference.n, 6);
    assert_int_equal(p.work.difference.max, 0);
    assert_true(p.work.excess == 0);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 3; i++)
            s_prompts[r][i].reported = 534;
    compute(&p, 2, false);
    assert_int_equal(p.work.why, REASON_UNEQUAL_WORK);
    assert_int_equal(p.work.differ, 6);
    assert_int_equal(p.work.difference.median, 21);
    assert_true(p.work.excess > 0.0409 && p.work.excess < 0.0410);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_UNEQUAL_WORK);
    assert_int_equal(p.serialization.why, REASON_UNEQUAL_WORK);
    assert_int_equal(p.status, STATUS_REFUSED);
    set_real(&subject[0], METRIC_AGG, 50);
    set_real(&subject[1], METRIC_AGG, 50);
    compute(&p, 2, true);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_NONE);
    assert_true(near(p.ratios[PAIRED_AGG].ratio, 1));
    assert_int_equal(p.status, STATUS_PASS);
}

static void unknown_is_not_equal(void **state)
{
    (void)state;
    struct metrics_pairs p;
    fill_all(1);
    c_prompts[0][1].reported = COUNT_NONE;
    compute(&p, 1, false);
    assert_int_equal(p.work.unknown, 1);
    assert_int_equal(p.work.why, REASON_UNKNOWN_WORK);
    assert_int_equal(p.status, STATUS_REFUSED);
    /* What the client rendered stands in for what a server does not say. */
    c_prompts[0][1].rendered = 513;
    compute(&p, 1, false);
    assert_int_equal(p.work.why, REASON_NONE);
    c_prompts[0][1].rendered = 512;
    compute(&p, 1, false);
    assert_int_equal(p.work.why, REASON_UNEQUAL_WORK);
    c_prompts[0][1].rendered = 513;
    /* Another body under the same id is other work. */
    c_prompts[0][0].body = 504;
    compute(&p, 1, false);
    assert_int_equal(p.work.differ, 1);
    c_prompts[0][0].body = 505;
    /* Only what both did is compared: "c" is passed over on one side. */
    comparator[0].work.prompts_n = 2;
    compute(&p, 1, false);
    assert_int_equal(p.work.shared, 2);
    assert_int_equal(p.work.why, REASON_NONE);
    comparator[0].work.prompts_n = 0;
    compute(&p, 1, false);
    assert_int_equal(p.work.why, REASON_UNKNOWN_WORK);
    /* Prompts without an id cannot be matched. */
    fill_all(1);
    for (int i = 0; i < 3; i++)
        s_prompts[0][i].id = c_prompts[0][i].id = STR("");
    compute(&p, 1, false);
    assert_int_equal(p.work.shared, 0);
    assert_int_equal(p.work.why, REASON_UNKNOWN_WORK);
}

static void what_bars_a_ratio(void **state)
{
    (void)state;
    struct metrics_pairs p;
    fill_all(3);
    s_list[1] = NULL;
    compute(&p, 3, false);
    assert_int_equal(p.status, STATUS_INCOMPLETE);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_PAIR_MISSING);
    assert_int_equal(p.ratios[PAIRED_AGG].n, 2);
    assert_true(near(p.ratios[PAIRED_AGG].x[2], stats_ln(2.0)));
    assert_true(p.ratios[PAIRED_AGG].x[1] != p.ratios[PAIRED_AGG].x[1]);

    fill_all(3);
    comparator[2].counts.outcomes[OUTCOME_OK]--;
    compute(&p, 3, false);
    assert_int_equal(p.status, STATUS_REFUSED);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_ERROR_SHARE);

    fill_all(3);
    comparator[2].tokens.assignment = ASSIGN_IDS;
    set_real(&subject[0], METRIC_RPS, 3);
    compute(&p, 3, false);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_COUNT_MISMATCH);
    assert_int_equal(p.ratios[PAIRED_RPS].why, REASON_NOTHING);
    fill_all(3);
    comparator[0].tokens.source = SOURCE_OBSERVED;
    compute(&p, 3, false);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_COUNT_MISMATCH);

    fill_all(3);
    set_real(&comparator[1], METRIC_AGG, 0);
    compute(&p, 3, false);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_ZERO);

    fill_all(1);
    compute(&p, 1, false);
    assert_int_equal(p.ratios[PAIRED_AGG].why, REASON_NONE);
    assert_int_equal(p.ratios[PAIRED_AGG].bounds_why, REASON_TOO_FEW_REPLICATES);
    assert_true(near(p.ratios[PAIRED_AGG].ratio, 2));
    compute(&p, 0, false);
    assert_int_equal(p.status, STATUS_REFUSED); /* no prompt work that is known to be equal */
    struct error err = {0};
    const struct metrics_pairs_input many = {.replicates = RUN_REPLICATES_MAX + 1};
    assert_int_equal(metrics_pairs_compute(&many, &arena, &p, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
}

static void intervals(void **state)
{
    (void)state;
    struct error err = {0};
    struct metrics_interval v;
    int64_t a[37], b[24];
    for (int64_t i = 0; i < 37; i++)
        a[i] = 100 + i * 7919 % 601;
    for (int64_t i = 0; i < 24; i++)
        b[i] = 150 + i * 104729 % 499;
    fill_all(3);
    subject[0].metrics[METRIC_TTFT] = (struct metrics_metric){.n = 37, .values = a, .values_n = 37};
    subject[1].metrics[METRIC_TTFT] = (struct metrics_metric){.n = 24, .values = b, .values_n = 24};
    s_list[2] = NULL;
    assert_int_equal(metrics_interval_within(s_list, 3, METRIC_TTFT, &v, &err), 0);
    assert_int_equal(v.why, REASON_NONE);
    assert_int_equal(v.n, 61);
    assert_int_equal(v.p50_ns, 382);
    assert_int_equal(v.low_ns, 311);
    assert_int_equal(v.high_ns, 453);
    assert_int_equal(metrics_interval_within(s_list, 3, METRIC_AGG, &v, &err), 0);
    assert_int_equal(v.why, REASON_NOT_PER_REQUEST);
    assert_int_equal(metrics_interval_within(s_list, 3, METRIC_E2E, &v, &err), 0);
    assert_int_equal(v.why, REASON_NOTHING);
    a[0] = INT64_MAX;
    for (int i = 1; i < 25; i++)
        a[i] = INT64_MAX;
    assert_int_equal(metrics_interval_within(s_list, 1, METRIC_TTFT, &v, &err), 0);
    assert_int_equal(v.why, REASON_CENSORED);
    s_list[0] = s_list[1] = NULL;
    assert_int_equal(metrics_interval_within(s_list, 3, METRIC_TTFT, &v, &err), 0);
    assert_int_equal(v.why, REASON_NOTHING);
}

static void json(void **state)
{
    (void)state;
    struct metrics_pairs p;
    struct error err = {0};
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    const struct json *doc;
    fill_all(2);
    set_real(&subject[1], METRIC_AGG, 50);
    compute(&p, 2, false);
    json_writer_init(&w, &text, 0);
    json_begin_object(&w);
    metrics_pairs_write_json(&p, &w);
    json_key(&w, "interval_within");
    json_begin_object(&w);
    assert_int_equal(metrics_intervals_write_json(s_list, 2, &w, &err), 0);
    json_end_object(&w);
    json_end_object(&w);
    assert_int_equal(json_writer_check(&w, "pairs", &err), 0);
    assert_int_equal(json_parse(&doc, buf_str(&text), &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    const struct json *ratios = json_get(doc, "ratios"),
                      *missing = json_get(doc, "unproduced_fields");
    assert_int_equal(ratios->n, METRICS_PAIRED_COUNT);
    for (size_t i = 0; i < ratios->n; i++) {
        char path[64];
        snprintf(path, sizeof path, "ratios.%.*s", STR_ARG(ratios->members[i].name));
        assert_true(json_is(&ratios->members[i].value, JSON_NULL) ==
                    (json_get(missing, path) != NULL));
    }
    /* ln 2 and 0: the mean is ln(2)/2, the ratio sqrt(2). */
    const struct json *agg = json_get(ratios, "agg_tok_s");
    assert_true(str_eq(json_get(agg, "ratio")->text, STR("1.41421356")));
    assert_true(str_eq(json_at(json_get(agg, "x"), 0)->text, STR("0.693147181")));
    assert_true(str_eq(json_path(doc, "prompt_work.shared")->text, STR("6")));
    assert_non_null(json_get(json_get(doc, "interval_within"), "ttft_ms"));
    assert_true(json_is(json_get(doc, "serialization_index"), JSON_NULL));
    assert_non_null(json_get(missing, "serialization_index"));
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_ratios),
        cmocka_unit_test(names),
        cmocka_unit_test(serialization_index),
        cmocka_unit_test(unequal_work),
        cmocka_unit_test(unknown_is_not_equal),
        cmocka_unit_test(what_bars_a_ratio),
        cmocka_unit_test(intervals),
        cmocka_unit_test(json),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
