/*
 * What a fuzz target defines: one input, no state kept, no output; 0 always.
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
 *
 * A broken promise of the code under test aborts (FUZZ_REQUIRE); memory faults are the sanitizers'.
 */
#ifndef TALLY_FUZZ_H
#define TALLY_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* assert, but never compiled out. */
#define FUZZ_REQUIRE(condition)                                                     \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

#endif
