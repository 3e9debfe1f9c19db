/* object.name, object[key], object[a:b:c]: Jinja2's lookups over the types a template has. */
#include "jinja/globals.h"
#include "jinja/methods.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

static const char *object_name(uint32_t type)
{
    return type == JINJA_NONE ? "None" : jinja_type_name(type);
}

/* Python's attributes: methods and the few data attributes. *found false when there is none. */
static int own_attribute(struct run *r, struct jinja_value object, struct str name, unsigned id,
                         struct jinja_value *out, bool *found)
{
    const struct method *m = id ? method_on(id, object.type) : NULL;
    *found = true;
    if (m && !m->fn)
        return run_hint(r, out, "access to attribute '%s' of '%s' object is unsafe", m->name,
                        object_name(object.type));
    if (m) {
        struct method_object *bound = run_alloc(r, sizeof *bound);
        if (!bound)
            return -1;
        *bound = (struct method_object){object, m};
        *out = (struct jinja_value){.type = JINJA_METHOD, .u.any = bound};
        return 0;
    }
    if (object.type == JINJA_LOOP)
        return loop_attribute(r, (struct loop_object *)(uintptr_t)object.u.any, name, out, found);
    if (object.type == JINJA_MACRO && str_eq(name, STR("name"))) {
        const struct macro_object *o = object.u.any;
        *out = o->def->name ? jinja_string(o->def->name->text) : jinja_none();
        return 0;
    }
    if (object.type == JINJA_TUPLE && object.aux && object.u.list->n == 2 &&
        (str_eq(name, STR("grouper")) || str_eq(name, STR("list")))) {
        *out = object.u.list->items[name.p[0] == 'g' ? 0 : 1];
        return 0;
    }
    if (object.type == JINJA_CYCLER && str_eq(name, STR("current")))
        return cycler_attribute(object, name, out);
    *found = false;
    return 0;
}

int get_attribute(struct run *r, const struct expr *e, struct jinja_value object,
                  struct jinja_value *out)
{
    const struct symbol *s = e->u.two.symbol;
    if (object.type == JINJA_UNDEFINED)
        return run_undefined(r, object);
    if (object.type == JINJA_DICT && !e->method) {
        const struct jinja_entry *entry = dict_find_str(object.u.dict, s->text, s->hash);
        if (entry) {
            *out = entry->value;
            return 0;
        }
    } else {
        bool found = false;
        if (object.type != JINJA_NAMESPACE &&
            own_attribute(r, object, s->text, e->method, out, &found) < 0)
            return -1;
        const struct jinja_entry *entry =
            !found && (object.type == JINJA_DICT || object.type == JINJA_NAMESPACE)
                ? dict_find_str(object.u.dict, s->text, s->hash)
                : NULL;
        if (entry)
            *out = entry->value;
        if (found || entry)
            return 0;
    }
    *out = (struct jinja_value){.type = JINJA_UNDEFINED, .n = object.type, .u.any = e};
    return 0;
}

static int absent(struct run *r, struct jinja_value object, struct jinja_value key,
                  struct jinja_value *out)
{
    const char *name = object_name(object.type), *what = object.type == JINJA_NONE ? "" : " object";
    if (key.type == JINJA_STRING)
        return run_hint(r, out, "'%s%s' has no attribute '%.*s'", name, what,
                        STR_ARG(str_first(jinja_str(key), 100)));
    struct sb b = sb_start(r);
    if (text_add_repr(&b, key) < 0)
        return -1;
    return run_hint(r, out, "%s%s has no element %.*s", name, what, (int)(b.n > 100 ? 100 : b.n),
                    b.p ? b.p : "");
}

