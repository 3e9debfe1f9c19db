/* Bodies made ahead: what they hold, in which order they come, the same for both lanes. */
#include "load/prompts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "codec/json.h"

static char path[] = "tally_prompts_XXXXXX";

static int count_words(void *ctx, struct str s, size_t *n, struct error *err)
{
    (void)ctx, (void)err;
    *n = 0;
    for (size_t i = 0; i < s.n; i++)
        *n += s.p[i] != ' ' && (i == 0 || s.p[i - 1] == ' ');
    return 0;
}

static const struct corpus_counter counter = {count_words, NULL};

static void wake(void *ctx)
{
    (void)ctx;
}

struct world {
    struct run_plan plan;
    struct load_lane lanes[2];
    struct corpus corpus;
};

static void read_corpus(struct world *w, const char *text)
{
    struct error err = {0};

    assert_int_equal(file_write_atomic(path, str_of(text), &err), 0);
    if (corpus_read(&w->corpus, path, &err) < 0)
        fail_msg("%s", err.message);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct error err = {0};

    if (!w)
        return -1;
    run_plan_init(&w->plan);
    w->plan.max_tokens = 7;
    for (int i = 0; i < 2; i++) {
        struct load_lane_options o = {.role = i ? "comparator" : "subject",
                                      .url = "http://127.0.0.1:1",
                                      .model = i ? "b" : "a"};
        if (load_lane_init(&w->lanes[i], &o, &w->plan, &err) < 0)
            return -1;
    }
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    load_lane_release(&w->lanes[0]);
    load_lane_release(&w->lanes[1]);
    corpus_release(&w->corpus);
    free(w);
    return 0;
}

static struct prompts_source source_of(struct world *w, int lane, bool unique)
{
    return (struct prompts_source){.lane = &w->lanes[lane],
                                   .corpus = &w->corpus,
                                   .counter = &counter,
                                   .nonce = "n",
                                   .unique = unique,
                                   .replicate = 2,
                                   .band = 4,
                                   .wake = wake};
}

static struct prompt *take(struct prompts *p, enum sample_phase phase)
{
    struct prompt *taken;

    while (!(taken = prompts_take(p, phase)))
        clock_sleep_until_ns(clock_mono_ns() + NS_PER_MS, NULL);
    return taken;
}

static void content_of(const struct prompt *p, char out[400], struct arena *arena)
{
    const struct json *doc;
    struct error err = {0};
    struct str s;

    arena_reset(arena);
    assert_int_equal(json_parse(&doc, buf_str(&p->body), &JSON_LIMITS_DEFAULT, arena, &err), 0);
    assert_int_equal(json_str(&s, json_path(doc, "messages.0.content")), 0);
    snprintf(out, 400, "%.*s", STR_ARG(s));
}

#define CORPUS                                                                   \
    "{\"_meta\":{\"format\":\"tally-corpus-1\",\"tokens\":9,\"tolerance\":1}}\n" \
    "{\"id\":\"x\",\"text\":\"a1 a2 a3 a4 a5 a6 a7 a8 a9\"}\n"                   \
    "{\"id\":\"y\",\"text\":\"b1 b2 b3 b4 b5 b6 b7 b8 b9\"}\n"

/* Both lanes get the same texts in the same order, whatever each took of the other phase; no two
 * are the same; each has the promised length. */
static void test_same_for_both_lanes(void **state)
{
    struct world *w = *state;
    struct prompts *p[2];
    struct prompts_source s[2];
    struct error err = {0};
    struct arena arena;
    char a[400], b[400], before[400] = "";

    read_corpus(w, CORPUS);
    arena_init(&arena, 1 << 20);
    for (int i = 0; i < 2; i++) {
        s[i] = source_of(w, i, true);
        assert_int_equal(prompts_start(&p[i], &s[i], &err), 0);
        prompts_wait_ready(p[i]);
    }
    for (int i = 0; i < 3; i++) /* lane 0 needs more warm-up requests than lane 1 */
        prompt_free(take(p[0], PHASE_WARMUP));
    for (int i = 0; i < 100; i++) {
        struct prompt *x = take(p[0], PHASE_WINDOW), *y = take(p[1], PHASE_WINDOW);
        content_of(x, a, &arena);
        content_of(y, b, &arena);
        assert_string_equal(a, b);
        assert_string_not_equal(a, before);
        assert_string_equal(x->id, y->id);
        assert_int_equal(x->tokens, 9);
        /* the models differ, so the bodies do */
        assert_string_not_equal(x->body_sha256, y->body_sha256);
        memcpy(before, a, sizeof before);
        prompt_free(x);
        prompt_free(y);
    }
    prompts_stop(p[0]);
    prompts_stop(p[1]);
    prompts_stop(NULL);
    arena_release(&arena);
}

