/*
 * What the references themselves say of small vocabularies (tests/token/facts), special text parsed
 * and plain: llama.cpp of every model and every tokenizer.ggml.pre (written by
 * `tools/conformance-gguf --facts` from node-llama-cpp), tiktoken of every encoding and
 * SentencePiece of both kinds of models (written by `tools/conformance-formats --facts` from the
 * Python packages).
 */
#include "support.h"

#include <string.h>
#include <unistd.h>

#include "../vocab/gguf_write.h"
#include "base/base64.h"
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

static void add_rank(struct buf *b, const uint8_t *bytes, size_t n, uint32_t rank)
{
    base64_add(b, str_make(bytes, n));
    buf_addf(b, " %u\n", rank);
}

/* The ranks of tools/conformance-formats: bytes, pairs, and pairs with a byte behind them. */
static void tiktoken_ranks(struct buf *b, uint32_t count)
{
    static uint8_t pairs[65536][2], seen[1 << 21];
    uint32_t state = 1, rank = 0;
    memset(seen, 0, sizeof seen);
    for (; rank < 256; rank++)
        add_rank(b, &(uint8_t){(uint8_t)rank}, 1, rank);
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t pair = (i * 40503 + 12345) & 0xFFFF;
        pairs[i][0] = (uint8_t)(pair >> 8);
        pairs[i][1] = (uint8_t)pair;
        if (rank < count)
            add_rank(b, pairs[i], 2, rank++);
    }
    while (rank < count) {
        uint8_t token[3];
        state = state * 1664525 + 1013904223;
        memcpy(token, pairs[(state >> 8) % 65536], 2);
        state = state * 1664525 + 1013904223;
        token[2] = (uint8_t)(state >> 8);
        uint32_t key = (uint32_t)token[0] << 16 | (uint32_t)token[1] << 8 | token[2];
        if (seen[key / 8] >> (key % 8) & 1)
            continue;
        seen[key / 8] |= (uint8_t)(1u << (key % 8));
        add_rank(b, token, 3, rank++);
    }
}

static const struct {
    const char *name, *config;
    uint32_t ranks;
} encodings[] = {
    {"r50k_base", NULL, 50256},
    {"cl100k_base", NULL, 100256},
    {"o200k_base", NULL, 199998},
    {"qwen",
     "{\"151643\":{\"content\":\"<|endoftext|>\"},\"151644\":{\"content\":\"<|im_start|>\"},"
     "\"151645\":{\"content\":\"<|im_end|>\"}}",
     151643},
    {"llama3",
     "{\"128000\":{\"content\":\"<|begin_of_text|>\"},\"128009\":{\"content\":\"<|eot_id|>\"}}",
     128000},
    {"kimi",
     "{\"163584\":{\"content\":\"[BOS]\"},\"163585\":{\"content\":\"[EOS]\"},"
     "\"163586\":{\"content\":\"<|im_end|>\"},\"163606\":{\"content\":\"<think>\"}}",
     163584},
};

static void write_file(const char *dir, const char *name, struct str bytes, char path[512])
{
    struct error err = {0};
    snprintf(path, 512, "%s/%s", dir, name);
    assert_int_equal(file_write_atomic(path, bytes, &err), 0);
}

static struct tokenizer *open_tiktoken(struct str name)
{
    char dir[] = "/tmp/tally-tiktoken-XXXXXX", path[512], config[512] = "";
    struct buf b = BUF_INIT(16 << 20), c = BUF_INIT(4096);
    struct tokenizer *t = NULL;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        if (!str_eq(name, str_of(encodings[i].name)))
            continue;
        tiktoken_ranks(&b, encodings[i].ranks);
        write_file(dir, "tiktoken.model", buf_str(&b), path);
        if (encodings[i].config) {
            struct error err = {0};
            /* Without it there is no telling which tokens are special. */
            assert_int_equal(tokenizer_open(&t, path, &(struct tokenizer_options){0}, &err), -1);
            assert_int_equal(err.kind, ERROR_INPUT);
            assert_non_null(strstr(err.remedy, "tokenizer_config.json"));
            buf_addf(&c, "{\"added_tokens_decoder\":%s}", encodings[i].config);
            write_file(dir, "tokenizer_config.json", buf_str(&c), config);
        }
        t = open_path(path);
    }
    unlink(path);
    if (config[0])
        unlink(config);
    rmdir(dir);
    buf_release(&b);
    buf_release(&c);
    assert_non_null(t);
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
    const struct json *pre = json_get(line, "pre");
    const struct json *names = files ? files : pre ? pre : json_get(line, "tiktoken");
    assert_true(names && names->n > 0 && facts && facts->n > 0);
    for (size_t i = 0; i < names->n; i++) {
        struct str name;
        char path[1024], shown[64];
        assert_int_equal(json_str(&name, json_at(names, i)), 0);
        snprintf(shown, sizeof shown, "%.*s", STR_ARG(name));
        facts_path(path, name);
        struct tokenizer *t = files ? open_path(path) : pre ? open_pre(name) : open_tiktoken(name);
        for (size_t k = 0; k < facts->n; k++)
            check_text(t, shown, json_at(facts, k));
        tokenizer_free(t);
    }
    return names->n;
}

static size_t check_file(const char *file)
{
    struct buf all = BUF_INIT(0);
    struct error err = {0};
    struct arena arena;
    char path[1024];
    size_t checked = 0;
    facts_path(path, str_of(file));
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
    arena_release(&arena);
    buf_release(&all);
    return checked;
}

static void llama_facts(void **state)
{
    (void)state;
    assert_true(check_file("llama.jsonl") >= 100); /* models and names */
}

static void tiktoken_and_sentencepiece_facts(void **state)
{
    (void)state;
    /* Every encoding, and nine SentencePiece models. */
    assert_int_equal(check_file("formats.jsonl"), sizeof encodings / sizeof encodings[0] + 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_facts),
        cmocka_unit_test(tiktoken_and_sentencepiece_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
