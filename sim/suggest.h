/* The candidate nearest to a word that was mistyped, by the optimal string alignment distance
 * (Damerau 1964, with adjacent swaps); NULL when none is near enough to be meant.
 *
 *     const char *near = suggest(STR("tokeniser"), names, n);      // "tokenizer"
 */
#ifndef TALLY_SIM_SUGGEST_H
#define TALLY_SIM_SUGGEST_H

#include "base/str.h"

#define SUGGEST_WORD_MAX 40 /* longer words have no near miss */

const char *suggest(struct str typed, const char *const *candidates, size_t n);

#endif
