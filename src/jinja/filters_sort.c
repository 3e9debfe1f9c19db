#include <string.h>

#include "jinja/filter_fns.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/strings.h"

struct sortable {
    struct jinja_value key, item;
};

/* What items are compared by: themselves or an attribute, strings in lower case unless told. */
static int key_of(struct run *r, struct jinja_value item, struct jinja_value attribute,
                  bool case_sensitive, struct jinja_value *out)
{
    *out = item;
    if (attribute.type > JINJA_NONE && get_path(r, item, attribute, out) < 0)
        return -1;
    if (!case_sensitive && out->type == JINJA_STRING)
        return str_case(r, *out, CASE_LOWER, out);
    return 0;
}

/* "a,b" sorts by a, then b. It is a list even of one key, as in Jinja2: lists are compared by their
 * first unequal items, so keys that are both undefined are equal rather than an error. */
static int keys_of(struct run *r, struct jinja_value item, struct jinja_value attribute,
                   bool case_sensitive, struct jinja_value *out)
{
    struct str rest = jinja_str(attribute), part;
    struct jinja_value keys, key;
    bool more = attribute.type == JINJA_STRING;
    if (list_start(r, &keys, JINJA_LIST, 1) < 0)
        return -1;
    if (!more &&
        (key_of(r, item, attribute, case_sensitive, &key) < 0 || list_append(r, keys, key) < 0))
        return -1;
    while (more) {
        more = str_cut(rest, ',', &part, &rest);
        if (key_of(r, item, jinja_string(part), case_sensitive, &key) < 0 ||
            list_append(r, keys, key) < 0)
            return -1;
    }
    *out = keys;
    return 0;
}

static int less(struct run *r, struct jinja_value a, struct jinja_value b, bool *out)
{
    return op_compare(r, CMP_LT, a, b, out);
}

/* A stable merge sort, since comparing may fail. Reverse keeps the order of equal items too. */
static int merge_sort(struct run *r, struct sortable *s, struct sortable *room, size_t n,
                      bool reverse)
{
    if (n < 2)
        return 0;
    size_t half = n / 2, i = 0, k = half, to = 0;
    if (merge_sort(r, s, room, half, reverse) < 0 ||
        merge_sort(r, s + half, room, n - half, reverse) < 0)
        return -1;
    memcpy(room, s, half * sizeof *s);
    while (i < half) {
        bool take_right = false;
        if (k < n && (reverse ? less(r, room[i].key, s[k].key, &take_right)
                              : less(r, s[k].key, room[i].key, &take_right)) < 0)
            return -1;
        s[to++] = take_right ? s[k++] : room[i++];
    }
    return 0;
}

typedef int key_fn(struct run *r, struct jinja_value item, struct jinja_value attribute,
                   bool case_sensitive, struct jinja_value *out);

static int sort_list(struct run *r, struct jinja_value list, key_fn *key,
                     struct jinja_value attribute, bool case_sensitive, bool reverse,
                     struct sortable **out)
{
    uint32_t n = list.u.list->n;
    struct sortable *s = run_alloc(r, (n + 1) * sizeof *s);
    struct sortable *room = run_alloc(r, (n + 1) * sizeof *room);
    if (!s || !room)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        s[i].item = list.u.list->items[i];
        if (key(r, s[i].item, attribute, case_sensitive, &s[i].key) < 0)
            return -1;
    }
    *out = s;
    return merge_sort(r, s, room, n, reverse);
}

