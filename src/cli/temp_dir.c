#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */

#include "cli/temp_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

#define OPEN_MAX_AT_ONCE 16

int temp_dir_make(struct buf *dir, const char *name, struct error *err)
{
    const char *tmp = getenv("TMPDIR");
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%.100s-XXXXXX", name);
    if (path_join(dir, tmp && tmp[0] ? tmp : "/tmp", pattern, err) < 0)
        return -1;
    if (mkdtemp(dir->p))
        return 0;
    error_set_errno(err, errno, "cannot make a temporary directory");
    error_at_file(err, dir->p);
    buf_reset(dir);
    return -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void temp_dir_remove(struct buf *dir)
{
    if (dir->n)
        nftw(dir->p, remove_one, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
    buf_release(dir);
}
