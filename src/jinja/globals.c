#include "jinja/globals.h"

#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/text.h"

struct cycler {
    struct jinja_value items; /* a tuple */
    uint32_t at;
};
struct joiner {
    struct jinja_value sep;
    bool used;
};

static int make_range(struct run *r, const struct args *args, struct jinja_value *v,
                      struct jinja_value *out)
{
    int64_t n[3] = {0, 0, 1};
    for (uint32_t i = 0; i < args->n_pos; i++)
        if (as_index(v[i], &n[args->n_pos == 1 ? 1 : i]) < 0) {
            if (v[i].type == JINJA_UNDEFINED)
                return run_undefined(r, v[i]);
            return run_fail(r, "'%s' object cannot be interpreted as an integer",
                            jinja_type_name(v[i].type));
        }
    if (n[2] == 0)
        return run_fail(r, "range() arg 3 must not be zero");
    uint64_t span = n[2] > 0 ? (uint64_t)n[1] - (uint64_t)n[0] : (uint64_t)n[0] - (uint64_t)n[1];
    uint64_t step = n[2] > 0 ? (uint64_t)n[2] : (uint64_t)0 - (uint64_t)n[2];
    uint64_t count = n[2] > 0 ? n[1] > n[0] : n[0] > n[1];
    if (count)
        count = (span - 1) / step + 1;
    if (count > JINJA_RANGE_MAX)
        return run_limit(r, "range of more than %d items", JINJA_RANGE_MAX);
    struct range_object *o = run_alloc(r, sizeof *o);
    if (!o)
        return -1;
    *o = (struct range_object){n[0], n[1], n[2], (uint32_t)count};
    *out = (struct jinja_value){.type = JINJA_RANGE, .u.any = o};
    return 0;
}

/* dict(mapping or pairs, **names), and namespace with the same arguments. */
static int fill_dict(struct run *r, const struct args *args, struct jinja_value *dict)
{
    struct jinja_value item, pair;
    struct cursor c;
    int rc = 0;
    if (dict_start(r, dict, args->n_kw) < 0)
        return -1;
    if (args->n_pos > 1)
        return run_fail(r, "dict expected at most 1 argument, got %u", args->n_pos);
    if (args->n_pos && args->pos[0].type == JINJA_DICT) {
        const struct jinja_dict *d = args->pos[0].u.dict;
        for (uint32_t i = 0; i < d->n; i++)
            if (dict_set(r, *dict, d->entries[i].key, d->entries[i].value) < 0)
                return -1;
    } else if (args->n_pos) {
        if (cursor_open(r, &c, args->pos[0]) < 0)
            return -1;
        while ((rc = cursor_next(r, &c, &item)) > 0) {
            if (to_list(r, item, JINJA_LIST, &pair) < 0)
                return -1;
            if (pair.u.list->n != 2)
                return run_fail(r,
                                "dictionary update sequence element has length %u; 2 is "
                                "required",
                                pair.u.list->n);
            if (dict_set(r, *dict, pair.u.list->items[0], pair.u.list->items[1]) < 0)
                return -1;
        }
    }
    for (uint32_t i = 0; rc == 0 && i < args->n_kw; i++)
        if (dict_set(r, *dict, jinja_string(args->names[i]), args->kw[i]) < 0)
            return -1;
    return rc;
}

static int make_dict(struct run *r, const struct args *args, struct jinja_value *v,
                     struct jinja_value *out)
{
    (void)v;
    return fill_dict(r, args, out);
}

static int make_namespace(struct run *r, const struct args *args, struct jinja_value *v,
                          struct jinja_value *out)
{
    if (make_dict(r, args, v, out) < 0)
        return -1;
    out->type = JINJA_NAMESPACE;
    return 0;
}

