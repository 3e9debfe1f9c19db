/* Any bytes as a model file: refused with a reason, or opened and then encoding what it is given.
 */
#include <string.h>

#include "fuzz.h"
#include "token/tokenizer.h"

static const char text[] = "It's 1234 \n\n <s> caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC ab\xFF";

static void try_out(const struct tokenizer *t)
{
    struct token_ids ids = {.with_offsets = true};
    struct error err = {0};
    struct buf out = BUF_INIT((size_t)1 << 24);
    size_t n;
    const struct encode_options ways[] = {
        {.special_text = SPECIAL_TEXT_PARSED, .add_special = true},
        {.special_text = SPECIAL_TEXT_PLAIN}};
    for (size_t i = 0; i < 2; i++) {
        if (tokenizer_encode(t, str_make(text, sizeof text - 1), &ways[i], &ids, &err) < 0) {
            FUZZ_REQUIRE(err.message[0]);
            continue;
        }
        FUZZ_REQUIRE(tokenizer_count(t, str_make(text, sizeof text - 1), &ways[i], &n, &err) == 0 &&
                     n == ids.n);
        for (size_t k = 0; k < ids.n; k++)
            FUZZ_REQUIRE(ids.from[k] <= ids.to[k] && ids.to[k] <= sizeof text - 1);
        FUZZ_REQUIRE(tokenizer_decode(t, ids.id, ids.n, false, &out, &err) == 0);
        buf_reset(&out);
    }
    token_ids_release(&ids);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tokenizer *t = NULL;
    struct error err = {0};
    const struct tokenizer_options o = {REFERENCE_FROM_FILE};
    if (tokenizer_open_bytes(&t, str_make(data, size), "fuzz", &o, &err) < 0) {
        FUZZ_REQUIRE(!t && err.kind != ERROR_NONE && err.message[0]);
        return 0;
    }
    try_out(t);
    tokenizer_free(t);
    return 0;
}
