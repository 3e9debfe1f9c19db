/*
 * The reference mode, chosen by the file or set: one source written as a GGUF and as tokenizer.json
 * with merges in either spelling, each read in the ways that it allows.
 */
#include "support.h"

#include <string.h>

#include "../vocab/gguf_write.h"
#include "base/utf8.h"
#include "token/pieces.h"

/* The source: 256 bytes, these, and padding in the GGUF. */
static const struct {
    const char *text;
    unsigned type;
    bool special; /* as the tokenizer.json says it */
} extra[] = {{"ab", 1, false},          {"abc", 1, false},     {"<|im_end|>", 3, true},
             {"<|fim_pad|>", 3, false}, {"<think>", 4, false}, {"<|channel|>", 3, true}};
#define EXTRA (sizeof extra / sizeof extra[0])
#define FIRST_ADDED 2

static const char *const merges[][2] = {{"a", "b"}, {"ab", "c"}};

#define QWEN2                                                                        \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}|" \
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

static void json_of(struct buf *b, bool pairs, const char *around)
{
    buf_addf(b, "{%s,\"added_tokens\":[", around);
    for (size_t i = FIRST_ADDED; i < EXTRA; i++)
        buf_addf(b, "%s{\"id\":%zu,\"content\":\"%s\",\"special\":%s}", i > FIRST_ADDED ? "," : "",
                 256 + i, extra[i].text, extra[i].special ? "true" : "false");
    buf_adds(b, "],\"model\":{\"type\":\"BPE\",\"vocab\":{");
    for (unsigned byte = 0; byte < 256; byte++)
        buf_addf(b, "\"\\u%04x\":%u,", byte_level_char((uint8_t)byte), byte);
    buf_adds(b, "\"ab\":256,\"abc\":257},\"merges\":[");
    for (size_t i = 0; i < 2; i++)
        buf_addf(b, pairs ? "%s[\"%s\",\"%s\"]" : "%s\"%s %s\"", i ? "," : "", merges[i][0],
                 merges[i][1]);
    buf_adds(b, "]}}");
}

static void gguf_of(struct buf *b, const char *embedded)
{
    struct buf s = BUF_INIT(64);
    gguf_head(b, 3, embedded ? 6 : 5);
    if (embedded)
        gguf_string(b, "tokenizer.huggingface.json", embedded);
    gguf_string(b, "tokenizer.ggml.model", "gpt2");
    gguf_string(b, "tokenizer.ggml.pre", "qwen2");
    gguf_array(b, "tokenizer.ggml.tokens", 8, 256 + EXTRA + 1);
    for (unsigned byte = 0; byte < 256; byte++) {
        buf_reset(&s);
        utf8_add(&s, byte_level_char((uint8_t)byte));
        put_str(b, buf_str(&s).p);
    }
    for (size_t i = 0; i < EXTRA; i++)
        put_str(b, extra[i].text);
    put_str(b, "[PAD262]");
    gguf_array(b, "tokenizer.ggml.token_type", 5, 256 + EXTRA + 1);
    for (size_t i = 0; i < 256 + EXTRA + 1; i++)
        put(b, i < 256 ? 1 : i < 256 + EXTRA ? extra[i - 256].type : 5, 4);
    gguf_array(b, "tokenizer.ggml.merges", 8, 2);
    for (size_t i = 0; i < 2; i++) {
        buf_reset(&s);
        buf_addf(&s, "%s %s", merges[i][0], merges[i][1]);
        put_str(b, buf_str(&s).p);
    }
    buf_release(&s);
}

#define AROUND                                                                      \
    "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\","   \
    "\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" QWEN2 "\"}," \
    "\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","          \
    "\"add_prefix_space\":false,\"use_regex\":false}]}"

static struct tokenizer *open_as(const struct buf *b, enum tokenizer_reference reference)
{
    struct tokenizer *t = NULL;
    struct error err = {0};
    const struct tokenizer_options how = {reference};
    if (tokenizer_open_bytes(&t, buf_str(b), "test", &how, &err) < 0) {
        show_error(&err);
        fail();
    }
    return t;
}

