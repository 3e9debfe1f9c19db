/*
 * Random numbers that are the same everywhere: xoshiro256** (Blackman and Vigna 2018), its state
 * filled by splitmix64 from one 64-bit seed.
 *
 *     struct random r;
 *     random_seed(&r, random_seed_of("2026/subject/c4/r1/ttft_ms"));
 *     uint32_t i = random_below(&r, n);
 *
 * The seed of a text is the 64-bit FNV-1a hash of its bytes, so that anybody can work it out again.
 * Not for secrets. A struct random is a value; it owns nothing.
 */
#ifndef TALLY_STATS_RANDOM_H
#define TALLY_STATS_RANDOM_H

#include <stdint.h>

#include "base/str.h"

struct random {
    uint64_t s[4];
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_seed_of(struct str text);

static inline uint64_t random_rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* Inline, as is random_below: resampling draws hundreds of millions. */
static inline uint64_t random_next(struct random *r)
{
    uint64_t *s = r->s, out = random_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = random_rotate(s[3], 45);
    return out;
}

/* 0 ... n-1, each equally likely; n > 0. Lemire 2019: the upper half of (32 random bits) * n, drawn
 * again while its lower half lies below 2^32 mod n. The 32 bits are the upper ones of an output. */
static inline uint32_t random_below(struct random *r, uint32_t n)
{
    uint64_t product = (random_next(r) >> 32) * n;
    if ((uint32_t)product < n) {
        uint32_t least = (0u - n) % n;
        while ((uint32_t)product < least)
            product = (random_next(r) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}

/* A multiple of 2^-53 within [0, 1): the upper 53 bits of one output. */
double random_unit(struct random *r);
/* Mean 1: -ln(1 - random_unit). Finite. */
double random_exponential(struct random *r);
/* Mean 0, variance 1: Marsaglia's polar method; the second value of a pair is not kept. */
double random_normal(struct random *r);
/* Shape > 0, scale 1 (mean = shape): Marsaglia and Tsang 2000; below shape 1 by their boost. */
double random_gamma(struct random *r, double shape);

#endif
