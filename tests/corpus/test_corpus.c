#include "corpus/corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "codec/json.h"
#include "corpus/words.h"

/* Counters that stand for kinds of tokenizers; each count can be checked by eye. */

/* a run of letters or digits is one token, every other visible character is one */
static int count_words(void *ctx, struct str s, size_t *n, struct error *err)
{
    (void)ctx, (void)err;
    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool word = s.p[i] > ' ' && !strchr(".,;:!?-", s.p[i]);
        bool before = i > 0 && s.p[i - 1] > ' ' && !strchr(".,;:!?-", s.p[i - 1]);
        *n += s.p[i] > ' ' && !(word && before);
    }
    return 0;
}

static int count_bytes(void *ctx, struct str s, size_t *n, struct error *err)
{
    (void)ctx, (void)err;
    *n = s.n;
    return 0;
}

/* every byte is two tokens: no odd count exists */
static int count_pairs(void *ctx, struct str s, size_t *n, struct error *err)
{
    (void)ctx, (void)err;
    *n = 2 * s.n;
    return 0;
}

/* three bytes a token within each word, as a merging tokenizer does roughly */
static int count_pieces(void *ctx, struct str s, size_t *n, struct error *err)
{
    size_t run = 0;
    (void)ctx, (void)err;
    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        run = s.p[i] == ' ' ? 1 : run + 1;
        *n += run % 3 == 1;
    }
    return 0;
}

static int count_nothing(void *ctx, struct str s, size_t *n, struct error *err)
{
    (void)ctx, (void)s, (void)err;
    *n = 0;
    return 0;
}

static int count_fails(void *ctx, struct str s, size_t *n, struct error *err)
{
    (void)ctx, (void)s, (void)n;
    return error_set(err, ERROR_UNSUPPORTED, "this tokenizer fails");
}

static char path[] = "tally_corpus_XXXXXX";

static void put(struct str text)
{
    struct error err = {0};

    assert_int_equal(file_write_atomic(path, text, &err), 0);
}

static struct corpus_spec spec_of(int64_t count, int64_t tokens, int64_t tolerance, int64_t seed)
{
    return (struct corpus_spec){.count = count,
                                .tokens = tokens,
                                .tolerance = tolerance,
                                .seed = seed,
                                .special_text = "parsed",
                                .tokenizer = {.reference = "huggingface",
                                              .vocabulary_sha256 =
                                                  "00000000000000000000000000000000"
                                                  "00000000000000000000000000000000"}};
}

static void make(const struct corpus_spec *spec, const struct corpus_counter *counter,
                 struct corpus *c)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct error err = {0};

    if (corpus_make(spec, counter, &out, &err) < 0)
        fail_msg("%s", err.message);
    put(buf_str(&out));
    if (corpus_read(c, path, &err) < 0)
        fail_msg("%s", err.message);
    buf_release(&out);
}

/* For every kind of tokenizer and many lengths: exact, distinct, trimmed, and the promises hold. */
static void test_make_is_exact(void **state)
{
    static int (*const kinds[])(void *, struct str, size_t *,
                                struct error *) = {count_words, count_bytes, count_pieces};
    static const int64_t lengths[] = {20, 21, 64, 100, 512, 513, 2000};
    (void)state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            struct corpus_counter counter = {kinds[k], NULL};
            struct corpus_spec spec = spec_of(12, lengths[l], 0, (int64_t)l);
            struct corpus_seen seen;
            struct error err = {0};
            struct corpus c;

            make(&spec, &counter, &c);
            assert_int_equal(c.n, 12);
            for (size_t i = 0; i < c.n; i++) {
                size_t n;
                kinds[k](NULL, c.items[i].text, &n, &err);
                assert_int_equal(n, lengths[l]);
                assert_int_equal(c.items[i].tokens, lengths[l]);
                assert_int_equal(str_trim(c.items[i].text).n, c.items[i].text.n);
                for (size_t j = 0; j < i; j++)
                    assert_false(str_eq(c.items[i].text, c.items[j].text));
            }
            if (corpus_check(&c, &counter, &spec.tokenizer, &seen, &err) < 0)
                fail_msg("%s", err.message);
            assert_int_equal(seen.count, 12);
            assert_int_equal(seen.tokens_min, lengths[l]);
            assert_int_equal(seen.tokens_max, lengths[l]);
            corpus_release(&c);
        }
    }
}

