/*
 * Calls: arguments, how a built-in binds them to its parameters, and what can be called.
 *
 *     static const struct params trim = {"value chars", 1};
 *     struct jinja_value v[PARAMS_MAX];
 *     if (args_bind(r, "trim", &trim, args, v) < 0) ...  // v[1].type == JINJA_MISSING when not
 * given
 */
#ifndef TALLY_JINJA_CALL_H
#define TALLY_JINJA_CALL_H

#include "jinja/run.h"

#define PARAMS_MAX 8
#define ARGS_MAX 4096

struct args {
    const struct jinja_value *pos;
    const struct jinja_value *kw;
    const struct str *names; /* of kw */
    uint32_t n_pos, n_kw;
};

/* Names separated by spaces, the first `required` of which must be given. */
struct params {
    const char *names;
    uint8_t required;
};

int args_bind(struct run *r, const char *function, const struct params *p, const struct args *args,
              struct jinja_value out[PARAMS_MAX]);
/* Evaluates arguments; first, when given, goes in front of them. */
int args_eval(struct run *r, const struct call_args *a, const struct jinja_value *first,
              struct args *out);
int call_value(struct run *r, struct jinja_value callee, const struct args *args,
               struct jinja_value *out);
int call_macro(struct run *r, const struct macro_def *def, struct frame *closure,
               const struct args *args, struct jinja_value *out);
const struct jinja_value *args_keyword(const struct args *args, struct str name);

#endif
