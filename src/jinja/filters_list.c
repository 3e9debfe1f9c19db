#include "jinja/filter_fns.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/strings.h"
#include "jinja/tests.h"

FILTER(filter_default)
{
    (void)r, (void)args, (void)f;
    bool use = v[0].type == JINJA_UNDEFINED || (op_truth(v[2]) && !op_truth(v[0]));
    *out = !use ? v[0] : v[1].type == JINJA_MISSING ? jinja_string(STR("")) : v[1];
    return 0;
}

FILTER(filter_length)
{
    int64_t n;
    (void)args, (void)f;
    if (op_length(r, v[0], &n) < 0)
        return -1;
    *out = jinja_int(n);
    return 0;
}

FILTER(filter_list)
{
    (void)args, (void)f;
    return to_list(r, v[0], JINJA_LIST, out);
}

FILTER(filter_first)
{
    struct cursor c;
    (void)args, (void)f;
    if (v[0].type == JINJA_UNDEFINED || cursor_open(r, &c, v[0]) < 0)
        return v[0].type == JINJA_UNDEFINED ? run_hint(r, out, "No first item, sequence was empty.")
                                            : -1;
    int rc = cursor_next(r, &c, out);
    return rc == 0 ? run_hint(r, out, "No first item, sequence was empty.") : rc < 0 ? -1 : 0;
}

FILTER(filter_last)
{
    struct jinja_value list;
    (void)args, (void)f;
    if (v[0].type == JINJA_ITERATOR || !is_iterable(v[0]))
        return run_fail(r, "'%s' object is not reversible", jinja_type_name(v[0].type));
    if (v[0].type == JINJA_UNDEFINED)
        return run_hint(r, out, "No last item, sequence was empty.");
    if (v[0].type == JINJA_STRING)
        return v[0].n ? get_item(r, v[0], jinja_int(-1), out)
                      : run_hint(r, out, "No last item, sequence was empty.");
    list = v[0];
    if (v[0].type != JINJA_LIST && v[0].type != JINJA_TUPLE &&
        to_list(r, v[0], JINJA_LIST, &list) < 0)
        return -1;
    if (list.u.list->n == 0)
        return run_hint(r, out, "No last item, sequence was empty.");
    *out = list.u.list->items[list.u.list->n - 1];
    return 0;
}

static int next_item_pair(struct run *r, struct generator *g, struct jinja_value *out)
{
    struct jinja_value view = g->value;
    if (g->value.type == JINJA_UNDEFINED)
        return 0;
    if (g->value.type != JINJA_DICT)
        return run_fail(r, "can only get item pairs from a mapping");
    view.type = JINJA_VIEW;
    view.aux = VIEW_ITEMS;
    g->source.over = view;
    return cursor_next(r, &g->source, out);
}

FILTER(filter_items)
{
    (void)args, (void)f;
    return generator_new(r, out, "do_items", next_item_pair, v[0], NULL);
}

FILTER(filter_attr)
{
    (void)args, (void)f;
    if (v[1].type != JINJA_STRING)
        return run_fail(r, "attribute name must be a string");
    if (v[0].type == JINJA_NAMESPACE || v[0].type == JINJA_UNDEFINED)
        return get_item(r, v[0], v[1], out);
    /* A dict's keys are no attributes: only what the type itself has. */
    struct jinja_value empty;
    if (v[0].type == JINJA_DICT && dict_start(r, &empty, 0) < 0)
        return -1;
    return get_item(r, v[0].type == JINJA_DICT ? empty : v[0], v[1], out);
}

static int rows_add(struct run *r, struct jinja_value rows, struct jinja_value row,
                    struct jinja_value fill, int64_t missing)
{
    for (int64_t i = 0; fill.type > JINJA_NONE && i < missing; i++)
        if (list_append(r, row, fill) < 0)
            return -1;
    return list_append(r, rows, row);
}

struct rows_plan {
    struct jinja_value size, fill;
    int (*make)(struct run *r, struct jinja_value over, const struct rows_plan *p,
                struct jinja_value *rows);
};

