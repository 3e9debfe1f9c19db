#include "jinja/str_methods.h"

#include "jinja/methods.h"
#include "jinja/ops.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

static int need_str(struct run *r, struct jinja_value v, const char *what)
{
    if (v.type == JINJA_STRING)
        return 0;
    if (v.type == JINJA_UNDEFINED)
        return run_undefined(r, v);
    return run_fail(r, "%s must be str, not %s", what, jinja_type_name(v.type));
}

/* The part of self that [start, end) names, and the byte and code point it begins at. */
static int window(struct run *r, struct jinja_value self, struct jinja_value start,
                  struct jinja_value end, struct str *out, int64_t *first)
{
    int64_t n, from, to;
    struct jinja_value none = {0};
    if (op_length(r, self, &n) < 0 ||
        need_int(r, start.type == JINJA_NONE ? none : start, 0, &from) < 0 ||
        need_int(r, end.type == JINJA_NONE ? none : end, n, &to) < 0)
        return -1;
    from = from < 0 ? from + n < 0 ? 0 : from + n : from;
    to = to < 0 ? to + n : to > n ? n : to;
    *first = from;
    if (from > n || from > to) {
        *out = (struct str){0}; /* p NULL: not even the empty string is found here */
        return 0;
    }
    struct str s = jinja_str(self);
    s = str_skip(s, uni_offset(s, (size_t)from));
    *out = str_first(s, uni_offset(s, (size_t)(to - from)));
    return 0;
}

static int count_in(struct run *r, struct str hay, struct str needle, int64_t *n)
{
    size_t at = 0, hit;
    *n = 0;
    if (needle.n == 0) {
        struct jinja_value v = jinja_string(hay);
        int rc = op_length(r, v, n);
        *n += 1;
        return rc;
    }
    for (;; at = hit + needle.n, ++*n) {
        if (find_text(r, hay, needle, at, &hit) < 0)
            return -1;
        if (hit == STR_NONE)
            return 0;
    }
}

STR_METHOD(str_find_method)
{
    struct str in;
    int64_t first, n;
    size_t hit = STR_NONE;
    (void)args;
    if (need_str(r, v[0], "the substring") < 0 || window(r, self, v[1], v[2], &in, &first) < 0)
        return -1;
    if (m->variant == FIND_COUNT) {
        n = 0;
        if (in.p && count_in(r, in, jinja_str(v[0]), &n) < 0)
            return -1;
        *out = jinja_int(n);
        return 0;
    }
    bool last = m->variant == FIND_LAST || m->variant == FIND_RINDEX;
    if (in.p && (last ? find_last(r, in, jinja_str(v[0]), in.n, &hit)
                      : find_text(r, in, jinja_str(v[0]), 0, &hit)) < 0)
        return -1;
    if (hit == STR_NONE && (m->variant == FIND_INDEX || m->variant == FIND_RINDEX))
        return run_fail(r, "substring not found");
    if (hit == STR_NONE) {
        *out = jinja_int(-1);
        return 0;
    }
    if (op_length(r, jinja_string(str_first(in, hit)), &n) < 0)
        return -1;
    *out = jinja_int(first + n);
    return 0;
}

STR_METHOD(str_starts_method)
{
    struct str in;
    int64_t first;
    const struct jinja_value *each = &v[0];
    uint32_t n = 1;
    bool yes = false;
    (void)args;
    if (window(r, self, v[1], v[2], &in, &first) < 0)
        return -1;
    if (v[0].type == JINJA_TUPLE) {
        each = v[0].u.list->items;
        n = v[0].u.list->n;
    }
    for (uint32_t i = 0; i < n && !yes; i++) {
        if (each[i].type == JINJA_UNDEFINED)
            return run_undefined(r, each[i]);
        if (each[i].type != JINJA_STRING)
            return run_fail(r, "%s first arg must be str or a tuple of str, not %s", m->name,
                            jinja_type_name(each[i].type));
        yes = in.p &&
              (m->variant ? str_ends(in, jinja_str(each[i])) : str_starts(in, jinja_str(each[i])));
    }
    *out = jinja_bool(yes);
    return 0;
}

