/* What is taken from a server's own words: each kind's, and nothing from what is not of its form.
 */
#include "receipt/server_said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "record/sample.h"

#define ANSWERS 6

struct words {
    struct server_answer before[ANSWERS], after[ANSWERS];
    size_t before_n, after_n;
};

static struct server_answer answer(const char *path, const char *body)
{
    return (struct server_answer){.path = path, .status = 200, .type = "x/y", .body = str_of(body)};
}

static void say_before(struct words *w, const char *path, const char *body)
{
    w->before[w->before_n++] = answer(path, body);
}

static void say_after(struct words *w, const char *path, const char *body)
{
    w->after[w->after_n++] = answer(path, body);
}

static struct run_server read_words(const struct words *w)
{
    struct buf text = BUF_INIT(SERVER_SAID_MAX);
    const struct server_said said = {w->before, w->before_n, w->after, w->after_n};
    struct run_server out = {0};
    struct error err = {0};
    if (server_said_write(&text, &said, &err) < 0 ||
        server_said_read(&out, buf_str(&text), &err) < 0)
        fail_msg("%s", err.message);
    buf_release(&text);
    return out;
}

static bool is_nothing(const struct run_server *s)
{
    return !s->file && s->slots == COUNT_NONE && s->in_flight_max == COUNT_NONE &&
           s->preemptions == COUNT_NONE && s->prompt_tokens == COUNT_NONE &&
           s->output_tokens == COUNT_NONE && s->kv_use_before < 0 && s->kv_use_after < 0 &&
           s->gpu_layers_requested == INT64_MIN && s->gpu_layers_resolved == INT64_MIN &&
           s->gpu_memory_share < 0;
}

static void nothing_said(void **state)
{
    (void)state;
    struct words w = {.before_n = 0};
    struct run_server s = read_words(&w);
    assert_true(is_nothing(&s));
    server_said_nothing(&s);
    assert_true(is_nothing(&s));
}

/* The body of a captured response, behind its headers. */
static char *captured(const char *name)
{
    struct buf text = BUF_INIT(0);
    struct error err = {0};
    char path[1024], *body = NULL;
    const char *shared = getenv("TALLY_SHARED");
    snprintf(path, sizeof path, "%s/captures/llama-server/%s.response.http", shared ? shared : "",
             name);
    if (file_read(&text, path, 1 << 20, &err) == 0) {
        size_t at = str_find(buf_str(&text), STR("\r\n\r\n"));
        assert_true(at != STR_NONE);
        struct str s = str_skip(buf_str(&text), at + 4);
        body = calloc(1, s.n + 1);
        assert_non_null(body);
        memcpy(body, s.p, s.n);
    }
    buf_release(&text);
    return body;
}

static void a_real_llama_server(void **state)
{
    (void)state;
    char *props = captured("props"), *slots = captured("slots");
    if (!props || !slots)
        skip();
    struct words w = {.before_n = 0}, only_slots = {.before_n = 0};
    say_before(&w, "/props", props);
    say_before(&w, "/slots", slots);
    say_before(&only_slots, "/slots", slots);
    /* It was started with four. */
    assert_int_equal(read_words(&w).slots, 4);
    assert_int_equal(read_words(&only_slots).slots, 4);
    free(props);
    free(slots);
}

static void metrics_of_each(void **state)
{
    (void)state;
    struct words vllm = {.before_n = 0}, llama = {.before_n = 0}, sglang = {.before_n = 0};
    say_before(&vllm, "/metrics",
               "vllm:num_preemptions_total{engine=\"0\"} 1.0\n"
               "vllm:num_preemptions_total{engine=\"1\"} 2.0\n"
               "vllm:prompt_tokens_total{engine=\"0\"} 1000\n"
               "vllm:generation_tokens_total{engine=\"0\"} 5\n"
               "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\n"
               "vllm:kv_cache_usage_perc{engine=\"1\"} 0.125\n");
    say_after(&vllm, "/metrics",
              "vllm:num_preemptions_total{engine=\"0\"} 4.0\n"
              "vllm:num_preemptions_total{engine=\"1\"} 2.0\n"
              "vllm:prompt_tokens_total{engine=\"0\"} 1.512e3\n"
              "vllm:generation_tokens_total{engine=\"0\"} 133\n"
              "vllm:kv_cache_usage_perc{engine=\"0\"} 0.5\n");
    struct run_server s = read_words(&vllm);
    assert_int_equal(s.preemptions, 3); /* 6 - 3, over both engines */
    assert_int_equal(s.prompt_tokens, 512);
    assert_int_equal(s.output_tokens, 128);
    assert_true(s.kv_use_before == 0.25 && s.kv_use_after == 0.5); /* the fuller of the two */
    assert_int_equal(s.slots, COUNT_NONE);

    say_before(&llama, "/metrics", "llamacpp:tokens_predicted_total 10\n");
    say_after(&llama, "/metrics",
              "llamacpp:tokens_predicted_total 12\nllamacpp:kv_cache_usage_ratio 0\n");
    s = read_words(&llama);
    assert_int_equal(s.output_tokens, 2);
    assert_true(s.kv_use_before < 0 && s.kv_use_after == 0); /* not said, and said to be none */
    assert_int_equal(s.preemptions, COUNT_NONE);

    say_before(&sglang, "/metrics", "sglang:token_usage 0.75\nsglang:prompt_tokens_total 7\n");
    say_after(&sglang, "/metrics", "sglang:token_usage 0.5\nsglang:prompt_tokens_total 9\n");
    s = read_words(&sglang);
    assert_int_equal(s.prompt_tokens, 2);
    assert_true(s.kv_use_before == 0.75 && s.kv_use_after == 0.5);
}

