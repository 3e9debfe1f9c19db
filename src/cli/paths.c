#include "cli/paths.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int paths_trust_file(struct buf *out, const char *given, struct error *err)
{
    const char *own = getenv("TALLY_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    buf_reset(out);
    if (given)
        buf_adds(out, given);
    else if (own && own[0])
        buf_addf(out, "%s/trusted_keys", own);
    else if (xdg && xdg[0])
        buf_addf(out, "%s/tallystick/trusted_keys", xdg);
    else if (home && home[0])
        buf_addf(out, "%s/.config/tallystick/trusted_keys", home);
    else {
        error_set(err, ERROR_USAGE, "there is no home to look for trusted keys in");
        return error_remedy(err, "name the file: --trust FILE");
    }
    return buf_check(out, "the path of the trust file", err);
}

int paths_make_parent(const char *path, struct error *err)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    size_t n = (size_t)(slash - path);
    if (n >= sizeof dir)
        return error_set(err, ERROR_USAGE, "the path is too long: %.100s...", path);
    memcpy(dir, path, n);
    dir[n] = '\0';
    return dir_make(dir, err);
}
