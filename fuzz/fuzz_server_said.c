/* What is taken of any document is within what a receipt may hold; a refusal names its rule. */
#include <string.h>

#include "fuzz.h"
#include "receipt/server_said.h"
#include "record/sample.h"

static void count(int64_t n)
{
    FUZZ_REQUIRE(n >= COUNT_NONE && n <= SAMPLE_COUNT_MAX);
}

static void layers(int64_t n)
{
    FUZZ_REQUIRE(n == INT64_MIN || (n >= -1 && n <= SAMPLE_COUNT_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct run_server s;
    if (server_said_read(&s, str_make(data, size), &err) < 0) {
        FUZZ_REQUIRE(err.kind == ERROR_REFUSED && strcmp(err.rule, "server") == 0);
        return 0;
    }
    FUZZ_REQUIRE(!s.file && !s.sha256[0]);
    count(s.slots);
    count(s.in_flight_max);
    count(s.preemptions);
    count(s.prompt_tokens);
    count(s.output_tokens);
    layers(s.gpu_layers_requested);
    layers(s.gpu_layers_resolved);
    FUZZ_REQUIRE(s.kv_use_before == -1 || s.kv_use_before >= 0);
    FUZZ_REQUIRE(s.kv_use_after == -1 || s.kv_use_after >= 0);
    FUZZ_REQUIRE(s.gpu_memory_share == -1 || s.gpu_memory_share >= 0);
    return 0;
}
