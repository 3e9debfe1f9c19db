/* Arithmetic as Python does it; integers grow as they need to. */
#include <math.h>
#include <string.h>

#include "jinja/big.h"
#include "jinja/ops.h"
#include "jinja/text.h"

#define POW_STEPS_MAX 20000 /* squarings of a power are few; this bounds 1 ** huge as well */

static const char *symbol_of(enum expr_kind op)
{
    switch (op) {
    case E_ADD:
        return "+";
    case E_SUB:
        return "-";
    case E_MUL:
        return "*";
    case E_DIV:
        return "/";
    case E_FLOORDIV:
        return "//";
    case E_MOD:
        return "%";
    default:
        return "** or pow()";
    }
}

static int check_big(struct run *r, int rc)
{
    if (rc == BIG_TOO_LONG)
        return run_limit(r, "integer of more than %d digits", JINJA_DIGITS_MAX);
    return rc == BIG_NO_MEMORY ? run_memory(r) : 0;
}

static double as_double(struct jinja_value v)
{
    return v.type == JINJA_FLOAT ? v.u.d : big_double(v);
}

static int to_float(struct run *r, struct jinja_value v, double *out)
{
    *out = as_double(v);
    if (v.type == JINJA_BIG && isinf(*out))
        return run_fail(r, "int too large to convert to float");
    return 0;
}

static double floor_mod(double a, double b)
{
    double m = fmod(a, b);
    if (m != 0 && (b < 0) != (m < 0))
        m += b;
    return m == 0 ? copysign(0, b) : m;
}

/* Python's own steps, so that the last bit agrees. */
static double floor_div(double a, double b)
{
    double mod = fmod(a, b), div = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0))
        div -= 1.0;
    if (div == 0)
        return copysign(0, a / b);
    double whole = floor(div);
    return div - whole > 0.5 ? whole + 1 : whole;
}

static int arith_float(struct run *r, enum expr_kind op, double a, double b,
                       struct jinja_value *out)
{
    double v;
    if (b == 0 && (op == E_DIV || op == E_FLOORDIV || op == E_MOD))
        return run_fail(r, op == E_MOD   ? "float modulo"
                           : op == E_DIV ? "float division by zero"
                                         : "float floor division by zero");
    switch (op) {
    case E_ADD:
        v = a + b;
        break;
    case E_SUB:
        v = a - b;
        break;
    case E_MUL:
        v = a * b;
        break;
    case E_DIV:
        v = a / b;
        break;
    case E_FLOORDIV:
        v = floor_div(a, b);
        break;
    case E_MOD:
        v = floor_mod(a, b);
        break;
    default:
        if (a == 0 && b < 0)
            return run_fail(r, "0.0 cannot be raised to a negative power");
        if (a < 0 && b != floor(b) && isfinite(a) && isfinite(b))
            return run_fail(r, "a negative number to a fractional power is complex");
        v = pow(a, b);
        if (isinf(v) && isfinite(a) && isfinite(b))
            return run_fail(r, "Numerical result out of range");
    }
    *out = jinja_float(v);
    return 0;
}

static int power(struct run *r, struct jinja_value a, struct jinja_value b, struct jinja_value *out)
{
    int64_t n;
    struct jinja_value result = jinja_int(1), base = a;
    if (b.type == JINJA_BIG || as_index(b, &n) < 0 || n > JINJA_DIGITS_MAX * 4) {
        /* Only 0, 1 and -1 have such powers within the limit of digits. */
        if (a.type == JINJA_BIG || as_index(a, &n) < 0 || n < -1 || n > 1)
            return run_limit(r, "integer of more than %d digits", JINJA_DIGITS_MAX);
        uint32_t low = b.type == JINJA_BIG ? b.u.big->limb[0] : (uint32_t)(b.u.i & 1);
        *out = jinja_int(n == -1 && low % 2 == 0 ? 1 : n);
        return 0;
    }
    for (int i = 0; n; n >>= 1, i++) {
        if ((n & 1) && check_big(r, big_mul(r->arena, result, base, &result)) < 0)
            return -1;
        if (n > 1 && check_big(r, big_mul(r->arena, base, base, &base)) < 0)
            return -1;
        if (run_charge(r, JINJA_DIGITS_MAX) < 0 || i > POW_STEPS_MAX)
            return -1;
    }
    *out = result;
    return 0;
}

