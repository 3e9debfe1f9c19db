/*
 * A band's sample file: written line by line while the band runs, then compressed. It is read by
 * record/sample_file.h.
 *
 *     struct samples_out o;
 *     if (samples_create(&o, "run/samples/subject.c4.r1.jsonl", err) < 0) ...
 *     if (samples_add(&o, &sample, err) < 0 || samples_finish(&o, digest, err) < 0) ...
 *
 * A finished file is NAME.gz; the plain one is removed when that is on the disk.
 * Limits: SAMPLE_LINE_MAX bytes a line.
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
    unsigned ways;    /* ways to assign tokens that all samples offer (metrics_ways) */
};

int samples_create(struct samples_out *o, const char *path, struct error *err) TALLY_MUST_CHECK;
int samples_add(struct samples_out *o, const struct sample *s, struct error *err) TALLY_MUST_CHECK;
/* path.gz and the digest of its bytes. On failure the plain file is left. */
int samples_finish(struct samples_out *o, char sha256[SHA256_HEX],
                   struct error *err) TALLY_MUST_CHECK;
void samples_abandon(struct samples_out *o); /* closes; the plain file stays. NULL is fine */

#endif