/* One token is the least: as many distinct texts as there are single words. */
static void test_shortest(void **state)
{
    struct corpus_counter counter = {count_words, NULL};
    struct corpus_spec spec = spec_of(8, 1, 0, 7);
    struct corpus c;
    (void)state;

    make(&spec, &counter, &c);
    for (size_t i = 0; i < c.n; i++)
        assert_true(str_find_char(c.items[i].text, ' ') == STR_NONE);
    corpus_release(&c);
}

static void test_impossible(void **state)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct error err = {0};
    struct corpus_spec odd = spec_of(2, 101, 0, 1), even = spec_of(2, 100, 0, 1);
    struct corpus_spec many = spec_of(100, 1, 0, 1);
    (void)state;

    assert_int_equal(corpus_make(&even, &(struct corpus_counter){count_pairs, NULL}, &out, &err),
                     0);
    assert_int_equal(corpus_make(&odd, &(struct corpus_counter){count_pairs, NULL}, &out, &err),
                     -1);
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    assert_string_equal(err.message, "no text of exactly 101 tokens could be made with this "
                                     "tokenizer; the nearest had 100");
    assert_string_equal(err.remedy, "ask for another length, such as 100");
    /* single bytes that are one token: no 100 distinct texts of one byte are drawn */
    assert_int_equal(corpus_make(&many, &(struct corpus_counter){count_bytes, NULL}, &out, &err),
                     -1);
    assert_non_null(strstr(err.message, "distinct texts of exactly 1 token could be drawn; 100"));
    assert_int_equal(corpus_make(&odd, &(struct corpus_counter){count_nothing, NULL}, &out, &err),
                     -1);
    assert_int_equal(corpus_make(&odd, &(struct corpus_counter){count_fails, NULL}, &out, &err),
                     -1);
    assert_string_equal(err.message, "this tokenizer fails");
    buf_release(&out);
}

static void test_spec_limits(void **state)
{
    static const struct {
        int64_t count, tokens, tolerance;
        int want;
    } cases[] = {
        {0, 20, 0, -1},  {1, 0, 0, -1},
        {1, 20, -1, -1}, {1, 20, 20, 0},
        {1, 20, 21, -1}, {CORPUS_ITEMS_MAX + INT64_C(1), 20, 0, -1},
        {1, 20, 0, 0},   {1, CORPUS_TOKENS_MAX + INT64_C(1), 0, -1},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = BUF_INIT(BUF_ANY);
        struct error err = {0};
        struct corpus_spec spec = spec_of(cases[i].count, cases[i].tokens, cases[i].tolerance, 1);
        assert_int_equal(
            corpus_make(&spec, &(struct corpus_counter){count_words, NULL}, &out, &err),
            cases[i].want);
        if (cases[i].want < 0)
            assert_int_equal(err.kind, ERROR_USAGE);
        buf_release(&out);
    }
}

static void test_same_seed(void **state)
{
    struct buf a = BUF_INIT(BUF_ANY), b = BUF_INIT(BUF_ANY), other = BUF_INIT(BUF_ANY);
    struct corpus_counter counter = {count_pieces, NULL};
    struct corpus_spec one = spec_of(5, 100, 2, 7), two = spec_of(5, 100, 2, 8);
    struct error err = {0};
    (void)state;

    assert_int_equal(corpus_make(&one, &counter, &a, &err), 0);
    assert_int_equal(corpus_make(&one, &counter, &b, &err), 0);
    assert_int_equal(corpus_make(&two, &counter, &other, &err), 0);
    assert_true(str_eq(buf_str(&a), buf_str(&b)));
    assert_false(str_eq(buf_str(&a), buf_str(&other)));
    buf_release(&a);
    buf_release(&b);
    buf_release(&other);
}