static void configurations(void **state)
{
    (void)state;
    struct words apr = {.before_n = 0}, flat = {.before_n = 0}, ollama = {.before_n = 0};
    say_before(&apr, "/v1/effective-config",
               "{\"max_concurrent\":1,\"gpu_layers\":{\"requested\":99,\"resolved\":0},"
               "\"in_flight_max\":0}");
    say_after(&apr, "/v1/effective-config",
              "{\"max_concurrent\":2,\"gpu_layers\":{\"requested\":99,\"resolved\":28},"
              "\"in_flight_max\":4}");
    struct run_server s = read_words(&apr);
    assert_int_equal(s.slots, 1); /* as the band began */
    assert_int_equal(s.in_flight_max, 4);
    assert_int_equal(s.gpu_layers_requested, 99);
    assert_int_equal(s.gpu_layers_resolved, 28);
    say_before(&flat, "/v1/effective-config",
               "{\"slots\":3,\"gpu_layers_requested\":-1,\"gpu_layers_resolved\":12}");
    s = read_words(&flat);
    assert_int_equal(s.slots, 3);
    assert_int_equal(s.gpu_layers_requested, -1); /* all of them, as llama.cpp spells it */
    assert_int_equal(s.gpu_layers_resolved, 12);
    say_before(&ollama, "/api/ps",
               "{\"models\":[{\"name\":\"m\",\"size\":400,\"size_vram\":100}]}");
    assert_true(read_words(&ollama).gpu_memory_share == 0.25);
    ollama.before_n = 0;
    say_before(&ollama, "/api/ps",
               "{\"models\":[{\"size\":4,\"size_vram\":1},{\"size\":4,\"size_vram\":4}]}");
    assert_true(read_words(&ollama).gpu_memory_share < 0); /* whose? */
}

static void what_is_not_of_its_form(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body;
    } cases[] = {
        {"/props", "{\"total_slots\":\"4\"}"},
        {"/props", "{\"total_slots\":4.0}"},
        {"/props", "{\"total_slots\":-2}"},
        {"/props", "{\"total_slots\":99999999999999999999}"},
        {"/props", "<html>4</html>"},
        {"/props", ""},
        {"/slots", "{\"error\":{\"code\":501}}"},
        {"/metrics", "vllm:kv_cache_usage_perc 0.5\nnonsense here too\n"},
        {"/metrics", "vllm:kv_cache_usage_perc NaN\n"},
        {"/metrics", "vllm:kv_cache_usage_perc -1\n"},
        {"/metrics", "other_vllm:kv_cache_usage_perc 1\n"},
        {"/version", "{\"total_slots\":4}"},
        {"/v1/effective-config", "[{\"slots\":4}]"},
        {"/api/ps", "{\"models\":[{\"size\":0,\"size_vram\":0}]}"},
        {"/api/ps", "{\"models\":{}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct words w = {.before_n = 0};
        say_before(&w, cases[i].path, cases[i].body);
        say_after(&w, cases[i].path, cases[i].body);
        struct run_server s = read_words(&w);
        if (!is_nothing(&s))
            fail_msg("%s: something is taken from %s", cases[i].path, cases[i].body);
    }
    /* A status other than 200 says nothing either; nor does a counter that ran backwards. */
    struct words w = {.before_n = 0};
    say_before(&w, "/props", "{\"total_slots\":4}");
    w.before[0].status = 503;
    say_before(&w, "/metrics", "vllm:prompt_tokens_total 9\nvllm:num_preemptions_total 1\n");
    say_after(&w, "/metrics", "vllm:prompt_tokens_total 8\n");
    struct run_server s = read_words(&w);
    assert_true(is_nothing(&s));
}

static void documents_that_are_none(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "", "[]", "{\"schema\":\"tallystick.server/2\",\"before\":[],\"after\":[]}",
        "{\"schema\":\"tallystick.server/1\",\"before\":[]}",
        "{\"schema\":\"tallystick.server/1\",\"before\":[{}],\"after\":[]}"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_server s;
        struct error err = {0};
        assert_int_equal(server_said_read(&s, str_of(cases[i]), &err), -1);
        assert_int_equal(err.kind, ERROR_REFUSED);
        assert_string_equal(err.rule, "server");
    }
}

/* The longest body, and one byte more: that is kept as its size alone. As many answers as there may
 * be, and one more. */
static void limits(void **state)
{
    (void)state;
    struct buf body = BUF_INIT(BUF_ANY), text = BUF_INIT(SERVER_SAID_MAX);
    struct error err = {0};
    struct run_server out;
    for (size_t over = 0; over < 2; over++) {
        struct words w = {.before_n = 0};
        buf_reset(&body);
        buf_adds(&body, "{\"total_slots\":4}");
        buf_pad(&body, ' ', SERVER_BODY_MAX - body.n + over);
        say_before(&w, "/props", "");
        w.before[0].body = buf_str(&body);
        assert_int_equal(read_words(&w).slots, over ? COUNT_NONE : 4);

        struct server_answer many[SERVER_ANSWERS_MAX + 1];
        for (size_t i = 0; i < SERVER_ANSWERS_MAX + over; i++)
            many[i] = answer("/version", "{}");
        buf_reset(&text);
        assert_int_equal(
            server_said_write(
                &text, &(struct server_said){many, SERVER_ANSWERS_MAX + over, NULL, 0}, &err),
            0);
        assert_int_equal(server_said_read(&out, buf_str(&text), &err), over ? -1 : 0);
    }
    buf_release(&body);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said),
        cmocka_unit_test(a_real_llama_server),
        cmocka_unit_test(metrics_of_each),
        cmocka_unit_test(configurations),
        cmocka_unit_test(what_is_not_of_its_form),
        cmocka_unit_test(documents_that_are_none),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
