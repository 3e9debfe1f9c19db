/* Reading vocabularies: what a file says, and what hostile files get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/buf.h"
#include "gguf_write.h"
#include "vocab/vocab.h"

static struct vocab *must_open(struct str bytes)
{
    struct vocab *v = NULL;
    struct error err = {0};
    if (vocab_open(&v, bytes, "test", &err) < 0)
        fail_msg("%s", err.message);
    return v;
}

/* The bytes must be refused with this kind and these words, with or without a place. */
static void must_refuse(struct str bytes, enum error_kind kind, const char *words, bool placed)
{
    struct vocab *v = NULL;
    struct error err = {0};
    if (vocab_open(&v, bytes, "test", &err) == 0)
        fail_msg("taken, not refused: %.*s", STR_ARG(str_first(bytes, 200)));
    if (!strstr(err.message, words) || err.kind != kind)
        fail_msg("said (kind %d) \"%s\", not \"%s\"", (int)err.kind, err.message, words);
    assert_null(v);
    assert_string_equal(err.file, "test");
    assert_true(err.remedy[0] != '\0');
    if (placed)
        assert_true(err.offset > 0);
}

#define HEAD "{\"version\":\"1.0\",\"added_tokens\":[],\"model\":{\"type\":\"BPE\","

static void both_spellings_of_merges(void **state)
{
    (void)state;
    static const char *const merges[] = {"[\"a b\",\"ab c\"]", "[[\"a\",\"b\"],[\"ab\",\"c\"]]"};
    for (size_t i = 0; i < 2; i++) {
        struct buf b = BUF_INIT(4096);
        buf_addf(&b, HEAD "\"vocab\":{\"c\":2,\"a\":0,\"b\":1,\"ab\":5,\"abc\":4},\"merges\":%s}}",
                 merges[i]);
        struct vocab *v = must_open(buf_str(&b));
        assert_int_equal(v->n, 6);
        assert_null(v->tokens[3].text.p); /* a hole */
        assert_int_equal(v->merge_n, 2);
        assert_int_equal(v->merges[1].left, 5);
        assert_int_equal(v->merges[1].right, 2);
        assert_int_equal(v->merges[1].result, 4);
        assert_int_equal(vocab_find(v, STR("abc")), 4);
        assert_int_equal(vocab_find(v, STR("abcd")), VOCAB_NONE);
        vocab_free(v);
        buf_release(&b);
    }
}

#define LETTERS 26u

/* Every letter, every pair of two, and a merge for each pair, "a##b" where a prefix is dropped. */
static void pairs(struct buf *vocab, struct buf *merges, const char *prefix)
{
    for (unsigned i = 0; i < LETTERS; i++)
        buf_addf(vocab, "\"%c\":%u,", 'a' + i, i);
    for (unsigned i = 0; i < LETTERS && *prefix; i++)
        buf_addf(vocab, "\"%s%c\":%u,", prefix, 'a' + i, LETTERS + i);
    for (unsigned i = 0; i < LETTERS * LETTERS; i++) {
        unsigned first = 'a' + i / LETTERS, second = 'a' + i % LETTERS;
        buf_addf(vocab, "%s\"%c%c\":%u", i ? "," : "", first, second,
                 LETTERS * (*prefix ? 2 : 1) + i);
        buf_addf(merges, "%s\"%c %s%c\"", i ? "," : "", first, prefix, second);
    }
}

