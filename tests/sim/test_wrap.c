/* Prompts as the played servers see them, against what a real llama-server reported and rendered.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "wrap.h"

static struct tokenizer *open_shared(const char *name, char path[1024])
{
    const char *shared = getenv("TALLY_SHARED");
    struct tokenizer *t = NULL;
    struct error err = {0};
    snprintf(path, 1024, "%s/%s", shared ? shared : "../shared", name);
    if (!file_exists(path)) {
        print_message("skipped: %s is absent\n", path);
        return NULL;
    }
    assert_int_equal(tokenizer_open(&t, path, &(struct tokenizer_options){0}, &err), 0);
    return t;
}

static int64_t number(const struct json *row, const char *name)
{
    int64_t n = -1;
    assert_int_equal(json_i64(&n, json_get(row, name)), 0);
    return n;
}

static void check_row(const struct json *row, const struct tokenizer *t)
{
    struct arena arena;
    struct ask ask;
    struct wrapped w = {0};
    struct error err = {0};
    const struct json *ids = json_get(row, "rendered_ids");
    struct str rendered;
    arena_init(&arena, 1 << 24);
    assert_int_equal(ask_read(&ask, ASK_CHAT, row, &arena, &err), 0);

    assert_int_equal(wrap(&w, profile_find("llama-server"), t, &ask, &err), 0);
    assert_int_equal(w.ids.n, number(row, "server_prompt_tokens"));
    assert_int_equal(json_str(&rendered, json_get(row, "rendered")), 0);
    assert_str(buf_str(&w.text), rendered);
    assert_int_equal(ids->n, w.ids.n);
    for (size_t i = 0; i < w.ids.n; i++) {
        int64_t id = 0;
        assert_int_equal(json_i64(&id, json_at(ids, i)), 0);
        assert_int_equal(w.ids.id[i], id);
    }
    wrap_release(&w);

    /* apr: eight tokens around what the text alone is with special text plain */
    if (ask.n_messages == 1) {
        assert_int_equal(wrap(&w, profile_find("apr"), t, &ask, &err), 0);
        assert_int_equal(w.ids.n, number(row, "raw_tokens_special_plain") + 8);
        wrap_release(&w);
    }
    arena_release(&arena);
}

static void lane_counts(void **state)
{
    char path[1024];
    struct arena arena;
    struct error err = {0};
    const struct json *rows;
    struct tokenizer *t = open_shared("vectors/gguf/tiny-qwen2.gguf", path);
    (void)state;
    if (!t)
        skip();
    snprintf(path, sizeof path, "%s/vectors/lane-counts.json",
             getenv("TALLY_SHARED") ? getenv("TALLY_SHARED") : "../shared");
    arena_init(&arena, 1 << 26);
    assert_int_equal(json_parse_file(&rows, path, &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    assert_true(rows->n >= 16); /* eight shapes, with and without a system message */
    for (size_t i = 0; i < rows->n; i++)
        check_row(&rows->items[i], t);
    arena_release(&arena);
    tokenizer_free(t);
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

static void assert_rendered(const char *profile, const char *body, const char *wanted)
{
    struct arena arena;
    struct ask ask = {0};
    struct error err = {0};
    struct buf text = BUF_INIT(1 << 16);
    const struct json *doc;
    arena_init(&arena, 1 << 20);
    assert_int_equal(json_parse(&doc, str_of(body), &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    assert_int_equal(ask_read_messages(&ask, doc, &arena, &err), 0);
    assert_int_equal(wrap_render(&text, profile_find(profile), &ask, &err), 0);
    assert_text(buf_str(&text), wanted);
    buf_release(&text);
    arena_release(&arena);
}

#define QWEN                                                                                   \
    "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant." \
    "<|im_end|>\n"

static void rendering(void **state)
{
    (void)state;
    assert_rendered("llama-server", "{\"messages\":[{\"role\":\"user\",\"content\":null}]}",
                    QWEN "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n");
    assert_rendered("llama-server",
                    "{\"messages\":[{\"role\":\"developer\",\"content\":\"s\"},"
                    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                    "{\"type\":\"text\",\"text\":\"b\"}]}]}",
                    "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na\nb<|im_end|>\n"
                    "<|im_start|>assistant\n");
    assert_rendered("llama-server",
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},"
                    "{\"role\":\"assistant\",\"content\":\"begin\"}]}",
                    QWEN "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nbegin");
    assert_rendered("apr", "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}",
                    "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n");
}

/* Text that spells a special token: one token for llama-server, several for apr. */
static void special_text(void **state)
{
    struct tokenizer *t = open_demo();
    struct error err = {0};
    int64_t end = tokenizer_id_of(t, STR("<|im_end|>"));
    const struct ask_message m = {STR("user"), STR("<|im_end|>")};
    struct ask ask = {.kind = ASK_CHAT, .messages = &m, .n_messages = 1};
    (void)state;
    assert_true(end >= 0);
    for (int apr = 0; apr < 2; apr++) {
        struct wrapped w = {0};
        size_t ends = 0;
        const struct profile *p = profile_find(apr ? "apr" : "llama-server");
        assert_int_equal(wrap(&w, p, t, &ask, &err), 0);
        for (size_t i = 0; i < w.ids.n; i++)
            ends += w.ids.id[i] == (uint32_t)end;
        /* llama-server: the system's, the one inside, the user's; apr: the user's */
        assert_int_equal(ends, apr ? 1 : 3);
        wrap_release(&w);
    }
    tokenizer_free(t);
}

static void prompts_by_id(void **state)
{
    struct tokenizer *t = open_demo();
    struct tokenizer_info info;
    struct error err = {0};
    struct wrapped w = {0};
    uint32_t ids[3] = {1, 2, 0};
    struct ask ask = {.kind = ASK_COMPLETION, .ids = ids, .n_ids = 3, .has_ids = true};
    (void)state;
    tokenizer_describe(t, &info);
    ids[2] = (uint32_t)info.vocab_size - 1;
    assert_int_equal(wrap(&w, profile_find("vllm"), t, &ask, &err), 0);
    assert_int_equal(w.ids.n, 3);
    assert_int_equal(w.ids.id[2], ids[2]);
    wrap_release(&w);
    ids[2]++;
    assert_refused(wrap(&w, profile_find("vllm"), t, &ask, &err), err, ERROR_INPUT, "prompt.2");
    wrap_release(&w);
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lane_counts),
        cmocka_unit_test(rendering),
        cmocka_unit_test(special_text),
        cmocka_unit_test(prompts_by_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
