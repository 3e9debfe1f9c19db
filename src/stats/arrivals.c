#include "stats/arrivals.h"

#include <assert.h>
#include <string.h>

static const char *const names[] = {
#define X(id, name) name,
    ARRIVALS_KINDS(X)
#undef X
};

const char *arrivals_kind_name(enum arrivals_kind kind)
{
    return names[kind];
}

enum arrivals_kind arrivals_kind_find(const char *name)
{
    int k = 0;

    while (k < ARRIVALS_KIND_COUNT && !(name && strcmp(name, names[k]) == 0))
        k++;
    return (enum arrivals_kind)k;
}

void arrivals_init(struct arrivals *a, enum arrivals_kind kind, int64_t mrps, double burstiness,
                   uint64_t seed)
{
    assert(mrps >= 1 && mrps <= ARRIVALS_MRPS_MAX);
    assert(kind != ARRIVALS_GAMMA ||
           (burstiness >= ARRIVALS_BURSTINESS_MIN && burstiness <= ARRIVALS_BURSTINESS_MAX));
    *a = (struct arrivals){.kind = kind, .mrps = mrps, .burstiness = burstiness};
    random_seed(&a->random, seed);
}

/* floor(k * 10^12 / mrps), in steps that do not overflow: whole seconds first, then us, then ns. */
static int64_t even_offset(int64_t k, int64_t mrps)
{
    int64_t whole = k / mrps, rest = (k % mrps) * 1000000, ns;

    if (__builtin_mul_overflow(whole, INT64_C(1000000000000), &ns))
        return ARRIVALS_OFFSET_MAX;
    ns += rest / mrps * 1000000 + rest % mrps * 1000000 / mrps;
    return ns < ARRIVALS_OFFSET_MAX ? ns : ARRIVALS_OFFSET_MAX;
}

int64_t arrivals_next(struct arrivals *a)
{
    double gap, ns;

    if (a->kind == ARRIVALS_CONSTANT)
        return even_offset(a->k++, a->mrps);
    gap = a->kind == ARRIVALS_POISSON ? random_exponential(&a->random)
                                      : random_gamma(&a->random, a->burstiness) / a->burstiness;
    a->k++;
    a->at_s += gap * 1000 / (double)a->mrps;
    ns = a->at_s * 1e9;
    return ns < (double)ARRIVALS_OFFSET_MAX ? (int64_t)ns : ARRIVALS_OFFSET_MAX;
}
