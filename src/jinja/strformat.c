/* str.format: replacement fields, conversions, format specifications. */
#include "base/utf8.h"
#include "jinja/call.h"
#include "jinja/ops.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

#define FIELD_NESTING 2 /* a field, and fields in its specification, as in Python */

struct formatter {
    struct run *r;
    const struct args *args;
    int64_t next; /* number of the next unnamed field; -1 once fields are numbered by hand */
    bool markup;
};

static int format_into(struct formatter *f, struct sb *b, struct str s, unsigned nesting);

/* A run of digits as a number, or -1. */
static int64_t all_digits(struct str s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || n > (int64_t)JINJA_ITEMS_MAX)
            return -1;
        n = n * 10 + (s.p[i] - '0');
    }
    return s.n ? n : -1;
}

static int first_value(struct formatter *f, struct str name, struct jinja_value *out)
{
    int64_t index = all_digits(name);
    if (name.n == 0) {
        if (f->next < 0)
            return run_fail(f->r, "cannot switch from manual field specification to automatic "
                                  "field numbering");
        index = f->next++;
    } else if (index >= 0) {
        if (f->next > 0)
            return run_fail(f->r, "cannot switch from automatic field numbering to manual field "
                                  "specification");
        f->next = -1;
    } else {
        const struct jinja_value *v = args_keyword(f->args, name);
        if (!v)
            return run_fail(f->r, "format names '%.*s', which is not given", STR_ARG(name));
        *out = *v;
        return 0;
    }
    if (index >= f->args->n_pos)
        return run_fail(f->r, "replacement index %lld out of range for positional args",
                        (long long)index);
    *out = f->args->pos[index];
    return 0;
}

/* "name.attr[key]" */
static int field_value(struct formatter *f, struct str field, struct jinja_value *out)
{
    size_t at = 0;
    while (at < field.n && field.p[at] != '.' && field.p[at] != '[')
        at++;
    if (first_value(f, str_first(field, at), out) < 0)
        return -1;
    while (at < field.n) {
        bool item = field.p[at++] == '[';
        size_t from = at;
        while (at < field.n &&
               (item ? field.p[at] != ']' : field.p[at] != '.' && field.p[at] != '['))
            at++;
        struct str part = {field.p + from, at - from};
        if (part.n == 0 || (item && at == field.n))
            return run_fail(f->r, "empty attribute in format string");
        at += item ? 1 : 0;
        int64_t index = item ? all_digits(part) : -1;
        if (get_item(f->r, *out, index >= 0 ? jinja_int(index) : jinja_string(part), out) < 0)
            return -1;
        if (out->type == JINJA_UNDEFINED)
            return run_undefined(f->r, *out);
    }
    return 0;
}

static int parse_spec(struct formatter *f, struct str s, struct spec *spec)
{
    uint32_t cp;
    size_t n = s.n ? uni_next(s, 0, &cp) : 0;
    *spec = (struct spec){.precision = -1};
    if (n && n < s.n && strchr("<>=^", s.p[n])) {
        spec->fill = cp;
        spec->align = s.p[n];
        s = str_skip(s, n + 1);
    } else if (n && strchr("<>=^", s.p[0])) {
        spec->align = s.p[0];
        s = str_skip(s, 1);
    }
    if (s.n && strchr("+- ", s.p[0])) {
        spec->sign = s.p[0] == '-' ? '\0' : s.p[0];
        s = str_skip(s, 1);
    }
    if (s.n && s.p[0] == '#') {
        spec->alternate = true;
        s = str_skip(s, 1);
    }
    if (s.n && s.p[0] == '0') {
        spec->zero = true;
        s = str_skip(s, 1);
    }
    for (; s.n && s.p[0] >= '0' && s.p[0] <= '9'; s = str_skip(s, 1))
        if (spec->width <= JINJA_WIDTH_MAX)
            spec->width = spec->width * 10 + (s.p[0] - '0');
    if (s.n && (s.p[0] == ',' || s.p[0] == '_')) {
        spec->group = s.p[0];
        s = str_skip(s, 1);
    }
    if (s.n && s.p[0] == '.') {
        spec->precision = 0;
        size_t digits = 0;
        for (s = str_skip(s, 1); s.n && s.p[0] >= '0' && s.p[0] <= '9'; s = str_skip(s, 1)) {
            digits++;
            if (spec->precision <= JINJA_WIDTH_MAX)
                spec->precision = spec->precision * 10 + (s.p[0] - '0');
        }
        if (!digits)
            return run_fail(f->r, "format specifier is missing its precision");
    }
    if (s.n > 1)
        return run_fail(f->r, "invalid format specifier");
    spec->type = s.n ? s.p[0] : '\0';
    if (spec->width > JINJA_WIDTH_MAX || spec->precision > JINJA_WIDTH_MAX)
        return run_limit(f->r, "a width or precision above %d", JINJA_WIDTH_MAX);
    return 0;
}

