/* The tokenizer's public face, on vocabularies small enough to work by hand. */
#include "support.h"

#include <pthread.h>
#include <string.h>

#include "base/utf8.h"

#include "../vocab/gguf_write.h"
#include "token/pieces.h"

#define BYTE_LEVEL(regex) \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":" regex "}"

/* A byte-level vocabulary: the 256 bytes by their place in the alphabet, then `more`. */
static void byte_vocab(struct buf *b, const char *more)
{
    buf_adds(b, "\"vocab\":{");
    for (unsigned byte = 0; byte < 256; byte++)
        buf_addf(b, "\"\\u%04x\":%u,", byte_level_char((uint8_t)byte), byte);
    buf_truncate(b, b->n - 1);
    buf_addf(b, "%s}", more);
}

/* around: members before the model; more: further tokens; flags and merges of the model. */
static struct tokenizer *make(const char *around, const char *more, const char *model)
{
    struct buf b = BUF_INIT(1 << 20);
    struct tokenizer *t = NULL;
    struct error err = {0};
    buf_addf(&b, "{%s,\"model\":{\"type\":\"BPE\",", around);
    byte_vocab(&b, more);
    buf_addf(&b, ",%s}}", model);
    if (tokenizer_open_bytes(&t, buf_str(&b), "test", &(struct tokenizer_options){0}, &err) < 0)
        show_error(&err);
    buf_release(&b);
    assert_non_null(t);
    return t;
}

static void expect(const struct tokenizer *t, struct str text, const struct encode_options *o,
                   const uint32_t *want, size_t n)
{
    struct token_ids ids = {0};
    struct error err = {0};
    size_t counted;
    if (tokenizer_encode(t, text, o, &ids, &err) < 0) {
        show_error(&err);
        fail();
    }
    for (size_t i = 0; i < ids.n && i < n; i++)
        if (ids.id[i] != want[i])
            fail_msg("id %zu of \"%.*s\" is %u, not %u", i, STR_ARG(text), ids.id[i], want[i]);
    if (ids.n != n)
        fail_msg("%zu ids of \"%.*s\", not %zu", ids.n, STR_ARG(text), n);
    assert_int_equal(tokenizer_count(t, text, o, &counted, &err), 0);
    assert_int_equal(counted, n);
    token_ids_release(&ids);
}

#define EXPECT(t, text, o, ...)                                    \
    do {                                                           \
        const uint32_t want_[] = {__VA_ARGS__};                    \
        expect(t, text, o, want_, sizeof want_ / sizeof want_[0]); \
    } while (0)

static const struct encode_options parsed = {0}, plain = {.special_text = SPECIAL_TEXT_PLAIN},
                                   special = {.add_special = true};

#define SPECIALS                                                               \
    "\"added_tokens\":["                                                       \
    "{\"id\":258,\"content\":\"<s>\",\"special\":true},"                       \
    "{\"id\":259,\"content\":\"<s>>\",\"special\":true},"                      \
    "{\"id\":260,\"content\":\"<u>\",\"special\":false,\"normalized\":false}," \
    "{\"id\":261,\"content\":\"<l>\",\"special\":true,\"lstrip\":true},"       \
    "{\"id\":262,\"content\":\"<r>\",\"special\":true,\"rstrip\":true},"       \
    "{\"id\":263,\"content\":\"<w>\",\"special\":true,\"single_word\":true}]"
#define AROUND SPECIALS ",\"pre_tokenizer\":" BYTE_LEVEL("true") ",\"decoder\":" BYTE_LEVEL("true")
#define MERGES "\"merges\":[\"a b\",\"ab c\"]"
#define MORE ",\"ab\":256,\"abc\":257"

static void merges_by_rank(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND, MORE, MERGES);
    EXPECT(t, STR("abcab"), &parsed, 257, 256);
    EXPECT(t, STR("aab c"), &parsed, 'a', 256, ' ', 'c');
    expect(t, STR(""), &parsed, NULL, 0);
    tokenizer_free(t);
}