/* Warm-up behind a band of c = 1 sends the prompts that its window had, as requests of their own;
 * the window goes on having prompts that were never sent. */
static void test_after_1(void **state)
{
    struct world *w = *state;
    struct prompts_source one = source_of(w, 0, true), four = one;
    struct error err = {0};
    struct arena arena;
    char a[400], b[400];

    read_corpus(w, CORPUS);
    arena_init(&arena, 1 << 20);
    one.band = 1;
    four.after_1 = true;
    for (int64_t i = 0; i < 10; i++) {
        struct prompt *x, *y, *z;
        assert_int_equal(prompt_make(&one, PHASE_WINDOW, i, &x, &err), 0);
        assert_int_equal(prompt_make(&four, PHASE_WARMUP, i, &y, &err), 0);
        assert_int_equal(prompt_make(&four, PHASE_WINDOW, i, &z, &err), 0);
        content_of(x, a, &arena);
        content_of(y, b, &arena);
        assert_string_equal(a, b);
        assert_string_equal(x->id, y->id);
        assert_string_not_equal(x->body_sha256, y->body_sha256); /* the cache's salt */
        content_of(z, b, &arena);
        assert_string_not_equal(a, b);
        assert_string_not_equal(x->id, z->id);
        prompt_free(x);
        prompt_free(y);
        prompt_free(z);
    }
    arena_release(&arena);
}

/* The body says what was asked for, and its digest is that of its bytes. */
static void test_body(void **state)
{
    struct world *w = *state;
    struct prompts_source s = source_of(w, 0, false);
    struct error err = {0};
    struct prompt *p;
    char hex[SHA256_HEX];

    read_corpus(w, CORPUS);
    assert_int_equal(prompt_make(&s, PHASE_WINDOW, 0, &p, &err), 0);
    assert_int_equal(sha256_hex(hex, buf_str(&p->body), &err), 0);
    assert_string_equal(p->body_sha256, hex);
    assert_string_equal(p->id, "x");
    assert_non_null(strstr(p->body.p, "\"model\":\"a\""));
    assert_non_null(strstr(p->body.p, "\"max_tokens\":7"));
    assert_non_null(strstr(p->body.p, "\"ignore_eos\":true"));
    assert_non_null(strstr(p->body.p, "\"include_usage\":true"));
    prompt_free(p);
    /* what the lane refused is left out */
    w->lanes[0].record.ignore_eos_refused = true;
    w->lanes[0].record.stream_usage_refused = true;
    assert_int_equal(prompt_make(&s, PHASE_WINDOW, 0, &p, &err), 0);
    assert_null(strstr(p->body.p, "ignore_eos"));
    assert_null(strstr(p->body.p, "stream_options"));
    prompt_free(p);
}

/* As it is: item after item, warm-up from the end; a system message stands before. */
static void test_fixed(void **state)
{
    static const char *const want[] = {"x", "y", "x"};
    struct world *w = *state;
    struct prompts_source s = source_of(w, 0, false);
    struct error err = {0};
    struct prompt *p;

    read_corpus(w, CORPUS);
    w->plan.system = "be brief";
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(prompt_make(&s, PHASE_WINDOW, i, &p, &err), 0);
        assert_string_equal(p->id, want[i]);
        assert_non_null(strstr(p->body.p, "{\"role\":\"system\",\"content\":\"be brief\"}"));
        prompt_free(p);
    }
    assert_int_equal(prompt_make(&s, PHASE_WARMUP, 0, &p, &err), 0);
    assert_string_equal(p->id, "y");
    prompt_free(p);
}

/* A prompt that cannot be made is an error that reaches whoever takes. */
static void test_failure(void **state)
{
    struct world *w = *state;
    struct prompts_source s = source_of(w, 0, true);
    struct prompts *p;
    struct error err = {0};

    read_corpus(w, "{\"_meta\":{\"format\":\"tally-corpus-1\",\"tokens\":2}}\n"
                   "{\"text\":\"two words\"}\n");
    assert_int_equal(prompts_start(&p, &s, &err), 0);
    prompts_wait_ready(p);
    assert_true(prompts_error(p, &err));
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.rule, "corpus.unique");
    assert_null(prompts_take(p, PHASE_WINDOW));
    prompts_stop(p);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same_for_both_lanes),
        TEST(test_after_1),
        TEST(test_body),
        TEST(test_fixed),
        TEST(test_failure),
    };
    int fd = mkstemp(path), failed;

    if (fd < 0)
        return 1;
    close(fd);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
