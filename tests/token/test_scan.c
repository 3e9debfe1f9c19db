/* Pre-tokenizers by hand: the traps of the reference's regular expressions, piece by piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "token/scan.h"

/* Pieces joined by '|'. */
static void check(const struct scan_rules *rules, const char *text, const char *want)
{
    struct buf got = BUF_INIT(1 << 16);
    struct str s = str_of(text);
    uint32_t end[SCAN_BATCH];
    for (size_t at = 0; at < s.n;) {
        size_t n = scan(rules, s, at, end);
        assert_true(n >= 1 && n <= SCAN_BATCH);
        for (size_t i = 0; i < n; i++) {
            assert_true(end[i] > at && end[i] <= s.n);
            if (at)
                buf_addc(&got, '|');
            buf_add(&got, s.p + at, end[i] - at);
            at = end[i];
        }
    }
    assert_string_equal(buf_str(&got).p, want);
    buf_release(&got);
}

static const struct scan_rules q = {.family = SCAN_QWEN2, .digits = 1, .fold_all = true},
                               l3 = {.family = SCAN_QWEN2, .digits = 3, .fold_all = true},
                               q_llama = {.family = SCAN_QWEN2, .digits = 1, .fold_all = false},
                               g = {.family = SCAN_GPT2, .digits = 0, .fold_all = false};

static void qwen2(void **state)
{
    (void)state;
    check(&q, "x'ſy", "x|'ſ|y");
    check(&q_llama, "x'ſy", "x|'ſy");
    check(&q, "I'LLx", "I|'LL|x");
    check(&q, "we'vE'reached", "we|'vE|'re|ached");
    check(&q, "a  12", "a| | |1|2");
    check(&q, "a   \n  b", "a|   \n| | b");
    check(&q, ";\r\n\n b", ";\r\n\n| b");
    check(&q, "#1a", "#|1|a");
    check(&q, "$abc", "$abc");
    check(&q, " $abc", " $|abc");
    check(&q, "क्षि", "क|्ष|ि");
    check(&q, "\tab", "\tab");
    check(&q, "\nab", "\n|ab");
    check(&q, "a \t ", "a| \t ");
    check(&q,
          "a\xC2\xA0\xC2\xA0"
          "b",
          "a|\xC2\xA0|\xC2\xA0"
          "b");
    check(&q, "''s", "''|s");
    check(&q, "'", "'");
    check(&q, "½²x", "½|²|x");
    check(&q, " \u3000.", " |\u3000|.");
}

static void llama3(void **state)
{
    (void)state;
    check(&l3, "12345678", "123|456|78");
    check(&l3, "a1234b", "a|123|4|b");
    check(&l3, "१२३४", "१२३|४");
}

static void gpt2(void **state)
{
    (void)state;
    check(&g, "I'LLx", "I|'|LLx");
    check(&g, "it's 12ab", "it|'s| 12|ab");
    check(&g, "a  12", "a| | 12");
    check(&g, "a   \n  b", "a|   \n | b");
    check(&g, " \tx", " |\t|x");
    check(&g, "..\n", "..|\n");
}

/* \s is 25 characters and no others: those of Unicode's White_Space. */
static void white_space(void **state)
{
    (void)state;
    check(&q, "a\xC2\x85\u2028", "a|\xC2\x85\u2028");
    check(&q, "a\u200B.", "a|\u200B."); /* zero-width space is none */
    check(&q, "a\uFEFF.", "a|\uFEFF.");
    check(&q, "a\u180E.", "a|\u180E.");
    check(&q, "a\x1C.", "a|\x1C.");
}

/* U+1C89 is a letter since Unicode 16: to Hugging Face's patterns, not to llama.cpp's tables. */
static void newer_letters(void **state)
{
    const struct scan_rules older[] = {
        {.family = SCAN_QWEN2, .digits = 1, .older = true},
        {.family = SCAN_GPT2, .older = true},
        {.family = SCAN_CASE, .digits = 3, .ascii_case = true, .older = true},
        {.family = SCAN_DEEPSEEK, .older = true},
    };
    (void)state;
    check(&q, "a\u1C89b", "a\u1C89b");
    check(&g, "a\u1C89b", "a\u1C89b");
    check(&older[0], "a\u1C89b", "a|\u1C89b"); /* it may stand in front of letters */
    check(&older[0], "a\u1C8A.", "a|\u1C8A.");
    check(&older[1], "a\u1C89b", "a|\u1C89|b");
    check(&older[2], "a\u1C89b", "a|\u1C89b");
    check(&older[3], "a\u1C89b", "a|\u1C89b");
    check(&older[0], "a\u1C88b", "a\u1C88b"); /* Unicode 9 */
}

/* More pieces than a batch holds: the next call goes on where the last ended. */
static void batches(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(4096), want = BUF_INIT(8192);
    for (int i = 0; i < 2 * SCAN_BATCH + 1; i++) {
        buf_addc(&text, '7');
        buf_adds(&want, i ? "|7" : "7");
    }
    check(&q, text.p, want.p);
    buf_release(&text);
    buf_release(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qwen2),       cmocka_unit_test(llama3),  cmocka_unit_test(gpt2),
        cmocka_unit_test(white_space), cmocka_unit_test(batches), cmocka_unit_test(newer_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
