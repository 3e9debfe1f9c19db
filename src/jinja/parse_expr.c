/* Operators, by precedence as in Jinja2's grammar; tuples; targets of assignments. */
#include "jinja/node.h"

#include <string.h>

bool parse_at_tuple_end(struct parser *p, const char *stop)
{
    uint8_t k = p->cur.kind;
    return k == T_VAR_END || k == T_BLOCK_END || k == T_RPAREN || (stop && parse_at_name(p, stop));
}

struct expr *parse_tuple(struct parser *p, bool with_cond, const char *stop, bool parentheses)
{
    struct ptr_list items = {0};
    bool tuple = false;
    uint32_t from = p->cur.from;
    while (!parse_at_tuple_end(p, stop)) {
        struct expr *e = parse_expr(p, with_cond);
        if (!e || parse_push(p, &items, e) < 0)
            return NULL;
        if (p->cur.kind != T_COMMA)
            break;
        tuple = true;
        if (parse_advance(p) < 0)
            return NULL;
    }
    if (!tuple && items.n == 1)
        return items.items[0];
    if (items.n == 0 && !parentheses) {
        parse_fail(p, p->cur.from, "expected an expression, got '%s'", token_name(p->cur.kind));
        return NULL;
    }
    return node_list(p, E_TUPLE, from, &items);
}

/* Left-associative levels of binary operators, tightest first; the level above is the next row. */
static const struct level {
    struct {
        uint8_t token, expr;
    } ops[4];
} levels[] = {
    {{{T_POW, E_POW}}},
    {{{T_MUL, E_MUL}, {T_DIV, E_DIV}, {T_FLOORDIV, E_FLOORDIV}, {T_MOD, E_MOD}}},
    {{{T_TILDE, E_CONCAT}}},
    {{{T_ADD, E_ADD}, {T_SUB, E_SUB}}},
};
#define N_LEVELS (sizeof levels / sizeof levels[0])

static enum expr_kind operator_at(const struct level *l, uint8_t token)
{
    for (size_t i = 0; i < 4; i++)
        if (l->ops[i].token == token && token != T_EOF)
            return l->ops[i].expr;
    return E_CONST;
}

static struct expr *parse_level(struct parser *p, size_t n)
{
    struct expr *e = n == 0 ? parse_unary(p, true) : parse_level(p, n - 1);
    enum expr_kind kind;
    while (e && (kind = operator_at(&levels[n], p->cur.kind)) != E_CONST) {
        struct ptr_list parts = {0};
        if (kind != E_CONCAT) {
            if (parse_advance(p) < 0)
                return NULL;
            e = node_binary(p, kind, e, n == 0 ? parse_unary(p, true) : parse_level(p, n - 1));
            continue;
        }
        /* a ~ b ~ c is one node, so that it is one string */
        if (parse_push(p, &parts, e) < 0)
            return NULL;
        while (p->cur.kind == T_TILDE) {
            struct expr *more = parse_advance(p) < 0 ? NULL : parse_level(p, n - 1);
            if (!more || parse_push(p, &parts, more) < 0)
                return NULL;
        }
        e = node_list(p, E_CONCAT, e->from, &parts);
    }
    return e;
}

/* The comparison at the current token, skipped; -1 when there is none, -2 on error. */
static int take_comparison(struct parser *p)
{
    static const uint8_t kinds[] = {T_EQ, T_NE, T_LT, T_LE, T_GT, T_GE};
    for (int i = 0; i < 6; i++)
        if (p->cur.kind == kinds[i])
            return parse_advance(p) < 0 ? -2 : i;
    if (parse_at_name(p, "in"))
        return parse_advance(p) < 0 ? -2 : CMP_IN;
    if (!parse_at_name(p, "not"))
        return -1;
    if (parse_look(p) < 0)
        return -2;
    if (p->ahead.kind != T_NAME || !str_eq(p->ahead.text, STR("in")))
        return -1;
    if (parse_advance(p) < 0)
        return -2;
    return parse_advance(p) < 0 ? -2 : CMP_NOT_IN;
}

