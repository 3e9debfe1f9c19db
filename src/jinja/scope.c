/*
 * The rules, from Jinja2's idtracking: a scope is analysed as a whole before the scopes inside it.
 * A name that is first read comes from outside (an enclosing scope, else the context). A name that
 * is first set starts as a copy of the enclosing scope's variable of that name, or unset. A name
 * set only within an if may be read without having been set, so it starts with the outer value.
 */
#include "jinja/scope.h"

#include <string.h>

#include "jinja/mentions.h"

/* A function: the template itself, a macro, a call block. Its variables live in one frame. */
struct function {
    unsigned depth;
    uint32_t n_slots;
};

struct table;

struct var {
    const struct table *table;
    struct var *shadowed, *next; /* the same name further out; the table's next variable */
    const struct symbol *symbol;
    struct ref from;
    uint16_t slot;
    uint8_t load;
    bool stored;
};

struct name_use {
    struct expr *node;
    struct name_use *next;
};
struct inner {
    struct stmt *stmt;
    struct inner *next;
};

/* One scope while it is analysed. */
struct table {
    struct function *function;
    struct var *vars, **tail;
    uint32_t n;
    struct var **stored; /* in the order they were first set */
    uint32_t n_stored, cap_stored;
    struct name_use *uses;
    struct inner *inner, **inner_tail;
};

struct resolver {
    struct jinja_template *t;
    struct table *now;
    unsigned soft;  /* inside an if or a conditional expression */
    unsigned loops; /* inside a for, at any distance: "loop" cannot be set there */
    struct error *err;
};

static int fail_at(struct resolver *r, uint32_t at)
{
    int64_t line, column;
    template_place(r->t, at, &line, &column);
    return error_at_line(r->err, line, column);
}

static void *alloc(struct resolver *r, size_t size)
{
    void *p = arena_alloc(&r->t->arena, size);
    if (!p)
        arena_check(&r->t->arena, "template", r->err);
    return p;
}

static struct ref ref_to(const struct resolver *r, const struct var *v)
{
    return (struct ref){(uint16_t)(r->now->function->depth - v->table->function->depth), v->slot};
}

static struct var *define(struct resolver *r, const struct symbol *symbol, enum load_kind load)
{
    struct function *f = r->now->function;
    if (f->n_slots == SLOTS_MAX) {
        error_set(r->err, ERROR_LIMIT, "more than %d variables in a template or macro", SLOTS_MAX);
        return NULL;
    }
    struct var *v = alloc(r, sizeof *v);
    if (!v)
        return NULL;
    *v = (struct var){.table = r->now,
                      .shadowed = symbol->var,
                      .symbol = symbol,
                      .slot = (uint16_t)f->n_slots++,
                      .load = (uint8_t)load};
    ((struct symbol *)(uintptr_t)symbol)->var = v;
    *r->now->tail = v;
    r->now->tail = &v->next;
    r->now->n++;
    return v;
}

static int note_stored(struct resolver *r, struct var *v)
{
    struct table *t = r->now;
    if (v->stored)
        return 0;
    v->stored = true;
    if (t->n_stored == t->cap_stored) {
        uint32_t cap = t->cap_stored ? t->cap_stored * 2 : 8;
        struct var **p =
            arena_grow(&r->t->arena, t->stored, t->cap_stored * sizeof(*p), cap * sizeof(*p));
        if (!p)
            return arena_check(&r->t->arena, "template", r->err);
        t->stored = p;
        t->cap_stored = cap;
    }
    t->stored[t->n_stored++] = v;
    return 0;
}

static bool is_here(const struct resolver *r, const struct symbol *s)
{
    return s->var && s->var->table == r->now;
}

static int store(struct resolver *r, const struct symbol *s)
{
    if (!is_here(r, s)) {
        struct var *outer = s->var;
        struct var *v = define(r, s, outer ? LOAD_ALIAS : LOAD_UNDEFINED);
        if (!v)
            return -1;
        if (outer)
            v->from = ref_to(r, outer);
    }
    return note_stored(r, s->var);
}

