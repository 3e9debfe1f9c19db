/* The batching model in virtual time; every expected time is worked out by hand from model.h. */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "model.h"

#define MS NS_PER_MS

struct tokens {
    struct model_seq seq; /* first: hooks get its address */
    int64_t prompt, wanted, made;
    int64_t at[64];
    int64_t admit_ns;
};

static int admit(void *ctx, const struct model *m, struct model_seq *seq, int64_t t_ns)
{
    struct tokens *t = (struct tokens *)seq;
    (void)ctx;
    t->admit_ns = t_ns;
    seq->prompt_left = t->prompt;
    for (unsigned i = 0; i < m->o.slots; i++)
        if (!m->slot[i])
            return (int)i;
    return -1;
}

static bool token(void *ctx, struct model_seq *seq, int64_t t_ns)
{
    struct tokens *t = (struct tokens *)seq;
    (void)ctx;
    t->at[t->made++] = t_ns;
    return t->made < t->wanted;
}

static const struct model_hooks hooks = {admit, token};

/* 1,000 prompt tokens a second: 1 ms each; a step of b sequences takes 10 + b ms. */
static struct model_options plain(void)
{
    return (struct model_options){.slots = 4,
                                  .prefill_tok_s = 1000,
                                  .prefill_chunk = 1000,
                                  .base_ns = 10 * MS,
                                  .per_sequence_ns = 1 * MS};
}

/* Runs until idle, each time exactly when the model asks for it, plus `late_ns`. */
static void run_out(struct model *m, int64_t late_ns)
{
    while (model_next_ns(m) != INT64_MAX)
        model_run(m, model_next_ns(m) + late_ns);
}

