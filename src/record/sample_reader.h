/*
 * Reads one sample after the other, from text or from a document, into arenas; what it needs in
 * between is kept from one to the next.
 *
 *     struct sample_reader *r = sample_reader_new();
 *     if (sample_reader_text(r, line, &s, &arena, err) < 0) ...
 *     sample_reader_free(r);
 *
 * Only for the .c files of this folder. Text goes straight into the sample, without a document.
 */
#ifndef TALLY_RECORD_SAMPLE_READER_H
#define TALLY_RECORD_SAMPLE_READER_H

#include "record/sample.h"

struct sample_reader;

struct sample_reader *sample_reader_new(void); /* NULL: no memory */
void sample_reader_free(struct sample_reader *r);
/* Errors have the column; their line is 1. */
int sample_reader_text(struct sample_reader *r, struct str line, struct sample *s,
                       struct arena *arena, struct error *err) TALLY_MUST_CHECK;
int sample_reader_document(struct sample_reader *r, const struct json *doc, struct sample *s,
                           struct arena *arena, struct error *err) TALLY_MUST_CHECK;

#endif