static int declare(struct resolver *r, const struct symbol *s, struct ref *out)
{
    if (!is_here(r, s) && !define(r, s, LOAD_PARAM))
        return -1;
    s->var->load = LOAD_PARAM;
    if (out)
        *out = ref_to(r, s->var);
    return note_stored(r, s->var);
}

static int load(struct resolver *r, const struct symbol *s)
{
    return s->var || define(r, s, LOAD_RESOLVE) ? 0 : -1;
}

static int use(struct resolver *r, struct expr *node)
{
    struct name_use *u = alloc(r, sizeof *u);
    if (!u)
        return -1;
    *u = (struct name_use){node, r->now->uses};
    r->now->uses = u;
    return 0;
}

static int visit_expr(struct resolver *r, struct expr *e);

static int visit_items(struct resolver *r, struct expr **items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (visit_expr(r, items[i]) < 0)
            return -1;
    return 0;
}

static int visit_call(struct resolver *r, struct expr *e)
{
    const struct call_args *a = &e->u.call.args;
    bool unknown =
        (e->kind == E_FILTER && !e->u.call.filter) || (e->kind == E_TEST && !e->u.call.test);
    if (unknown && !r->soft) {
        error_set(r->err, ERROR_INPUT, "no %s named '%.*s'",
                  e->kind == E_FILTER ? "filter" : "test", STR_ARG(e->u.call.symbol->text));
        return fail_at(r, e->from);
    }
    if (visit_expr(r, e->u.call.callee) < 0 ||
        visit_items(r, a->items, (size_t)a->n_pos + a->n_kw) < 0 || visit_expr(r, a->star) < 0)
        return -1;
    return visit_expr(r, a->star_star);
}

static int visit_expr(struct resolver *r, struct expr *e)
{
    int rc;
    if (!e)
        return 0;
    switch ((enum expr_kind)e->kind) {
    case E_CONST:
        return 0;
    case E_NAME:
    case E_NSREF:
        return load(r, e->u.name.symbol) < 0 ? -1 : use(r, e);
    case E_LIST:
    case E_TUPLE:
    case E_DICT:
    case E_SLICE:
    case E_CONCAT:
    case E_COMPARE:
        return visit_items(r, e->u.list.items, e->u.list.n);
    case E_CALL:
    case E_FILTER:
    case E_TEST:
        return visit_call(r, e);
    case E_COND:
        r->soft++;
        rc = visit_expr(r, e->u.two.left) < 0 || visit_expr(r, e->u.two.right) < 0 ||
                     visit_expr(r, e->u.two.other) < 0
                 ? -1
                 : 0;
        r->soft--;
        return rc;
    default:
        return visit_expr(r, e->u.two.left) < 0 ? -1 : visit_expr(r, e->u.two.right);
    }
}

static int visit_target(struct resolver *r, struct expr *e, bool param)
{
    if (e->kind == E_TUPLE) {
        for (uint32_t i = 0; i < e->u.list.n; i++)
            if (visit_target(r, e->u.list.items[i], param) < 0)
                return -1;
        return 0;
    }
    const struct symbol *s = e->u.name.symbol;
    if (r->loops && !param && e->kind == E_NAME && str_eq(s->text, STR("loop"))) {
        error_set(r->err, ERROR_INPUT, "'loop' cannot be assigned to inside a for loop");
        return fail_at(r, e->from);
    }
    int rc = e->kind == E_NSREF ? load(r, s) : param ? declare(r, s, NULL) : store(r, s);
    return rc < 0 ? -1 : use(r, e);
}

static int visit_stmts(struct resolver *r, struct stmt *s);

/* Names first set inside the if may reach what follows unset: they start with the outer value. */
static int visit_if(struct resolver *r, struct stmt *s)
{
    uint32_t mark = r->now->n_stored;
    r->soft++;
    for (;;) {
        if (visit_expr(r, s->u.cond.test) < 0 || visit_stmts(r, s->u.cond.body) < 0)
            return -1;
        struct stmt *next = s->u.cond.otherwise;
        if (next && next->kind == S_IF && !next->next) { /* elif */
            s = next;
            continue;
        }
        if (visit_stmts(r, next) < 0)
            return -1;
        break;
    }
    r->soft--;
    for (uint32_t i = mark; i < r->now->n_stored; i++) {
        struct var *v = r->now->stored[i];
        v->load = (uint8_t)(v->shadowed ? LOAD_ALIAS : LOAD_RESOLVE);
        if (v->shadowed)
            v->from = ref_to(r, v->shadowed);
    }
    return 0;
}

