/* Every vector of the reference implementations: ids equal, and decoding gives the text back. */
#include "support.h"

#include <string.h>

#include "codec/json.h"

static void print_ids(const char *what, const struct token_ids *ids)
{
    print_message("%s:", what);
    for (size_t i = 0; i < ids->n && i < 60; i++)
        print_message(" %u", ids->id[i]);
    print_message("\n");
}

static bool equals(const struct token_ids *got, const struct json *want)
{
    if (got->n != want->n)
        return false;
    for (size_t i = 0; i < got->n; i++) {
        int64_t id = -1;
        if (json_i64(&id, json_at(want, i)) < 0 || id != (int64_t)got->id[i])
            return false;
    }
    return true;
}

static int shown;

/* 1 when the line's ids, plain and with special tokens, are what we give. */
static int check_line(const struct tokenizer *t, const struct json *line)
{
    static const char *const keys[] = {"ids", "ids_special"};
    struct token_ids ids = {0};
    struct error err = {0};
    struct str text;
    size_t n;
    int good = 1;
    assert_int_equal(json_need_str(&text, line, "text", &err), 0);
    for (int special = 0; special < 2; special++) {
        struct encode_options o = {.add_special = special};
        if (tokenizer_encode(t, text, &o, &ids, &err) < 0) {
            show_error(&err);
            fail();
        }
        if (!equals(&ids, json_get(line, keys[special]))) {
            print_message("%s differ for \"%.*s\"\n", keys[special], STR_ARG(text));
            print_ids("got", &ids);
            good = 0;
            if (++shown > 10)
                fail();
        }
        assert_int_equal(tokenizer_count(t, text, &o, &n, &err), 0);
        assert_int_equal(n, ids.n);
    }
    token_ids_release(&ids);
    return good;
}

static void check_vectors(const char *model)
{
    char path[1024], vectors[1024], name[64];
    snprintf(name, sizeof name, "vectors/tokenizer/%s.jsonl", model);
    if (shared_path(vectors, name) < 0 || peer_path(path, model) < 0)
        skip();
    struct tokenizer *t = open_path(path);
    struct buf all = BUF_INIT(0);
    struct error err = {0};
    struct arena arena;
    int lines = 0, good = 0;
    arena_init(&arena, 64 << 20);
    assert_int_equal(file_read(&all, vectors, 64 << 20, &err), 0);
    struct str rest = buf_str(&all), line;
    while (rest.n) {
        const struct json *doc;
        str_cut(rest, '\n', &line, &rest);
        if (line.n == 0)
            continue;
        arena_reset(&arena);
        assert_int_equal(json_parse(&doc, line, &JSON_LIMITS_DEFAULT, &arena, &err), 0);
        good += check_line(t, doc);
        lines++;
    }
    assert_int_equal(lines, 1200);
    assert_int_equal(good, lines);
    arena_release(&arena);
    buf_release(&all);
    tokenizer_free(t);
}

static void qwen3(void **state)
{
    (void)state;
    check_vectors("qwen3");
}

static void llama3_1(void **state)
{
    (void)state;
    check_vectors("llama3_1");
}

static void llama2(void **state)
{
    (void)state;
    check_vectors("llama2");
}

static void deepseek_v3(void **state)
{
    (void)state;
    check_vectors("deepseek_v3");
}

/* One line of .out: ids between spaces. */
static bool equals_line(const struct token_ids *ids, struct str line)
{
    struct str word;
    size_t n = 0;
    line = str_trim(line);
    while (line.n) {
        str_cut(line, ' ', &word, &line);
        if (word.n == 0)
            continue;
        if (n >= ids->n || strtoul(word.p, NULL, 10) != ids->id[n])
            return false;
        n++;
    }
    return n == ids->n;
}