static int items_of(struct run *r, const struct sortable *s, uint32_t n, struct jinja_value *out)
{
    if (list_start(r, out, JINJA_LIST, n) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (list_append(r, *out, s[i].item) < 0)
            return -1;
    return 0;
}

FILTER(filter_sort)
{
    struct jinja_value list;
    struct sortable *s;
    (void)args, (void)f;
    if (to_list(r, v[0], JINJA_LIST, &list) < 0 ||
        sort_list(r, list, keys_of, v[3], op_truth(v[2]), op_truth(v[1]), &s) < 0)
        return -1;
    return items_of(r, s, list.u.list->n, out);
}

FILTER(filter_dictsort)
{
    struct jinja_value view = v[0], list;
    struct sortable *s;
    struct str by = v[2].type == JINJA_STRING ? jinja_str(v[2]) : STR("key");
    (void)args, (void)f;
    if (v[0].type == JINJA_UNDEFINED)
        return run_undefined(r, v[0]);
    if (v[0].type != JINJA_DICT)
        return run_fail(r, "'%s' object has no attribute 'items'", jinja_type_name(v[0].type));
    if (!str_eq(by, STR("key")) && !str_eq(by, STR("value")))
        return run_fail(r, "You can only sort by either \"key\" or \"value\"");
    view.type = JINJA_VIEW;
    view.aux = VIEW_ITEMS;
    if (to_list(r, view, JINJA_LIST, &list) < 0 ||
        sort_list(r, list, key_of, jinja_int(by.p[0] == 'v'), op_truth(v[1]), op_truth(v[3]), &s) <
            0)
        return -1;
    return items_of(r, s, list.u.list->n, out);
}

struct unique_plan {
    struct jinja_value seen, attribute;
    bool case_sensitive;
};

static int next_unique(struct run *r, struct generator *g, struct jinja_value *out)
{
    struct unique_plan *p = (struct unique_plan *)(uintptr_t)g->plan;
    struct jinja_value key;
    int rc;
    if (!g->started && (cursor_open(r, &g->source, g->value) < 0 || dict_start(r, &p->seen, 0) < 0))
        return -1;
    while ((rc = cursor_next(r, &g->source, out)) > 0) {
        uint32_t before = p->seen.u.dict->n;
        if (key_of(r, *out, p->attribute, p->case_sensitive, &key) < 0 ||
            dict_set(r, p->seen, key, jinja_none()) < 0)
            return -1;
        if (p->seen.u.dict->n > before)
            return 1;
    }
    return rc;
}

FILTER(filter_unique)
{
    struct unique_plan *p = run_alloc(r, sizeof *p);
    (void)args, (void)f;
    if (!p)
        return -1;
    p->case_sensitive = op_truth(v[1]);
    p->attribute = v[2];
    return generator_new(r, out, "sync_do_unique", next_unique, v[0], p);
}

FILTER(filter_groupby)
{
    struct jinja_value list, group = {0}, key;
    struct sortable *s;
    bool case_sensitive = op_truth(v[3]);
    (void)args, (void)f;
    if (to_list(r, v[0], JINJA_LIST, &list) < 0 ||
        sort_list(r, list, key_of, v[1], case_sensitive, false, &s) < 0 ||
        list_start(r, out, JINJA_LIST, 0) < 0)
        return -1;
    for (uint32_t i = 0; i < list.u.list->n; i++) {
        bool same = false;
        if (i > 0 && op_equal(r, s[i - 1].key, s[i].key, &same) < 0)
            return -1;
        if (!same) {
            struct jinja_value pair;
            if (get_path(r, s[i].item, v[1], &key) < 0 || list_start(r, &group, JINJA_LIST, 0) < 0)
                return -1;
            if (key.type == JINJA_UNDEFINED && v[2].type > JINJA_NONE)
                key = v[2];
            if (pair_of(r, key, group, &pair) < 0)
                return -1;
            pair.aux = 1; /* answers to .grouper and .list */
            if (list_append(r, *out, pair) < 0)
                return -1;
        }
        if (list_append(r, group, s[i].item) < 0)
            return -1;
    }
    return 0;
}

FILTER(filter_extreme)
{
    struct jinja_value item, key, best;
    struct cursor c;
    int rc;
    bool any = false, better;
    (void)args;
    if (cursor_open(r, &c, v[0]) < 0)
        return -1;
    while ((rc = cursor_next(r, &c, &item)) > 0) {
        if (key_of(r, item, v[2], op_truth(v[1]), &key) < 0)
            return -1;
        if (any && (f->variant < 0 ? less(r, key, best, &better) : less(r, best, key, &better)) < 0)
            return -1;
        if (!any || better) {
            best = key;
            *out = item;
        }
        any = true;
    }
    if (rc == 0 && !any)
        return run_hint(r, out, "No aggregated item, sequence was empty.");
    return rc;
}

FILTER(filter_sum)
{
    struct jinja_value sum = v[2].type == JINJA_MISSING ? jinja_int(0) : v[2], item;
    struct cursor c;
    int rc;
    (void)args, (void)f;
    if (cursor_open(r, &c, v[0]) < 0)
        return -1;
    while ((rc = cursor_next(r, &c, &item)) > 0) {
        if (v[1].type > JINJA_NONE && get_path(r, item, v[1], &item) < 0)
            return -1;
        if (op_arith(r, E_ADD, sum, item, &sum) < 0)
            return -1;
    }
    *out = sum;
    return rc;
}
