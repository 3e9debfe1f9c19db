#include "jinja/eval.h"

#include <stdlib.h>
#include <string.h>

#include "jinja/call.h"
#include "jinja/globals.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/text.h"

int enter_scope(struct run *r, const struct scope *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct load *l = &s->loads[i];
        struct jinja_value *slot = &r->frame->slots[l->slot];
        *slot = (struct jinja_value){0};
        if (l->kind == LOAD_ALIAS) {
            *slot = *slot_at(r, l->from);
        } else if (l->kind == LOAD_RESOLVE) {
            const struct jinja_entry *e =
                dict_find_str(r->context.u.dict, l->symbol->text, l->symbol->hash);
            if (e)
                *slot = e->value;
            else
                global_find(l->symbol->text, slot);
        }
    }
    return s->n ? run_charge(r, s->n * sizeof(struct load)) : 0;
}

static int unpack(struct run *r, const struct expr *target, struct jinja_value v)
{
    uint32_t n = target->u.list.n;
    struct jinja_value list = v;
    r->at = target;
    if (!is_iterable(v))
        return run_fail(r, "cannot unpack non-iterable %s object", jinja_type_name(v.type));
    if (v.type != JINJA_TUPLE && v.type != JINJA_LIST && to_list(r, v, JINJA_LIST, &list) < 0)
        return -1;
    if (list.u.list->n > n)
        return run_fail(r, "too many values to unpack (expected %u)", n);
    if (list.u.list->n < n)
        return run_fail(r, "not enough values to unpack (expected %u, got %u)", n, list.u.list->n);
    for (uint32_t i = 0; i < n; i++)
        if (assign_target(r, target->u.list.items[i], list.u.list->items[i]) < 0)
            return -1;
    return 0;
}

int assign_target(struct run *r, const struct expr *target, struct jinja_value v)
{
    struct jinja_value *slot;
    if (target->kind == E_TUPLE)
        return unpack(r, target, v);
    slot = slot_at(r, target->u.name.ref);
    if (target->kind == E_NAME) {
        *slot = v;
        return 0;
    }
    r->at = target;
    if (slot->type != JINJA_NAMESPACE)
        return run_fail(r, "cannot assign attribute on non-namespace object");
    return dict_set(r, *slot, jinja_string(target->u.name.attr->text), v);
}

static int note_span(struct run *r, size_t from, uint32_t source, bool literal)
{
    struct jinja_spans *s = r->options->spans;
    size_t to = r->out->n - r->out_start;
    from -= r->out_start;
    if (!s || r->captures || to == from)
        return 0;
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 32;
        struct jinja_span *p = realloc(s->items, cap * sizeof *p);
        if (!p)
            return error_no_memory(r->err);
        s->items = p;
        s->cap = cap;
    }
    s->items[s->n++] = (struct jinja_span){from, to, source, literal};
    return 0;
}

static int exec_output(struct run *r, const struct stmt *s)
{
    const struct expr *e = s->u.one.value;
    struct jinja_value v;
    size_t from = r->out->n;
    if (eval(r, e, &v) < 0)
        return -1;
    r->at = e;
    if (v.type != JINJA_STRING && text_str(r, v, &v) < 0)
        return -1;
    if (run_emit(r, jinja_str(v)) < 0)
        return -1;
    return r->options->spans ? note_span(r, from, e->from, e->kind == E_CONST) : 0;
}

/* A loop's rounds, from loop's state on; the loop has begun when this returns > 0 items. */
static int exec_rounds(struct run *r, const struct stmt *s, struct loop_object *l)
{
    struct jinja_value item;
    struct jinja_value self = {.type = JINJA_LOOP, .u.any = l};
    int rc;
    while ((rc = loop_next(r, l, &item)) > 0) {
        r->frame->slots[s->u.loop.loop.slot] = self;
        if (enter_scope(r, &s->u.loop.scope) < 0 || assign_target(r, s->u.loop.target, item) < 0)
            return -1;
        rc = exec(r, s->u.loop.body);
        if (rc < 0)
            return -1;
        if (rc == EXEC_BREAK)
            return 0;
    }
    return rc;
}

