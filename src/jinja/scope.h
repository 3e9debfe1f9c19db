/*
 * Gives every name of a parsed template its slot, by Jinja2's rules of scope: which names a loop,
 * macro, block or branch sets for itself, and which it sees from outside.
 *
 *     if (scope_resolve(template, err) < 0) ...
 *
 * Afterwards every E_NAME has its ref and every scope its loads. Filters and tests that do not
 * exist are errors here, except inside an if, where they are errors once used. Limit: SLOTS_MAX
 * variables in one function.
 */
#ifndef TALLY_JINJA_SCOPE_H
#define TALLY_JINJA_SCOPE_H

#include "jinja/ast.h"

#define SLOTS_MAX 4096

int scope_resolve(struct jinja_template *t, struct error *err);

#endif