/* Merges are resolved as they come, or kept until they can be: the same comes of it. */
static void merges_in_any_order(void **state)
{
    (void)state;
    static const char *const orders[] = {
        /* as the reference writes it */
        "{\"model\":{\"type\":\"BPE\",\"continuing_subword_prefix\":%1$s,\"vocab\":{%2$s},"
        "\"merges\":[%3$s]},\"added_tokens\":[%4$s]}",
        "{\"added_tokens\":[%4$s],\"model\":{\"merges\":[%3$s],\"vocab\":{%2$s},"
        "\"continuing_subword_prefix\":%1$s,\"type\":\"BPE\"}}",
        "{\"added_tokens\":[%4$s],\"model\":{\"type\":\"BPE\",\"vocab\":{%2$s},"
        "\"merges\":[%3$s],\"continuing_subword_prefix\":%1$s}}",
        "{\"added_tokens\":[%4$s],\"model\":{\"continuing_subword_prefix\":%1$s,\"vocab\":{%2$s},"
        "\"merges\":[%3$s],\"type\":\"BPE\"}}",
    };
    static const struct {
        const char *spelled, *prefix;
    } prefixes[] = {{"null", ""}, {"\"##\"", "##"}};
    for (size_t i = 0; i < 8; i++) {
        struct buf text = BUF_INIT(1 << 20), vocab = BUF_INIT(1 << 20), merges = BUF_INIT(1 << 20);
        struct buf added = BUF_INIT(1 << 20);
        const char *prefix = prefixes[i % 2].prefix;
        unsigned first = LETTERS * (*prefix ? 2 : 1); /* id of "aa" */
        pairs(&vocab, &merges, prefix);
        for (unsigned k = 0; k < 2000; k++) /* more than the index of the vocabulary has room for */
            buf_addf(&added, "%s{\"id\":%u,\"content\":\"<%u>\"}", k ? "," : "", 2000 + k, k);
        buf_addf(&text, orders[i / 2], prefixes[i % 2].spelled, vocab.p, merges.p, added.p);
        struct vocab *v = must_open(buf_str(&text));
        assert_int_equal(v->merge_n, LETTERS * LETTERS);
        for (unsigned k = 0; k < v->merge_n; k++) {
            assert_int_equal(v->merges[k].left, k / LETTERS);
            assert_int_equal(v->merges[k].right, k % LETTERS + (*prefix ? LETTERS : 0));
            assert_int_equal(v->merges[k].result, first + k);
        }
        assert_int_equal(v->added_n, 2000);
        for (unsigned k = 0; k < 2000; k++)
            assert_int_equal(vocab_find(v, v->added[k].text), v->added[k].id);
        assert_int_equal(vocab_find(v, STR("zz")), first + LETTERS * LETTERS - 1);
        vocab_free(v);
        buf_release(&text);
        buf_release(&vocab);
        buf_release(&merges);
        buf_release(&added);
    }
}

