/*
 * A directory of one's own below $TMPDIR, and its removal with everything in it.
 *
 *     struct buf dir = BUF_INIT(FILE_PATH_MAX);
 *     if (temp_dir_make(&dir, "tally-selftest", err) < 0) ...
 *     temp_dir_remove(&dir);                        // an empty buf is fine
 */
#ifndef TALLY_CLI_TEMP_DIR_H
#define TALLY_CLI_TEMP_DIR_H

#include "base/buf.h"
#include "base/error.h"

int temp_dir_make(struct buf *dir, const char *name, struct error *err) TALLY_MUST_CHECK;
void temp_dir_remove(struct buf *dir); /* releases it as well */

#endif
