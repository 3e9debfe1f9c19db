/* Whatever bytes come as a corpus: read whole or refused with a place; what is read can be checked
 * and drawn from. */
#include "base/buf.h"
#include "corpus/corpus.h"
#include "fuzz.h"

static int count_words(void *ctx, struct str s, size_t *n, struct error *err)
{
    (void)ctx;
    (void)err;
    *n = 0;
    for (size_t i = 0; i < s.n; i++)
        *n += s.p[i] != ' ' && (i == 0 || s.p[i - 1] == ' ');
    return 0;
}

static void use(const struct corpus *c)
{
    const struct corpus_counter counter = {count_words, NULL};
    const struct corpus_draw which = {"n", 1, 1, false, 3};
    struct buf text = BUF_INIT(0);
    struct corpus_prompt prompt;
    struct corpus_seen seen;
    struct error err = {0};

    FUZZ_REQUIRE(c->n > 0);
    if (corpus_check(c, &counter, NULL, &seen, &err) == 0) {
        FUZZ_REQUIRE(seen.count == (int64_t)c->n);
        FUZZ_REQUIRE(c->promise.stated);
    } else {
        FUZZ_REQUIRE(err.kind == ERROR_REFUSED && err.line > 0);
    }
    if (corpus_unique(c, &counter, &which, &text, &prompt, &err) == 0 &&
        c->promise.tokens != CORPUS_NOT_PROMISED) {
        int64_t off = prompt.tokens - c->promise.tokens;
        FUZZ_REQUIRE((off < 0 ? -off : off) <= c->promise.tolerance);
    }
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct corpus c;

    if (corpus_read_bytes(&c, str_make(data, size), "corpus", &err) == 0) {
        use(&c);
        corpus_release(&c);
    } else {
        FUZZ_REQUIRE(err.kind != ERROR_NONE && err.message[0]);
    }
    return 0;
}
