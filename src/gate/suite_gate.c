/* Every rule of the gate, by what turns it red. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "gate/mutate.h"
#include "gate/scene.h"
#include "gate/suites.h"

#define DAY (24 * 3600 * NS_PER_S)

struct gate_mutation {
    const char *name;
    enum gate_rule rule;
    enum status status; /* what a row of that rule must be */
    int (*change)(struct scene *s, struct error *err);
};

/* The run against another server, made again with what p holds, takes its place. */
static int remake(struct scene *s, struct specimen *p, struct error *err)
{
    return scene_make(s, p, &s->dirs[0], err);
}

static int with_samples(struct scene *s, bool (*change)(void *, struct sample *), struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.change = change;
    return remake(s, &p, err);
}

static int with_bands(struct scene *s, void (*change)(void *, struct run_band *), struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.change_band = change;
    return remake(s, &p, err);
}

/* One request of the subject's first window. */
static bool is_the_one(const struct sample *s)
{
    return s->lane.p[0] == 's' && s->band == 1 && s->replicate == 1 && s->seq == 7;
}

/* What stands around the receipt -----------------------------------------------------------------
 */

static int nothing_given(struct scene *s, struct error *err)
{
    (void)err;
    s->dirs_n = 0;
    return 0;
}

static int given_twice(struct scene *s, struct error *err)
{
    (void)err;
    s->dirs[s->dirs_n++] = s->dirs[0];
    return 0;
}

static int of_another_build_beside(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.builds[0] = "2.1";
    p.builds[1] = "yet another";
    return scene_make(s, &p, &s->dirs[s->dirs_n++], err);
}

static int of_another_machine(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.hosts[0] = p.hosts[1] = "bench-2";
    return scene_make(s, &p, &s->dirs[s->dirs_n++], err);
}

static int expired_cell(struct scene *s, struct error *err)
{
    s->dirs_n = 0;
    return scene_edit(s, "state: MEASURED",
                      "state: UNMEASURED, owner: O, ticket: T-1, expires: 2026-11-30", err);
}

static int nothing_applies(struct scene *s, struct error *err)
{
    s->dirs_n = 0;
    return scene_edit(s, "state: MEASURED", "state: NOT_APPLICABLE, reason: R, decided_by: D", err);
}

static int ratchet_run_left_out(struct scene *s, struct error *err)
{
    /* Two receipts, neither against the ratchet's build. */
    struct specimen p;
    scene_parity(s, &p);
    p.builds[1] = "yet another";
    return scene_make(s, &p, &s->dirs[1], err);
}

/* Arm C ------------------------------------------------------------------------------------------
 */

static int summary_edited(struct scene *s, struct error *err)
{
    static const struct mutation m = {"summary edited", VERIFY_METRICS, MUTATE_NUMBER, true,
                                      RECEIPT_NAME,     "\"ttft_ms\"",  "\"p50\": ",   NULL};
    struct buf text = BUF_INIT(BUF_ANY);
    struct specimen p;
    scene_parity(s, &p);
    int status = -1;
    if (remake(s, &p, err) == 0 && mutate_read(s->dirs[0], RECEIPT_NAME, &text, err) == 0 &&
        mutate_edit(&m, &text, err) == 0 &&
        mutate_write(s->dirs[0], RECEIPT_NAME, buf_str(&text), err) == 0 &&
        mutate_seal(s->dirs[0], err) == 0)
        status = scene_sign(s, s->dirs[0], err);
    buf_release(&text);
    return status;
}

static bool always_one_letter(void *ctx, struct sample *s)
{
    (void)ctx;
    for (size_t i = 0; i < s->events_n; i++)
        if (s->events[i].kind == EVENT_TEXT)
            ((struct sample_event *)s->events)[i].text = STR("!!!!!!!!");
    return false;
}

static int constant_token(struct scene *s, struct error *err)
{
    return with_samples(s, always_one_letter, err);
}

static int counted_by_servers(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.method = COUNT_SERVER_USAGE;
    p.body = 504; /* with eight tokens of wrapper in the band, by the server's count */
    return remake(s, &p, err);
}

static int band_missing(struct scene *s, struct error *err)
{
    return scene_edit(s, "bands: [1]", "bands: [1, 8]", err);
}

static bool lost(void *ctx, struct sample *s)
{
    (void)ctx;
    return is_the_one(s);
}

static int sample_lost(struct scene *s, struct error *err)
{
    return with_samples(s, lost, err);
}