static bool at_index(struct run *r, struct jinja_value object, int64_t i, struct jinja_value *out)
{
    int64_t n = 0;
    if (object.type == JINJA_STRING) {
        struct str s = jinja_str(object);
        bool ascii = uni_is_ascii(s);
        size_t from;
        uint32_t cp;
        r->steps += s.n >> CHARGE_SHIFT;
        if (ascii)
            n = (int64_t)s.n;
        else
            op_length(r, object, &n);
        if (i < 0)
            i += n;
        if (i < 0 || i >= n)
            return false;
        from = ascii ? (size_t)i : uni_offset(s, (size_t)i);
        *out = jinja_string((struct str){s.p + from, uni_next(s, from, &cp)});
        out->flags = object.flags;
        return true;
    }
    const struct range_object *range = object.u.any;
    n = object.type == JINJA_RANGE ? range->n : object.u.list->n;
    if (i < 0)
        i += n;
    if (i < 0 || i >= n)
        return false;
    *out = object.type == JINJA_RANGE ? range_item(range, (size_t)i) : object.u.list->items[i];
    return true;
}

int get_item(struct run *r, struct jinja_value object, struct jinja_value key,
             struct jinja_value *out)
{
    int64_t i;
    uint64_t hash;
    bool found = false;
    if (run_charge(r, 0) < 0)
        return -1;
    switch ((enum jinja_type)object.type) {
    case JINJA_UNDEFINED:
        return run_undefined(r, object);
    case JINJA_NAMESPACE:
    case JINJA_DICT:
        if (value_hash(key, &hash) == 0 &&
            (object.type == JINJA_DICT || key.type == JINJA_STRING)) {
            const struct jinja_entry *e = dict_find(object.u.dict, key, hash);
            if (e) {
                *out = e->value;
                return 0;
            }
        }
        break;
    case JINJA_STRING:
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_RANGE:
        if (as_index(key, &i) == 0 && at_index(r, object, i, out))
            return 0;
        break;
    default:
        break;
    }
    if (key.type == JINJA_STRING &&
        (own_attribute(r, object, jinja_str(key), method_of(jinja_str(key)), out, &found) < 0 ||
         found))
        return found ? 0 : -1;
    return absent(r, object, key, out);
}

/* Python's slice.indices(). */
static void slice_indices(const struct jinja_value bounds[3], int64_t n, int64_t *start,
                          int64_t *stop, int64_t step)
{
    int64_t lower = step < 0 ? -1 : 0, upper = step < 0 ? n - 1 : n;
    int64_t *out[2] = {start, stop};
    *start = step < 0 ? upper : lower;
    *stop = step < 0 ? lower : upper;
    for (int i = 0; i < 2; i++) {
        int64_t v;
        if (as_index(bounds[i], &v) < 0)
            continue;
        if (v < 0) {
            v = v < -n ? lower : v + n;
            if (v < lower)
                v = lower;
        } else if (v > upper) {
            v = upper;
        }
        *out[i] = v;
    }
}

static int slice_text(struct run *r, struct jinja_value v, const struct jinja_value bounds[3],
                      int64_t step, struct jinja_value *out)
{
    struct str s = jinja_str(v);
    bool ascii = uni_is_ascii(s);
    int64_t n = (int64_t)s.n, start, stop;
    uint32_t cp;
    if ((!ascii && op_length(r, v, &n) < 0) || run_charge(r, s.n) < 0)
        return -1;
    slice_indices(bounds, n, &start, &stop, step);
    if (step == 1) {
        size_t from = ascii ? (size_t)start : uni_offset(s, (size_t)start);
        s = str_skip(s, from);
        size_t count = stop > start ? (size_t)(stop - start) : 0;
        *out = jinja_string(str_first(s, ascii ? count : uni_offset(s, count)));
    } else {
        struct sb b = sb_start(r);
        if (step < 0) { /* by code points, backwards */
            size_t at = uni_offset(s, (size_t)(start + 1));
            for (int64_t i = start; i > stop && at > 0; i--) {
                size_t from = uni_prev(s, at, &cp);
                if ((start - i) % -step == 0)
                    sb_add(&b, (struct str){s.p + from, at - from});
                at = from;
            }
        } else {
            size_t at = uni_offset(s, (size_t)start);
            for (int64_t i = start; i < stop && at < s.n; i++) {
                size_t len = uni_next(s, at, &cp);
                if ((i - start) % step == 0)
                    sb_add(&b, (struct str){s.p + at, len});
                at += len;
            }
        }
        if (sb_end(&b, out) < 0)
            return -1;
    }
    out->flags = v.flags;
    return 0;
}

