#include "jinja/methods.h"

#include "jinja/globals.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/str_methods.h"
#include "jinja/text.h"

#define METHOD(name)                                                                \
    static int name(struct run *r, struct jinja_value self, const struct method *m, \
                    const struct args *args, struct jinja_value *v, struct jinja_value *out)

METHOD(dict_get)
{
    uint64_t hash;
    (void)m, (void)args;
    if (value_hash(v[0], &hash) < 0)
        return run_fail(r, "unhashable type: '%s'", jinja_type_name(v[0].type));
    const struct jinja_entry *e = dict_find(self.u.dict, v[0], hash);
    *out = e ? e->value : v[1].type == JINJA_MISSING ? jinja_none() : v[1];
    return 0;
}

static int view_of(struct jinja_value self, enum view_kind kind, struct jinja_value *out)
{
    *out = (struct jinja_value){.type = JINJA_VIEW, .aux = (uint16_t)kind, .u.dict = self.u.dict};
    return 0;
}

METHOD(dict_keys)
{
    (void)r, (void)m, (void)args, (void)v;
    return view_of(self, VIEW_KEYS, out);
}

METHOD(dict_values)
{
    (void)r, (void)m, (void)args, (void)v;
    return view_of(self, VIEW_VALUES, out);
}

METHOD(dict_items)
{
    (void)r, (void)m, (void)args, (void)v;
    return view_of(self, VIEW_ITEMS, out);
}

METHOD(dict_copy)
{
    (void)m, (void)args, (void)v;
    const struct jinja_dict *d = self.u.dict;
    if (dict_start(r, out, d->n) < 0)
        return -1;
    for (uint32_t i = 0; i < d->n; i++)
        if (dict_set(r, *out, d->entries[i].key, d->entries[i].value) < 0)
            return -1;
    return 0;
}

METHOD(list_copy)
{
    (void)m, (void)args, (void)v;
    return to_list(r, self, JINJA_LIST, out);
}

METHOD(list_count)
{
    struct cursor c = {.over = self};
    struct jinja_value item;
    int64_t n = 0;
    bool same;
    int rc;
    (void)m, (void)args;
    while ((rc = cursor_next(r, &c, &item)) > 0) {
        if (op_equal(r, item, v[0], &same) < 0)
            return -1;
        n += same;
    }
    *out = jinja_int(n);
    return rc;
}

METHOD(list_index)
{
    int64_t n = self.u.list->n, from, to;
    (void)m, (void)args;
    if (need_int(r, v[1], 0, &from) < 0 || need_int(r, v[2], n, &to) < 0)
        return -1;
    from = from < 0 ? from + n < 0 ? 0 : from + n : from;
    to = to < 0 ? to + n : to > n ? n : to;
    for (int64_t i = from; i < to; i++) {
        bool same;
        if (op_equal(r, self.u.list->items[i], v[0], &same) < 0)
            return -1;
        if (same) {
            *out = jinja_int(i);
            return 0;
        }
    }
    return run_fail(r, "value is not in %s", jinja_type_name(self.type));
}

METHOD(loop_cycle)
{
    const struct loop_object *l = self.u.any;
    (void)m, (void)v;
    if (!args->n_pos)
        return run_fail(r, "no items for cycling given");
    *out = args->pos[l->index0 % args->n_pos];
    return 0;
}

METHOD(loop_changed)
{
    struct loop_object *l = (struct loop_object *)(uintptr_t)self.u.any;
    struct jinja_value now;
    bool same = false;
    (void)m, (void)v;
    if (list_start(r, &now, JINJA_TUPLE, args->n_pos) < 0)
        return -1;
    for (uint32_t i = 0; i < args->n_pos; i++)
        if (list_append(r, now, args->pos[i]) < 0)
            return -1;
    if (l->changed.type != JINJA_MISSING && op_equal(r, l->changed, now, &same) < 0)
        return -1;
    l->changed = now;
    *out = jinja_bool(!same);
    return 0;
}

