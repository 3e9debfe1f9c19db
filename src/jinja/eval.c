#include "jinja/eval.h"

#include <string.h>

#include "jinja/filters.h"
#include "jinja/methods.h"
#include "jinja/ops.h"
#include "jinja/tests.h"
#include "jinja/text.h"

#define CHAIN_MAX 24 /* operands of a + chain that are joined at once */

static int eval_items(struct run *r, const struct expr *e, enum jinja_type type,
                      struct jinja_value *out)
{
    struct jinja_value list;
    if (list_start(r, &list, type, e->u.list.n) < 0)
        return -1;
    for (uint32_t i = 0; i < e->u.list.n; i++) {
        if (eval(r, e->u.list.items[i], &list.u.list->items[i]) < 0)
            return -1;
        list.u.list->n++;
    }
    *out = list;
    return 0;
}

static int eval_dict(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct jinja_value dict, key, value;
    if (dict_start(r, &dict, e->u.list.n / 2) < 0)
        return -1;
    for (uint32_t i = 0; i < e->u.list.n; i += 2) {
        if (eval(r, e->u.list.items[i], &key) < 0 || eval(r, e->u.list.items[i + 1], &value) < 0)
            return -1;
        r->at = e->u.list.items[i];
        if (dict_set(r, dict, key, value) < 0)
            return -1;
    }
    *out = dict;
    return 0;
}

static int eval_getitem(struct run *r, const struct expr *e, struct jinja_value *out)
{
    const struct expr *arg = e->u.two.right;
    struct jinja_value object, key, bounds[3];
    if (eval(r, e->u.two.left, &object) < 0)
        return -1;
    if (arg->kind != E_SLICE) {
        if (eval(r, arg, &key) < 0)
            return -1;
        r->at = e;
        return get_item(r, object, key, out);
    }
    for (int i = 0; i < 3; i++) {
        bounds[i] = jinja_none();
        if (arg->u.list.items[i] && eval(r, arg->u.list.items[i], &bounds[i]) < 0)
            return -1;
    }
    r->at = e;
    return get_slice(r, object, bounds, out);
}

/*
 * Strings joined by a chain of + become one string in one step, instead of one for every +. The
 * chain is walked as ((a + b) + c) + d would be, so anything but plain strings is added there.
 */
struct chain {
    struct str parts[CHAIN_MAX];
    unsigned n;
    size_t bytes;
    struct jinja_value sum; /* of all before parts; JINJA_MISSING when parts is all there is */
};

static int chain_flush(struct run *r, struct chain *c, struct jinja_value *out)
{
    if (c->sum.type != JINJA_MISSING) {
        *out = c->sum;
        return 0;
    }
    if (c->n == 1) {
        *out = jinja_string(c->parts[0]);
        return 0;
    }
    struct sb b = sb_start(r);
    if (!sb_reserve(&b, c->bytes))
        return -1;
    for (unsigned i = 0; i < c->n; i++)
        sb_add(&b, c->parts[i]);
    return sb_end(&b, out);
}

static int chain_add(struct run *r, struct chain *c, const struct expr *plus, struct jinja_value v)
{
    bool plain = v.type == JINJA_STRING && !v.flags;
    bool joinable = c->n > 0 || (!plus && c->sum.type == JINJA_MISSING);
    if (plain && joinable && c->n < CHAIN_MAX) {
        c->parts[c->n++] = jinja_str(v);
        c->bytes += v.n;
        return 0;
    }
    if (!plus) {
        c->sum = v;
        return 0;
    }
    if (chain_flush(r, c, &c->sum) < 0)
        return -1;
    r->at = plus;
    if (op_arith(r, E_ADD, c->sum, v, &c->sum) < 0)
        return -1;
    c->n = 0;
    if (c->sum.type == JINJA_STRING && !c->sum.flags) {
        c->parts[c->n++] = jinja_str(c->sum);
        c->bytes = c->sum.n;
        c->sum.type = JINJA_MISSING;
    }
    return 0;
}

static int eval_chain(struct run *r, const struct expr *e, struct chain *c)
{
    const struct expr *stack[JINJA_DEPTH_MAX + 2];
    size_t n = 0;
    struct jinja_value v;
    c->n = 0;
    c->bytes = 0;
    c->sum.type = JINJA_MISSING;
    for (; e->kind == E_ADD; e = e->u.two.left)
        stack[n++] = e;
    if (eval(r, e, &v) < 0 || chain_add(r, c, NULL, v) < 0)
        return -1;
    while (n--)
        if (eval(r, stack[n]->u.two.right, &v) < 0 || chain_add(r, c, stack[n], v) < 0)
            return -1;
    return 0;
}

static int eval_add(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct chain c;
    if (eval_chain(r, e, &c) < 0)
        return -1;
    r->at = e;
    return chain_flush(r, &c, out);
}

static int eval_binary(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct jinja_value a, b;
    if (eval(r, e->u.two.left, &a) < 0 || eval(r, e->u.two.right, &b) < 0)
        return -1;
    r->at = e;
    return op_arith(r, e->kind, a, b, out);
}

static int eval_compare(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct jinja_value a, b;
    bool yes = true;
    if (eval(r, e->u.list.items[0], &a) < 0)
        return -1;
    for (uint32_t i = 1; yes && i < e->u.list.n; i++, a = b) {
        if (eval(r, e->u.list.items[i], &b) < 0)
            return -1;
        r->at = e;
        if (op_compare(r, e->u.list.ops[i - 1], a, b, &yes) < 0)
            return -1;
    }
    *out = jinja_bool(yes);
    return 0;
}

