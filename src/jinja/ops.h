/*
 * What operators do: truth, equality, order, arithmetic, membership, length, access.
 *
 *     bool yes;
 *     if (op_truth(r, v, &yes) < 0) ...
 *
 * All as Python does it over the types a template has. Errors blame r->at.
 */
#ifndef TALLY_JINJA_OPS_H
#define TALLY_JINJA_OPS_H

#include "jinja/run.h"

/* What is undefined counts as false; no error is possible. */
bool op_truth(struct jinja_value v);
int op_equal(struct run *r, struct jinja_value a, struct jinja_value b, bool *out);
int op_compare(struct run *r, enum compare_op op, struct jinja_value a, struct jinja_value b,
               bool *out);
int op_arith(struct run *r, enum expr_kind op, struct jinja_value a, struct jinja_value b,
             struct jinja_value *out);
int op_negate(struct run *r, bool minus, struct jinja_value v, struct jinja_value *out);
int op_contains(struct run *r, struct jinja_value container, struct jinja_value item, bool *out);
/* Fails for what has no length (numbers, generators). */
int op_length(struct run *r, struct jinja_value v, int64_t *out);
bool op_has_length(struct jinja_value v);

/* object.symbol and object[key], with Jinja2's fallbacks; absent is undefined, not an error.
 * The value undefined names e, the E_GETATTR or E_GETITEM node. */
int get_attribute(struct run *r, const struct expr *e, struct jinja_value object,
                  struct jinja_value *out);
int get_item(struct run *r, struct jinja_value object, struct jinja_value key,
             struct jinja_value *out);
/* Bounds may be none. */
int get_slice(struct run *r, struct jinja_value object, const struct jinja_value bounds[3],
              struct jinja_value *out);
/* "a.b.0" over get_item, as filters take attributes. */
int get_path(struct run *r, struct jinja_value object, struct jinja_value path,
             struct jinja_value *out);
/* -1 when v is no integer (a bool is one) or beyond 64 bits. */
int as_index(struct jinja_value v, int64_t *out);

/* Where needle begins in hay at or after byte `from`, or STR_NONE; work is charged, so that no
 * search is quadratic for free. */
int find_text(struct run *r, struct str hay, struct str needle, size_t from, size_t *out);

#endif
