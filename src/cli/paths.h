/*
 * Where a user's own files lie: $TALLY_CONFIG, else $XDG_CONFIG_HOME/tallystick, else
 * ~/.config/tallystick.
 *
 *     struct buf path = BUF_INIT(PATH_MAX);
 *     if (paths_trust_file(&path, args->trust, err) < 0) ...
 *
 * A path given on the command line (not NULL) always wins.
 */
#ifndef TALLY_CLI_PATHS_H
#define TALLY_CLI_PATHS_H

#include "base/buf.h"
#include "base/error.h"

int paths_trust_file(struct buf *out, const char *given, struct error *err) TALLY_MUST_CHECK;
/* Makes the folder that `path` lies in. */
int paths_make_parent(const char *path, struct error *err) TALLY_MUST_CHECK;

#endif
