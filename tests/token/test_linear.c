/*
 * No input is quadratic: ten times the text costs at most twelve times as much.
 *
 * What is counted is not time but basic blocks: this program is linked with token/ built once more
 * with -fsanitize-coverage=trace-pc, which calls the function below at each of them. (What the C
 * library does in memcpy, memchr and their like is not counted.)
 */
#include "support.h"

#include <string.h>

#include "token/pieces.h"

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

#define SMALL ((size_t)100 * 1000)

static const char *const units[] = {
    "ab",
    "a",
    " ",
    "\n",
    "a ",
    "aB",
    "1",
    "!",
    "\r\n ",
    "<s",
    "\xE6\x97\xA5",
    "e\xCC\x81",
    "\xCC\x81\xCC\xA3",
    "\xFF",
};

static uint64_t cost(const struct tokenizer *t, const char *unit, size_t n, bool with_offsets)
{
    struct buf text = BUF_INIT(11 * SMALL);
    struct token_ids ids = {.with_offsets = with_offsets};
    struct error err = {0};
    while (text.n < n)
        buf_adds(&text, unit);
    blocks = 0;
    if (tokenizer_encode(t, buf_str(&text), &(struct encode_options){0}, &ids, &err) < 0) {
        show_error(&err);
        fail();
    }
    uint64_t took = blocks;
    token_ids_release(&ids);
    buf_release(&text);
    return took;
}

static void check(const struct tokenizer *t, const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        for (int with_offsets = 0; with_offsets < 2; with_offsets++) {
            size_t n = with_offsets ? SMALL / 5 : SMALL;
            uint64_t small = cost(t, units[i], n, with_offsets != 0);
            uint64_t big = cost(t, units[i], 10 * n, with_offsets != 0);
            assert_true(small > n / 100);
            if (big > 12 * small)
                fail_msg(
                    "%s, \"%s\" again and again: %llu blocks for %zu KB, %llu for ten times it",
                    name, units[i], (unsigned long long)small, n / 1000, (unsigned long long)big);
        }
}

static void check_json(const char *name, const char *text)
{
    struct tokenizer *t = NULL;
    struct error err = {0};
    if (tokenizer_open_bytes(&t, str_of(text), name, &(struct tokenizer_options){0}, &err) < 0) {
        show_error(&err);
        fail();
    }
    check(t, name);
    tokenizer_free(t);
}

static void demo(void **state)
{
    (void)state;
    char path[1024];
    const char *source = getenv("TALLY_SOURCE");
    snprintf(path, sizeof path, "%s/examples/demo/tokenizer.json", source ? source : ".");
    struct tokenizer *t = open_path(path);
    check(t, "the demo's");
    tokenizer_free(t);
}

/* A whole text is one word; merges make longer and longer tokens. */
#define GROWING                                                                            \
    "\"a\":256,\"b\":257,\"ab\":258,\"abab\":259,\"aa\":260,\"aaaa\":261,\"\\u2581\":262," \
    "\"\\u2581\\u2581\":263,\"\\u65e5\":264,\"\\u65e5\\u65e5\":265,\" \":266,\"  \":267"
#define GROWING_MERGES "\"a b\",\"ab ab\",\"a a\",\"aa aa\",\"\\u2581 \\u2581\",\"\\u65e5 \\u65e5\""

static void add_byte_tokens(struct buf *b)
{
    for (unsigned byte = 0; byte < 256; byte++)
        buf_addf(b, "\"<0x%02X>\":%u,", byte, byte);
}

static void characters(void **state)
{
    (void)state;
    static const char *const normalizers[] = {
        "null",
        "{\"type\":\"NFC\"}",
        "{\"type\":\"NFKD\"}",
        ("{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"\\u2581\"},"
         "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\\u2581\"}]}"),
        "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a+b\"},\"content\":\"a\"}",
    };
    for (size_t i = 0; i < sizeof normalizers / sizeof normalizers[0]; i++) {
        struct buf b = BUF_INIT(1 << 20);
        buf_addf(&b,
                 "{\"normalizer\":%s,\"added_tokens\":[{\"id\":268,\"content\":\"<s>\",\"lstrip\":"
                 "true,\"rstrip\":true}],\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,"
                 "\"merges\":[" GROWING_MERGES "],\"vocab\":{",
                 normalizers[i]);
        add_byte_tokens(&b);
        buf_adds(&b, GROWING "}}}");
        check_json(normalizers[i], buf_str(&b).p);
        buf_release(&b);
    }
}

static void other_models(void **state)
{
    (void)state;
    check_json("Unigram", "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],"
                          "[\"a\",-1],[\"b\",-1],[\"ab\",-1.5],[\"aa\",-1.9],[\"aaaa\",-3],"
                          "[\" \",-1],[\"  \",-2]]}}");
    check_json(
        "WordPiece",
        "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
        "\"handle_chinese_chars\":true,\"strip_accents\":true,\"lowercase\":true},"
        "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\","
        "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_"
        "word\":100,\"vocab\":{\"[UNK]\":0,\"a\":1,\"##a\":2,\"##b\":3,\"!\":4}}}");
    check_json("WordLevel", "{\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"model\":{\"type\":"
                            "\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demo),
        cmocka_unit_test(characters),
        cmocka_unit_test(other_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
