#include "record/mixture.h"

#include "../test.h"

#include "base/arena.h"

static struct mixture parsed(const char *text)
{
    struct mixture m = {.n = 0};
    struct error err = {0};

    if (mixture_parse(&m, str_of(text), &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return m;
}

/* The shares of W2 as the specification has them. */
static void test_w2(void **state)
{
    struct mixture prompts = parsed("128:40,512:30,2048:20,8192:10");
    struct mixture outputs = parsed("16:40,128:40,512:20");
    (void)state;

    assert_true(mixture_equal(&prompts, &mixture_w2_prompts));
    assert_true(mixture_equal(&outputs, &mixture_w2_outputs));
    assert_false(mixture_equal(&prompts, &mixture_w2_outputs));
    assert_int_equal(mixture_most(&mixture_w2_prompts), 8192);
}

static void test_text_and_json(void **state)
{
    struct mixture m = parsed("8192:10,128:90"), again = {.n = 0};
    struct buf text = BUF_INIT(BUF_ANY);
    struct error err = {0};
    struct json_writer w;
    const struct json *doc;
    struct arena arena;
    (void)state;

    mixture_format(&m, &text);
    assert_text(buf_str(&text), "8192:10,128:90");
    buf_reset(&text);
    json_writer_init(&w, &text, 0);
    mixture_write(&m, &w);
    assert_text(buf_str(&text),
                "[{\"tokens\":8192,\"percent\":10},{\"tokens\":128,\"percent\":90}]");
    arena_init(&arena, 1 << 16);
    assert_int_equal(json_parse(&doc, buf_str(&text), &JSON_LIMITS_DEFAULT, &arena, &err), 0);
    assert_int_equal(mixture_read(&again, doc, &err), 0);
    assert_true(mixture_equal(&m, &again));
    arena_release(&arena);
    buf_release(&text);
}

static void test_bad_text(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "'' is not TOKENS:PERCENT"},
        {"128", "'128' is not TOKENS:PERCENT"},
        {"128:100,", "'' is not TOKENS:PERCENT"},
        {"128:40%", "'128:40%' is not TOKENS:PERCENT"},
        {"128:40,512:50", "the shares add up to 90 %, not to 100"},
        {"128:60,512:50", "the shares add up to 110 %, not to 100"},
        {"128:50,128:50", "the length 128 stands there twice"},
        {"0:100", "a length of 0 tokens is outside 1 to 1000000"},
        {"1000001:100", "a length of 1000001 tokens is outside 1 to 1000000"},
        {"128:0,512:100", "a share of 0 % is outside 1 to 100"},
        {"128:101", "a share of 101 % is outside 1 to 100"},
        /* one over the limit: 17 lengths */
        {"1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1,10:1,11:1,12:1,13:1,14:1,15:1,16:1,17:84",
         "there are more than 16 lengths"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mixture m = {.n = 7};
        struct error err = {0};
        assert_int_equal(mixture_parse(&m, str_of(cases[i].text), &err), -1);
        assert_string_equal(err.message, cases[i].says);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_int_equal(m.n, 7);
    }
    /* at the limits */
    (void)parsed("1000000:100");
    assert_int_equal(
        parsed("1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1,10:1,11:1,12:1,13:1,14:1,15:1,16:85").n, 16);
}

static void test_bad_json(void **state)
{
    static const char *const cases[] = {
        "[]",
        "{}",
        "[1]",
        "[{\"tokens\":1}]",
        "[{\"tokens\":1,\"percent\":99}]",
        "[{\"tokens\":1,\"percent\":100,\"more\":1}]",
        "[{\"tokens\":1.5,\"percent\":100}]",
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mixture m = {.n = 7};
        struct error err = {0};
        const struct json *doc;
        struct arena arena;
        arena_init(&arena, 1 << 16);
        assert_int_equal(json_parse(&doc, str_of(cases[i]), &JSON_LIMITS_DEFAULT, &arena, &err), 0);
        assert_int_equal(mixture_read(&m, doc, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_int_equal(m.n, 7);
        arena_release(&arena);
    }
}

static void test_find(void **state)
{
    struct mixture m = parsed("100:50,110:50");
    (void)state;

    assert_int_equal(mixture_find(&m, 100, 0), 0);
    assert_int_equal(mixture_find(&m, 101, 0), MIXTURE_NONE);
    assert_int_equal(mixture_find(&m, 104, 8), 0); /* 4 and 6 away */
    assert_int_equal(mixture_find(&m, 106, 8), 1);
    assert_int_equal(mixture_find(&m, 118, 8), 1);
    assert_int_equal(mixture_find(&m, 119, 8), MIXTURE_NONE);
}

/* 40, 30, 20 and 10 % of 50 and of 10 are whole; of 64 they are not, and the error says which are.
 */
static void test_counts(void **state)
{
    int64_t n[MIXTURE_MAX];
    struct error err = {0};
    (void)state;

    assert_int_equal(mixture_counts(&mixture_w2_prompts, 50, n, &err), 0);
    assert_int_equal(n[0], 20);
    assert_int_equal(n[1], 15);
    assert_int_equal(n[2], 10);
    assert_int_equal(n[3], 5);
    assert_int_equal(mixture_counts(&mixture_w2_prompts, 64, n, &err), -1);
    assert_string_equal(err.message, "40 % of 64 is no whole number of prompts");
    assert_string_equal(err.remedy, "give --count 60 or 70");
    assert_int_equal(mixture_counts(&mixture_w2_outputs, 3, n, &err), -1);
    assert_string_equal(err.remedy, "give --count 5");
}

/* After every k of them each length has had k times its share, to within one; after 100 exactly. */
static void test_deal(void **state)
{
    static const char *const texts[] = {"7:100", "16:40,128:40,512:20", "1:1,2:99",
                                        "1:33,2:33,3:34", "1:10,2:20,3:30,4:7,5:3,6:29,7:1"};
    (void)state;

    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct mixture m = parsed(texts[t]);
        struct mixture_deal d = {.m = &m};
        int64_t had[MIXTURE_MAX] = {0};
        for (int64_t k = 1; k <= 300; k++) {
            had[mixture_next(&d)]++;
            for (size_t i = 0; i < m.n; i++) {
                int64_t off = 100 * had[i] - k * m.of[i].percent; /* in hundredths */
                assert_true(off > -100 && off < 100);
                if (k % 100 == 0)
                    assert_int_equal(off, 0);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_w2),       cmocka_unit_test(test_text_and_json),
        cmocka_unit_test(test_bad_text), cmocka_unit_test(test_bad_json),
        cmocka_unit_test(test_find),     cmocka_unit_test(test_counts),
        cmocka_unit_test(test_deal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
