/* Any bytes as requests: cut in two anywhere they parse as they do at once, and never past the end.
 * The first byte says where to cut. */
#include "fuzz.h"

#include <string.h>

#include "http.h"

#define REQUESTS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_parser whole = {0}, cut = {0};
    struct http_request a = {0}, b = {0};
    struct http_refusal why = {0}, why_cut = {0};
    if (size == 0)
        return 0;
    struct str left = str_make(data + 1, size - 1);
    for (int i = 0; i < REQUESTS_MAX; i++) {
        size_t at = left.n * data[0] / 255;
        enum http_progress got = http_parse(&whole, left, &a, &why), early;
        /* the first piece lies elsewhere and is gone when the second comes */
        char *piece = malloc(at + 1);
        FUZZ_REQUIRE(piece);
        if (at > 0)
            memcpy(piece, left.p, at);
        early = http_parse(&cut, str_make(piece, at), &b, &why_cut);
        memset(piece, 'X', at);
        free(piece);
        if (early == HTTP_MORE)
            early = http_parse(&cut, left, &b, &why_cut);
        else
            b = a;
        FUZZ_REQUIRE(early == got);
        if (got == HTTP_BAD)
            FUZZ_REQUIRE(why.status >= 400 && http_reason(why.status) && why.why);
        if (got != HTTP_READY)
            break;
        FUZZ_REQUIRE(http_end(&whole) > 0 && http_end(&whole) <= left.n);
        FUZZ_REQUIRE(http_end(&whole) == http_end(&cut));
        FUZZ_REQUIRE(str_eq(a.path, b.path) && str_eq(a.body, b.body));
        left = str_skip(left, http_end(&whole));
        http_next(&whole);
        http_next(&cut);
    }
    http_release(&whole);
    http_release(&cut);
    return 0;
}
