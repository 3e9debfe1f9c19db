/* What a band is judged by beside its times: the client, the prompts, the answers. By hand. */
#include "fixture.h"

static void what_the_client_cost(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    for (int i = 0; i < 4; i++)
        arrive(&m[0], i < 3 ? 10 : 20, EVENT_TEXT, "a", 1);
    m[0].events[1].read = m[0].events[2].read = 0; /* three of one read */
    end(&m[0], 30, OUTCOME_OK);
    compute(1, &f);
    assert_true(band.client.multi_event_share == 0.5);
    assert_true(band.client.cpu_share < 0 && band.client.parser_cpu_share < 0);
    assert_int_equal(band.client.loop_lag.p99_ns, COUNT_NONE);
    f.client = (struct run_client_load){500 * MS, 125 * MS, 1000 * MS, 250 * MS, 1, 2, 3};
    compute(1, &f);
    assert_true(band.client.cpu_share == 0.75); /* the wait for a core counts */
    assert_true(band.client.parser_cpu_share == 0.125);
    assert_int_equal(band.client.loop_lag.max_ns, 3);
    assert_int_equal(band.client.suspect & 1u << CLIENT_CPU, 1u << CLIENT_CPU);
}

/* Send lags 1 ... n us: which percentile the client is refused by. */
static void lags_support_a_percentile(void **state)
{
    (void)state;
    enum { N = 299 };
    static const struct {
        size_t n;
        int percent;
        int64_t us;
    } cases[] = {{1, 50, 1},   {28, 50, 14},   {29, 90, 27},  {58, 90, 53},
                 {59, 95, 57}, {298, 95, 284}, {299, 99, 297}};
    struct made *many = calloc(N, sizeof *many);
    struct sample *samples = calloc(N, sizeof *samples);
    struct metrics_band_facts f = facts_of(0, 1000);
    struct error err = {0};
    for (int i = 0; i < N; i++) {
        make(&many[i], i, 1);
        many[i].s.t_planned_ns -= 1000 * (i + 1);
        samples[i] = many[i].s;
        samples[i].outcome = OUTCOME_CANCELLED;
    }
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        assert_int_equal(metrics_band_compute(samples, cases[k].n, &f, &arena, &band, &err), 0);
        assert_int_equal(band.client.send_lag.supported_percent, cases[k].percent);
        assert_int_equal(band.client.send_lag.supported_ns, cases[k].us * 1000);
        assert_int_equal(band.client.send_lag.max_ns, (int64_t)cases[k].n * 1000);
    }
    free(many);
    free(samples);
}

/* A reported prompt count that its wrapper does not predict is flagged; one that it does, or that
 * nothing predicts, is not. */
static void prompt_departs(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 2; i++) {
        make(&m[i], i, 0);
        arrive(&m[i], 10, EVENT_TEXT, "a", 1);
        end(&m[i], 20, OUTCOME_OK);
        m[i].s.prompt_reported = 534;
    }
    m[0].s.prompt_rendered = 534;
    compute(2, &f);
    assert_int_equal(band.work.departed_requests, 0);
    assert_int_equal(band.flags, 0);
    m[1].s.prompt_rendered = 513;
    compute(2, &f);
    assert_int_equal(band.work.departed_requests, 1);
    assert_int_equal(band.flags, 1u << FLAG_DEPARTS);
    m[1].s.prompt_reported = COUNT_NONE;
    compute(2, &f);
    assert_int_equal(band.flags, 0);
}

