#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "jinja/big.h"
#include "jinja/filter_fns.h"
#include "jinja/ops.h"
#include "jinja/strings.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

#define NUMBER_TEXT_MAX 400

/* Text as Python's int() and float() read it: trimmed, underscores between digits left out.
 * False when an underscore stands elsewhere or it is too long. */
static bool clean(struct str s, char out[NUMBER_TEXT_MAX])
{
    size_t n = 0;
    s = uni_strip(s, true, true);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '_') {
            if (i == 0 || i + 1 == s.n || s.p[i - 1] == '_' || s.p[i + 1] == '_')
                return false;
            continue;
        }
        if (n + 1 == NUMBER_TEXT_MAX || c == '\0')
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return n > 0;
}

static bool parse_float(struct str s, double *out)
{
    char text[NUMBER_TEXT_MAX], *end;
    if (!clean(s, text))
        return false;
    /* strtod reads hexadecimal and "nan(...)" as well, which Python does not. */
    if (strpbrk(text, "xXpP("))
        return false;
    *out = strtod(text, &end);
    return end != text && *end == '\0';
}

static bool whole_digits(const char *p)
{
    if (!*p)
        return false;
    for (; *p; p++)
        if (*p < '0' || *p > '9')
            return false;
    return true;
}

/* int(text, base); 1, 0 when it is none, -1 on error. */
static int parse_int(struct run *r, struct str s, int64_t base, struct jinja_value *out)
{
    char stripped[JINJA_DIGITS_MAX + 2];
    s = uni_strip(s, true, true);
    if (base == 10) {
        size_t n = 0;
        for (size_t i = 0; i < s.n; i++) {
            if (s.p[i] == '_' && i > 0 && i + 1 < s.n && s.p[i - 1] != '_')
                continue;
            if (n == JINJA_DIGITS_MAX + 1)
                return run_limit(r, "integer of more than %d digits", JINJA_DIGITS_MAX);
            stripped[n++] = s.p[i];
        }
        stripped[n] = '\0';
        bool sign = stripped[0] == '-' || stripped[0] == '+';
        if (!whole_digits(stripped + sign))
            return 0;
        int rc = big_parse(r->arena, (struct str){stripped, n}, out);
        return rc == 0 ? 1 : run_limit(r, "integer of more than %d digits", JINJA_DIGITS_MAX);
    }
    char text[NUMBER_TEXT_MAX], *end;
    if (base < 0 || base == 1 || base > 36)
        return run_fail(r, "int() base must be >= 2 and <= 36, or 0");
    if (!clean(s, text))
        return 0;
    char *digits = text + (text[0] == '-' || text[0] == '+');
    char letter = digits[0] == '0' ? (char)(digits[1] | 0x20) : '\0';
    int64_t named = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 0;
    if (named && (base == 0 || base == named)) {
        base = named;
        digits += 2;
    } else if (base == 0) {
        base = 10;
    }
    unsigned long long m = strtoull(digits, &end, (int)base);
    if (end == digits || *end || m > INT64_MAX || *digits == '-' || *digits == '+')
        return 0;
    *out = jinja_int(text[0] == '-' ? -(int64_t)m : (int64_t)m);
    return 1;
}

FILTER(filter_int)
{
    struct jinja_value fallback = v[1].type == JINJA_MISSING ? jinja_int(0) : v[1];
    int64_t base;
    double d;
    (void)args, (void)f;
    if (need_int(r, v[2], 10, &base) < 0)
        return -1;
    if (v[0].type == JINJA_STRING) {
        int rc = parse_int(r, jinja_str(v[0]), base, out);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
        if (parse_float(jinja_str(v[0]), &d) && isfinite(d) &&
            big_from_double(r->arena, d, out) == 0)
            return 0;
    } else if (v[0].type == JINJA_UNDEFINED) {
        return run_undefined(r, v[0]);
    } else if (v[0].type == JINJA_FLOAT) {
        if (isfinite(v[0].u.d) && big_from_double(r->arena, v[0].u.d, out) == 0)
            return 0;
        if (isinf(v[0].u.d))
            return run_fail(r, "cannot convert float infinity to integer");
    } else if (value_is_number(v[0])) {
        *out = v[0].type == JINJA_BOOL ? jinja_int(v[0].u.b) : v[0];
        return 0;
    }
    *out = fallback;
    return 0;
}

FILTER(filter_float)
{
    double d;
    (void)args, (void)f;
    if (v[0].type == JINJA_UNDEFINED)
        return run_undefined(r, v[0]);
    if (v[0].type == JINJA_STRING && parse_float(jinja_str(v[0]), &d))
        *out = jinja_float(d);
    else if (value_is_number(v[0]))
        *out = jinja_float(v[0].type == JINJA_FLOAT ? v[0].u.d : big_double(v[0]));
    else
        *out = v[1].type == JINJA_MISSING ? jinja_float(0) : v[1];
    return 0;
}

