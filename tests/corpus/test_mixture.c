/* Corpora of several lengths: made exact, and every promise of theirs asserted. */
#include <stdio.h>
#include <stdlib.h>

#include "../test.h"

#include "corpus/corpus.h"

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

static const struct corpus_counter words = {count_words, NULL};

static struct corpus_spec spec_of(int64_t count, const char *mixture, const char *outputs)
{
    struct corpus_spec spec = {
        .count = count, .tokens = 20, .tolerance = 2, .seed = 7, .special_text = "parsed"};
    struct error err = {0};

    if (mixture && mixture_parse(&spec.mixture, str_of(mixture), &err) < 0)
        fail_msg("%s", err.message);
    if (outputs && mixture_parse(&spec.outputs, str_of(outputs), &err) < 0)
        fail_msg("%s", err.message);
    return spec;
}

static void make(const struct corpus_spec *spec, struct corpus *c)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct error err = {0};

    if (corpus_make(spec, &words, &out, &err) < 0 ||
        corpus_read_bytes(c, buf_str(&out), "made", &err) < 0)
        fail_msg("%s", err.message);
    buf_release(&out);
}

/* Of 50: 40, 30, 20 and 10 % are 20, 15, 10 and 5; of these 40, 40 and 20 % answers are 8 8 4,
 * 6 6 3, 4 4 2 and 2 2 1. */
