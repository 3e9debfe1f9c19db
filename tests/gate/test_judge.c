#include "gate/judge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

#define S 0.02
#define N 6
/* t(0.95, 5), from any table. */
#define T 2.015048

/* A receipt of one band with one ratio, everything else sound; and a matrix of one cell. */
struct scene {
    struct run_record run;
    struct run_lane lanes[2];
    struct run_band bands[2];
    struct metrics_band band[2];
    const struct metrics_band *band_p[2];
    struct metrics_pairs pairs;
    struct gate_receipt receipt;
    struct gate_input input;
    struct str host, model, workload, metric[2];
    int32_t c;
    struct matrix_arm arms[2];
    struct matrix_cell cell;
    struct matrix matrix;
    struct arena arena;
};

static const struct matrix_number *number(double value)
{
    static struct matrix_number n;
    n = (struct matrix_number){.set = true, .value = value, .author = STR("A"), .date = STR("d")};
    return &n;
}

static void set_ratio(struct metrics_ratio *r, double mean)
{
    double half = T * S / sqrt((double)N);
    *r = (struct metrics_ratio){.why = REASON_NONE,
                                .bounds_why = REASON_NONE,
                                .n = N,
                                .mean = mean,
                                .s = S,
                                .lower = mean - half,
                                .upper = mean + half,
                                .mde = 0.02};
}

static void set_scene(struct scene *s)
{
    *s = (struct scene){.host = STR("h"), .model = STR("m"), .workload = STR("w1"), .c = 4};
    s->metric[0] = STR("agg_tok_s");
    s->metric[1] = STR("ttft_ms.p50");
    run_plan_init(&s->run.plan);
    s->run.plan.method = COUNT_CLIENT_TOKENIZER;
    s->run.plan.tokenizer_sha256[0] = 'a';
    s->run.t_end_real_ns = 1000 * NS_PER_S;
    s->lanes[0] = (struct run_lane){.role = "subject", .host = "h", .model = "m"};
    s->lanes[1] = (struct run_lane){.role = "comparator", .host = "h", .model = "m", .build = "v1"};
    s->run.lanes = s->lanes;
    s->run.lanes_n = 2;
    for (size_t i = 0; i < 2; i++) {
        s->bands[i] =
            (struct run_band){.lane = i, .band = 4, .replicate = 1, .status = STATUS_PASS};
        s->band[i].counts.issued = s->band[i].counts.outcomes[OUTCOME_OK] = 40;
        s->band[i].counts.conserved = true;
        s->band[i].window_ns = 60 * NS_PER_S;
        s->band_p[i] = &s->band[i];
    }
    s->run.bands = s->bands;
    s->run.bands_n = 2;
    s->pairs = (struct metrics_pairs){.band = 4, .status = STATUS_PASS};
    for (int i = 0; i < METRICS_PAIRED_COUNT; i++)
        set_ratio(&s->pairs.ratios[i], 0);
    s->receipt = (struct gate_receipt){.path = "run",
                                       .verified = true,
                                       .verify_said = "",
                                       .status = STATUS_PASS,
                                       .run = &s->run,
                                       .bands = s->band_p,
                                       .pairs = &s->pairs,
                                       .pairs_n = 1,
                                       .workload = "w1",
                                       .signature_said = "there is no signature",
                                       .ledger_said = "ledger: none",
                                       .join_sha256 = "j"};
    s->input = (struct gate_input){
        .phase = GATE_RELEASE, .now_ns = 1000 * NS_PER_S, .receipts = &s->receipt, .receipts_n = 1};
    s->arms[0] = (struct matrix_arm){.name = STR("parity"),
                                     .kind = ARM_PARITY,
                                     .metrics = s->metric,
                                     .metrics_n = 1,
                                     .delta = *number(0.05)};
    s->cell = (struct matrix_cell){
        .host = s->host, .model = s->model, .workload = s->workload, .state = CELL_MEASURED};
    s->matrix = (struct matrix){.hosts = &s->host,
                                .hosts_n = 1,
                                .models = &s->model,
                                .models_n = 1,
                                .workloads = &s->workload,
                                .workloads_n = 1,
                                .bands = &s->c,
                                .bands_n = 1,
                                .arms = s->arms,
                                .arms_n = 1,
                                .cells = &s->cell,
                                .cells_n = 1};
    arena_init(&s->arena, (size_t)8 << 20);
}

