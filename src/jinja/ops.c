#include "jinja/ops.h"

#include <math.h>
#include <string.h>

#include "jinja/big.h"
#include "jinja/objects.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

bool op_truth(struct jinja_value v)
{
    switch ((enum jinja_type)v.type) {
    case JINJA_MISSING:
    case JINJA_UNDEFINED:
    case JINJA_NONE:
        return false;
    case JINJA_BOOL:
        return v.u.b;
    case JINJA_INT:
        return v.u.i != 0;
    case JINJA_FLOAT:
        return v.u.d != 0;
    case JINJA_STRING:
        return v.n > 0;
    case JINJA_LIST:
    case JINJA_TUPLE:
        return v.u.list->n > 0;
    case JINJA_DICT:
    case JINJA_VIEW:
        return v.u.dict->n > 0;
    case JINJA_RANGE:
        return ((const struct range_object *)v.u.any)->n > 0;
    default:
        return true;
    }
}

bool op_has_length(struct jinja_value v)
{
    return is_iterable(v) && v.type != JINJA_ITERATOR;
}

int op_length(struct run *r, struct jinja_value v, int64_t *out)
{
    switch ((enum jinja_type)v.type) {
    case JINJA_UNDEFINED:
        *out = 0;
        return 0;
    case JINJA_STRING: {
        int64_t n = 0;
        for (uint32_t i = 0; i < v.n; i++)
            n += ((unsigned char)v.u.p[i] & 0xC0) != 0x80;
        *out = n;
        return run_charge(r, v.n);
    }
    case JINJA_LIST:
    case JINJA_TUPLE:
        *out = v.u.list->n;
        return 0;
    case JINJA_DICT:
    case JINJA_VIEW:
        *out = v.u.dict->n;
        return 0;
    case JINJA_RANGE:
        *out = ((const struct range_object *)v.u.any)->n;
        return 0;
    case JINJA_LOOP: {
        struct jinja_value n;
        bool found;
        if (loop_attribute(r, (struct loop_object *)(uintptr_t)v.u.any, STR("length"), &n, &found) <
            0)
            return -1;
        *out = n.u.i;
        return 0;
    }
    default:
        return run_fail(r, "object of type '%s' has no len()", jinja_type_name(v.type));
    }
}

static int equal_lists(struct run *r, const struct jinja_list *a, const struct jinja_list *b,
                       bool *out)
{
    *out = a->n == b->n;
    for (uint32_t i = 0; *out && i < a->n; i++)
        if (op_equal(r, a->items[i], b->items[i], out) < 0)
            return -1;
    return 0;
}

static int equal_dicts(struct run *r, const struct jinja_dict *a, const struct jinja_dict *b,
                       bool *out)
{
    *out = a->n == b->n;
    for (uint32_t i = 0; *out && i < a->n; i++) {
        const struct jinja_entry *e = dict_find(b, a->entries[i].key, a->entries[i].hash);
        *out = e != NULL;
        if (e && op_equal(r, a->entries[i].value, e->value, out) < 0)
            return -1;
    }
    return 0;
}

static bool equal_ranges(const struct range_object *a, const struct range_object *b)
{
    return a->n == b->n &&
           (a->n == 0 || (a->start == b->start && (a->n == 1 || a->step == b->step)));
}

int op_equal(struct run *r, struct jinja_value a, struct jinja_value b, bool *out)
{
    if (run_charge(r, 0) < 0)
        return -1;
    if (value_is_number(a) && value_is_number(b)) {
        *out = value_compare_numbers(a, b) == 0;
        return 0;
    }
    *out = false;
    if (a.type != b.type)
        return 0;
    switch ((enum jinja_type)a.type) {
    case JINJA_STRING:
        *out = a.n == b.n && memcmp(a.u.p, b.u.p, a.n) == 0;
        return *out ? run_charge(r, a.n) : 0;
    case JINJA_NONE:
    case JINJA_UNDEFINED:
        *out = true;
        return 0;
    case JINJA_RANGE:
        *out = equal_ranges(a.u.any, b.u.any);
        return 0;
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_DICT:
        break;
    default:
        *out = a.u.any == b.u.any && a.aux == b.aux;
        return 0;
    }
    if (run_deeper(r) < 0)
        return -1;
    int rc = a.type == JINJA_DICT ? equal_dicts(r, a.u.dict, b.u.dict, out)
                                  : equal_lists(r, a.u.list, b.u.list, out);
    r->depth--;
    return rc;
}

static const char *const compare_names[] = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};

static bool holds(enum compare_op op, int c)
{
    if (c == 2) /* NaN */
        return false;
    return op == CMP_LT ? c < 0 : op == CMP_LE ? c <= 0 : op == CMP_GT ? c > 0 : c >= 0;
}