static int exec_loop(struct run *r, const struct stmt *s, struct jinja_value iterable,
                     int64_t depth0)
{
    struct loop_object *l;
    r->at = s->u.loop.iter;
    if ((s->u.loop.test && enter_scope(r, &s->u.loop.test_scope) < 0) ||
        loop_new(r, s, iterable, depth0, &l) < 0 || exec_rounds(r, s, l) < 0)
        return -1;
    if (l->index0 >= 0 || !s->u.loop.otherwise)
        return EXEC_OK;
    if (enter_scope(r, &s->u.loop.else_scope) < 0)
        return -1;
    return exec(r, s->u.loop.otherwise);
}

static int exec_for(struct run *r, const struct stmt *s)
{
    struct jinja_value iterable;
    if (eval(r, s->u.loop.iter, &iterable) < 0)
        return -1;
    return exec_loop(r, s, iterable, 0);
}

int exec_recursive(struct run *r, const struct loop_object *outer, struct jinja_value iterable,
                   struct jinja_value *out)
{
    const struct stmt *s = outer->stmt;
    struct frame *frame = r->frame;
    size_t mark = r->out->n;
    if (!s->u.loop.recursive)
        return run_fail(r, "the loop must have the 'recursive' marker to be called recursively");
    if (r->macro_depth >= JINJA_MACRO_DEPTH_MAX)
        return run_limit(r, "loops nested deeper than %d", JINJA_MACRO_DEPTH_MAX);
    /* The body's variables live in the frame around it, so the round under way keeps its own. */
    struct frame *f = outer->frame;
    uint32_t n = f->n_slots;
    struct jinja_value *saved = run_alloc(r, n * sizeof *saved);
    if (!saved)
        return -1;
    memcpy(saved, f->slots, n * sizeof *saved);
    r->frame = f;
    r->macro_depth++;
    r->captures++;
    int rc = exec_loop(r, s, iterable, outer->depth0 + 1);
    r->captures--;
    r->macro_depth--;
    r->frame = frame;
    memcpy(f->slots, saved, n * sizeof *saved);
    return rc < 0 ? -1 : run_capture(r, mark, out);
}

/* Runs a body with its output kept apart; break and continue pass through without a value. */
static int capture_body(struct run *r, const struct scope *scope, const struct stmt *body,
                        struct jinja_value *out)
{
    size_t mark = r->out->n;
    if (enter_scope(r, scope) < 0)
        return -1;
    r->captures++;
    int rc = exec(r, body);
    r->captures--;
    if (rc < 0)
        return -1;
    if (run_capture(r, mark, out) < 0)
        return -1;
    return rc;
}

static int exec_set_block(struct run *r, const struct stmt *s)
{
    struct jinja_value v;
    int rc = capture_body(r, &s->u.block.scope, s->u.block.body, &v);
    if (rc != EXEC_OK)
        return rc;
    if (s->u.block.filter && eval_filters(r, s->u.block.filter, v, &v) < 0)
        return -1;
    return assign_target(r, s->u.block.target, v);
}

static int exec_filter_block(struct run *r, const struct stmt *s)
{
    struct jinja_value v;
    int rc = capture_body(r, &s->u.block.scope, s->u.block.body, &v);
    if (rc != EXEC_OK)
        return rc;
    size_t from = r->out->n;
    if (eval_filters(r, s->u.block.filter, v, &v) < 0 || text_str(r, v, &v) < 0 ||
        run_emit(r, jinja_str(v)) < 0)
        return -1;
    return note_span(r, from, s->from, false);
}