static struct expr *parse_compare(struct parser *p)
{
    struct ptr_list operands = {0};
    uint8_t ops[PARSE_COMPARE_MAX];
    struct expr *e = parse_level(p, N_LEVELS - 1);
    uint32_t from = e ? e->from : 0;
    int op;
    while (e && (op = take_comparison(p)) != -1) {
        if (op == -2 || parse_push(p, &operands, e) < 0)
            return NULL;
        if (operands.n > PARSE_COMPARE_MAX) {
            error_set(p->err, ERROR_LIMIT, "more than %d comparisons in a chain",
                      PARSE_COMPARE_MAX);
            parse_fail(p, from, NULL);
            return NULL;
        }
        ops[operands.n - 1] = (uint8_t)op;
        e = parse_level(p, N_LEVELS - 1);
    }
    if (!e || operands.n == 0)
        return e;
    if (parse_push(p, &operands, e) < 0)
        return NULL;
    e = node_list(p, E_COMPARE, from, &operands);
    if (!e || !(e->u.list.ops = parse_alloc(p, operands.n)))
        return NULL;
    memcpy(e->u.list.ops, ops, operands.n - 1);
    return e;
}

static struct expr *parse_not(struct parser *p)
{
    uint32_t from = p->cur.from;
    if (!parse_at_name(p, "not"))
        return parse_compare(p);
    if (parse_enter(p) < 0 || parse_advance(p) < 0)
        return NULL;
    struct expr *e = node_unary(p, E_NOT, from, parse_not(p));
    p->depth--;
    return e;
}

static struct expr *parse_logic(struct parser *p, bool or)
{
    struct expr *e = or ? parse_logic(p, false) : parse_not(p);
    while (e && parse_at_name(p, or ? "or" : "and"))
        e = parse_advance(p) < 0
                ? NULL
                : node_binary(p, or ? E_OR : E_AND, e, or ? parse_logic(p, false) : parse_not(p));
    return e;
}

struct expr *parse_expr(struct parser *p, bool with_cond)
{
    if (parse_enter(p) < 0)
        return NULL;
    struct expr *e = parse_logic(p, true);
    while (e && with_cond && parse_at_name(p, "if")) {
        struct expr *test = parse_advance(p) < 0 ? NULL : parse_logic(p, true);
        e = node_binary(p, E_COND, e, test);
        if (e && parse_at_name(p, "else")) {
            e->u.two.other = parse_advance(p) < 0 ? NULL : parse_expr(p, true);
            if (!node_adopt(p, e, e->u.two.other))
                e = NULL;
            else
                e->to = p->end;
        }
    }
    p->depth--;
    return e;
}

struct expr *parse_name_target(struct parser *p)
{
    struct token tok = p->cur;
    if (parse_expect(p, T_NAME) < 0)
        return NULL;
    struct expr *e = node_new(p, E_NAME, tok.from);
    if (!e || !(e->u.name.symbol = template_symbol(p->t, tok.text)))
        return NULL;
    return e;
}

static bool assignable(const struct expr *e)
{
    if (e->kind == E_NAME || e->kind == E_NSREF)
        return true;
    if (e->kind != E_TUPLE)
        return false;
    for (uint32_t i = 0; i < e->u.list.n; i++)
        if (!assignable(e->u.list.items[i]))
            return false;
    return true;
}

struct expr *parse_target(struct parser *p, const char *stop, bool with_namespace)
{
    struct ptr_list items = {0};
    bool tuple = false;
    uint32_t from = p->cur.from;
    while (!parse_at_tuple_end(p, stop)) {
        struct expr *e = parse_primary(p, with_namespace);
        if (!e || parse_push(p, &items, e) < 0)
            return NULL;
        if (p->cur.kind != T_COMMA)
            break;
        tuple = true;
        if (parse_advance(p) < 0)
            return NULL;
    }
    if (items.n == 0) {
        parse_fail(p, from, "expected a name to assign to, got '%s'", token_name(p->cur.kind));
        return NULL;
    }
    struct expr *e = tuple ? node_list(p, E_TUPLE, from, &items) : items.items[0];
    if (e && !assignable(e)) {
        parse_fail(p, from, "cannot assign to this expression");
        return NULL;
    }
    return e;
}