static void must_refuse(const struct buf *b, enum tokenizer_reference reference, const char *words)
{
    struct tokenizer *t = NULL;
    struct error err = {0};
    const struct tokenizer_options how = {reference};
    assert_int_equal(tokenizer_open_bytes(&t, buf_str(b), "test", &how, &err), -1);
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    if (!strstr(err.message, words))
        fail_msg("said \"%s\", not \"%s\"", err.message, words);
    assert_true(err.remedy[0] != '\0');
}

static void expect(const struct tokenizer *t, const char *text, bool plain, const uint32_t *want,
                   size_t n)
{
    struct token_ids ids = {0};
    struct error err = {0};
    const struct encode_options o = {.special_text =
                                         plain ? SPECIAL_TEXT_PLAIN : SPECIAL_TEXT_PARSED};
    assert_int_equal(tokenizer_encode(t, str_of(text), &o, &ids, &err), 0);
    assert_int_equal(ids.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ids.id[i], want[i]);
    token_ids_release(&ids);
}

#define EXPECT(t, text, plain, ...)                                    \
    do {                                                               \
        const uint32_t want_[] = {__VA_ARGS__};                        \
        expect(t, text, plain, want_, sizeof want_ / sizeof want_[0]); \
    } while (0)

static void one_vocabulary(void **state)
{
    struct buf files[3] = {BUF_INIT(1 << 20), BUF_INIT(1 << 20), BUF_INIT(1 << 20)};
    struct tokenizer *t[4];
    struct tokenizer_info info[4];
    (void)state;
    gguf_of(&files[0], NULL);
    json_of(&files[1], false, AROUND);
    json_of(&files[2], true, AROUND);
    for (size_t i = 0; i < 4; i++) {
        t[i] = open_as(&files[i < 3 ? i : 1], i < 3 ? REFERENCE_FROM_FILE : REFERENCE_LLAMA_CPP);
        tokenizer_describe(t[i], &info[i]);
        assert_string_equal(info[i].vocabulary_sha256, info[0].vocabulary_sha256);
    }
    assert_string_equal(info[0].reference, "llama.cpp");
    assert_string_equal(info[1].reference, "huggingface");
    assert_string_equal(info[3].reference, "llama.cpp");
    assert_string_equal(info[3].format, "tokenizer.json");
    assert_string_not_equal(info[1].tokenizer_sha256, info[2].tokenizer_sha256);
    assert_string_equal(info[1].pipeline_sha256, info[2].pipeline_sha256);
    /* Read as llama.cpp would, the tokenizer.json is the GGUF; as Hugging Face would, it is not. */
    assert_string_equal(info[3].pipeline_sha256, info[0].pipeline_sha256);
    assert_string_equal(info[3].tokenizer_sha256, info[1].tokenizer_sha256);
    assert_string_not_equal(info[1].pipeline_sha256, info[0].pipeline_sha256);
    assert_int_equal(info[0].padding, 1);
    for (size_t i = 0; i < 4; i++)
        tokenizer_free(t[i]);
    for (size_t i = 0; i < 3; i++)
        buf_release(&files[i]);
}

/* No NFC; control tokens by their spelling; <|channel|> is one id even where text is plain. */
static void set_to_llama(void **state)
{
    struct buf b = BUF_INIT(1 << 20);
    (void)state;
    json_of(&b, false, AROUND);
    struct tokenizer *hf = open_as(&b, REFERENCE_HUGGINGFACE);
    struct tokenizer *llama = open_as(&b, REFERENCE_LLAMA_CPP);
    EXPECT(hf, "e\u0301", false, 0xC3, 0xA9);
    EXPECT(llama, "e\u0301", false, 'e', 0xCC, 0x81);
    EXPECT(hf, "abc<|fim_pad|>", true, 257, 259);
    EXPECT(llama, "abc<|fim_pad|>", true, 257, '<', '|', 'f', 'i', 'm', '_', 'p', 'a', 'd', '|',
           '>');
    EXPECT(llama, "abc<|fim_pad|>", false, 257, 259);
    EXPECT(llama, "<|channel|><think>", true, 261, 260);
    EXPECT(hf, "<|channel|>", true, '<', '|', 'c', 'h', 'a', 'n', 'n', 'e', 'l', '|', '>');
    tokenizer_free(hf);
    tokenizer_free(llama);
    buf_release(&b);
}