static void added_tokens(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND, MORE, MERGES);
    EXPECT(t, STR("a<s>b"), &parsed, 'a', 258, 'b');
    EXPECT(t, STR("<s>>"), &parsed, 259); /* the longest */
    EXPECT(t, STR("<s>"), &plain, '<', 's', '>');
    EXPECT(t, STR("<u>"), &plain, 260); /* not special: matched all the same */
    EXPECT(t, STR("a \n<l>b"), &parsed, 'a', 261, 'b');
    EXPECT(t,
           STR("a<r> \xC2\xA0"
               "b"),
           &parsed, 'a', 262, 'b');
    EXPECT(t, STR("a <w> b"), &parsed, 'a', ' ', 263, ' ', 'b');
    EXPECT(t, STR("a<w>"), &parsed, 'a', '<', 'w', '>');
    EXPECT(t, STR("<r> <l>"), &parsed, 262, 261); /* the earlier rstrip wins */
    EXPECT(t, STR("<s"), &parsed, '<', 's');
    tokenizer_free(t);
}

static void template(void **state)
{
    (void)state;
    struct tokenizer *t =
        make(AROUND ",\"truncation\":{\"max_length\":1},\"padding\":{\"strategy\":{\"Fixed\":9}},"
                    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":["
                    "{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\","
                    "\"type_id\":0}},{\"SpecialToken\":{\"id\":\"<u>\",\"type_id\":0}}],"
                    "\"special_tokens\":{\"<s>\":{\"ids\":[258]},\"<u>\":{\"ids\":[260,260]}}}",
             MORE, MERGES);
    EXPECT(t, STR("abc"), &special, 258, 257, 260, 260);
    EXPECT(t, STR("a b"), &parsed, 'a', ' ', 'b'); /* truncation and padding shape nothing */
    tokenizer_free(t);
}

static void ignores_merges(void **state)
{
    (void)state;
    /* "bca" is reachable by no merge: only whole, and only with the flag. */
    struct tokenizer *t = make(AROUND, MORE ",\"bca\":258", MERGES ",\"ignore_merges\":true");
    EXPECT(t, STR("bca"), &parsed, 258);
    EXPECT(t, STR("bcab"), &parsed, 'b', 'c', 256);
    tokenizer_free(t);
    t = make(AROUND, MORE ",\"bca\":258", MERGES);
    EXPECT(t, STR("bca"), &parsed, 'b', 'c', 'a');
    tokenizer_free(t);
    /* A token spelled in other characters than the alphabet's stands for no bytes: the reference,
     * asked, gives the three of U+65E5. */
    t = make(AROUND, MORE ",\"\u65e5\":258", MERGES ",\"ignore_merges\":true");
    EXPECT(t, STR("\u65e5"), &parsed, 0xE6, 0x97, 0xA5);
    EXPECT(t, STR("ab\u65e5"), &parsed, 256, 0xE6, 0x97, 0xA5);
    tokenizer_free(t);
}

static void nfc(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND ",\"normalizer\":{\"type\":\"NFC\"}", MORE, MERGES);
    EXPECT(t, STR("xe\u0301"), &parsed, 'x', 0xC3, 0xA9);
    EXPECT(t, STR("\u1100\u1161\u11A8"), &parsed, 0xEA, 0xB0, 0x81); /* one Hangul syllable */
    EXPECT(t, STR("\u0344"), &parsed, 0xCC, 0x88, 0xCC, 0x81);       /* never composed again */
    tokenizer_free(t);
    t = make(AROUND, MORE, MERGES);
    EXPECT(t, STR("xe\u0301"), &parsed, 'x', 'e', 0xCC, 0x81);
    tokenizer_free(t);
}