static bool timed_out(void *ctx, struct sample *s)
{
    (void)ctx;
    if (is_the_one(s))
        s->outcome = OUTCOME_TIMED_OUT;
    return false;
}

static int one_timeout(struct scene *s, struct error *err)
{
    return with_samples(s, timed_out, err);
}

static bool failed(void *ctx, struct sample *s)
{
    (void)ctx;
    if (is_the_one(s)) {
        s->outcome = OUTCOME_FAILED;
        s->failure = FAILURE_SERVER_ERROR;
        s->error = STR("500");
    }
    return false;
}

static int one_failure(struct scene *s, struct error *err)
{
    return with_samples(s, failed, err);
}

static bool without_tokens(void *ctx, struct sample *s)
{
    (void)ctx;
    if (!is_the_one(s))
        return false;
    s->output_reported.total = s->output_reported.text = 0;
    s->output_retokenized.total = s->output_retokenized.text = 0;
    for (size_t i = 0; i < s->events_n; i++) {
        struct sample_event *e = (struct sample_event *)&s->events[i];
        if (e->kind == EVENT_TEXT) {
            e->kind = EVENT_EMPTY;
            e->text = (struct str){0};
            e->retokenized = COUNT_NONE;
        } else if (e->kind == EVENT_USAGE) {
            e->usage.completion = 0;
        }
    }
    return false;
}

static int empty_answer(struct scene *s, struct error *err)
{
    return with_samples(s, without_tokens, err);
}

static void close_early(void *ctx, struct run_band *b)
{
    (void)ctx;
    b->t_close_ns -= NS_PER_S;
}

static int request_after_close(struct scene *s, struct error *err)
{
    return with_bands(s, close_early, err);
}

static void drain_long(void *ctx, struct run_band *b)
{
    (void)ctx;
    b->t_drained_ns = b->t_close_ns + 6 * NS_PER_S;
}

static int long_drain(struct scene *s, struct error *err)
{
    return with_bands(s, drain_long, err);
}

static int another_wrapper(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.wrap[1] = 29;
    return remake(s, &p, err);
}

static int another_key(struct scene *s, struct error *err)
{
    (void)err;
    s->trusted = &s->stranger;
    return 0;
}

static int no_ledger(struct scene *s, struct error *err)
{
    (void)err;
    s->ledger = NULL;
    return 0;
}

static int claim_without_receipt(struct scene *s, struct error *err)
{
    return scene_ledger(s, 1, true, &s->ledger, err);
}

static int two_weeks_later(struct scene *s, struct error *err)
{
    (void)err;
    s->now_ns += 15 * DAY;
    return 0;
}

static int from_the_future(struct scene *s, struct error *err)
{
    (void)err;
    s->now_ns -= DAY;
    return 0;
}

static int stale_commit(struct scene *s, struct error *err)
{
    (void)err;
    s->build = "2.1";
    return 0;
}

/* Arms A, B, E -----------------------------------------------------------------------------------
 */

static int two_machines(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.hosts[1] = "bench-2";
    return remake(s, &p, err);
}

static void nobody_knows(void *ctx, struct run_plan *p, struct run_lane *lanes)
{
    (void)ctx;
    (void)lanes;
    p->same_model = NULL;
}

static int unknown_weights(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.change_plan = nobody_knows;
    return remake(s, &p, err);
}

static int one_replicate(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.replicates = 1;
    return remake(s, &p, err);
}

static int one_lane(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    p.lanes_n = 1;
    return remake(s, &p, err);
}

static int three_looks(struct scene *s, struct error *err)
{
    return scene_ledger(s, 3, false, &s->ledger, err);
}

/* 80 ms to the first token instead of 50: past every margin of 5 %. */
static bool thirty_ms_later(void *ctx, struct sample *s)
{
    (void)ctx;
    if (s->lane.p[0] != 's')
        return false;
    for (size_t i = 0; i < s->reads_n; i++) {
        struct sample_read_stamp *r = (struct sample_read_stamp *)&s->reads[i];
        r->t_user_ns += 30 * NS_PER_MS;
        r->t_lower_ns += 30 * NS_PER_MS;
    }
    s->t_first_byte_ns = s->t_headers_ns = s->reads[0].t_user_ns;
    s->t_end_ns = s->reads[s->reads_n - 1].t_user_ns;
    return false;
}

static int subject_slowed(struct scene *s, struct error *err)
{
    return with_samples(s, thirty_ms_later, err);
}

