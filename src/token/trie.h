/*
 * A trie of byte strings, for models that look for the longest or for all prefixes.
 *
 *     uint32_t node = TRIE_ROOT;
 *     while (at < n && (node = trie_step(&t, node, p[at++])) != 0)
 *         if ((id = trie_value(&t, node)) != VOCAB_NONE) ...
 *
 * One hash table of (node, byte) -> node. Ownership: the trie owns its tables.
 * Limits: TRIE_NODES_MAX nodes.
 */
#ifndef TALLY_TOKEN_TRIE_H
#define TALLY_TOKEN_TRIE_H

#include "base/error.h"
#include "base/str.h"
#include "vocab/vocab.h"

#define TRIE_NODES_MAX ((1u << 24) - 1)
#define TRIE_ROOT 1u

struct trie {
    uint64_t *edge;  /* node 28 bits, byte 8, child 28; 0 = free */
    uint32_t *value; /* by node */
    uint32_t node_n, node_cap, edge_mask;
};

int trie_init(struct trie *t, struct error *err) TALLY_MUST_CHECK;
void trie_release(struct trie *t);
/* The first value given to a text stays. */
int trie_insert(struct trie *t, struct str text, uint32_t value,
                struct error *err) TALLY_MUST_CHECK;

static inline uint64_t trie_hash(uint32_t node, uint8_t byte)
{
    return (((uint64_t)node << 8 | byte) * 0x9E3779B97F4A7C15u) >> 32;
}

/* The child by that byte, or 0. */
static inline uint32_t trie_step(const struct trie *t, uint32_t node, uint8_t byte)
{
    uint64_t key = (uint64_t)node << 8 | byte;
    for (uint64_t i = trie_hash(node, byte);; i++) {
        uint64_t e = t->edge[i & t->edge_mask];
        if (e >> 28 == key)
            return (uint32_t)e & ((1u << 28) - 1);
        if (e == 0)
            return 0;
    }
}

static inline uint32_t trie_value(const struct trie *t, uint32_t node)
{
    return t->value[node];
}

/* The longest text of the trie that s begins with: its length, or 0. */
size_t trie_longest(const struct trie *t, uint32_t from_node, struct str s, uint32_t *value);

#endif
