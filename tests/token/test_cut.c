/*
 * Texts cut in two: wherever token/cut.h offers a place, the ids of the parts are the ids of the
 * whole, on every tokenizer at hand and on texts made of what is awkward; and texts read in steps
 * of any size give the same ids.
 */
#include "support.h"

#include <string.h>

#include "../vocab/gguf_write.h"

#include "base/utf8.h"
#include "stats/random.h"
#include "token/cut.h"
#include "token/pieces.h"
#include "token/pipeline_pre.h"
#include "token/stream.h"
#include "token/tokenizer_internal.h"
#include "token/unicode.h"

#define PIECE_N (sizeof pieces / sizeof pieces[0])
#define TEXT_MAX 4096

/* What reaches across places: contractions, runs of blanks, letters that compose, special tokens,
 * cut-off characters, digits in threes. */
static const char *const pieces[] = {
    "a",
    "Z",
    "7",
    "123",
    "don",
    "'s",
    "'",
    "'LL",
    "s",
    " ",
    " ",
    " ",
    "  ",
    "    ",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    ",",
    ".",
    "\"",
    "``",
    "_",
    "+=",
    "--",
    "/",
    "</",
    "<",
    ">",
    "()",
    "~",
    "\u3002",
    "\uFF0C",
    "\u3001",
    "\u4E2D",
    "\u6587\u5B57",
    "\u304B",
    "\u304C",
    "\u30FC",
    "\u00E9",
    "e\u0301",
    "\u0338",
    "\u0130",
    "\u017F",
    "\uD55C",
    "\u1100",
    "\u1161",
    "\u0915\u094D",
    "\u0958",
    "\u0645",
    "\uFDFA",
    "\u037A",
    "\u00A8",
    "\u00A0",
    "\u3000",
    "\xC2\x85",
    "\u2028",
    "\u200B",
    "\u200D",
    "\uFEFF",
    "\U0001F468\u200D\U0001F469",
    "\U0001F3FD",
    "\u2581",
    "\u0120",
    "\xFF",
    "\xE4\xB8",
    "\xF0\x9F",
    "\x01",
    "<|im_start|>",
    "<|im_end|>",
    "<s>",
    "</s>",
    "<unk>",
    "[MASK]",
    "[CLS]",
    "<mask>",
    "<|endoftext|>",
    "hello",
    "a the",
    ".\nthe",
    "a--b",
    "Z--",
    "HTTPServer",
    "the",
    "\u0416\u0443\u043A",
};

static struct buf random_text(struct random *r)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    uint64_t n = 1 + random_below(r, 60);
    for (uint64_t i = 0; i < n; i++) {
        const char *piece = pieces[random_below(r, PIECE_N)];
        buf_adds(&b, piece);
        if (random_below(r, 100) == 0)
            buf_addc(&b, '\0');
    }
    return b;
}

static void encode(const struct tokenizer *t, struct str text, const struct encode_options *o,
                   struct token_ids *ids)
{
    struct error err = {0};
    if (tokenizer_encode(t, text, o, ids, &err) < 0) {
        show_error(&err);
        fail();
    }
}

static void show(struct str text, size_t at)
{
    for (size_t i = 0; i < text.n; i++)
        print_message("%s%02x%s", i == at ? "|" : "", (unsigned char)text.p[i],
                      text.p[i] >= ' ' && text.p[i] < 0x7F ? (char[]){'(', text.p[i], ')', 0} : "");
    print_message("\n");
}

/* The ids of a part are those of the whole from `at` on; no ids have no array. */
static bool same_ids(const struct token_ids *part, const struct token_ids *whole, size_t at)
{
    return part->n == 0 || memcmp(part->id, whole->id + at, part->n * sizeof part->id[0]) == 0;
}

