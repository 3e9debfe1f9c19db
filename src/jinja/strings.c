#include "jinja/strings.h"

#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

int need_int(struct run *r, struct jinja_value v, int64_t fallback, int64_t *out)
{
    *out = fallback;
    if (v.type == JINJA_MISSING || as_index(v, out) == 0)
        return 0;
    if (v.type == JINJA_UNDEFINED)
        return run_undefined(r, v);
    return run_fail(r, "'%s' object cannot be interpreted as an integer", jinja_type_name(v.type));
}

/* A capital sigma ends a word: a cased letter before it, none behind, ignorable ones skipped. */
static bool is_final_sigma(struct str s, size_t at, size_t after)
{
    uint32_t cp = 0;
    bool before = false;
    while (at > 0 && !before) {
        at = uni_prev(s, at, &cp);
        if (uni_is_case_ignorable(cp))
            continue;
        if (!uni_is_cased(cp))
            return false;
        before = true;
    }
    while (before && after < s.n) {
        after += uni_next(s, after, &cp);
        if (!uni_is_case_ignorable(cp))
            return !uni_is_cased(cp);
    }
    return before;
}

static void add_lower(struct sb *b, struct str s, size_t at, size_t n, uint32_t cp)
{
    uint32_t to[UNI_CASE_MAX];
    if (cp == 0x3A3) {
        sb_add_cp(b, is_final_sigma(s, at, at + n) ? 0x3C2 : 0x3C3);
        return;
    }
    size_t count = uni_lower(to, cp);
    for (size_t i = 0; i < count; i++)
        sb_add_cp(b, to[i]);
}

int str_case(struct run *r, struct jinja_value v, enum str_case how, struct jinja_value *out)
{
    struct sb b = sb_start(r);
    struct str s = jinja_str(v);
    bool word = false; /* a cased character stood before */
    if (!sb_reserve(&b, s.n))
        return -1;
    for (size_t at = 0; at < s.n;) {
        uint32_t cp, to[UNI_CASE_MAX];
        size_t n = uni_next(s, at, &cp), count = 0;
        bool first = how == CASE_CAPITALIZE ? at == 0 : how == CASE_TITLE && !word;
        if (how == CASE_UPPER || (how == CASE_SWAP && uni_is_lower(cp)))
            count = uni_upper(to, cp);
        else if (how == CASE_FOLD)
            count = uni_fold(to, cp);
        else if (first)
            count = uni_title(to, cp);
        else if (how != CASE_SWAP || uni_is_upper(cp))
            add_lower(&b, s, at, n, cp);
        else
            sb_add(&b, (struct str){s.p + at, n});
        for (size_t i = 0; i < count; i++)
            sb_add_cp(&b, to[i]);
        word = uni_is_cased(cp);
        at += n;
    }
    if (sb_end(&b, out) < 0)
        return -1;
    out->flags = v.flags;
    return 0;
}

static bool has_char(struct str chars, uint32_t cp)
{
    uint32_t c;
    for (size_t at = 0; at < chars.n;) {
        at += uni_next(chars, at, &c);
        if (c == cp)
            return true;
    }
    return false;
}

int str_strip(struct run *r, struct jinja_value v, const struct str *chars, bool left, bool right,
              struct jinja_value *out)
{
    struct str s = jinja_str(v);
    size_t before = s.n;
    uint32_t cp;
    if (!chars) {
        s = uni_strip(s, left, right);
    } else {
        while (left && s.n) {
            size_t n = uni_next(s, 0, &cp);
            if (!has_char(*chars, cp))
                break;
            s = str_skip(s, n);
            r->steps += chars->n >> CHARGE_SHIFT;
        }
        while (right && s.n) {
            size_t at = uni_prev(s, s.n, &cp);
            if (!has_char(*chars, cp))
                break;
            s.n = at;
            r->steps += chars->n >> CHARGE_SHIFT;
        }
    }
    *out = jinja_string(s);
    out->flags = v.flags;
    return run_charge(r, before - s.n);
}

