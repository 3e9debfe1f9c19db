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
        b->result[rank] = m->result;
        if (bpe_insert(b, m->left, m->right, rank) < 0)
            return error_set(err, ERROR_INPUT, "merges %u and %u are the same pair",
                             bpe_value(b, m->left, m->right), rank);
    }
    return 0;
}

int bpe_build_bytes(struct bpe *b, const struct vocab *v, struct error *err)
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
    b->byte_rank = malloc(65536 * sizeof b->byte_rank[0]);
    if (!b->byte_rank)
        return error_no_memory(err);
    for (unsigned i = 0; i < 65536; i++) {
        uint32_t left = b->byte_id[i >> 8], right = b->byte_id[i & 255];
        b->byte_rank[i] =
            left == VOCAB_NONE || right == VOCAB_NONE ? BPE_NO_RANK : bpe_rank(b, left, right);
    }
    return 0;
}

void bpe_release(struct bpe *b)
{
    if (!b)
        return;
    free(b->pair);
    free(b->result);
    free(b->byte_rank);
    free(b->order);
    *b = (struct bpe){0};
}

void bpe_work_release(struct bpe_work *w)
{
    free(w->node);
    free(w->heap);
    *w = (struct bpe_work){0};
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

struct bpe_node {
    uint32_t symbol, prev, next, rank; /* rank of the pair with next; BPE_NO_RANK when none */
};

/* A binary heap of rank << 32 | position: the lowest rank first, then the leftmost. */
static void heap_down(uint64_t *heap, size_t n, size_t i)
{
    uint64_t v = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (v <= heap[child])
            break;
        heap[i] = heap[child];
    }
    heap[i] = v;
}

static void heap_push(uint64_t *heap, size_t *n, uint64_t v)
{
    size_t i = (*n)++;
    for (size_t parent; i > 0 && heap[parent = (i - 1) / 2] > v; i = parent)
        heap[i] = heap[parent];
    heap[i] = v;
}

static int reserve(struct bpe_work *w, size_t n)
{
    if (n <= w->cap)
        return 0;
    size_t cap = n + n / 2;
    struct bpe_node *node = realloc(w->node, cap * sizeof node[0]);
    if (node)
        w->node = node;
    /* Each merge removes a node and makes at most two new pairs: 3n entries at most. */
    uint64_t *heap = realloc(w->heap, 3 * cap * sizeof heap[0]);
    if (heap)
        w->heap = heap;
    if (!node || !heap)
        return -1;
    w->cap = cap;
    return 0;
}

static size_t merge_long(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len,
                         size_t n)
{
    if (n > UINT32_MAX / 4 || reserve(w, n) < 0)
        return SIZE_MAX;
    struct bpe_node *node = w->node;
    uint64_t *heap = w->heap;
    size_t heap_n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t rank = i + 1 < n ? bpe_rank(b, symbol[i], symbol[i + 1]) : BPE_NO_RANK;
        node[i] = (struct bpe_node){symbol[i], (uint32_t)i - 1, (uint32_t)i + 1, rank};
        if (rank != BPE_NO_RANK)
            heap[heap_n++] = (uint64_t)rank << 32 | i;
    }
    for (size_t i = heap_n / 2; i-- > 0;)
        heap_down(heap, heap_n, i);
    while (heap_n) {
        uint64_t top = heap[0];
        uint32_t at = (uint32_t)top;
        heap[0] = heap[--heap_n];
        if (heap_n)
            heap_down(heap, heap_n, 0);
        if (node[at].rank != top >> 32)
            continue; /* the pair is gone */
        uint32_t gone = node[at].next, next = node[gone].next, prev = node[at].prev;
        node[at].symbol = bpe_result(b, node[at].symbol, node[gone].symbol, node[at].rank);
        if (len)
            len[at] += len[gone];
        node[at].next = next;
        node[gone].rank = BPE_NO_RANK;
        node[at].rank = BPE_NO_RANK;
        if (next < n) {
            node[next].prev = at;
            node[at].rank = bpe_rank(b, node[at].symbol, node[next].symbol);
            if (node[at].rank != BPE_NO_RANK)
                heap_push(heap, &heap_n, (uint64_t)node[at].rank << 32 | at);
        }
        if (prev < n) {
            node[prev].rank = bpe_rank(b, node[prev].symbol, node[at].symbol);
            if (node[prev].rank != BPE_NO_RANK)
                heap_push(heap, &heap_n, (uint64_t)node[prev].rank << 32 | prev);
        }
    }
    size_t made = 0;
    for (size_t i = 0; i < n; i = node[i].next) {
        if (len)
            len[made] = len[i];
        symbol[made++] = node[i].symbol;
    }
    return made;
}

size_t bpe_merge(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len, size_t n)
{
    return n <= BPE_SHORT ? merge_short(b, symbol, len, n) : merge_long(b, w, symbol, len, n);
}