/* Made when the first is asked for, so that what is never asked for is never an error. */
static int next_row(struct run *r, struct generator *g, struct jinja_value *out)
{
    const struct rows_plan *p = g->plan;
    if (!g->started && p->make(r, g->value, p, &g->source.over) < 0)
        return -1;
    return cursor_next(r, &g->source, out);
}

static int make_batches(struct run *r, struct jinja_value over, const struct rows_plan *p,
                        struct jinja_value *rows)
{
    struct jinja_value row = {0}, item;
    struct cursor c;
    int64_t size;
    int rc;
    if (need_int(r, p->size, 0, &size) < 0 || cursor_open(r, &c, over) < 0 ||
        list_start(r, rows, JINJA_LIST, 0) < 0)
        return -1;
    if (size > (int64_t)JINJA_ITEMS_MAX)
        return run_limit(r, "more than %zu items in a list", JINJA_ITEMS_MAX);
    while ((rc = cursor_next(r, &c, &item)) > 0) {
        bool full = row.type == JINJA_LIST && (int64_t)row.u.list->n == size;
        if (full && list_append(r, *rows, row) < 0)
            return -1;
        if ((row.type != JINJA_LIST || full) && list_start(r, &row, JINJA_LIST, 0) < 0)
            return -1;
        if (list_append(r, row, item) < 0)
            return -1;
    }
    if (rc < 0 || row.type != JINJA_LIST)
        return rc;
    return rows_add(r, *rows, row, p->fill, size - (int64_t)row.u.list->n);
}

static int make_slices(struct run *r, struct jinja_value over, const struct rows_plan *p,
                       struct jinja_value *rows)
{
    struct jinja_value list, row;
    int64_t slices, at = 0;
    if (need_int(r, p->size, 0, &slices) < 0 || to_list(r, over, JINJA_LIST, &list) < 0 ||
        list_start(r, rows, JINJA_LIST, 0) < 0)
        return -1;
    if (slices == 0)
        return run_fail(r, "integer division or modulo by zero");
    if (slices > JINJA_RANGE_MAX)
        return run_limit(r, "more than %d slices", JINJA_RANGE_MAX);
    for (int64_t i = 0; i < slices; i++) {
        int64_t each = list.u.list->n / slices, extra = list.u.list->n % slices;
        int64_t n = each + (i < extra ? 1 : 0);
        if (list_start(r, &row, JINJA_LIST, (size_t)n) < 0)
            return -1;
        for (int64_t k = 0; k < n; k++)
            if (list_append(r, row, list.u.list->items[at++]) < 0)
                return -1;
        if (rows_add(r, *rows, row, p->fill, i >= extra ? 1 : 0) < 0)
            return -1;
    }
    return 0;
}

/* batch and slice */
FILTER(filter_rows)
{
    struct rows_plan *p = run_alloc(r, sizeof *p);
    (void)args;
    if (!p)
        return -1;
    *p = (struct rows_plan){v[1], v[2], f->variant ? make_slices : make_batches};
    return generator_new(r, out, f->variant ? "sync_do_slice" : "do_batch", next_row, v[0], p);
}

/* What map and its relatives do with each item. */
struct plan {
    const struct args *args; /* without the operand */
    enum select_kind kind;
    struct jinja_value attribute, fallback;
    const struct filter *filter;
    const struct test *test;
};

/* The arguments behind the first `skip`, with room in front for the item they are called with. */
static int keep_args(struct run *r, const struct args *args, uint32_t skip, struct args *out)
{
    uint32_t n = args->n_pos - skip;
    struct jinja_value *pos = run_alloc(r, (n + 1) * sizeof *pos);
    if (!pos)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        pos[i + 1] = args->pos[skip + i];
    *out = *args;
    out->pos = pos;
    out->n_pos = n + 1;
    return 0;
}