static int slice_range(struct run *r, const struct range_object *from, int64_t start, int64_t stop,
                       int64_t step, struct jinja_value *out)
{
    struct range_object *o = run_alloc(r, sizeof *o);
    if (!o)
        return -1;
    o->start = from->start + start * from->step;
    o->stop = from->start + stop * from->step;
    /* At most JINJA_RANGE_MAX items: a larger step ends after the first all the same. */
    int64_t most = (int64_t)JINJA_RANGE_MAX + 1, by = step > most    ? most
                                                      : step < -most ? -most
                                                                     : step;
    o->step = from->step * by;
    o->n = 0;
    if (by > 0 ? stop > start : start > stop)
        o->n = (uint32_t)((by > 0 ? stop - start - 1 : start - stop - 1) / (by > 0 ? by : -by) + 1);
    *out = (struct jinja_value){.type = JINJA_RANGE, .u.any = o};
    return 0;
}

static int slice_items(struct run *r, struct jinja_value v, const struct jinja_value bounds[3],
                       int64_t step, struct jinja_value *out)
{
    const struct range_object *range = v.u.any;
    int64_t n = v.type == JINJA_RANGE ? range->n : v.u.list->n, start, stop;
    struct jinja_value list;
    slice_indices(bounds, n, &start, &stop, step);
    if (v.type == JINJA_RANGE)
        return slice_range(r, range, start, stop, step, out);
    if (list_start(r, &list, v.type == JINJA_TUPLE ? JINJA_TUPLE : JINJA_LIST, 0) < 0)
        return -1;
    for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
        if (list_append(r, list, v.u.list->items[i]) < 0)
            return -1;
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    *out = list;
    return 0;
}

int get_slice(struct run *r, struct jinja_value object, const struct jinja_value bounds[3],
              struct jinja_value *out)
{
    int64_t step = 1, unused;
    if (object.type == JINJA_UNDEFINED)
        return run_undefined(r, object);
    if (object.type != JINJA_STRING && object.type != JINJA_LIST && object.type != JINJA_TUPLE &&
        object.type != JINJA_RANGE)
        return run_fail(r, "'%s' object cannot be sliced", object_name(object.type));
    for (int i = 0; i < 3; i++)
        if (bounds[i].type != JINJA_NONE && as_index(bounds[i], &unused) < 0)
            return run_fail(r, "slice indices must be integers or None, not %s",
                            jinja_type_name(bounds[i].type));
    if (bounds[2].type != JINJA_NONE)
        as_index(bounds[2], &step);
    if (step == 0)
        return run_fail(r, "slice step cannot be zero");
    if (step == INT64_MIN)
        step++;
    return object.type == JINJA_STRING ? slice_text(r, object, bounds, step, out)
                                       : slice_items(r, object, bounds, step, out);
}

int get_path(struct run *r, struct jinja_value object, struct jinja_value path,
             struct jinja_value *out)
{
    struct str rest = jinja_str(path), part;
    if (path.type != JINJA_STRING)
        return get_item(r, object, path, out);
    bool more;
    do {
        struct jinja_value key;
        int64_t index = 0;
        bool digits;
        more = str_cut(rest, '.', &part, &rest);
        digits = part.n > 0 && part.n < 10;
        for (size_t i = 0; i < part.n; i++) {
            digits = digits && part.p[i] >= '0' && part.p[i] <= '9';
            index = digits ? index * 10 + (part.p[i] - '0') : 0;
        }
        key = digits ? jinja_int(index) : jinja_string(part);
        if (get_item(r, object, key, &object) < 0)
            return -1;
    } while (more);
    *out = object;
    return 0;
}