static int visit_stmt(struct resolver *r, struct stmt *s)
{
    switch ((enum stmt_kind)s->kind) {
    case S_OUTPUT:
    case S_DO:
        return visit_expr(r, s->u.one.value);
    case S_SET:
        return visit_expr(r, s->u.one.value) < 0 ? -1 : visit_target(r, s->u.one.target, false);
    case S_SET_BLOCK:
        return visit_target(r, s->u.block.target, false);
    case S_FOR:
        return visit_expr(r, s->u.loop.iter);
    case S_IF:
        return visit_if(r, s);
    case S_MACRO:
        return store(r, s->u.macro.def->name);
    case S_CALL_BLOCK:
        return visit_expr(r, s->u.block.call);
    case S_FILTER_BLOCK:
        return visit_expr(r, s->u.block.filter);
    case S_WITH:
        return visit_items(r, s->u.with.values, s->u.with.n);
    case S_DATA:
    case S_GENERATION:
    case S_BREAK:
    case S_CONTINUE:
        break;
    }
    return 0;
}

static int visit_stmts(struct resolver *r, struct stmt *s)
{
    for (; s; s = s->next) {
        if (visit_stmt(r, s) < 0)
            return -1;
        bool opens = s->kind == S_FOR || s->kind == S_SET_BLOCK || s->kind == S_MACRO ||
                     s->kind == S_CALL_BLOCK || s->kind == S_FILTER_BLOCK || s->kind == S_WITH ||
                     s->kind == S_GENERATION;
        if (!opens)
            continue;
        struct inner *in = alloc(r, sizeof *in);
        if (!in)
            return -1;
        in->stmt = s;
        *r->now->inner_tail = in;
        r->now->inner_tail = &in->next;
    }
    return 0;
}

/* Begins a scope inside function f; r->now is it until leave. */
static int enter(struct resolver *r, struct function *f)
{
    struct table *t = alloc(r, sizeof *t);
    if (!t)
        return -1;
    t->function = f;
    t->tail = &t->vars;
    t->inner_tail = &t->inner;
    r->now = t;
    return 0;
}

static int resolve_inner(struct resolver *r, struct stmt *s);

/* Ends the analysis of r->now: names get their refs, *out the loads, inner scopes their turn. */
static int leave(struct resolver *r, struct table *outer, struct scope *out)
{
    struct table *t = r->now;
    unsigned soft = r->soft;
    struct load *loads = alloc(r, (t->n ? t->n : 1) * sizeof *loads);
    if (!loads)
        return -1;
    out->loads = loads;
    for (struct var *v = t->vars; v; v = v->next)
        if (v->load != LOAD_PARAM)
            loads[out->n++] = (struct load){v->load, v->slot, v->from, v->symbol};
    for (struct name_use *u = t->uses; u; u = u->next)
        u->node->u.name.ref = ref_to(r, u->node->u.name.symbol->var);
    r->soft = 0;
    for (struct inner *in = t->inner; in; in = in->next)
        if (resolve_inner(r, in->stmt) < 0)
            return -1;
    r->soft = soft;
    for (struct var *v = t->vars; v; v = v->next)
        ((struct symbol *)(uintptr_t)v->symbol)->var = v->shadowed;
    r->now = outer;
    return 0;
}