/* What two parts make may be as long as a token, and no longer; so may one part. */
static void longest_merge(void **state)
{
    (void)state;
    static const struct {
        size_t left, right;
        enum error_kind kind;
        const char *words;
    } cases[] = {
        {65534, 1, ERROR_INPUT, "which is no token"},
        {65535, 1, ERROR_LIMIT, "makes a token of 65536 bytes"},
        {1, 65536, ERROR_LIMIT, "a part of 65536 bytes"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct buf text = BUF_INIT(1 << 20);
        buf_adds(&text, "{\"model\":{\"type\":\"BPE\",");
        buf_adds(&text, i % 2 ? "\"continuing_subword_prefix\":null," : "");
        buf_adds(&text, "\"vocab\":{\"b\":0,\"bb\":1},\"merges\":[\"b b\",\"");
        buf_pad(&text, 'a', cases[i / 2].left);
        buf_addc(&text, ' ');
        buf_pad(&text, 'b', cases[i / 2].right);
        buf_adds(&text, "\"]}}");
        must_refuse(buf_str(&text), cases[i / 2].kind, cases[i / 2].words, true);
        buf_release(&text);
    }
}

/* merges may stand before the vocabulary they speak of. */
static void merges_first(void **state)
{
    (void)state;
    struct vocab *v = must_open(STR(
        HEAD "\"merges\":[\"a b\"],\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"unk_token\":\"a\"}}"));
    assert_int_equal(v->merges[0].result, 2);
    assert_int_equal(v->unk, 0);
    vocab_free(v);
}

/* Ids of added tokens: the model's own, else counted up, as the reference does. */
static void added_ids(void **state)
{
    (void)state;
    struct vocab *v = must_open(STR(
        "{\"added_tokens\":[{\"id\":9,\"content\":\"<x>\",\"special\":true},"
        "{\"id\":1,\"content\":\"b\",\"normalized\":true},{\"id\":77,\"content\":\"<y>\"},"
        "{\"id\":9,\"content\":\"<x>\",\"special\":true,\"rstrip\":true}],"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}"));
    assert_int_equal(v->added_n, 3);
    assert_int_equal(v->added[0].id, 3);
    assert_true(v->added[0].special && v->added[0].rstrip && !v->added[0].normalized);
    assert_int_equal(v->added[1].id, 1);
    assert_true(v->added[1].normalized);
    assert_int_equal(v->added[2].id, 4);
    assert_true(v->tokens[3].added_only && !v->tokens[1].added_only);
    assert_int_equal(vocab_find(v, STR("<y>")), 4);
    vocab_free(v);
}

static void padding(void **state)
{
    (void)state;
    struct vocab *v = must_open(STR(
        HEAD "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"[PAD3]\":3,\"c\":4,\"[PAD5]\":5,\"[PAD6]\":6},"
             "\"merges\":[\"a b\"]}}"));
    assert_int_equal(v->padding, 2);
    assert_true(vocab_is_padding(STR("[PAD3]"), 3));
    assert_false(vocab_is_padding(STR("[PAD3]"), 4));
    assert_false(vocab_is_padding(STR("[PAD]"), 0));
    vocab_free(v);
}

static const struct {
    const char *text;
    enum error_kind kind;
    const char *words;
    bool placed;
} hostile[] = {
    {"", ERROR_INPUT, "empty", true},
    {"[]", ERROR_INPUT, "neither", true},
    {"{}", ERROR_INPUT, "not a tokenizer.json", false},
    {"{\"model\":{\"type\":\"BPE\"", ERROR_INPUT, "ends too early", true},
    {"{\"model\":{\"type\":\"BPE\",\"merges\":[]}}", ERROR_INPUT, "no vocab", false},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[]}}", ERROR_INPUT, "merges is empty", false},
    {HEAD "\"vocab\":{\"a\":0}}}", ERROR_INPUT, "merges is empty", false},
    {HEAD "\"vocab\":{\"a\":0,\"b\":0}}}", ERROR_INPUT, "given twice", true},
    {HEAD "\"vocab\":{\"a\":0,\"a\":1},\"merges\":[\"a a\"]}}", ERROR_INPUT, "two ids", false},
    {HEAD "\"vocab\":{\"a\":-1}}}", ERROR_INPUT, "no id but -1", true},
    {HEAD "\"vocab\":{\"a\":1.5}}}", ERROR_INPUT, "no id but 1.5", true},
    {HEAD "\"vocab\":{\"a\":2097150}}}", ERROR_LIMIT, "2097150", true},
    {HEAD "\"vocab\":{\"a\":9223372036854775808}}}", ERROR_LIMIT, "9223372036854775808", true},
    {HEAD "\"vocab\":{\"a\":{}}}}", ERROR_INPUT, "does not belong into model.vocab", true},
    {HEAD "\"vocab\":null}}", ERROR_INPUT, "null does not belong into model.vocab", true},
    {HEAD "\"vocab\":{\"a\":0},\"vocab\":{}}}", ERROR_INPUT, "given twice", true},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[\"a\"]}}", ERROR_INPUT, "not two parts", true},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[\"a a a\"]}}", ERROR_INPUT, "not two parts", true},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}}", ERROR_INPUT, "two parts", true},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[[\"a\",\"a\",\"a\"]]}}", ERROR_INPUT, "two parts", true},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[[\"a\",[]]]}}", ERROR_INPUT, "belong", true},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[[\"a\",\"\"]]}}", ERROR_INPUT, "empty part", true},
    {HEAD "\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}", ERROR_INPUT, "which is no token", true},
    {HEAD "\"vocab\":{\"a\":0,\"b\":1},\"merges\":[\"a b\"]}}", ERROR_INPUT,
     "needs \"ab\", which is no token", true},
    {"{\"model\":{\"type\":\"Magic\",\"vocab\":{\"a\":0}}}", ERROR_UNSUPPORTED, "Magic", false},
    {"{\"model\":{\"vocab\":{\"a\":0}}}", ERROR_UNSUPPORTED, "type", false},
    {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0.5,1]]}}", ERROR_INPUT, "belong", true},
    {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", ERROR_INPUT, "two parts", true},
    {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":1}}", ERROR_INPUT, "unk_id",
     false},
    {"{\"added_tokens\":[{\"id\":1}],\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0}}}",
     ERROR_INPUT, "added token 0", false},
};

