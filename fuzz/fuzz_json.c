/* What json_parse accepts must survive writing and parsing again as an equal document. */
#include "codec/json.h"
#include "codec/json_write.h"
#include "fuzz.h"

static void check_document(const struct json *doc, unsigned indent)
{
    struct error err = {0};
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    struct arena arena;
    const struct json *again;
    arena_init(&arena, (size_t)256 << 20);
    json_writer_init(&w, &text, indent);
    json_put_value(&w, doc);
    FUZZ_REQUIRE(json_writer_check(&w, "document", &err) == 0);
    FUZZ_REQUIRE(json_parse(&again, buf_str(&text), &JSON_LIMITS_DEFAULT, &arena, &err) == 0);
    FUZZ_REQUIRE(json_equal(doc, again));
    arena_release(&arena);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct arena arena;
    const struct json *doc = NULL;
    arena_init(&arena, (size_t)64 << 20);
    if (json_parse(&doc, str_make(data, size), &JSON_LIMITS_DEFAULT, &arena, &err) == 0) {
        check_document(doc, 0);
        check_document(doc, 2);
    } else {
        FUZZ_REQUIRE(err.kind != ERROR_NONE && err.message[0] && !doc);
    }
    arena_release(&arena);
    return 0;
}