static struct expr *clone_target(struct resolver *r, const struct expr *e)
{
    struct expr *copy = alloc(r, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *e;
    if (e->kind != E_TUPLE)
        return copy;
    copy->u.list.items = alloc(r, (e->u.list.n ? e->u.list.n : 1) * sizeof(struct expr *));
    for (uint32_t i = 0; copy->u.list.items && i < e->u.list.n; i++)
        if (!(copy->u.list.items[i] = clone_target(r, e->u.list.items[i])))
            return NULL;
    return copy->u.list.items ? copy : NULL;
}

static int resolve_for(struct resolver *r, struct stmt *s)
{
    struct table *outer = r->now;
    r->loops++;
    if (s->u.loop.test) {
        s->u.loop.test_target = clone_target(r, s->u.loop.target);
        if (!s->u.loop.test_target || enter(r, outer->function) < 0 ||
            visit_target(r, s->u.loop.test_target, true) < 0 || visit_expr(r, s->u.loop.test) < 0 ||
            leave(r, outer, &s->u.loop.test_scope) < 0)
            return -1;
    }
    const struct symbol *loop = template_symbol(r->t, STR("loop"));
    if (!loop || enter(r, outer->function) < 0 || declare(r, loop, &s->u.loop.loop) < 0 ||
        visit_target(r, s->u.loop.target, true) < 0 || visit_stmts(r, s->u.loop.body) < 0 ||
        leave(r, outer, &s->u.loop.scope) < 0)
        return -1;
    if (enter(r, outer->function) < 0 || visit_stmts(r, s->u.loop.otherwise) < 0 ||
        leave(r, outer, &s->u.loop.else_scope) < 0)
        return -1;
    r->loops--;
    return 0;
}

/* caller, kwargs, varargs: parameters that a macro has by using them. */
static int special(struct resolver *r, const struct macro_def *def, struct str name, bool *takes,
                   struct ref *ref)
{
    const struct symbol *symbol = template_symbol(r->t, name);
    if (!symbol)
        return -1;
    for (uint32_t i = 0; i < def->n_params; i++)
        if (def->params[i]->u.name.symbol == symbol)
            return 0;
    *takes = mentions(def->body, symbol);
    return *takes ? declare(r, symbol, ref) : 0;
}

static int resolve_macro(struct resolver *r, struct macro_def *def)
{
    struct table *outer = r->now;
    struct function *f = alloc(r, sizeof *f);
    if (!f)
        return -1;
    f->depth = outer->function->depth + 1;
    if (enter(r, f) < 0)
        return -1;
    for (uint32_t i = 0; i < def->n_params; i++)
        if (visit_target(r, def->params[i], true) < 0)
            return -1;
    if (special(r, def, STR("caller"), &def->takes_caller, &def->caller) < 0 ||
        special(r, def, STR("kwargs"), &def->takes_kwargs, &def->kwargs) < 0 ||
        special(r, def, STR("varargs"), &def->takes_varargs, &def->varargs) < 0)
        return -1;
    if (visit_items(r, def->defaults, def->n_defaults) < 0 || visit_stmts(r, def->body) < 0 ||
        leave(r, outer, &def->scope) < 0)
        return -1;
    def->n_slots = f->n_slots;
    return 0;
}

static int resolve_with(struct resolver *r, struct stmt *s)
{
    struct table *outer = r->now;
    if (enter(r, outer->function) < 0)
        return -1;
    for (uint32_t i = 0; i < s->u.with.n; i++)
        if (visit_target(r, s->u.with.targets[i], true) < 0)
            return -1;
    return visit_stmts(r, s->u.with.body) < 0 ? -1 : leave(r, outer, &s->u.with.scope);
}

static int resolve_inner(struct resolver *r, struct stmt *s)
{
    struct table *outer = r->now;
    switch ((enum stmt_kind)s->kind) {
    case S_FOR:
        return resolve_for(r, s);
    case S_MACRO:
        s->u.macro.ref = ref_to(r, s->u.macro.def->name->var);
        return resolve_macro(r, s->u.macro.def);
    case S_CALL_BLOCK:
        return resolve_macro(r, s->u.block.macro);
    case S_WITH:
        return resolve_with(r, s);
    default: /* set block, filter block, generation */
        if (enter(r, outer->function) < 0 ||
            (s->kind == S_SET_BLOCK && visit_expr(r, s->u.block.filter) < 0))
            return -1;
        return visit_stmts(r, s->u.block.body) < 0 ? -1 : leave(r, outer, &s->u.block.scope);
    }
}

int scope_resolve(struct jinja_template *t, struct error *err)
{
    struct resolver r = {.t = t, .err = err};
    struct function f = {0};
    if (enter(&r, &f) < 0 || visit_stmts(&r, t->body) < 0 || leave(&r, NULL, &t->scope) < 0)
        return -1;
    t->n_slots = f.n_slots;
    return 0;
}