static void check_gguf(const char *model)
{
    char path[1024], name[64];
    struct buf in = BUF_INIT(0), out = BUF_INIT(0);
    struct error err = {0};
    struct token_ids ids = {0};
    struct tokenizer *t;
    const struct str mark = STR("\n__ggml_vocab_test__\n");
    size_t cases = 0;
    snprintf(name, sizeof name, "vectors/gguf/ggml-vocab-%s.gguf", model);
    if (shared_path(path, name) < 0)
        skip();
    t = open_path(path);
    snprintf(name, sizeof name, "vectors/gguf/ggml-vocab-%s.gguf.inp", model);
    assert_int_equal(shared_path(path, name), 0);
    assert_int_equal(file_read(&in, path, 1 << 20, &err), 0);
    snprintf(name, sizeof name, "vectors/gguf/ggml-vocab-%s.gguf.out", model);
    assert_int_equal(shared_path(path, name), 0);
    assert_int_equal(file_read(&out, path, 1 << 20, &err), 0);
    struct str texts = buf_str(&in), lines = buf_str(&out), line;
    const struct encode_options plain = {.special_text = SPECIAL_TEXT_PLAIN};
    while (texts.n) {
        size_t end = str_find(texts, mark);
        struct str text = end == STR_NONE ? texts : str_first(texts, end);
        texts = end == STR_NONE ? STR("") : str_skip(texts, end + mark.n);
        str_cut(lines, '\n', &line, &lines);
        assert_int_equal(tokenizer_encode(t, text, &plain, &ids, &err), 0);
        if (!equals_line(&ids, line)) {
            print_message("%s differs for \"%.*s\"; want %.*s\n", model, STR_ARG(text),
                          STR_ARG(line));
            print_ids("got", &ids);
            fail();
        }
        cases++;
    }
    assert_true(cases > 40);
    token_ids_release(&ids);
    buf_release(&in);
    buf_release(&out);
    tokenizer_free(t);
}

static void gguf_qwen2(void **state)
{
    (void)state;
    check_gguf("qwen2");
}

static void gguf_llama_bpe(void **state)
{
    (void)state;
    check_gguf("llama-bpe");
}

static void gguf_gpt_2(void **state)
{
    (void)state;
    check_gguf("gpt-2");
}

static void gguf_llama_spm(void **state)
{
    (void)state;
    check_gguf("llama-spm");
}

static void gguf_phi_3(void **state)
{
    (void)state;
    check_gguf("phi-3");
}

static void gguf_bert_bge(void **state)
{
    (void)state;
    check_gguf("bert-bge");
}

static void gguf_falcon(void **state)
{
    (void)state;
    check_gguf("falcon");
}

static void gguf_deepseek_llm(void **state)
{
    (void)state;
    check_gguf("deepseek-llm");
}

/* The eight prompt shapes a real llama-server was asked about. */
static void lane_counts(void **state)
{
    char path[1024], gguf[1024];
    struct arena arena;
    struct error err = {0};
    const struct json *doc;
    (void)state;
    if (shared_path(path, "vectors/lane-counts.json") < 0)
        skip();
    assert_int_equal(shared_path(gguf, "vectors/gguf/ggml-vocab-qwen2.gguf"), 0);
    struct tokenizer *t = open_path(gguf);
    arena_init(&arena, 16 << 20);
    assert_int_equal(json_parse_file(&doc, path, &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    assert_true(doc->n >= 8);
    for (size_t i = 0; i < doc->n; i++) {
        const struct json *shape = json_at(doc, i), *messages = json_get(shape, "messages");
        struct str text;
        int64_t parsed, plain;
        size_t n;
        struct token_ids ids = {0};
        assert_int_equal(json_need_str(&text, json_at(messages, messages->n - 1), "content", &err),
                         0);
        assert_int_equal(json_need_i64(&parsed, shape, "raw_tokens_special_parsed", &err), 0);
        assert_int_equal(json_need_i64(&plain, shape, "raw_tokens_special_plain", &err), 0);
        assert_int_equal(tokenizer_count(t, text, &(struct encode_options){0}, &n, &err), 0);
        assert_int_equal(n, parsed);
        struct encode_options o = {.special_text = SPECIAL_TEXT_PLAIN};
        assert_int_equal(tokenizer_count(t, text, &o, &n, &err), 0);
        assert_int_equal(n, plain);
        assert_int_equal(json_need_str(&text, shape, "rendered", &err), 0);
        assert_int_equal(tokenizer_encode(t, text, &(struct encode_options){0}, &ids, &err), 0);
        assert_true(equals(&ids, json_get(shape, "rendered_ids")));
        token_ids_release(&ids);
    }
    arena_release(&arena);
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qwen3),       cmocka_unit_test(llama3_1),
        cmocka_unit_test(llama2),      cmocka_unit_test(deepseek_v3),
        cmocka_unit_test(gguf_qwen2),  cmocka_unit_test(gguf_llama_bpe),
        cmocka_unit_test(gguf_gpt_2),  cmocka_unit_test(gguf_llama_spm),
        cmocka_unit_test(gguf_phi_3),  cmocka_unit_test(gguf_bert_bge),
        cmocka_unit_test(gguf_falcon), cmocka_unit_test(gguf_deepseek_llm),
        cmocka_unit_test(lane_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