static int order(struct run *r, enum compare_op op, struct jinja_value a, struct jinja_value b,
                 bool *out)
{
    if (value_is_number(a) && value_is_number(b)) {
        *out = holds(op, value_compare_numbers(a, b));
        return 0;
    }
    if (a.type == JINJA_UNDEFINED || b.type == JINJA_UNDEFINED)
        return run_undefined(r, a.type == JINJA_UNDEFINED ? a : b);
    if (a.type == JINJA_STRING && b.type == JINJA_STRING) {
        *out = holds(op, str_cmp(jinja_str(a), jinja_str(b)));
        return run_charge(r, a.n < b.n ? a.n : b.n);
    }
    if (a.type != b.type || (a.type != JINJA_LIST && a.type != JINJA_TUPLE))
        return run_fail(r, "'%s' not supported between instances of '%s' and '%s'",
                        compare_names[op], jinja_type_name(a.type), jinja_type_name(b.type));
    const struct jinja_list *x = a.u.list, *y = b.u.list;
    for (uint32_t i = 0; i < x->n && i < y->n; i++) {
        bool same;
        if (op_equal(r, x->items[i], y->items[i], &same) < 0)
            return -1;
        if (!same)
            return op_compare(r, op, x->items[i], y->items[i], out);
    }
    *out = holds(op, x->n < y->n ? -1 : x->n > y->n);
    return 0;
}

int op_compare(struct run *r, enum compare_op op, struct jinja_value a, struct jinja_value b,
               bool *out)
{
    int rc;
    if (op == CMP_EQ || op == CMP_NE) {
        rc = op_equal(r, a, b, out);
        *out = *out == (op == CMP_EQ);
        return rc;
    }
    if (op == CMP_IN || op == CMP_NOT_IN) {
        rc = op_contains(r, b, a, out);
        *out = *out == (op == CMP_IN);
        return rc;
    }
    if (run_deeper(r) < 0)
        return -1;
    rc = order(r, op, a, b, out);
    r->depth--;
    return rc < 0 ? -1 : run_charge(r, 0);
}

int find_text(struct run *r, struct str hay, struct str needle, size_t from, size_t *out)
{
    *out = STR_NONE;
    if (needle.n == 0 || from > hay.n) {
        *out = from <= hay.n ? from : STR_NONE;
        return 0;
    }
    size_t at = from;
    while (hay.n - at >= needle.n) {
        const char *hit = memchr(hay.p + at, needle.p[0], hay.n - at - needle.n + 1);
        if (!hit)
            break;
        size_t next = (size_t)(hit - hay.p);
        if (run_charge(r, next - at) < 0)
            return -1;
        size_t same = 1;
        while (same < needle.n && hit[same] == needle.p[same])
            same++;
        if (same == needle.n) {
            *out = next;
            return 0;
        }
        r->steps += same >> CHARGE_SHIFT;
        at = next + 1;
    }
    return run_charge(r, hay.n - from);
}

static int contains_view(struct run *r, struct jinja_value v, struct jinja_value item, bool *out)
{
    struct cursor c = {.over = v};
    struct jinja_value each;
    int rc;
    *out = false;
    while (!*out && (rc = cursor_next(r, &c, &each)) != 0)
        if (rc < 0 || op_equal(r, each, item, out) < 0)
            return -1;
    return 0;
}

int op_contains(struct run *r, struct jinja_value container, struct jinja_value item, bool *out)
{
    uint64_t hash;
    size_t at;
    *out = false;
    switch ((enum jinja_type)container.type) {
    case JINJA_STRING:
        if (item.type != JINJA_STRING)
            return run_fail(r, "'in <string>' requires string as left operand, not %s",
                            jinja_type_name(item.type));
        if (find_text(r, jinja_str(container), jinja_str(item), 0, &at) < 0)
            return -1;
        *out = at != STR_NONE;
        return 0;
    case JINJA_DICT:
        if (value_hash(item, &hash) < 0)
            return run_fail(r, "unhashable type: '%s'", jinja_type_name(item.type));
        *out = dict_find(container.u.dict, item, hash) != NULL;
        return run_charge(r, 0);
    case JINJA_UNDEFINED:
        return 0;
    default:
        if (!is_iterable(container))
            return run_fail(r, "argument of type '%s' is not iterable",
                            jinja_type_name(container.type));
        return contains_view(r, container, item, out);
    }
}

int as_index(struct jinja_value v, int64_t *out)
{
    if (v.type != JINJA_INT && v.type != JINJA_BOOL)
        return -1;
    *out = v.type == JINJA_INT ? v.u.i : v.u.b;
    return 0;
}
