/*
 * A folder as it was at a git ref, so that what a change is held against cannot be changed with it.
 *
 *     struct buf dir = BUF_INIT(FILE_PATH_MAX);
 *     if (git_ref_extract(&dir, "origin/main:perf/runs", err) < 0) ...   // dir: a temporary folder
 *     temp_dir_remove(&dir);
 *
 * Runs `git archive` and `tar`, without a shell, in the working directory's repository.
 */
#ifndef TALLY_CLI_GIT_REF_H
#define TALLY_CLI_GIT_REF_H

#include "base/buf.h"
#include "base/error.h"

/* what: REF:FOLDER, FOLDER counted from the top of the repository. On failure nothing is left. */
int git_ref_extract(struct buf *dir, const char *what, struct error *err) TALLY_MUST_CHECK;

#endif
