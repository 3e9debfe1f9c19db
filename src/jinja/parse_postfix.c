/* What follows an operand: attributes, subscripts, calls, filters, tests. */
#include "jinja/filters.h"
#include "jinja/methods.h"
#include "jinja/node.h"
#include "jinja/tests.h"

static int parse_args(struct parser *p, struct call_args *args)
{
    struct ptr_list items = {0}, names = {0};
    uint32_t at = p->cur.from;
    if (parse_expect(p, T_LPAREN) < 0)
        return -1;
    while (p->cur.kind != T_RPAREN) {
        uint8_t k = p->cur.kind;
        bool ok = !args->star_star;
        const struct symbol *name = NULL;
        if (k == T_NAME && parse_look(p) < 0)
            return -1;
        if (k == T_MUL || k == T_POW) {
            ok = ok && (k == T_POW || !args->star);
            if (parse_advance(p) < 0)
                return -1;
        } else if (k == T_NAME && p->ahead.kind == T_ASSIGN) {
            name = template_symbol(p->t, p->cur.text);
            if (!name || parse_advance(p) < 0 || parse_advance(p) < 0)
                return -1;
        } else {
            ok = ok && !args->star && names.n == 0;
        }
        if (!ok)
            return parse_fail(p, at, "invalid syntax for function call expression");
        struct expr *e = parse_expr(p, true);
        if (!e)
            return -1;
        if (k == T_MUL)
            args->star = e;
        else if (k == T_POW)
            args->star_star = e;
        else if (parse_push(p, &items, e) < 0 ||
                 (name && parse_push(p, &names, (void *)(uintptr_t)name) < 0))
            return -1;
        if (p->cur.kind == T_COMMA ? parse_advance(p) < 0 : p->cur.kind != T_RPAREN)
            break;
    }
    args->items = (struct expr **)items.items;
    args->names = (const struct symbol **)names.items;
    args->n_kw = (uint16_t)names.n;
    args->n_pos = (uint16_t)(items.n - names.n);
    return parse_expect(p, T_RPAREN);
}

static bool adopt_args(struct parser *p, struct expr *e)
{
    const struct call_args *a = &e->u.call.args;
    e->to = p->end;
    for (unsigned i = 0; i < (unsigned)a->n_pos + a->n_kw; i++)
        if (!node_adopt(p, e, a->items[i]))
            return false;
    return (!e->u.call.callee || node_adopt(p, e, e->u.call.callee)) &&
           (!a->star || node_adopt(p, e, a->star)) &&
           (!a->star_star || node_adopt(p, e, a->star_star));
}

static struct expr *parse_call(struct parser *p, struct expr *callee)
{
    struct expr *e = node_new(p, E_CALL, callee->from);
    if (!e)
        return NULL;
    e->u.call.callee = callee;
    return parse_args(p, &e->u.call.args) < 0 || !adopt_args(p, e) ? NULL : e;
}

/* One index of a subscript: an expression or a slice. */
static struct expr *parse_index(struct parser *p)
{
    struct ptr_list parts = {0};
    uint32_t from = p->cur.from;
    bool slice = false;
    for (int i = 0; i < 3; i++) {
        struct expr *part = NULL;
        uint8_t k = p->cur.kind;
        if (k != T_COLON && k != T_RBRACKET && k != T_COMMA) {
            part = parse_expr(p, true);
            if (!part)
                return NULL;
        } else if (i == 0 && k != T_COLON) {
            parse_fail(p, p->cur.from, "expected an expression, got '%s'", token_name(k));
            return NULL;
        }
        if (parse_push(p, &parts, part) < 0)
            return NULL;
        if (i < 2 && p->cur.kind == T_COLON) {
            slice = true;
            if (parse_advance(p) < 0)
                return NULL;
        } else if (!slice) {
            return part;
        } else if (i < 2) {
            while (parts.n < 3)
                if (parse_push(p, &parts, NULL) < 0)
                    return NULL;
            break;
        }
    }
    return node_list(p, E_SLICE, from, &parts);
}

static struct expr *parse_subscript(struct parser *p, struct expr *object)
{
    struct ptr_list items = {0};
    uint32_t from = p->cur.from;
    bool sliced = false;
    struct expr *arg;
    if (parse_advance(p) < 0)
        return NULL;
    while (p->cur.kind != T_RBRACKET) {
        if (items.n && parse_expect(p, T_COMMA) < 0)
            return NULL;
        struct expr *e = parse_index(p);
        if (!e || parse_push(p, &items, e) < 0)
            return NULL;
        sliced = sliced || e->kind == E_SLICE;
    }
    if (sliced && items.n > 1) {
        parse_fail(p, from, "a slice is the only index of its brackets");
        return NULL;
    }
    if (parse_expect(p, T_RBRACKET) < 0)
        return NULL;
    arg = items.n == 1 ? items.items[0] : node_list(p, E_TUPLE, from, &items);
    return node_binary(p, E_GETITEM, object, arg);
}

