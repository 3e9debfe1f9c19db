/*
 * Files: read whole with a limit, map, write so that nothing is ever half-written.
 *
 *     struct buf text = BUF_INIT(0);
 *     if (file_read(&text, path, 16 << 20, err) < 0) ...
 *     if (file_write_atomic("run/receipt.json", buf_str(&json), err) < 0) ...
 *
 * Errors are ERROR_IO with the path and a remedy, or ERROR_LIMIT past the limit.
 */
#ifndef TALLY_BASE_FILE_H
#define TALLY_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* Replaces the contents of out (its max becomes `max`). "-" is standard input. */
int file_read(struct buf *out, const char *path, size_t max, struct error *err) TALLY_MUST_CHECK;

struct file_map {
    const unsigned char *p; /* read-only; NULL when the file is empty */
    size_t n;
    bool heap; /* read, not mapped: a pipe or a file system without mmap */
};

int file_map_open(struct file_map *m, const char *path, size_t max,
                  struct error *err) TALLY_MUST_CHECK;
void file_map_close(struct file_map *m); /* NULL and zeroed are fine */

/* Writes path.tmp, flushes, fsyncs, closes, renames over path, fsyncs the directory; every step
 * checked. On failure path is as it was and the temporary file is gone. */
int file_write_atomic(const char *path, struct str bytes, struct error *err) TALLY_MUST_CHECK;
/* Ends a file that was written elsewhere: fsync(fd), rename from -> to, fsync of the directory. */
int file_commit(int fd, const char *from, const char *to, struct error *err) TALLY_MUST_CHECK;
int file_write_all(int fd, struct str bytes, const char *name, struct error *err) TALLY_MUST_CHECK;

bool file_exists(const char *path);
int dir_make(const char *path, struct error *err) TALLY_MUST_CHECK; /* with parents; may exist */
/* True when the directory does not exist or holds nothing. */
bool dir_is_free(const char *path);
int path_join(struct buf *out, const char *dir, const char *name, struct error *err);

#endif
