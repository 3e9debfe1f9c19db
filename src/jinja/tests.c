#include "jinja/tests.h"

#include "jinja/filters.h"
#include "jinja/objects.h"
#include "jinja/ops.h"
#include "jinja/strings.h"
#include "jinja/text.h"

#define TEST(name) static int name(struct run *r, struct jinja_value *v, bool *out)

TEST(is_defined)
{
    (void)r;
    *out = v[0].type != JINJA_UNDEFINED;
    return 0;
}

TEST(is_undefined)
{
    (void)r;
    *out = v[0].type == JINJA_UNDEFINED;
    return 0;
}

TEST(is_none)
{
    (void)r;
    *out = v[0].type == JINJA_NONE;
    return 0;
}

TEST(is_boolean)
{
    (void)r;
    *out = v[0].type == JINJA_BOOL;
    return 0;
}

TEST(is_true)
{
    (void)r;
    *out = v[0].type == JINJA_BOOL && v[0].u.b;
    return 0;
}

TEST(is_false)
{
    (void)r;
    *out = v[0].type == JINJA_BOOL && !v[0].u.b;
    return 0;
}

TEST(is_integer)
{
    (void)r;
    *out = v[0].type == JINJA_INT || v[0].type == JINJA_BIG;
    return 0;
}

TEST(is_float)
{
    (void)r;
    *out = v[0].type == JINJA_FLOAT;
    return 0;
}

TEST(is_number)
{
    (void)r;
    *out = value_is_number(v[0]);
    return 0;
}

TEST(is_string)
{
    (void)r;
    *out = v[0].type == JINJA_STRING;
    return 0;
}

TEST(is_mapping)
{
    (void)r;
    *out = v[0].type == JINJA_DICT;
    return 0;
}

/* Python's test is len() and __getitem__: a dict has both, a view or generator has not. */
TEST(is_sequence)
{
    (void)r;
    *out = op_has_length(v[0]) && v[0].type != JINJA_VIEW;
    return 0;
}

TEST(is_iterable_value)
{
    (void)r;
    *out = is_iterable(v[0]) || v[0].type == JINJA_LOOP;
    return 0;
}

TEST(is_callable)
{
    (void)r;
    *out = v[0].type == JINJA_MACRO || v[0].type == JINJA_FUNCTION || v[0].type == JINJA_METHOD ||
           v[0].type == JINJA_LOOP || v[0].type == JINJA_JOINER || v[0].type == JINJA_UNDEFINED;
    return 0;
}

TEST(is_escaped)
{
    (void)r;
    *out = v[0].type == JINJA_STRING && (v[0].flags & JINJA_MARKUP);
    return 0;
}

TEST(is_same_as)
{
    (void)r;
    const struct jinja_value a = v[0], b = v[1];
    if (a.type != b.type)
        *out = false;
    else if (a.type == JINJA_NONE || a.type == JINJA_UNDEFINED)
        *out = true;
    else if (a.type == JINJA_BOOL)
        *out = a.u.b == b.u.b;
    else if (a.type == JINJA_FLOAT)
        *out = a.u.d == b.u.d;
    else if (a.type == JINJA_STRING)
        *out = str_eq(jinja_str(a), jinja_str(b));
    else
        *out = a.u.any == b.u.any;
    return 0;
}

static int remainder_of(struct run *r, struct jinja_value a, struct jinja_value b, bool *zero)
{
    struct jinja_value m;
    if (op_arith(r, E_MOD, a, b, &m) < 0)
        return -1;
    *zero = !op_truth(m);
    return 0;
}

TEST(is_odd)
{
    struct jinja_value m;
    if (op_arith(r, E_MOD, v[0], jinja_int(2), &m) < 0)
        return -1;
    return op_equal(r, m, jinja_int(1), out);
}

TEST(is_even)
{
    return remainder_of(r, v[0], jinja_int(2), out);
}

TEST(is_divisible)
{
    return remainder_of(r, v[0], v[1], out);
}

