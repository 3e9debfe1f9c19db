/*
 * When the requests of an open loop are due: an arrival process, drawn from a named seed, the same
 * on every machine and for every lane.
 *
 *     struct arrivals a;
 *     arrivals_init(&a, ARRIVALS_POISSON, 2500, 0, random_seed_of(text));   // 2.5 a second
 *     int64_t due_ns = begin_ns + arrivals_next(&a);
 *
 * Offsets are absolute: each is worked out from the process's beginning, so that nothing drifts.
 * constant: the k-th, from 0 on, is due k / rate after the beginning, rounded down to a whole ns.
 * poisson: gaps are exponential. gamma: gaps are gamma distributed with `burstiness` as shape and
 * mean 1 / rate: 1 is Poisson, below 1 comes in bursts, above 1 is more even. The offset is the sum
 * of the gaps so far, in seconds, in a double; ns are rounded down.
 * A struct arrivals is a value; it owns nothing.
 * Limits: rates up to ARRIVALS_MRPS_MAX; an offset stays at ARRIVALS_OFFSET_MAX once it is there.
 */
#ifndef TALLY_STATS_ARRIVALS_H
#define TALLY_STATS_ARRIVALS_H

#include <stdint.h>

#include "stats/random.h"

#define ARRIVALS_MRPS_MAX INT64_C(100000000) /* thousandths of a request a second */
#define ARRIVALS_OFFSET_MAX (INT64_C(1) << 60)
#define ARRIVALS_BURSTINESS_MIN 0.001
#define ARRIVALS_BURSTINESS_MAX 1000.0

#define ARRIVALS_KINDS(X)            \
    X(ARRIVALS_CONSTANT, "constant") \
    X(ARRIVALS_POISSON, "poisson")   \
    X(ARRIVALS_GAMMA, "gamma")

enum arrivals_kind {
#define X(id, name) id,
    ARRIVALS_KINDS(X)
#undef X
        ARRIVALS_KIND_COUNT
};

struct arrivals {
    enum arrivals_kind kind;
    int64_t mrps;
    double burstiness;
    struct random random;
    int64_t k;
    double at_s;
};

/* mrps within 1 ... ARRIVALS_MRPS_MAX; burstiness, which only gamma looks at, within its limits
 * (both asserted). */
void arrivals_init(struct arrivals *a, enum arrivals_kind kind, int64_t mrps, double burstiness,
                   uint64_t seed);
/* The next offset from the beginning, in ns; never below the one before. */
int64_t arrivals_next(struct arrivals *a);

const char *arrivals_kind_name(enum arrivals_kind kind);
enum arrivals_kind arrivals_kind_find(const char *name); /* ARRIVALS_KIND_COUNT: NULL, unknown */

#endif
