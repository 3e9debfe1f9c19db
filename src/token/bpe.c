#include "token/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int bpe_init(struct bpe *b, uint32_t n, struct error *err)
{
    uint32_t bits = 4;
    while ((1u << bits) < n + n / 2)
        bits++;
    *b = (struct bpe){.shift = 64 - bits, .mask = (1u << bits) - 1};
    b->pair = malloc(((size_t)1 << bits) * sizeof b->pair[0]);
    if (!b->pair)
        return error_no_memory(err);
    memset(b->pair, 0xFF, ((size_t)1 << bits) * sizeof b->pair[0]);
    return 0;
}

#define INSERT_AHEAD 16

static uint64_t *bpe_slot(const struct bpe *b, uint32_t left, uint32_t right)
{
    uint64_t key = (uint64_t)left << 43 | (uint64_t)right << 22;
    return &b->pair[(uint32_t)((key * 0x9E3779B97F4A7C15u) >> b->shift) & b->mask];
}

int bpe_insert(struct bpe *b, uint32_t left, uint32_t right, uint32_t value)
{
    uint64_t key = (uint64_t)left << 43 | (uint64_t)right << 22;
    uint32_t i = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> b->shift);
    while (b->pair[i & b->mask] != UINT64_MAX) {
        if ((b->pair[i & b->mask] ^ key) < (1u << 22))
            return -1;
        i++;
    }
    b->pair[i & b->mask] = key | value;
    return 0;
}

int bpe_build(struct bpe *b, const struct vocab *v, struct error *err)
{
    if (bpe_init(b, v->merge_n, err) < 0)
        return -1;
    b->result = malloc(((size_t)v->merge_n + 1) * sizeof b->result[0]);
    if (!b->result)
        return error_no_memory(err);
    for (uint32_t rank = 0; rank < v->merge_n; rank++) {
        const struct vocab_merge *m = &v->merges[rank];
        if (rank + INSERT_AHEAD < v->merge_n)
            __builtin_prefetch(bpe_slot(b, m[INSERT_AHEAD].left, m[INSERT_AHEAD].right), 1);
        b->result[rank] = m->result;
        if (bpe_insert(b, m->left, m->right, rank) < 0)
            return error_set(err, ERROR_INPUT, "merges %u and %u are the same pair",
                             bpe_value(b, m->left, m->right), rank);
    }
    return 0;
}

void bpe_build_bytes(struct bpe *b, const struct vocab *v)
{
    b->all_bytes = true;
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[4];
        size_t n = utf8_encode(text, byte_level_char((uint8_t)byte));
        uint32_t id = vocab_find(v, str_make(text, n));
        b->byte_id[byte] = id != VOCAB_NONE && v->tokens[id].added_only ? VOCAB_NONE : id;
        if (b->byte_id[byte] == VOCAB_NONE)
            b->all_bytes = false;
    }
}

void bpe_release(struct bpe *b)
{
    if (!b)
        return;
    free(b->pair);
    free(b->result);
    free(b->order);
    free(b->torn_front);
    free(b->torn_back);
    *b = (struct bpe){0};
}

void bpe_work_release(struct bpe_work *w)
{
    free(w->node);
    free(w->run.key);
    free(w->spare.key);
    free(w->later.key);
    free(w->heap.key);
    free(w->char_symbol);
    bpe_windows_free(w->windows);
    *w = (struct bpe_work){0};
}

/* A hash of partial bytes of a character and the byte next to them. */
static uint32_t torn_hash(const uint8_t *part, size_t n, uint8_t next_to)
{
    uint32_t key = next_to;
    for (size_t i = 0; i < n; i++)
        key |= (uint32_t)part[i] << (8 * (i + 1));
    return key * 0x9E3779B1u >> (32 - BPE_TORN_BITS);
}

static void torn_add(uint64_t *set, uint32_t hash)
{
    set[hash / 64] |= (uint64_t)1 << (hash % 64);
}

static bool torn_has(const uint64_t *set, uint32_t hash)
{
    return (set[hash / 64] >> (hash % 64) & 1) != 0;
}

static bool is_tail(uint8_t c)
{
    return (c & 0xC0) == 0x80;
}

/* One token that merges make: what of it begins or ends inside a character that it does not
 * cover, while it reaches into another one. Partial heads of four-byte characters are of no
 * interest: those are always taken byte by byte. */