static int cased(struct run *r, struct jinja_value v, enum cased_kind kind, bool *out)
{
    if (text_str(r, v, &v) < 0)
        return -1;
    *out = str_is_cased(jinja_str(v), kind);
    return run_charge(r, v.n);
}

TEST(is_lower)
{
    return cased(r, v[0], CASED_LOWER, out);
}

TEST(is_upper)
{
    return cased(r, v[0], CASED_UPPER, out);
}

static int known(struct run *r, struct jinja_value v, bool *out, bool filter)
{
    if (v.type == JINJA_LIST || v.type == JINJA_DICT)
        return run_fail(r, "unhashable type: '%s'", jinja_type_name(v.type));
    *out = v.type != JINJA_STRING ? false
           : filter               ? filter_find(jinja_str(v)) != NULL
                                  : test_find(jinja_str(v)) != NULL;
    return 0;
}

TEST(is_filter)
{
    return known(r, v[0], out, true);
}

TEST(is_test)
{
    return known(r, v[0], out, false);
}

TEST(is_in)
{
    return op_compare(r, CMP_IN, v[0], v[1], out);
}

TEST(is_eq)
{
    return op_compare(r, CMP_EQ, v[0], v[1], out);
}

TEST(is_ne)
{
    return op_compare(r, CMP_NE, v[0], v[1], out);
}

TEST(is_lt)
{
    return op_compare(r, CMP_LT, v[0], v[1], out);
}

TEST(is_le)
{
    return op_compare(r, CMP_LE, v[0], v[1], out);
}

TEST(is_gt)
{
    return op_compare(r, CMP_GT, v[0], v[1], out);
}

TEST(is_ge)
{
    return op_compare(r, CMP_GE, v[0], v[1], out);
}

#define ONE        \
    {              \
        "value", 1 \
    }
#define TWO              \
    {                    \
        "value other", 2 \
    }

static const struct test tests[] = {
    {"defined", ONE, is_defined},
    {"undefined", ONE, is_undefined},
    {"none", ONE, is_none},
    {"boolean", ONE, is_boolean},
    {"true", ONE, is_true},
    {"false", ONE, is_false},
    {"integer", ONE, is_integer},
    {"float", ONE, is_float},
    {"number", ONE, is_number},
    {"string", ONE, is_string},
    {"mapping", ONE, is_mapping},
    {"sequence", ONE, is_sequence},
    {"iterable", ONE, is_iterable_value},
    {"callable", ONE, is_callable},
    {"escaped", ONE, is_escaped},
    {"odd", ONE, is_odd},
    {"even", ONE, is_even},
    {"divisibleby", {"value num", 2}, is_divisible},
    {"lower", ONE, is_lower},
    {"upper", ONE, is_upper},
    {"sameas", TWO, is_same_as},
    {"filter", ONE, is_filter},
    {"test", ONE, is_test},
    {"in", {"value seq", 2}, is_in},
    {"eq", TWO, is_eq},
    {"equalto", TWO, is_eq},
    {"==", TWO, is_eq},
    {"ne", TWO, is_ne},
    {"!=", TWO, is_ne},
    {"lt", TWO, is_lt},
    {"lessthan", TWO, is_lt},
    {"<", TWO, is_lt},
    {"le", TWO, is_le},
    {"<=", TWO, is_le},
    {"gt", TWO, is_gt},
    {"greaterthan", TWO, is_gt},
    {">", TWO, is_gt},
    {"ge", TWO, is_ge},
    {">=", TWO, is_ge},
};

const struct test *test_find(struct str name)
{
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (str_eq(name, str_of(tests[i].name)))
            return &tests[i];
    return NULL;
}

int test_call(struct run *r, const struct test *t, const struct args *args, bool *out)
{
    struct jinja_value v[PARAMS_MAX];
    if (args_bind(r, t->name, &t->params, args, v) < 0)
        return -1;
    return t->fn(r, v, out);
}
