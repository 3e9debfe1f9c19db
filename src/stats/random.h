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
uint64_t random_next(struct random *r);

/* 0 ... n-1, each equally likely; n > 0. Lemire 2019: the upper half of (32 random bits) * n, drawn
 * again while its lower half lies below 2^32 mod n. The 32 bits are the upper ones of one output.
 */
uint32_t random_below(struct random *r, uint32_t n);
/* A multiple of 2^-53 within [0, 1): the upper 53 bits of one output. */
double random_unit(struct random *r);
/* Mean 1: -ln(1 - random_unit). Finite. */
double random_exponential(struct random *r);
/* Mean 0, variance 1: Marsaglia's polar method; the second value of a pair is not kept. */
double random_normal(struct random *r);
/* Shape > 0, scale 1 (mean = shape): Marsaglia and Tsang 2000; below shape 1 by their boost. */
double random_gamma(struct random *r, double shape);

#endif