static void offsets(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND ",\"normalizer\":{\"type\":\"NFC\"}", MORE, MERGES);
    struct token_ids ids = {.with_offsets = true};
    struct error err = {0};
    struct str text = STR("ab xe\u0301<s>abc");
    static const uint32_t want[][3] = {{256, 0, 2},  {' ', 2, 3},  {'x', 3, 4},  {0xC3, 4, 7},
                                       {0xA9, 4, 7}, {258, 7, 10}, {257, 10, 13}};
    assert_int_equal(tokenizer_encode(t, text, &parsed, &ids, &err), 0);
    assert_int_equal(ids.n, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(ids.id[i], want[i][0]);
        assert_int_equal(ids.from[i], want[i][1]);
        assert_int_equal(ids.to[i], want[i][2]);
    }
    token_ids_release(&ids);
    tokenizer_free(t);
}

static void ill_formed_text(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND, MORE, MERGES);
    struct token_ids ids = {0};
    struct error err = {0};
    assert_int_equal(tokenizer_encode(t, STR("ab\xFF\xC3(ab"), &parsed, &ids, &err), 0);
    assert_int_equal(ids.replaced, 2);
    assert_int_equal(ids.n, 1 + 3 + 3 + 1 + 1);
    assert_int_equal(ids.id[1], 0xEF);
    token_ids_release(&ids);
    ids.with_offsets = true;
    assert_int_equal(tokenizer_encode(t, STR("ab\xF0\x9F(ab"), &parsed, &ids, &err), 0);
    assert_int_equal(ids.n, 1 + 3 + 1 + 1);
    assert_int_equal(ids.from[1], 2);
    assert_int_equal(ids.to[3], 4);
    assert_int_equal(ids.from[5], 5);
    token_ids_release(&ids);
    tokenizer_free(t);
}

static void decodes(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND, MORE, MERGES);
    static const uint32_t ids[] = {258, 257, 0xC3, 0xA9, 0xC3, ' ', 260}, none[] = {5000};
    struct buf out = BUF_INIT(4096);
    struct error err = {0};
    assert_int_equal(tokenizer_decode(t, ids, 7, false, &out, &err), 0);
    assert_string_equal(out.p, "<s>abc\u00E9\uFFFD <u>");
    buf_reset(&out);
    assert_int_equal(tokenizer_decode(t, ids, 7, true, &out, &err), 0);
    assert_string_equal(out.p, "abc\u00E9\uFFFD <u>");
    assert_int_equal(tokenizer_decode(t, none, 1, true, &out, &err), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
    buf_reset(&out);
    assert_int_equal(tokenizer_piece(t, 257, &out), 0);
    assert_string_equal(out.p, "abc");
    assert_int_equal(tokenizer_piece(t, 5000, &out), -1);
    assert_int_equal(tokenizer_id_of(t, STR("<u>")), 260);
    assert_int_equal(tokenizer_id_of(t, STR("nothing")), -1);
    struct str text;
    uint32_t id;
    assert_int_equal(tokenizer_special(t, 1, &text, &id), 0);
    assert_int_equal(id, 259);
    assert_int_equal(tokenizer_special(t, 5, &text, &id), -1);
    buf_release(&out);
    tokenizer_free(t);
}

/* With ignore_merges a word that is a token is taken whole, but no part of a word is: "abcd" is
 * reached by no merge. */
static void no_part_is_taken_whole(void **state)
{
    struct tokenizer *t = make(AROUND, MORE ",\"abcd\":258", "\"ignore_merges\":true," MERGES);
    struct buf text = BUF_INIT(4096);
    struct token_ids ids = {0};
    struct error err = {0};
    (void)state;
    EXPECT(t, STR("abcd"), &parsed, 258);
    EXPECT(t, STR("abcd\xE0\xB8\x84"), &parsed, 257, 'd', 0xE0, 0xB8, 0x84);
    for (int i = 0; i < 60; i++)
        buf_adds(&text, "abcd\xE0\xB8\x84");
    assert_int_equal(tokenizer_encode(t, buf_str(&text), &parsed, &ids, &err), 0);
    assert_int_equal(ids.n, 300);
    token_ids_release(&ids);
    buf_release(&text);
    tokenizer_free(t);
}