/* splitmix64 from state 0: the first outputs of the reference implementation (Vigna). */
static void test_generator(void **state)
{
    struct draw d = {0};
    (void)state;

    assert_true(draw_u64(&d) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(draw_u64(&d) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(draw_u64(&d) == UINT64_C(0x06c45d188009454f));
    for (int i = 0; i < 1000; i++)
        assert_true(draw_below(&d, 7) < 7);
    assert_int_equal(draw_below(&d, 1), 0);
}

#define META(more) "{\"_meta\":{\"format\":\"tally-corpus-1\"" more "}}\n"

static void broken(const char *text, const char *message, int64_t line, const char *rule)
{
    struct corpus_counter counter = {count_words, NULL};
    struct corpus_tokenizer with = {.vocabulary_sha256 =
                                        "1111111111111111111111111111111111111111111111111111111111"
                                        "111111"};
    struct corpus_seen seen;
    struct error err = {0};
    struct corpus c;

    put(str_of(text));
    if (corpus_read(&c, path, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(corpus_check(&c, &counter, &with, &seen, &err), -1);
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.message, message);
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, line);
    assert_string_equal(err.rule, rule);
    assert_true(err.remedy[0]);
    corpus_release(&c);
}

static void test_broken_promises(void **state)
{
    (void)state;
    broken("{\"text\":\"a b\"}\n", "the corpus promises nothing: it has no _meta line", 1,
           "corpus.meta");
    broken(META(",\"count\":3") "{\"text\":\"a\"}\n{\"text\":\"b\"}\n",
           "the corpus promises 3 prompts and holds 2", 1, "corpus.count");
    broken(META(",\"tokens\":2,\"tolerance\":1") "{\"text\":\"a b c\"}\n{\"text\":\"a b c d\"}\n",
           "prompt 'line3' has 4 tokens; the corpus promises 2 +- 1", 3, "corpus.tokens");
    broken(META(",\"tokens\":2") "{\"id\":\"x\",\"text\":\"a\"}\n",
           "prompt 'x' has 1 tokens; the corpus promises 2 +- 0", 2, "corpus.tokens");
    broken(META("") "{\"text\":\"a\",\"tokens\":1}\n{\"text\":\"a\",\"tokens\":2}\n",
           "prompt 'line3' has 1 tokens; its line says 2", 3, "corpus.item_tokens");
    broken(META(",\"distinct\":true") "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"a\"}\n",
           "prompt 'line4' repeats line 2; the corpus promises distinct prompts", 4,
           "corpus.distinct");
    broken(META(",\"tokenizer\":{\"vocabulary_sha256\":"
                "\"2222222222222222222222222222222222222222222222222222222222222222\"}") "{"
                                                                                         "\"text\":"
                                                                                         "\"a\"}\n",
           "the corpus was made for the vocabulary 222222222222..., this tokenizer has "
           "111111111111...",
           1, "corpus.tokenizer");
}

/* The band holds at its border and not one beyond. */
static void test_band_border(void **state)
{
    static const struct {
        const char *text;
        int want;
    } cases[] = {{"a", -1}, {"a b", 0}, {"a b c d", 0}, {"a b c d e", -1}};
    struct corpus_counter counter = {count_words, NULL};
    (void)state;

    for (size_t i = 0; i < 4; i++) {
        char text[200];
        struct corpus_seen seen;
        struct error err = {0};
        struct corpus c;
        snprintf(text, sizeof text, META(",\"tokens\":3,\"tolerance\":1") "{\"text\":\"%s\"}\n",
                 cases[i].text);
        put(str_of(text));
        assert_int_equal(corpus_read(&c, path, &err), 0);
        assert_int_equal(corpus_check(&c, &counter, NULL, &seen, &err), cases[i].want);
        corpus_release(&c);
    }
}

static void unreadable(const char *text, enum error_kind kind, const char *message, int64_t line,
                       int64_t column)
{
    struct error err = {0};
    struct corpus c;

    put(str_of(text));
    assert_int_equal(corpus_read(&c, path, &err), -1);
    if (message)
        assert_string_equal(err.message, message);
    assert_int_equal(err.kind, kind);
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, line);
    if (column >= 0)
        assert_int_equal(err.column, column);
}

static void test_unreadable(void **state)
{
    (void)state;
    unreadable("", ERROR_INPUT, "the corpus holds no prompt", 0, 0);
    unreadable(META(""), ERROR_INPUT, "the corpus holds no prompt", 0, 0);
    unreadable("{\"text\":\"a\"}\n\n{\"text\":\"b\"}\n", ERROR_INPUT, "the line is empty", 2, 0);
    unreadable("{\"text\":\"a\"}\n{\"text\":b}\n", ERROR_INPUT, NULL, 2, -1);
    unreadable("{\"text\":\"a\"}\n[1]\n", ERROR_INPUT, "the line is an array; an object is wanted",
               2, -1);
    unreadable("{\"txt\":\"a\"}\n", ERROR_INPUT, "there is no member 'text'", 1, -1);
    unreadable("{\"text\":\"\"}\n", ERROR_INPUT, "'text' is empty", 1, -1);
    unreadable("{\"text\":7}\n", ERROR_INPUT, NULL, 1, -1);
    unreadable("{\"text\":\"a\"}\n" META(""), ERROR_INPUT, "_meta stands only in the first line", 2,
               -1);
    unreadable("{\"_meta\":{\"format\":\"tally-corpus-9\"}}\n", ERROR_UNSUPPORTED,
               "the corpus has format 'tally-corpus-9'; 'tally-corpus-1' is known", 1, -1);
    unreadable(META(",\"colour\":{}") "{\"text\":\"a\"}\n", ERROR_UNSUPPORTED,
               "_meta states 'colour', which is not known", 1, -1);
    unreadable(META(",\"count\":-1") "{\"text\":\"a\"}\n", ERROR_INPUT, "'count' is negative", 1,
               -1);
    unreadable(META(",\"special_text\":\"raw\"") "{\"text\":\"a\"}\n", ERROR_INPUT,
               "'special_text' is neither 'parsed' nor 'plain'", 1, -1);
    unreadable("{\"id\":\"x\",\"text\":\"a\"}\n{\"id\":\"y\",\"text\":\"b\"}\n{\"id\":\"x\","
               "\"text\":\"c\"}\n",
               ERROR_INPUT, "the id 'x' stands in line 1 already", 3, -1);
}

static void test_id_limit(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        char id[CORPUS_ID_MAX + 2] = {0}, text[200];
        struct error err = {0};
        struct corpus c;
        memset(id, 'x', CORPUS_ID_MAX + (size_t)over);
        snprintf(text, sizeof text, "{\"id\":\"%s\",\"text\":\"a\"}\n", id);
        put(str_of(text));
        assert_int_equal(corpus_read(&c, path, &err), over ? -1 : 0);
        if (over)
            assert_int_equal(err.kind, ERROR_LIMIT);
        else
            corpus_release(&c);
    }
}

