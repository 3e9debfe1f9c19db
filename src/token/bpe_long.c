/*
 * Long words at once. The next pair to merge goes before both of its neighbours (its rank is lower
 * than the left one's, and not above the right one's), so only such pairs wait in the queues: in
 * "aaaa..." that is one. A first run of them is sorted at once; later ones wait in a heap when they
 * may come before the end of the run, and else for the next run.
 */
#include "token/bpe.h"

#include <stdlib.h>
#include <string.h>

struct bpe_node {
    uint32_t symbol, prev, next, rank; /* rank of the pair with next; BPE_NO_RANK when none */
};

static int put(struct bpe_keys *k, uint64_t key)
{
    if (k->n == k->cap) {
        size_t cap = k->cap ? k->cap * 2 : 256;
        uint64_t *p = realloc(k->key, cap * sizeof p[0]);
        if (!p)
            return -1;
        k->key = p;
        k->cap = cap;
    }
    k->key[k->n++] = key;
    return 0;
}

static int heap_push(struct bpe_keys *h, uint64_t key)
{
    if (put(h, key) < 0)
        return -1;
    size_t i = h->n - 1;
    for (size_t parent; i > 0 && h->key[parent = (i - 1) / 2] > key; i = parent)
        h->key[i] = h->key[parent];
    h->key[i] = key;
    return 0;
}

/* *steps counts the moves. */
static uint64_t heap_pop(struct bpe_keys *h, uint64_t *steps)
{
    uint64_t top = h->key[0], v = h->key[--h->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->key[child + 1] < h->key[child])
            child++;
        if (v <= h->key[child])
            break;
        h->key[i] = h->key[child];
        (*steps)++;
    }
    if (h->n)
        h->key[i] = v;
    return top;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return x < y ? -1 : x > y;
}

/* Sorts by key. Radix over the 22 bits of the rank, for which positions must ascend already. */
static int sort_keys(struct bpe_keys *k, struct bpe_keys *spare, bool ascending)
{
    if (k->n < 512 || !ascending) {
        qsort(k->key, k->n, sizeof k->key[0], by_key);
        return 0;
    }
    if (spare->cap < k->n) {
        uint64_t *p = realloc(spare->key, k->n * sizeof p[0]);
        if (!p)
            return -1;
        spare->key = p;
        spare->cap = k->n;
    }
    for (unsigned shift = 32; shift < 54; shift += 11) {
        size_t count[2049] = {0};
        for (size_t i = 0; i < k->n; i++)
            count[(k->key[i] >> shift & 2047) + 1]++;
        for (size_t i = 1; i < 2049; i++)
            count[i] += count[i - 1];
        for (size_t i = 0; i < k->n; i++)
            spare->key[count[k->key[i] >> shift & 2047]++] = k->key[i];
        struct bpe_keys swap = {spare->key, k->n, spare->cap};
        spare->key = k->key;
        spare->cap = k->cap;
        *k = swap;
    }
    return 0;
}

struct long_merge {
    const struct bpe *b;
    struct bpe_work *w;
    struct bpe_node *node;
    uint32_t n;
    size_t at;        /* in the run */
    uint64_t run_end; /* keys up to here belong before the next run */
    bool ascending;   /* what waits for the next run, by position */
    bool failed;
};

/* Lets the pair at i wait if it goes before both neighbours. */
static void consider(struct long_merge *m, uint32_t i)
{
    if (i >= m->n || m->node[i].rank == BPE_NO_RANK)
        return;
    uint32_t rank = m->node[i].rank, prev = m->node[i].prev, next = m->node[i].next;
    if ((prev < m->n && m->node[prev].rank <= rank) || (next < m->n && m->node[next].rank < rank))
        return;
    uint64_t key = (uint64_t)rank << 32 | i;
    if (key <= m->run_end) {
        m->failed |= heap_push(&m->w->heap, key) < 0;
        return;
    }
    struct bpe_keys *later = &m->w->later;
    if (later->n && (uint32_t)later->key[later->n - 1] > i)
        m->ascending = false;
    m->failed |= put(later, key) < 0;
}

static void merge_at(struct long_merge *m, uint32_t at, uint32_t *len)
{
    struct bpe_node *node = m->node;
    uint32_t gone = node[at].next, next = node[gone].next, prev = node[at].prev;
    node[at].symbol = bpe_result(m->b, node[at].symbol, node[gone].symbol, node[at].rank);
    if (len)
        len[at] += len[gone];
    node[at].next = next;
    node[gone].rank = BPE_NO_RANK;
    node[at].rank = BPE_NO_RANK;
    if (next < m->n) {
        node[next].prev = at;
        node[at].rank = bpe_rank(m->b, node[at].symbol, node[next].symbol);
    }
    if (prev < m->n) {
        node[prev].rank = bpe_rank(m->b, node[prev].symbol, node[at].symbol);
        consider(m, node[prev].prev);
        consider(m, prev);
    }
    consider(m, at);
    if (next < m->n)
        consider(m, next);
}

/* What waited becomes the run; false when nothing did. */
static bool next_run(struct long_merge *m)
{
    struct bpe_work *w = m->w;
    struct bpe_keys swap = w->run;
    w->run = w->later;
    w->later = swap;
    w->later.n = 0;
    m->at = 0;
    if (w->run.n == 0 || m->failed)
        return false;
    m->failed = sort_keys(&w->run, &w->spare, m->ascending) < 0;
    m->ascending = true;
    m->run_end = w->run.key[w->run.n - 1];
    return !m->failed;
}

static bool next_key(struct long_merge *m, uint64_t *key)
{
    m->w->steps++;
    struct bpe_keys *run = &m->w->run, *heap = &m->w->heap;
    if (m->at == run->n && heap->n == 0 && !next_run(m))
        return false;
    if (heap->n && (m->at == run->n || heap->key[0] < run->key[m->at]))
        *key = heap_pop(heap, &m->w->steps);
    else
        *key = run->key[m->at++];
    return true;
}

static int start(struct long_merge *m, const uint32_t *symbol)
{
    struct bpe_work *w = m->w;
    if (m->n > w->cap) {
        struct bpe_node *p = realloc(w->node, (m->n + m->n / 2) * sizeof p[0]);
        if (!p)
            return -1;
        w->node = p;
        w->cap = m->n + m->n / 2;
    }
    m->node = w->node;
    for (uint32_t i = 0; i < m->n; i++)
        m->node[i] = (struct bpe_node){symbol[i], i - 1, i + 1,
                                       i + 1 < m->n ? bpe_rank(m->b, symbol[i], symbol[i + 1])
                                                    : BPE_NO_RANK};
    w->run.n = w->later.n = w->heap.n = 0;
    m->at = 0;
    m->run_end = 0;
    m->ascending = true;
    for (uint32_t i = 0; i < m->n; i++)
        consider(m, i);
    return m->failed ? -1 : 0;
}

size_t bpe_merge_at_once(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len,
                         size_t n)
{
    struct long_merge m = {.b = b, .w = w, .n = (uint32_t)n};
    uint64_t key;
    if (n > UINT32_MAX / 4 || start(&m, symbol) < 0)
        return SIZE_MAX;
    while (next_key(&m, &key) && !m.failed)
        if (m.node[(uint32_t)key].rank == key >> 32) /* else the pair is gone */
            merge_at(&m, (uint32_t)key, len);
    if (m.failed)
        return SIZE_MAX;
    size_t made = 0;
    for (uint32_t i = 0; i < m.n; i = m.node[i].next) {
        if (len)
            len[made] = len[i];
        symbol[made++] = m.node[i].symbol;
    }
    return made;
}
