/*
 * Files: read whole with a limit, map, read by pieces, write so that nothing is ever half-written.
 *
 *     struct buf text = BUF_INIT(0);
 *     if (file_read(&text, path, 16 << 20, err) < 0) ...
 *     if (file_write_atomic("run/receipt.json", buf_str(&json), err) < 0) ...
 *
 * Errors are ERROR_IO with the path and a remedy, or ERROR_LIMIT past the limit.
 * A mapped file must not be cut short by others while it is in use (the system answers SIGBUS).
 */
#ifndef TALLY_BASE_FILE_H
#define TALLY_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define FILE_PATH_MAX 4096                /* bytes of a path, its NUL included */
#define FILE_HEAP_MAX ((size_t)256 << 20) /* of what is read because it cannot be mapped */

/* Replaces the contents of out (its max becomes `max`); on failure out is empty. "-" is standard
 * input. */
int file_read(struct buf *out, const char *path, size_t max, struct error *err) TALLY_MUST_CHECK;

/* For reading by pieces: a descriptor that the caller closes, or -1. Directories are refused. */
int file_open(const char *path, struct error *err) TALLY_MUST_CHECK;
/* Up to n bytes, past EINTR; 0 at the end of the file, -1 on failure. */
ssize_t file_read_some(int fd, void *to, size_t n, const char *path,
                       struct error *err) TALLY_MUST_CHECK;

struct file_map {
    const unsigned char *p; /* read-only; NULL when the file is empty */
    size_t n;
    bool heap; /* read, not mapped: a pipe or a file system without mmap */
};

int file_map_open(struct file_map *m, const char *path, size_t max,
                  struct error *err) TALLY_MUST_CHECK;
void file_map_close(struct file_map *m); /* NULL and zeroed are fine */

/* A file that appears whole or not at all: written beside `path` as path.tmp, then renamed over it.
 * A symbolic link is followed, an existing file's permissions are kept; a device or a pipe
 * (/dev/stdout) is written in place. Write to fd. After a successful open, end with exactly one of
 * commit (which fsyncs the file and its directory, each step checked) and discard. */
struct file_out {
    int fd;
    bool in_place;
    char path[FILE_PATH_MAX], tmp[FILE_PATH_MAX];
};

int file_out_open(struct file_out *o, const char *path, struct error *err) TALLY_MUST_CHECK;
int file_out_commit(struct file_out *o, struct error *err) TALLY_MUST_CHECK;
void file_out_discard(struct file_out *o);

/* The three in one. On failure path is as it was and the temporary file is gone. */
int file_write_atomic(const char *path, struct str bytes, struct error *err) TALLY_MUST_CHECK;
/* Ends a file that was written elsewhere: fsync(fd), rename from -> to, fsync of the directory. */
int file_commit(int fd, const char *from, const char *to, struct error *err) TALLY_MUST_CHECK;
/* All of bytes, past EINTR and short writes, waiting where fd does not block. */
int file_write_all(int fd, struct str bytes, const char *name, struct error *err) TALLY_MUST_CHECK;

bool file_exists(const char *path);
int dir_make(const char *path, struct error *err) TALLY_MUST_CHECK; /* with parents; may exist */
/* True when the directory does not exist or holds nothing. */
bool dir_is_free(const char *path);
int path_join(struct buf *out, const char *dir, const char *name, struct error *err);

#endif
