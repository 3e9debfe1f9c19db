#include "cli/option.h"

#include <assert.h>

#include "base/num.h"

static void *place(const struct option *o, void *args)
{
    return (char *)args + o->offset;
}

static int bad_value(const struct option *o, const char *text, const char *want, struct error *err)
{
    error_set(err, ERROR_USAGE, "--%s '%.100s' is not %s", o->name, text, want);
    if (o->kind == OPTION_DURATION)
        error_remedy(err, "write a number and a unit: 250ms, 60s, 30min, 1h");
    return -1;
}

static bool is_choice(const char *choices, const char *text)
{
    struct str rest = str_of(choices), head;
    bool more = true;

    while (more) {
        more = str_cut(rest, '|', &head, &rest);
        if (str_eq(head, str_of(text)))
            return true;
    }
    return false;
}

static int set_string(const struct option *o, const char **out, const char *text, struct error *err)
{
    if (o->choices && !is_choice(o->choices, text)) {
        error_set(err, ERROR_USAGE, "--%s '%.100s' is none of %s", o->name, text, o->choices);
        return -1;
    }
    *out = text;
    return 0;
}

static int in_range(const struct option *o, int64_t v, struct error *err)
{
    if (o->min != o->max && (v < o->min || v > o->max)) {
        error_set(err, ERROR_USAGE, "--%s %lld is outside %lld to %lld", o->name, (long long)v,
                  (long long)o->min, (long long)o->max);
        return -1;
    }
    return 0;
}

static int set_i64(const struct option *o, int64_t *out, struct str text, const char *whole,
                   struct error *err)
{
    int64_t v;

    if (num_parse_i64(&v, text) < 0)
        return bad_value(o, whole,
                         o->kind == OPTION_LIST ? "a list of integers such as 1,4,8" : "an integer",
                         err);
    if (in_range(o, v, err) < 0)
        return -1;
    *out = v;
    return 0;
}

/* In thousandths; what is finer is no value, and nothing is rounded. */
static int set_milli(const struct option *o, int64_t *out, struct str text, const char *whole,
                     struct error *err)
{
    int64_t v;

    if (num_parse_milli(&v, text) < 0 || v <= 0)
        return bad_value(o, whole, "a list of numbers above 0, of up to three decimals", err);
    if (o->min != o->max && (v < o->min || v > o->max))
        return error_set(err, ERROR_USAGE, "--%s %.*s is outside %g to %g", o->name, STR_ARG(text),
                         (double)o->min / 1000, (double)o->max / 1000);
    *out = v;
    return 0;
}

static int set_item(const struct option *o, int64_t *out, struct str text, const char *whole,
                    struct error *err)
{
    return o->kind == OPTION_MILLI ? set_milli(o, out, text, whole, err)
                                   : set_i64(o, out, text, whole, err);
}

static int set_list(const struct option *o, struct option_list *out, const char *text,
                    struct error *err)
{
    struct option_list list = {.n = 0};
    struct str rest = str_of(text), head;
    bool more = true;

    while (more) {
        more = str_cut(rest, ',', &head, &rest);
        if (list.n == OPTION_ITEMS_MAX) {
            error_set(err, ERROR_LIMIT, "--%s has more than %d items", o->name, OPTION_ITEMS_MAX);
            return -1;
        }
        if (set_item(o, &list.v[list.n], str_trim(head), text, err) < 0)
            return -1;
        list.n++;
    }
    *out = list;
    return 0;
}

static int add_repeated(const struct option *o, struct option_repeated *out, const char *text,
                        struct error *err)
{
    if (out->n == OPTION_ITEMS_MAX) {
        error_set(err, ERROR_LIMIT, "--%s is given more than %d times", o->name, OPTION_ITEMS_MAX);
        return -1;
    }
    out->v[out->n++] = text;
    return 0;
}

static int set_text(const struct option *o, void *args, const char *text, struct error *err)
{
    int64_t ns;
    double real;

    switch (o->kind) {
    case OPTION_STRING:
        return set_string(o, place(o, args), text, err);
    case OPTION_I64:
        return set_i64(o, place(o, args), str_of(text), text, err);
    case OPTION_LIST:
    case OPTION_MILLI:
        return set_list(o, place(o, args), text, err);
    case OPTION_REPEATED:
        return add_repeated(o, place(o, args), text, err);
    case OPTION_DOUBLE:
        if (num_parse_double(&real, str_of(text)) < 0)
            return bad_value(o, text, "a number", err);
        memcpy(place(o, args), &real, sizeof real);
        return 0;
    case OPTION_DURATION:
        if (num_parse_duration_ns(&ns, str_of(text)) < 0 || ns < 0)
            return bad_value(o, text, "a duration", err);
        memcpy(place(o, args), &ns, sizeof ns);
        return 0;
    case OPTION_FLAG:
    case OPTION_NONE:
    case OPTION_HEADING:
        break;
    }
    assert(0 && "an option without a value");
    return -1;
}

