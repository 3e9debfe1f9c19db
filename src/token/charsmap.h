/*
 * SentencePiece's precompiled normalization table: a double-array trie of byte strings and what
 * they become.
 *
 *     if (charsmap_new(&map, bytes, err) < 0) ...
 *     if (charsmap_find(map, part, &becomes)) ...        // the shortest prefix of part that it has
 *     charsmap_free(map);
 *
 * Layout: the trie's size in bytes (u32), the trie (u32 units), the texts, each ended by NUL.
 * Ownership: a copy of the bytes is kept.
 */
#ifndef TALLY_TOKEN_CHARSMAP_H
#define TALLY_TOKEN_CHARSMAP_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "token/normalize.h"

struct charsmap;

int charsmap_new(struct charsmap **out, struct str bytes, struct error *err) TALLY_MUST_CHECK;
void charsmap_free(struct charsmap *map);
bool charsmap_find(const struct charsmap *map, struct str part, struct str *becomes);
/* The longest prefix of s that the table has: its length, or 0. */
size_t charsmap_longest(const struct charsmap *map, struct str s, struct str *becomes);
/* A whole text, as norm_apply: 1 changed, 0 not, -1 failed. */
int charsmap_apply(struct norm_text *out, const struct norm_view *in, const struct charsmap *map,
                   struct error *err) TALLY_MUST_CHECK;

#endif
