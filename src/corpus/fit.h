/*
 * Texts of exactly so many tokens, whatever the tokenizer: sentences are added until there are
 * enough, cut back at a word, and small words or characters put in until the count is exact.
 *
 *     int got = fit_text(512, &counter, &draw, &text, err);   // 1 exact, 0 not with this draw
 *
 * The text neither begins nor ends with white space (a chat template may trim it).
 */
#ifndef TALLY_CORPUS_FIT_H
#define TALLY_CORPUS_FIT_H

#include "corpus/corpus.h"
#include "corpus/words.h"

/* Replaces *text. 1: exactly `tokens`; 0: this draw led to none (text is what came nearest, its
 * count in *nearest); -1: the counter failed or memory ran out. */
int fit_text(int64_t tokens, const struct corpus_counter *counter, struct draw *d, struct buf *text,
             int64_t *nearest, struct error *err) TALLY_MUST_CHECK;

#endif