METHOD(cycler_next)
{
    (void)r, (void)m, (void)args, (void)v;
    return cycler_attribute(self, STR("next"), out);
}

METHOD(cycler_reset)
{
    (void)r, (void)m, (void)args, (void)v;
    cycler_attribute(self, STR("reset"), out);
    *out = jinja_none();
    return 0;
}

METHOD(float_is_integer)
{
    (void)r, (void)m, (void)args, (void)v;
    *out = jinja_bool(self.u.d == (double)(int64_t)self.u.d);
    return 0;
}

#define ON(type) (1u << JINJA_##type)
#define S ON(STRING)
#define SEQ (ON(LIST) | ON(TUPLE))
#define WRAPS true

/* Rows of one name stand together: method_on looks on from the first. */
static const struct method methods[] = {
    {"get", ON(DICT), {"/ key default", 1}, dict_get, 0, false},
    {"keys", ON(DICT), {"", 0}, dict_keys, 0, false},
    {"values", ON(DICT), {"", 0}, dict_values, 0, false},
    {"items", ON(DICT), {"", 0}, dict_items, 0, false},
    {"copy", ON(DICT), {"", 0}, dict_copy, 0, false},
    {"copy", ON(LIST), {"", 0}, list_copy, 0, false},
    {"count", SEQ | ON(RANGE), {"/ value", 1}, list_count, 0, false},
    {"count", S, {"/ sub start end", 1}, str_find_method, FIND_COUNT, false},
    {"index", SEQ, {"/ value start stop", 1}, list_index, 0, false},
    {"index", S, {"/ sub start end", 1}, str_find_method, FIND_INDEX, false},
    {"find", S, {"/ sub start end", 1}, str_find_method, FIND_FIRST, false},
    {"rfind", S, {"/ sub start end", 1}, str_find_method, FIND_LAST, false},
    {"rindex", S, {"/ sub start end", 1}, str_find_method, FIND_RINDEX, false},
    {"startswith", S, {"/ prefix start end", 1}, str_starts_method, 0, false},
    {"endswith", S, {"/ suffix start end", 1}, str_starts_method, 1, false},
    {"strip", S, {"/ chars", 0}, str_strip_method, 3, WRAPS},
    {"lstrip", S, {"/ chars", 0}, str_strip_method, 1, WRAPS},
    {"rstrip", S, {"/ chars", 0}, str_strip_method, 2, WRAPS},
    {"split", S, {"sep maxsplit", 0}, str_split_method, 0, false},
    {"rsplit", S, {"sep maxsplit", 0}, str_split_method, 1, false},
    {"splitlines", S, {"keepends", 0}, str_lines_method, 0, false},
    {"partition", S, {"/ sep", 1}, str_partition_method, 0, WRAPS},
    {"rpartition", S, {"/ sep", 1}, str_partition_method, 1, WRAPS},
    {"replace", S, {"/ old new count", 2}, str_replace_method, 0, WRAPS},
    {"removeprefix", S, {"/ prefix", 1}, str_remove_method, 0, WRAPS},
    {"removesuffix", S, {"/ suffix", 1}, str_remove_method, 1, WRAPS},
    {"join", S, {"/ iterable", 1}, str_join_method, 0, false},
    {"format", S, {NULL, 0}, str_format_method, 0, false},
    {"upper", S, {"", 0}, str_case_method, CASE_UPPER, false},
    {"lower", S, {"", 0}, str_case_method, CASE_LOWER, false},
    {"title", S, {"", 0}, str_case_method, CASE_TITLE, false},
    {"capitalize", S, {"", 0}, str_case_method, CASE_CAPITALIZE, false},
    {"swapcase", S, {"", 0}, str_case_method, CASE_SWAP, false},
    {"casefold", S, {"", 0}, str_case_method, CASE_FOLD, false},
    {"center", S, {"/ width fillchar", 1}, str_pad_method, '^', WRAPS},
    {"ljust", S, {"/ width fillchar", 1}, str_pad_method, '<', WRAPS},
    {"rjust", S, {"/ width fillchar", 1}, str_pad_method, '>', WRAPS},
    {"zfill", S, {"/ width", 1}, str_zfill_method, 0, false},
    {"expandtabs", S, {"tabsize", 0}, str_expandtabs_method, 0, false},
    {"isalpha", S, {"", 0}, str_is_method, IS_ALPHA, false},
    {"isalnum", S, {"", 0}, str_is_method, IS_ALNUM, false},
    {"isdigit", S, {"", 0}, str_is_method, IS_DIGIT, false},
    {"isdecimal", S, {"", 0}, str_is_method, IS_DECIMAL, false},
    {"isnumeric", S, {"", 0}, str_is_method, IS_NUMERIC, false},
    {"isspace", S, {"", 0}, str_is_method, IS_SPACE, false},
    {"isprintable", S, {"", 0}, str_is_method, IS_PRINTABLE, false},
    {"isascii", S, {"", 0}, str_is_method, IS_ASCII, false},
    {"isidentifier", S, {"", 0}, str_is_method, IS_IDENTIFIER, false},
    {"islower", S, {"", 0}, str_is_cased_method, CASED_LOWER, false},
    {"isupper", S, {"", 0}, str_is_cased_method, CASED_UPPER, false},
    {"istitle", S, {"", 0}, str_is_cased_method, CASED_TITLE, false},
    {"is_integer", ON(FLOAT), {"", 0}, float_is_integer, 0, false},
    {"cycle", ON(LOOP), {NULL, 0}, loop_cycle, 0, false},
    {"changed", ON(LOOP), {NULL, 0}, loop_changed, 0, false},
    {"next", ON(CYCLER), {"", 0}, cycler_next, 0, false},
    {"reset", ON(CYCLER), {"", 0}, cycler_reset, 0, false},
    {"append", ON(LIST), {"", 0}, NULL, 0, false},
    {"extend", ON(LIST), {"", 0}, NULL, 0, false},
    {"insert", ON(LIST), {"", 0}, NULL, 0, false},
    {"remove", ON(LIST), {"", 0}, NULL, 0, false},
    {"reverse", ON(LIST), {"", 0}, NULL, 0, false},
    {"sort", ON(LIST), {"", 0}, NULL, 0, false},
    {"pop", ON(LIST) | ON(DICT), {"", 0}, NULL, 0, false},
    {"clear", ON(LIST) | ON(DICT), {"", 0}, NULL, 0, false},
    {"popitem", ON(DICT), {"", 0}, NULL, 0, false},
    {"setdefault", ON(DICT), {"", 0}, NULL, 0, false},
    {"update", ON(DICT), {"", 0}, NULL, 0, false},
};
#define N_METHODS (sizeof methods / sizeof methods[0])

uint16_t method_of(struct str name)
{
    for (size_t i = 0; i < N_METHODS; i++)
        if (str_eq(name, str_of(methods[i].name)))
            return (uint16_t)(i + 1);
    return 0;
}

const struct method *method_on(unsigned id, enum jinja_type type)
{
    if (id == 0)
        return NULL;
    const struct method *first = &methods[id - 1];
    for (const struct method *m = first; m < methods + N_METHODS; m++) {
        if (strcmp(m->name, first->name) != 0)
            break;
        if (m->types & (1u << type))
            return m;
    }
    return NULL;
}

int method_call(struct run *r, const struct method *m, struct jinja_value self,
                const struct args *args, struct jinja_value *out)
{
    struct jinja_value v[PARAMS_MAX] = {0};
    if (run_charge(r, 0) < 0)
        return -1;
    if (m->params.names && args_bind(r, m->name, &m->params, args, v) < 0)
        return -1;
    /* Markup's methods escape what they are given. */
    if (m->wraps && (self.flags & JINJA_MARKUP))
        for (int i = 0; i < PARAMS_MAX; i++)
            if (v[i].type == JINJA_STRING && text_escape(r, v[i], &v[i]) < 0)
                return -1;
    return m->fn(r, self, m, args, v, out);
}
