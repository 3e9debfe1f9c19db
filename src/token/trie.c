#include "token/trie.h"

#include <stdlib.h>
#include <string.h>

static int grow_edges(struct trie *t, struct error *err)
{
    uint32_t size = t->edge ? (t->edge_mask + 1) * 2 : 1024;
    uint64_t *edge = calloc(size, sizeof edge[0]);
    if (!edge)
        return error_no_memory(err);
    for (uint32_t k = 0; t->edge && k <= t->edge_mask; k++) {
        uint64_t e = t->edge[k];
        if (!e)
            continue;
        uint64_t i = trie_hash((uint32_t)(e >> 36), (uint8_t)(e >> 28));
        while (edge[i & (size - 1)])
            i++;
        edge[i & (size - 1)] = e;
    }
    free(t->edge);
    t->edge = edge;
    t->edge_mask = size - 1;
    return 0;
}

static int new_node(struct trie *t, uint32_t *out, struct error *err)
{
    if (t->node_n > TRIE_NODES_MAX)
        return error_set(err, ERROR_LIMIT, "the vocabulary's texts need more than %u trie nodes",
                         TRIE_NODES_MAX);
    if (t->node_n == t->node_cap) {
        uint32_t cap = t->node_cap ? t->node_cap * 2 : 1024;
        uint32_t *value = realloc(t->value, cap * sizeof value[0]);
        if (!value)
            return error_no_memory(err);
        t->value = value;
        t->node_cap = cap;
    }
    t->value[t->node_n] = VOCAB_NONE;
    *out = t->node_n++;
    return 0;
}

int trie_init(struct trie *t, struct error *err)
{
    uint32_t node;
    *t = (struct trie){0};
    if (grow_edges(t, err) < 0 || new_node(t, &node, err) < 0 || new_node(t, &node, err) < 0)
        return -1;
    return 0;
}

void trie_release(struct trie *t)
{
    if (!t)
        return;
    free(t->edge);
    free(t->value);
    *t = (struct trie){0};
}

int trie_insert(struct trie *t, struct str text, uint32_t value, struct error *err)
{
    uint32_t node = TRIE_ROOT;
    for (size_t i = 0; i < text.n; i++) {
        uint8_t byte = (uint8_t)text.p[i];
        uint32_t child = trie_step(t, node, byte);
        if (child == 0) {
            if (t->node_n * 2 > t->edge_mask && grow_edges(t, err) < 0)
                return -1;
            if (new_node(t, &child, err) < 0)
                return -1;
            uint64_t k = trie_hash(node, byte);
            while (t->edge[k & t->edge_mask])
                k++;
            t->edge[k & t->edge_mask] = ((uint64_t)node << 8 | byte) << 28 | child;
        }
        node = child;
    }
    if (t->value[node] == VOCAB_NONE)
        t->value[node] = value;
    return 0;
}

size_t trie_longest(const struct trie *t, uint32_t from_node, struct str s, uint32_t *value)
{
    size_t best = 0;
    uint32_t node = from_node;
    for (size_t i = 0; i < s.n && (node = trie_step(t, node, (uint8_t)s.p[i])) != 0; i++)
        if (t->value[node] != VOCAB_NONE) {
            *value = t->value[node];
            best = i + 1;
        }
    return best;
}