static struct gate_verdict judge(struct scene *s)
{
    struct gate_verdict v = {0};
    struct error err = {0};
    if (gate_judge(&s->matrix, &s->input, &s->arena, &v, &err) < 0)
        fail_msg("%s", err.message);
    return v;
}

/* Worked by hand: half width 2.015 * 0.02 / sqrt(6) = 0.01645; margin ln 0.95 = -0.05129. */
static void parity_is_non_inferiority(void **state)
{
    (void)state;
    static const struct {
        double mean;
        enum status status;
    } cases[] = {
        {0, STATUS_PASS},
        {-0.034, STATUS_PASS},         /* L = -0.05045 */
        {-0.036, STATUS_INCONCLUSIVE}, /* L = -0.05245, U above the margin */
        {-0.06, STATUS_INCONCLUSIVE},  /* U = -0.04355 */
        {-0.0685, STATUS_FAIL},        /* U = -0.05205 */
        {-0.1, STATUS_FAIL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene s;
        set_scene(&s);
        set_ratio(&s.pairs.ratios[PAIRED_AGG], cases[i].mean);
        struct gate_verdict v = judge(&s);
        assert_int_equal(v.rows_n, 1);
        if (v.status != cases[i].status)
            fail_msg("mean %g: %s", cases[i].mean, status_name(v.status));
        assert_int_equal(v.comparisons, 1);
        assert_ptr_equal(v.rows[0].threshold, &s.arms[0].delta);
        arena_release(&s.arena);
    }
}

/* t = (mean - margin) sqrt(6) / 0.02 = -2.19 has p = 0.040: a failure alone, none of two. */
static void failures_fall_to_holm_together(void **state)
{
    (void)state;
    struct scene s;
    double mean = log(0.95) - 2.19 * S / sqrt((double)N);
    set_scene(&s);
    set_ratio(&s.pairs.ratios[PAIRED_AGG], mean);
    assert_int_equal(judge(&s).status, STATUS_FAIL);
    arena_release(&s.arena);

    set_scene(&s);
    set_ratio(&s.pairs.ratios[PAIRED_AGG], mean);
    s.arms[0].metrics_n = 2;
    struct gate_verdict v = judge(&s);
    assert_int_equal(v.comparisons, 2);
    assert_int_equal(v.rows[0].status, STATUS_INCONCLUSIVE);
    assert_int_equal(v.rows[1].status, STATUS_PASS);
    assert_int_equal(v.status, STATUS_INCONCLUSIVE);
    arena_release(&s.arena);
}

static void looks_share_alpha(void **state)
{
    (void)state;
    struct scene s;
    set_scene(&s);
    s.receipt.looks = 2;
    /* t(0.975, 5) = 2.5706: half width 0.02099, so -0.034 no longer passes, -0.030 does. */
    set_ratio(&s.pairs.ratios[PAIRED_AGG], -0.034);
    struct gate_verdict v = judge(&s);
    assert_int_equal(v.status, STATUS_INCONCLUSIVE);
    assert_true(v.alpha == 0.025);
    set_ratio(&s.pairs.ratios[PAIRED_AGG], -0.030);
    assert_int_equal(judge(&s).status, STATUS_PASS);
    arena_release(&s.arena);
}

static void what_was_not_measured_is_never_green(void **state)
{
    (void)state;
    struct scene s;
    set_scene(&s);
    s.input.receipts_n = 0;
    assert_int_equal(judge(&s).status, STATUS_UNMEASURED);
    arena_release(&s.arena);

    set_scene(&s);
    s.receipt.pairs_n = 0;
    assert_int_equal(judge(&s).status, STATUS_UNMEASURED);
    arena_release(&s.arena);

    static const struct {
        enum metrics_reason why;
        enum status status;
    } reasons[] = {{REASON_UNEQUAL_WORK, STATUS_REFUSED},
                   {REASON_PAIR_MISSING, STATUS_INCOMPLETE},
                   {REASON_ONE_ARRIVAL, STATUS_UNMEASURED}};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        set_scene(&s);
        s.pairs.ratios[PAIRED_AGG].why = reasons[i].why;
        assert_int_equal(judge(&s).status, reasons[i].status);
        arena_release(&s.arena);
    }

    /* Two receipts for a cell, and one for none: a gate does not choose. */
    set_scene(&s);
    struct gate_receipt two[2] = {s.receipt, s.receipt};
    s.input.receipts = two;
    s.input.receipts_n = 2;
    assert_int_equal(judge(&s).status, STATUS_REFUSED);
    arena_release(&s.arena);
    set_scene(&s);
    s.lanes[0].host = "elsewhere";
    struct gate_verdict v = judge(&s);
    assert_int_equal(v.status, STATUS_REFUSED);
    assert_int_equal(v.rows_n, 2);
    arena_release(&s.arena);
}

