/*
 * A band's sample file: written line by line while the band runs, then compressed; read back with
 * the line of each sample.
 *
 *     struct samples_out o;
 *     if (samples_create(&o, "run/samples/subject.c4.r1.jsonl", err) < 0) ...
 *     if (samples_add(&o, &sample, err) < 0 || samples_finish(&o, digest, err) < 0) ...
 *
 *     struct samples s;
 *     if (samples_read(&s, path, &arena, err) < 0) ...          // s.items[i] stood on s.lines[i]
 *
 * A finished file is NAME.gz; the plain one is removed when that is on the disk. A plain file that
 * was cut off in its last line (the run was killed) is read up to it, and s.cut says so.
 * Ownership: what is read lives in the arena.
 * Limits: RECEIPT_SAMPLES_MAX bytes decompressed, METRICS_SAMPLES_MAX samples, SAMPLE_LINE_MAX.
 */
#ifndef TALLY_RECEIPT_SAMPLES_H
#define TALLY_RECEIPT_SAMPLES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "record/sample.h"

struct samples_out {
    int fd;
    char path[FILE_PATH_MAX]; /* of the plain file */
    struct buf line;
    int64_t written;
    unsigned sources; /* readings of output tokens that all samples have (metrics_sources) */
};

int samples_create(struct samples_out *o, const char *path, struct error *err) TALLY_MUST_CHECK;
int samples_add(struct samples_out *o, const struct sample *s, struct error *err) TALLY_MUST_CHECK;
/* path.gz and the digest of its bytes. On failure the plain file is left. */
int samples_finish(struct samples_out *o, char sha256[SHA256_HEX],
                   struct error *err) TALLY_MUST_CHECK;
void samples_abandon(struct samples_out *o); /* closes; the plain file stays. NULL is fine */

struct samples {
    const struct sample *items;
    const int64_t *lines; /* of each, from 1 */
    size_t n;
    bool cut; /* a last line without its end was left out (plain files only) */
};

/* A file ending in .gz is decompressed. Errors name the file and the line. */
int samples_read(struct samples *out, const char *path, struct arena *arena,
                 struct error *err) TALLY_MUST_CHECK;
/* The same from text; `name` is for errors. */
int samples_parse(struct samples *out, struct str text, const char *name, bool may_be_cut,
                  struct arena *arena, struct error *err) TALLY_MUST_CHECK;

#endif
