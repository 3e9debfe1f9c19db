/*
 * Tests ("x is odd") by name: one table, in tests.c.
 *
 *     bool yes;
 *     if (test_call(r, test_find(STR("odd")), &args, &yes) < 0) ...
 */
#ifndef TALLY_JINJA_TESTS_H
#define TALLY_JINJA_TESTS_H

#include "jinja/call.h"

struct test {
    const char *name;
    struct params params;
    int (*fn)(struct run *r, struct jinja_value *v, bool *out);
};

const struct test *test_find(struct str name);
int test_call(struct run *r, const struct test *t, const struct args *args, bool *out);

#endif
