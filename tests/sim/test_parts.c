/* Faults, options, requests' bodies, the pool of tokens, timers, near misses. */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "options.h"
#include "pool.h"
#include "suggest.h"
#include "timers.h"

static void faults(void **state)
{
    struct fault_plan plan = {0};
    struct error err = {0};
    struct faults f;
    (void)state;
    assert_int_equal(fault_add(&plan, "truncate:5", &err), 0);
    assert_int_equal(fault_add(&plan, "delay:250ms", &err), 0);
    assert_int_equal(fault_add(&plan, "reset", &err), 0);
    f = fault_for(&plan, 1);
    assert_true(fault_has(&f, FAULT_TRUNCATE) && fault_has(&f, FAULT_DELAY));
    assert_false(fault_has(&f, FAULT_STALL));
    assert_int_equal(f.arg[FAULT_TRUNCATE], 5);
    assert_int_equal(f.arg[FAULT_DELAY], 250 * NS_PER_MS);
    assert_int_equal(f.arg[FAULT_RESET], 1);
    assert_refused(fault_add(&plan, "trunkate", &err), err, ERROR_USAGE, "trunkate");
    assert_string_equal(err.remedy, "did you mean --fault truncate?");
    assert_refused(fault_add(&plan, "qqqqqqqq", &err), err, ERROR_USAGE, "qqqqqqqq");
    assert_refused(fault_add(&plan, "html:3", &err), err, ERROR_USAGE, "takes no argument");
    assert_refused(fault_add(&plan, "delay:soon", &err), err, ERROR_USAGE, "no duration");
    assert_refused(fault_add(&plan, "truncate:-1", &err), err, ERROR_USAGE, "no number");
    assert_refused(fault_add(&plan, "slow-body:0", &err), err, ERROR_USAGE, "no number");
    for (int i = 0; i < FAULTS_N; i++) /* each default is one */
        assert_int_equal(fault_add(&plan, fault_describe((enum fault_kind)i)->name, &err), 0);
}

static void which_requests(void **state)
{
    struct fault_plan plan = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(fault_add(&plan, "html", &err), 0);
    plan.every = 3;
    plan.after = 2;
    plan.first = 7;
    for (int64_t n = 1; n < 20; n++) /* counting begins at request 3; of 7, the 3rd and the 6th */
        assert_int_equal(fault_for(&plan, n).has != 0, n == 5 || n == 8);
    plan = (struct fault_plan){.faults = plan.faults, .first = 2};
    for (int64_t n = 1; n < 20; n++)
        assert_int_equal(fault_for(&plan, n).has != 0, n <= 2);
}

#define PARSE(o, err, ...) parse((o), (err), (const char *const[]){__VA_ARGS__, NULL})

static int parse(struct sim_options *o, struct error *err, const char *const *words)
{
    static char name[] = "tally-sim";
    char *argv[16] = {name};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    return options_parse(o, argc, argv, err);
}

static void options(void **state)
{
    struct sim_options o;
    struct error err = {0};
    (void)state;
    assert_int_equal(PARSE(&o, &err, "--tokenizer", "t.json", "--port=8080", "--jitter", "0.5"), 0);
    assert_string_equal(o.profile, "llama-server");
    assert_int_equal(o.port, 8080);
    assert_int_equal(o.slots, 16);
    assert_true(o.jitter > 0.49 && o.jitter < 0.51);
    assert_int_equal(o.decode_base_ns, 5 * NS_PER_MS);
    assert_int_equal(PARSE(&o, &err, "--null", "--rate", "25"), 0);
    assert_int_equal(PARSE(&o, &err, "--help"), 0);
    assert_true(o.help);

    assert_refused(PARSE(&o, &err, "--tokeniser", "x"), err, ERROR_USAGE, "--tokeniser");
    assert_string_equal(err.remedy, "did you mean --tokenizer?");
    assert_refused(PARSE(&o, &err, "--zzzzzzzzzz"), err, ERROR_USAGE, "--zzzzzzzzzz");
    assert_refused(PARSE(&o, &err, "x"), err, ERROR_USAGE, "'x' is no option");
    assert_refused(PARSE(&o, &err, "--port"), err, ERROR_USAGE, "needs a value");
    assert_refused(PARSE(&o, &err, "--port", "65536"), err, ERROR_USAGE, "not within");
    assert_int_equal(PARSE(&o, &err, "--null", "--slots", "1024"), 0);
    assert_refused(PARSE(&o, &err, "--slots", "1025"), err, ERROR_USAGE, "not within");
    assert_refused(PARSE(&o, &err, "--port", "http"), err, ERROR_USAGE, "no integer");
    assert_refused(PARSE(&o, &err, "--null=1"), err, ERROR_USAGE, "takes no value");
    assert_refused(PARSE(&o, &err, "--batching", "static"), err, ERROR_USAGE, "none of");
    assert_refused(PARSE(&o, &err, "--jitter", "2", "--null"), err, ERROR_USAGE, "--jitter");
    assert_refused(PARSE(&o, &err, "--jitter", "x", "--null"), err, ERROR_USAGE, "no number");
    assert_refused(PARSE(&o, &err, "--prefill-rate", "0", "--null"), err, ERROR_USAGE, "above 0");
    assert_refused(PARSE(&o, &err, "--first", "5"), err, ERROR_USAGE, "no duration");
    assert_refused(PARSE(&o, &err, "--profile", "vlm", "--null"), err, ERROR_USAGE, "vlm");
    assert_string_equal(err.remedy, "did you mean --profile vllm?");
    assert_refused(PARSE(&o, &err, "--profile", "apr"), err, ERROR_USAGE, "without a tokenizer");
    assert_refused(PARSE(&o, &err, "--tokenizer", "t", "--stamp"), err, ERROR_USAGE, "--null only");
}

