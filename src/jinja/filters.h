/*
 * Filters by name: one table, in filters.c.
 *
 *     const struct filter *f = filter_find(STR("trim"));
 *     if (filter_call(r, f, &args, &out) < 0) ...       // args.pos[0] is the operand
 */
#ifndef TALLY_JINJA_FILTERS_H
#define TALLY_JINJA_FILTERS_H

#include "jinja/call.h"

struct filter {
    const char *name;
    struct params params; /* the operand is the first; names NULL: fn takes args as they are */
    int (*fn)(struct run *r, const struct filter *f, const struct args *args, struct jinja_value *v,
              struct jinja_value *out);
    int variant;
};

const struct filter *filter_find(struct str name); /* NULL when there is none */
int filter_call(struct run *r, const struct filter *f, const struct args *args,
                struct jinja_value *out);

#endif
