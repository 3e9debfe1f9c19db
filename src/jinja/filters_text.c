#include <math.h>

#include "jinja/filter_fns.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/strings.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

FILTER(filter_case)
{
    (void)args;
    return text_soft(r, v[0], &v[0]) < 0 ? -1 : str_case(r, v[0], (enum str_case)f->variant, out);
}

/* Words begin behind white space and any of - ( { [ <; the rest of a word is lower case. */
FILTER(filter_title)
{
    struct sb b = sb_start(r);
    struct jinja_value part;
    (void)args, (void)f;
    if (text_soft(r, v[0], &v[0]) < 0)
        return -1;
    struct str s = jinja_str(v[0]);
    for (size_t at = 0; at < s.n;) {
        uint32_t cp;
        size_t n = uni_next(s, at, &cp), end = at + n;
        if (uni_is_space(cp) || (cp < 0x80 && strchr("-({[<", (int)cp))) {
            sb_add(&b, (struct str){s.p + at, n});
            at = end;
            continue;
        }
        if (str_case(r, jinja_string((struct str){s.p + at, n}), CASE_UPPER, &part) < 0)
            return -1;
        sb_add(&b, jinja_str(part));
        while (end < s.n) {
            size_t step = uni_next(s, end, &cp);
            if (uni_is_space(cp) || (cp < 0x80 && strchr("-({[<", (int)cp)))
                break;
            end += step;
        }
        if (str_case(r, jinja_string((struct str){s.p + at + n, end - at - n}), CASE_LOWER, &part) <
            0)
            return -1;
        sb_add(&b, jinja_str(part));
        at = end;
    }
    return sb_end(&b, out);
}

FILTER(filter_trim)
{
    struct str chars;
    (void)args, (void)f;
    if (text_soft(r, v[0], &v[0]) < 0)
        return -1;
    if (v[1].type == JINJA_MISSING || v[1].type == JINJA_NONE)
        return str_strip(r, v[0], NULL, true, true, out);
    if (v[1].type != JINJA_STRING)
        return run_fail(r, "strip arg must be None or str");
    if ((v[0].flags & JINJA_MARKUP) && text_escape(r, v[1], &v[1]) < 0)
        return -1;
    chars = jinja_str(v[1]);
    return str_strip(r, v[0], &chars, true, true, out);
}

