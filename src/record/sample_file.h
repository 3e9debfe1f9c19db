/*
 * A file of samples, one JSON line each, plain while its band runs and gzip afterwards.
 *
 *     struct sample_file *f;
 *     if (sample_file_open(&f, "samples/subject.c4.r1.jsonl.gz", err) < 0) ...
 *     while ((got = sample_file_next(f, &s, &arena, err)) > 0) { ...; arena_reset(&arena); }
 *     sample_file_close(f);
 *
 * One line at a time in bounded memory: a sample lives in the arena it was read into. Errors name
 * the file, the line and the member.
 * A plain file whose last line has no LF was cut off while it was written: that line is left out
 * and sample_file_cut says so. In a gzip file it is an error. Limits: SAMPLE_LINE_MAX a line,
 * SAMPLE_FILE_MAX bytes of text, SAMPLE_FILE_SAMPLES samples.
 */
#ifndef TALLY_RECORD_SAMPLE_FILE_H
#define TALLY_RECORD_SAMPLE_FILE_H

#include "record/sample.h"

#define SAMPLE_FILE_MAX ((uint64_t)64 << 30)
#define SAMPLE_FILE_SAMPLES ((size_t)4 << 20)

struct sample_file;

int sample_file_open(struct sample_file **out, const char *path,
                     struct error *err) TALLY_MUST_CHECK;
void sample_file_close(struct sample_file *f); /* NULL is fine */
/* 1 with *s set, 0 at the end, -1 with *err set. */
int sample_file_next(struct sample_file *f, struct sample *s, struct arena *arena,
                     struct error *err) TALLY_MUST_CHECK;
bool sample_file_cut(const struct sample_file *f);

/* All samples of a file, in the arena; *cut (may be NULL) as sample_file_cut. */
int sample_file_read(struct sample **samples, size_t *n, bool *cut, const char *path,
                     struct arena *arena, struct error *err) TALLY_MUST_CHECK;

#endif
