/*
 * The files of a run directory, in byte order of their names, with digests of the stored bytes.
 *
 *     struct file_list files = {0};
 *     if (file_list_read(&files, dir, err) < 0) ...
 *     file_list_release(&files);
 *
 * Names are relative to the directory, with '/' between folders. Symbolic links, devices, sockets
 * and files with a ".tmp" ending (an interrupted write) are refused by name; only the one that an
 * interrupted signing leaves is passed over, as long as there is no envelope.
 */
#ifndef TALLY_RECEIPT_FILES_H
#define TALLY_RECEIPT_FILES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"

struct file_entry {
    struct str name;
    char sha256[SHA256_HEX];
};

struct file_list {
    struct arena arena;
    struct file_entry *files;
    size_t n, cap;
};

/* `except` (may be NULL) names one file at the top that is left out. */
int file_list_read(struct file_list *list, const char *dir, const char *except,
                   struct error *err) TALLY_MUST_CHECK;
void file_list_release(struct file_list *list);

#endif