FILTER(filter_abs)
{
    (void)args, (void)f;
    if (v[0].type == JINJA_UNDEFINED)
        return run_undefined(r, v[0]);
    if (!value_is_number(v[0]))
        return run_fail(r, "bad operand type for abs(): '%s'", jinja_type_name(v[0].type));
    bool negative = value_compare_numbers(v[0], jinja_int(0)) == -1;
    if (v[0].type == JINJA_FLOAT) {
        *out = jinja_float(fabs(v[0].u.d));
        return 0;
    }
    return op_negate(r, negative, v[0], out);
}

/* round(value, precision): to the nearest decimal, correctly, as printing it does. */
static double round_common(double d, int64_t precision)
{
    char text[NUMBER_TEXT_MAX];
    if (!isfinite(d) || precision > 300)
        return d;
    if (precision >= 0) {
        snprintf(text, sizeof text, "%.*f", (int)precision, d);
        return strtod(text, NULL);
    }
    if (precision < -308)
        return copysign(0, d);
    /* Ties to even, on the exact value: nearbyint of the scaled one is close enough to decide. */
    double scale = pow(10, (double)-precision);
    return nearbyint(d / scale) * scale;
}

/* An integer to a power of ten, ties to even. */
static int round_int(struct run *r, struct jinja_value v, int64_t precision,
                     struct jinja_value *out)
{
    struct jinja_value unit = jinja_int(1), rest, twice, odd;
    *out = v;
    if (v.type == JINJA_BOOL)
        *out = jinja_int(v.u.b);
    if (precision >= 0)
        return 0;
    if (op_arith(r, E_POW, jinja_int(10), jinja_int(-precision), &unit) < 0 ||
        op_arith(r, E_MOD, v, unit, &rest) < 0 || op_arith(r, E_SUB, v, rest, out) < 0 ||
        op_arith(r, E_MUL, rest, jinja_int(2), &twice) < 0 ||
        op_arith(r, E_FLOORDIV, *out, unit, &odd) < 0 ||
        op_arith(r, E_MOD, odd, jinja_int(2), &odd) < 0)
        return -1;
    int c = value_compare_numbers(twice, unit);
    return c > 0 || (c == 0 && op_truth(odd)) ? op_arith(r, E_ADD, *out, unit, out) : 0;
}

FILTER(filter_round)
{
    struct str method = v[2].type == JINJA_STRING ? jinja_str(v[2]) : STR("common");
    int64_t precision;
    (void)args, (void)f;
    if (need_int(r, v[1], 0, &precision) < 0)
        return -1;
    if (v[0].type == JINJA_UNDEFINED)
        return run_undefined(r, v[0]);
    if (!value_is_number(v[0]))
        return run_fail(r, "type %s doesn't define __round__ method", jinja_type_name(v[0].type));
    bool ceiling = str_eq(method, STR("ceil")), floor_ = str_eq(method, STR("floor"));
    if (!ceiling && !floor_ && !str_eq(method, STR("common")))
        return run_fail(r, "method must be common, ceil or floor");
    double d = v[0].type == JINJA_FLOAT ? v[0].u.d : big_double(v[0]);
    if (!ceiling && !floor_) {
        if (v[0].type != JINJA_FLOAT)
            return round_int(r, v[0], precision, out);
        *out = jinja_float(round_common(d, precision));
        return 0;
    }
    double scale = pow(10, (double)precision);
    *out = jinja_float((ceiling ? ceil(d * scale) : floor(d * scale)) / scale);
    return 0;
}

FILTER(filter_filesize)
{
    static const char *const prefixes[] = {"k", "M", "G", "T", "P", "E", "Z", "Y"};
    bool binary = op_truth(v[1]);
    double base = binary ? 1024 : 1000, bytes, unit = base;
    char text[64];
    int i = -1;
    (void)args, (void)f;
    if (v[0].type == JINJA_STRING ? !parse_float(jinja_str(v[0]), &bytes) : !value_is_number(v[0]))
        return run_fail(r, "could not convert to a number of bytes");
    if (v[0].type != JINJA_STRING)
        bytes = v[0].type == JINJA_FLOAT ? v[0].u.d : big_double(v[0]);
    if (bytes == 1) {
        *out = jinja_string(STR("1 Byte"));
        return 0;
    }
    do {
        unit *= base;
        i++;
    } while (i < 7 && bytes >= unit);
    if (bytes < base)
        snprintf(text, sizeof text, "%.0f Bytes", trunc(bytes));
    else
        snprintf(text, sizeof text, "%.1f %s%s", base * bytes / unit,
                 binary && i == 0 ? "K" : prefixes[i], binary ? "iB" : "B");
    struct sb b = sb_start(r);
    sb_add(&b, str_of(text));
    return sb_end(&b, out);
}