static void note_torn(struct bpe *b, struct str token)
{
    const uint8_t *p = (const uint8_t *)token.p;
    size_t n = token.n, tails = 0, head = n;
    while (tails < n && is_tail(p[tails]))
        tails++;
    if (tails && tails < n && tails < 3)
        torn_add(b->torn_back, torn_hash(p, tails, p[tails]));
    while (head > 0 && is_tail(p[head - 1]))
        head--;
    if (head < 2) /* no head, or nothing before it */
        return;
    head--;
    size_t need = p[head] < 0x80 ? 1 : p[head] < 0xE0 ? 2 : p[head] < 0xF0 ? 3 : 4;
    if (n - head < need && n - head < 3)
        torn_add(b->torn_front, torn_hash(p + head, n - head, p[head - 1]));
}

int bpe_build_torn(struct bpe *b, const struct vocab *v, const struct pieces *pieces,
                   struct error *err)
{
    size_t words = ((size_t)1 << BPE_TORN_BITS) / 64;
    b->torn_front = calloc(words, sizeof b->torn_front[0]);
    b->torn_back = calloc(words, sizeof b->torn_back[0]);
    if (!b->torn_front || !b->torn_back)
        return error_no_memory(err);
    for (uint32_t i = 0; i < v->merge_n; i++)
        note_torn(b, pieces_of(pieces, v->merges[i].result));
    return 0;
}

static bool is_torn(const struct bpe *b, const uint8_t *p, size_t n, bool front, bool back)
{
    for (size_t k = 1; k < n; k++) {
        if (front && torn_has(b->torn_front, torn_hash(p, k, p[-1])))
            return true;
        if (back && torn_has(b->torn_back, torn_hash(p + n - k, k, p[n])))
            return true;
    }
    return false;
}

bool bpe_reaches(const struct bpe *b, const uint8_t *edge, size_t before, size_t behind)
{
    for (size_t k = 1; k < before; k++)
        if (torn_has(b->torn_back, torn_hash(edge - k, k, edge[0])))
            return true;
    for (size_t k = 1; k < behind; k++)
        if (torn_has(b->torn_front, torn_hash(edge, k, edge[-1])))
            return true;
    return false;
}

uint32_t bpe_char(const struct bpe *b, struct bpe_work *w, struct str word, size_t at, size_t n)
{
    const uint8_t *p = (const uint8_t *)word.p + at;
    uint32_t cp = n == 2 ? (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu)
                         : (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    if (!w->char_symbol && !(w->char_symbol = calloc(0x10000, sizeof w->char_symbol[0])))
        return VOCAB_NONE; /* byte by byte gives the same */
    uint32_t known = w->char_symbol[cp];
    if (known == 0) {
        uint32_t symbol[3] = {b->byte_id[p[0]], b->byte_id[p[1]], n == 3 ? b->byte_id[p[2]] : 0};
        known = bpe_merge(b, w, symbol, NULL, n) == 1 ? symbol[0] + 2 : 1;
        w->char_symbol[cp] = known;
    }
    if (known == 1 || is_torn(b, p, n, at > 0, at + n < word.n))
        return VOCAB_NONE;
    return known - 2;
}

static size_t merge_short(const struct bpe *b, uint32_t *symbol, uint32_t *len, size_t n)
{
    uint32_t rank[BPE_SHORT + 1];
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = bpe_rank(b, symbol[i], symbol[i + 1]);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best])
                best = i;
        if (rank[best] == BPE_NO_RANK)
            break;
        symbol[best] = bpe_result(b, symbol[best], symbol[best + 1], rank[best]);
        n--;
        size_t behind = n - best - 1;
        memmove(&symbol[best + 1], &symbol[best + 2], behind * sizeof symbol[0]);
        if (len) {
            len[best] += len[best + 1];
            memmove(&len[best + 1], &len[best + 2], behind * sizeof len[0]);
        }
        if (behind) {
            memmove(&rank[best + 1], &rank[best + 2], (behind - 1) * sizeof rank[0]);
            rank[best] = bpe_rank(b, symbol[best], symbol[best + 1]);
        }
        if (best > 0)
            rank[best - 1] = bpe_rank(b, symbol[best - 1], symbol[best]);
    }
    return n;
}

size_t bpe_merge(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len, size_t n)
{
    return n <= BPE_SHORT ? merge_short(b, symbol, len, n) : bpe_merge_long(b, w, symbol, len, n);
}
