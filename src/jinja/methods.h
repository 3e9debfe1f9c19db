/*
 * Methods of strings, containers and the engine's own objects: one table, in methods.c.
 *
 *     unsigned id = method_of(STR("strip"));            // 0 when nothing has such a method
 *     const struct method *m = method_on(id, v.type);   // NULL when this type has it not
 *     if (m && m->fn) method_call(r, m, v, &args, &out)
 *
 * A row without fn would change its object: the sandbox refuses it (its use is an error).
 */
#ifndef TALLY_JINJA_METHODS_H
#define TALLY_JINJA_METHODS_H

#include "jinja/call.h"

struct method {
    const char *name;
    uint32_t types;       /* bit per enum jinja_type */
    struct params params; /* without self; names NULL: takes anything, see args */
    int (*fn)(struct run *r, struct jinja_value self, const struct method *m,
              const struct args *args, struct jinja_value *v, struct jinja_value *out);
    int variant;
    bool wraps; /* on Markup, string arguments are escaped first */
};

uint16_t method_of(struct str name);
const struct method *method_on(unsigned id, enum jinja_type type);
int method_call(struct run *r, const struct method *m, struct jinja_value self,
                const struct args *args, struct jinja_value *out);

#endif
