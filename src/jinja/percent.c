/* "format" % values. */
#include "base/utf8.h"
#include "jinja/ops.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

struct percent {
    struct run *r;
    struct sb out;
    struct str format;
    size_t at;
    bool markup;
    struct jinja_value values; /* a tuple, or the mapping, or the only one */
    uint32_t used;
};

static int next_value(struct percent *p, struct jinja_value *out)
{
    const struct jinja_value v = p->values;
    uint32_t n = v.type == JINJA_TUPLE ? v.u.list->n : 1;
    if (p->used >= n)
        return run_fail(p->r, "not enough arguments for format string");
    *out = v.type == JINJA_TUPLE ? v.u.list->items[p->used] : v;
    p->used++;
    return 0;
}

static int named_value(struct percent *p, struct jinja_value *out)
{
    size_t from = ++p->at, depth = 1;
    for (; p->at < p->format.n && depth; p->at++)
        depth += p->format.p[p->at] == '(' ? 1 : p->format.p[p->at] == ')' ? (size_t)-1 : 0;
    if (depth)
        return run_fail(p->r, "incomplete format key");
    struct jinja_value key = jinja_string((struct str){p->format.p + from, p->at - from - 1});
    if (p->values.type != JINJA_DICT)
        return run_fail(p->r, "format requires a mapping");
    const struct jinja_value *v = jinja_dict_get(p->values, jinja_str(key));
    if (!v)
        return run_fail(p->r, "format key '%.*s' is not there", STR_ARG(jinja_str(key)));
    *out = *v;
    p->used = 1;
    return 0;
}

static int number(struct percent *p, int64_t *out)
{
    int64_t n = 0;
    if (p->at < p->format.n && p->format.p[p->at] == '*') {
        struct jinja_value v;
        p->at++;
        if (next_value(p, &v) < 0)
            return -1;
        if (as_index(v, out) < 0)
            return run_fail(p->r, "* wants int");
        return 0;
    }
    for (; p->at < p->format.n && p->format.p[p->at] >= '0' && p->format.p[p->at] <= '9'; p->at++)
        if (n <= JINJA_WIDTH_MAX)
            n = n * 10 + (p->format.p[p->at] - '0');
    *out = n;
    return 0;
}

static void flags(struct percent *p, struct spec *s)
{
    for (; p->at < p->format.n; p->at++) {
        char c = p->format.p[p->at];
        if (c == '-')
            s->align = '<';
        else if (c == '+')
            s->sign = '+';
        else if (c == ' ')
            s->sign = s->sign ? s->sign : ' ';
        else if (c == '#')
            s->alternate = true;
        else if (c == '0')
            s->zero = true;
        else
            break;
    }
}

static int add_text(struct percent *p, struct jinja_value v, const struct spec *s)
{
    struct sb *b = &p->out, text = sb_start(p->r);
    struct jinja_value t;
    if (s->type == 's') {
        if (text_soft(p->r, v, &t) < 0)
            return -1;
    } else if (text_add_repr(&text, v) < 0 || sb_end(&text, &t) < 0) {
        return -1;
    }
    struct str str = jinja_str(t);
    if (s->precision >= 0)
        str = str_first(str, uni_offset(str, (size_t)s->precision));
    if (p->markup && !(t.flags & JINJA_MARKUP)) {
        text = sb_start(p->r);
        text_add_escaped(&text, str);
        if (sb_end(&text, &t) < 0)
            return -1;
        str = jinja_str(t);
    }
    struct spec plain = {.align = s->align ? s->align : '>', .width = s->width};
    text_add_padded(b, str, &plain);
    return b->failed ? -1 : 0;
}

/* One conversion; p->at stands behind the '%'. */
static int conversion(struct percent *p)
{
    struct spec s = {.precision = -1};
    struct jinja_value v = {0};
    bool named = p->at < p->format.n && p->format.p[p->at] == '(';
    if (named && named_value(p, &v) < 0)
        return -1;
    flags(p, &s);
    if (number(p, &s.width) < 0)
        return -1;
    if (s.width < 0) {
        s.align = '<';
        s.width = s.width < -JINJA_WIDTH_MAX ? JINJA_WIDTH_MAX + 1 : -s.width;
    }
    if (p->at < p->format.n && p->format.p[p->at] == '.') {
        p->at++;
        if (number(p, &s.precision) < 0)
            return -1;
        if (s.precision < 0)
            s.precision = 0;
    }
    while (p->at < p->format.n && strchr("hlL", p->format.p[p->at]))
        p->at++;
    if (p->at == p->format.n)
        return run_fail(p->r, "incomplete format");
    s.type = p->format.p[p->at++];
    if (s.type == '%') {
        sb_addc(&p->out, '%');
        return 0;
    }
    if (s.width > JINJA_WIDTH_MAX)
        return run_limit(p->r, "a width above %d", JINJA_WIDTH_MAX);
    if (!named && next_value(p, &v) < 0)
        return -1;
    if (strchr("sra", s.type))
        return add_text(p, v, &s);
    if (!strchr("diouxXeEfFgGc", s.type))
        return run_fail(p->r, "unsupported format character '%c'", s.type);
    if (s.type == 'c' && v.type == JINJA_STRING) {
        s.type = 's';
        return add_text(p, v, &s);
    }
    if (!value_is_number(v))
        return run_fail(p->r, "%%%c format: a real number is required, not %s", s.type,
                        jinja_type_name(v.type));
    if (s.align == '<')
        s.zero = false;
    return text_add_number(&p->out, v, &s, true);
}

int text_percent(struct run *r, struct jinja_value format, struct jinja_value values,
                 struct jinja_value *out)
{
    struct percent p = {
        .r = r,
        .out = sb_start(r),
        .format = jinja_str(format),
        .markup = format.flags & JINJA_MARKUP,
        .values = values,
    };
    while (p.at < p.format.n) {
        size_t n = str_find_char(str_skip(p.format, p.at), '%');
        n = n == STR_NONE ? p.format.n - p.at : n;
        sb_add(&p.out, str_first(str_skip(p.format, p.at), n));
        p.at += n + 1;
        if (p.at <= p.format.n && conversion(&p) < 0)
            return -1;
    }
    bool mapping = values.type == JINJA_DICT || values.type == JINJA_LIST ||
                   values.type == JINJA_RANGE || values.type == JINJA_UNDEFINED;
    uint32_t n = values.type == JINJA_TUPLE ? values.u.list->n : 1;
    if (!mapping && p.used < n)
        return run_fail(r, "not all arguments converted during string formatting");
    if (sb_end(&p.out, out) < 0)
        return -1;
    out->flags = format.flags;
    return 0;
}
