#include "base/status.h"

static const struct {
    const char *name;
    int code;
} table[] = {
#define X(status, name, code) {name, code},
    STATUSES(X)
#undef X
};

const char *status_name(enum status s)
{
    return table[s].name;
}

int status_exit_code(enum status s)
{
    return table[s].code;
}

int status_parse(enum status *out, struct str name)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (str_eq(name, str_of(table[i].name))) {
            *out = (enum status)i;
            return 0;
        }
    return -1;
}
