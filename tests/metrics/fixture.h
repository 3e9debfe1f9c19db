/*
 * One band of samples made by hand, computed, and looked at.
 *
 *     make(&m[0], 0, 0); ...; compute(1, &facts);
 *     assert_ms(METRIC_TTFT, STAT_P50, 214);
 *
 * To be included once, by a test's only source file.
 */
#ifndef TALLY_TESTS_METRICS_FIXTURE_H
#define TALLY_TESTS_METRICS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "make.h"

#define MANY 12

static struct made m[MANY];
static struct arena arena;
static struct metrics_band band;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void compute(size_t n, const struct metrics_band_facts *f)
{
    struct error err = {0};
    struct sample samples[MANY];
    for (size_t i = 0; i < n; i++)
        samples[i] = m[i].s;
    if (metrics_band_compute(samples, n, f, &arena, &band, &err) < 0)
        fail_msg("%s", err.message);
}

#define METRIC(id) (&band.metrics[id])
#define NS(id, stat) (band.metrics[id].stats[stat].ns)
#define assert_absent(id, reason) assert_int_equal(band.metrics[id].why, reason)
#define assert_ms(id, stat, ms)                                          \
    do {                                                                 \
        assert_int_equal(band.metrics[id].why, REASON_NONE);             \
        assert_int_equal(band.metrics[id].stats[stat].why, REASON_NONE); \
        assert_int_equal(band.metrics[id].stats[stat].ns, (ms)*MS);      \
    } while (0)
#define assert_real(id, v)                                   \
    do {                                                     \
        assert_int_equal(band.metrics[id].why, REASON_NONE); \
        assert_true(band.metrics[id].real == (v));           \
    } while (0)

#endif