static void help(void **state)
{
    struct buf text = BUF_INIT(1 << 16);
    struct str left, line;
    (void)state;
    options_help(&text);
    assert_int_equal(text.failed, 0);
    left = buf_str(&text);
    while (str_cut(left, '\n', &line, &left))
        assert_true(line.n <= 80);
    assert_true(str_find(buf_str(&text), STR("--tokenizer FILE")) != STR_NONE);
    assert_true(str_find(buf_str(&text), STR("error-mid-stream:1")) != STR_NONE);
    assert_true(str_find(buf_str(&text), STR("sglang")) != STR_NONE);
    buf_release(&text);
}

static int read_body(struct ask *ask, enum ask_kind kind, const char *body, struct arena *arena,
                     struct error *err)
{
    const struct json *doc;
    arena_reset(arena);
    assert_int_equal(json_parse(&doc, str_of(body), &JSON_LIMITS_DEFAULT, arena, err), 0);
    return ask_read(ask, kind, doc, arena, err);
}

static void bodies(void **state)
{
    struct arena arena;
    struct ask a;
    struct error err = {0};
    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(
        read_body(&a, ASK_CHAT,
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"stream\":true,"
                  "\"max_tokens\":8,\"seed\":7,\"temperature\":0,\"ignore_eos\":true,"
                  "\"n\":16,\"stream_options\":{\"include_usage\":true},\"logprobs\":true,"
                  "\"top_logprobs\":1,\"cache_prompt\":false,\"stop\":null}",
                  &arena, &err),
        0);
    assert_true(a.stream && a.include_usage && a.ignore_eos && a.greedy && a.logprobs);
    assert_false(a.cache_prompt);
    assert_int_equal(a.max_tokens, 8);
    assert_int_equal(a.n, 16);
    assert_int_equal(a.seed, 7);
    assert_int_equal(
        read_body(&a, ASK_COMPLETION, "{\"prompt\":[[5,6]],\"logprobs\":3}", &arena, &err), 0);
    assert_int_equal(a.n_ids, 2);
    assert_int_equal(a.top_logprobs, 3);
    assert_false(a.stream);
    assert_int_equal(a.max_tokens, -1);
    assert_int_equal(read_body(&a, ASK_OLLAMA_GENERATE,
                               "{\"prompt\":\"x\",\"options\":{\"num_predict\":3}}", &arena, &err),
                     0);
    assert_true(a.stream); /* unless said otherwise */
    assert_int_equal(a.max_tokens, 3);
    static const struct {
        enum ask_kind kind;
        const char *body, *part;
    } bad[] = {
        {ASK_CHAT, "[]", "object"},
        {ASK_CHAT, "{}", "'messages' is required"},
        {ASK_CHAT, "{\"messages\":{}}", "array"},
        {ASK_CHAT, "{\"messages\":[]}", "empty"},
        {ASK_CHAT, "{\"messages\":[{\"content\":\"x\"}]}", "messages.0 has no 'role'"},
        {ASK_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":5}]}", "messages.0.content"},
        {ASK_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
         "messages.0.content.0"},
        {ASK_CHAT, "{\"messages\":[{\"role\":\"u\",\"content\":\"\"}],\"n\":17}", "'n'"},
        {ASK_CHAT, "{\"messages\":[{\"role\":\"u\",\"content\":\"\"}],\"stream\":1}", "'stream'"},
        {ASK_CHAT, "{\"messages\":[{\"role\":\"u\",\"content\":\"\"}],\"max_tokens\":1.5}",
         "'max_tokens'"},
        {ASK_CHAT, "{\"messages\":[{\"role\":\"u\",\"content\":\"\"}],\"temperature\":\"hot\"}",
         "'temperature'"},
        {ASK_COMPLETION, "{}", "'prompt' is required"},
        {ASK_COMPLETION, "{\"prompt\":[\"a\",\"b\"]}", "one text"},
        {ASK_COMPLETION, "{\"prompt\":[1,-1]}", "prompt.1"},
        {ASK_COMPLETION, "{\"prompt\":[1,4294967296]}", "prompt.1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(read_body(&a, bad[i].kind, bad[i].body, &arena, &err), err, ERROR_INPUT,
                       bad[i].part);
    arena_release(&arena);
}

static struct tokenizer *open_demo(void)
{
    char path[1024];
    struct tokenizer *t = NULL;
    struct error err = {0};
    const char *source = getenv("TALLY_SOURCE");
    snprintf(path, sizeof path, "%s/examples/demo/tokenizer.json", source ? source : ".");
    assert_int_equal(tokenizer_open(&t, path, &(struct tokenizer_options){0}, &err), 0);
    return t;
}

/* Joined draws: valid UTF-8 always; the same ids back from the stable pool. */
static void pools(void **state)
{
    struct tokenizer *t = open_demo();
    struct error err = {0};
    (void)state;
    for (enum pool_kind kind = POOL_STABLE; kind <= POOL_NOISY; kind++) {
        struct pool *pool;
        struct random r;
        int same = 0;
        assert_int_equal(pool_new(&pool, t, kind, &err), 0);
        assert_in_range(pool->n, 100, POOL_MAX);
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct buf text = BUF_INIT(1 << 16);
            struct token_ids ids = {0};
            uint32_t drawn[128];
            random_seed(&r, seed);
            for (int i = 0; i < 128; i++) {
                size_t at = pool_draw(pool, &r);
                drawn[i] = pool->id[at];
                buf_addstr(&text, pool->piece[at]);
            }
            assert_true(utf8_valid(buf_str(&text)));
            assert_int_equal(
                tokenizer_encode(t, buf_str(&text), &(struct encode_options){0}, &ids, &err), 0);
            same += ids.n == 128 && memcmp(ids.id, drawn, sizeof drawn) == 0;
            token_ids_release(&ids);
            buf_release(&text);
        }
        if (kind == POOL_STABLE)
            assert_int_equal(same, 20);
        else
            assert_in_range(same, 0, 5); /* by chance, with a vocabulary that is mostly words */
        pool_free(pool);
    }
    tokenizer_free(t);
}

