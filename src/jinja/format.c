/* What "%" and str.format share: numbers and padding, as Python formats them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "jinja/big.h"
#include "jinja/ops.h"
#include "jinja/text.h"

#define FLOAT_TEXT_MAX 1400 /* 309 digits, a precision of JINJA_WIDTH_MAX, and signs */

/* prefix + body, padded; '=' and zeros go between the two. */
static void add_padded(struct sb *b, struct str prefix, struct str body, const struct spec *spec,
                       char default_align)
{
    char align = spec->align ? spec->align : default_align;
    int64_t have = (int64_t)(utf8_count(prefix) + utf8_count(body));
    size_t room = spec->width > have ? (size_t)(spec->width - have) : 0;
    size_t left = align == '<' ? 0 : align == '^' ? room / 2 : room;
    uint32_t fill = spec->fill ? spec->fill : ' ';
    if (align == '=')
        sb_add(b, prefix);
    for (size_t i = 0; i < left; i++)
        sb_add_cp(b, fill);
    if (align != '=')
        sb_add(b, prefix);
    sb_add(b, body);
    for (size_t i = left; i < room; i++)
        sb_add_cp(b, fill);
}

void text_add_padded(struct sb *b, struct str s, const struct spec *spec)
{
    add_padded(b, STR(""), s, spec, '<');
}

static size_t sign_of(char *out, bool negative, const struct spec *spec)
{
    out[0] = negative ? '-' : spec->sign;
    return out[0] ? 1 : 0;
}

/* Zero-padding ("05d") counts as fill '0' with '=' alignment. */
static struct spec with_zeros(const struct spec *spec)
{
    struct spec s = *spec;
    if (s.zero && !s.align) {
        s.align = '=';
        if (!s.fill)
            s.fill = '0';
    }
    return s;
}

/* Digits up to the point, in groups. */
static size_t group(char *out, struct str body, char mark, size_t every)
{
    size_t whole = 0, n = 0;
    while (whole < body.n && ((body.p[whole] >= '0' && body.p[whole] <= '9') ||
                              (every == 4 && ((body.p[whole] | 0x20) >= 'a'))))
        whole++;
    for (size_t i = 0; i < body.n; i++) {
        if (i && i < whole && (whole - i) % every == 0)
            out[n++] = mark;
        out[n++] = body.p[i];
    }
    return n;
}

