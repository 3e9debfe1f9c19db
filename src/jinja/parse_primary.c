/* Literals, names, and what stands in brackets. */
#include "jinja/node.h"

#include <stdlib.h>

static struct expr *parse_list_literal(struct parser *p)
{
    struct ptr_list items = {0};
    uint32_t from = p->cur.from;
    if (parse_advance(p) < 0)
        return NULL;
    while (p->cur.kind != T_RBRACKET) {
        struct expr *e = parse_expr(p, true);
        if (!e || parse_push(p, &items, e) < 0)
            return NULL;
        if (p->cur.kind == T_COMMA ? parse_advance(p) < 0 : p->cur.kind != T_RBRACKET)
            break;
    }
    return parse_expect(p, T_RBRACKET) < 0 ? NULL : node_list(p, E_LIST, from, &items);
}

static struct expr *parse_dict_literal(struct parser *p)
{
    struct ptr_list items = {0};
    uint32_t from = p->cur.from;
    if (parse_advance(p) < 0)
        return NULL;
    while (p->cur.kind != T_RBRACE) {
        struct expr *key = parse_expr(p, true);
        if (!key || parse_expect(p, T_COLON) < 0)
            return NULL;
        struct expr *value = parse_expr(p, true);
        if (!value || parse_push(p, &items, key) < 0 || parse_push(p, &items, value) < 0)
            return NULL;
        if (p->cur.kind == T_COMMA ? parse_advance(p) < 0 : p->cur.kind != T_RBRACE)
            break;
    }
    return parse_expect(p, T_RBRACE) < 0 ? NULL : node_list(p, E_DICT, from, &items);
}

struct expr *parse_int(struct parser *p)
{
    struct token tok = p->cur;
    struct jinja_value v;
    char radix = tok.text.n > 2 && tok.text.p[0] == '0' ? (char)(tok.text.p[1] | 0x20) : '\0';
    if (parse_advance(p) < 0)
        return NULL;
    if (radix == 'x' || radix == 'o' || radix == 'b') {
        char *end;
        /* The arena ends every token text with a NUL. */
        unsigned long long n = strtoull(tok.text.p + 2, &end,
                                        radix == 'x'   ? 16
                                        : radix == 'o' ? 8
                                                       : 2);
        if (tok.text.n > 17 || n > INT64_MAX) {
            parse_fail(p, tok.from, "integer literal with a base is too large");
            return NULL;
        }
        return node_constant(p, tok.from, jinja_int((int64_t)n));
    }
    struct str text = tok.text;
    while (text.n > 1 && text.p[0] == '0')
        text = str_skip(text, 1);
    if (jinja_number(&v, text, &p->t->arena, p->err) < 0) {
        parse_fail(p, tok.from, NULL);
        return NULL;
    }
    return node_constant(p, tok.from, v);
}

static struct expr *parse_float(struct parser *p)
{
    struct token tok = p->cur;
    if (parse_advance(p) < 0)
        return NULL;
    return node_constant(p, tok.from, jinja_float(strtod(tok.text.p, NULL)));
}

static struct expr *parse_strings(struct parser *p)
{
    uint32_t from = p->cur.from;
    struct str s = p->cur.text;
    if (parse_advance(p) < 0)
        return NULL;
    while (p->cur.kind == T_STRING) {
        struct str more = p->cur.text;
        char *joined = parse_alloc(p, s.n + more.n + 1);
        if (!joined)
            return NULL;
        if (s.n)
            memcpy(joined, s.p, s.n);
        if (more.n)
            memcpy(joined + s.n, more.p, more.n);
        s = (struct str){joined, s.n + more.n};
        if (parse_advance(p) < 0)
            return NULL;
    }
    return node_constant(p, from, jinja_string(s));
}

static struct expr *parse_name(struct parser *p, bool with_namespace)
{
    static const struct {
        const char *name;
        struct jinja_value value;
    } constants[] = {
        {"true", {.type = JINJA_BOOL, .u.b = true}},
        {"True", {.type = JINJA_BOOL, .u.b = true}},
        {"false", {.type = JINJA_BOOL, .u.b = false}},
        {"False", {.type = JINJA_BOOL, .u.b = false}},
        {"none", {.type = JINJA_NONE}},
        {"None", {.type = JINJA_NONE}},
    };
    struct token tok = p->cur;
    if (parse_advance(p) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        if (str_eq(tok.text, str_of(constants[i].name)))
            return node_constant(p, tok.from, constants[i].value);
    bool ns = with_namespace && p->cur.kind == T_DOT;
    struct expr *e = node_new(p, ns ? E_NSREF : E_NAME, tok.from);
    if (!e)
        return NULL;
    e->u.name.symbol = template_symbol(p->t, tok.text);
    if (ns) {
        if (parse_advance(p) < 0)
            return NULL;
        struct str attr = p->cur.text;
        if (parse_expect(p, T_NAME) < 0)
            return NULL;
        e->u.name.attr = template_symbol(p->t, attr);
        e->to = p->end;
    }
    return e->u.name.symbol && (!ns || e->u.name.attr) ? e : NULL;
}

struct expr *parse_primary(struct parser *p, bool with_namespace)
{
    struct expr *e;
    uint32_t from = p->cur.from;
    switch ((enum token_kind)p->cur.kind) {
    case T_NAME:
        return parse_name(p, with_namespace);
    case T_STRING:
        return parse_strings(p);
    case T_INT:
        return parse_int(p);
    case T_FLOAT:
        return parse_float(p);
    case T_LPAREN:
        if (parse_advance(p) < 0)
            return NULL;
        e = parse_tuple(p, true, NULL, true);
        if (!e || parse_expect(p, T_RPAREN) < 0)
            return NULL;
        e->from = from;
        e->to = p->end;
        return e;
    case T_LBRACKET:
        return parse_list_literal(p);
    case T_LBRACE:
        return parse_dict_literal(p);
    default:
        parse_fail(p, p->cur.from, "unexpected '%s'", token_name(p->cur.kind));
        return NULL;
    }
}
