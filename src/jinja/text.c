#include "jinja/text.h"

#include <stdio.h>

#include "base/num.h"
#include "jinja/big.h"
#include "jinja/globals.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/unicode.h"

void text_add_float(struct sb *b, double d)
{
    char space[64];
    struct buf out = {.p = space, .cap = sizeof space, .max = sizeof space - 1};
    num_add_repr(&out, d);
    sb_add(b, buf_str(&out));
}

void text_add_int(struct sb *b, struct jinja_value v)
{
    char text[BIG_TEXT_MAX];
    if (v.type == JINJA_INT)
        snprintf(text, sizeof text, "%lld", (long long)v.u.i);
    else
        big_text(text, v);
    sb_add(b, str_of(text));
}

static void add_escape(struct sb *b, uint32_t cp)
{
    char text[16];
    snprintf(text, sizeof text, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    sb_add(b, str_of(text));
}

/* Python's repr of a str: single quotes, unless there are single and no double ones inside. */
static void add_quoted(struct sb *b, struct str s)
{
    static const char from[] = "\n\r\t", to[] = "nrt";
    bool single = str_find_char(s, '\'') != STR_NONE, twice = str_find_char(s, '"') != STR_NONE;
    char quote = single && !twice ? '"' : '\'';
    sb_addc(b, quote);
    for (size_t at = 0; at < s.n;) {
        uint32_t cp;
        size_t n = uni_next(s, at, &cp);
        const char *special = cp && cp < 0x80 ? strchr(from, (int)cp) : NULL;
        if (cp == (uint32_t)quote || cp == '\\') {
            sb_addc(b, '\\');
            sb_addc(b, (char)cp);
        } else if (special) {
            sb_addc(b, '\\');
            sb_addc(b, to[special - from]);
        } else if (!uni_is_printable(cp)) {
            add_escape(b, cp);
        } else {
            sb_add(b, (struct str){s.p + at, n});
        }
        at += n;
    }
    sb_addc(b, quote);
}

static int add_items(struct sb *b, const struct jinja_list *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (i)
            sb_add(b, STR(", "));
        if (text_add_repr(b, l->items[i]) < 0)
            return -1;
    }
    return 0;
}

static int add_entries(struct sb *b, const struct jinja_dict *d, const char *open, int view)
{
    sb_add(b, str_of(open));
    for (uint32_t i = 0; i < d->n; i++) {
        if (i)
            sb_add(b, STR(", "));
        if (view == VIEW_ITEMS)
            sb_addc(b, '(');
        if (view != VIEW_VALUES && text_add_repr(b, d->entries[i].key) < 0)
            return -1;
        if (view < 0 || view == VIEW_ITEMS)
            sb_add(b, view < 0 ? STR(": ") : STR(", "));
        if (view != VIEW_KEYS && text_add_repr(b, d->entries[i].value) < 0)
            return -1;
        if (view == VIEW_ITEMS)
            sb_addc(b, ')');
    }
    return 0;
}

static int add_container(struct sb *b, struct jinja_value v)
{
    static const char *const views[] = {"dict_keys([", "dict_values([", "dict_items(["};
    int rc = 0;
    if (run_deeper(b->r) < 0)
        return -1;
    if (v.type == JINJA_LIST || v.type == JINJA_TUPLE) {
        bool list = v.type == JINJA_LIST;
        sb_addc(b, list ? '[' : '(');
        rc = add_items(b, v.u.list);
        if (!list && v.u.list->n == 1)
            sb_addc(b, ',');
        sb_addc(b, list ? ']' : ')');
    } else if (v.type == JINJA_VIEW) {
        rc = add_entries(b, v.u.dict, views[v.aux], v.aux);
        sb_add(b, STR("])"));
    } else {
        bool ns = v.type == JINJA_NAMESPACE;
        rc = add_entries(b, v.u.dict, ns ? "<Namespace {" : "{", -1);
        sb_add(b, ns ? STR("}>") : STR("}"));
    }
    b->r->depth--;
    return b->failed ? -1 : rc;
}

