/* Redacting twice is redacting once. */
#include "fuzz.h"
#include "receipt/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, (size_t)64 << 20);
    char *word = arena_cstr(&arena, str_make(data, size));
    const char *once = redact_word(str_of(word), &arena);
    FUZZ_REQUIRE(once);
    const char *twice = redact_word(str_of(once), &arena);
    FUZZ_REQUIRE(twice && str_eq(str_of(once), str_of(twice)));
    arena_release(&arena);
    return 0;
}