static void prompt_work(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    static const int64_t body[] = {512, 505, 520}, reported[] = {541, 534, COUNT_NONE};
    static const char *const ids[] = {"c", "a", "b"};
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        m[i].s.prompt_id = str_of(ids[i]);
        m[i].s.prompt_body = body[i];
        m[i].s.prompt_reported = reported[i];
        end(&m[i], 20, OUTCOME_TRUNCATED);
    }
    compute(3, &f);
    assert_int_equal(band.work.body.n, 3);
    assert_int_equal(band.work.body.min, 505);
    assert_int_equal(band.work.body.median, 512);
    assert_int_equal(band.work.body.max, 520);
    assert_int_equal(band.work.reported.n, 2);
    assert_int_equal(band.work.delta.n, 2);
    assert_int_equal(band.work.delta.min, 29);
    assert_int_equal(band.work.delta.max, 29);
    assert_int_equal(band.work.rendered.n, 0);
    assert_true(str_eq(band.work.prompts[0].id, STR("a")));
    assert_int_equal(band.work.prompts[2].body, 512);
}

/* Turn by turn, those of one request and those of two; past the 64th none is told apart. */
static void prompt_turns(void **state)
{
    (void)state;
    static const int64_t turns[] = {2, 1, 2, 64, 65}, reported[] = {90, 30, 110, 700, 800};
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 5; i++) {
        make(&m[i], i, 0);
        m[i].s.turn = turns[i];
        m[i].s.prompt_body = 10 + i;
        m[i].s.prompt_rendered = i == 2 ? 111 : reported[i];
        m[i].s.prompt_reported = reported[i];
        arrive(&m[i], 10, EVENT_TEXT, "a", 1);
        end(&m[i], 20, OUTCOME_OK);
    }
    compute(5, &f);
    const struct metrics_work *w = &band.work;
    assert_int_equal(w->turns_n, 3);
    assert_int_equal(w->turns[0].turn, 1);
    assert_int_equal(w->turns[0].n, 1);
    assert_int_equal(w->turns[0].reported.max, 30);
    assert_int_equal(w->turns[0].cached.n, 0);
    assert_int_equal(w->turns[1].turn, 2);
    assert_int_equal(w->turns[1].n, 2);
    assert_int_equal(w->turns[1].departed, 1);
    assert_int_equal(w->turns[1].body.min, 10);
    assert_int_equal(w->turns[1].body.max, 12);
    assert_int_equal(w->turns[1].reported.median, 90); /* the lower of two */
    assert_int_equal(w->turns[2].turn, 64);
    assert_int_equal(w->reported.n, 5);
    for (int i = 0; i < 5; i++)
        m[i].s.turn = COUNT_NONE;
    compute(5, &f);
    assert_int_equal(band.work.turns_n, 0);
}

static void constant_output(void **state)
{
    (void)state;
    static const uint32_t same[32] = {0};
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        struct sample_event *e = arrive(&m[i], 10, EVENT_TEXT, "!", 1);
        if (i > 0) {
            e->ids = same;
            e->ids_n = 16;
            m[i].tokens = 16;
        }
        end(&m[i], 20, OUTCOME_OK);
    }
    m[2].events[0].ids_n = 15;
    compute(3, &f);
    assert_int_equal(band.outputs.checked, 3);
    assert_int_equal(band.outputs.degenerate, 1);
    assert_int_equal(band.outputs.longest_run, 16);
    assert_int_equal(band.flags, 1u << FLAG_DEGENERATE);
    assert_int_equal(band.status, STATUS_PASS);
    m[2].events[0].ids_n = 16;
    compute(3, &f);
    assert_int_equal(band.status, STATUS_REFUSED);
    assert_string_equal(band.reason, "invalid_correctness");
    /* Half of the answers are not most of them; a run of half the tokens is a degenerate one. */
    m[2].events[0].ids = made_ids;
    m[2].s.seq = 1;
    m[1] = m[2];
    m[1].s.events = m[1].events;
    m[1].s.reads = m[1].reads;
    m[0].events[0].ids = same;
    m[0].events[0].ids_n = 16;
    arrive(&m[0], 12, EVENT_TEXT, "x", 16);
    end(&m[0], 20, OUTCOME_OK);
    compute(2, &f);
    assert_int_equal(band.outputs.checked, 2);
    assert_int_equal(band.outputs.degenerate, 1);
    assert_int_equal(band.status, STATUS_PASS);
    m[0].events[1].ids_n = 15;
    m[0].events[1].ids = same + 1; /* thirty-one alike */
    m[0].events[0].ids_n = 16;
    compute(2, &f);
    assert_int_equal(band.outputs.longest_run, 31);
    /* Case 39 without ids: thirty-two of one character, and one short of it. */
    for (int i = 0; i < 2; i++) {
        make(&m[0], 0, 0);
        arrive(&m[0], 10, EVENT_TEXT, "!!!!!!!!!!!!!!!!", 0);
        arrive(&m[0], 12, EVENT_TEXT, i ? "!!!!!!!!!!!!!!!" : "!!!!!!!!!!!!!!!!", 0);
        end(&m[0], 20, OUTCOME_OK);
        compute(1, &f);
        assert_int_equal(band.outputs.degenerate, !i);
    }
}