FILTER(filter_replace)
{
    int64_t count = -1;
    (void)args, (void)f;
    if (v[3].type != JINJA_NONE && need_int(r, v[3], -1, &count) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (text_str(r, v[i], &v[i]) < 0)
            return -1;
    return str_replace(r, v[0], jinja_str(v[1]), jinja_str(v[2]), count < 0 ? -1 : count, out);
}

static int indentation(struct run *r, struct jinja_value width, struct jinja_value *out)
{
    struct sb b = sb_start(r);
    int64_t n;
    if (width.type == JINJA_STRING) {
        if (width.n > JINJA_WIDTH_MAX)
            return run_limit(r, "an indent above %d", JINJA_WIDTH_MAX);
        *out = width;
        return 0;
    }
    if (need_int(r, width, 4, &n) < 0)
        return -1;
    if (n > JINJA_WIDTH_MAX)
        return run_limit(r, "an indent above %d", JINJA_WIDTH_MAX);
    sb_pad(&b, ' ', n > 0 ? (size_t)n : 0);
    return sb_end(&b, out);
}

FILTER(filter_indent)
{
    struct jinja_value indent, lines;
    struct sb b = sb_start(r), source = sb_start(r);
    bool first = op_truth(v[2]), blank = op_truth(v[3]);
    (void)args, (void)f;
    if (v[0].type == JINJA_UNDEFINED)
        return run_undefined(r, v[0]);
    if (v[0].type != JINJA_STRING)
        return run_fail(r, "indent takes a string, not %s", jinja_type_name(v[0].type));
    uint8_t flags = v[0].flags;
    sb_add(&source, jinja_str(v[0]));
    sb_addc(&source, '\n'); /* so that a last empty line counts */
    if (sb_end(&source, &v[0]) < 0 || indentation(r, v[1], &indent) < 0 ||
        str_lines(r, v[0], false, &lines) < 0)
        return -1;
    for (uint32_t i = 0; i < lines.u.list->n; i++) {
        struct jinja_value line = lines.u.list->items[i];
        if (i)
            sb_addc(&b, '\n');
        if (i ? blank || line.n : first)
            sb_add(&b, jinja_str(indent));
        sb_add(&b, jinja_str(line));
    }
    if (sb_end(&b, out) < 0)
        return -1;
    out->flags = flags;
    return 0;
}

FILTER(filter_join)
{
    struct jinja_value sep = jinja_string(STR("")), list = v[0], item;
    struct cursor c;
    int rc = 0;
    (void)args, (void)f;
    if (v[1].type != JINJA_MISSING && text_str(r, v[1], &sep) < 0)
        return -1;
    if (v[2].type == JINJA_MISSING || v[2].type == JINJA_NONE)
        return str_join(r, sep, v[0], true, out);
    if (cursor_open(r, &c, v[0]) < 0 || list_start(r, &list, JINJA_LIST, 0) < 0)
        return -1;
    while ((rc = cursor_next(r, &c, &item)) > 0)
        if (get_path(r, item, v[2], &item) < 0 || list_append(r, list, item) < 0)
            return -1;
    return rc < 0 ? -1 : str_join(r, sep, list, true, out);
}

FILTER(filter_format)
{
    struct jinja_value format, values;
    (void)f, (void)v;
    if (args->n_pos > 1 && args->n_kw)
        return run_fail(r, "can't handle positional and keyword arguments at the same time");
    if (text_soft(r, args->pos[0], &format) < 0)
        return -1;
    if (args->n_kw) {
        if (dict_start(r, &values, args->n_kw) < 0)
            return -1;
        for (uint32_t i = 0; i < args->n_kw; i++)
            if (dict_set(r, values, jinja_string(args->names[i]), args->kw[i]) < 0)
                return -1;
        return text_percent(r, format, values, out);
    }
    if (list_start(r, &values, JINJA_TUPLE, args->n_pos) < 0)
        return -1;
    for (uint32_t i = 1; i < args->n_pos; i++)
        if (list_append(r, values, args->pos[i]) < 0)
            return -1;
    return text_percent(r, format, values, out);
}

FILTER(filter_center)
{
    int64_t width;
    (void)args, (void)f;
    if (need_int(r, v[1], 80, &width) < 0 || text_soft(r, v[0], &v[0]) < 0)
        return -1;
    return str_pad(r, v[0], width, ' ', '^', out);
}

FILTER(filter_truncate)
{
    int64_t length, leeway = 5, n, end_n;
    struct jinja_value end = v[3].type == JINJA_MISSING ? jinja_string(STR("...")) : v[3], cut;
    const struct jinja_value none = {.type = JINJA_NONE};
    (void)args, (void)f;
    if (end.type != JINJA_STRING)
        return run_fail(r, "truncate takes a string as its end");
    if (need_int(r, v[1], 255, &length) < 0 ||
        (v[4].type != JINJA_NONE && need_int(r, v[4], 5, &leeway) < 0) ||
        op_length(r, v[0], &n) < 0 || op_length(r, end, &end_n) < 0)
        return -1;
    if (length < end_n)
        return run_fail(r, "expected length >= %lld, got %lld", (long long)end_n,
                        (long long)length);
    if (leeway < 0)
        return run_fail(r, "expected leeway >= 0, got %lld", (long long)leeway);
    *out = v[0];
    if (n <= length + leeway)
        return 0;
    const struct jinja_value bounds[3] = {none, jinja_int(length - end_n), none};
    if (get_slice(r, v[0], bounds, &cut) < 0)
        return -1;
    if (cut.type != JINJA_STRING)
        return run_fail(r, "truncate takes a string, not %s", jinja_type_name(v[0].type));
    if (!op_truth(v[2])) {
        size_t space;
        if (find_last(r, jinja_str(cut), STR(" "), cut.n, &space) < 0)
            return -1;
        if (space != STR_NONE)
            cut.n = (uint32_t)space;
    }
    return op_arith(r, E_ADD, cut, end, out);
}

FILTER(filter_wordcount)
{
    int64_t words = 0;
    bool inside = false;
    uint32_t cp;
    (void)args, (void)f;
    if (text_soft(r, v[0], &v[0]) < 0)
        return -1;
    struct str s = jinja_str(v[0]);
    for (size_t at = 0; at < s.n;) {
        at += uni_next(s, at, &cp);
        bool word = cp == '_' || uni_is_alnum(cp);
        words += word && !inside;
        inside = word;
    }
    *out = jinja_int(words);
    return run_charge(r, s.n);
}

static uint32_t entity(struct str name)
{
    static const struct {
        const char *name;
        uint32_t cp;
    } names[] = {{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
                 {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xA0}};
    uint32_t cp = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_eq(name, str_of(names[i].name)))
            return names[i].cp;
    if (name.n < 2 || name.n > 8 || name.p[0] != '#')
        return 0;
    bool hex = (name.p[1] | 0x20) == 'x';
    for (size_t i = hex ? 2 : 1; i < name.n; i++) {
        int digit =
            name.p[i] >= '0' && name.p[i] <= '9' ? name.p[i] - '0' : (name.p[i] | 0x20) - 'a' + 10;
        if (digit < 0 || digit >= (hex ? 16 : 10))
            return 0;
        cp = cp * (hex ? 16 : 10) + (uint32_t)digit;
    }
    return cp;
}

/* Without comments and tags, white space in single spaces, entities read. */
FILTER(filter_striptags)
{
    struct sb b = sb_start(r);
    bool space = false;
    (void)args, (void)f;
    if (text_str(r, v[0], &v[0]) < 0)
        return -1;
    struct str s = jinja_str(v[0]);
    for (size_t at = 0; at < s.n;) {
        bool comment = str_starts(str_skip(s, at), STR("<!--"));
        struct str stop = comment ? STR("-->") : STR(">");
        size_t end = s.p[at] == '<' ? str_find(str_skip(s, at), stop) : STR_NONE;
        if (end != STR_NONE) {
            at += end + stop.n;
            continue;
        }
        uint32_t cp;
        size_t n = uni_next(s, at, &cp);
        if (cp == '&') {
            size_t semi = str_find_char(str_first(str_skip(s, at), 10), ';');
            uint32_t read = semi == STR_NONE ? 0 : entity((struct str){s.p + at + 1, semi - 1});
            n = read ? semi + 1 : n;
            cp = read ? read : cp;
        } else if (uni_is_space(cp)) {
            space = true;
            at += n;
            continue;
        }
        if (space && b.n)
            sb_addc(&b, ' ');
        space = false;
        sb_add_cp(&b, cp);
        at += n;
        if (run_charge(r, 0) < 0)
            return -1;
    }
    return sb_end(&b, out);
}

static int add_quoted_url(struct sb *b, struct jinja_value v, bool query)
{
    if (text_str(b->r, v, &v) < 0)
        return -1;
    for (uint32_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.u.p[i];
        bool plain = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (plain || (c >= '0' && c <= '9') || (c && strchr("_.-~", c)) || (c == '/' && !query)) {
            sb_addc(b, (char)c);
        } else if (c == ' ' && query) {
            sb_addc(b, '+');
        } else {
            sb_addc(b, '%');
            sb_addc(b, "0123456789ABCDEF"[c >> 4]);
            sb_addc(b, "0123456789ABCDEF"[c & 15]);
        }
    }
    return b->failed ? -1 : 0;
}

FILTER(filter_urlencode)
{
    struct sb b = sb_start(r);
    struct jinja_value item, pair, over = v[0];
    struct cursor c;
    int rc;
    (void)args, (void)f;
    if (over.type == JINJA_STRING || !is_iterable(over))
        return add_quoted_url(&b, over, false) < 0 ? -1 : sb_end(&b, out);
    if (over.type == JINJA_DICT) {
        over.type = JINJA_VIEW;
        over.aux = VIEW_ITEMS;
    }
    if (cursor_open(r, &c, over) < 0)
        return -1;
    while ((rc = cursor_next(r, &c, &item)) > 0) {
        if (to_list(r, item, JINJA_LIST, &pair) < 0)
            return -1;
        if (pair.u.list->n != 2)
            return run_fail(r, "urlencode takes pairs");
        if (b.n)
            sb_addc(&b, '&');
        if (add_quoted_url(&b, pair.u.list->items[0], true) < 0)
            return -1;
        sb_addc(&b, '=');
        if (add_quoted_url(&b, pair.u.list->items[1], true) < 0)
            return -1;
    }
    return rc < 0 ? -1 : sb_end(&b, out);
}

FILTER(filter_string)
{
    (void)args, (void)f;
    return text_soft(r, v[0], out);
}

FILTER(filter_safe)
{
    (void)args, (void)f;
    if (text_str(r, v[0], out) < 0)
        return -1;
    out->flags = JINJA_MARKUP;
    return 0;
}

FILTER(filter_escape)
{
    (void)args;
    if (f->variant)
        v[0].flags = 0;
    return text_escape(r, v[0], out);
}

FILTER(filter_xmlattr)
{
    struct sb b = sb_start(r);
    (void)args, (void)f;
    if (v[0].type != JINJA_DICT)
        return run_fail(r, "xmlattr takes a mapping, not %s", jinja_type_name(v[0].type));
    for (uint32_t i = 0; i < v[0].u.dict->n; i++) {
        const struct jinja_entry *e = &v[0].u.dict->entries[i];
        struct jinja_value key, value;
        if (e->value.type == JINJA_NONE || e->value.type == JINJA_UNDEFINED)
            continue;
        if (text_str(r, e->key, &key) < 0 || text_escape(r, e->value, &value) < 0)
            return -1;
        for (uint32_t k = 0; k < key.n; k++)
            if (strchr(" \t\n\r\f\v/>=", key.u.p[k]))
                return run_fail(r, "invalid character in attribute name");
        if (b.n || v[1].type == JINJA_MISSING || op_truth(v[1]))
            sb_addc(&b, ' ');
        text_add_escaped(&b, jinja_str(key));
        sb_add(&b, STR("=\""));
        sb_add(&b, jinja_str(value));
        sb_addc(&b, '"');
    }
    return sb_end(&b, out);
}

/* separators=(item, key) */
static int json_separators(struct run *r, struct jinja_value v, struct json_style *style)
{
    if (v.type == JINJA_MISSING || v.type == JINJA_NONE)
        return 0;
    const struct jinja_list *l = v.u.list;
    if ((v.type != JINJA_TUPLE && v.type != JINJA_LIST) || l->n != 2 ||
        l->items[0].type != JINJA_STRING || l->items[1].type != JINJA_STRING)
        return run_fail(r, "separators must be two strings");
    style->item = jinja_str(l->items[0]);
    style->key = jinja_str(l->items[1]);
    return 0;
}

FILTER(filter_tojson)
{
    struct json_style style = {
        .ensure_ascii = op_truth(v[1]),
        .sort_keys = op_truth(v[4]),
        .pretty = v[2].type != JINJA_MISSING && v[2].type != JINJA_NONE,
        .item = STR(", "),
        .key = STR(": "),
    };
    struct jinja_value indent;
    (void)args, (void)f;
    if (style.pretty) {
        if (indentation(r, v[2], &indent) < 0)
            return -1;
        style.indent = jinja_str(indent);
        style.item = STR(",");
    }
    return json_separators(r, v[3], &style) < 0 ? -1 : text_json(r, v[0], &style, out);
}

static int next_reversed(struct run *r, struct generator *g, struct jinja_value *out)
{
    struct jinja_list *l = g->value.u.list;
    size_t *at = &g->source.at;
    if (*at >= l->n || run_charge(r, 0) < 0)
        return *at >= l->n ? 0 : -1;
    *out = l->items[l->n - 1 - (*at)++];
    return 1;
}

FILTER(filter_reverse)
{
    const struct jinja_value none = {.type = JINJA_NONE}, back[3] = {none, none, jinja_int(-1)};
    struct jinja_value list;
    (void)args, (void)f;
    if (v[0].type == JINJA_STRING)
        return get_slice(r, v[0], back, out);
    if (!is_iterable(v[0]))
        return run_fail(r, "argument must be iterable");
    if (to_list(r, v[0], JINJA_LIST, &list) < 0)
        return -1;
    if (v[0].type == JINJA_ITERATOR || v[0].type == JINJA_UNDEFINED)
        return get_slice(r, list, back, out); /* what cannot be reversed lazily becomes a list */
    return generator_new(r, out, "reversed", next_reversed, list, NULL);
}
