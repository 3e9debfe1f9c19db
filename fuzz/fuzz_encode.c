/* Any text under small tokenizers of each family: counts agree, offsets lie in order within it. */
#include <string.h>

#include "fuzz.h"
#include "token/cut.h"
#include "token/pieces.h"
#include "token/tokenizer.h"

#define SPLIT(regex)                                                                        \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":" \
    "\"" regex "\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","   \
    "\"add_prefix_space\":false,\"use_regex\":false}]}"
#define Q_LIKE(digits)                                                                   \
    SPLIT("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|" digits \
          "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+")

static const char *const splits[] = {
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}",
    Q_LIKE("\\\\p{N}"),
    Q_LIKE("\\\\p{N}{1,3}"),
};
#define FAMILIES (sizeof splits / sizeof splits[0])

static struct tokenizer *make(const char *split)
{
    struct buf b = BUF_INIT((size_t)1 << 20);
    struct error err = {0};
    struct tokenizer *t = NULL;
    buf_addf(&b,
             "{\"added_tokens\":[{\"id\":259,\"content\":\"<s>\",\"special\":true,\"rstrip\":true},"
             "{\"id\":260,\"content\":\"<w>\",\"special\":false,\"single_word\":true,"
             "\"normalized\":true}],\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":%s,"
             "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{",
             split);
    for (unsigned byte = 0; byte < 256; byte++)
        buf_addf(&b, "\"\\u%04x\":%u,", byte_level_char((uint8_t)byte), byte);
    buf_adds(&b, "\"ab\":256,\"abc\":257,\"bc\":258},\"merges\":[\"b c\",\"a b\",\"ab c\"]}}");
    const struct tokenizer_options o = {REFERENCE_FROM_FILE};
    FUZZ_REQUIRE(tokenizer_open_bytes(&t, buf_str(&b), "fuzz", &o, &err) == 0);
    buf_release(&b);
    return t;
}

/* Cut at the last place that is offered, the parts have the ids of the whole. */
static void require_parts(const struct tokenizer *t, struct str text, const struct token_ids *whole)
{
    struct token_ids front = {0}, back = {0};
    struct cut_rules rules;
    struct error err = {0};
    FUZZ_REQUIRE(cut_rules_make(&rules, t, &err) == 0 && rules.any);
    size_t at = cut_last(&rules, text, 0);
    if (at == 0)
        return;
    const struct encode_options first = {.goes_on = true}, second = {.continues = true};
    FUZZ_REQUIRE(tokenizer_encode(t, str_first(text, at), &first, &front, &err) == 0);
    FUZZ_REQUIRE(tokenizer_encode(t, str_skip(text, at), &second, &back, &err) == 0);
    FUZZ_REQUIRE(front.n + back.n == whole->n);
    for (size_t i = 0; i < whole->n; i++)
        FUZZ_REQUIRE((i < front.n ? front.id[i] : back.id[i - front.n]) == whole->id[i]);
    FUZZ_REQUIRE(front.replaced + back.replaced == whole->replaced);
    token_ids_release(&front);
    token_ids_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tokenizer *t[FAMILIES];
    struct str text = str_make(data, size);
    for (size_t f = 0; f < FAMILIES; f++) {
        struct token_ids ids = {.with_offsets = true};
        struct error err = {0};
        const struct encode_options o = {0};
        size_t n, last = 0;
        if (!t[f])
            t[f] = make(splits[f]);
        FUZZ_REQUIRE(tokenizer_encode(t[f], text, &o, &ids, &err) == 0);
        FUZZ_REQUIRE(tokenizer_count(t[f], text, &o, &n, &err) == 0 && n == ids.n);
        for (size_t i = 0; i < ids.n; i++) {
            FUZZ_REQUIRE(ids.from[i] <= ids.to[i] && ids.to[i] <= size && ids.to[i] >= last);
            last = ids.to[i];
        }
        require_parts(t[f], text, &ids);
        token_ids_release(&ids);
    }
    return 0;
}