/* Case 39: what was answered at c = 1 and what at c = 4, by ids and by characters. */
static void answers_alike(void **state)
{
    (void)state;
    static const uint32_t other[] = {1, 2, 9, 4};
    static const char *const ids[] = {"a", "b", "c"};
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        m[i].s.prompt_id = str_of(ids[i]);
        arrive(&m[i], 10, EVENT_TEXT, "xy", i < 2 ? 4 : 0);
        arrive(&m[i], 20, EVENT_TEXT, "z\xc3\xa9", 0);
        end(&m[i], 30, OUTCOME_OK);
    }
    compute(3, &f);
    assert_int_equal(band.outputs.agreement.why, REASON_IS_BASE);
    struct metrics_band one = band;
    f.band = 4;
    for (int i = 0; i < 3; i++)
        m[i].s.band = 4;
    m[1].events[0].ids = other;
    m[2].events[1].text = STR("z!");
    compute(3, &f);
    assert_int_equal(band.outputs.agreement.why, REASON_NO_BASE);
    metrics_set_base(&band, &one);
    const struct metrics_agreement *a = &band.outputs.agreement;
    assert_int_equal(a->why, REASON_NONE);
    assert_int_equal(a->compared, 3);
    assert_int_equal(a->identical, 1);
    assert_int_equal(a->by_ids, 2);
    assert_int_equal(a->agreed, 4 + 2 + 3);
    assert_int_equal(a->of, 4 + 4 + 4);
    assert_int_equal(a->earliest, 2);
    /* An answer that goes on where the other ended differs there. */
    make(&m[0], 0, 0);
    m[0].s.band = 4;
    m[0].s.prompt_id = STR("a");
    arrive(&m[0], 10, EVENT_TEXT, "xy", 6);
    end(&m[0], 30, OUTCOME_OK);
    compute(1, &f);
    metrics_set_base(&band, &one);
    assert_int_equal(a->identical, 0);
    assert_int_equal(a->earliest, 4);
    /* Other prompts, and ids against characters, are not compared. */
    m[0].s.prompt_id = STR("z");
    compute(1, &f);
    metrics_set_base(&band, &one);
    assert_int_equal(a->why, REASON_NO_SHARED);
    m[0].s.prompt_id = STR("c");
    compute(1, &f);
    metrics_set_base(&band, &one);
    assert_int_equal(a->why, REASON_NO_SHARED);
}

/* With unique prompts no window shares a prompt with another: the warm-up of c = 4 sends those that
 * the window of c = 1 had. Its first answers are compared, what it sends beyond them is not. */
