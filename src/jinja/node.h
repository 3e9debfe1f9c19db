/*
 * How the parser makes nodes of the tree, each with its place and depth.
 *
 *     struct expr *e = node_binary(p, E_SUB, left, right);
 *     if (!e) return NULL;                              // p->err is set
 *
 * Each returns NULL (or false) when memory ends, the tree is deeper than JINJA_DEPTH_MAX, or an
 * operand is NULL, so that calls nest.
 */
#ifndef TALLY_JINJA_NODE_H
#define TALLY_JINJA_NODE_H

#include "jinja/parser.h"

struct expr *node_new(struct parser *p, enum expr_kind kind, uint32_t from);
/* Notes that child lies below e. */
bool node_adopt(struct parser *p, struct expr *e, const struct expr *child);
struct expr *node_unary(struct parser *p, enum expr_kind kind, uint32_t from, struct expr *operand);
struct expr *node_binary(struct parser *p, enum expr_kind kind, struct expr *left,
                         struct expr *right);
struct expr *node_constant(struct parser *p, uint32_t from, struct jinja_value v);
/* Over the items of l, NULLs allowed. */
struct expr *node_list(struct parser *p, enum expr_kind kind, uint32_t from,
                       const struct ptr_list *l);

/* A literal, a name, or what stands in brackets. */
struct expr *parse_primary(struct parser *p, bool with_namespace);
struct expr *parse_int(struct parser *p);
/* A primary with its signs, attributes, calls, and (with_filter) filters and tests. */
struct expr *parse_unary(struct parser *p, bool with_filter);
bool parse_at_tuple_end(struct parser *p, const char *stop);

#endif
