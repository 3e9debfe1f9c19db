/* Whatever bytes come as a trace: read whole or refused with a place; what is read keeps its
 * promises. */
#include "corpus/corpus.h"
#include "corpus/trace.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct trace t;

    if (trace_read_bytes(&t, str_make(data, size), "t", TRACE_AUTO, 0, &err) < 0) {
        FUZZ_REQUIRE(err.message[0]);
        return 0;
    }
    FUZZ_REQUIRE(t.n > 0 && t.items[0].at_ns == 0 && t.format < TRACE_AUTO);
    for (size_t i = 0; i < t.n; i++) {
        const struct trace_item *item = &t.items[i];
        FUZZ_REQUIRE(item->prompt_tokens >= 1 && item->prompt_tokens <= CORPUS_TOKENS_MAX);
        FUZZ_REQUIRE(item->output_tokens >= 1 && item->output_tokens <= CORPUS_TOKENS_MAX);
        FUZZ_REQUIRE(item->at_ns <= TRACE_SPAN_MAX_NS);
        FUZZ_REQUIRE(i == 0 || item->at_ns >= t.items[i - 1].at_ns);
        FUZZ_REQUIRE(trace_due_ns(item, 1000) == item->at_ns);
        FUZZ_REQUIRE(trace_due_ns(item, 2000) == item->at_ns / 2);
    }
    trace_release(&t);
    return 0;
}