/* Pieces as tokenizers 0.22.2 gives them (pre_tokenizers.UnicodeScripts of its Python package):
 * kana and U+30FC go with Han, what is of no script with what stands before it, or nowhere. */
static void scripts(void **state)
{
    struct tokenizer *t = NULL;
    struct error err = {0};
    (void)state;
    assert_int_equal(
        tokenizer_open_bytes(
            &t,
            STR("{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"},\"model\":{\"type\":"
                "\"WordLevel\","
                "\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"どこで生れ\":1,\"。\":2,\"Yes\":3,"
                "\"12 \":4,\"аб \":5,\"cd\":6,\"...\":7,\"Ω\":8,\"а\":9,\"ー漢\":10}}}"),
            "test", &(struct tokenizer_options){0}, &err),
        0);
    EXPECT(t, STR("どこで生れ。Yes"), &parsed, 1, 2, 3);
    EXPECT(t, STR(" 12 аб cd"), &parsed, 4, 5, 6);
    EXPECT(t, STR("..."), &parsed, 7);
    EXPECT(t, STR("Ωа。ー漢"), &parsed, 8, 9, 2, 10);
    expect(t, STR("  "), &parsed, NULL, 0);
    tokenizer_free(t);
}

/* What tokenizers 0.22 gives back for these tokens (decoders.CTC of its Python package). */
static void decodes_ctc(void **state)
{
    static const struct {
        const char *decoder, *text;
        uint32_t id[16];
        size_t n;
    } cases[] = {
        {"\"type\":\"CTC\"", "hello", {5, 5, 6, 7, 7, 8, 8, 5, 8, 9, 9, 9, 5}, 13},
        {"\"type\":\"CTC\"", "a. bb", {0, 1, 2, 2, 3, 4}, 6},
        {"\"type\":\"CTC\",\"cleanup\":false", "a .|bb", {0, 1, 2, 2, 3, 4}, 6},
        {"\"type\":\"CTC\",\"pad_token\":\"[P]\",\"word_delimiter_token\":\"_\"",
         "a a don't",
         {0, 10, 11, 0, 12},
         5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = BUF_INIT(4096), out = BUF_INIT(4096);
        struct tokenizer *t = NULL;
        struct error err = {0};
        buf_addf(&b,
                 "{\"decoder\":{%s},\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"a\","
                 "\"vocab\":{\"a\":0,\" .\":1,\"|\":2,\"b\":3,\"<pad>b\":4,\"<pad>\":5,\"h\":6,"
                 "\"e\":7,\"l\":8,\"o\":9,\"[P]\":10,\"_\":11,\" do not\":12}}}",
                 cases[i].decoder);
        assert_int_equal(
            tokenizer_open_bytes(&t, buf_str(&b), "test", &(struct tokenizer_options){0}, &err), 0);
        assert_int_equal(tokenizer_decode(t, cases[i].id, cases[i].n, false, &out, &err), 0);
        assert_string_equal(out.p, cases[i].text);
        tokenizer_free(t);
        buf_release(&b);
        buf_release(&out);
    }
}

/* Both spellings of merges, and a GGUF: other files, one vocabulary. */
static void digests(void **state)
{
    (void)state;
    struct tokenizer_info a, b;
    struct tokenizer *one = make(AROUND, MORE, MERGES);
    struct tokenizer *two = make(AROUND, MORE, "\"merges\":[[\"a\",\"b\"],[\"ab\",\"c\"]]");
    tokenizer_describe(one, &a);
    tokenizer_describe(two, &b);
    assert_string_not_equal(a.tokenizer_sha256, b.tokenizer_sha256);
    assert_string_equal(a.vocabulary_sha256, b.vocabulary_sha256);
    assert_string_equal(a.pipeline_sha256, b.pipeline_sha256);
    assert_string_equal(a.format, "tokenizer.json");
    assert_string_equal(a.pre, "gpt2");
    assert_int_equal(a.vocab_size, 264);
    tokenizer_free(two);
    /* The merges in another order are another vocabulary, the pipeline is the same. */
    two = make(AROUND, MORE ",\"bc\":258", "\"merges\":[\"a b\",\"ab c\",\"b c\"]");
    struct tokenizer *three =
        make(AROUND, MORE ",\"bc\":258", "\"merges\":[\"b c\",\"a b\",\"ab c\"]");
    tokenizer_describe(two, &a);
    tokenizer_describe(three, &b);
    assert_string_not_equal(a.vocabulary_sha256, b.vocabulary_sha256);
    assert_string_equal(a.pipeline_sha256, b.pipeline_sha256);
    tokenizer_free(two);
    two = make(AROUND ",\"normalizer\":{\"type\":\"NFC\"}", MORE, MERGES);
    tokenizer_describe(one, &a);
    tokenizer_describe(two, &b);
    assert_string_equal(a.vocabulary_sha256, b.vocabulary_sha256);
    assert_string_not_equal(a.pipeline_sha256, b.pipeline_sha256);
    tokenizer_free(one);
    tokenizer_free(two);
    tokenizer_free(three);
}

/* The same vocabulary as a GGUF: 256 bytes, ab, abc, six added tokens, and padding. */
static struct tokenizer *make_gguf(void)
{
    static const char *const rest[] = {"ab",  "abc", "<s>", "<s>>",     "<u>",
                                       "<l>", "<r>", "<w>", "[PAD264]", "[PAD265]"};
    static const char *const merges[] = {"a b", "ab c"};
    static const uint32_t types[] = {1, 1, 3, 3, 4, 3, 3, 3, 5, 5};
    struct buf b = BUF_INIT(1 << 20), spelled = BUF_INIT(16);
    struct tokenizer *t = NULL;
    struct error err = {0};
    gguf_head(&b, 3, 5);
    gguf_string(&b, "tokenizer.ggml.model", "gpt2");
    gguf_string(&b, "tokenizer.ggml.pre", "gpt-2");
    gguf_array(&b, "tokenizer.ggml.tokens", 8, 266);
    for (unsigned byte = 0; byte < 256; byte++) {
        buf_reset(&spelled);
        utf8_add(&spelled, byte_level_char((uint8_t)byte));
        put_str(&b, spelled.p);
    }
    for (size_t i = 0; i < 10; i++)
        put_str(&b, rest[i]);
    gguf_array(&b, "tokenizer.ggml.token_type", 5, 266);
    for (size_t i = 0; i < 266; i++)
        put(&b, i < 256 ? 1 : types[i - 256], 4);
    gguf_strings(&b, "tokenizer.ggml.merges", merges, 2);
    if (tokenizer_open_bytes(&t, buf_str(&b), "test", &(struct tokenizer_options){0}, &err) < 0)
        show_error(&err);
    buf_release(&b);
    buf_release(&spelled);
    assert_non_null(t);
    return t;
}

static void gguf_is_the_same_vocabulary(void **state)
{
    (void)state;
    struct tokenizer_info a, b;
    struct tokenizer *json = make(AROUND, MORE, MERGES), *gguf = make_gguf();
    tokenizer_describe(json, &a);
    tokenizer_describe(gguf, &b);
    assert_string_equal(a.vocabulary_sha256, b.vocabulary_sha256);
    assert_string_not_equal(a.pipeline_sha256, b.pipeline_sha256); /* another reference */
    assert_string_equal(b.reference, "llama.cpp");
    assert_int_equal(b.vocab_size, 266);
    assert_int_equal(b.padding, 2);
    /* USER_DEFINED is one id even when special tokens are plain; CONTROL is not. */
    EXPECT(gguf, STR("abc<u><s>"), &plain, 257, 260, '<', 's', '>');
    EXPECT(gguf, STR("abc<u><s>"), &parsed, 257, 260, 258);
    tokenizer_free(json);
    tokenizer_free(gguf);
}

/* A word far beyond the short-word path gives what definition demands: merges by rank, leftmost. */
static void long_words(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND, MORE, MERGES);
    struct buf text = BUF_INIT(1 << 16);
    struct token_ids ids = {0};
    struct error err = {0};
    for (int i = 0; i < 5000; i++)
        buf_adds(&text, i % 3 ? "abc" : "ab");
    assert_int_equal(tokenizer_encode(t, buf_str(&text), &parsed, &ids, &err), 0);
    assert_int_equal(ids.n, 5000);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(ids.id[i], i % 3 ? 257 : 256);
    token_ids_release(&ids);
    buf_release(&text);
    tokenizer_free(t);
}