static void hostile_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++)
        must_refuse(str_of(hostile[i].text), hostile[i].kind, hostile[i].words, hostile[i].placed);
}

static void deep_json(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    buf_adds(&b, "{\"x\":");
    buf_pad(&b, '[', 10000);
    must_refuse(buf_str(&b), ERROR_LIMIT, "nested deeper", true);
    buf_release(&b);
}

/* A token at the longest length is taken, one byte more is refused. */
static void longest_token(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct buf b = BUF_INIT(1 << 20);
        buf_adds(&b, "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"");
        buf_pad(&b, 'a', VOCAB_TOKEN_BYTES_MAX + more);
        buf_adds(&b, "\":0}}}");
        if (more)
            must_refuse(buf_str(&b), ERROR_LIMIT, "token text", true);
        else
            vocab_free(must_open(buf_str(&b)));
        buf_release(&b);
    }
}

#define K "tokenizer.ggml."
static const char *const tokens[] = {"a", "b", "ab", "<s>", "<u>", "[PAD5]"};
static const char *const merges[] = {"a b"};

static void gguf_types(struct buf *b, const uint32_t *types, size_t n)
{
    gguf_array(b, K "token_type", 5, n);
    for (size_t i = 0; i < n; i++)
        put(b, types[i], 4);
}

static void reads_gguf(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 16);
    const uint32_t types[] = {1, 1, 1, 3, 4, 5};
    gguf_head(&b, 3, 8);
    gguf_string(&b, "general.name", "test");
    gguf_types(&b, types, 6); /* lists may come before the tokens */
    gguf_string(&b, K "model", "gpt2");
    gguf_string(&b, K "pre", "qwen2");
    gguf_strings(&b, K "merges", merges, 1);
    gguf_strings(&b, K "tokens", tokens, 6);
    gguf_string(&b, "tokenizer.chat_template", "{{ x }}");
    gguf_u32(&b, K "bos_token_id", 3);
    size_t end = b.n;
    buf_adds(&b, "weights");
    struct vocab *v = must_open(buf_str(&b));
    assert_int_equal(v->format, VOCAB_GGUF);
    assert_int_equal(v->n, 6);
    assert_int_equal(v->padding, 1);
    assert_int_equal(v->merges[0].result, 2);
    assert_int_equal(v->gguf.bos, 3);
    assert_int_equal(v->gguf.eos, VOCAB_NONE);
    assert_int_equal(v->added_n, 2);
    assert_true(v->added[0].special && v->added[0].id == 3);
    assert_true(!v->added[1].special && v->added[1].id == 4);
    assert_true(str_eq(v->chat_template, STR("{{ x }}")));
    assert_int_equal(v->read, end);
    vocab_free(v);
    /* Cut off anywhere, it is refused and says where. */
    for (size_t n = 4; n < end; n++)
        must_refuse(str_first(buf_str(&b), n), ERROR_INPUT, "", true);
    buf_release(&b);
}

static void refuse(struct buf *b, enum error_kind kind, const char *words, bool placed)
{
    must_refuse(buf_str(b), kind, words, placed);
    buf_release(b);
}

