/*
 * What llama.cpp itself says of small vocabularies (tests/token/facts, written by
 * `tools/conformance-gguf --facts` from node-llama-cpp): every model, every tokenizer.ggml.pre,
 * special text parsed and plain.
 */
#include "support.h"

#include <string.h>

#include "../vocab/gguf_write.h"
#include "base/utf8.h"
#include "codec/json.h"
#include "token/pieces.h"

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

static void check_text(const struct tokenizer *t, const char *name, const struct json *fact)
{
    struct token_ids ids = {0};
    struct error err = {0};
    struct str text;
    assert_int_equal(json_need_str(&text, fact, "text", &err), 0);
    for (int plain = 0; plain < 2; plain++) {
        const struct json *want =
            json_get(fact, plain && json_get(fact, "plain") ? "plain" : "parsed");
        struct encode_options o = {.special_text =
                                       plain ? SPECIAL_TEXT_PLAIN : SPECIAL_TEXT_PARSED};
        assert_non_null(want);
        if (tokenizer_encode(t, text, &o, &ids, &err) < 0) {
            show_error(&err);
            fail();
        }
        if (!equals(&ids, want))
            fail_msg("%s: other ids than llama.cpp's for \"%.*s\" (%s)", name, STR_ARG(text),
                     plain ? "plain" : "parsed");
    }
    token_ids_release(&ids);
}

/* The vocabulary of tools/gguf_components.js in which any two bytes merge. */
static void byte_pairs(struct buf *b, struct str pre)
{
    static const struct {
        const char *text;
        unsigned type;
    } specials[] = {{"<unk>", 2},         {"<s>", 3},         {"</s>", 3},
                    {"<|im_end|>", 1},    {"<think>", 4},     {"<|channel|>", 3},
                    {"<fim_prefix>", 1},  {"<mask>", 3},      {"[MASK]", 3},
                    {"<|x|>", 1},         {"<unused1>", 5},   {" lo", 4},
                    {"<|endoftext|>", 3}, {"<|endoftext", 3}, {"text|><", 4},
                    {"<|call|>", 3},      {"<|return|>", 3},  {"<|end|>", 3}};
    const size_t n = sizeof specials / sizeof specials[0];
    char name[64], chars[256][8] = {{0}}, text[24];
    for (unsigned byte = 0; byte < 256; byte++)
        utf8_encode(chars[byte], byte_level_char((uint8_t)byte));
    snprintf(name, sizeof name, "%.*s", STR_ARG(pre));
    gguf_head(b, 3, 5);
    gguf_string(b, "tokenizer.ggml.model", "gpt2");
    gguf_string(b, "tokenizer.ggml.pre", name);
    gguf_array(b, "tokenizer.ggml.tokens", 8, 256 + 65536 + n);
    for (unsigned byte = 0; byte < 256; byte++)
        put_str(b, chars[byte]);
    for (int merges = 0; merges < 2; merges++) {
        if (merges)
            gguf_array(b, "tokenizer.ggml.merges", 8, 65536);
        for (uint32_t rank = 0; rank < 65536; rank++) {
            uint32_t pair = (rank * 40503 + 12345) & 0xFFFF;
            snprintf(text, sizeof text, "%s%s%s", chars[pair >> 8], merges ? " " : "",
                     chars[pair & 255]);
            put_str(b, text);
        }
        for (size_t i = 0; i < n && !merges; i++)
            put_str(b, specials[i].text);
    }
    gguf_array(b, "tokenizer.ggml.token_type", 5, 256 + 65536 + n);
    for (size_t i = 0; i < 256 + 65536 + n; i++)
        put(b, i < 256 + 65536 ? 1 : specials[i - 256 - 65536].type, 4);
}

static struct tokenizer *open_pre(struct str pre)
{
    struct buf b = BUF_INIT(16 << 20);
    struct tokenizer *t = NULL;
    struct error err = {0};
    byte_pairs(&b, pre);
    if (tokenizer_open_bytes(&t, buf_str(&b), "pairs", &(struct tokenizer_options){0}, &err) < 0) {
        show_error(&err);
        fail();
    }
    buf_release(&b);
    return t;
}

static void facts_path(char out[1024], struct str name)
{
    const char *source = getenv("TALLY_SOURCE");
    snprintf(out, 1024, "%s/tests/token/facts/%.*s", source ? source : ".", STR_ARG(name));
}

static size_t check_line(const struct json *line)
{
    const struct json *files = json_get(line, "file"), *facts = json_get(line, "facts");
    const struct json *names = files ? files : json_get(line, "pre");
    assert_true(names && names->n > 0 && facts && facts->n > 0);
    for (size_t i = 0; i < names->n; i++) {
        struct str name;
        char path[1024], shown[64];
        assert_int_equal(json_str(&name, json_at(names, i)), 0);
        snprintf(shown, sizeof shown, "%.*s", STR_ARG(name));
        facts_path(path, name);
        struct tokenizer *t = files ? open_path(path) : open_pre(name);
        for (size_t k = 0; k < facts->n; k++)
            check_text(t, shown, json_at(facts, k));
        tokenizer_free(t);
    }
    return names->n;
}

static void llama_facts(void **state)
{
    struct buf all = BUF_INIT(0);
    struct error err = {0};
    struct arena arena;
    char path[1024];
    size_t checked = 0;
    (void)state;
    facts_path(path, STR("llama.jsonl"));
    arena_init(&arena, 64 << 20);
    assert_int_equal(file_read(&all, path, 64 << 20, &err), 0);
    struct str rest = buf_str(&all), line;
    while (rest.n) {
        const struct json *doc;
        str_cut(rest, '\n', &line, &rest);
        if (line.n == 0)
            continue;
        arena_reset(&arena);
        assert_int_equal(json_parse(&doc, line, &JSON_LIMITS_DEFAULT, &arena, &err), 0);
        checked += check_line(doc);
    }
    assert_true(checked >= 100); /* models and names */
    arena_release(&arena);
    buf_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(llama_facts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