/* A vocabulary of characters without an unknown token drops what it does not know, as the reference
 * does; a word may vanish whole, before there is any id. */
static void unknown_is_dropped(void **state)
{
    struct tokenizer *t = NULL;
    struct error err = {0};
    (void)state;
    assert_int_equal(tokenizer_open_bytes(
                         &t,
                         STR("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},"
                             "\"merges\":[\"a b\"]}}"),
                         "test", &(struct tokenizer_options){0}, &err),
                     0);
    expect(t, STR("xyz"), &parsed, NULL, 0);
    /* What is left stands side by side, and merges. */
    EXPECT(t, STR("a long text of nothing else but unknown x y z letters"), &parsed, 2);
    EXPECT(t, STR("xaby"), &parsed, 2);
    tokenizer_free(t);
}

static void *encode_often(void *p)
{
    const struct tokenizer *t = p;
    struct token_ids ids = {0};
    struct error err = {0};
    size_t bad = 0;
    for (int i = 0; i < 500; i++)
        bad += tokenizer_encode(t, STR("abcab <s> x"), &parsed, &ids, &err) < 0 || ids.n != 6;
    token_ids_release(&ids);
    return bad ? p : NULL;
}

static void threads(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND, MORE, MERGES);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, encode_often, t), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        assert_null(result);
    }
    tokenizer_free(t);
}