static void hostile_gguf(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    gguf_head(&b, 1, 0);
    refuse(&b, ERROR_UNSUPPORTED, "version 1", true);
    gguf_head(&b, 0x03000000, 0);
    refuse(&b, ERROR_UNSUPPORTED, "big-endian", true);
    gguf_head(&b, 3, UINT64_C(1) << 63);
    refuse(&b, ERROR_LIMIT, "GGUF keys", true);
    gguf_head(&b, 3, 0);
    refuse(&b, ERROR_INPUT, K "tokens", false);
    gguf_head(&b, 3, 1);
    put(&b, UINT64_MAX, 8);
    refuse(&b, ERROR_INPUT, "claims 18446744073709551615 bytes", true);
    gguf_head(&b, 3, 1);
    put_str(&b, "k");
    put(&b, 13, 4);
    refuse(&b, ERROR_INPUT, "unknown GGUF value type 13", true);
    gguf_head(&b, 3, 1);
    gguf_array(&b, K "tokens", 8, UINT64_C(1) << 63);
    refuse(&b, ERROR_INPUT, "claims 9223372036854775808 values", true);
    gguf_head(&b, 3, 1);
    gguf_array(&b, "k", 9, 1);
    for (int i = 0; i < 8; i++) { /* arrays of arrays of arrays */
        put(&b, 9, 4);
        put(&b, 1, 8);
    }
    buf_pad(&b, '\0', 64);
    refuse(&b, ERROR_LIMIT, "nested deeper", true);
    gguf_head(&b, 3, 2);
    gguf_string(&b, K "model", "magic");
    gguf_strings(&b, K "tokens", tokens, 6);
    refuse(&b, ERROR_UNSUPPORTED, "\"magic\"", false);
    gguf_head(&b, 3, 2);
    gguf_string(&b, K "model", "gpt2");
    gguf_strings(&b, K "tokens", tokens, 6);
    refuse(&b, ERROR_INPUT, "merges is empty", false);
}

static void wrong_lists(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    const uint32_t types[] = {1, 1, 1, 9};
    static const char *const bad[] = {"ab"};
    gguf_head(&b, 3, 3);
    gguf_string(&b, K "model", "gpt2");
    gguf_strings(&b, K "tokens", tokens, 6);
    gguf_types(&b, types, 3);
    refuse(&b, ERROR_INPUT, "3 token types for 6 tokens", false);
    gguf_head(&b, 3, 2);
    gguf_strings(&b, K "tokens", tokens, 6);
    gguf_types(&b, types, 4);
    refuse(&b, ERROR_INPUT, "unknown type 9", true);
    gguf_head(&b, 3, 3);
    gguf_string(&b, K "model", "gpt2");
    gguf_strings(&b, K "tokens", tokens, 6);
    gguf_u32(&b, K "eos_token_id", 6);
    refuse(&b, ERROR_INPUT, "eos_token_id is 6", false);
    gguf_head(&b, 3, 2);
    gguf_strings(&b, K "tokens", tokens, 6);
    gguf_strings(&b, K "tokens", tokens, 6);
    refuse(&b, ERROR_INPUT, "given twice", true);
    gguf_head(&b, 3, 3);
    gguf_string(&b, K "model", "gpt2");
    gguf_strings(&b, K "tokens", tokens, 6);
    gguf_strings(&b, K "merges", bad, 1);
    refuse(&b, ERROR_INPUT, "not two parts", true);
}

/* tiktoken's lines: what is wrong is named with its place. */
static void hostile_tiktoken(void **state)
{
    struct buf b = BUF_INIT(1 << 20);
    (void)state;
    must_refuse(STR("IQ== 0\nIg== x\n"), ERROR_INPUT, "is no token with its rank", true);
    must_refuse(STR("IQ== 0\nI*== 1\n"), ERROR_INPUT, "is not base64", true);
    must_refuse(STR("IQ== 0\n== 1\n"), ERROR_INPUT, "is not base64", true);
    must_refuse(STR("IQ== 0\nIg== 0\n"), ERROR_INPUT, "given twice", true);
    must_refuse(STR("IQ== 0\nIg== 99999999999\n"), ERROR_LIMIT, "a rank of 99999999999", true);
    must_refuse(STR("IQ== 0\nIg== -1\n"), ERROR_INPUT, "is no token with its rank", true);
    must_refuse(STR("IQ== 0\nIg== 1\n"), ERROR_UNSUPPORTED, "2 ranks", false);
    /* 1,024 bytes are a token (and two ranks no encoding), 1,025 are not. */
    for (size_t n = VOCAB_TIKTOKEN_BYTES_MAX; n <= VOCAB_TIKTOKEN_BYTES_MAX + 1; n++) {
        struct buf raw = BUF_INIT(4096);
        for (size_t i = 0; i < n; i++)
            buf_addc(&raw, 'a');
        buf_reset(&b);
        buf_adds(&b, "IQ== 0\n");
        base64_add(&b, buf_str(&raw));
        buf_adds(&b, " 1\n");
        if (n == VOCAB_TIKTOKEN_BYTES_MAX)
            must_refuse(buf_str(&b), ERROR_UNSUPPORTED, "2 ranks", false);
        else
            must_refuse(buf_str(&b), ERROR_LIMIT, "the limit is 1024 bytes", true);
        buf_release(&raw);
    }
    buf_release(&b);
}