static int add_int(struct sb *b, struct jinja_value v, const struct spec *given, bool percent)
{
    struct spec spec = with_zeros(given);
    char digits[BIG_TEXT_MAX], grouped[2 * BIG_TEXT_MAX], prefix[4];
    bool negative;
    size_t n = 0;
    char type =
        spec.type == 'i' || spec.type == 'u' || spec.type == 'n' || !spec.type ? 'd' : spec.type;
    if (type == 'd') {
        n = big_text(digits, v);
        negative = digits[0] == '-';
        if (negative)
            memmove(digits, digits + 1, n--);
    } else {
        int64_t i;
        if (as_index(v, &i) < 0)
            return run_limit(b->r, "an integer beyond 64 bits has no format '%c' here", type);
        negative = i < 0;
        uint64_t m = negative ? (uint64_t)0 - (uint64_t)i : (uint64_t)i;
        unsigned shift = type == 'b' ? 1 : type == 'o' ? 3 : 4;
        char back[72];
        size_t k = 0;
        do
            back[k++] =
                (type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[m & ((1u << shift) - 1)];
        while (m >>= shift);
        while (k)
            digits[n++] = back[--k];
    }
    size_t p = sign_of(prefix, negative, &spec);
    if (spec.alternate && type != 'd') {
        prefix[p++] = '0';
        prefix[p++] = type;
    }
    struct str body = {digits, n};
    if (percent && spec.precision > (int64_t)n) { /* "%.5d": at least so many digits */
        size_t zeros = (size_t)spec.precision - n;
        memmove(grouped + zeros, digits, n);
        memset(grouped, '0', zeros);
        body = (struct str){grouped, n + zeros};
    } else if (spec.group) {
        body = (struct str){grouped, group(grouped, body, spec.group, type == 'd' ? 3 : 4)};
    }
    add_padded(b, (struct str){prefix, p}, body, &spec, '>');
    return 0;
}

/* The text of |d| for a float type. */
static size_t float_text(char *out, double d, const struct spec *spec)
{
    int precision = spec->precision < 0 ? 6 : (int)spec->precision;
    char type = spec->type;
    if (isnan(d) || isinf(d))
        return (size_t)snprintf(out, FLOAT_TEXT_MAX, "%s",
                                type == 'F' || type == 'E' || type == 'G' ? isnan(d) ? "NAN" : "INF"
                                : isnan(d)                                ? "nan"
                                                                          : "inf");
    switch (type) {
    case 'e':
        return (size_t)snprintf(out, FLOAT_TEXT_MAX, "%.*e", precision, d);
    case 'E':
        return (size_t)snprintf(out, FLOAT_TEXT_MAX, "%.*E", precision, d);
    case 'f':
    case 'F':
    case '%':
        return (size_t)snprintf(out, FLOAT_TEXT_MAX, "%.*f%s", precision, type == '%' ? d * 100 : d,
                                type == '%' ? "%" : "");
    case 'G':
        return (size_t)snprintf(out, FLOAT_TEXT_MAX, spec->alternate ? "%#.*G" : "%.*G", precision,
                                d);
    case 'g':
    case 'n':
        return (size_t)snprintf(out, FLOAT_TEXT_MAX, spec->alternate ? "%#.*g" : "%.*g", precision,
                                d);
    default:
        break;
    }
    size_t n = (size_t)snprintf(out, FLOAT_TEXT_MAX, "%.*g", precision ? precision : 1, d);
    if (!strpbrk(out, ".e"))
        n += (size_t)snprintf(out + n, FLOAT_TEXT_MAX - n, ".0");
    return n;
}

static int add_float(struct sb *b, double d, const struct spec *given)
{
    struct spec spec = with_zeros(given);
    char body[FLOAT_TEXT_MAX], grouped[2 * FLOAT_TEXT_MAX], prefix[2];
    size_t n;
    if (!spec.type && spec.precision < 0) {
        struct sb text = sb_start(b->r);
        text_add_float(&text, fabs(d));
        if (text.failed)
            return -1;
        n = text.n;
        memcpy(body, text.p, n);
    } else {
        n = float_text(body, fabs(d), &spec);
    }
    struct str s = {body, n};
    if (spec.group)
        s = (struct str){grouped, group(grouped, s, spec.group, 3)};
    add_padded(b, (struct str){prefix, sign_of(prefix, signbit(d) && !isnan(d), &spec)}, s, &spec,
               '>');
    return 0;
}

int text_add_number(struct sb *b, struct jinja_value v, const struct spec *spec, bool percent)
{
    bool as_float = spec->type && strchr("eEfFgG%", spec->type);
    if (spec->type && !strchr("dbioxXunceEfFgG%", spec->type))
        return run_fail(b->r, "unknown format code '%c' for object of type '%s'", spec->type,
                        jinja_type_name(v.type));
    if (spec->width > JINJA_WIDTH_MAX || spec->precision > JINJA_WIDTH_MAX)
        return run_limit(b->r, "a width or precision above %d", JINJA_WIDTH_MAX);
    if (spec->type == 'c') {
        int64_t cp;
        char c[4];
        size_t n = as_index(v, &cp) == 0 && cp >= 0 ? utf8_encode(c, (uint32_t)cp) : 0;
        if (n == 0)
            return run_fail(b->r, "%%c requires a character");
        add_padded(b, STR(""), (struct str){c, n}, spec, '<');
        return b->failed ? -1 : 0;
    }
    if (v.type == JINJA_FLOAT && !as_float && spec->type && spec->type != 'n') {
        if (!percent || !strchr("diu", spec->type))
            return run_fail(b->r, "format '%c' needs an integer, not float", spec->type);
        if (!isfinite(v.u.d) || big_from_double(b->r->arena, v.u.d, &v) < 0)
            return run_fail(b->r, "cannot convert float to integer");
    }
    int rc = v.type == JINJA_FLOAT ? add_float(b, v.u.d, spec)
             : as_float            ? add_float(b, big_double(v), spec)
                                   : add_int(b, v, spec, percent);
    return b->failed ? -1 : rc;
}