static void test_exact(void **state)
{
    static const int64_t lengths[] = {12, 51, 204, 819}, answers[] = {16, 128, 512};
    static const int wanted[4][3] = {{8, 8, 4}, {6, 6, 3}, {4, 4, 2}, {2, 2, 1}};
    struct corpus_spec spec = spec_of(50, "12:40,51:30,204:20,819:10", "16:40,128:40,512:20");
    struct corpus_seen seen;
    struct error err = {0};
    struct corpus c;
    int have[4][3] = {{0}};
    size_t moves = 0;
    (void)state;

    make(&spec, &c);
    assert_int_equal(c.n, 50);
    for (size_t i = 0; i < c.n; i++) {
        size_t n, l = 0, a = 0;
        count_words(NULL, c.items[i].text, &n, &err);
        while (l < 4 && lengths[l] != (int64_t)n)
            l++;
        while (a < 3 && answers[a] != c.items[i].max_tokens)
            a++;
        assert_true(l < 4 && a < 3);
        assert_int_equal(c.items[i].tokens, n);
        assert_int_equal(corpus_target(&c, &c.items[i]), n);
        have[l][a]++;
        moves += i > 0 && c.items[i].tokens < c.items[i - 1].tokens;
        for (size_t j = 0; j < i; j++)
            assert_false(str_eq(c.items[i].text, c.items[j].text));
    }
    for (size_t l = 0; l < 4; l++)
        for (size_t a = 0; a < 3; a++)
            assert_int_equal(have[l][a], wanted[l][a]);
    assert_true(moves > 5); /* shuffled: not length by length, which has no step down */
    if (corpus_check(&c, &words, NULL, &seen, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(seen.of[0], 20);
    assert_int_equal(seen.of[3], 5);
    assert_int_equal(seen.outputs[2], 10);
    corpus_release(&c);
}

/* The same seed is the same order, another seed another. */
static void test_shuffle(void **state)
{
    struct corpus_spec spec = spec_of(20, "12:50,51:50", NULL);
    struct corpus a, b, other;
    size_t same = 0, differs = 0;
    (void)state;

    make(&spec, &a);
    make(&spec, &b);
    spec.seed = 8;
    make(&spec, &other);
    for (size_t i = 0; i < 20; i++) {
        same += str_eq(a.items[i].text, b.items[i].text);
        differs += a.items[i].tokens != other.items[i].tokens;
        assert_int_equal(a.items[i].max_tokens, CORPUS_NOT_PROMISED);
    }
    assert_int_equal(same, 20);
    assert_true(differs > 0);
    corpus_release(&a);
    corpus_release(&b);
    corpus_release(&other);
}

static void test_cannot_be_made(void **state)
{
    static const struct {
        const char *mixture, *outputs;
        int64_t count;
        const char *says;
    } cases[] = {
        {"12:40,51:60", NULL, 7, "40 % of 7 is no whole number of prompts"},
        {"12:50,51:50", "16:30,32:70", 6, "30 % of 6 is no whole number of prompts"},
        {"12:50,16:50", NULL, 10, "the lengths 12 and 16 are not apart with a tolerance of 2"},
        {"1:50,16:50", NULL, 10, "--tolerance 2 is outside 0 to 1"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct corpus_spec spec = spec_of(cases[i].count, cases[i].mixture, cases[i].outputs);
        struct buf out = BUF_INIT(BUF_ANY);
        struct error err = {0};
        assert_int_equal(corpus_make(&spec, &words, &out, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_string_equal(err.message, cases[i].says);
        buf_release(&out);
    }
    /* 5 apart with a tolerance of 2: just far enough */
    struct corpus_spec near = spec_of(10, "12:50,17:50", NULL);
    struct corpus c;
    make(&near, &c);
    corpus_release(&c);
}

#define META(more) "{\"_meta\":{\"format\":\"tally-corpus-1\"," more "}}\n"
#define HALVES "\"mixture\":[{\"tokens\":1,\"percent\":50},{\"tokens\":3,\"percent\":50}]"
#define ANSWERS "\"outputs\":[{\"tokens\":5,\"percent\":50},{\"tokens\":6,\"percent\":50}]"

static void broken(const char *text, const char *message, int64_t line, const char *rule)
{
    struct corpus_seen seen;
    struct error err = {0};
    struct corpus c;

    if (corpus_read_bytes(&c, str_of(text), "f", &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(corpus_check(&c, &words, NULL, &seen, &err), -1);
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.message, message);
    assert_int_equal(err.line, line);
    assert_string_equal(err.rule, rule);
    assert_true(err.remedy[0]);
    corpus_release(&c);
}

static void test_broken_promises(void **state)
{
    char text[4000], *at = text;
    (void)state;

    broken(META(HALVES) "{\"text\":\"a\",\"tokens\":1}\n{\"text\":\"b\",\"tokens\":1}\n",
           "2 of 2 prompts have 1 tokens; the corpus promises 50 % of them", 1, "corpus.mixture");
    broken(META(HALVES) "{\"text\":\"a\",\"tokens\":1}\n{\"text\":\"a b\",\"tokens\":2}\n",
           "prompt 'line3' has 2 tokens, which the corpus does not promise", 3, "corpus.mixture");
    /* what its line says is in the mixture; what it has is not */
    broken(META(HALVES) "{\"text\":\"a\",\"tokens\":1}\n{\"text\":\"a b\",\"tokens\":3}\n",
           "prompt 'line3' has 2 tokens; the corpus promises 3 +- 0", 3, "corpus.tokens");
    broken(META(ANSWERS) "{\"text\":\"a\",\"max_tokens\":5}\n{\"text\":\"b\",\"max_tokens\":5}\n",
           "2 of 2 prompts are to be answered with 5 tokens; the corpus promises 50 % of them", 1,
           "corpus.mixture");
    broken(META(ANSWERS) "{\"text\":\"a\",\"max_tokens\":5}\n{\"text\":\"b\",\"max_tokens\":7}\n",
           "prompt 'line3' is to be answered with 7 tokens, which the corpus does not promise", 3,
           "corpus.mixture");
    /* both shares are exact, but all short prompts have the short answer */
    at += snprintf(at, 400, META(HALVES "," ANSWERS));
    for (int i = 0; i < 8; i++)
        at += snprintf(at, 400, "{\"text\":\"%s\",\"tokens\":%d,\"max_tokens\":%d}\n",
                       i < 4 ? "a" : "a b c", i < 4 ? 1 : 3, i < 4 ? 5 : 6);
    broken(text,
           "of 4 prompts of 1 tokens 4 are to be answered with 5; the corpus promises 50 % of "
           "every length",
           1, "corpus.mixture");
}

static void unreadable(const char *text, enum error_kind kind, const char *message)
{
    struct error err = {0};
    struct corpus c;

    assert_int_equal(corpus_read_bytes(&c, str_of(text), "f", &err), -1);
    assert_string_equal(err.message, message);
    assert_int_equal(err.kind, kind);
}

static void test_unreadable(void **state)
{
    (void)state;
    unreadable(META(HALVES) "{\"text\":\"a\"}\n", ERROR_INPUT,
               "there is no member 'tokens'; the corpus promises a mixture of lengths");
    unreadable(META(ANSWERS) "{\"text\":\"a\"}\n", ERROR_INPUT,
               "there is no member 'max_tokens'; the corpus promises lengths of answers");
    unreadable(META(HALVES ",\"tokens\":4") "{\"text\":\"a\",\"tokens\":1}\n", ERROR_INPUT,
               "'tokens' and 'mixture' are both promised");
    unreadable(META("\"mixture\":[{\"tokens\":1,\"percent\":99}]") "{\"text\":\"a\"}\n",
               ERROR_INPUT, "'mixture': the shares add up to 99 %, not to 100");
    unreadable("{\"text\":\"a\",\"max_tokens\":5}\n{\"text\":\"b\"}\n", ERROR_INPUT,
               "'max_tokens' stands in some lines only");
    unreadable("{\"text\":\"a\",\"max_tokens\":0}\n", ERROR_INPUT,
               "'max_tokens' is outside 1 to 1000000");
    unreadable("{\"text\":\"a\",\"max_tokens\":1000001}\n", ERROR_INPUT,
               "'max_tokens' is outside 1 to 1000000");
}

/* A unique prompt has as many tokens as its own item promises, and its answer's length with it. */
static void test_unique(void **state)
{
    struct corpus_spec spec = spec_of(10, "20:40,60:60", "16:50,32:50");
    struct buf text = BUF_INIT(0);
    struct error err = {0};
    struct corpus c;
    int64_t of_20 = 0;
    (void)state;

    make(&spec, &c);
    for (int64_t i = 0; i < 10; i++) {
        struct corpus_draw which = {"nonce", 1, 4, false, i};
        struct corpus_prompt prompt;
        size_t n;
        if (corpus_unique(&c, &words, &which, &text, &prompt, &err) < 0)
            fail_msg("%s", err.message);
        count_words(NULL, buf_str(&text), &n, &err);
        assert_int_equal(prompt.tokens, n);
        assert_true(llabs((int64_t)n - prompt.item->tokens) <= 2);
        of_20 += prompt.item->tokens == 20;
    }
    assert_int_equal(of_20, 4); /* ten in a row go once round the corpus */
    buf_release(&text);
    corpus_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),          cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_cannot_be_made), cmocka_unit_test(test_broken_promises),
        cmocka_unit_test(test_unreadable),     cmocka_unit_test(test_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
