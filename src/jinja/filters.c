#include "jinja/filters.h"

#include "jinja/filter_fns.h"
#include "jinja/strings.h"

/* Names as in Jinja2; those it has and we have not print or fetch what a render cannot promise
 * (pprint, random) or belong to web pages (urlize, wordwrap). */
static const struct filter filters[] = {
    {"tojson", {"value ensure_ascii indent separators sort_keys", 1}, filter_tojson, 0},
    {"trim", {"value chars", 1}, filter_trim, 0},
    {"length", {"/ obj", 1}, filter_length, 0},
    {"count", {"/ obj", 1}, filter_length, 0},
    {"string", {"value", 1}, filter_string, 0},
    {"items", {"value", 1}, filter_items, 0},
    {"list", {"value", 1}, filter_list, 0},
    {"default", {"value default_value boolean", 1}, filter_default, 0},
    {"d", {"value default_value boolean", 1}, filter_default, 0},
    {"selectattr", {NULL, 0}, filter_select, SELECT_ATTR},
    {"rejectattr", {NULL, 0}, filter_select, REJECT_ATTR},
    {"select", {NULL, 0}, filter_select, SELECT},
    {"reject", {NULL, 0}, filter_select, REJECT},
    {"map", {NULL, 0}, filter_map, 0},
    {"join", {"value d attribute", 1}, filter_join, 0},
    {"lower", {"s", 1}, filter_case, CASE_LOWER},
    {"upper", {"s", 1}, filter_case, CASE_UPPER},
    {"capitalize", {"s", 1}, filter_case, CASE_CAPITALIZE},
    {"title", {"s", 1}, filter_title, 0},
    {"safe", {"value", 1}, filter_safe, 0},
    {"escape", {"/ s", 1}, filter_escape, 0},
    {"e", {"/ s", 1}, filter_escape, 0},
    {"forceescape", {"value", 1}, filter_escape, 1},
    {"dictsort", {"value case_sensitive by reverse", 1}, filter_dictsort, 0},
    {"sort", {"value reverse case_sensitive attribute", 1}, filter_sort, 0},
    {"unique", {"value case_sensitive attribute", 1}, filter_unique, 0},
    {"groupby", {"value attribute default case_sensitive", 2}, filter_groupby, 0},
    {"min", {"value case_sensitive attribute", 1}, filter_extreme, -1},
    {"max", {"value case_sensitive attribute", 1}, filter_extreme, 1},
    {"sum", {"iterable attribute start", 1}, filter_sum, 0},
    {"first", {"seq", 1}, filter_first, 0},
    {"last", {"seq", 1}, filter_last, 0},
    {"reverse", {"value", 1}, filter_reverse, 0},
    {"replace", {"s old new count", 3}, filter_replace, 0},
    {"indent", {"s width first blank", 1}, filter_indent, 0},
    {"format", {NULL, 0}, filter_format, 0},
    {"int", {"value default base", 1}, filter_int, 0},
    {"float", {"value default", 1}, filter_float, 0},
    {"abs", {"/ x", 1}, filter_abs, 0},
    {"round", {"value precision method", 1}, filter_round, 0},
    {"attr", {"obj name", 2}, filter_attr, 0},
    {"batch", {"value linecount fill_with", 2}, filter_rows, 0},
    {"slice", {"value slices fill_with", 2}, filter_rows, 1},
    {"center", {"value width", 1}, filter_center, 0},
    {"truncate", {"s length killwords end leeway", 1}, filter_truncate, 0},
    {"wordcount", {"s", 1}, filter_wordcount, 0},
    {"striptags", {"value", 1}, filter_striptags, 0},
    {"urlencode", {"value", 1}, filter_urlencode, 0},
    {"xmlattr", {"d autospace", 1}, filter_xmlattr, 0},
    {"filesizeformat", {"value binary", 1}, filter_filesize, 0},
};

const struct filter *filter_find(struct str name)
{
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (str_eq(name, str_of(filters[i].name)))
            return &filters[i];
    return NULL;
}

int filter_call(struct run *r, const struct filter *f, const struct args *args,
                struct jinja_value *out)
{
    struct jinja_value v[PARAMS_MAX] = {0};
    if (run_charge(r, 0) < 0)
        return -1;
    if (f->params.names && args_bind(r, f->name, &f->params, args, v) < 0)
        return -1;
    return f->fn(r, f, args, v, out);
}