static int prepare_map(struct run *r, struct plan *p)
{
    const struct args *a = p->args;
    struct args *kept = run_alloc(r, sizeof *kept);
    const struct jinja_value *attribute = args_keyword(a, STR("attribute"));
    if (!kept)
        return -1;
    if (a->n_pos == 1 && attribute) {
        const struct jinja_value *fallback = args_keyword(a, STR("default"));
        for (uint32_t i = 0; i < a->n_kw; i++)
            if (!str_eq(a->names[i], STR("attribute")) && !str_eq(a->names[i], STR("default")))
                return run_fail(r, "unexpected keyword argument '%.*s'", STR_ARG(a->names[i]));
        p->attribute = *attribute;
        if (fallback)
            p->fallback = *fallback;
        return 0;
    }
    if (a->n_pos < 2)
        return run_fail(r, "map requires a filter argument");
    p->filter = a->pos[1].type == JINJA_STRING ? filter_find(jinja_str(a->pos[1])) : NULL;
    if (!p->filter)
        return run_fail(r, "map names no filter");
    p->args = kept;
    return keep_args(r, a, 2, kept);
}

static int next_mapped(struct run *r, struct generator *g, struct jinja_value *out)
{
    struct plan *p = (struct plan *)(uintptr_t)g->plan;
    struct jinja_value item;
    if (!g->started) {
        if (!op_truth(g->value))
            return 0;
        if (prepare_map(r, p) < 0 || cursor_open(r, &g->source, g->value) < 0)
            return -1;
    }
    int rc = cursor_next(r, &g->source, &item);
    if (rc <= 0)
        return rc;
    if (p->filter) {
        ((struct jinja_value *)(uintptr_t)p->args->pos)[0] = item;
        return filter_call(r, p->filter, p->args, out) < 0 ? -1 : 1;
    }
    if (get_path(r, item, p->attribute, out) < 0)
        return -1;
    if (out->type == JINJA_UNDEFINED && p->fallback.type > JINJA_NONE)
        *out = p->fallback;
    return 1;
}

static int plan_new(struct run *r, const struct args *args, struct plan **out)
{
    struct args *kept = run_alloc(r, sizeof *kept);
    *out = run_alloc(r, sizeof **out);
    if (!kept || !*out)
        return -1;
    *kept = *args;
    (*out)->args = kept;
    return 0;
}

FILTER(filter_map)
{
    struct plan *p;
    (void)f, (void)v;
    return plan_new(r, args, &p) < 0
               ? -1
               : generator_new(r, out, "sync_do_map", next_mapped, args->pos[0], p);
}

static int prepare_select(struct run *r, struct plan *p)
{
    const struct args *a = p->args;
    uint32_t at = 1;
    struct args *kept = run_alloc(r, sizeof *kept);
    if (!kept)
        return -1;
    if (p->kind >= SELECT_ATTR) {
        if (a->n_pos < 2)
            return run_fail(r, "missing parameter for attribute name");
        p->attribute = a->pos[at++];
    }
    if (a->n_pos <= at)
        return 0;
    p->test = a->pos[at].type == JINJA_STRING ? test_find(jinja_str(a->pos[at])) : NULL;
    if (!p->test)
        return run_fail(r, "no test of that name");
    p->args = kept;
    return keep_args(r, a, at + 1, kept);
}

static int next_selected(struct run *r, struct generator *g, struct jinja_value *out)
{
    struct plan *p = (struct plan *)(uintptr_t)g->plan;
    struct jinja_value subject;
    int rc;
    if (!g->started) {
        if (!op_truth(g->value))
            return 0;
        if (prepare_select(r, p) < 0 || cursor_open(r, &g->source, g->value) < 0)
            return -1;
    }
    while ((rc = cursor_next(r, &g->source, out)) > 0) {
        bool yes;
        subject = *out;
        if (p->kind >= SELECT_ATTR && get_path(r, *out, p->attribute, &subject) < 0)
            return -1;
        if (p->test) {
            ((struct jinja_value *)(uintptr_t)p->args->pos)[0] = subject;
            if (test_call(r, p->test, p->args, &yes) < 0)
                return -1;
        } else {
            yes = op_truth(subject);
        }
        if (yes != (p->kind & 1))
            return 1;
    }
    return rc;
}

FILTER(filter_select)
{
    struct plan *p;
    (void)v;
    if (plan_new(r, args, &p) < 0)
        return -1;
    p->kind = (enum select_kind)f->variant;
    return generator_new(r, out, "select_or_reject", next_selected, args->pos[0], p);
}