/* What is remembered of a word is what the word becomes: more words than the cache has lines, again
 * and again, against the same text with offsets, for which nothing is remembered. */
static void remembered_words(void **state)
{
    (void)state;
    struct tokenizer *t = make(AROUND, MORE, MERGES);
    struct buf text = BUF_INIT(8 << 20);
    struct token_ids ids = {0}, placed = {.with_offsets = true};
    struct error err = {0};
    uint32_t random = 4711;
    for (unsigned i = 0; i < 300000; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t word = i % 3 ? random >> 14 : i; /* some of them often */
        for (unsigned n = word % 23; n > 0; n--, word = word / 3 + n * 7919)
            buf_addc(&text, "abcAB.1"[word % 7]);
        buf_addc(&text, i % 50 ? ' ' : '\n');
    }
    assert_int_equal(tokenizer_encode(t, buf_str(&text), &parsed, &placed, &err), 0);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(tokenizer_encode(t, buf_str(&text), &parsed, &ids, &err), 0);
        assert_int_equal(ids.n, placed.n);
        assert_memory_equal(ids.id, placed.id, ids.n * sizeof ids.id[0]);
    }
    size_t counted;
    assert_int_equal(tokenizer_count(t, buf_str(&text), &parsed, &counted, &err), 0);
    assert_int_equal(counted, ids.n);
    token_ids_release(&ids);
    token_ids_release(&placed);
    buf_release(&text);
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_by_rank),
        cmocka_unit_test(added_tokens),
        cmocka_unit_test(template),
        cmocka_unit_test(ignores_merges),
        cmocka_unit_test(remembered_words),
        cmocka_unit_test(nfc),
        cmocka_unit_test(offsets),
        cmocka_unit_test(ill_formed_text),
        cmocka_unit_test(decodes),
        cmocka_unit_test(decodes_ctc),
        cmocka_unit_test(no_part_is_taken_whole),
        cmocka_unit_test(scripts),
        cmocka_unit_test(digests),
        cmocka_unit_test(gguf_is_the_same_vocabulary),
        cmocka_unit_test(long_words),
        cmocka_unit_test(unknown_is_dropped),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
