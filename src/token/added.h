/*
 * Added and special tokens: where they stand in a text.
 *
 *     struct added_walk w = {0};
 *     struct added_hit hit;
 *     while (added_next(&set, text, &w, false, &hit)) ...   // text lies between the hits
 *
 * A set matches as Hugging Face does: leftmost, and of several at one place the longest. A match
 * may then be widened (lstrip, rstrip) or rejected (single_word, or special where special text is
 * plain); a rejected one still consumes its span. added_partition does it as llama.cpp does:
 * token by token, the longest first. Ownership: a set is immutable once built and owns its tables;
 * the texts are the vocab's.
 */
#ifndef TALLY_TOKEN_ADDED_H
#define TALLY_TOKEN_ADDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "vocab/vocab.h"

#define ADDED_NODES_MAX (1u << 24)

struct added_node;

struct added_set {
    const struct vocab_added *list;
    struct added_node *node; /* a trie, siblings linked */
    uint32_t node_n, node_cap;
    uint32_t root[256]; /* node of the first byte, 0 = none */
    bool any, strips;   /* strips: some token swallows white space */
    int only;           /* the one first byte there is, or -1 */
};

struct added_hit {
    size_t from, to; /* after widening */
    const struct vocab_added *token;
};

struct added_walk {
    size_t at;   /* where matching goes on */
    size_t from; /* where text begins that no hit has taken */
};

/* Empty but usable: {0} with added_init. The list must outlive the set. */
void added_init(struct added_set *set, const struct vocab_added *list);
/* Lets the set find `text` as list[i]. */
int added_insert(struct added_set *set, struct str text, uint32_t i,
                 struct error *err) TALLY_MUST_CHECK;
void added_release(struct added_set *set);

/* The next match; false when there is none. plain: special tokens are text. */
bool added_next(const struct added_set *set, struct str text, struct added_walk *w, bool plain,
                struct added_hit *hit);

/* Growable list of hits. */
struct added_hits {
    struct added_hit *hit;
    size_t n, cap;
};

/* All hits in the text's order, by llama.cpp's rule. Replaces the contents of *hits. */
int added_partition(const struct added_set *set, struct str text, bool plain,
                    struct added_hits *hits, struct error *err) TALLY_MUST_CHECK;
void added_hits_release(struct added_hits *hits);

#endif
