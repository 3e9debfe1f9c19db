/*
 * The map between the real clock, which the kernel stamps with, and the monotonic clock.
 *
 *     struct clock_map map;
 *     clock_map_init(&map, &clock_pair_system);
 *     clock_map_look(&map);                                   // at the start, each second, the end
 *     mono_ns = clock_map_to_mono(&map, real_ns);
 *     if (map.steps) ...                                      // kernel times of this span are void
 *
 * One look reads mono, real, mono CLOCK_MAP_SANDWICHES times and keeps the narrowest: the offset
 * (real less mono, at the middle) and half its width, the error. NTP slews both clocks together, so
 * the offset is never interpolated: two looks whose intervals do not meet are a step of the real
 * clock, which is counted. The map then follows the new offset.
 */
#ifndef TALLY_WIRE_CLOCK_MAP_H
#define TALLY_WIRE_CLOCK_MAP_H

#include <stdint.h>

#include "base/buf.h"

#define CLOCK_MAP_SANDWICHES 16
/* What two readings of the same offset may differ by beyond their errors: the kernel updates both
 * clocks' bases a tick apart, rounding to the nanosecond. */
#define CLOCK_MAP_SLACK_NS 100

/* Where the two clocks come from; tests bring their own. */
struct clock_pair {
    int64_t (*mono_ns)(void *ctx);
    int64_t (*real_ns)(void *ctx);
    void *ctx;
};

extern const struct clock_pair clock_pair_system;

struct clock_map {
    struct clock_pair pair;
    int64_t offset_ns, error_ns; /* real - mono; half the sandwich's width */
    int64_t looked_ns;           /* mono time of the last look */
    int64_t looks, steps;
    int64_t largest_step_ns; /* by size, with its sign; 0 when there was none */
    int64_t worst_error_ns;
};

void clock_map_init(struct clock_map *m, const struct clock_pair *pair);
void clock_map_look(struct clock_map *m);

static inline int64_t clock_map_to_mono(const struct clock_map *m, int64_t real_ns)
{
    return real_ns - m->offset_ns;
}

/* What the system says about its clocks, for the receipt: MONOTONIC against MONOTONIC_RAW, the
 * frequency and status of adjtimex, the clock source. Members are INT64_MIN or "" where the system
 * does not say. */
struct clock_state {
    int64_t mono_ns, raw_ns; /* read back to back */
    int64_t freq_scaled_ppm; /* parts per million, times 65536 */
    int64_t status;          /* STA_* bits of adjtimex */
    char source[32];
};

void clock_state_read(struct clock_state *s);
/* How much faster the monotonic clock ran than the raw one between two readings, in parts per
 * billion; INT64_MIN where that cannot be said. */
int64_t clock_state_slew_ppb(const struct clock_state *from, const struct clock_state *to);

#endif
