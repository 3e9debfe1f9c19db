/* A line that sample_read accepts passes sample_check, and writing it and reading it again gives
 * the same text. */
#include "fuzz.h"
#include "record/sample.h"

#define MEMORY ((size_t)256 << 20)

static void print(struct buf *out, const struct sample *s)
{
    struct json_writer w;
    struct error err = {0};
    json_writer_init(&w, out, 0);
    sample_write(s, &w);
    FUZZ_REQUIRE(json_writer_check(&w, "sample", &err) == 0);
}

static int read_line(struct sample *s, struct str line, struct arena *arena, struct error *err)
{
    const struct json *doc;
    return json_parse(&doc, line, &JSON_LIMITS_DEFAULT, arena, err) < 0
               ? -1
               : sample_read(s, doc, arena, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct sample s, again;
    struct arena arena;
    struct buf first = BUF_INIT(BUF_ANY), second = BUF_INIT(BUF_ANY);
    arena_init(&arena, MEMORY);
    if (read_line(&s, str_make(data, size), &arena, &err) < 0) {
        FUZZ_REQUIRE(err.message[0]);
    } else {
        FUZZ_REQUIRE(sample_check(&s, &err) == 0);
        print(&first, &s);
        FUZZ_REQUIRE(read_line(&again, buf_str(&first), &arena, &err) == 0);
        print(&second, &again);
        FUZZ_REQUIRE(str_eq(buf_str(&first), buf_str(&second)));
        if (sample_check_order(&s, &err) < 0)
            FUZZ_REQUIRE(err.rule[0]);
    }
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
    return 0;
}
