#include "jinja/call.h"

#include <string.h>

#include "jinja/eval.h"
#include "jinja/globals.h"
#include "jinja/methods.h"
#include "jinja/objects.h"

const struct jinja_value *args_keyword(const struct args *args, struct str name)
{
    for (uint32_t i = 0; i < args->n_kw; i++)
        if (str_eq(args->names[i], name))
            return &args->kw[i];
    return NULL;
}

/* Positions of parameters by name; "/" in front says that they have none. */
static int param_index(const char *names, struct str name)
{
    struct str rest = str_of(names), word;
    bool more = rest.n > 0 && rest.p[0] != '/';
    for (int i = 0; more; i++) {
        more = str_cut(rest, ' ', &word, &rest);
        if (str_eq(word, name))
            return i;
    }
    return -1;
}

static uint32_t param_count(const char *names)
{
    uint32_t n = names[0] && names[0] != '/' ? 1 : 0;
    for (; *names; names++)
        n += *names == ' ';
    return n;
}

static struct str param_name(const char *names, uint32_t index)
{
    struct str rest = str_of(names), word = {0};
    if (names[0] == '/')
        str_cut(rest, ' ', &word, &rest);
    for (uint32_t i = 0; i <= index; i++)
        str_cut(rest, ' ', &word, &rest);
    return word;
}

int args_bind(struct run *r, const char *function, const struct params *p, const struct args *args,
              struct jinja_value out[PARAMS_MAX])
{
    uint32_t total = param_count(p->names);
    if (args->n_pos > total)
        return run_fail(r, "%s() takes at most %u argument%s (%u given)", function, total,
                        total == 1 ? "" : "s", args->n_pos);
    memset(out, 0, PARAMS_MAX * sizeof *out);
    if (args->n_pos)
        memcpy(out, args->pos, args->n_pos * sizeof *out);
    for (uint32_t i = 0; i < args->n_kw; i++) {
        int at = param_index(p->names, args->names[i]);
        if (at < 0)
            return run_fail(r, "%s() got an unexpected keyword argument '%.*s'", function,
                            STR_ARG(args->names[i]));
        if (out[at].type != JINJA_MISSING)
            return run_fail(r, "%s() got multiple values for argument '%.*s'", function,
                            STR_ARG(args->names[i]));
        out[at] = args->kw[i];
    }
    for (uint32_t i = 0; i < p->required; i++)
        if (out[i].type == JINJA_MISSING)
            return run_fail(r, "%s() is missing its argument '%.*s'", function,
                            STR_ARG(param_name(p->names, i)));
    return 0;
}

/* *args and **kwargs: everything again, with what they hold behind it. */
static int args_extend(struct run *r, const struct call_args *a, struct args *args)
{
    struct jinja_value star = {0}, more = {0}, list;
    if (a->star && (eval(r, a->star, &star) < 0 || to_list(r, star, JINJA_LIST, &list) < 0))
        return -1;
    if (a->star_star && eval(r, a->star_star, &more) < 0)
        return -1;
    if (a->star_star && more.type != JINJA_DICT)
        return run_fail(r, "argument after ** must be a mapping, not %s",
                        jinja_type_name(more.type));
    uint32_t n_pos = args->n_pos + (a->star ? list.u.list->n : 0);
    uint32_t n_kw = args->n_kw + (a->star_star ? more.u.dict->n : 0);
    if (n_pos > ARGS_MAX || n_kw > ARGS_MAX)
        return run_limit(r, "more than %d arguments", ARGS_MAX);
    struct jinja_value *v = run_alloc(r, ((size_t)n_pos + n_kw + 1) * sizeof *v);
    struct str *names = run_alloc(r, ((size_t)n_kw + 1) * sizeof *names);
    if (!v || !names)
        return -1;
    memcpy(v, args->pos, args->n_pos * sizeof *v);
    for (uint32_t i = args->n_pos; i < n_pos; i++)
        v[i] = list.u.list->items[i - args->n_pos];
    for (uint32_t i = 0; i < n_kw; i++) {
        const struct jinja_entry *e = i < args->n_kw ? NULL : &more.u.dict->entries[i - args->n_kw];
        if (e && e->key.type != JINJA_STRING)
            return run_fail(r, "keywords must be strings");
        if (e && args_keyword(args, jinja_str(e->key)))
            return run_fail(r, "multiple values for keyword argument '%.*s'",
                            STR_ARG(jinja_str(e->key)));
        v[n_pos + i] = e ? e->value : args->kw[i];
        names[i] = e ? jinja_str(e->key) : args->names[i];
    }
    *args = (struct args){v, v + n_pos, names, n_pos, n_kw};
    return 0;
}

int args_eval(struct run *r, const struct call_args *a, const struct jinja_value *first,
              struct args *out)
{
    static const struct jinja_value nothing;
    uint32_t n = (first ? 1u : 0u) + a->n_pos + a->n_kw;
    struct args args = {.pos = &nothing, .kw = &nothing};
    if (n) {
        struct jinja_value *v = run_alloc(r, n * sizeof *v);
        if (!v)
            return -1;
        if (first)
            v[0] = *first;
        for (uint32_t i = first ? 1 : 0, k = 0; i < n; i++, k++)
            if (eval(r, a->items[k], &v[i]) < 0)
                return -1;
        args.pos = v;
        args.n_pos = n - a->n_kw;
        args.kw = v + args.n_pos;
        args.n_kw = a->n_kw;
    }
    if (a->n_kw) {
        struct str *names = run_alloc(r, a->n_kw * sizeof *names);
        if (!names)
            return -1;
        for (uint32_t i = 0; i < a->n_kw; i++)
            names[i] = a->names[i]->text;
        args.names = names;
    }
    *out = args;
    return a->star || a->star_star ? args_extend(r, a, out) : 0;
}