/* Protocol buffers that lie: a length beyond the file, a number without end, pieces that may not
 * be. */
static void hostile_sentencepiece(void **state)
{
    (void)state;
#define UNK "\x0A\x09\x0A\x05<unk>\x18\x02"
    must_refuse(STR(UNK "\x0A\x7F\x0A\x01x"), ERROR_INPUT, "claims 127 bytes; 3 are left", true);
    must_refuse(STR(UNK "\x0A\x07\x0A\xFF\xFF\xFF\xFF\x0Fx"), ERROR_INPUT, "claims 4294967295",
                true);
    must_refuse(STR(UNK "\x12\x0B\x18\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"), ERROR_INPUT,
                "longer than 64 bits", true);
    must_refuse(STR(UNK "\x12\x02\x18\xFF"), ERROR_INPUT, "ends inside a number", true);
    must_refuse(STR(UNK "\x0A\x02\x0A\x00"), ERROR_INPUT, "a piece is empty", true);
    must_refuse(STR(UNK "\x0A\x04\x0A\x02x\x00"), ERROR_INPUT, "holds NUL", true);
    must_refuse(STR(UNK "\x0A\x03\x0A\x01\xFF"), ERROR_INPUT, "not UTF-8", true);
    must_refuse(STR(UNK "\x0A\x05\x0A\x01x\x18\x07"), ERROR_INPUT, "of a type", true);
    must_refuse(STR(UNK "\x0A\x03\x0A\x01x\x0A\x03\x0A\x01x"), ERROR_INPUT, "has two ids", false);
    must_refuse(STR(UNK UNK), ERROR_INPUT, "has two ids", false);
    must_refuse(STR("\x0A\x03\x0A\x01x"), ERROR_INPUT, "no unknown piece", false);
    must_refuse(STR(UNK "\x0A\x0A\x0A\x06<0x41>\x18\x06"), ERROR_INPUT, "1 pieces are bytes",
                false);
    must_refuse(STR(UNK "\x12\x02\x18\x03"), ERROR_UNSUPPORTED, "of the kind \"word\"", false);
    must_refuse(STR(UNK "\x12\x02\x18\x09"), ERROR_INPUT, "of an unknown kind (9)", false);
    must_refuse(STR(UNK "\x0B"), ERROR_INPUT, "of a kind that is not known", true);
    must_refuse(STR(UNK "\x00"), ERROR_INPUT, "no number that may be", true);
#undef UNK
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_tiktoken),
        cmocka_unit_test(hostile_sentencepiece),
        cmocka_unit_test(both_spellings_of_merges),
        cmocka_unit_test(merges_in_any_order),
        cmocka_unit_test(longest_merge),
        cmocka_unit_test(merges_first),
        cmocka_unit_test(added_ids),
        cmocka_unit_test(padding),
        cmocka_unit_test(hostile_json),
        cmocka_unit_test(deep_json),
        cmocka_unit_test(longest_token),
        cmocka_unit_test(reads_gguf),
        cmocka_unit_test(hostile_gguf),
        cmocka_unit_test(wrong_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