int str_replace(struct run *r, struct jinja_value v, struct str old, struct str to, int64_t count,
                struct jinja_value *out)
{
    struct sb b = sb_start(r);
    struct str s = jinja_str(v);
    size_t at = 0, hit = 0;
    uint32_t cp;
    bool any = false;
    for (; count != 0; count--) {
        if (old.n == 0) { /* between all characters */
            hit = at;
        } else {
            if (find_text(r, s, old, at, &hit) < 0)
                return -1;
            if (hit == STR_NONE)
                break;
        }
        any = true;
        sb_add(&b, (struct str){s.p + at, hit - at});
        sb_add(&b, to);
        at = hit + old.n;
        if (old.n == 0) {
            if (at == s.n)
                break;
            size_t n = uni_next(s, at, &cp);
            sb_add(&b, (struct str){s.p + at, n});
            at += n;
        }
        if (b.failed || run_charge(r, 0) < 0)
            return -1;
    }
    if (!any) {
        *out = v;
        return 0;
    }
    sb_add(&b, str_skip(s, at));
    if (sb_end(&b, out) < 0)
        return -1;
    out->flags = v.flags;
    return 0;
}

int find_last(struct run *r, struct str hay, struct str needle, size_t end, size_t *out)
{
    *out = STR_NONE;
    if (end > hay.n)
        end = hay.n;
    if (needle.n > end)
        return 0;
    for (size_t at = end - needle.n + 1; at-- > 0;) {
        size_t same = 0;
        while (same < needle.n && hay.p[at + same] == needle.p[same])
            same++;
        r->steps += same >> CHARGE_SHIFT;
        if (same == needle.n) {
            *out = at;
            break;
        }
    }
    return run_charge(r, *out == STR_NONE ? end : end - *out);
}

static int add_part(struct run *r, struct jinja_value list, struct jinja_value v, size_t from,
                    size_t to)
{
    struct jinja_value part = jinja_string((struct str){v.u.p + from, to - from});
    part.flags = v.flags;
    return list_append(r, list, part);
}

static int split_left(struct run *r, struct jinja_value v, struct str sep, int64_t max,
                      struct jinja_value list)
{
    size_t at = 0, hit;
    for (; max != 0; max--) {
        if (find_text(r, jinja_str(v), sep, at, &hit) < 0)
            return -1;
        if (hit == STR_NONE)
            break;
        if (add_part(r, list, v, at, hit) < 0)
            return -1;
        at = hit + sep.n;
    }
    return add_part(r, list, v, at, v.n);
}

static void reverse(struct jinja_list *l)
{
    for (uint32_t i = 0, k = l->n; i + 1 < k; i++) {
        struct jinja_value t = l->items[i];
        l->items[i] = l->items[--k];
        l->items[k] = t;
    }
}

static int split_right(struct run *r, struct jinja_value v, struct str sep, int64_t max,
                       struct jinja_value list)
{
    size_t end = v.n, hit;
    for (; max != 0; max--) {
        /* The search begins at the end: charge what it reads, not the whole string. */
        if (find_last(r, jinja_str(v), sep, end, &hit) < 0)
            return -1;
        if (hit == STR_NONE)
            break;
        if (add_part(r, list, v, hit + sep.n, end) < 0)
            return -1;
        end = hit;
    }
    if (add_part(r, list, v, 0, end) < 0)
        return -1;
    reverse(list.u.list);
    return 0;
}

/* Words between white space; what is left after max splits keeps its inner white space. */
static int split_space(struct run *r, struct jinja_value v, int64_t max, bool from_right,
                       struct jinja_value list)
{
    struct str s = jinja_str(v);
    uint32_t cp;
    for (;; max--) {
        s = uni_strip(s, !from_right, from_right);
        if (s.n == 0)
            break;
        size_t from = from_right ? s.n : 0, next;
        if (max == 0) {
            if (add_part(r, list, v, (size_t)(s.p - v.u.p), (size_t)(s.p - v.u.p) + s.n) < 0)
                return -1;
            break;
        }
        while (from_right ? from > 0 : from < s.n) {
            next = from_right ? uni_prev(s, from, &cp) : from + uni_next(s, from, &cp);
            if (uni_is_space(cp))
                break;
            from = next;
        }
        size_t base = (size_t)(s.p - v.u.p);
        if (add_part(r, list, v, from_right ? base + from : base,
                     base + (from_right ? s.n : from)) < 0)
            return -1;
        s = from_right ? str_first(s, from) : str_skip(s, from);
    }
    if (from_right)
        reverse(list.u.list);
    return run_charge(r, v.n);
}