static void cells_expire(void **state)
{
    (void)state;
    struct scene s;
    set_scene(&s);
    s.input.receipts_n = 0;
    s.cell.state = CELL_UNMEASURED;
    s.cell.owner = STR("o");
    s.cell.ticket = STR("t");
    s.cell.expires = STR("1970-01-01");
    s.cell.expires_ns = 86400 * NS_PER_S;
    s.input.now_ns = 86400 * NS_PER_S - 1;
    assert_int_equal(judge(&s).status, STATUS_UNMEASURED);
    s.input.now_ns++;
    assert_int_equal(judge(&s).status, STATUS_FAIL);
    arena_release(&s.arena);

    /* Nothing applicable is left: no pass. */
    set_scene(&s);
    s.input.receipts_n = 0;
    s.cell.state = CELL_NOT_APPLICABLE;
    s.cell.reason = STR("r");
    s.cell.decided_by = STR("d");
    assert_int_equal(judge(&s).status, STATUS_REFUSED);
    arena_release(&s.arena);
}

static void use_integrity(struct scene *s)
{
    s->arms[0] = (struct matrix_arm){.name = STR("integrity"), .kind = ARM_INTEGRITY};
    s->arms[0].max_error_share = *number(0);
    s->arms[0].max_drain_share = *number(0.5);
    s->arms[0].max_age_days = *number(1);
}