/* A corpus without _meta is readable, numbered by line; "prompt" is taken for "text". */
static void test_foreign(void **state)
{
    struct error err = {0};
    struct corpus c;
    (void)state;

    put(STR("{\"prompt\":\"a\"}\r\n{\"text\":\"b\",\"other\":[1]}"));
    assert_int_equal(corpus_read(&c, path, &err), 0);
    assert_false(c.promise.stated);
    assert_int_equal(c.promise.tokens, CORPUS_NOT_PROMISED);
    assert_int_equal(c.n, 2);
    assert_true(str_eq(c.items[1].id, STR("line2")));
    assert_true(str_eq(c.items[0].text, STR("a")));
    corpus_release(&c);
}

/* Every request of a run has a prompt of its own, exactly as long as promised; the same request
 * has the same prompt whatever the lane, and another run other prompts. */
static void test_unique(void **state)
{
    static int (*const kinds[])(void *, struct str, size_t *, struct error *) = {count_words,
                                                                                 count_pieces};
    (void)state;

    for (size_t k = 0; k < 2; k++) {
        struct corpus_counter counter = {kinds[k], NULL};
        struct corpus_spec spec = spec_of(4, 200, 8, 3);
        struct str all[96];
        struct arena kept;
        struct corpus c;
        size_t made = 0;

        arena_init(&kept, 1 << 24);
        make(&spec, &counter, &c);
        for (int r = 1; r <= 2; r++) {
            for (int band = 1; band <= 4; band *= 4) {
                for (int warmup = 0; warmup < 2; warmup++) {
                    for (int64_t i = 0; i < 12; i++) {
                        struct corpus_draw which = {"abc", r, band, warmup, i};
                        struct buf text = BUF_INIT(0), again = BUF_INIT(0);
                        struct corpus_prompt p;
                        struct error err = {0};
                        size_t n;
                        assert_int_equal(corpus_unique(&c, &counter, &which, &text, &p, &err), 0);
                        assert_int_equal(corpus_unique(&c, &counter, &which, &again, &p, &err), 0);
                        assert_true(str_eq(buf_str(&text), buf_str(&again)));
                        kinds[k](NULL, buf_str(&text), &n, &err);
                        assert_int_equal(n, 200);
                        assert_int_equal(p.tokens, 200);
                        assert_true(p.exact);
                        for (size_t j = 0; j < made; j++)
                            assert_false(str_eq(all[j], buf_str(&text)));
                        all[made++] = arena_str(&kept, buf_str(&text));
                        which.nonce = "abd";
                        assert_int_equal(corpus_unique(&c, &counter, &which, &again, &p, &err), 0);
                        assert_false(str_eq(buf_str(&text), buf_str(&again)));
                        buf_release(&text);
                        buf_release(&again);
                    }
                }
            }
        }
        assert_int_equal(made, 96);
        arena_release(&kept);
        corpus_release(&c);
    }
}

