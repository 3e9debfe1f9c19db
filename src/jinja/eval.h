/*
 * The tree walker: expressions to values, statements to output.
 *
 *     struct jinja_value v;
 *     if (eval(r, e, &v) < 0) ...
 *
 * exec returns EXEC_OK, or EXEC_BREAK / EXEC_CONTINUE on the way to the loop they end, or -1.
 */
#ifndef TALLY_JINJA_EVAL_H
#define TALLY_JINJA_EVAL_H

#include "jinja/run.h"

#define EXEC_OK 0
#define EXEC_BREAK 1
#define EXEC_CONTINUE 2

int eval(struct run *r, const struct expr *e, struct jinja_value *out);
int exec(struct run *r, const struct stmt *s);
/* Sets a name, a tuple of names, or an attribute of a namespace. */
int assign_target(struct run *r, const struct expr *target, struct jinja_value v);
/* Gives the scope's variables their first values. */
int enter_scope(struct run *r, const struct scope *s);
/* The filter chain of a filter or set block, over v. */
int eval_filters(struct run *r, const struct expr *chain, struct jinja_value v,
                 struct jinja_value *out);
/* The body of a recursive loop over another iterable, its output as a string. */
struct loop_object;
int exec_recursive(struct run *r, const struct loop_object *outer, struct jinja_value iterable,
                   struct jinja_value *out);

static inline struct jinja_value *slot_at(struct run *r, struct ref ref)
{
    struct frame *f = r->frame;
    for (unsigned i = 0; i < ref.hops; i++)
        f = f->parent;
    return &f->slots[ref.slot];
}

#endif