/* Tokens come at more than twice the rate, and not one more of them in all: what queues does so. */
static bool tokens_close_together(void *ctx, struct sample *s)
{
    (void)ctx;
    if (s->lane.p[0] != 's')
        return false;
    int64_t first = s->reads[0].t_user_ns;
    for (size_t i = 0; i < s->reads_n; i++) {
        struct sample_read_stamp *r = (struct sample_read_stamp *)&s->reads[i];
        r->t_user_ns = first + (r->t_user_ns - first) / 2;
        r->t_lower_ns = r->t_user_ns - 1000;
    }
    s->t_end_ns = s->reads[s->reads_n - 1].t_user_ns;
    return false;
}

static int subject_queues(struct scene *s, struct error *err)
{
    return with_samples(s, tokens_close_together, err);
}

static int ratchet_against_another_build(struct scene *s, struct error *err)
{
    s->dirs[0] = s->dirs[1];
    s->dirs_n = 1;
    return scene_edit(s, "baseline_build: \"1.9\"", "baseline_build: \"1.8\"", err);
}

/* The receipt that let the ratchet move from 1.8 to 1.9 shows that 1.9 was slower. */
static int ratchet_moved_back(struct scene *s, struct error *err)
{
    const struct gate_load_options o = {.keys = &s->signer, .keys_n = 1};
    struct specimen p;
    const char *dir;
    scene_moved(s, &p);
    p.change = thirty_ms_later;
    if (scene_make(s, &p, &dir, err) < 0 || gate_set_load(&s->moved, &dir, 1, &o, err) < 0)
        return -1;
    s->sessions[0] = s->moved.receipts[0];
    return 0;
}

static int nothing_to_hold_against(struct scene *s, struct error *err)
{
    (void)err;
    s->sessions_n = 0;
    return 0;
}

static int number_loosened(struct scene *s, struct error *err)
{
    return scene_edit(s, "delta: {value: 0.05, class: ratchet",
                      "delta: {value: 0.06, class: ratchet", err);
}

static int number_renamed(struct scene *s, struct error *err)
{
    return scene_edit(s, "class: ratchet", "class: policy", err);
}

static int five_sessions(struct scene *s, struct error *err)
{
    (void)err;
    s->sessions_n -= SCENE_SESSIONS - GATE_SESSIONS + 2; /* the ratchet's receipt is one as well */
    return 0;
}

static int one_session_copied(struct scene *s, struct error *err)
{
    (void)err;
    for (size_t i = 3; i < s->sessions_n; i++)
        s->sessions[i] = s->sessions[2];
    return 0;
}