static void embedded(void **state)
{
    struct buf json = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20);
    struct tokenizer_info info, alone;
    (void)state;
    gguf_of(&b, NULL);
    must_refuse(&b, REFERENCE_HUGGINGFACE, "holds no tokenizer.huggingface.json");
    buf_reset(&b);
    json_of(&json, true, AROUND);
    gguf_of(&b, buf_str(&json).p);
    struct tokenizer *t = open_as(&b, REFERENCE_HUGGINGFACE),
                     *j = open_as(&json, REFERENCE_FROM_FILE);
    tokenizer_describe(t, &info);
    tokenizer_describe(j, &alone);
    assert_string_equal(info.format, "gguf");
    assert_string_equal(info.reference, "huggingface");
    assert_string_equal(info.pipeline_sha256, alone.pipeline_sha256);
    assert_string_equal(info.vocabulary_sha256, alone.vocabulary_sha256);
    assert_string_not_equal(info.tokenizer_sha256, alone.tokenizer_sha256);
    EXPECT(t, "e\u0301", false, 0xC3, 0xA9);
    tokenizer_free(t);
    tokenizer_free(j);
    buf_release(&b);
    buf_release(&json);
}

static void refused(void **state)
{
    struct buf b = BUF_INIT(1 << 20);
    (void)state;
    /* Scores are not in a tokenizer.json; an unknown expression has no name. */
    buf_adds(&b, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},"
                 "\"merges\":[\"a b\"]}}");
    must_refuse(&b, REFERENCE_LLAMA_CPP, "only byte-level BPE");
    buf_reset(&b);
    json_of(&b, false,
            "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
            "\"pattern\":{\"Regex\":\"[aeiou]\"},\"behavior\":\"Isolated\",\"invert\":false},"
            "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}");
    must_refuse(&b, REFERENCE_LLAMA_CPP, "no tokenizer.ggml.pre");
    buf_release(&b);
}

/* A byte without a token: llama.cpp drops it behind the merges (it said so of Falcon's vocabulary,
 * which lacks some), Hugging Face before them. */
static void unknown_in_between(void **state)
{
    static const char *const tokens[] = {"a", "b", "ab"}, *const merge[] = {"a b"};
    struct buf b = BUF_INIT(4096);
    (void)state;
    gguf_head(&b, 3, 4);
    gguf_string(&b, "tokenizer.ggml.model", "gpt2");
    gguf_string(&b, "tokenizer.ggml.pre", "gpt-2");
    gguf_strings(&b, "tokenizer.ggml.tokens", tokens, 3);
    gguf_strings(&b, "tokenizer.ggml.merges", merge, 1);
    struct tokenizer *llama = open_as(&b, REFERENCE_FROM_FILE);
    buf_reset(&b);
    buf_adds(&b,
             "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"model\":{"
             "\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}");
    struct tokenizer *hf = open_as(&b, REFERENCE_FROM_FILE);
    EXPECT(llama, "axb", false, 0, 1);
    EXPECT(llama, "xabx", false, 2);
    EXPECT(hf, "axb", false, 2);
    tokenizer_free(llama);
    tokenizer_free(hf);
    buf_release(&b);
}

static void names(void **state)
{
    enum tokenizer_reference r = REFERENCE_LLAMA_CPP;
    (void)state;
    assert_int_equal(tokenizer_reference_parse(&r, NULL), 0);
    assert_int_equal(r, REFERENCE_FROM_FILE);
    assert_int_equal(tokenizer_reference_parse(&r, "llama.cpp"), 0);
    assert_int_equal(r, REFERENCE_LLAMA_CPP);
    assert_int_equal(tokenizer_reference_parse(&r, "huggingface"), 0);
    assert_int_equal(r, REFERENCE_HUGGINGFACE);
    assert_int_equal(tokenizer_reference_parse(&r, "llama"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_vocabulary), cmocka_unit_test(set_to_llama),
        cmocka_unit_test(embedded),       cmocka_unit_test(refused),
        cmocka_unit_test(names),          cmocka_unit_test(unknown_in_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
