/*
 * Functions every template can call: range, dict, namespace, raise_exception, …
 *
 *     struct jinja_value v;
 *     if (global_find(STR("range"), &v)) ...
 */
#ifndef TALLY_JINJA_GLOBALS_H
#define TALLY_JINJA_GLOBALS_H

#include "jinja/call.h"

bool global_find(struct str name, struct jinja_value *out);
int global_call(struct run *r, struct jinja_value function, const struct args *args,
                struct jinja_value *out);
const char *global_name(struct jinja_value function);
int cycler_attribute(struct jinja_value v, struct str name, struct jinja_value *out);

#endif
