#include "base/utf8.h"

#include "../test.h"

static const struct {
    uint32_t cp;
    struct str bytes;
} edges[] = {
    {0x0, {"\0", 1}},
    {0x7F, {"\x7f", 1}},
    {0x80, {"\xc2\x80", 2}},
    {0x7FF, {"\xdf\xbf", 2}},
    {0x800, {"\xe0\xa0\x80", 3}},
    {0xD7FF, {"\xed\x9f\xbf", 3}},
    {0xE000, {"\xee\x80\x80", 3}},
    {0xFFFF, {"\xef\xbf\xbf", 3}},
    {0x10000, {"\xf0\x90\x80\x80", 4}},
    {0x10FFFF, {"\xf4\x8f\xbf\xbf", 4}},
};
#define EDGES (sizeof edges / sizeof edges[0])

static void edges_of_each_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < EDGES; i++) {
        uint32_t cp = 1;
        char out[4];
        assert_int_equal(utf8_decode(edges[i].bytes, 0, &cp), edges[i].bytes.n);
        assert_int_equal(cp, edges[i].cp);
        assert_str(str_make(out, utf8_encode(out, cp)), edges[i].bytes);
        assert_int_equal(utf8_count(edges[i].bytes), 1);
        /* Every cut-off prefix of it is ill-formed. */
        for (size_t n = 1; n < edges[i].bytes.n; n++) {
            assert_int_equal(utf8_decode(str_first(edges[i].bytes, n), 0, &cp), 0);
            assert_int_equal(utf8_valid_prefix(str_first(edges[i].bytes, n)), 0);
        }
    }
    char out[4];
    uint32_t cp = 77;
    assert_int_equal(utf8_encode(out, 0xD800), 0);
    assert_int_equal(utf8_encode(out, 0xDFFF), 0);
    assert_int_equal(utf8_encode(out, 0x110000), 0);
    assert_int_equal(utf8_decode(STR("a"), 1, &cp), 0);
    assert_int_equal(cp, 77);
}

static void ill_formed(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xc0\xaf",         /* overlong '/' */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xed\xa0\x80",     /* surrogate D800 */
        "\xed\xbf\xbf",     /* surrogate DFFF */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xf4\x90\x80\x80", /* beyond 10FFFF */
        "\xf5\x80\x80\x80",
        "\xff",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct buf b = BUF_INIT(100);
        buf_adds(&b, "0123456789ab"); /* past a whole word of ASCII */
        buf_adds(&b, bad[i]);
        buf_adds(&b, "cd");
        assert_int_equal(utf8_valid_prefix(buf_str(&b)), 12);
        assert_false(utf8_valid(buf_str(&b)));
        buf_release(&b);
    }
    assert_true(utf8_valid((struct str){0}));
    /* Wherever it lies in a machine word. */
    for (size_t at = 0; at < 20; at++) {
        char text[20];
        memset(text, 'a', sizeof text);
        text[at] = (char)0xff;
        assert_int_equal(utf8_valid_prefix(str_make(text, sizeof text)), at);
    }
}

/* Unicode, section 3.9, table 3-8, and the WHATWG decoder: one U+FFFD a maximal subpart. */
static void replaced_by_subparts(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
        size_t replaced;
    } cases[] = {
        {"ab", "ab", 0},
        {"\xf1\x80\x80\xe1\x80\xc2"
         "b",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
         "b",
         3},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", 2},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3},
        {"\xf0\x9f\x98", "\xef\xbf\xbd", 1},
        {"a\xffz", "a\xef\xbf\xbdz", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = BUF_INIT(100);
        assert_int_equal(utf8_add_lossy(&b, str_of(cases[i].in)), cases[i].replaced);
        assert_text(buf_str(&b), cases[i].out);
        buf_release(&b);
    }
}

static void adding_code_points(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(100);
    utf8_add(&b, 0x20AC);
    utf8_add(&b, 0xD800);
    utf8_add(&b, 0x110000);
    assert_text(buf_str(&b), "\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd");
    buf_release(&b);
    assert_int_equal(utf8_count(STR("a\xe2\x82\xac\xff\xff")), 4);
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(utf8_width(STR("abc")), 3);
    assert_int_equal(utf8_width(STR("\xe4\xbd\xa0\xe5\xa5\xbd")), 4); /* two ideographs */
    assert_int_equal(utf8_width(STR("e\xcc\x81")), 1);                /* e + combining acute */
    assert_int_equal(utf8_width(STR("\xf0\x9f\x98\x80")), 2);         /* an emoji */
    assert_int_equal(utf8_width(STR("a\tb\n")), 2);                   /* controls take none */
    assert_int_equal(utf8_width(STR("\xe2\x80\x8b")), 0);             /* zero-width space */
    assert_int_equal(utf8_width(STR("\xff")), 1);
    assert_int_equal(utf8_width(STR("\xea\xb0\x80\xed\x95\x9c")), 4); /* Hangul */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_of_each_length),
        cmocka_unit_test(ill_formed),
        cmocka_unit_test(replaced_by_subparts),
        cmocka_unit_test(adding_code_points),
        cmocka_unit_test(widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
