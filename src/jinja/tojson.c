/* Python's json.dumps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

static void add_unit(struct sb *b, uint32_t unit)
{
    char text[16];
    snprintf(text, sizeof text, "\\u%04x", unit);
    sb_add(b, str_of(text));
}

static void add_string(struct sb *b, struct str s, bool ascii)
{
    static const char from[] = "\"\\\n\r\t\f\b", to[] = "\"\\nrtfb";
    size_t plain = 0;
    sb_addc(b, '"');
    for (size_t at = 0; at < s.n;) {
        unsigned char c = (unsigned char)s.p[at];
        if (c >= 0x20 && c != '"' && c != '\\' && (c < 0x7F || !ascii)) {
            at++;
            continue;
        }
        uint32_t cp;
        sb_add(b, (struct str){s.p + plain, at - plain});
        at += uni_next(s, at, &cp);
        plain = at;
        const char *special = cp && cp < 0x80 ? strchr(from, (int)cp) : NULL;
        if (special) {
            sb_addc(b, '\\');
            sb_addc(b, to[special - from]);
        } else if (cp < 0x10000) {
            add_unit(b, cp);
        } else {
            add_unit(b, 0xD800 + ((cp - 0x10000) >> 10));
            add_unit(b, 0xDC00 + ((cp - 0x10000) & 0x3FF));
        }
    }
    sb_add(b, (struct str){s.p + plain, s.n - plain});
    sb_addc(b, '"');
}

static void new_line(struct sb *b, const struct json_style *style, unsigned level)
{
    if (!style->pretty)
        return;
    sb_addc(b, '\n');
    for (unsigned i = 0; i < level; i++)
        sb_add(b, style->indent);
}

static int add_value(struct sb *b, struct jinja_value v, const struct json_style *style,
                     unsigned level);

static void add_float(struct sb *b, double d)
{
    if (isnan(d))
        sb_add(b, STR("NaN"));
    else if (isinf(d))
        sb_add(b, d > 0 ? STR("Infinity") : STR("-Infinity"));
    else
        text_add_float(b, d);
}

static int add_key(struct sb *b, struct jinja_value key, const struct json_style *style)
{
    switch ((enum jinja_type)key.type) {
    case JINJA_STRING:
        add_string(b, jinja_str(key), style->ensure_ascii);
        return 0;
    case JINJA_NONE:
        sb_add(b, STR("\"null\""));
        return 0;
    case JINJA_BOOL:
        sb_add(b, key.u.b ? STR("\"true\"") : STR("\"false\""));
        return 0;
    case JINJA_INT:
    case JINJA_BIG:
    case JINJA_FLOAT:
        sb_addc(b, '"');
        if (key.type == JINJA_FLOAT)
            add_float(b, key.u.d);
        else
            text_add_int(b, key);
        sb_addc(b, '"');
        return 0;
    default:
        return run_fail(b->r, "keys must be str, int, float, bool or None, not %s",
                        jinja_type_name(key.type));
    }
}

static int by_key(const void *a, const void *b)
{
    const struct jinja_entry *x = *(const struct jinja_entry *const *)a;
    const struct jinja_entry *y = *(const struct jinja_entry *const *)b;
    if (x->key.type == JINJA_STRING)
        return str_cmp(jinja_str(x->key), jinja_str(y->key));
    return value_compare_numbers(x->key, y->key);
}

static int sorted_entries(struct run *r, const struct jinja_dict *d,
                          const struct jinja_entry ***out)
{
    const struct jinja_entry **e = run_alloc(r, (d->n + 1) * sizeof(*e));
    if (!e)
        return -1;
    for (uint32_t i = 0; i < d->n; i++) {
        e[i] = &d->entries[i];
        bool text = d->entries[i].key.type == JINJA_STRING;
        if (text != (d->entries[0].key.type == JINJA_STRING) ||
            (!text && !value_is_number(d->entries[i].key)))
            return run_fail(r, "'<' not supported between keys of type '%s' and '%s'",
                            jinja_type_name(d->entries[0].key.type),
                            jinja_type_name(d->entries[i].key.type));
    }
    qsort(e, d->n, sizeof(*e), by_key);
    *out = e;
    return run_charge(r, d->n * 64);
}

static int add_dict(struct sb *b, const struct jinja_dict *d, const struct json_style *style,
                    unsigned level)
{
    const struct jinja_entry **sorted = NULL;
    if (style->sort_keys && d->n && sorted_entries(b->r, d, &sorted) < 0)
        return -1;
    sb_addc(b, '{');
    for (uint32_t i = 0; i < d->n; i++) {
        const struct jinja_entry *e = sorted ? sorted[i] : &d->entries[i];
        if (i)
            sb_add(b, style->item);
        new_line(b, style, level + 1);
        if (add_key(b, e->key, style) < 0)
            return -1;
        sb_add(b, style->key);
        if (add_value(b, e->value, style, level + 1) < 0)
            return -1;
    }
    if (d->n)
        new_line(b, style, level);
    sb_addc(b, '}');
    return 0;
}

static int add_list(struct sb *b, const struct jinja_list *l, const struct json_style *style,
                    unsigned level)
{
    sb_addc(b, '[');
    for (uint32_t i = 0; i < l->n; i++) {
        if (i)
            sb_add(b, style->item);
        new_line(b, style, level + 1);
        if (add_value(b, l->items[i], style, level + 1) < 0)
            return -1;
    }
    if (l->n)
        new_line(b, style, level);
    sb_addc(b, ']');
    return 0;
}

static int add_value(struct sb *b, struct jinja_value v, const struct json_style *style,
                     unsigned level)
{
    int rc;
    if (run_charge(b->r, 0) < 0)
        return -1;
    switch ((enum jinja_type)v.type) {
    case JINJA_NONE:
        sb_add(b, STR("null"));
        break;
    case JINJA_BOOL:
        sb_add(b, v.u.b ? STR("true") : STR("false"));
        break;
    case JINJA_INT:
    case JINJA_BIG:
        text_add_int(b, v);
        break;
    case JINJA_FLOAT:
        add_float(b, v.u.d);
        break;
    case JINJA_STRING:
        add_string(b, jinja_str(v), style->ensure_ascii);
        break;
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_DICT:
        if (level >= JINJA_DEPTH_MAX)
            return run_limit(b->r, "JSON nested deeper than %d", JINJA_DEPTH_MAX);
        if (run_deeper(b->r) < 0)
            return -1;
        rc = v.type == JINJA_DICT ? add_dict(b, v.u.dict, style, level)
                                  : add_list(b, v.u.list, style, level);
        b->r->depth--;
        if (rc < 0)
            return -1;
        break;
    default:
        return run_fail(b->r, "object of type %s is not JSON serializable",
                        jinja_type_name(v.type));
    }
    return b->failed ? -1 : 0;
}

int text_json(struct run *r, struct jinja_value v, const struct json_style *style,
              struct jinja_value *out)
{
    struct sb b = sb_start(r);
    return add_value(&b, v, style, 0) < 0 ? -1 : sb_end(&b, out);
}
