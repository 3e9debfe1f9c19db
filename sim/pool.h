/*
 * The tokens that answers are made of, and how one is drawn: the same for the same prompt and seed.
 *
 *     struct pool *pool;
 *     if (pool_new(&pool, tokenizer, POOL_STABLE, err) < 0) ...
 *     random_seed(&r, pool_seed(ids, n, seed)); i = pool_draw(pool, &r);
 *     text = pool->piece[i]; id = pool->id[i];
 *
 * Every piece is UTF-8 by itself, so any of them joined are. POOL_STABLE: words with a space in
 * front that the tokenizer gives back as one token, alone and side by side (checked on a sample),
 * so that a recount of the text agrees. POOL_NOISY: any ordinary token; joined, they mostly read
 * back as others. POOL_WIDE: tokens with a character of several bytes.
 * Ownership: heap; the tokenizer is needed no longer. Limits: POOL_MAX tokens, evenly taken.
 */
#ifndef TALLY_SIM_POOL_H
#define TALLY_SIM_POOL_H

#include "base/arena.h"
#include "stats/random.h"
#include "token/tokenizer.h"

#define POOL_MAX 4096
#define POOL_PIECE_MAX 32 /* longer tokens (rows of spaces and the like) are left out */

enum pool_kind { POOL_STABLE = 0, POOL_NOISY, POOL_WIDE };

struct pool {
    size_t n;
    uint32_t id[POOL_MAX];
    struct str piece[POOL_MAX];
    struct arena arena;
};

/* ERROR_UNSUPPORTED when the vocabulary has no such tokens. */
int pool_new(struct pool **out, const struct tokenizer *t, enum pool_kind kind,
             struct error *err) TALLY_MUST_CHECK;
/* A pool of one piece: for answers of `!!!!`, and where no tokenizer is. */
int pool_new_single(struct pool **out, uint32_t id, struct str piece,
                    struct error *err) TALLY_MUST_CHECK;
void pool_free(struct pool *pool);

/* FNV-1a over the ids and the seed, least byte first. */
uint64_t pool_seed(const uint32_t *id, size_t n, uint64_t seed);
static inline size_t pool_draw(const struct pool *pool, struct random *r)
{
    return random_below(r, (uint32_t)pool->n);
}

#endif