static struct expr *parse_attribute(struct parser *p, struct expr *object)
{
    if (parse_advance(p) < 0)
        return NULL;
    struct token tok = p->cur;
    if (tok.kind == T_INT) {
        struct expr *index = parse_int(p);
        return node_binary(p, E_GETITEM, object, index);
    }
    if (tok.kind != T_NAME) {
        parse_fail(p, tok.from, "expected name or number");
        return NULL;
    }
    if (parse_advance(p) < 0)
        return NULL;
    struct expr *e = node_unary(p, E_GETATTR, object->from, object);
    if (!e)
        return NULL;
    e->u.two.symbol = template_symbol(p->t, tok.text);
    e->method = method_of(tok.text);
    return e->u.two.symbol ? e : NULL;
}

static struct expr *parse_postfix(struct parser *p, struct expr *e)
{
    while (e) {
        if (p->cur.kind == T_DOT)
            e = parse_attribute(p, e);
        else if (p->cur.kind == T_LBRACKET)
            e = parse_subscript(p, e);
        else if (p->cur.kind == T_LPAREN)
            e = parse_call(p, e);
        else
            break;
    }
    return e;
}

/* "a.b.c" as one name, as filters and tests are called. */
static const struct symbol *dotted_name(struct parser *p)
{
    uint32_t from = p->cur.from;
    if (parse_expect(p, T_NAME) < 0)
        return NULL;
    uint32_t to = p->end;
    while (p->cur.kind == T_DOT) {
        if (parse_advance(p) < 0 || parse_expect(p, T_NAME) < 0)
            return NULL;
        to = p->end;
    }
    return template_symbol(p->t, str_make(p->t->source.p + from, to - from));
}

static struct expr *parse_filter(struct parser *p, struct expr *operand)
{
    uint32_t from = p->cur.from;
    struct expr *e = node_new(p, E_FILTER, operand ? operand->from : from);
    const struct symbol *name = e ? dotted_name(p) : NULL;
    if (!name)
        return NULL;
    e->u.call.callee = operand;
    e->u.call.symbol = name;
    e->u.call.filter = filter_find(name->text);
    if (p->cur.kind == T_LPAREN && parse_args(p, &e->u.call.args) < 0)
        return NULL;
    return adopt_args(p, e) ? e : NULL;
}

struct expr *parse_filter_chain(struct parser *p, struct expr *operand)
{
    struct expr *e = parse_filter(p, operand);
    while (e && p->cur.kind == T_PIPE)
        e = parse_advance(p) < 0 ? NULL : parse_filter(p, e);
    return e;
}

/* The operand of a test written without parentheses: "x is divisibleby 3". */
static bool begins_test_argument(struct parser *p)
{
    switch ((enum token_kind)p->cur.kind) {
    case T_STRING:
    case T_INT:
    case T_FLOAT:
    case T_LBRACKET:
    case T_LBRACE:
        return true;
    case T_NAME:
        return !parse_at_name(p, "else") && !parse_at_name(p, "or") && !parse_at_name(p, "and");
    default:
        return false;
    }
}

static struct expr *parse_test(struct parser *p, struct expr *operand)
{
    if (parse_advance(p) < 0)
        return NULL;
    struct expr *e = node_new(p, E_TEST, operand->from);
    if (!e)
        return NULL;
    if (parse_at_name(p, "not")) {
        e->op = 1;
        if (parse_advance(p) < 0)
            return NULL;
    }
    const struct symbol *name = dotted_name(p);
    if (!name)
        return NULL;
    e->u.call.callee = operand;
    e->u.call.symbol = name;
    e->u.call.test = test_find(name->text);
    if (p->cur.kind == T_LPAREN) {
        if (parse_args(p, &e->u.call.args) < 0)
            return NULL;
    } else if (begins_test_argument(p)) {
        if (parse_at_name(p, "is")) {
            parse_fail(p, p->cur.from, "tests cannot be chained with 'is'");
            return NULL;
        }
        struct ptr_list items = {0};
        struct expr *arg = parse_postfix(p, parse_primary(p, false));
        if (!arg || parse_push(p, &items, arg) < 0)
            return NULL;
        e->u.call.args.items = (struct expr **)items.items;
        e->u.call.args.n_pos = 1;
    }
    return adopt_args(p, e) ? e : NULL;
}

struct expr *parse_unary(struct parser *p, bool with_filter)
{
    struct expr *e;
    uint32_t from = p->cur.from;
    uint8_t k = p->cur.kind;
    if (k == T_SUB || k == T_ADD) {
        if (parse_enter(p) < 0 || parse_advance(p) < 0)
            return NULL;
        e = node_unary(p, k == T_SUB ? E_NEG : E_POS, from, parse_unary(p, false));
        p->depth--;
    } else {
        e = parse_primary(p, false);
    }
    e = parse_postfix(p, e);
    while (e && with_filter) {
        if (p->cur.kind == T_PIPE)
            e = parse_advance(p) < 0 ? NULL : parse_filter(p, e);
        else if (parse_at_name(p, "is"))
            e = parse_test(p, e);
        else if (p->cur.kind == T_LPAREN)
            e = parse_call(p, e);
        else
            break;
    }
    return e;
}