static int64_t floor_mod_int(int64_t a, int64_t b)
{
    int64_t m = b == -1 ? 0 : a % b;
    return m != 0 && (b < 0) != (m < 0) ? m + b : m;
}

/* Both fit 64 bits; false when the result does not. */
static bool arith_small(enum expr_kind op, int64_t a, int64_t b, struct jinja_value *out)
{
    int64_t v;
    switch (op) {
    case E_ADD:
        if (__builtin_add_overflow(a, b, &v))
            return false;
        break;
    case E_SUB:
        if (__builtin_sub_overflow(a, b, &v))
            return false;
        break;
    case E_MUL:
        if (__builtin_mul_overflow(a, b, &v))
            return false;
        break;
    case E_FLOORDIV:
        if (a == INT64_MIN && b == -1)
            return false;
        v = a / b - (a % b != 0 && (a < 0) != (b < 0));
        break;
    case E_MOD:
        v = floor_mod_int(a, b);
        break;
    default:
        return false;
    }
    *out = jinja_int(v);
    return true;
}

static int arith_int(struct run *r, enum expr_kind op, struct jinja_value a, struct jinja_value b,
                     struct jinja_value *out)
{
    int64_t x, y;
    struct jinja_value unused;
    bool small = as_index(a, &x) == 0 && as_index(b, &y) == 0;
    if (small && y == 0 && (op == E_DIV || op == E_FLOORDIV || op == E_MOD))
        return run_fail(r, op == E_DIV ? "division by zero" : "integer division or modulo by zero");
    if (small && arith_small(op, x, y, out))
        return 0;
    if (run_charge(r, a.type == JINJA_BIG || b.type == JINJA_BIG ? JINJA_DIGITS_MAX : 0) < 0)
        return -1;
    switch (op) {
    case E_ADD:
        return check_big(r, big_add(r->arena, a, b, out));
    case E_SUB:
        return check_big(r, big_sub(r->arena, a, b, out));
    case E_MUL:
        return check_big(r, big_mul(r->arena, a, b, out));
    case E_FLOORDIV:
        r->steps += JINJA_DIGITS_MAX;
        return check_big(r, big_divmod(r->arena, a, b, out, &unused));
    case E_MOD:
        r->steps += JINJA_DIGITS_MAX;
        return check_big(r, big_divmod(r->arena, a, b, &unused, out));
    case E_POW:
        if (big_compare(b, jinja_int(0)) >= 0)
            return power(r, a, b, out);
        break;
    default:
        break;
    }
    double p, q; /* true division, and powers below 1 */
    if (to_float(r, a, &p) < 0 || to_float(r, b, &q) < 0)
        return -1;
    return arith_float(r, op, p, q, out);
}

static int repeat_text(struct run *r, struct jinja_value v, int64_t n, struct jinja_value *out)
{
    struct sb b = sb_start(r);
    uint8_t flags = v.flags;
    if (n <= 0 || v.n == 0) {
        *out = jinja_string(STR(""));
    } else {
        if ((uint64_t)n > JINJA_STRING_MAX / v.n)
            return run_limit(r, "string of more than %zu bytes", JINJA_STRING_MAX);
        if (!sb_reserve(&b, (size_t)n * v.n))
            return -1;
        for (int64_t i = 0; i < n; i++)
            sb_add(&b, jinja_str(v));
        if (sb_end(&b, out) < 0)
            return -1;
    }
    out->flags = flags;
    return 0;
}

static int repeat_list(struct run *r, struct jinja_value v, int64_t n, struct jinja_value *out)
{
    struct jinja_value list;
    uint32_t len = v.u.list->n;
    if (n < 0 || len == 0)
        n = 0;
    if (len && (uint64_t)n > JINJA_ITEMS_MAX / len)
        return run_limit(r, "more than %zu items in a list", JINJA_ITEMS_MAX);
    if (list_start(r, &list, v.type, (size_t)n * len) < 0)
        return -1;
    for (int64_t i = 0; i < n; i++)
        memcpy(list.u.list->items + i * len, v.u.list->items, len * sizeof *v.u.list->items);
    list.u.list->n = (uint32_t)(n * len);
    *out = list;
    return 0;
}

