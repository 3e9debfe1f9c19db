#include "jinja/value.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/utf8.h"
#include "jinja/big.h"
#include "jinja/keys.h"

#define INDEX_FROM 8 /* entries up to which a dict is searched without an index */

const char *jinja_type_name(enum jinja_type type)
{
    static const char *const names[] = {
#define X(kind, name) name,
        JINJA_TYPES(X)
#undef X
    };
    return names[type];
}

int jinja_text(struct jinja_value *out, struct str s, struct error *err)
{
    if (s.n > JINJA_STRING_MAX)
        return error_set(err, ERROR_LIMIT, "string of more than %zu bytes", JINJA_STRING_MAX);
    size_t good = utf8_valid_prefix(s);
    if (good < s.n) {
        error_set(err, ERROR_INPUT, "string is not UTF-8");
        return error_at_offset(err, (int64_t)good);
    }
    *out = jinja_string(s);
    return 0;
}

int jinja_number(struct jinja_value *out, struct str text, struct arena *a, struct error *err)
{
    struct str digits = text.n && text.p[0] == '-' ? str_skip(text, 1) : text;
    int64_t i;
    double d;
    bool whole = digits.n > 0;
    for (size_t k = 0; k < digits.n; k++)
        whole = whole && digits.p[k] >= '0' && digits.p[k] <= '9';
    if (whole && num_parse_i64(&i, text) == 0) {
        *out = jinja_int(i);
        return 0;
    }
    if (whole) {
        int rc = big_parse(a, text, out);
        if (rc == BIG_TOO_LONG)
            return error_set(err, ERROR_LIMIT, "integer of more than %d digits", JINJA_DIGITS_MAX);
        return rc < 0 ? arena_check(a, "template context", err) : 0;
    }
    if (num_parse_double(&d, text) < 0)
        return error_set(err, ERROR_INPUT, "not a number a template can hold: %.*s",
                         (int)(text.n < 60 ? text.n : 60), text.p);
    *out = jinja_float(d);
    return 0;
}

int list_put(struct jinja_list *l, struct jinja_value item, struct arena *a)
{
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 4;
        if (l->n >= JINJA_ITEMS_MAX)
            return -1;
        struct jinja_value *p = arena_grow(a, l->items, l->cap * sizeof *p, cap * sizeof *p);
        if (!p)
            return -1;
        l->items = p;
        l->cap = cap;
    }
    l->items[l->n++] = item;
    return 0;
}

bool value_is_number(struct jinja_value v)
{
    return v.type >= JINJA_BOOL && v.type <= JINJA_FLOAT;
}

static int compare_float(struct jinja_value whole, double d)
{
    if (isnan(d))
        return 2;
    if (isinf(d))
        return d > 0 ? -1 : 1;
    if (whole.type != JINJA_BIG) {
        int64_t i = whole.type == JINJA_BOOL ? whole.u.b : whole.u.i;
        if (d >= 9223372036854775808.0)
            return -1;
        if (d < -9223372036854775808.0)
            return 1;
        int64_t t = (int64_t)d;
        if (i != t)
            return i < t ? -1 : 1;
        double rest = d - (double)t;
        return rest > 0 ? -1 : rest < 0;
    }
    /* A big integer is beyond 2^63, where every double is whole. */
    double near = big_double(whole);
    if (near != d)
        return near < d ? -1 : 1;
    struct arena a;
    struct jinja_value exact;
    arena_init(&a, 8192);
    int c = big_from_double(&a, d, &exact) < 0 ? 1 : big_compare(whole, exact);
    arena_release(&a);
    return c;
}

int value_compare_numbers(struct jinja_value a, struct jinja_value b)
{
    if (a.type == JINJA_FLOAT && b.type == JINJA_FLOAT)
        return isnan(a.u.d) || isnan(b.u.d) ? 2 : (a.u.d > b.u.d) - (a.u.d < b.u.d);
    if (a.type == JINJA_FLOAT) {
        int c = compare_float(b, a.u.d);
        return c == 2 ? 2 : -c;
    }
    if (b.type == JINJA_FLOAT)
        return compare_float(a, b.u.d);
    if (a.type == JINJA_BIG || b.type == JINJA_BIG)
        return big_compare(a, b);
    int64_t x = a.type == JINJA_BOOL ? a.u.b : a.u.i, y = b.type == JINJA_BOOL ? b.u.b : b.u.i;
    return (x > y) - (x < y);
}

static int hash_value(struct jinja_value v, unsigned depth, uint64_t *hash)
{
    int64_t i;
    switch ((enum jinja_type)v.type) {
    case JINJA_STRING:
        *hash = value_hash_str(jinja_str(v));
        return 0;
    case JINJA_BOOL:
    case JINJA_INT:
        i = v.type == JINJA_BOOL ? v.u.b : v.u.i;
        *hash = hash64(&i, sizeof i, 1);
        return 0;
    case JINJA_FLOAT:
        if (v.u.d >= -9e18 && v.u.d <= 9e18 && v.u.d == trunc(v.u.d)) {
            i = (int64_t)v.u.d;
            *hash = hash64(&i, sizeof i, 1);
        } else {
            *hash = hash64(&v.u.d, sizeof v.u.d, 1);
        }
        return 0;
    case JINJA_BIG: {
        double d = big_double(v); /* equal floats hash equally */
        *hash = hash64(&d, sizeof d, 1);
        return 0;
    }
    case JINJA_TUPLE:
        if (depth == KEY_DEPTH_MAX)
            return -1;
        *hash = v.u.list->n;
        for (uint32_t k = 0; k < v.u.list->n; k++) {
            uint64_t part;
            if (hash_value(v.u.list->items[k], depth + 1, &part) < 0)
                return -1;
            *hash = hash64(&part, sizeof part, *hash);
        }
        return 0;
    case JINJA_LIST:
    case JINJA_DICT:
        return -1;
    case JINJA_NONE:
    case JINJA_UNDEFINED:
        *hash = v.type;
        return 0;
    default:
        *hash = hash64(&v.u.any, sizeof v.u.any, v.type);
        return 0;
    }
}