void option_defaults(const struct option *table, void *args)
{
    struct error err = {0};

    for (const struct option *o = table; o->name; o++) {
        if (o->fallback && o->kind != OPTION_HEADING && set_text(o, args, o->fallback, &err) < 0)
            assert(0 && "the default of an option must parse");
    }
}

static bool has(const struct option_set *set, const struct option *table, const struct option *o)
{
    size_t i = (size_t)(o - table);

    assert(i < OPTION_TABLE_MAX);
    return set->bits[i / 64] >> i % 64 & 1;
}

static void add(struct option_set *set, const struct option *table, const struct option *o)
{
    size_t i = (size_t)(o - table);

    assert(i < OPTION_TABLE_MAX);
    set->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static const struct option *find(const struct option *table, struct str name)
{
    for (const struct option *o = table; o->name; o++) {
        if (o->kind != OPTION_HEADING && str_eq(str_of(o->name), name))
            return o;
    }
    return NULL;
}

static const struct option *find_letter(const struct option *table, char letter)
{
    for (const struct option *o = table; o->name; o++) {
        if (o->letter && o->letter == letter)
            return o;
    }
    return NULL;
}

static const char *nearest(const struct option *table, const char *typed)
{
    const char *names[OPTION_TABLE_MAX + 1];
    size_t n = 0;

    for (const struct option *o = table; o->name && n < OPTION_TABLE_MAX; o++) {
        if (o->kind != OPTION_HEADING && !o->hidden)
            names[n++] = o->name;
    }
    names[n++] = "help";
    return suggest(typed, names, n);
}

static int unknown(const struct option *table, const char *argument, struct str name,
                   struct error *err)
{
    char typed[64];
    const char *near;

    error_set(err, ERROR_USAGE, "there is no option '%.*s'", (int)strcspn(argument, "="), argument);
    if (name.n == 0 || name.n >= sizeof typed)
        return -1;
    memcpy(typed, name.p, name.n);
    typed[name.n] = '\0';
    near = nearest(table, typed);
    if (near)
        error_remedy(err, "did you mean --%s?", near);
    return -1;
}

/* argv[*i] is an option; takes its value from argv[*i + 1] where it needs one. */
static int take_option(const struct option *table, void *args, int argc, char **argv, int *i,
                       struct operands *operands, struct error *err)
{
    const char *argument = argv[*i];
    bool is_long = argument[1] == '-';
    struct str name, value = {NULL, 0};
    bool has_value = false;
    const struct option *o;

    if (is_long)
        has_value = str_cut(str_of(argument + 2), '=', &name, &value);
    else
        name = str_of(argument + 1);
    if (str_eq(name, STR("help")) || (!is_long && str_eq(name, STR("h")))) {
        operands->help = true;
        return 0;
    }
    o = is_long ? find(table, name) : name.n == 1 ? find_letter(table, name.p[0]) : NULL;
    if (!o)
        return unknown(table, argument, name, err);
    if (o->kind != OPTION_REPEATED && has(&operands->given, table, o)) {
        error_set(err, ERROR_USAGE, "--%s is given twice", o->name);
        return error_remedy(err, "give it once");
    }
    add(&operands->given, table, o);
    if (o->kind == OPTION_FLAG) {
        bool on = true;
        if (has_value)
            return error_set(err, ERROR_USAGE, "--%s takes no value", o->name);
        memcpy(place(o, args), &on, sizeof on);
        return 0;
    }
    if (has_value)
        return set_text(o, args, value.p, err);
    if (*i + 1 >= argc) {
        error_set(err, ERROR_USAGE, "--%s needs a value: --%s %s", o->name, o->name,
                  o->arg ? o->arg : "VALUE");
        return -1;
    }
    return set_text(o, args, argv[++*i], err);
}

int option_parse(const struct option *table, void *args, int argc, char **argv,
                 struct operands *operands, struct error *err)
{
    int kept = 0;
    bool only_operands = false;

    *operands = (struct operands){.v = argv};
    for (int i = 0; i < argc; i++) {
        char *a = argv[i];
        if (!only_operands && strcmp(a, "--") == 0) {
            only_operands = true;
        } else if (only_operands || a[0] != '-' || a[1] == '\0') {
            argv[kept++] = a;
        } else if (take_option(table, args, argc, argv, &i, operands, err) < 0) {
            return -1;
        }
    }
    operands->n = kept;
    return 0;
}

bool option_set_has(const struct option *table, const struct option_set *set, const char *name)
{
    const struct option *o = find(table, str_of(name));

    assert(o);
    return has(set, table, o);
}

void option_set_add(const struct option *table, struct option_set *set, const char *name)
{
    const struct option *o = find(table, str_of(name));

    assert(o);
    add(set, table, o);
}

bool option_given(const struct option *table, const struct operands *operands, const char *name)
{
    return option_set_has(table, &operands->given, name);
}

/* Documents ----------------------------------------------------------------------------------- */

static int in_document(const struct json *v, const char *file, struct error *err)
{
    error_at_file(err, file);
    return error_at_line(err, v->line, v->column);
}

static int wrong_type(const struct option *o, const struct json *v, const char *want,
                      const char *file, struct error *err)
{
    error_set(err, ERROR_USAGE, "'%s' is %s; %s is wanted", o->name, json_type_name(v->type), want);
    return in_document(v, file, err);
}

static int apply_list(const struct option *o, void *args, const struct json *v, const char *file,
                      struct error *err)
{
    struct option_list list = {.n = 0};

    if (v->n > OPTION_ITEMS_MAX) {
        error_set(err, ERROR_LIMIT, "'%s' has more than %d items", o->name, OPTION_ITEMS_MAX);
        return in_document(v, file, err);
    }
    for (size_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        bool milli = o->kind == OPTION_MILLI;
        if (item->type != JSON_NUMBER || (!milli && json_i64(&list.v[list.n], item) < 0))
            return wrong_type(o, item, milli ? "a number" : "an integer", file, err);
        if (milli ? set_milli(o, &list.v[list.n], item->text, item->text.p, err) < 0
                  : in_range(o, list.v[list.n], err) < 0)
            return in_document(item, file, err);
        list.n++;
    }
    memcpy(place(o, args), &list, sizeof list);
    return 0;
}

static int apply_repeated(const struct option *o, void *args, const struct json *v,
                          const char *file, struct error *err)
{
    struct option_repeated *out = place(o, args);

    out->n = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (v->items[i].type != JSON_STRING)
            return wrong_type(o, &v->items[i], "a string", file, err);
        if (add_repeated(o, out, v->items[i].text.p, err) < 0)
            return in_document(&v->items[i], file, err);
    }
    return 0;
}