static bool names_param(const struct macro_def *def, struct str name, uint32_t from)
{
    for (uint32_t i = from; i < def->n_params; i++)
        if (str_eq(def->params[i]->u.name.symbol->text, name))
            return true;
    return false;
}

/* What is left over when parameters took theirs: caller, kwargs, varargs, or errors. */
static int bind_specials(struct run *r, const struct macro_def *def, const struct args *args,
                         struct frame *f)
{
    uint32_t taken = args->n_pos < def->n_params ? args->n_pos : def->n_params;
    struct jinja_value v;
    bool caller = false;
    if (def->takes_kwargs && dict_start(r, &v, 0) < 0)
        return -1;
    for (uint32_t i = 0; i < args->n_kw; i++) {
        if (names_param(def, args->names[i], taken))
            continue;
        if (def->takes_caller && str_eq(args->names[i], STR("caller"))) {
            f->slots[def->caller.slot] = args->kw[i];
            caller = args->kw[i].type != JINJA_NONE;
        } else if (!def->takes_kwargs) {
            return run_fail(r, "macro '%.*s' takes no keyword argument '%.*s'",
                            STR_ARG(def->name ? def->name->text : STR("caller")),
                            STR_ARG(args->names[i]));
        } else if (dict_set(r, v, jinja_string(args->names[i]), args->kw[i]) < 0) {
            return -1;
        }
    }
    if (def->takes_kwargs)
        f->slots[def->kwargs.slot] = v;
    if (def->takes_caller && !caller &&
        run_hint(r, &f->slots[def->caller.slot], "no caller defined") < 0)
        return -1;
    if (!def->takes_varargs && args->n_pos > def->n_params)
        return run_fail(r, "macro '%.*s' takes not more than %u argument(s)",
                        STR_ARG(def->name ? def->name->text : STR("caller")), def->n_params);
    if (!def->takes_varargs)
        return 0;
    if (list_start(r, &v, JINJA_TUPLE, args->n_pos - taken) < 0)
        return -1;
    for (uint32_t i = taken; i < args->n_pos; i++)
        if (list_append(r, v, args->pos[i]) < 0)
            return -1;
    f->slots[def->varargs.slot] = v;
    return 0;
}

/* Parameters in order, so that a default may use the ones before it. */
static int bind_params(struct run *r, const struct macro_def *def, const struct args *args,
                       struct frame *f)
{
    uint32_t first_default = def->n_params - def->n_defaults;
    for (uint32_t i = 0; i < def->n_params; i++) {
        const struct symbol *s = def->params[i]->u.name.symbol;
        struct jinja_value *slot = &f->slots[def->params[i]->u.name.ref.slot];
        const struct jinja_value *given =
            i < args->n_pos ? &args->pos[i] : args_keyword(args, s->text);
        if (given)
            *slot = *given;
        else if (i < first_default) {
            if (run_hint(r, slot, "parameter '%.*s' was not provided", STR_ARG(s->text)) < 0)
                return -1;
        } else if (eval(r, def->defaults[i - first_default], slot) < 0) {
            return -1;
        }
    }
    return 0;
}

int call_macro(struct run *r, const struct macro_def *def, struct frame *closure,
               const struct args *args, struct jinja_value *out)
{
    size_t mark = r->out->n;
    struct frame *caller = r->frame, *f = run_alloc(r, sizeof *f);
    struct jinja_value *slots = f ? run_alloc(r, (def->n_slots + 1) * sizeof *slots) : NULL;
    if (!slots)
        return -1;
    if (r->macro_depth >= JINJA_MACRO_DEPTH_MAX)
        return run_limit(r, "macros nested deeper than %d", JINJA_MACRO_DEPTH_MAX);
    *f = (struct frame){closure, slots, def->n_slots};
    if (bind_specials(r, def, args, f) < 0)
        return -1;
    r->frame = f;
    r->macro_depth++;
    r->captures++;
    int rc = enter_scope(r, &def->scope) < 0 || bind_params(r, def, args, f) < 0 ||
                     exec(r, def->body) < 0
                 ? -1
                 : run_capture(r, mark, out);
    r->captures--;
    r->macro_depth--;
    r->frame = caller;
    return rc;
}

int call_value(struct run *r, struct jinja_value callee, const struct args *args,
               struct jinja_value *out)
{
    const struct macro_object *macro = callee.u.any;
    const struct method_object *m = callee.u.any;
    switch ((enum jinja_type)callee.type) {
    case JINJA_MACRO:
        return call_macro(r, macro->def, macro->closure, args, out);
    case JINJA_METHOD:
        return method_call(r, m->method, m->self, args, out);
    case JINJA_FUNCTION:
    case JINJA_JOINER:
        return global_call(r, callee, args, out);
    case JINJA_LOOP:
        if (args->n_pos != 1 || args->n_kw)
            return run_fail(r, "loop() takes one iterable");
        return exec_recursive(r, callee.u.any, args->pos[0], out);
    case JINJA_UNDEFINED:
        return run_undefined(r, callee);
    default:
        return run_fail(r, "'%s' object is not callable", jinja_type_name(callee.type));
    }
}