static int add_formatted(struct formatter *f, struct sb *b, struct jinja_value v, struct str spec)
{
    struct spec s;
    if (spec.n == 0)
        return text_add_str(b, v);
    if (parse_spec(f, spec, &s) < 0)
        return -1;
    if (value_is_number(v))
        return text_add_number(b, v, &s, false);
    if (v.type != JINJA_STRING)
        return run_fail(f->r, "unsupported format string passed to %s.__format__",
                        jinja_type_name(v.type));
    if (s.type && s.type != 's')
        return run_fail(f->r, "unknown format code '%c' for object of type 'str'", s.type);
    if (s.align == '=' || s.sign || s.alternate || s.group)
        return run_fail(f->r, "a format specifier that strings do not have");
    if (s.zero && !s.fill)
        s.fill = '0';
    struct str text = jinja_str(v);
    if (s.precision >= 0)
        text = str_first(text, uni_offset(text, (size_t)s.precision));
    text_add_padded(b, text, &s);
    return b->failed ? -1 : 0;
}

/* What stands between braces, without them. */
static int add_field(struct formatter *f, struct sb *b, struct str field, unsigned nesting)
{
    size_t at = 0;
    struct jinja_value v, spec = jinja_string(STR(""));
    struct sb text = sb_start(f->r);
    for (bool inside = false; at < field.n; at++) {
        char c = field.p[at];
        inside = c == '[' || (inside && c != ']');
        if (!inside && (c == ':' || c == '!'))
            break;
    }
    if (field_value(f, str_first(field, at), &v) < 0)
        return -1;
    if (at < field.n && field.p[at] == '!') {
        char c = at + 1 < field.n ? field.p[at + 1] : '\0';
        if (!c || !strchr("sra", c) || (at + 2 < field.n && field.p[at + 2] != ':'))
            return run_fail(f->r, "expected ':' or a conversion (s, r, a) after '!'");
        int rc = c == 's' ? text_add_str(&text, v) : text_add_repr(&text, v);
        if (rc < 0 || sb_end(&text, &v) < 0)
            return -1;
        at += 2;
    }
    if (at < field.n) {
        text = sb_start(f->r);
        if (format_into(f, &text, str_skip(field, at + 1), nesting + 1) < 0 ||
            sb_end(&text, &spec) < 0)
            return -1;
    }
    if (!f->markup || (v.type == JINJA_STRING && (v.flags & JINJA_MARKUP)))
        return add_formatted(f, b, v, jinja_str(spec));
    text = sb_start(f->r);
    if (add_formatted(f, &text, v, jinja_str(spec)) < 0)
        return -1;
    text_add_escaped(b, (struct str){text.p ? text.p : "", text.n});
    return b->failed ? -1 : 0;
}

static int format_into(struct formatter *f, struct sb *b, struct str s, unsigned nesting)
{
    if (nesting > FIELD_NESTING)
        return run_fail(f->r, "max string recursion exceeded");
    for (size_t at = 0; at < s.n;) {
        char c = s.p[at];
        if (c != '{' && c != '}') {
            size_t from = at;
            while (at < s.n && s.p[at] != '{' && s.p[at] != '}')
                at++;
            sb_add(b, (struct str){s.p + from, at - from});
            continue;
        }
        if (at + 1 < s.n && s.p[at + 1] == c && nesting == 0) {
            sb_addc(b, c);
            at += 2;
            continue;
        }
        if (c == '}')
            return run_fail(f->r, "single '}' encountered in format string");
        size_t from = ++at, depth = 1;
        for (; at < s.n && depth; at++)
            depth += s.p[at] == '{' ? 1 : s.p[at] == '}' ? (size_t)-1 : 0;
        if (depth)
            return run_fail(f->r, "expected '}' before end of string");
        if (add_field(f, b, (struct str){s.p + from, at - from - 1}, nesting) < 0)
            return -1;
    }
    return b->failed ? -1 : run_charge(f->r, s.n);
}

int text_format(struct run *r, struct jinja_value format, const struct args *args,
                struct jinja_value *out)
{
    struct formatter f = {.r = r, .args = args, .markup = format.flags & JINJA_MARKUP};
    struct sb b = sb_start(r);
    if (format_into(&f, &b, jinja_str(format), 0) < 0 || sb_end(&b, out) < 0)
        return -1;
    out->flags = format.flags;
    return 0;
}