static int join_lists(struct run *r, struct jinja_value a, struct jinja_value b,
                      struct jinja_value *out)
{
    const struct jinja_list *x = a.u.list, *y = b.u.list;
    struct jinja_value list;
    if (list_start(r, &list, a.type, (size_t)x->n + y->n) < 0)
        return -1;
    if (x->n)
        memcpy(list.u.list->items, x->items, x->n * sizeof *x->items);
    if (y->n)
        memcpy(list.u.list->items + x->n, y->items, y->n * sizeof *y->items);
    list.u.list->n = x->n + y->n;
    *out = list;
    return 0;
}

static int add_text(struct run *r, struct jinja_value a, struct jinja_value b,
                    struct jinja_value *out)
{
    struct sb s = sb_start(r);
    uint8_t markup = (a.flags | b.flags) & JINJA_MARKUP;
    if (markup && !(a.flags & JINJA_MARKUP) && text_escape(r, a, &a) < 0)
        return -1;
    if (markup && !(b.flags & JINJA_MARKUP) && text_escape(r, b, &b) < 0)
        return -1;
    if (!sb_reserve(&s, (size_t)a.n + b.n))
        return -1;
    sb_add(&s, jinja_str(a));
    sb_add(&s, jinja_str(b));
    if (sb_end(&s, out) < 0)
        return -1;
    out->flags = markup;
    return 0;
}

static bool is_sequence(struct jinja_value v)
{
    return v.type == JINJA_STRING || v.type == JINJA_LIST || v.type == JINJA_TUPLE;
}

int op_arith(struct run *r, enum expr_kind op, struct jinja_value a, struct jinja_value b,
             struct jinja_value *out)
{
    int64_t n;
    if (run_charge(r, 0) < 0)
        return -1;
    if (value_is_number(a) && value_is_number(b)) {
        if (a.type != JINJA_FLOAT && b.type != JINJA_FLOAT)
            return arith_int(r, op, a, b, out);
        double x, y;
        if (to_float(r, a, &x) < 0 || to_float(r, b, &y) < 0)
            return -1;
        return arith_float(r, op, x, y, out);
    }
    if (op == E_MOD && a.type == JINJA_STRING)
        return text_percent(r, a, b, out);
    if (a.type == JINJA_UNDEFINED || b.type == JINJA_UNDEFINED)
        return run_undefined(r, a.type == JINJA_UNDEFINED ? a : b);
    if (op == E_ADD && a.type == b.type && is_sequence(a))
        return a.type == JINJA_STRING ? add_text(r, a, b, out) : join_lists(r, a, b, out);
    if (op == E_MUL && is_sequence(b) && as_index(a, &n) == 0) {
        struct jinja_value t = a;
        a = b;
        b = t;
    }
    if (op == E_MUL && is_sequence(a) && as_index(b, &n) == 0)
        return a.type == JINJA_STRING ? repeat_text(r, a, n, out) : repeat_list(r, a, n, out);
    if (op == E_ADD && is_sequence(a))
        return run_fail(r, "can only concatenate %s (not \"%s\") to %s", jinja_type_name(a.type),
                        jinja_type_name(b.type), jinja_type_name(a.type));
    return run_fail(r, "unsupported operand type(s) for %s: '%s' and '%s'", symbol_of(op),
                    jinja_type_name(a.type), jinja_type_name(b.type));
}

int op_negate(struct run *r, bool minus, struct jinja_value v, struct jinja_value *out)
{
    if (v.type == JINJA_UNDEFINED)
        return run_undefined(r, v);
    if (!value_is_number(v))
        return run_fail(r, "bad operand type for unary %c: '%s'", minus ? '-' : '+',
                        jinja_type_name(v.type));
    if (v.type == JINJA_FLOAT) {
        *out = jinja_float(minus ? -v.u.d : v.u.d);
        return 0;
    }
    return arith_int(r, minus ? E_SUB : E_ADD, jinja_int(0), v, out);
}