/* Every place of a text; returns how many there are. */
static size_t check_places(const char *name, const struct cut_rules *rules, struct str text)
{
    struct token_ids whole = {0}, front = {0}, back = {0};
    size_t places = 0;
    for (unsigned how = 0; how < 2; how++) {
        struct encode_options o = {.add_special = how,
                                   .special_text = how ? SPECIAL_TEXT_PLAIN : SPECIAL_TEXT_PARSED};
        encode(rules->t, text, &o, &whole);
        for (size_t at = 1; at < text.n; at++) {
            if (!cut_at(rules, text, at))
                continue;
            struct encode_options first = o, second = o;
            first.goes_on = second.continues = true;
            encode(rules->t, str_first(text, at), &first, &front);
            encode(rules->t, str_skip(text, at), &second, &back);
            places++;
            bool equal = front.n + back.n == whole.n && same_ids(&front, &whole, 0) &&
                         same_ids(&back, &whole, front.n);
            if (!equal || front.replaced + back.replaced != whole.replaced) {
                show(text, at);
                fail_msg("%s: %zu and %zu ids of the parts, %zu of the whole", name, front.n,
                         back.n, whole.n);
            }
        }
    }
    token_ids_release(&whole);
    token_ids_release(&front);
    token_ids_release(&back);
    return places;
}

struct reading {
    struct str text;
    size_t at, most; /* bytes a read gives at most */
};

static ssize_t read_text(void *ctx, void *to, size_t n, struct error *err)
{
    struct reading *r = ctx;
    struct str part = str_first(str_skip(r->text, r->at), n < r->most ? n : r->most);
    (void)err;
    if (part.n)
        memcpy(to, part.p, part.n);
    r->at += part.n;
    return (ssize_t)part.n;
}

static void check_stream(const char *name, const struct tokenizer *t, struct str text, size_t step)
{
    struct encode_options how = {.add_special = true};
    struct reading reading = {.text = text, .most = step};
    struct token_stream s;
    struct token_ids whole = {0}, part = {0};
    struct error err = {0};
    size_t n = 0;
    int got;
    encode(t, text, &how, &whole);
    assert_int_equal(
        token_stream_init(&s, t, &how, (struct token_source){read_text, &reading}, &err), 0);
    s.step = step;
    while ((got = token_stream_next(&s, &part, &err)) > 0) {
        if (n + part.n > whole.n || !same_ids(&part, &whole, n)) {
            show(text, s.bytes);
            fail_msg("%s: read in steps of %zu, ids from %zu on differ", name, step, n);
        }
        n += part.n;
    }
    if (got < 0)
        show_error(&err);
    assert_int_equal(got, 0);
    assert_int_equal(n, whole.n);
    assert_int_equal(s.bytes, text.n);
    assert_int_equal(s.replaced, whole.replaced);
    token_stream_release(&s);
    token_ids_release(&whole);
    token_ids_release(&part);
}

/* min_places: what a tokenizer that can be cut must show, so that the check checks something. */
static void check_tokenizer(const char *name, struct tokenizer *t, int texts, size_t min_places)
{
    struct cut_rules rules;
    struct random r;
    struct error err = {0};
    size_t places = 0;
    assert_int_equal(cut_rules_make(&rules, t, &err), 0);
    assert_int_equal(rules.any, min_places > 0);
    random_seed(&r, 20261201);
    for (int i = 0; i < texts; i++) {
        struct buf text = random_text(&r);
        places += check_places(name, &rules, buf_str(&text));
        check_stream(name, t, buf_str(&text), 1 + random_below(&r, 40));
        buf_release(&text);
    }
    print_message("%s: %zu places in %d texts\n", name, places, texts);
    if (places < min_places)
        fail_msg("%s: only %zu places", name, places);
    tokenizer_free(t);
}

static void peer(const char *model, size_t min_places)
{
    char path[1024];
    if (peer_path(path, model) < 0)
        skip();
    check_tokenizer(model, open_path(path), 400, min_places);
}

static void gguf(const char *name, size_t min_places)
{
    char path[1024], file[128];
    snprintf(file, sizeof file, "vectors/gguf/ggml-vocab-%s.gguf", name);
    if (shared_path(path, file) < 0)
        skip();
    check_tokenizer(name, open_path(path), 400, min_places);
}

