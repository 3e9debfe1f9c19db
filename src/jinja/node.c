#include "jinja/node.h"

struct expr *node_new(struct parser *p, enum expr_kind kind, uint32_t from)
{
    struct expr *e = parse_alloc(p, sizeof *e);
    if (e) {
        e->kind = (uint8_t)kind;
        e->from = from;
        e->to = p->end;
        e->depth = 1;
    }
    return e;
}

/* Notes that child lies below e; false when the tree is too deep or child is missing. */
bool node_adopt(struct parser *p, struct expr *e, const struct expr *child)
{
    if (!child)
        return false;
    if (child->depth >= e->depth)
        e->depth = (uint16_t)(child->depth + 1);
    if (e->depth <= JINJA_DEPTH_MAX + 1)
        return true;
    error_set(p->err, ERROR_LIMIT, "expression nested deeper than %d", JINJA_DEPTH_MAX);
    parse_fail(p, e->from, NULL);
    return false;
}

struct expr *node_unary(struct parser *p, enum expr_kind kind, uint32_t from, struct expr *operand)
{
    struct expr *e = operand ? node_new(p, kind, from) : NULL;
    if (!e || !node_adopt(p, e, operand))
        return NULL;
    e->u.two.left = operand;
    return e;
}

struct expr *node_binary(struct parser *p, enum expr_kind kind, struct expr *left,
                         struct expr *right)
{
    struct expr *e = left && right ? node_new(p, kind, left->from) : NULL;
    if (!e || !node_adopt(p, e, left) || !node_adopt(p, e, right))
        return NULL;
    e->u.two.left = left;
    e->u.two.right = right;
    return e;
}

struct expr *node_constant(struct parser *p, uint32_t from, struct jinja_value v)
{
    struct expr *e = node_new(p, E_CONST, from);
    if (e)
        e->u.value = v;
    return e;
}

/* A node over the items of l; kind's union member is `list`. */
struct expr *node_list(struct parser *p, enum expr_kind kind, uint32_t from,
                       const struct ptr_list *l)
{
    struct expr *e = node_new(p, kind, from);
    if (!e)
        return NULL;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->items[i] && !node_adopt(p, e, l->items[i]))
            return NULL;
    e->u.list.items = (struct expr **)l->items;
    e->u.list.n = l->n;
    return e;
}