/* FNV-1a of the bytes 01 00 00 00 (one id) and a seed of eight zero bytes, worked out apart. */
static void seeds(void **state)
{
    const uint32_t one = 1, two = 2;
    uint64_t h = 14695981039346656037u;
    (void)state;
    h = (h ^ 1) * 1099511628211u;
    for (int i = 0; i < 11; i++)
        h *= 1099511628211u;
    assert_true(pool_seed(&one, 1, 0) == h);
    assert_true(pool_seed(&one, 1, 0) != pool_seed(&two, 1, 0));
    assert_true(pool_seed(&one, 1, 0) != pool_seed(&one, 1, 1));
}

static void timers_in_order(void **state)
{
    struct timers t = {0};
    struct random r;
    uint64_t tag;
    int64_t last = -1;
    (void)state;
    random_seed(&r, 3);
    for (uint64_t i = 0; i < 1000; i++) {
        uint32_t due = random_below(&r, 500);
        assert_true(timers_add(&t, due, due));
    }
    assert_false(timers_take(&t, -1, &tag));
    for (int i = 0; i < 1000; i++) {
        int64_t next = timers_next_ns(&t);
        assert_false(timers_take(&t, next - 1, &tag));
        assert_true(timers_take(&t, next, &tag));
        assert_int_equal(tag, next);
        assert_true(next >= last);
        last = next;
    }
    assert_int_equal(timers_next_ns(&t), INT64_MAX);
    timers_release(&t);
}

static void near_misses(void **state)
{
    static const char *const names[] = {"port", "profile", "tokenizer"};
    char long_word[SUGGEST_WORD_MAX + 2];
    (void)state;
    assert_string_equal(suggest(STR("prot"), names, 3), "port");
    assert_string_equal(suggest(STR("profiel"), names, 3), "profile");
    assert_null(suggest(STR("speed"), names, 3));
    memset(long_word, 'a', sizeof long_word);
    assert_null(suggest(str_make(long_word, SUGGEST_WORD_MAX + 1), names, 3));
    assert_null(suggest(str_make(long_word, SUGGEST_WORD_MAX), names, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults), cmocka_unit_test(which_requests),  cmocka_unit_test(options),
        cmocka_unit_test(help),   cmocka_unit_test(bodies),          cmocka_unit_test(pools),
        cmocka_unit_test(seeds),  cmocka_unit_test(timers_in_order), cmocka_unit_test(near_misses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