#define PEER(name)                    \
    static void peer_##name(void **s) \
    {                                 \
        (void)s;                      \
        peer(#name, 100);             \
    }
PEER(qwen3)
PEER(llama3_1)
PEER(llama2)
PEER(gemma3)
PEER(deepseek_v3)
PEER(gptoss)
PEER(gpt4o)
PEER(claude)

#define GGUF(id, name, places)      \
    static void gguf_##id(void **s) \
    {                               \
        (void)s;                    \
        gguf(name, places);         \
    }
GGUF(bert_bge, "bert-bge", 100)
GGUF(falcon, "falcon", 100)
GGUF(gpt_2, "gpt-2", 100)
GGUF(llama_bpe, "llama-bpe", 100)
GGUF(llama_spm, "llama-spm", 100)
GGUF(phi_3, "phi-3", 100)
GGUF(qwen2, "qwen2", 100)
GGUF(deepseek_llm, "deepseek-llm", 0) /* by expressions that have no scanner */

/* Tokenizers that do at the ends of a text, and around added tokens, what a cut must not show. The
 * vocabulary is 128 characters and a few words. */
static struct tokenizer *make(const char *around, const char *model)
{
    struct buf b = BUF_INIT(1 << 20);
    struct tokenizer *t = NULL;
    struct error err = {0};
    buf_addf(&b, "{%s,\"model\":{%s,\"vocab\":{\"[UNK]\":0", around, model);
    for (unsigned c = 1; c < 128; c++)
        buf_addf(&b, ",\"\\u%04x\":%u", c, c);
    buf_adds(&b, ",\"\u2581\":128,\"\u2581a\":129,\"\u2581hello\":130,\"hello\":131,\"##a\":132,"
                 "\"he\":133,\"lo\":134,\"##hello\":135,\"the\":136}}}");
    if (tokenizer_open_bytes(&t, buf_str(&b), "test", &(struct tokenizer_options){0}, &err) < 0)
        show_error(&err);
    buf_release(&b);
    assert_non_null(t);
    return t;
}

#define MASK                                                                  \
    "\"added_tokens\":[{\"id\":137,\"content\":\"<mask>\",\"special\":true,"  \
    "\"lstrip\":true},{\"id\":138,\"content\":\"<s>\",\"special\":true,"      \
    "\"rstrip\":true},{\"id\":139,\"content\":\"don\",\"single_word\":true}," \
    "{\"id\":140,\"content\":\"  \",\"normalized\":false}]"
#define TWO "\"added_tokens\":[{\"id\":138,\"content\":\"<s>\",\"special\":true}]"
#define TOKEN(text, flags) \
    "\"added_tokens\":[{\"id\":137,\"content\":\"" text "\",\"normalized\":false" flags "}]"
#define LEVEL \
    ",\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"
#define WORDPIECE \
    "\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\
\"max_input_chars_per_word\":100"
#define BPE "\"type\":\"BPE\",\"merges\":[\"h e\",\"l o\",\"\u2581 a\"],\"unk_token\":\"[UNK]\""
#define REPLACE "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\u2581\"}"

static void made_by_hand(void **state)
{
    static const struct {
        const char *name, *around, *model;
        size_t places;
    } cases[] = {
        {"bert",
         MASK ",\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":"
              "\"BertPreTokenizer\"}",
         WORDPIECE, 100},
        {"words",
         MASK ",\"normalizer\":{\"type\":\"Lowercase\"},\"pre_tokenizer\":{\"type\":"
              "\"Whitespace\"}",
         WORDPIECE, 100},
        {"metaspace",
         MASK ",\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":"
              "\"first\"}",
         BPE, 100},
        {"metaspace always",
         MASK ",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{"
              "\"type\":\"Strip\"},{\"type\":\"Replace\",\"pattern\":{"
              "\"Regex\":\" {2,}\"},\"content\":\" \"}]},\"pre_tokenizer\":{"
              "\"type\":\"Metaspace\",\"prepend_scheme\":\"always\"}",
         BPE, 100},
        {"strip and prefix",
         MASK ",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{"
              "\"type\":\"NFKC\"},{\"type\":\"Strip\"}]},\"pre_tokenizer\":{"
              "\"type\":\"ByteLevel\",\"add_prefix_space\":true}",
         BPE, 100},
        {"prepend, then split",
         TWO ",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{"
             "\"type\":\"Prepend\",\"prepend\":\"\u2581\"}," REPLACE "]},"
             "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{"
             "\"String\":\"\u2581\"},\"behavior\":\"MergedWithNext\"}",
         BPE, 100},
        /* One added token each that a cut would part, hide or leave without its blanks. */
        {"a token over a space", TOKEN("a the", "") LEVEL, BPE, 100},
        {"a token over a line", TOKEN(".\\nthe", "") LEVEL, BPE, 100},
        {"a token that takes what follows", TOKEN("the", ",\"rstrip\":true") LEVEL, BPE, 100},
        {"a token that takes what stands before", TOKEN("the", ",\"lstrip\":true") LEVEL, BPE, 100},
        {"a token behind which the text begins anew",
         TOKEN("the", "") ",\"normalizer\":{\"type\":"
                          "\"Prepend\",\"prepend\":\"a\"}" LEVEL,
         BPE, 100},
        {"a token that stands alone", TOKEN("\uFF0C", ",\"single_word\":true") LEVEL, BPE, 100},
        /* What may reach across everything is never cut. */
        {"merged with previous",
         MASK ",\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{"
              "\"String\":\" \"},\"behavior\":\"MergedWithPrevious\"}",
         BPE, 0},
        {"no split, unknown characters", MASK, BPE, 0},
        {"byte level normalizer",
         MASK ",\"normalizer\":{\"type\":\"ByteLevel\"},"
              "\"pre_tokenizer\":{\"type\":\"Whitespace\"}",
         BPE, 0},
        {"an expression",
         MASK ",\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":"
              "\"a .\"},\"behavior\":\"Isolated\"}",
         BPE, 0},
        {"a replacement across",
         MASK ",\"normalizer\":{\"type\":\"Replace\",\"pattern\":{"
              "\"String\":\"a b\"},\"content\":\"c\"},\"pre_tokenizer\":{"
              "\"type\":\"Whitespace\"}",
         BPE, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_tokenizer(cases[i].name, make(cases[i].around, cases[i].model), 400, cases[i].places);
}

/* A byte-level GGUF for a pre-tokenizer of llama.cpp, in which any two of these bytes merge: what
 * is cut apart that belongs together shows. */
static struct tokenizer *open_pre(const char *pre)
{
    static const char some[] = "aZ7sehLo'.,\"<>( \n";
    const uint32_t n = sizeof some - 1;
    struct buf b = BUF_INIT(1 << 20);
    struct tokenizer *t = NULL;
    struct error err = {0};
    char left[5] = "", right[5] = "", text[16];
    gguf_head(&b, 3, 4);
    gguf_string(&b, "tokenizer.ggml.model", "gpt2");
    gguf_string(&b, "tokenizer.ggml.pre", pre);
    gguf_array(&b, "tokenizer.ggml.tokens", 8, 256 + n * n);
    for (uint32_t i = 0; i < 256 + n * n; i++) {
        uint32_t k = i - 256;
        size_t to = utf8_encode(text, byte_level_char(i < 256 ? (uint8_t)i : (uint8_t)some[k / n]));
        to += i < 256 ? 0 : utf8_encode(text + to, byte_level_char((uint8_t)some[k % n]));
        text[to] = '\0';
        put_str(&b, text);
    }
    gguf_array(&b, "tokenizer.ggml.merges", 8, n * n);
    for (uint32_t k = 0; k < n * n; k++) {
        left[utf8_encode(left, byte_level_char((uint8_t)some[k / n]))] = '\0';
        right[utf8_encode(right, byte_level_char((uint8_t)some[k % n]))] = '\0';
        snprintf(text, sizeof text, "%s %s", left, right);
        put_str(&b, text);
    }
    if (tokenizer_open_bytes(&t, buf_str(&b), pre, &(struct tokenizer_options){0}, &err) < 0)
        print_message("%s: %s\n", pre, err.message);
    buf_release(&b);
    return t;
}

/* Every pre-tokenizer that llama.cpp names, by its scanner or, where it has none, never cut. */
static void every_pre(void **state)
{
    size_t opened = 0, cut = 0;
    (void)state;
    for (size_t i = 0; pre_at(i); i++) {
        struct tokenizer *t = open_pre(pre_at(i)->pre);
        struct cut_rules rules;
        struct error err = {0};
        if (!t)
            continue;
        opened++;
        assert_int_equal(cut_rules_make(&rules, t, &err), 0);
        cut += rules.any;
        check_tokenizer(pre_at(i)->pre, t, 60, rules.any ? 50 : 0);
    }
    assert_true(opened > 50 && cut > 40);
}

/* What cut.c takes for granted of letters: no form drops one or turns it into something that ends
 * in white space. */
static void letters_stay(void **state)
{
    static const enum norm_op ops[] = {NORM_NFC, NORM_NFD, NORM_NFKC, NORM_NFKD, NORM_LOWERCASE};
    struct norm_text out;
    struct error err = {0};
    int seen = 0;
    (void)state;
    norm_text_init(&out);
    for (uint32_t cp = 'A'; cp <= 0x10FFFF; cp++) {
        char bytes[4];
        struct norm_view in = {.text = str_make(bytes, utf8_encode(bytes, cp))};
        if (in.text.n == 0 || !uni_is(cp, UNI_LETTER))
            continue;
        seen++;
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
            struct norm_step step = {.op = ops[i]};
            uint32_t last = 0;
            norm_text_reset(&out);
            if (norm_apply(&out, &in, &step, &err) == 0)
                continue;
            struct str now = norm_text_view(&out).text;
            assert_true(now.n > 0);
            for (size_t at = 0; at < now.n;)
                at += uni_next((const uint8_t *)now.p + at, &last);
            if (uni_is(last, UNI_SPACE))
                fail_msg("U+%04X ends in white space after step %zu", (unsigned)cp, i);
        }
    }
    assert_true(seen > 100000);
    norm_text_release(&out);
}

/* Text without any place is held whole, up to the limit and not one byte more. */
static void limit(void **state)
{
    struct tokenizer *t = make(MASK ",\"pre_tokenizer\":{\"type\":\"Whitespace\"}", WORDPIECE);
    struct token_ids ids = {0};
    char text[257];
    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t n = 256; n <= 257; n++) {
        struct reading reading = {.text = str_make(text, n), .most = 7};
        struct token_stream s;
        struct error err = {0};
        struct encode_options how = {0};
        assert_int_equal(
            token_stream_init(&s, t, &how, (struct token_source){read_text, &reading}, &err), 0);
        s.step = 32;
        s.hold_max = 256;
        int got = token_stream_next(&s, &ids, &err);
        assert_int_equal(got, n == 256 ? 1 : -1);
        if (got < 0)
            assert_int_equal(err.kind, ERROR_LIMIT);
        token_stream_release(&s);
    }
    token_ids_release(&ids);
    tokenizer_free(t);
}

/* A long text in small steps is read in bounded memory. */
static void bounded(void **state)
{
    struct tokenizer *t = make(MASK ",\"pre_tokenizer\":{\"type\":\"Whitespace\"}", WORDPIECE);
    struct buf text = BUF_INIT(1 << 20);
    struct token_ids ids = {0};
    struct token_stream s;
    struct error err = {0};
    struct encode_options how = {0};
    size_t most = 0;
    int got;
    (void)state;
    for (int i = 0; i < 40000; i++)
        buf_adds(&text, "the hello ");
    struct reading reading = {.text = buf_str(&text), .most = 4096};
    assert_int_equal(
        token_stream_init(&s, t, &how, (struct token_source){read_text, &reading}, &err), 0);
    s.step = 4096;
    while ((got = token_stream_next(&s, &ids, &err)) > 0)
        most = s.held.cap > most ? s.held.cap : most;
    assert_int_equal(got, 0);
    assert_int_equal(s.bytes, 400000);
    assert_true(most <= 4 * 4096);
    token_stream_release(&s);
    token_ids_release(&ids);
    buf_release(&text);
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_by_hand),      cmocka_unit_test(every_pre),
        cmocka_unit_test(letters_stay),      cmocka_unit_test(limit),
        cmocka_unit_test(bounded),           cmocka_unit_test(peer_qwen3),
        cmocka_unit_test(peer_llama3_1),     cmocka_unit_test(peer_llama2),
        cmocka_unit_test(peer_gemma3),       cmocka_unit_test(peer_deepseek_v3),
        cmocka_unit_test(peer_gptoss),       cmocka_unit_test(peer_gpt4o),
        cmocka_unit_test(peer_claude),       cmocka_unit_test(gguf_bert_bge),
        cmocka_unit_test(gguf_falcon),       cmocka_unit_test(gguf_gpt_2),
        cmocka_unit_test(gguf_llama_bpe),    cmocka_unit_test(gguf_llama_spm),
        cmocka_unit_test(gguf_phi_3),        cmocka_unit_test(gguf_qwen2),
        cmocka_unit_test(gguf_deepseek_llm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
