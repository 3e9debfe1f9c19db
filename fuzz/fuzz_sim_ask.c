/* Any body as any kind of request: read within its limits or refused with words, and rendered. The
 * first byte says which kind. */
#include "fuzz.h"

#include "wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {0};
    struct ask ask;
    const struct json *doc;
    if (size == 0)
        return 0;
    arena_init(&arena, (size_t)16 << 20);
    if (json_parse(&doc, str_make(data + 1, size - 1), &JSON_LIMITS_DEFAULT, &arena, &err) == 0) {
        if (ask_read(&ask, (enum ask_kind)(data[0] % 5), doc, &arena, &err) < 0) {
            FUZZ_REQUIRE(err.message[0]);
        } else {
            FUZZ_REQUIRE(ask.n >= 1 && ask.n <= ASK_CHOICES_MAX);
            FUZZ_REQUIRE(ask.max_tokens >= -1 && ask.max_tokens <= ASK_TOKENS_MAX);
            for (size_t i = 0; ask.n_messages > 0 && i < profiles_n; i++) {
                struct buf text = BUF_INIT(WRAP_TEXT_MAX);
                FUZZ_REQUIRE(wrap_render(&text, &profiles[i], &ask, &err) == 0 && text.n > 0);
                buf_release(&text);
            }
        }
    }
    arena_release(&arena);
    return 0;
}
