#include "stats/random.h"

#include <assert.h>

#include "stats/real.h"

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void random_seed(struct random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix64(&seed);
}

uint64_t random_seed_of(struct str text)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * 0x100000001b3;
    return h;
}

double random_unit(struct random *r)
{
    return (double)(random_next(r) >> 11) * 0x1p-53;
}

double random_exponential(struct random *r)
{
    return -stats_ln(1 - random_unit(r));
}

double random_normal(struct random *r)
{
    double u, v, q;
    do {
        u = 2 * random_unit(r) - 1;
        v = 2 * random_unit(r) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    return u * stats_sqrt(-2 * stats_ln(q) / q);
}

double random_gamma(struct random *r, double shape)
{
    assert(shape > 0);
    if (shape < 1) {
        double g = random_gamma(r, shape + 1);
        return g * stats_exp(stats_ln(1 - random_unit(r)) / shape);
    }
    double d = shape - 1.0 / 3, c = 1 / stats_sqrt(9 * d);
    for (;;) {
        double x = random_normal(r), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (stats_ln(1 - random_unit(r)) < 0.5 * x * x + d - d * v + d * stats_ln(v))
            return d * v;
    }
}
