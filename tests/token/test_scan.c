/* Pre-tokenizers by hand: the traps of the reference's regular expressions, piece by piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "token/scan.h"
#include "token/scan_ascii.h"
#include "token/scan_internal.h"

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

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* What a class is, byte by byte. */
static void ascii_masks(void **state)
{
    (void)state;
    uint32_t random = 77;
    for (int round = 0; round < 2000; round++) {
        uint8_t text[SCAN_ASCII_BLOCK];
        struct ascii_masks m;
        for (unsigned i = 0; i < SCAN_ASCII_BLOCK; i++)
            text[i] = (uint8_t)(round < 4 ? (unsigned)round * 64 + i : next_random(&random) >> 8);
        scan_ascii_classify(&m, text);
        for (unsigned i = 0; i < SCAN_ASCII_BLOCK; i++) {
            uint8_t c = text[i];
            bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
            bool digit = c >= '0' && c <= '9', blank = c == ' ' || (c >= 9 && c <= 13);
            assert_int_equal(m.letter >> i & 1, upper || lower);
            assert_int_equal(m.upper >> i & 1, upper);
            assert_int_equal(m.digit >> i & 1, digit);
            assert_int_equal(m.space >> i & 1, c == ' ');
            assert_int_equal(m.newline >> i & 1, c == '\n' || c == '\r');
            assert_int_equal(m.blank >> i & 1, blank);
            assert_int_equal(m.apostrophe >> i & 1, c == '\'');
            assert_int_equal(m.slash >> i & 1, c == '/');
            assert_int_equal(m.control >> i & 1, (c < 0x20 && !blank) || c == 0x7F);
            assert_int_equal(m.wide >> i & 1, c >= 0x80);
            assert_int_equal(m.other >> i & 1, c < 0x80 && !upper && !lower && !digit && !blank);
        }
    }
}

/* Strings of what expressions tell apart, thick with their traps. */
static size_t make_text(char text[1024], uint32_t *random)
{
    static const char *const parts[] = {
        "a",
        "Z",
        "the",
        "The",
        "HTTPServer",
        "x",
        " ",
        " ",
        " ",
        "  ",
        "   ",
        "\n",
        "\r\n",
        "\t",
        "\v",
        ".",
        ",",
        "...",
        "/",
        "//",
        "'",
        "'s",
        "'ll",
        "'LL",
        "'x",
        "1",
        "12",
        "123",
        "1234",
        "-",
        "\x01",
        "\x1C",
        "\x7F",
        "_",
        "\xC3\xA9",
        "\xC2\xA0",
        "\xE3\x80\x80",
        "\xE6\x97\xA5",
        "\xCC\x81",
        "\xC5\xBF",
        "'\xC5\xBF",
        "\xD9\xA3",
        "\xE2\x80\x94",
    };
    /* Of some kinds of texts only the first parts, so that blocks are often whole. */
    size_t n = 0, want = next_random(random) % 900;
    uint32_t kinds = next_random(random) % 2 ? 34 : sizeof parts / sizeof parts[0];
    while (n < want) {
        const char *part = parts[next_random(random) % kinds];
        memcpy(text + n, part, strlen(part));
        n += strlen(part);
    }
    return n;
}

/* Runs of numbers, and of kana and Han, however much ASCII lies between them. */
static void runs(void **state)
{
    (void)state;
    static const char *const parts[] = {"a",
                                        "Z",
                                        " ",
                                        "/",
                                        ":",
                                        "0",
                                        "9",
                                        "12345",
                                        "\xD9\xA3",
                                        "\xE6\x97\xA5",
                                        "\xE3\x81\x82",
                                        "\xC3\xA9",
                                        "@",
                                        "o",
                                        "p",
                                        "\x7F"};
    uint32_t random = 99;
    for (int round = 0; round < 20000; round++) {
        char text[512];
        size_t n = 0, want = next_random(&random) % 300;
        uint32_t kinds = 5 + next_random(&random) % 12, end[SCAN_BATCH];
        const struct scan_rules r = {.family = SCAN_RUNS,
                                     .digits = round % 2 ? 3 : SCAN_ANY_DIGITS,
                                     .set = round % 4 < 2 ? SCAN_NUMBERS : SCAN_KANA_AND_HAN};
        while (n < want) {
            const char *part = parts[next_random(&random) % 16 % kinds];
            memcpy(text + n, part, strlen(part));
            n += strlen(part);
        }
        struct str s = str_make(text, n);
        bool was_inside = false;
        uint32_t taken = 0;
        for (size_t at = 0, got; at < s.n; at = end[got - 1]) {
            got = scan(&r, s, at, end);
            for (size_t i = 0, from = at; i < got; from = end[i++])
                for (size_t k = from, len; k < end[i]; k += len) {
                    uint32_t cp;
                    len = uni_next((const uint8_t *)text + k, &cp);
                    bool inside = r.set == SCAN_NUMBERS ? uni_is(cp, UNI_NUMBER)
                                                        : (cp >= 0x4E00 && cp <= 0x9FA5) ||
                                                              (cp >= 0x3040 && cp <= 0x30FF);
                    bool begins = k == 0 || inside != was_inside || (inside && taken == r.digits);
                    assert_int_equal(k == from, begins);
                    taken = begins ? 1 : taken + 1;
                    was_inside = inside;
                }
        }
    }
}

/* Blocks of ASCII give the pieces that scanning by character does. */
static void blocks(void **state)
{
    (void)state;
    static const uint32_t digits[] = {1, 2, 3, SCAN_ANY_DIGITS};
    static const enum scan_family families[] = {SCAN_QWEN2, SCAN_CASE, SCAN_GPT2, SCAN_DEEPSEEK};
    uint32_t random = 20261201;
    size_t in_blocks = 0;
    for (unsigned round = 0; round < 40000; round++) {
        char text[1024];
        uint32_t end[SCAN_BATCH], one;
        struct str s = str_make(text, make_text(text, &random));
        const struct scan_rules r = {
            .family = families[round % 4],
            .digits = digits[round / 4 % 4],
            .fold_all = round / 16 % 2,
            .no_contraction = round / 32 % 2,
            .marks = round / 64 % 2 && round % 4 == 0,
            .ascii_case = round / 64 % 2 && round % 4 == 1,
        };
        for (size_t at = 0, n; at < s.n; at = end[n - 1]) {
            n = scan(&r, s, at, end);
            in_blocks += n;
            for (size_t i = 0, from = at; i < n; from = end[i++]) {
                assert_int_equal(scan_by_character(&r, s, from, &one, 1), 1);
                if (one != end[i])
                    fail_msg(
                        "family %d, digits %u: \"%.*s\" from %zu: the piece ends at %u, not %u",
                        (int)r.family, r.digits, STR_ARG(str_first(str_skip(s, from), 80)), from,
                        one, end[i]);
            }
        }
    }
    assert_true(in_blocks > 1000000);
    assert_true(scan_ascii_can(&q));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qwen2),       cmocka_unit_test(llama3),  cmocka_unit_test(gpt2),
        cmocka_unit_test(white_space), cmocka_unit_test(batches), cmocka_unit_test(newer_letters),
        cmocka_unit_test(ascii_masks), cmocka_unit_test(blocks),  cmocka_unit_test(runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
