/*
 * Lines of a file that is plain or gzip (its first bytes decide), in bounded memory.
 *
 *     struct gz_lines *r;
 *     if (gz_lines_open(&r, path, &(struct gz_lines_limits){96 << 20, 4 << 30}, err) < 0) ...
 *     while ((got = gz_lines_next(r, &line, err)) > 0) ...
 *     gz_lines_free(r);
 *
 * Lines end in LF. A line lives until the next call. As gz_read, it refuses a bad checksum, a
 * stream that ends too early, and bytes behind the stream; and more than `total` bytes
 * decompressed. Errors name the file and, for what is wrong in a line, its number.
 */
#ifndef TALLY_CODEC_GZ_LINES_H
#define TALLY_CODEC_GZ_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct gz_lines;

struct gz_lines_limits {
    size_t line;    /* bytes of one line */
    uint64_t total; /* bytes of all, decompressed */
};

/* path is copied. */
int gz_lines_open(struct gz_lines **out, const char *path, const struct gz_lines_limits *limits,
                  struct error *err) TALLY_MUST_CHECK;
void gz_lines_free(struct gz_lines *r);
/* 1 with *line set, 0 at the end, -1 with *err set. */
int gz_lines_next(struct gz_lines *r, struct str *line, struct error *err) TALLY_MUST_CHECK;
int64_t gz_lines_number(const struct gz_lines *r);    /* of the line last returned, from 1 */
bool gz_lines_unterminated(const struct gz_lines *r); /* the line last returned had no LF */
bool gz_lines_compressed(const struct gz_lines *r);

#endif
