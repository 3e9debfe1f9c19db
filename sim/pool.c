#include "pool.h"

#include <stdlib.h>

#include "base/utf8.h"

#define CHECK_TOKENS 512 /* of the sample that must read back as it was drawn */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* " word": pre-tokenizers split in front of the space, so neighbours cannot merge. */
static bool is_word(struct str piece)
{
    if (piece.n < 2 || piece.p[0] != ' ')
        return false;
    for (size_t i = 1; i < piece.n; i++)
        if (!is_letter(piece.p[i]))
            return false;
    return true;
}

static bool is_ordinary(struct str piece)
{
    if (piece.n == 0 || piece.n > POOL_PIECE_MAX || !utf8_valid(piece))
        return false;
    for (size_t i = 0; i < piece.n; i++)
        if ((unsigned char)piece.p[i] < ' ' || piece.p[i] == 127)
            return false;
    /* markers of special or padding tokens are written so */
    return !str_starts(piece, STR("<")) && !str_starts(piece, STR("["));
}

static bool is_wide(struct str piece)
{
    return is_ordinary(piece) && utf8_count(piece) < piece.n;
}

static bool fits(enum pool_kind kind, struct str piece)
{
    switch (kind) {
    case POOL_STABLE:
        return is_word(piece) && piece.n <= POOL_PIECE_MAX;
    case POOL_WIDE:
        return is_wide(piece);
    default:
        return is_ordinary(piece);
    }
}

/* Special tokens' ids, as a bitmap. */
static unsigned char *special_ids(const struct tokenizer *t, size_t vocab_size)
{
    unsigned char *special = calloc(vocab_size / 8 + 1, 1);
    struct str text;
    uint32_t id;
    for (size_t i = 0; special && tokenizer_special(t, i, &text, &id) == 0; i++)
        if (id < vocab_size)
            special[id / 8] |= (unsigned char)(1u << (id % 8));
    return special;
}

static bool reads_back(const struct tokenizer *t, uint32_t id, struct str piece,
                       struct token_ids *scratch)
{
    struct error ignored;
    return tokenizer_encode(t, piece, &(struct encode_options){0}, scratch, &ignored) == 0 &&
           scratch->n == 1 && scratch->id[0] == id;
}

static int gather(struct pool *pool, const struct tokenizer *t, enum pool_kind kind,
                  const uint32_t *candidates, size_t n, struct error *err)
{
    struct token_ids scratch = {0};
    struct buf piece = BUF_INIT(4096);
    /* every step-th one, so that a large vocabulary is taken from all its length */
    size_t step = n / POOL_MAX + 1;
    for (size_t i = 0; i < n && pool->n < POOL_MAX; i += step) {
        buf_reset(&piece);
        if (tokenizer_piece(t, candidates[i], &piece) < 0 ||
            (kind == POOL_STABLE && !reads_back(t, candidates[i], buf_str(&piece), &scratch)))
            continue;
        pool->id[pool->n] = candidates[i];
        pool->piece[pool->n++] = arena_str(&pool->arena, buf_str(&piece));
    }
    token_ids_release(&scratch);
    buf_release(&piece);
    return arena_check(&pool->arena, "the pool of tokens", err);
}

static int find_candidates(uint32_t **out, size_t *n, const struct tokenizer *t,
                           enum pool_kind kind, struct error *err)
{
    struct tokenizer_info info;
    struct buf piece = BUF_INIT(4096);
    tokenizer_describe(t, &info);
    unsigned char *special = special_ids(t, info.vocab_size);
    uint32_t *ids = calloc(info.vocab_size ? info.vocab_size : 1, sizeof *ids);
    *n = 0;
    for (uint32_t id = 0; special && ids && id < info.vocab_size; id++) {
        buf_reset(&piece);
        if (!(special[id / 8] & (1u << (id % 8))) && tokenizer_piece(t, id, &piece) == 0 &&
            fits(kind, buf_str(&piece)))
            ids[(*n)++] = id;
    }
    buf_release(&piece);
    *out = ids;
    bool whole = special && ids;
    free(special);
    return whole ? 0 : error_no_memory(err);
}

static int check_sample(const struct pool *pool, const struct tokenizer *t, struct error *err)
{
    struct buf text = BUF_INIT(CHECK_TOKENS * (POOL_PIECE_MAX + 1));
    struct token_ids ids = {0};
    uint32_t drawn[CHECK_TOKENS];
    struct random r;
    bool same;
    random_seed(&r, 1);
    for (size_t i = 0; i < CHECK_TOKENS; i++) {
        size_t at = pool_draw(pool, &r);
        drawn[i] = pool->id[at];
        buf_addstr(&text, pool->piece[at]);
    }
    int got = tokenizer_encode(t, buf_str(&text), &(struct encode_options){0}, &ids, err);
    same = got == 0 && ids.n == CHECK_TOKENS && memcmp(ids.id, drawn, sizeof drawn) == 0;
    buf_release(&text);
    token_ids_release(&ids);
    if (got == 0 && !same) {
        error_set(err, ERROR_UNSUPPORTED,
                  "this tokenizer joins neighbouring words, so no text reads back token by token");
        return error_remedy(err, "--text noisy");
    }
    return got;
}

int pool_new(struct pool **out, const struct tokenizer *t, enum pool_kind kind, struct error *err)
{
    struct pool *pool = calloc(1, sizeof *pool);
    uint32_t *candidates = NULL;
    size_t n = 0;
    if (!pool)
        return error_no_memory(err);
    arena_init(&pool->arena, POOL_MAX * 128);
    if (find_candidates(&candidates, &n, t, kind, err) < 0 ||
        gather(pool, t, kind, candidates, n, err) < 0)
        goto fail;
    if (pool->n == 0) {
        error_set(err, ERROR_UNSUPPORTED, "the vocabulary has no token that is %s",
                  kind == POOL_STABLE ? "a word with a space in front"
                  : kind == POOL_WIDE ? "UTF-8 of several bytes a character"
                                      : "ordinary text");
        error_remedy(err, kind == POOL_STABLE ? "--text noisy" : "choose another tokenizer");
        goto fail;
    }
    if (kind == POOL_STABLE && check_sample(pool, t, err) < 0)
        goto fail;
    free(candidates);
    *out = pool;
    return 0;
fail:
    free(candidates);
    pool_free(pool);
    return -1;
}

int pool_new_single(struct pool **out, uint32_t id, struct str piece, struct error *err)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return error_no_memory(err);
    arena_init(&pool->arena, 1024);
    pool->id[0] = id;
    pool->piece[0] = arena_str(&pool->arena, piece);
    pool->n = 1;
    *out = pool;
    return 0;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    arena_release(&pool->arena);
    free(pool);
}

uint64_t pool_seed(const uint32_t *id, size_t n, uint64_t seed)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 4; b++)
            h = (h ^ (id[i] >> (8 * b) & 255)) * 1099511628211u;
    for (unsigned b = 0; b < 8; b++)
        h = (h ^ (seed >> (8 * b) & 255)) * 1099511628211u;
    return h;
}