int value_hash(struct jinja_value v, uint64_t *hash)
{
    return hash_value(v, 0, hash);
}

bool value_same_key(struct jinja_value a, struct jinja_value b)
{
    if (value_is_number(a) && value_is_number(b))
        return value_compare_numbers(a, b) == 0;
    if (a.type != b.type)
        return false;
    if (a.type == JINJA_STRING)
        return str_eq(jinja_str(a), jinja_str(b));
    if (a.type == JINJA_NONE || a.type == JINJA_UNDEFINED)
        return true;
    if (a.type != JINJA_TUPLE)
        return a.u.any == b.u.any;
    if (a.u.list->n != b.u.list->n)
        return false;
    for (uint32_t i = 0; i < a.u.list->n; i++)
        if (!value_same_key(a.u.list->items[i], b.u.list->items[i]))
            return false;
    return true;
}

struct jinja_entry *dict_find(const struct jinja_dict *d, struct jinja_value key, uint64_t hash)
{
    if (!d->index) {
        for (uint32_t i = 0; i < d->n; i++)
            if (d->entries[i].hash == hash && value_same_key(d->entries[i].key, key))
                return &d->entries[i];
        return NULL;
    }
    for (uint32_t at = (uint32_t)hash & (d->index_cap - 1); d->index[at];
         at = (at + 1) & (d->index_cap - 1)) {
        struct jinja_entry *e = &d->entries[d->index[at] - 1];
        if (e->hash == hash && value_same_key(e->key, key))
            return e;
    }
    return NULL;
}

struct jinja_entry *dict_find_str(const struct jinja_dict *d, struct str key, uint64_t hash)
{
    return dict_find(
        d, (struct jinja_value){.type = JINJA_STRING, .n = (uint32_t)key.n, .u.p = key.p}, hash);
}

static void index_entry(struct jinja_dict *d, uint32_t entry)
{
    uint32_t at = (uint32_t)d->entries[entry].hash & (d->index_cap - 1);
    while (d->index[at])
        at = (at + 1) & (d->index_cap - 1);
    d->index[at] = entry + 1;
}

static int grow_dict(struct jinja_dict *d, uint32_t cap, struct arena *a)
{
    if (cap > JINJA_ITEMS_MAX)
        return -1;
    struct jinja_entry *e = arena_grow(a, d->entries, d->cap * sizeof *e, cap * sizeof *e);
    if (!e)
        return -1;
    d->entries = e;
    d->cap = cap;
    if (cap <= INDEX_FROM)
        return 0;
    uint32_t size = 16;
    while (size < cap * 2)
        size *= 2;
    d->index = arena_array(a, size, sizeof d->index[0]);
    d->index_cap = size;
    for (uint32_t i = 0; d->index && i < d->n; i++)
        index_entry(d, i);
    return d->index ? 0 : -1;
}

int dict_put(struct jinja_dict *d, struct jinja_value key, uint64_t hash, struct jinja_value value,
             struct arena *a)
{
    struct jinja_entry *e = dict_find(d, key, hash);
    if (e) {
        e->value = value;
        return 0;
    }
    if (d->n == d->cap && grow_dict(d, d->cap ? d->cap * 2 : 4, a) < 0)
        return -1;
    d->entries[d->n++] = (struct jinja_entry){hash, key, value};
    if (d->index)
        index_entry(d, d->n - 1);
    return 0;
}

static int full(struct arena *a, struct error *err)
{
    if (a->failed)
        return arena_check(a, "template context", err);
    return error_set(err, ERROR_LIMIT, "more than %zu items in a list or dict", JINJA_ITEMS_MAX);
}

int jinja_list_new(struct jinja_value *out, struct arena *a, size_t room, struct error *err)
{
    struct jinja_list *l = arena_alloc(a, sizeof *l);
    if (room > JINJA_ITEMS_MAX || !l ||
        (room && !(l->items = arena_array(a, room, sizeof *l->items))))
        return full(a, err);
    l->cap = (uint32_t)room;
    *out = (struct jinja_value){.type = JINJA_LIST, .u.list = l};
    return 0;
}

int jinja_list_add(struct jinja_value *list, struct jinja_value item, struct arena *a,
                   struct error *err)
{
    return list_put(list->u.list, item, a) < 0 ? full(a, err) : 0;
}

int jinja_dict_new(struct jinja_value *out, struct arena *a, size_t room, struct error *err)
{
    struct jinja_dict *d = arena_alloc(a, sizeof *d);
    if (!d || room > JINJA_ITEMS_MAX || (room && grow_dict(d, (uint32_t)room, a) < 0))
        return full(a, err);
    *out = (struct jinja_value){.type = JINJA_DICT, .u.dict = d};
    return 0;
}

int jinja_dict_put(struct jinja_value *dict, struct str key, struct jinja_value value,
                   struct arena *a, struct error *err)
{
    if (dict_put(dict->u.dict, jinja_string(key), value_hash_str(key), value, a) < 0)
        return full(a, err);
    return 0;
}

const struct jinja_value *jinja_dict_get(struct jinja_value dict, struct str key)
{
    const struct jinja_entry *e = dict_find_str(dict.u.dict, key, value_hash_str(key));
    return e ? &e->value : NULL;
}
