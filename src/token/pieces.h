/*
 * What bytes each id stands for, and which id stands for given bytes.
 *
 *     if (pieces_build(&p, vocab, PIECES_BYTE_LEVEL, err) < 0) ...
 *     struct str bytes = pieces_of(&p, id);
 *     pieces_release(&p);
 *
 * In byte-level vocabularies a token's text is spelled in an alphabet of 256 printable characters,
 * one a byte (GPT-2's); a text with any other character stands for itself. In the others a text is
 * its bytes. Ownership: one block of bytes, owned here.
 */
#ifndef TALLY_TOKEN_PIECES_H
#define TALLY_TOKEN_PIECES_H

#include "base/buf.h"
#include "base/error.h"
#include "vocab/alphabet.h"
#include "vocab/vocab.h"

enum pieces_spelling { PIECES_AS_TEXT, PIECES_BYTE_LEVEL };

struct pieces {
    uint8_t *bytes;
    uint32_t *start; /* n + 1 of them */
    uint32_t n;
    uint32_t *index; /* bytes -> id; NULL until pieces_index */
    uint32_t index_mask;
};

int pieces_build(struct pieces *p, const struct vocab *v, enum pieces_spelling spelling,
                 struct error *err) TALLY_MUST_CHECK;
/* Makes pieces_find possible; ids that the model itself has, the lowest of equal ones. */
int pieces_index(struct pieces *p, const struct vocab *v, struct error *err) TALLY_MUST_CHECK;
void pieces_release(struct pieces *p);

static inline struct str pieces_of(const struct pieces *p, uint32_t id)
{
    return str_make(p->bytes + p->start[id], p->start[id + 1] - p->start[id]);
}
uint32_t pieces_find(const struct pieces *p, struct str bytes); /* VOCAB_NONE when there is none */

#endif