static void one_sequence(void **state)
{
    struct model m;
    struct model_options o = plain();
    struct tokens a = {.prompt = 100, .wanted = 4};
    (void)state;
    model_init(&m, &o, &hooks, NULL);
    assert_int_equal(model_next_ns(&m), INT64_MAX);
    model_submit(&m, &a.seq, 7 * MS);
    assert_int_equal(model_next_ns(&m), 107 * MS); /* prefill 100 ms */
    run_out(&m, 0);
    assert_int_equal(a.made, 4);
    assert_int_equal(a.admit_ns, 7 * MS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(a.at[i], (107 + 11 * i) * MS);
    assert_int_equal(a.seq.state, MODEL_IDLE);
}

/* However late the caller comes, the schedule stays: nothing accumulates. */
static void lateness_is_not_added(void **state)
{
    struct model m;
    struct model_options o = plain();
    struct tokens a = {.prompt = 100, .wanted = 50};
    (void)state;
    model_init(&m, &o, &hooks, NULL);
    model_submit(&m, &a.seq, 0);
    run_out(&m, 3 * MS);
    for (int i = 0; i < 50; i++)
        assert_int_equal(a.at[i], (100 + 11 * i) * MS);
    /* one call a long time afterwards gives all that was due, up to the bound of one call */
    struct tokens b = {.prompt = 10, .wanted = 60};
    model_submit(&m, &b.seq, 1000 * MS);
    model_run(&m, 100000 * MS);
    assert_int_equal(b.made, 60);
    assert_int_equal(b.at[59], (1010 + 11 * 59) * MS);
}

static void continuous_batch(void **state)
{
    struct model m;
    struct model_options o = plain();
    struct tokens a = {.prompt = 10, .wanted = 5}, b = {.prompt = 20, .wanted = 2};
    (void)state;
    model_init(&m, &o, &hooks, NULL);
    model_submit(&m, &a.seq, 0);
    model_submit(&m, &b.seq, 1 * MS); /* waits for the step that runs: 0 ... 10 */
    run_out(&m, 0);
    /* a: 10. The next step holds b's prefill (20 ms) and one decoding sequence (11 ms): 10 ... 41.
     * Then both decode, 12 ms: 53; b is done; a alone, 11 ms: 64, 75. */
    assert_int_equal(b.admit_ns, 10 * MS);
    assert_int_equal(a.at[0], 10 * MS);
    assert_int_equal(a.at[1], 41 * MS);
    assert_int_equal(b.at[0], 41 * MS);
    assert_int_equal(a.at[2], 53 * MS);
    assert_int_equal(b.at[1], 53 * MS);
    assert_int_equal(a.at[3], 64 * MS);
    assert_int_equal(a.at[4], 75 * MS);
}

static void serial_batch(void **state)
{
    struct model m;
    struct model_options o = plain();
    struct tokens a = {.prompt = 10, .wanted = 3}, b = {.prompt = 20, .wanted = 2};
    (void)state;
    o.batching = BATCHING_SERIAL;
    model_init(&m, &o, &hooks, NULL);
    model_submit(&m, &a.seq, 0);
    model_submit(&m, &b.seq, 0);
    run_out(&m, 0);
    /* a: 10, 21, 32; only then b: 52, 63 */
    assert_int_equal(a.at[2], 32 * MS);
    assert_int_equal(b.admit_ns, 32 * MS);
    assert_int_equal(b.at[0], 52 * MS);
    assert_int_equal(b.at[1], 63 * MS);
}

/* More sequences than slots, or than may be admitted: first come, first served. */
static void slots_are_the_limit(void **state)
{
    struct model m;
    struct model_options o = plain();
    struct tokens t[3] = {
        {.prompt = 1, .wanted = 1}, {.prompt = 1, .wanted = 1}, {.prompt = 1, .wanted = 1}};
    (void)state;
    for (int admitted = 0; admitted < 2; admitted++) {
        o.slots = admitted ? 4 : 1;
        o.admitted = (unsigned)admitted;
        model_init(&m, &o, &hooks, NULL);
        for (int i = 0; i < 3; i++) {
            t[i].made = 0;
            model_submit(&m, &t[i].seq, 0);
        }
        assert_int_equal(m.n_active, 1);
        assert_int_equal(m.n_waiting, 2);
        run_out(&m, 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(t[i].at[0], (i + 1) * MS);
    }
    o.slots = 3;
    o.admitted = 0;
    model_init(&m, &o, &hooks, NULL);
    for (int i = 0; i < 3; i++) {
        t[i].made = 0;
        model_submit(&m, &t[i].seq, 0);
    }
    run_out(&m, 0);
    /* the first was alone when its step began; the other two share the next */
    assert_int_equal(t[0].at[0], 1 * MS);
    assert_int_equal(t[1].at[0], 3 * MS);
    assert_int_equal(t[2].at[0], 3 * MS);
}

/* A long prompt takes its chunk of each step, and those that decode wait only for that. */
static void chunked_prefill(void **state)
{
    struct model m;
    struct model_options o = plain();
    struct tokens a = {.prompt = 10, .wanted = 6}, b = {.prompt = 25, .wanted = 1};
    (void)state;
    o.prefill_chunk = 10;
    model_init(&m, &o, &hooks, NULL);
    model_submit(&m, &a.seq, 0);
    model_submit(&m, &b.seq, 0);
    run_out(&m, 0);
    /* a: 10; then 10 + 11 a step: 31, 52; the last 5 of b: 16: 68 */
    assert_int_equal(a.at[1], 31 * MS);
    assert_int_equal(a.at[2], 52 * MS);
    assert_int_equal(a.at[3], 68 * MS);
    assert_int_equal(b.at[0], 68 * MS);
    assert_int_equal(a.at[4], 79 * MS);
}

static void cancelled(void **state)
{
    struct model m;
    struct model_options o = plain();
    struct tokens a = {.prompt = 10, .wanted = 60}, b = {.prompt = 10, .wanted = 2},
                  c = {.prompt = 10, .wanted = 1};
    (void)state;
    o.slots = 1;
    model_init(&m, &o, &hooks, NULL);
    model_cancel(&m, &a.seq); /* idle: nothing happens */
    model_submit(&m, &a.seq, 0);
    model_submit(&m, &b.seq, 0);
    model_submit(&m, &c.seq, 0);
    model_run(&m, 21 * MS);
    assert_int_equal(a.made, 2);
    model_cancel(&m, &b.seq);
    model_cancel(&m, &a.seq); /* in the middle of a step, which still takes its time: 21 ... 32 */
    run_out(&m, 0);
    assert_int_equal(a.made, 2);
    assert_int_equal(b.made, 0);
    assert_int_equal(c.at[0], 42 * MS);
    assert_int_equal(m.n_waiting, 0);
}

/* The jitter's mean is none and its bound is kept; the same seed gives the same times. */
static void jitter(void **state)
{
    struct model_options o = plain();
    struct tokens a = {.prompt = 10, .wanted = 60}, b = {.prompt = 10, .wanted = 60};
    int64_t sum = 0;
    bool differs = false;
    (void)state;
    o.jitter = 0.2;
    o.seed = 5;
    for (int k = 0; k < 2; k++) {
        struct model *m = malloc(sizeof *m);
        struct tokens *t = k ? &b : &a;
        assert_non_null(m);
        model_init(m, &o, &hooks, NULL);
        model_submit(m, &t->seq, 0);
        run_out(m, 0);
        free(m);
    }
    for (int i = 1; i < 60; i++) {
        int64_t step = a.at[i] - a.at[i - 1];
        assert_in_range(step, (11 * MS) * 8 / 10 - 1, (11 * MS) * 12 / 10 + 1);
        assert_int_equal(a.at[i], b.at[i]);
        differs |= step != 11 * MS;
        sum += step;
    }
    assert_true(differs);
    /* the deviation of a mean of 59 draws from [-0.2, 0.2] is 1.5 %: six of them */
    assert_in_range(sum / 59, 10 * MS, 12 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sequence),        cmocka_unit_test(lateness_is_not_added),
        cmocka_unit_test(continuous_batch),    cmocka_unit_test(serial_batch),
        cmocka_unit_test(slots_are_the_limit), cmocka_unit_test(chunked_prefill),
        cmocka_unit_test(cancelled),           cmocka_unit_test(jitter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
