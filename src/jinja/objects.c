#include "jinja/objects.h"

#include "jinja/eval.h"
#include "jinja/ops.h"
#include "jinja/unicode.h"

bool is_iterable(struct jinja_value v)
{
    switch ((enum jinja_type)v.type) {
    case JINJA_UNDEFINED:
    case JINJA_STRING:
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_DICT:
    case JINJA_RANGE:
    case JINJA_VIEW:
    case JINJA_ITERATOR:
        return true;
    default:
        return false;
    }
}

int cursor_open(struct run *r, struct cursor *c, struct jinja_value v)
{
    if (!is_iterable(v))
        return run_fail(r, "'%s' object is not iterable", jinja_type_name(v.type));
    *c = (struct cursor){.over = v};
    return 0;
}

struct jinja_value range_item(const struct range_object *o, size_t i)
{
    return jinja_int(o->start + (int64_t)i * o->step);
}

int pair_of(struct run *r, struct jinja_value a, struct jinja_value b, struct jinja_value *out)
{
    if (list_start(r, out, JINJA_TUPLE, 2) < 0)
        return -1;
    out->u.list->items[0] = a;
    out->u.list->items[1] = b;
    out->u.list->n = 2;
    return 0;
}

static int view_next(struct run *r, struct cursor *c, struct jinja_value *out)
{
    const struct jinja_dict *d = c->over.u.dict;
    if (c->at >= d->n)
        return 0;
    const struct jinja_entry *e = &d->entries[c->at++];
    if (c->over.aux == VIEW_ITEMS)
        return pair_of(r, e->key, e->value, out) < 0 ? -1 : 1;
    *out = c->over.aux == VIEW_KEYS ? e->key : e->value;
    return 1;
}

static int generator_next(struct run *r, struct generator *g, struct jinja_value *out)
{
    if (g->done)
        return 0;
    if (run_deeper(r) < 0)
        return -1;
    int rc = g->next(r, g, out);
    r->depth--;
    g->started = true;
    if (rc == 0)
        g->done = true;
    return rc;
}

int cursor_next(struct run *r, struct cursor *c, struct jinja_value *out)
{
    struct jinja_value v = c->over;
    uint32_t cp;
    size_t n;
    if (run_charge(r, 0) < 0)
        return -1;
    switch ((enum jinja_type)v.type) {
    case JINJA_LIST:
    case JINJA_TUPLE:
        if (c->at >= v.u.list->n)
            return 0;
        *out = v.u.list->items[c->at++];
        return 1;
    case JINJA_DICT:
        if (c->at >= v.u.dict->n)
            return 0;
        *out = v.u.dict->entries[c->at++].key;
        return 1;
    case JINJA_STRING:
        if (c->at >= v.n)
            return 0;
        n = uni_next(jinja_str(v), c->at, &cp);
        *out = jinja_string((struct str){v.u.p + c->at, n});
        c->at += n;
        return 1;
    case JINJA_RANGE: {
        const struct range_object *o = v.u.any;
        if (c->at >= o->n)
            return 0;
        *out = range_item(o, c->at++);
        return 1;
    }
    case JINJA_VIEW:
        return view_next(r, c, out);
    case JINJA_ITERATOR:
        return generator_next(r, (struct generator *)(uintptr_t)v.u.any, out);
    default:
        return 0;
    }
}

int generator_new(struct run *r, struct jinja_value *out, const char *name,
                  int (*next)(struct run *, struct generator *, struct jinja_value *),
                  struct jinja_value over, const void *plan)
{
    struct generator *g = run_alloc(r, sizeof *g);
    if (!g)
        return -1;
    *g = (struct generator){.next = next, .name = name, .value = over, .plan = plan};
    *out = (struct jinja_value){.type = JINJA_ITERATOR, .u.any = g};
    return 0;
}

int to_list(struct run *r, struct jinja_value v, enum jinja_type type, struct jinja_value *out)
{
    struct cursor c;
    struct jinja_value item, list;
    size_t room = v.type == JINJA_LIST || v.type == JINJA_TUPLE ? v.u.list->n : 0;
    int rc;
    if (cursor_open(r, &c, v) < 0 || list_start(r, &list, type, room) < 0)
        return -1;
    while ((rc = cursor_next(r, &c, &item)) > 0)
        if (list_append(r, list, item) < 0)
            return -1;
    if (rc == 0)
        *out = list;
    return rc;
}