/* The text as it is: it is the template author's message to whoever made the conversation. */
static int raise_exception(struct run *r, const struct args *args, struct jinja_value *v,
                           struct jinja_value *out)
{
    int64_t line, column;
    (void)args;
    if (text_str(r, v[0], out) < 0)
        return -1;
    error_set(r->err, ERROR_INPUT, "%.*s", STR_ARG(jinja_str(*out)));
    error_rule(r->err, "raise_exception");
    template_place(r->t, r->at->from, &line, &column);
    error_at_line(r->err, line, column);
    return error_remedy(r->err, "the template itself refuses this conversation; change the "
                                "conversation, or use another template");
}

static int strftime_now(struct run *r, const struct args *args, struct jinja_value *v,
                        struct jinja_value *out)
{
    (void)args;
    if (v[0].type != JINJA_STRING)
        return run_fail(r, "strftime() argument must be str, not %s", jinja_type_name(v[0].type));
    if (!r->options->now)
        return run_fail(r, "the template asks for the time, and none was given");
    return text_strftime(r, jinja_str(v[0]), r->options->now, out);
}

static int make_cycler(struct run *r, const struct args *args, struct jinja_value *v,
                       struct jinja_value *out)
{
    struct cycler *c = run_alloc(r, sizeof *c);
    (void)v;
    if (!args->n_pos)
        return run_fail(r, "at least one item has to be provided");
    if (!c || list_start(r, &c->items, JINJA_TUPLE, args->n_pos) < 0)
        return -1;
    for (uint32_t i = 0; i < args->n_pos; i++)
        if (list_append(r, c->items, args->pos[i]) < 0)
            return -1;
    *out = (struct jinja_value){.type = JINJA_CYCLER, .u.any = c};
    return 0;
}

int cycler_attribute(struct jinja_value v, struct str name, struct jinja_value *out)
{
    struct cycler *c = (struct cycler *)(uintptr_t)v.u.any;
    *out = c->items.u.list->items[c->at];
    if (str_eq(name, STR("next")))
        c->at = (c->at + 1) % c->items.u.list->n;
    else if (str_eq(name, STR("reset")))
        c->at = 0;
    return 0;
}

static int make_joiner(struct run *r, const struct args *args, struct jinja_value *v,
                       struct jinja_value *out)
{
    struct joiner *j = run_alloc(r, sizeof *j);
    (void)args;
    if (!j)
        return -1;
    j->sep = v[0].type == JINJA_MISSING ? jinja_string(STR(", ")) : v[0];
    *out = (struct jinja_value){.type = JINJA_JOINER, .u.any = j};
    return 0;
}

static const struct function {
    const char *name;
    struct params params;
    int (*fn)(struct run *r, const struct args *args, struct jinja_value *v,
              struct jinja_value *out);
} functions[] = {
    {"range", {"/ start stop step", 1}, make_range},
    {"dict", {NULL, 0}, make_dict},
    {"namespace", {NULL, 0}, make_namespace},
    {"raise_exception", {"message", 1}, raise_exception},
    {"strftime_now", {"format", 1}, strftime_now},
    {"cycler", {NULL, 0}, make_cycler},
    {"joiner", {"sep", 0}, make_joiner},
};

bool global_find(struct str name, struct jinja_value *out)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (str_eq(name, str_of(functions[i].name))) {
            *out = (struct jinja_value){.type = JINJA_FUNCTION, .u.any = &functions[i]};
            return true;
        }
    return false;
}

const char *global_name(struct jinja_value function)
{
    const struct function *f = function.u.any;
    return f->name;
}

int global_call(struct run *r, struct jinja_value function, const struct args *args,
                struct jinja_value *out)
{
    struct jinja_value v[PARAMS_MAX] = {0};
    if (function.type == JINJA_JOINER) {
        struct joiner *j = (struct joiner *)(uintptr_t)function.u.any;
        *out = j->used ? j->sep : jinja_string(STR(""));
        j->used = true;
        return 0;
    }
    const struct function *f = function.u.any;
    if (f->params.names && args_bind(r, f->name, &f->params, args, v) < 0)
        return -1;
    return f->fn(r, args, v, out);
}
