/*
 * Reads a file or pipe line by line, in bounded memory.
 *
 *     struct line_reader r;
 *     if (line_open(&r, path, 64 << 20, err) < 0) ...
 *     while ((got = line_next(&r, &line, err)) > 0) ...   // r.number is the line's number
 *     line_close(&r);
 *
 * Lines end in LF; a CR before it is taken off; a last line without LF is a line. A line lives
 * until the next call. Limits: `max` bytes a line; past it ERROR_LIMIT with the line's number.
 */
#ifndef TALLY_BASE_LINE_H
#define TALLY_BASE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct line_reader {
    const char *name; /* as errors call it; borrowed */
    int fd;
    struct buf buf;
    size_t at; /* where the next line begins in buf */
    size_t max;
    int64_t number; /* of the line last returned, from 1 */
    bool end, owned;
};

/* "-" is standard input. path must outlive the reader. */
int line_open(struct line_reader *r, const char *path, size_t max,
              struct error *err) TALLY_MUST_CHECK;
void line_close(struct line_reader *r); /* NULL and zeroed are fine */
/* 1 with *line set, 0 at the end, -1 with *err set (file and line in it). */
int line_next(struct line_reader *r, struct str *line, struct error *err) TALLY_MUST_CHECK;

#endif