static void integrity_needs_everything(void **state)
{
    (void)state;
    struct scene s;
    set_scene(&s);
    use_integrity(&s);
    s.receipt.signature_valid = s.receipt.in_ledger = true;
    assert_int_equal(judge(&s).status, STATUS_PASS);
    for (int i = 0; i < 12; i++) {
        struct scene t = s;
        arena_init(&t.arena, (size_t)8 << 20);
        for (size_t k = 0; k < 2; k++)
            t.band_p[k] = &t.band[k];
        t.run.lanes = t.lanes;
        t.run.bands = t.bands;
        t.receipt.run = &t.run;
        t.receipt.bands = t.band_p;
        t.receipt.pairs = &t.pairs;
        t.input.receipts = &t.receipt;
        t.matrix.arms = t.arms;
        t.matrix.cells = &t.cell;
        switch (i) {
        case 0:
            t.receipt.verified = false;
            break;
        case 1:
            t.receipt.status = STATUS_INCOMPLETE;
            break;
        case 2:
            t.run.plan.method = COUNT_SERVER_USAGE;
            break;
        case 3:
            t.band[1].counts.conserved = false;
            break;
        case 4:
            t.band[0].counts.outcomes[OUTCOME_TIMED_OUT] = 1;
            break;
        case 5:
            t.band[1].counts.outcomes[OUTCOME_OK] = 39;
            break;
        case 6:
            t.band[0].counts.zero_token = 1;
            break;
        case 7:
            t.band[0].drain_ns = 31 * NS_PER_S;
            break;
        case 8:
            t.pairs.work.why = REASON_UNEQUAL_WORK;
            break;
        case 9:
            t.receipt.signature_valid = false;
            break;
        case 10:
            t.receipt.in_ledger = false;
            break;
        case 11:
            t.input.now_ns += 86401 * NS_PER_S;
            break;
        }
        /* work that is unequal exits 4: nothing was measured that could fail (spec section 3) */
        if (judge(&t).status != (i == 8 ? STATUS_REFUSED : STATUS_FAIL))
            fail_msg("change %d is not seen", i);
        arena_release(&t.arena);
    }
    arena_release(&s.arena);

    /* In the merge phase neither signature nor age is asked for, and no comparison is made. */
    set_scene(&s);
    use_integrity(&s);
    s.arms[1] = (struct matrix_arm){.name = STR("parity"),
                                    .kind = ARM_PARITY,
                                    .metrics = s.metric,
                                    .metrics_n = 1,
                                    .delta = *number(0.05)};
    s.matrix.arms_n = 2;
    set_ratio(&s.pairs.ratios[PAIRED_AGG], -1);
    s.input.phase = GATE_MERGE;
    struct gate_verdict v = judge(&s);
    assert_int_equal(v.status, STATUS_PASS);
    assert_int_equal(v.comparisons, 0);
    arena_release(&s.arena);
}

/* The first row of a rule; what became of it. */
static enum status status_of_rule(const struct gate_verdict *v, enum gate_rule rule)
{
    for (size_t i = 0; i < v->rows_n; i++)
        if (v->rows[i].rule == rule)
            return v->rows[i].status;
    fail_msg("no row of %s", gate_rule_name(rule));
    return STATUS_PASS;
}

static void a_ratchet_needs_its_build(void **state)
{
    (void)state;
    struct scene s, before;
    set_scene(&before);
    snprintf(before.run.plan.nonce, sizeof before.run.plan.nonce, "before");
    before.lanes[0].build = "v2";
    set_scene(&s);
    s.input.sessions = &before.receipt;
    s.input.sessions_n = 1;
    s.arms[0].kind = ARM_SELF_REGRESSION;
    s.arms[0].baseline_build = STR("v0");
    struct gate_verdict v = judge(&s);
    assert_int_equal(status_of_rule(&v, GATE_RATCHET_BUILD), STATUS_REFUSED);
    s.arms[0].baseline_build = STR("v1");
    assert_int_equal(judge(&s).status, STATUS_PASS);
    /* What the matrix says of itself proves nothing. */
    s.input.sessions_n = 0;
    v = judge(&s);
    assert_int_equal(status_of_rule(&v, GATE_RATCHET_MOVE), STATUS_INCOMPLETE);
    arena_release(&s.arena);
    arena_release(&before.arena);
}

/* Before, v2 was held against v1. The ratchet may stay at v1; it may move to v2 only where v2 was
 * better beyond doubt (half width 0.01645), and nowhere else. */
