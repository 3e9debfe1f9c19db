/* What must hold whatever the samples say, on random ones: bounds stay bounds, the peak is never
 * below the mean, everything is counted, every null has its reason, order does not matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make.h"
#include "stats/random.h"

#define ROUNDS 400
#define SAMPLES 40

static struct made made[SAMPLES];
static struct arena arena;

static size_t make_random(struct random *r, struct sample *samples)
{
    size_t n = random_below(r, SAMPLES + 1);
    for (size_t i = 0; i < n; i++) {
        struct made *m = &made[i];
        int64_t at = random_below(r, 3000);
        make(m, (int64_t)i, at);
        m->s.phase = at < 1000 ? PHASE_WARMUP : PHASE_WINDOW;
        m->s.reused = random_below(r, 2);
        if (!m->s.reused)
            m->s.t_connect_ns = m->s.t_issue_ns;
        for (size_t k = random_below(r, 8); k > 0; k--) {
            at += random_below(r, 300);
            struct sample_event *e = arrive(
                m, at, random_below(r, 9) ? EVENT_TEXT : EVENT_REASONING, "x", random_below(r, 4));
            e->retokenized = (int64_t)e->ids_n;
            m->reads[m->s.reads_n - 1].t_lower_ns -= random_below(r, 5000);
        }
        end(m, at + random_below(r, 50),
            random_below(r, 6) ? OUTCOME_OK : (enum sample_outcome)random_below(r, OUTCOME_COUNT));
        if (random_below(r, 40) == 0)
            m->s.output_observed.total++;
        m->s.prompt_body = random_below(r, 3) ? 500 + random_below(r, 20) : COUNT_NONE;
        m->s.prompt_reported = random_below(r, 3) ? 530 + random_below(r, 20) : COUNT_NONE;
        samples[i] = m->s;
    }
    return n;
}

static void print(struct buf *out, const struct metrics_band *band)
{
    struct json_writer w;
    struct error err = {0};
    buf_reset(out);
    json_writer_init(&w, out, 2);
    json_begin_object(&w);
    metrics_write_json(band, &w);
    json_end_object(&w);
    assert_int_equal(json_writer_check(&w, "metrics", &err), 0);
}

static void check_times(const struct metrics_metric *m)
{
    static const enum metrics_stat_id rising[] = {STAT_MIN, STAT_P50, STAT_P90,
                                                  STAT_P95, STAT_P99, STAT_MAX};
    const struct metrics_stat *before = NULL;
    for (size_t k = 0; k < sizeof rising / sizeof rising[0]; k++) {
        const struct metrics_stat *s = &m->stats[rising[k]];
        if (s->why != REASON_NONE)
            continue;
        assert_true(s->ns >= 0 && s->lower_ns <= s->ns);
        if (before)
            assert_true(before->ns <= s->ns && before->lower_ns <= s->lower_ns);
        before = s;
    }
}

static void check_band(const struct metrics_band *b, size_t n)
{
    const struct metrics_metric *agg = &b->metrics[METRIC_AGG], *peak = &b->metrics[METRIC_PEAK];
    assert_int_equal(agg->why, peak->why);
    if (agg->why == REASON_NONE)
        assert_true(peak->real >= agg->real);
    int64_t sum = 0;
    for (int k = 0; k < OUTCOME_COUNT; k++)
        sum += b->counts.outcomes[k];
    assert_int_equal(sum, b->counts.issued);
    assert_int_equal((size_t)(sum + b->counts.warmup), n);
    assert_true(b->counts.conserved);
    for (int id = 0; id < METRIC_COUNT; id++)
        if (b->metrics[id].why == REASON_NONE &&
            metrics_info((enum metric_id)id)->shape != METRIC_REAL)
            check_times(&b->metrics[id]);
    const struct metrics_metric *itl = &b->metrics[METRIC_ITL];
    if (itl->why == REASON_NONE)
        assert_true(itl->stats[STAT_MEAN].ns <= itl->stats[STAT_MAX].ns);
}

/* Every key of the table is there; a null has a reason at its path, and what has one is null. */
static void check_json(const struct buf *text)
{
    const struct json *doc;
    struct error err = {0};
    assert_int_equal(json_parse(&doc, buf_str(text), &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    const struct json *missing = json_get(doc, "unproduced_fields"),
                      *all = json_get(doc, "metrics");
    assert_int_equal(all->n, METRIC_COUNT);
    for (int id = 0; id < METRIC_COUNT; id++) {
        const struct metrics_info *info = metrics_info((enum metric_id)id);
        const struct json *v = json_get(all, info->key);
        char path[128];
        assert_non_null(v);
        snprintf(path, sizeof path, "metrics.%s", info->key);
        assert_true(json_is(v, JSON_NULL) == (json_get(missing, path) != NULL));
        for (int s = 0; v->type == JSON_OBJECT && info->shape != METRIC_REAL && s < METRICS_STATS;
             s++) {
            const char *name = metrics_stat_name((enum metrics_stat_id)s);
            const struct json *stat = json_get(v, name);
            assert_non_null(stat);
            snprintf(path, sizeof path, "metrics.%s.%s", info->key, name);
            assert_true(json_is(stat, JSON_NULL) == (json_get(missing, path) != NULL));
        }
    }
    for (size_t i = 0; i < missing->n; i++) {
        char path[128];
        snprintf(path, sizeof path, "%.*s", STR_ARG(missing->members[i].name));
        assert_true(json_is(json_path(doc, path), JSON_NULL));
    }
}

static void properties(void **state)
{
    (void)state;
    struct random r;
    struct sample samples[SAMPLES];
    struct metrics_band band, turned;
    struct error err = {0};
    struct buf text = BUF_INIT(BUF_ANY), again = BUF_INIT(BUF_ANY);
    int measured = 0;
    random_seed(&r, 2026);
    for (int round = 0; round < ROUNDS; round++) {
        arena_reset(&arena);
        size_t n = make_random(&r, samples);
        struct metrics_band_facts f = facts_of(1000, 4000);
        f.stream = random_below(&r, 10) > 0;
        f.slo_ttft_ns = random_below(&r, 2) ? 200 * MS : TIME_NONE;
        f.slo_tpot_ns = random_below(&r, 2) ? 100 * MS : TIME_NONE;
        f.source = random_below(&r, 10) ? SOURCE_OBSERVED : SOURCE_NONE;
        assert_int_equal(metrics_band_compute(samples, n, &f, &arena, &band, &err), 0);
        check_band(&band, n);
        print(&text, &band);
        check_json(&text);
        measured +=
            band.metrics[METRIC_AGG].why == REASON_NONE && band.metrics[METRIC_AGG].real > 0;
        for (size_t i = 0; i < n / 2; i++) {
            struct sample swap = samples[i];
            samples[i] = samples[n - 1 - i];
            samples[n - 1 - i] = swap;
        }
        assert_int_equal(metrics_band_compute(samples, n, &f, &arena, &turned, &err), 0);
        print(&again, &turned);
        assert_string_equal(text.p, again.p);
    }
    assert_true(measured > ROUNDS / 10); /* or the checks above looked at nothing */
    buf_release(&text);
    buf_release(&again);
}

/* The tables hold what the spec names, once each. */
static void names(void **state)
{
    (void)state;
    static const char *const spec[] = {
        "ttft_ms",      "ttfc_ms",        "ttfb_ms",     "connect_ms",
        "chunk_gap_ms", "itl_ms",         "tpot_ms",     "decode_tok_s",
        "e2e_ms",       "agg_tok_s",      "peak_tok_s",  "prefill_tok_s",
        "wasted_tok_s", "slo_attainment", "goodput_rps", "scaling_efficiency"};
    for (size_t k = 0; k < sizeof spec / sizeof spec[0]; k++) {
        int found = 0;
        for (int id = 0; id < METRIC_COUNT; id++)
            found += strcmp(metrics_info((enum metric_id)id)->key, spec[k]) == 0;
        assert_int_equal(found, 1);
    }
    assert_int_equal(metrics_source_find("reported"), SOURCE_REPORTED);
    assert_int_equal(metrics_source_find("guessed"), SOURCE_NONE);
    assert_int_equal(metrics_source_find(NULL), SOURCE_NONE);
    assert_null(metrics_source_name(SOURCE_NONE));
    assert_string_equal(metrics_assignment_name(ASSIGN_USAGE), "cumulative_usage");
}

static void text_form(void **state)
{
    (void)state;
    struct metrics_band band;
    struct error err = {0};
    struct metrics_band_facts f = facts_of(0, 3000);
    struct buf text = BUF_INIT(BUF_ANY);
    make(&made[0], 0, 0);
    arrive(&made[0], 100, EVENT_TEXT, "a", 1);
    arrive(&made[0], 200, EVENT_TEXT, "b", 3);
    end(&made[0], 250, OUTCOME_OK);
    made[0].reads[1].t_user_ns += 1;
    assert_int_equal(metrics_band_compute(&made[0].s, 1, &f, &arena, &band, &err), 0);
    print(&text, &band);
    /* ms with six decimals, pairs as [lower, upper], other reals with nine digits. */
    static const char *const holds[] = {
        "\"ttft_ms\": {\n      \"n\": 1,\n      \"censored_n\": 0,\n      \"mean\": 100.000000,",
        "\"max\": [\n        33.333333,\n        100.000001\n      ]",
        "\"p90\": null",
        "\"metrics.itl_ms.p90\": \"n_too_small\"",
        "\"agg_tok_s\": {\n      \"n\": 4,\n      \"value\": 1.33333333\n    }",
        "\"metrics.slo_attainment\": \"no_slo\"",
        "\"conserved\": true",
        "\"token_assignment\": \"ids\"",
        "\"window_ms\": 3000.000000",
    };
    for (size_t k = 0; k < sizeof holds / sizeof holds[0]; k++)
        if (!strstr(text.p, holds[k]))
            fail_msg("no %s in\n%s", holds[k], text.p);
    buf_release(&text);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties),
        cmocka_unit_test(names),
        cmocka_unit_test(text_form),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