static int exec_call_block(struct run *r, const struct stmt *s)
{
    const struct expr *call = s->u.block.call;
    struct macro_object *caller = run_alloc(r, sizeof *caller);
    struct jinja_value f, v;
    struct args args;
    if (!caller)
        return -1;
    *caller = (struct macro_object){s->u.block.macro, r->frame};
    if (eval(r, call->u.call.callee, &f) < 0 || args_eval(r, &call->u.call.args, NULL, &args) < 0)
        return -1;
    r->at = call;
    struct jinja_value *kw = run_alloc(r, (args.n_kw + 1) * sizeof *kw);
    struct str *names = run_alloc(r, (args.n_kw + 1) * sizeof *names);
    if (!kw || !names)
        return -1;
    for (uint32_t i = 0; i < args.n_kw; i++) {
        kw[i] = args.kw[i];
        names[i] = args.names[i];
    }
    kw[args.n_kw] = (struct jinja_value){.type = JINJA_MACRO, .u.any = caller};
    names[args.n_kw] = STR("caller");
    args.kw = kw;
    args.names = names;
    args.n_kw++;
    size_t from = r->out->n;
    if (call_value(r, f, &args, &v) < 0 || text_str(r, v, &v) < 0 || run_emit(r, jinja_str(v)) < 0)
        return -1;
    return note_span(r, from, s->from, false);
}

static int exec_with(struct run *r, const struct stmt *s)
{
    struct jinja_value values[32], *v = values;
    uint32_t n = s->u.with.n;
    if (n > 32 && !(v = run_alloc(r, n * sizeof *v)))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (eval(r, s->u.with.values[i], &v[i]) < 0)
            return -1;
    if (enter_scope(r, &s->u.with.scope) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (assign_target(r, s->u.with.targets[i], v[i]) < 0)
            return -1;
    return exec(r, s->u.with.body);
}

static int exec_macro(struct run *r, const struct stmt *s)
{
    struct macro_object *m = run_alloc(r, sizeof *m);
    if (!m)
        return -1;
    *m = (struct macro_object){s->u.macro.def, r->frame};
    *slot_at(r, s->u.macro.ref) = (struct jinja_value){.type = JINJA_MACRO, .u.any = m};
    return 0;
}

/* An elif chain is walked, not recursed into: it may be long. */
static int exec_if(struct run *r, const struct stmt *s)
{
    struct jinja_value test;
    for (;;) {
        if (eval(r, s->u.cond.test, &test) < 0)
            return -1;
        if (op_truth(test))
            return exec(r, s->u.cond.body);
        const struct stmt *next = s->u.cond.otherwise;
        if (!next)
            return EXEC_OK;
        if (next->kind != S_IF || next->next)
            return exec(r, next);
        s = next;
    }
}

static int exec_stmt(struct run *r, const struct stmt *s)
{
    struct jinja_value v;
    size_t from = r->out->n;
    switch ((enum stmt_kind)s->kind) {
    case S_DATA:
        if (run_emit(r, s->u.data) < 0)
            return -1;
        return r->options->spans ? note_span(r, from, s->from, true) : 0;
    case S_OUTPUT:
        return exec_output(r, s);
    case S_FOR:
        return exec_for(r, s);
    case S_IF:
        return exec_if(r, s);
    case S_SET:
        return eval(r, s->u.one.value, &v) < 0 ? -1 : assign_target(r, s->u.one.target, v);
    case S_SET_BLOCK:
        return exec_set_block(r, s);
    case S_MACRO:
        return exec_macro(r, s);
    case S_CALL_BLOCK:
        return exec_call_block(r, s);
    case S_FILTER_BLOCK:
        return exec_filter_block(r, s);
    case S_WITH:
        return exec_with(r, s);
    case S_DO:
        return eval(r, s->u.one.value, &v);
    case S_GENERATION:
        return enter_scope(r, &s->u.block.scope) < 0 ? -1 : exec(r, s->u.block.body);
    case S_BREAK:
        return EXEC_BREAK;
    case S_CONTINUE:
        return EXEC_CONTINUE;
    }
    return 0;
}

int exec(struct run *r, const struct stmt *s)
{
    int rc = EXEC_OK;
    if (run_deeper(r) < 0)
        return -1;
    for (; s && rc == EXEC_OK; s = s->next) {
        if (run_charge(r, 0) < 0)
            return -1;
        rc = exec_stmt(r, s);
    }
    r->depth--;
    return rc;
}