static void a_ratchet_moves_one_way(void **state)
{
    static const struct {
        double mean;
        const char *named;
        enum status status;
    } cases[] = {
        {0.02, "v1", STATUS_PASS},  {0.02, "v2", STATUS_PASS},   {0.016, "v2", STATUS_FAIL},
        {-0.02, "v2", STATUS_FAIL}, {0.02, "v0.9", STATUS_FAIL}, {-0.02, "v1", STATUS_PASS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene s, before, first;
        set_scene(&first); /* v1 against v0.9, long ago: v1 was a subject once */
        first.lanes[0].build = "v1";
        first.lanes[1].build = "v0.9";
        first.run.t_end_real_ns -= 10;
        set_scene(&before);
        before.lanes[0].build = "v2";
        set_ratio(&before.pairs.ratios[PAIRED_AGG], cases[i].mean);
        struct gate_receipt sessions[] = {first.receipt, before.receipt};
        set_scene(&s);
        s.lanes[1].build = cases[i].named;
        s.lanes[0].build = "v3";
        s.input.sessions = sessions;
        s.input.sessions_n = 2;
        s.arms[0].kind = ARM_SELF_REGRESSION;
        s.arms[0].baseline_build = str_of(cases[i].named);
        struct gate_verdict v = judge(&s);
        if (status_of_rule(&v, GATE_RATCHET_MOVE) != cases[i].status)
            fail_msg("to %s after %g", cases[i].named, cases[i].mean);
        assert_int_equal(v.status, cases[i].status);
        arena_release(&s.arena);
        arena_release(&before.arena);
        arena_release(&first.arena);
    }
}

/* A receipt against the ratchet's build and one against another server share a cell. */
static void a_cell_has_one_receipt_a_comparator(void **state)
{
    struct scene s, other;
    (void)state;
    set_scene(&other);
    other.lanes[1].build = "llama b1";
    set_scene(&s);
    s.arms[1] = s.arms[0];
    s.arms[1].name = STR("ratchet");
    s.arms[1].kind = ARM_SELF_REGRESSION;
    s.arms[1].baseline_build = STR("v1");
    s.matrix.arms_n = 2;
    struct gate_receipt now[] = {s.receipt, other.receipt};
    s.input.receipts = now;
    s.input.receipts_n = 2;
    s.input.sessions = now;
    s.input.sessions_n = 1;
    set_ratio(&other.pairs.ratios[PAIRED_AGG], 0.01);
    struct gate_verdict v = judge(&s);
    assert_int_equal(v.status, STATUS_PASS);
    assert_int_equal(v.comparisons, 2); /* parity against the one, regression against the other */
    now[1] = now[0];
    v = judge(&s);
    assert_int_equal(status_of_rule(&v, GATE_ONE_RECEIPT), STATUS_REFUSED);
    now[1] = other.receipt;
    other.lanes[0].build = "another";
    v = judge(&s);
    assert_int_equal(status_of_rule(&v, GATE_ONE_RECEIPT), STATUS_REFUSED);
    arena_release(&s.arena);
    arena_release(&other.arena);
}

static void lanes_that_cannot_be_joined_have_no_ratio(void **state)
{
    struct scene s;
    (void)state;
    set_scene(&s);
    s.receipt.join_differs = "host";
    for (int unknown = 0; unknown < 2; unknown++) {
        s.receipt.join_unknown = unknown;
        struct gate_verdict v = judge(&s);
        assert_int_equal(v.status, STATUS_REFUSED);
        assert_int_equal(status_of_rule(&v, GATE_JOIN_KEY), STATUS_REFUSED);
        assert_int_equal(v.comparisons, 0);
    }
    arena_release(&s.arena);
}

static void a_receipt_is_of_the_build_asked_about(void **state)
{
    struct scene s;
    (void)state;
    set_scene(&s);
    use_integrity(&s);
    s.receipt.signature_valid = s.receipt.in_ledger = true;
    s.lanes[0].build = "c0ffee";
    struct gate_verdict v = judge(&s);
    assert_int_equal(status_of_rule(&v, GATE_BUILD), STATUS_NOT_APPLICABLE);
    s.input.build = "c0ffee";
    assert_int_equal(judge(&s).status, STATUS_PASS);
    s.input.build = "beef";
    v = judge(&s);
    assert_int_equal(status_of_rule(&v, GATE_BUILD), STATUS_FAIL);
    s.lanes[0].build = NULL;
    assert_int_equal(judge(&s).status, STATUS_FAIL);
    arena_release(&s.arena);
}

/* Reported beside arm A, and never the reason of a verdict. */
static void scaling_is_reported(void **state)
{
    struct scene s;
    (void)state;
    set_scene(&s);
    s.arms[0].kind = ARM_SELF_REGRESSION;
    s.arms[0].baseline_build = STR("v1");
    s.input.sessions = &s.receipt;
    s.input.sessions_n = 1;
    for (int there = 0; there < 2; there++) {
        s.band[0].metrics[METRIC_SCALING].why = there ? REASON_NONE : REASON_PAIR_MISSING;
        s.band[0].metrics[METRIC_SCALING].real = 0.75;
        s.band[1].metrics[METRIC_SCALING].real = 0.5;
        struct gate_verdict v = judge(&s);
        assert_int_equal(v.status, STATUS_PASS);
        const struct gate_row *r = &v.rows[v.rows_n - 1];
        assert_string_equal(r->what, "scaling_efficiency");
        assert_false(r->counts);
        assert_string_equal(r->number, there ? "0.750 (comparator 0.500)" : "");
        assert_int_equal(r->status, there ? STATUS_PASS : STATUS_UNMEASURED);
    }
    arena_release(&s.arena);
}

/* A number of class ratchet may be tightened, and nothing else. */
static void numbers_move_one_way(void **state)
{
    static const struct {
        bool there, ratchet;
        double value;
        enum status status;
    } cases[] = {
        {true, true, 0.05, STATUS_PASS},  {true, true, 0.04, STATUS_PASS},
        {true, true, 0.051, STATUS_FAIL}, {true, false, 0.04, STATUS_FAIL},
        {false, true, 0, STATUS_FAIL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene s;
        set_scene(&s);
        struct matrix before = s.matrix;
        struct matrix_arm was = s.arms[0];
        was.delta.class = CLASS_RATCHET;
        before.arms = &was;
        s.input.before = &before;
        s.arms[0].delta.value = cases[i].value;
        s.arms[0].delta.class = cases[i].ratchet ? CLASS_RATCHET : CLASS_POLICY;
        if (!cases[i].there)
            s.arms[0].name = STR("parity-anew");
        if (!cases[i].there)
            s.arms[0].delta.value = 0.05;
        struct gate_verdict v = judge(&s);
        if (status_of_rule(&v, GATE_RATCHET_NUMBER) != cases[i].status)
            fail_msg("case %zu", i);
        assert_int_equal(v.status, cases[i].status);
        arena_release(&s.arena);
    }
}

static void interference_is_judged_where_it_is_bounded(void **state)
{
    struct scene s;
    (void)state;
    set_scene(&s);
    s.arms[0] = (struct matrix_arm){
        .name = STR("interference"), .kind = ARM_INTERFERENCE, .reporting = true};
    s.pairs.serialization.mean = 3;
    /* All that there is only reports: nothing was judged. */
    struct gate_verdict v = judge(&s);
    assert_int_equal(v.status, STATUS_REFUSED);
    assert_int_equal(status_of_rule(&v, GATE_INTERFERENCE), STATUS_PASS);
    assert_int_equal(status_of_rule(&v, GATE_APPLICABLE), STATUS_REFUSED);
    s.arms[0].reporting = false;
    s.arms[0].max_serialization_index = *number(2.5);
    assert_int_equal(judge(&s).status, STATUS_FAIL);
    s.pairs.serialization.mean = 2.5;
    assert_int_equal(judge(&s).status, STATUS_PASS);
    s.pairs.serialization.why = REASON_PAIR_MISSING;
    assert_int_equal(judge(&s).status, STATUS_UNMEASURED);
    arena_release(&s.arena);
}

/* Six sessions at 100 tok/s (with a spread of s = 0.01 in the log): a run of 60 fails, of 100
 * passes; by hand: baseline = -t s/sqrt 6 = -0.0082, less delta -0.0595; upper prediction bound of
 * 60 is ln 0.6 + 2.015 * 0.01 * sqrt(7/6) = -0.489. */
static void sessions_make_a_baseline(void **state)
{
    (void)state;
    static const double deviation[GATE_SESSIONS] = {-1.2, -0.6, 0, 0, 0.6, 1.2};
    struct scene now, old[GATE_SESSIONS];
    struct gate_receipt sessions[GATE_SESSIONS];
    for (int i = 0; i < GATE_SESSIONS; i++) {
        set_scene(&old[i]);
        snprintf(old[i].run.plan.nonce, sizeof old[i].run.plan.nonce, "%d", i);
        old[i].lanes[0].build = "v1";
        old[i].band[0].metrics[METRIC_AGG].real = 100 * exp(0.01 * deviation[i]);
        sessions[i] = old[i].receipt;
    }
    for (int n = GATE_SESSIONS - 1; n <= GATE_SESSIONS; n++) {
        static const double rates[] = {100, 94.5, 60};
        static const enum status wanted[] = {STATUS_PASS, STATUS_PASS, STATUS_FAIL};
        for (size_t i = 0; i < 3; i++) {
            set_scene(&now);
            snprintf(now.run.plan.nonce, sizeof now.run.plan.nonce, "now");
            now.arms[0].kind = ARM_SELF_REGRESSION;
            now.band[0].metrics[METRIC_AGG].real = rates[i];
            now.input.sessions = sessions;
            now.input.sessions_n = (size_t)n;
            enum status got = judge(&now).status;
            assert_int_equal(got, n < GATE_SESSIONS ? STATUS_INCOMPLETE : wanted[i]);
            arena_release(&now.arena);
        }
    }
    /* The same session twice, one under other conditions, one of another build: no six. */
    for (int change = 0; change < 3; change++) {
        struct gate_receipt kept = sessions[1];
        set_scene(&now);
        snprintf(now.run.plan.nonce, sizeof now.run.plan.nonce, "now");
        now.arms[0].kind = ARM_SELF_REGRESSION;
        now.band[0].metrics[METRIC_AGG].real = 100;
        now.input.sessions = sessions;
        now.input.sessions_n = GATE_SESSIONS;
        if (change == 0)
            sessions[1] = sessions[0];
        else if (change == 1)
            sessions[1].join_sha256 = "k";
        else
            old[1].lanes[0].build = "v2";
        struct gate_verdict v = judge(&now);
        assert_int_equal(status_of_rule(&v, GATE_BASELINE), STATUS_INCOMPLETE);
        sessions[1] = kept;
        arena_release(&now.arena);
    }
    for (int i = 0; i < GATE_SESSIONS; i++)
        arena_release(&old[i].arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parity_is_non_inferiority),
        cmocka_unit_test(failures_fall_to_holm_together),
        cmocka_unit_test(looks_share_alpha),
        cmocka_unit_test(what_was_not_measured_is_never_green),
        cmocka_unit_test(cells_expire),
        cmocka_unit_test(integrity_needs_everything),
        cmocka_unit_test(a_ratchet_needs_its_build),
        cmocka_unit_test(a_ratchet_moves_one_way),
        cmocka_unit_test(a_cell_has_one_receipt_a_comparator),
        cmocka_unit_test(lanes_that_cannot_be_joined_have_no_ratio),
        cmocka_unit_test(a_receipt_is_of_the_build_asked_about),
        cmocka_unit_test(scaling_is_reported),
        cmocka_unit_test(numbers_move_one_way),
        cmocka_unit_test(interference_is_judged_where_it_is_bounded),
        cmocka_unit_test(sessions_make_a_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
