/*
 * Plain English sentences from the project's own word list, drawn by a generator.
 *
 *     struct draw d = draw_seeded(7, index);
 *     words_add_sentence(&text, &d);                   // "The quiet harbour keeps a lantern."
 *
 * The sentences mean nothing and repeat no text from elsewhere. Same generator, same sentences:
 * a change of the list or the grammar is a new CORPUS_GENERATOR_VERSION (corpus.h).
 */
#ifndef TALLY_CORPUS_WORDS_H
#define TALLY_CORPUS_WORDS_H

#include <stdint.h>

#include "base/buf.h"

/* splitmix64 (Steele, Lea, Flood 2014); bounded draws by rejection, so without bias. */
struct draw {
    uint64_t state;
};

struct draw draw_seeded(uint64_t seed, uint64_t stream);
uint64_t draw_u64(struct draw *d);
uint32_t draw_below(struct draw *d, uint32_t bound); /* 0 .. bound - 1; bound > 0 */

/* Appends one sentence, first letter large, full stop behind it; no white space around it. */
void words_add_sentence(struct buf *b, struct draw *d);
/* Appends a small word, for making a text a little longer. */
void words_add_filler(struct buf *b, struct draw *d);
/* Appends n nouns and adjectives as "Harbour lantern quiet": what makes a prompt unique. */
void words_add_tag(struct buf *b, struct draw *d, int n);
/* How many words words_add_tag draws from. */
uint32_t words_tag_count(void);

#endif
