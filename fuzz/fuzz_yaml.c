/* A YAML document that is accepted is a JSON document: written as JSON it reads as the same, by
 * the JSON reader; a refusal says why. */
#include "codec/json_write.h"
#include "codec/yaml.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct arena arena;
    const struct json *doc = NULL, *again;
    arena_init(&arena, (size_t)64 << 20);
    if (yaml_parse(&doc, str_make(data, size), &JSON_LIMITS_DEFAULT, &arena, &err) == 0) {
        struct buf text = BUF_INIT(BUF_ANY);
        struct json_writer w;
        json_writer_init(&w, &text, 0);
        json_put_value(&w, doc);
        FUZZ_REQUIRE(json_writer_check(&w, "document", &err) == 0);
        FUZZ_REQUIRE(json_parse(&again, buf_str(&text), &JSON_LIMITS_DEFAULT, &arena, &err) == 0);
        FUZZ_REQUIRE(json_equal(doc, again));
        buf_release(&text);
    } else {
        FUZZ_REQUIRE(err.message[0] && !doc);
    }
    arena_release(&arena);
    return 0;
}
