/* The two ways of merging give the same, and the one for long words is near linear. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "token/bpe.h"

/* Ids 0..3 are letters; merges in an order that is no growth order, so that a merge can make a pair
 * that goes before all that wait. */
static struct vocab *make_vocab(const char *merges, const char *tokens)
{
    struct buf b = BUF_INIT(1 << 20);
    struct vocab *v = NULL;
    struct error err = {0};
    buf_addf(&b,
             "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"d\":3%s},"
             "\"merges\":[%s]}}",
             tokens, merges);
    if (vocab_open(&v, buf_str(&b), "test", &err) < 0)
        fail_msg("%s", err.message);
    buf_release(&b);
    return v;
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* The definition: the lowest rank, of those the leftmost, again and again. */
static size_t by_definition(const struct vocab *v, uint32_t *symbol, size_t n)
{
    for (;;) {
        uint32_t best_rank = UINT32_MAX;
        size_t best = 0;
        for (size_t i = 0; i + 1 < n; i++)
            for (uint32_t r = 0; r < v->merge_n && r < best_rank; r++)
                if (v->merges[r].left == symbol[i] && v->merges[r].right == symbol[i + 1]) {
                    best_rank = r;
                    best = i;
                }
        if (best_rank == UINT32_MAX)
            return n;
        symbol[best] = v->merges[best_rank].result;
        memmove(&symbol[best + 1], &symbol[best + 2], (n - best - 2) * sizeof symbol[0]);
        n--;
    }
}

static void check_against_definition(const char *merges, const char *tokens)
{
    struct vocab *v = make_vocab(merges, tokens);
    struct bpe b;
    struct bpe_work w = {0};
    struct error err = {0};
    uint32_t state = 12345;
    assert_int_equal(bpe_build(&b, v, &err), 0);
    for (int round = 0; round < 3000; round++) {
        uint32_t want[BPE_SHORT], scan[BPE_SHORT], queue[BPE_SHORT], len[BPE_SHORT];
        size_t n = 1 + next_random(&state) % BPE_SHORT, letters = 1 + next_random(&state) % 4;
        for (size_t i = 0; i < n; i++) {
            want[i] = scan[i] = queue[i] = next_random(&state) % (uint32_t)letters;
            len[i] = 1;
        }
        size_t made = by_definition(v, want, n), total = 0;
        assert_int_equal(bpe_merge(&b, &w, scan, NULL, n), made);
        assert_int_equal(bpe_merge_at_once(&b, &w, queue, len, n), made);
        assert_memory_equal(scan, want, made * sizeof want[0]);
        assert_memory_equal(queue, want, made * sizeof want[0]);
        for (size_t i = 0; i < made; i++)
            total += len[i];
        assert_int_equal(total, n);
    }
    bpe_work_release(&w);
    bpe_release(&b);
    vocab_free(v);
}

#define WORD_MAX 100000u

/* By windows as at once: random letters, letters that repeat after a while, and stretches of one.
 */
static void check_windows(const struct bpe *b, struct bpe_work *w, uint32_t *state, uint32_t max)
{
    static uint32_t one[WORD_MAX], other[WORD_MAX], one_len[WORD_MAX], other_len[WORD_MAX];
    size_t n = 1 + next_random(state) % max, letters = 1 + next_random(state) % 4;
    size_t period = next_random(state) % 3 ? 1 + next_random(state) % 1500 : WORD_MAX;
    uint32_t stretch = 1 + next_random(state) % 40, letter = 0;
    for (size_t i = 0; i < n; i++) {
        if (next_random(state) % stretch == 0)
            letter = next_random(state) % (uint32_t)letters;
        one[i] = other[i] = i < period ? letter : one[i - period];
        one_len[i] = other_len[i] = 1 + one[i];
    }
    size_t made = bpe_merge_at_once(b, w, one, one_len, n);
    assert_int_equal(bpe_merge_long(b, w, other, other_len, n), made);
    assert_memory_equal(one, other, made * sizeof one[0]);
    assert_memory_equal(one_len, other_len, made * sizeof one[0]);
}

static void check_long(const char *merges, const char *tokens, uint32_t max, int rounds)
{
    struct vocab *v = make_vocab(merges, tokens);
    struct bpe b;
    struct bpe_work w = {0};
    struct error err = {0};
    uint32_t state = 54321;
    assert_int_equal(bpe_build(&b, v, &err), 0);
    for (int round = 0; round < rounds; round++)
        check_windows(&b, &w, &state, max);
    bpe_work_release(&w);
    bpe_release(&b);
    vocab_free(v);
}

static void windows(void **state)
{
    (void)state;
    check_long("\"a b\",\"ab c\",\"ab ab\",\"c d\",\"abc d\",\"a a\",\"aa aa\"",
               ",\"ab\":4,\"abc\":5,\"abab\":6,\"cd\":7,\"abcd\":8,\"aa\":9,\"aaaa\":10", 6000,
               400);
    check_long("\"abc d\",\"ab c\",\"aa a\",\"a aa\",\"a b\",\"b c\",\"a bc\",\"a a\","
               "\"b b\",\"bb bb\",\"bb b\",\"b bb\"",
               ",\"ab\":4,\"abc\":5,\"abcd\":6,\"aa\":7,\"aaa\":8,\"bc\":9,\"bb\":10,"
               "\"bbbb\":11,\"bbb\":12",
               6000, 400);
    /* Tokens longer than a window, and than the largest one: a, aa, aaaa, ... up to 2^15. */
    struct buf merges = BUF_INIT(1 << 20), tokens = BUF_INIT(1 << 20), a = BUF_INIT(1 << 17);
    buf_addc(&a, 'a');
    for (uint32_t id = 4; id < 19; id++) {
        buf_addf(&merges, "%s\"%s %s\"", id > 4 ? "," : "", a.p, a.p);
        struct str half = buf_str(&a);
        char *p = buf_reserve(&a, half.n);
        assert_non_null(p);
        memset(p, 'a', half.n);
        p[half.n] = '\0';
        a.n += half.n;
        buf_addf(&tokens, ",\"%s\":%u", a.p, id);
    }
    check_long(merges.p, tokens.p, 6000, 200);
    check_long(merges.p, tokens.p, WORD_MAX, 100);
    buf_release(&merges);
    buf_release(&tokens);
    buf_release(&a);
}

static void same_as_definition(void **state)
{
    (void)state;
    /* Grown in order. */
    check_against_definition("\"a b\",\"ab c\",\"ab ab\",\"c d\",\"abc d\",\"a a\",\"aa aa\"",
                             ",\"ab\":4,\"abc\":5,\"abab\":6,\"cd\":7,\"abcd\":8,\"aa\":9,"
                             "\"aaaa\":10");
    /* Out of order: what uses a token goes before what makes it; one token made in two ways. */
    check_against_definition(
        "\"abc d\",\"ab c\",\"aa a\",\"a aa\",\"a b\",\"b c\",\"a bc\",\"a a\","
        "\"b b\",\"bb bb\",\"bb b\",\"b bb\"",
        ",\"ab\":4,\"abc\":5,\"abcd\":6,\"aa\":7,\"aaa\":8,\"bc\":9,\"bb\":10,"
        "\"bbbb\":11,\"bbb\":12");
}

/* Steps, not time: ten times the text may take twelve times the steps. */
static void check_steps(bool at_once)
{
    static const char *const patterns[] = {"a", "ab", "abc", "aab", "abcabd"};
    struct vocab *v = make_vocab(
        "\"a b\",\"ab c\",\"ab ab\",\"a a\",\"aa aa\",\"aaaa aaaa\",\"abc ab\"",
        ",\"ab\":4,\"abc\":5,\"abab\":6,\"aa\":7,\"aaaa\":8,\"aaaaaaaa\":9,\"abcab\":10");
    struct bpe b;
    struct error err = {0};
    assert_int_equal(bpe_build(&b, v, &err), 0);
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        uint64_t steps[2];
        for (int big = 0; big < 2; big++) {
            size_t n = big ? 1000000 : 100000, unit = strlen(patterns[p]);
            uint32_t *symbol = malloc(n * sizeof symbol[0]);
            struct bpe_work w = {0};
            assert_non_null(symbol);
            for (size_t i = 0; i < n; i++)
                symbol[i] = (uint32_t)(patterns[p][i % unit] - 'a');
            assert_true((at_once ? bpe_merge_at_once : bpe_merge)(&b, &w, symbol, NULL, n) < n);
            steps[big] = w.steps;
            bpe_work_release(&w);
            free(symbol);
        }
        assert_true(steps[0] > 0);
        assert_true(steps[1] <= 12 * steps[0]);
    }
    bpe_release(&b);
    vocab_free(v);
}

static void near_linear(void **state)
{
    (void)state;
    check_steps(false);
    check_steps(true);
}

static void duplicate_merge(void **state)
{
    (void)state;
    struct vocab *v = make_vocab("\"a b\",\"c d\",\"a b\"", ",\"ab\":4,\"cd\":5");
    struct bpe b;
    struct error err = {0};
    assert_int_equal(bpe_build(&b, v, &err), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
    assert_string_equal(err.message, "merges 0 and 2 are the same pair");
    bpe_release(&b);
    vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_definition),
        cmocka_unit_test(windows),
        cmocka_unit_test(near_linear),
        cmocka_unit_test(duplicate_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