int str_split(struct run *r, struct jinja_value v, const struct str *sep, int64_t max,
              bool from_right, struct jinja_value *out)
{
    struct jinja_value list;
    if (list_start(r, &list, JINJA_LIST, 0) < 0)
        return -1;
    if (sep && sep->n == 0)
        return run_fail(r, "empty separator");
    int rc = !sep         ? split_space(r, v, max, from_right, list)
             : from_right ? split_right(r, v, *sep, max, list)
                          : split_left(r, v, *sep, max, list);
    if (rc == 0)
        *out = list;
    return rc;
}

static bool is_line_end(uint32_t cp)
{
    return (cp >= 0x0A && cp <= 0x0D) || (cp >= 0x1C && cp <= 0x1E) || cp == 0x85 || cp == 0x2028 ||
           cp == 0x2029;
}

int str_lines(struct run *r, struct jinja_value v, bool keep_ends, struct jinja_value *out)
{
    struct str s = jinja_str(v);
    struct jinja_value list;
    size_t from = 0;
    if (list_start(r, &list, JINJA_LIST, 0) < 0 || run_charge(r, s.n) < 0)
        return -1;
    for (size_t at = 0; at < s.n;) {
        uint32_t cp;
        size_t end = at;
        at += uni_next(s, at, &cp);
        if (!is_line_end(cp))
            continue;
        if (cp == '\r' && at < s.n && s.p[at] == '\n')
            at++;
        if (add_part(r, list, v, from, keep_ends ? at : end) < 0)
            return -1;
        from = at;
    }
    if (from < s.n && add_part(r, list, v, from, s.n) < 0)
        return -1;
    *out = list;
    return 0;
}

int str_pad(struct run *r, struct jinja_value v, int64_t width, uint32_t fill, char align,
            struct jinja_value *out)
{
    struct sb b = sb_start(r);
    int64_t have;
    if (op_length(r, v, &have) < 0)
        return -1;
    if (width <= have) {
        *out = v;
        return 0;
    }
    if (width > JINJA_WIDTH_MAX)
        return run_limit(r, "a width above %d", JINJA_WIDTH_MAX);
    /* Python's center puts the odd one to the left of an even width's text, hence the last term. */
    int64_t room = width - have, left = align == '<'   ? 0
                                        : align == '>' ? room
                                                       : room / 2 + (room & width & 1);
    for (int64_t i = 0; i < left; i++)
        sb_add_cp(&b, fill);
    sb_add(&b, jinja_str(v));
    for (int64_t i = left; i < room; i++)
        sb_add_cp(&b, fill);
    if (sb_end(&b, out) < 0)
        return -1;
    out->flags = v.flags;
    return 0;
}

int str_join(struct run *r, struct jinja_value sep, struct jinja_value items, bool convert,
             struct jinja_value *out)
{
    struct sb b = sb_start(r);
    struct jinja_value item;
    struct cursor c;
    int rc;
    if (cursor_open(r, &c, items) < 0)
        return -1;
    for (int64_t i = 0; (rc = cursor_next(r, &c, &item)) > 0; i++) {
        if (!convert && item.type != JINJA_STRING)
            return run_fail(r, "sequence item %lld: expected str instance, %s found", (long long)i,
                            jinja_type_name(item.type));
        if (i)
            sb_add(&b, jinja_str(sep));
        if (!convert && (sep.flags & JINJA_MARKUP) && text_escape(r, item, &item) < 0)
            return -1;
        if (text_add_str(&b, item) < 0)
            return -1;
    }
    return rc < 0 ? -1 : sb_end(&b, out);
}

bool str_is_cased(struct str s, enum cased_kind kind)
{
    bool any = false, word = false, yes = true;
    uint32_t cp;
    for (size_t at = 0; yes && at < s.n;) {
        at += uni_next(s, at, &cp);
        bool lower = uni_is_lower(cp), upper = uni_is_upper(cp), title = uni_is_title(cp);
        if (kind == CASED_TITLE)
            yes = lower ? word : upper || title ? !word : true;
        else
            yes = !title && !(kind == CASED_LOWER ? upper : lower);
        word = lower || upper || title;
        any = any || (kind == CASED_TITLE ? word : kind == CASED_LOWER ? lower : upper);
    }
    return yes && any;
}