/* The next item of the loop's source that passes its test. */
static int loop_pull(struct run *r, struct loop_object *l, struct jinja_value *out)
{
    const struct stmt *s = l->stmt;
    if (!s->u.loop.test || l->drained)
        return cursor_next(r, &l->cursor, out);
    struct frame *frame = r->frame;
    bool pass = false;
    int rc = 0;
    r->frame = l->frame;
    while (!pass && (rc = cursor_next(r, &l->cursor, out)) > 0) {
        struct jinja_value v;
        if (assign_target(r, s->u.loop.test_target, *out) < 0 || eval(r, s->u.loop.test, &v) < 0) {
            rc = -1;
            break;
        }
        pass = op_truth(v);
    }
    r->frame = frame;
    return rc;
}

int loop_new(struct run *r, const struct stmt *s, struct jinja_value iterable, int64_t depth0,
             struct loop_object **out)
{
    struct loop_object *l = run_alloc(r, sizeof *l);
    if (!l || cursor_open(r, &l->cursor, iterable) < 0)
        return -1;
    l->iterable = iterable;
    l->index0 = -1;
    l->depth0 = depth0;
    l->length = -1;
    l->stmt = s;
    l->frame = r->frame;
    *out = l;
    return 0;
}

int loop_next(struct run *r, struct loop_object *l, struct jinja_value *out)
{
    int rc = 1;
    if (l->has_after)
        *out = l->after;
    else
        rc = loop_pull(r, l, out);
    l->has_after = false;
    if (rc <= 0)
        return rc;
    l->index0++;
    l->before = l->current;
    l->current = *out;
    return 1;
}

/* Looks one item ahead: 1, 0 at the end, -1. */
static int loop_peek(struct run *r, struct loop_object *l)
{
    if (l->has_after)
        return 1;
    int rc = loop_pull(r, l, &l->after);
    l->has_after = rc > 0;
    return rc;
}

static int loop_length(struct run *r, struct loop_object *l)
{
    struct jinja_value list, item;
    int rc;
    if (l->length >= 0)
        return 0;
    if (!l->stmt->u.loop.test && op_has_length(l->iterable))
        return op_length(r, l->iterable, &l->length);
    if (list_start(r, &list, JINJA_LIST, 0) < 0)
        return -1;
    while ((rc = loop_pull(r, l, &item)) > 0)
        if (list_append(r, list, item) < 0)
            return -1;
    if (rc < 0)
        return -1;
    l->drained = true;
    l->cursor = (struct cursor){.over = list};
    l->length = (int64_t)list.u.list->n + l->index0 + 1 + (l->has_after ? 1 : 0);
    return 0;
}

enum loop_name {
    INDEX0,
    INDEX,
    FIRST,
    LAST,
    LENGTH,
    REVINDEX,
    REVINDEX0,
    PREV,
    NEXT,
    DEPTH,
    DEPTH0
};

static const char *const loop_names[] = {"index0",   "index",    "first",     "last",
                                         "length",   "revindex", "revindex0", "previtem",
                                         "nextitem", "depth",    "depth0"};

int loop_attribute(struct run *r, struct loop_object *l, struct str name, struct jinja_value *out,
                   bool *found)
{
    size_t which = 0, n = sizeof loop_names / sizeof loop_names[0];
    while (which < n && !str_eq(name, str_of(loop_names[which])))
        which++;
    *found = which < n;
    if (which >= LENGTH && which <= REVINDEX0 && loop_length(r, l) < 0)
        return -1;
    int more = which == LAST || which == NEXT ? loop_peek(r, l) : 0;
    if (more < 0)
        return -1;
    const int64_t numbers[] = {
        [INDEX0] = l->index0,
        [INDEX] = l->index0 + 1,
        [LENGTH] = l->length,
        [REVINDEX] = l->length - l->index0,
        [REVINDEX0] = l->length - l->index0 - 1,
        [DEPTH] = l->depth0 + 1,
        [DEPTH0] = l->depth0,
    };
    if (which == FIRST || which == LAST)
        *out = jinja_bool(which == FIRST ? l->index0 == 0 : more == 0);
    else if (which == PREV && l->index0 == 0)
        return run_hint(r, out, "there is no previous item");
    else if (which == NEXT && more == 0)
        return run_hint(r, out, "there is no next item");
    else if (which == PREV || which == NEXT)
        *out = which == PREV ? l->before : l->after;
    else if (*found)
        *out = jinja_int(numbers[which]);
    return 0;
}
