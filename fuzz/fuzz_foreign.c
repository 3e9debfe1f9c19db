/* A result file of another benchmark is read or refused with a reason; what is had is a number. */
#include <math.h>

#include "fuzz.h"
#include "gate/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct foreign f;
    struct foreign_row *rows;
    struct arena arena;
    struct error err = {0};
    size_t n;
    if (foreign_read_bytes(&f, str_make(data, size), "fuzz", &err) < 0) {
        FUZZ_REQUIRE(err.message[0]);
        return 0;
    }
    FUZZ_REQUIRE(f.runs_n <= FOREIGN_RUNS_MAX);
    for (size_t i = 0; i < f.runs_n; i++)
        for (int m = 0; m < FOREIGN_METRIC_COUNT; m++)
            FUZZ_REQUIRE(!f.runs[i].has[m] ||
                         (f.runs[i].values[m] >= 0 && !isnan(f.runs[i].values[m])));
    arena_init(&arena, (size_t)1 << 20);
    if (foreign_compare(&f, &f, &arena, &rows, &n, &err) == 0)
        for (size_t i = 0; i < n; i++)
            FUZZ_REQUIRE(rows[i].ratio == 1);
    else
        FUZZ_REQUIRE(err.message[0]);
    arena_release(&arena);
    foreign_release(&f);
    return 0;
}