static const struct gate_mutation gate_mutations[] = {
    {"no receipt is given", GATE_RECEIPT, STATUS_UNMEASURED, nothing_given},
    {"one receipt given twice", GATE_ONE_RECEIPT, STATUS_REFUSED, given_twice},
    {"receipts of two builds", GATE_ONE_RECEIPT, STATUS_REFUSED, of_another_build_beside},
    {"a receipt of another machine", GATE_KNOWN_CELL, STATUS_REFUSED, of_another_machine},
    {"expired cell", GATE_EXPIRY, STATUS_FAIL, expired_cell},
    {"no cell applies", GATE_APPLICABLE, STATUS_REFUSED, nothing_applies},
    {"the ratchet's run left out", GATE_LOOKED, STATUS_UNMEASURED, ratchet_run_left_out},
    {"summary edited", GATE_VERIFY, STATUS_FAIL, summary_edited},
    {"constant-token output", GATE_STATUS, STATUS_FAIL, constant_token},
    {"counted by the servers", GATE_TOKENIZATION, STATUS_FAIL, counted_by_servers},
    {"band missing", GATE_BAND, STATUS_UNMEASURED, band_missing},
    {"a sample left out", GATE_CONSERVATION, STATUS_FAIL, sample_lost},
    {"one timeout", GATE_TIME_OUTS, STATUS_FAIL, one_timeout},
    {"an answer without tokens", GATE_ZERO_TOKENS, STATUS_FAIL, empty_answer},
    {"request after close", GATE_WINDOW, STATUS_FAIL, request_after_close},
    {"one failed request", GATE_ERROR_SHARE, STATUS_FAIL, one_failure},
    {"a long drain", GATE_DRAIN_SHARE, STATUS_FAIL, long_drain},
    {"another wrapper", GATE_PROMPT_WORK, STATUS_REFUSED, another_wrapper},
    {"signature of another key", GATE_SIGNATURE, STATUS_FAIL, another_key},
    {"no ledger", GATE_LEDGER, STATUS_FAIL, no_ledger},
    {"a claim without its receipt", GATE_LEDGER, STATUS_FAIL, claim_without_receipt},
    {"two weeks later", GATE_FRESHNESS, STATUS_FAIL, two_weeks_later},
    {"a receipt from the future", GATE_FRESHNESS, STATUS_FAIL, from_the_future},
    {"stale commit", GATE_BUILD, STATUS_FAIL, stale_commit},
    {"lanes on two machines", GATE_JOIN_KEY, STATUS_REFUSED, two_machines},
    {"weights that nobody knows", GATE_JOIN_KEY, STATUS_REFUSED, unknown_weights},
    {"one replicate", GATE_RATIO, STATUS_INCOMPLETE, one_replicate},
    {"one lane", GATE_RATIO, STATUS_UNMEASURED, one_lane},
    {"three looks", GATE_LOOKS, STATUS_REFUSED, three_looks},
    {"subject slowed past the margin", GATE_MARGIN, STATUS_FAIL, subject_slowed},
    {"ratchet against another build", GATE_RATCHET_BUILD, STATUS_REFUSED,
     ratchet_against_another_build},
    {"ratchet moved the wrong way", GATE_RATCHET_MOVE, STATUS_FAIL, ratchet_moved_back},
    {"ratchet without earlier runs", GATE_RATCHET_MOVE, STATUS_INCOMPLETE, nothing_to_hold_against},
    {"ratchet number loosened", GATE_RATCHET_NUMBER, STATUS_FAIL, number_loosened},
    {"ratchet number called policy", GATE_RATCHET_NUMBER, STATUS_FAIL, number_renamed},
    {"five sessions", GATE_BASELINE, STATUS_INCOMPLETE, five_sessions},
    {"one session copied", GATE_BASELINE, STATUS_INCOMPLETE, one_session_copied},
    {"slower than its sessions", GATE_REGRESSION, STATUS_FAIL, subject_slowed},
    {"subject queues", GATE_INTERFERENCE, STATUS_FAIL, subject_queues},
};

static void say(const struct gate_row *r, char *out, size_t size)
{
    snprintf(out, size, "%s: %s", r->what, r->why);
}

static int try_one(struct scene *s, const struct gate_mutation *m, struct selftest *t,
                   struct error *err)
{
    struct gate_verdict v;
    char said[256] = "";
    bool red = false;
    scene_reset(s);
    if (m->change(s, err) < 0 || scene_judge(s, &v, err) < 0)
        return -1;
    for (size_t i = 0; i < v.rows_n && !red; i++) {
        const struct gate_row *r = &v.rows[i];
        red = r->counts && r->rule == m->rule && r->status == m->status;
        if (red)
            say(r, said, sizeof said);
    }
    red = red && v.status < STATUS_PASS;
    selftest_add(t, "gate", gate_rule_name(m->rule), m->name,
                 red ? SELFTEST_RED : SELFTEST_SURVIVED, said);
    return 0;
}

static int expect_green(struct scene *s, struct selftest *t, const char *what, struct error *err)
{
    struct gate_verdict v;
    char said[256] = "";
    scene_reset(s);
    if (scene_judge(s, &v, err) < 0)
        return -1;
    for (size_t i = v.rows_n; i-- > 0;)
        if (v.rows[i].counts && v.rows[i].status < STATUS_PASS)
            say(&v.rows[i], said, sizeof said);
    selftest_add(t, "gate", "", what, v.status == STATUS_PASS ? SELFTEST_GREEN : SELFTEST_NOT_GREEN,
                 said);
    return 0;
}

int suite_gate(struct selftest *t, const struct selftest_options *o, struct error *err)
{
    static const size_t n = sizeof gate_mutations / sizeof gate_mutations[0];
    bool covered[GATE_RULE_COUNT] = {false};
    struct scene s;
    if (scene_init(&s, o->root, &o->client, err) < 0)
        return -1;
    int status = expect_green(&s, t, "none: as it was written", err);
    for (size_t i = 0; status == 0 && i < n; i++) {
        status = try_one(&s, &gate_mutations[i], t, err);
        covered[gate_mutations[i].rule] = true;
    }
    if (status == 0)
        status = expect_green(&s, t, "none: all taken back", err);
    for (int r = 0; r < GATE_RULE_COUNT; r++)
        t->rules_without += !covered[r];
    scene_release(&s);
    return status;
}
