#include "cli/keys.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/paths.h"

int keys_load(const struct option_repeated *named, const char *trust, struct envelope_signer **keys,
              size_t *n, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct envelope_signer *list = NULL, *more;
    size_t have = 0;
    struct error no_home;
    int rc = -1;
    if (named->n == 0) {
        bool found = paths_trust_file(&path, trust, &no_home) == 0;
        if (trust && !found) {
            *err = no_home;
            goto out;
        }
        if (found && (trust || file_exists(path.p)) && trust_read(&list, &have, path.p, err) < 0)
            goto out;
    }
    more = realloc(list, (have + named->n + 1) * sizeof *list);
    if (!more) {
        error_no_memory(err);
        goto out;
    }
    list = more;
    for (size_t i = 0; i < named->n; i++, have++) {
        list[have] = (struct envelope_signer){0};
        if (ed25519_public_load(&list[have].key, named->v[i], err) < 0)
            goto out;
        snprintf(list[have].name, sizeof list[have].name, "%s", named->v[i]);
    }
    *keys = list;
    *n = have;
    list = NULL;
    rc = 0;
out:
    free(list);
    buf_release(&path);
    return rc;
}