/* A text without spaces has no words to make way: refused, and sent only when nothing is promised.
 */
static void test_unique_refused(void **state)
{
    struct corpus_counter counter = {count_bytes, NULL};
    struct corpus_draw which = {"abc", 1, 1, false, 0};
    struct buf text = BUF_INIT(0);
    struct corpus_prompt p;
    struct error err = {0};
    struct corpus c;
    (void)state;

    put(STR(META(",\"tokens\":3") "{\"text\":\"abc\"}\n"));
    assert_int_equal(corpus_read(&c, path, &err), 0);
    assert_int_equal(corpus_unique(&c, &counter, &which, &text, &p, &err), -1);
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.rule, "corpus.unique");
    assert_int_equal(err.line, 2);
    corpus_release(&c);
    put(STR("{\"text\":\"abc\"}\n"));
    err = (struct error){0};
    assert_int_equal(corpus_read(&c, path, &err), 0);
    assert_int_equal(corpus_unique(&c, &counter, &which, &text, &p, &err), 0);
    assert_true(str_ends(buf_str(&text), STR(". abc")));
    assert_int_equal(p.tokens, text.n);
    assert_int_equal(corpus_unique(&c, NULL, &which, &text, &p, &err), 0);
    assert_int_equal(p.tokens, CORPUS_NOT_PROMISED);
    corpus_release(&c);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make_is_exact),   cmocka_unit_test(test_shortest),
        cmocka_unit_test(test_impossible),      cmocka_unit_test(test_spec_limits),
        cmocka_unit_test(test_same_seed),       cmocka_unit_test(test_generator),
        cmocka_unit_test(test_broken_promises), cmocka_unit_test(test_band_border),
        cmocka_unit_test(test_unreadable),      cmocka_unit_test(test_id_limit),
        cmocka_unit_test(test_foreign),         cmocka_unit_test(test_unique),
        cmocka_unit_test(test_unique_refused),
    };
    int fd = mkstemp(path), failed;

    if (fd < 0)
        return 1;
    close(fd);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