STR_METHOD(str_strip_method)
{
    struct str chars;
    bool given = v[0].type != JINJA_MISSING && v[0].type != JINJA_NONE;
    (void)args;
    if (given && need_str(r, v[0], "strip arg") < 0)
        return -1;
    chars = given ? jinja_str(v[0]) : STR("");
    return str_strip(r, self, given ? &chars : NULL, m->variant & 1, m->variant & 2, out);
}

STR_METHOD(str_split_method)
{
    struct str sep;
    int64_t max;
    bool given = v[0].type != JINJA_MISSING && v[0].type != JINJA_NONE;
    (void)args;
    if ((given && need_str(r, v[0], "the separator") < 0) || need_int(r, v[1], -1, &max) < 0)
        return -1;
    sep = given ? jinja_str(v[0]) : STR("");
    return str_split(r, self, given ? &sep : NULL, max < 0 ? -1 : max, m->variant == 1, out);
}

STR_METHOD(str_lines_method)
{
    (void)args, (void)m;
    return str_lines(r, self, op_truth(v[0]), out);
}

STR_METHOD(str_partition_method)
{
    struct str s = jinja_str(self), sep;
    size_t hit;
    (void)args;
    if (need_str(r, v[0], "the separator") < 0)
        return -1;
    sep = jinja_str(v[0]);
    if (sep.n == 0)
        return run_fail(r, "empty separator");
    if ((m->variant ? find_last(r, s, sep, s.n, &hit) : find_text(r, s, sep, 0, &hit)) < 0 ||
        list_start(r, out, JINJA_TUPLE, 3) < 0)
        return -1;
    struct str parts[3] = {s, STR(""), STR("")};
    if (hit != STR_NONE) {
        parts[0] = str_first(s, hit);
        parts[1] = sep;
        parts[2] = str_skip(s, hit + sep.n);
    } else if (m->variant) {
        parts[0] = STR("");
        parts[2] = s;
    }
    for (int i = 0; i < 3; i++) {
        struct jinja_value part = jinja_string(parts[i]);
        part.flags = self.flags;
        out->u.list->items[out->u.list->n++] = part;
    }
    return 0;
}

STR_METHOD(str_replace_method)
{
    int64_t count;
    (void)args, (void)m;
    if (need_str(r, v[0], "replace() argument 1") < 0 ||
        need_str(r, v[1], "replace() argument 2") < 0 || need_int(r, v[2], -1, &count) < 0)
        return -1;
    return str_replace(r, self, jinja_str(v[0]), jinja_str(v[1]), count < 0 ? -1 : count, out);
}

STR_METHOD(str_remove_method)
{
    struct str s = jinja_str(self), part;
    (void)args;
    if (need_str(r, v[0], "the argument") < 0)
        return -1;
    part = jinja_str(v[0]);
    if (m->variant ? str_ends(s, part) : str_starts(s, part))
        s = m->variant ? str_first(s, s.n - part.n) : str_skip(s, part.n);
    *out = jinja_string(s);
    out->flags = self.flags;
    return 0;
}

STR_METHOD(str_join_method)
{
    (void)args, (void)m;
    if (str_join(r, self, v[0], false, out) < 0)
        return -1;
    out->flags = self.flags;
    return 0;
}

STR_METHOD(str_format_method)
{
    (void)m, (void)v;
    return text_format(r, self, args, out);
}

STR_METHOD(str_case_method)
{
    (void)args, (void)v;
    return str_case(r, self, (enum str_case)m->variant, out);
}