static int apply_value(const struct option *o, void *args, const struct json *v, const char *file,
                       struct error *err)
{
    bool on;

    if (o->kind == OPTION_FLAG) {
        if (json_bool(&on, v) < 0)
            return wrong_type(o, v, "true or false", file, err);
        memcpy(place(o, args), &on, sizeof on);
        return 0;
    }
    if (v->type == JSON_ARRAY && (o->kind == OPTION_LIST || o->kind == OPTION_MILLI))
        return apply_list(o, args, v, file, err);
    if (v->type == JSON_ARRAY && o->kind == OPTION_REPEATED)
        return apply_repeated(o, args, v, file, err);
    if (v->type != JSON_STRING && v->type != JSON_NUMBER)
        return wrong_type(o, v, o->kind == OPTION_LIST ? "a list" : "a single value", file, err);
    if (o->kind == OPTION_REPEATED)
        ((struct option_repeated *)place(o, args))->n = 0;
    /* json_parse ends every text with a NUL, but a value that holds one would be cut */
    if (strlen(v->text.p) != v->text.n) {
        error_set(err, ERROR_USAGE, "'%s' holds a NUL character", o->name);
        return in_document(v, file, err);
    }
    if (set_text(o, args, v->text.p, err) < 0)
        return in_document(v, file, err);
    return 0;
}

static const struct option *find_key(const struct option *table, struct str key)
{
    for (const struct option *o = table; o->name; o++) {
        size_t n = strlen(o->name), i = 0;
        if (o->kind == OPTION_HEADING || o->not_in_file || n != key.n)
            continue;
        while (i < n && (o->name[i] == '-' ? '_' : o->name[i]) == key.p[i])
            i++;
        if (i == n)
            return o;
    }
    return NULL;
}

static int unknown_key(const struct option *table, const struct json_member *m, const char *file,
                       struct error *err)
{
    char typed[64];
    const char *near = NULL;

    error_set(err, ERROR_USAGE, "there is no key '%.*s'", STR_ARG(str_first(m->name, 60)));
    if (m->name.n < sizeof typed) {
        memcpy(typed, m->name.p, m->name.n);
        typed[m->name.n] = '\0';
        for (char *c = typed; *c; c++)
            *c = *c == '_' ? '-' : *c;
        near = nearest(table, typed);
    }
    if (near && strcmp(near, "help") != 0) {
        char spelt[64];
        size_t n = 0;
        for (; near[n] && n + 1 < sizeof spelt; n++)
            spelt[n] = near[n] == '-' ? '_' : near[n];
        spelt[n] = '\0';
        error_remedy(err, "did you mean '%s'?", spelt);
    }
    return in_document(&m->value, file, err);
}

int option_apply_document(const struct option *table, void *args, struct option_set *given,
                          const struct json *doc, const char *file, struct error *err)
{
    struct option_set set = {0};

    if (doc->type == JSON_NULL)
        return 0;
    if (doc->type != JSON_OBJECT) {
        error_set(err, ERROR_USAGE, "the document is %s; a mapping of options is wanted",
                  json_type_name(doc->type));
        return in_document(doc, file, err);
    }
    for (size_t i = 0; i < doc->n; i++) {
        const struct json_member *m = &doc->members[i];
        const struct option *o = find_key(table, m->name);
        if (!o)
            return unknown_key(table, m, file, err);
        if (has(given, table, o))
            continue;
        if (apply_value(o, args, &m->value, file, err) < 0)
            return -1;
        add(&set, table, o);
    }
    for (size_t i = 0; i < sizeof set.bits / sizeof set.bits[0]; i++)
        given->bits[i] |= set.bits[i];
    return 0;
}
