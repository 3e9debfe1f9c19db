/* The small parsers of base: numbers, durations, times, hexadecimal, UTF-8. */
#include <math.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/utf8.h"
#include "fuzz.h"

static void check_numbers(struct str s)
{
    int64_t i;
    double d, back;
    struct buf text = BUF_INIT(256);
    if (num_parse_i64(&i, s) == 0) {
        buf_addf(&text, "%lld", (long long)i);
        int64_t again;
        FUZZ_REQUIRE(num_parse_i64(&again, buf_str(&text)) == 0 && again == i);
    }
    if (num_parse_double(&d, s) == 0) {
        FUZZ_REQUIRE(isfinite(d));
        buf_reset(&text);
        num_add_repr(&text, d);
        FUZZ_REQUIRE(num_parse_double(&back, buf_str(&text)) == 0 && back == d);
        buf_reset(&text);
        num_add_real9(&text, d);
        FUZZ_REQUIRE(num_parse_double(&back, buf_str(&text)) == 0 || fabs(d) > 1.7976931e308);
    }
    if (num_parse_duration_ns(&i, s) == 0)
        FUZZ_REQUIRE(i >= 0);
    if (clock_parse_utc(&i, s) == 0) {
        char utc[CLOCK_UTC_TEXT];
        int64_t again;
        clock_format_utc(utc, i);
        FUZZ_REQUIRE(clock_parse_utc(&again, str_of(utc)) == 0 && again == i / 1000 * 1000);
    }
    buf_release(&text);
}

static void check_utf8(struct str s)
{
    struct buf fixed = BUF_INIT(BUF_ANY), coded = BUF_INIT(BUF_ANY);
    size_t replaced = utf8_add_lossy(&fixed, s);
    FUZZ_REQUIRE(utf8_valid(buf_str(&fixed)));
    FUZZ_REQUIRE((replaced == 0) == utf8_valid(s));
    FUZZ_REQUIRE(utf8_count(s) <= s.n && utf8_width(s) <= 2 * s.n);
    uint32_t cp;
    for (size_t at = 0, n; at < fixed.n; at += n) {
        n = utf8_decode(buf_str(&fixed), at, &cp);
        FUZZ_REQUIRE(n > 0);
        utf8_add(&coded, cp);
    }
    FUZZ_REQUIRE(str_eq(buf_str(&coded), buf_str(&fixed)));
    buf_release(&fixed);
    buf_release(&coded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = str_make(data, size);
    uint8_t raw[32];
    char hex[2 * sizeof raw + 1];
    check_numbers(s);
    check_utf8(s);
    if (size / 2 <= sizeof raw && hex_decode(raw, size / 2, s) == 0) {
        hex_encode(hex, raw, size / 2);
        FUZZ_REQUIRE(str_eq_nocase(str_of(hex), s));
    }
    return 0;
}