STR_METHOD(str_pad_method)
{
    int64_t width;
    uint32_t fill = ' ';
    (void)args;
    if (need_int(r, v[0], 0, &width) < 0)
        return -1;
    if (v[1].type != JINJA_MISSING) {
        if (v[1].type != JINJA_STRING || v[1].n == 0 ||
            uni_next(jinja_str(v[1]), 0, &fill) != v[1].n)
            return run_fail(r, "the fill character must be exactly one character long");
    }
    return str_pad(r, self, width, fill, (char)m->variant, out);
}

STR_METHOD(str_zfill_method)
{
    int64_t width, n;
    struct sb b = sb_start(r);
    struct str s = jinja_str(self);
    bool sign = s.n && (s.p[0] == '+' || s.p[0] == '-');
    (void)args, (void)m;
    if (need_int(r, v[0], 0, &width) < 0 || op_length(r, self, &n) < 0)
        return -1;
    if (width > JINJA_WIDTH_MAX)
        return run_limit(r, "a width above %d", JINJA_WIDTH_MAX);
    sb_add(&b, str_first(s, sign ? 1 : 0));
    if (width > n)
        sb_pad(&b, '0', (size_t)(width - n));
    sb_add(&b, str_skip(s, sign ? 1 : 0));
    if (sb_end(&b, out) < 0)
        return -1;
    out->flags = self.flags;
    return 0;
}

STR_METHOD(str_expandtabs_method)
{
    struct sb b = sb_start(r);
    struct str s = jinja_str(self);
    int64_t size, column = 0;
    (void)args, (void)m;
    if (need_int(r, v[0], 8, &size) < 0)
        return -1;
    if (size > JINJA_WIDTH_MAX)
        return run_limit(r, "a width above %d", JINJA_WIDTH_MAX);
    for (size_t at = 0; at < s.n;) {
        uint32_t cp;
        size_t n = uni_next(s, at, &cp);
        if (cp == '\t') {
            int64_t gap = size > 0 ? size - column % size : 0;
            sb_pad(&b, ' ', (size_t)gap);
            column += gap;
        } else {
            sb_add(&b, (struct str){s.p + at, n});
            column = cp == '\n' || cp == '\r' ? 0 : column + 1;
        }
        at += n;
    }
    if (sb_end(&b, out) < 0)
        return -1;
    out->flags = self.flags;
    return 0;
}

static bool is_ascii_char(uint32_t cp)
{
    return cp < 0x80;
}

static bool is_word_char(uint32_t cp)
{
    return cp == '_' || uni_is_alnum(cp);
}

STR_METHOD(str_is_method)
{
    static bool (*const predicates[])(uint32_t) = {
        [IS_ALPHA] = uni_is_alpha,      [IS_ALNUM] = uni_is_alnum,
        [IS_DIGIT] = uni_is_digit,      [IS_DECIMAL] = uni_is_decimal,
        [IS_NUMERIC] = uni_is_numeric,  [IS_SPACE] = uni_is_space,
        [IS_ASCII] = is_ascii_char,     [IS_PRINTABLE] = uni_is_printable,
        [IS_IDENTIFIER] = is_word_char,
    };
    struct str s = jinja_str(self);
    uint32_t cp;
    bool empty_is = m->variant == IS_PRINTABLE || m->variant == IS_ASCII, yes = s.n || empty_is;
    (void)args, (void)v;
    for (size_t at = 0; yes && at < s.n;) {
        at += uni_next(s, at, &cp);
        yes = predicates[m->variant](cp);
    }
    if (m->variant == IS_IDENTIFIER && s.n && uni_next(s, 0, &cp) && uni_is_numeric(cp))
        yes = false;
    *out = jinja_bool(yes);
    return run_charge(r, s.n);
}

/* islower, isupper, istitle */
STR_METHOD(str_is_cased_method)
{
    (void)args, (void)v;
    *out = jinja_bool(str_is_cased(jinja_str(self), (enum cased_kind)m->variant));
    return run_charge(r, self.n);
}
