/* What the reader of receipts and run.json accepts is written again as a run.json that reads back
 * to the same text; a receipt's run id is found or refused, never misread. */
#include "fuzz.h"
#include "receipt/compose.h"
#include "receipt/read.h"

#define MEMORY ((size_t)256 << 20)

static void write_run(struct buf *out, struct receipt_read *r, struct arena *arena)
{
    struct error err = {0};
    struct run_record declared = r->run;
    struct receipt_parts parts = {.run = &declared, .host = &r->host, .program = &r->program};
    declared.bands_n = 0;
    FUZZ_REQUIRE(compose_run(&parts, arena, out, &err) == 0);
}

static void try_as(struct str text, bool complete)
{
    struct error err = {0};
    struct receipt_read r, again;
    struct arena arena;
    struct buf first = BUF_INIT(BUF_ANY), second = BUF_INIT(BUF_ANY);
    if (receipt_read_text(&r, text, complete, "fuzz", &err) < 0) {
        FUZZ_REQUIRE(err.message[0]);
        return;
    }
    arena_init(&arena, MEMORY);
    FUZZ_REQUIRE(receipt_check_record(&r.run, &err) == 0);
    write_run(&first, &r, &arena);
    FUZZ_REQUIRE(receipt_read_text(&again, buf_str(&first), false, "again", &err) == 0);
    write_run(&second, &again, &arena);
    FUZZ_REQUIRE(str_eq(buf_str(&first), buf_str(&second)));
    receipt_read_release(&r);
    receipt_read_release(&again);
    arena_release(&arena);
    buf_release(&first);
    buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make(data, size), id;
    struct error err = {0};
    char digest[SHA256_HEX];
    if (receipt_text_id(text, &id, digest, &err) == 0)
        FUZZ_REQUIRE(id.n == SHA256_HEX - 1);
    else
        FUZZ_REQUIRE(err.message[0]);
    try_as(text, true);
    try_as(text, false);
    return 0;
}