static int eval_concat(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct sb b = sb_start(r);
    struct jinja_value v[16];
    uint32_t n = e->u.list.n;
    /* Operands first, so that nothing lies behind the string while it grows. */
    for (uint32_t i = 0; i < n; i += 16) {
        uint32_t some = n - i < 16 ? n - i : 16;
        for (uint32_t k = 0; k < some; k++)
            if (eval(r, e->u.list.items[i + k], &v[k]) < 0)
                return -1;
        r->at = e;
        for (uint32_t k = 0; k < some; k++)
            if (text_add_str(&b, v[k]) < 0)
                return -1;
    }
    return sb_end(&b, out);
}

static int eval_logic(struct run *r, const struct expr *e, struct jinja_value *out)
{
    if (eval(r, e->u.two.left, out) < 0)
        return -1;
    return op_truth(*out) == (e->kind == E_OR) ? 0 : eval(r, e->u.two.right, out);
}

static int eval_cond(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct jinja_value test;
    if (eval(r, e->u.two.right, &test) < 0)
        return -1;
    if (op_truth(test))
        return eval(r, e->u.two.left, out);
    if (e->u.two.other)
        return eval(r, e->u.two.other, out);
    *out = (struct jinja_value){.type = JINJA_UNDEFINED, .u.any = e};
    return 0;
}

static int eval_call(struct run *r, const struct expr *e, struct jinja_value *out)
{
    const struct expr *callee = e->u.call.callee;
    struct jinja_value object, f;
    struct args args;
    if (callee->kind == E_GETATTR) {
        if (eval(r, callee->u.two.left, &object) < 0)
            return -1;
        const struct method *m = callee->method ? method_on(callee->method, object.type) : NULL;
        if (m && m->fn) {
            if (args_eval(r, &e->u.call.args, NULL, &args) < 0)
                return -1;
            r->at = e;
            return method_call(r, m, object, &args, out);
        }
        r->at = callee;
        if (get_attribute(r, callee, object, &f) < 0)
            return -1;
    } else if (eval(r, callee, &f) < 0) {
        return -1;
    }
    if (args_eval(r, &e->u.call.args, NULL, &args) < 0)
        return -1;
    r->at = e;
    return call_value(r, f, &args, out);
}

static int eval_filter(struct run *r, const struct expr *e, const struct jinja_value *operand,
                       struct jinja_value *out)
{
    struct args args;
    if (args_eval(r, &e->u.call.args, operand, &args) < 0)
        return -1;
    r->at = e;
    if (!e->u.call.filter)
        return run_fail(r, "no filter named '%.*s'", STR_ARG(e->u.call.symbol->text));
    return filter_call(r, e->u.call.filter, &args, out);
}

int eval_filters(struct run *r, const struct expr *chain, struct jinja_value v,
                 struct jinja_value *out)
{
    if (chain->u.call.callee && eval_filters(r, chain->u.call.callee, v, &v) < 0)
        return -1;
    return eval_filter(r, chain, &v, out);
}

static int eval_test(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct jinja_value v;
    struct args args;
    bool yes;
    if (eval(r, e->u.call.callee, &v) < 0 || args_eval(r, &e->u.call.args, &v, &args) < 0)
        return -1;
    r->at = e;
    if (!e->u.call.test)
        return run_fail(r, "no test named '%.*s'", STR_ARG(e->u.call.symbol->text));
    if (test_call(r, e->u.call.test, &args, &yes) < 0)
        return -1;
    *out = jinja_bool(yes != (e->op == 1));
    return 0;
}

static int eval_node(struct run *r, const struct expr *e, struct jinja_value *out)
{
    struct jinja_value v;
    switch ((enum expr_kind)e->kind) {
    case E_LIST:
        return eval_items(r, e, JINJA_LIST, out);
    case E_TUPLE:
        return eval_items(r, e, JINJA_TUPLE, out);
    case E_DICT:
        return eval_dict(r, e, out);
    case E_GETATTR:
        if (eval(r, e->u.two.left, &v) < 0)
            return -1;
        r->at = e;
        return get_attribute(r, e, v, out);
    case E_GETITEM:
        return eval_getitem(r, e, out);
    case E_CALL:
        return eval_call(r, e, out);
    case E_FILTER:
        return eval(r, e->u.call.callee, &v) < 0 ? -1 : eval_filter(r, e, &v, out);
    case E_TEST:
        return eval_test(r, e, out);
    case E_COND:
        return eval_cond(r, e, out);
    case E_AND:
    case E_OR:
        return eval_logic(r, e, out);
    case E_NOT:
        if (eval(r, e->u.two.left, &v) < 0)
            return -1;
        *out = jinja_bool(!op_truth(v));
        return 0;
    case E_NEG:
    case E_POS:
        if (eval(r, e->u.two.left, &v) < 0)
            return -1;
        r->at = e;
        return op_negate(r, e->kind == E_NEG, v, out);
    case E_ADD:
        return eval_add(r, e, out);
    case E_CONCAT:
        return eval_concat(r, e, out);
    case E_COMPARE:
        return eval_compare(r, e, out);
    default:
        return eval_binary(r, e, out);
    }
}

int eval(struct run *r, const struct expr *e, struct jinja_value *out)
{
    if (e->kind == E_CONST) {
        *out = e->u.value;
        return 0;
    }
    if (e->kind == E_NAME) {
        *out = *slot_at(r, e->u.name.ref);
        if (out->type == JINJA_MISSING)
            *out = (struct jinja_value){.type = JINJA_UNDEFINED, .u.any = e};
        return 0;
    }
    r->at = e;
    if (run_charge(r, 0) < 0 || run_deeper(r) < 0)
        return -1;
    int rc = eval_node(r, e, out);
    r->depth--;
    return rc;
}