static void warmup_is_compared(void **state)
{
    (void)state;
    static const char *const ids[] = {"a:r1.c1.u0", "b:r1.c1.u1", "c:r1.c1.u2"};
    struct metrics_band_facts f = facts_of(0, 1000);
    for (int i = 0; i < 2; i++) {
        make(&m[i], i, 0);
        m[i].s.prompt_id = str_of(ids[i]);
        arrive(&m[i], 10, EVENT_TEXT, "xyz", 0);
        end(&m[i], 30, OUTCOME_OK);
    }
    compute(2, &f);
    struct metrics_band one = band;
    f = facts_of(500, 1000);
    f.band = 4;
    for (int i = 0; i < 4; i++) {
        make(&m[i], i, i < 3 ? 0 : 600);
        m[i].s.band = 4;
        m[i].s.phase = i < 3 ? PHASE_WARMUP : PHASE_WINDOW;
        m[i].s.prompt_id = str_of(i < 3 ? ids[i] : "d:r1.c4.u0");
        arrive(&m[i], i < 3 ? 10 : 610, EVENT_TEXT, i == 1 ? "x!!" : "xyz", 0);
        end(&m[i], i < 3 ? 30 : 630, OUTCOME_OK);
    }
    compute(4, &f);
    metrics_set_base(&band, &one);
    const struct metrics_agreement *a = &band.outputs.agreement;
    assert_int_equal(a->why, REASON_NONE);
    assert_int_equal(a->compared, 2);
    assert_int_equal(a->identical, 1);
    assert_int_equal(a->agreed, 3 + 1);
    assert_int_equal(a->of, 3 + 3);
    assert_int_equal(a->earliest, 1);
    assert_int_equal(band.outputs.checked, 1); /* warm-up is in nothing else */
}

#define DIGEST(c) c c c c c c c c c c c c c c c c
#define DIGEST_A DIGEST("aaaa")
#define DIGEST_B DIGEST("bbbb")

/* Answers by their digests: all together, and one by one where the texts were left out. */
static void digests(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    struct error err = {0};
    char hex[SHA256_HEX];
    for (int i = 0; i < 3; i++) {
        make(&m[i], i, 0);
        m[i].s.prompt_id = str_of(i == 0 ? "q" : i == 1 ? "p" : "r");
        struct sample_event *e = arrive(&m[i], 10, EVENT_TEXT, "", 0);
        e->redacted = true;
        e->text_bytes = 5;
        memcpy(m[i].s.output_sha256, i == 0 ? DIGEST_A : DIGEST_B, SHA256_HEX);
        end(&m[i], 30, i < 2 ? OUTCOME_OK : OUTCOME_TRUNCATED);
    }
    compute(3, &f);
    assert_int_equal(band.outputs.answers, 2); /* that of a truncated request is none */
    assert_int_equal(sha256_hex(hex, STR("p " DIGEST_B "\nq " DIGEST_A "\n"), &err), 0);
    assert_string_equal(band.outputs.sha256, hex);
    struct metrics_band one = band;
    f.band = 4;
    for (int i = 0; i < 3; i++)
        m[i].s.band = 4;
    memcpy(m[1].s.output_sha256, DIGEST_A, SHA256_HEX);
    compute(3, &f);
    metrics_set_base(&band, &one);
    const struct metrics_agreement *a = &band.outputs.agreement;
    assert_int_equal(a->compared, 2);
    assert_int_equal(a->by_digest, 2);
    assert_int_equal(a->identical, 1);
    assert_int_equal(a->of, 0);
    assert_int_equal(a->earliest, COUNT_NONE);
    assert_string_not_equal(band.outputs.sha256, hex);
}

static void zero_tokens(void **state)
{
    (void)state;
    struct metrics_band_facts f = facts_of(0, 1000);
    make(&m[0], 0, 0);
    arrive(&m[0], 10, EVENT_FINISH, "", 0);
    end(&m[0], 20, OUTCOME_OK);
    compute(1, &f);
    assert_int_equal(band.counts.zero_token, 1);
    assert_int_equal(band.flags, 1u << FLAG_ZERO_TOKEN);
    assert_int_equal(METRIC(METRIC_TTFT)->stats[STAT_P50].why, REASON_CENSORED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_client_cost), cmocka_unit_test(lags_support_a_percentile),
        cmocka_unit_test(prompt_departs),       cmocka_unit_test(prompt_work),
        cmocka_unit_test(prompt_turns),         cmocka_unit_test(constant_output),
        cmocka_unit_test(answers_alike),        cmocka_unit_test(zero_tokens),
        cmocka_unit_test(warmup_is_compared),   cmocka_unit_test(digests),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