/* Objects that Python prints with an address, which no two renders share; ours leave it out. */
static void add_object(struct sb *b, struct jinja_value v)
{
    const struct range_object *range = v.u.any;
    const struct macro_object *macro = v.u.any;
    struct loop_object *loop = (struct loop_object *)(uintptr_t)v.u.any;
    const struct generator *g = v.u.any;
    const struct method_object *m = v.u.any;
    char text[200];
    switch ((enum jinja_type)v.type) {
    case JINJA_RANGE:
        snprintf(text, sizeof text,
                 range->step == 1 ? "range(%lld, %lld)" : "range(%lld, %lld, %lld)",
                 (long long)range->start, (long long)range->stop, (long long)range->step);
        break;
    case JINJA_MACRO:
        if (!macro->def->name)
            snprintf(text, sizeof text, "<Macro anonymous>");
        else
            snprintf(text, sizeof text, "<Macro '%.*s'>",
                     STR_ARG(str_first(macro->def->name->text, 150)));
        break;
    case JINJA_LOOP:
        if (op_length(b->r, v, &loop->length) < 0)
            b->failed = true;
        snprintf(text, sizeof text, "<LoopContext %lld/%lld>", (long long)loop->index0 + 1,
                 (long long)loop->length);
        break;
    case JINJA_ITERATOR:
        snprintf(text, sizeof text, "<generator object %s>", g->name);
        break;
    case JINJA_METHOD:
        snprintf(text, sizeof text, "<built-in method %s of %s object>", m->method->name,
                 jinja_type_name(m->self.type));
        break;
    case JINJA_FUNCTION:
        snprintf(text, sizeof text, "<function %s>", global_name(v));
        break;
    default:
        snprintf(text, sizeof text, "<%s object>", jinja_type_name(v.type));
    }
    sb_add(b, str_of(text));
}

int text_add_repr(struct sb *b, struct jinja_value v)
{
    switch ((enum jinja_type)v.type) {
    case JINJA_UNDEFINED:
    case JINJA_MISSING:
        sb_add(b, STR("Undefined"));
        break;
    case JINJA_NONE:
        sb_add(b, STR("None"));
        break;
    case JINJA_BOOL:
        sb_add(b, v.u.b ? STR("True") : STR("False"));
        break;
    case JINJA_INT:
    case JINJA_BIG:
        text_add_int(b, v);
        break;
    case JINJA_FLOAT:
        text_add_float(b, v.u.d);
        break;
    case JINJA_STRING:
        if (v.flags & JINJA_MARKUP)
            sb_add(b, STR("Markup("));
        add_quoted(b, jinja_str(v));
        if (v.flags & JINJA_MARKUP)
            sb_addc(b, ')');
        break;
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_DICT:
    case JINJA_VIEW:
    case JINJA_NAMESPACE:
        return add_container(b, v);
    default:
        add_object(b, v);
    }
    return b->failed ? -1 : run_charge(b->r, 0);
}

int text_add_str(struct sb *b, struct jinja_value v)
{
    if (v.type == JINJA_UNDEFINED)
        return 0;
    if (v.type != JINJA_STRING)
        return text_add_repr(b, v);
    sb_add(b, jinja_str(v));
    return b->failed ? -1 : 0;
}

int text_str(struct run *r, struct jinja_value v, struct jinja_value *out)
{
    struct sb b = sb_start(r);
    if (v.type == JINJA_STRING) {
        *out = v;
        out->flags = 0;
        return 0;
    }
    return text_add_str(&b, v) < 0 ? -1 : sb_end(&b, out);
}

int text_soft(struct run *r, struct jinja_value v, struct jinja_value *out)
{
    if (v.type != JINJA_STRING)
        return text_str(r, v, out);
    *out = v;
    return 0;
}

void text_add_escaped(struct sb *b, struct str s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.n; i++) {
        struct str to;
        switch (s.p[i]) {
        case '&':
            to = STR("&amp;");
            break;
        case '<':
            to = STR("&lt;");
            break;
        case '>':
            to = STR("&gt;");
            break;
        case '\'':
            to = STR("&#39;");
            break;
        case '"':
            to = STR("&#34;");
            break;
        default:
            continue;
        }
        sb_add(b, (struct str){s.p + from, i - from});
        sb_add(b, to);
        from = i + 1;
    }
    sb_add(b, (struct str){s.p + from, s.n - from});
}

int text_escape(struct run *r, struct jinja_value v, struct jinja_value *out)
{
    struct sb b = sb_start(r);
    if (v.type == JINJA_STRING && (v.flags & JINJA_MARKUP)) {
        *out = v;
        return 0;
    }
    if (text_str(r, v, &v) < 0)
        return -1;
    text_add_escaped(&b, jinja_str(v));
    if (sb_end(&b, out) < 0)
        return -1;
    out->flags = JINJA_MARKUP;
    return 0;
}
