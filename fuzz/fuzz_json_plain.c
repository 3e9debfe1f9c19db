/* What the short way takes, json_stream takes with the same events. */
#include "../tests/codec/event_log.h"
#include "codec/json_plain.h"
#include "fuzz.h"

#define DEPTH 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf mine = BUF_INIT(BUF_ANY), theirs = BUF_INIT(BUF_ANY);
    struct str text = str_make(data, size);
    if (json_plain(&event_log, &mine, text, DEPTH)) {
        FUZZ_REQUIRE(log_stream(&theirs, text, DEPTH));
        FUZZ_REQUIRE(str_eq(buf_str(&mine), buf_str(&theirs)));
    }
    buf_release(&mine);
    buf_release(&theirs);
    return 0;
}
