/*
 * The values a template computes with, and how a caller builds a context out of them.
 *
 *     struct jinja_value ctx, messages;
 *     if (jinja_dict_new(&ctx, &arena, 4, err) < 0 || jinja_list_new(&messages, &arena, 10, err) <
 * 0) ... if (jinja_dict_put(&ctx, STR("messages"), messages, &arena, err) < 0) ...
 *
 * A value is 16 bytes and copied by assignment; containers are shared, not copied. Dicts keep the
 * order of insertion. Integers have any number of digits up to JINJA_DIGITS_MAX.
 * Ownership: strings are borrowed, and everything a builder makes lives in the arena it was given;
 * both must outlive every render that sees the value. Strings must be UTF-8.
 * Limits: JINJA_STRING_MAX bytes in a string, JINJA_ITEMS_MAX items in a container.
 */
#ifndef TALLY_JINJA_VALUE_H
#define TALLY_JINJA_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define JINJA_STRING_MAX ((size_t)16 << 20)
#define JINJA_ITEMS_MAX ((size_t)4 << 20)
#define JINJA_DIGITS_MAX 4300 /* Python's own limit for int <-> str */

/* type, its name in messages (Python's) */
#define JINJA_TYPES(X)                                                               \
    X(JINJA_MISSING, "missing") /* a variable never set; never seen by a template */ \
    X(JINJA_UNDEFINED, "Undefined")                                                  \
    X(JINJA_NONE, "NoneType")                                                        \
    X(JINJA_BOOL, "bool")                                                            \
    X(JINJA_INT, "int")                                                              \
    X(JINJA_BIG, "int")                                                              \
    X(JINJA_FLOAT, "float")                                                          \
    X(JINJA_STRING, "str")                                                           \
    X(JINJA_LIST, "list")                                                            \
    X(JINJA_TUPLE, "tuple")                                                          \
    X(JINJA_DICT, "dict")                                                            \
    X(JINJA_NAMESPACE, "Namespace")                                                  \
    X(JINJA_RANGE, "range")                                                          \
    X(JINJA_VIEW, "dict view")                                                       \
    X(JINJA_ITERATOR, "generator")                                                   \
    X(JINJA_MACRO, "Macro")                                                          \
    X(JINJA_FUNCTION, "function")                                                    \
    X(JINJA_METHOD, "builtin_function_or_method")                                    \
    X(JINJA_LOOP, "LoopContext")                                                     \
    X(JINJA_CYCLER, "Cycler")                                                        \
    X(JINJA_JOINER, "Joiner")

enum jinja_type {
#define X(type, name) type,
    JINJA_TYPES(X)
#undef X
};

struct jinja_list;
struct jinja_dict;
struct jinja_big;

#define JINJA_MARKUP 1 /* flag of a string: HTML that needs no escaping (Jinja2's Markup) */

struct jinja_value {
    uint8_t type, flags;
    uint16_t aux; /* belongs to the type */
    uint32_t n;   /* string: bytes; otherwise belongs to the type */
    union {
        bool b;
        int64_t i;
        double d;
        const char *p; /* string */
        struct jinja_list *list;
        struct jinja_dict *dict;
        const struct jinja_big *big;
        const void *any;
    } u;
};

/* A list or tuple. */
struct jinja_list {
    struct jinja_value *items;
    uint32_t n, cap;
};

struct jinja_entry {
    uint64_t hash;
    struct jinja_value key, value;
};

/* A dict or namespace; `index` maps hashes to entries once there are more than a few. */
struct jinja_dict {
    struct jinja_entry *entries;
    uint32_t n, cap;
    uint32_t *index; /* entry number plus one; 0 = free */
    uint32_t index_cap;
};

static inline struct jinja_value jinja_none(void)
{
    return (struct jinja_value){.type = JINJA_NONE};
}
static inline struct jinja_value jinja_bool(bool b)
{
    return (struct jinja_value){.type = JINJA_BOOL, .u.b = b};
}
static inline struct jinja_value jinja_int(int64_t i)
{
    return (struct jinja_value){.type = JINJA_INT, .u.i = i};
}
static inline struct jinja_value jinja_float(double d)
{
    return (struct jinja_value){.type = JINJA_FLOAT, .u.d = d};
}
/* s.n must be at most JINJA_STRING_MAX; see jinja_text for input that may be longer. */
static inline struct jinja_value jinja_string(struct str s)
{
    return (struct jinja_value){.type = JINJA_STRING, .n = (uint32_t)s.n, .u.p = s.p ? s.p : ""};
}
static inline struct str jinja_str(struct jinja_value v)
{
    return (struct str){v.u.p, v.n};
}

/* ERROR_LIMIT past JINJA_STRING_MAX, ERROR_INPUT when s is not UTF-8. */
int jinja_text(struct jinja_value *out, struct str s, struct error *err) TALLY_MUST_CHECK;
/* A number as JSON writes it: an integer of any size, or a float. */
int jinja_number(struct jinja_value *out, struct str text, struct arena *a,
                 struct error *err) TALLY_MUST_CHECK;

int jinja_list_new(struct jinja_value *out, struct arena *a, size_t room,
                   struct error *err) TALLY_MUST_CHECK;
int jinja_list_add(struct jinja_value *list, struct jinja_value item, struct arena *a,
                   struct error *err) TALLY_MUST_CHECK;
int jinja_dict_new(struct jinja_value *out, struct arena *a, size_t room,
                   struct error *err) TALLY_MUST_CHECK;
/* Sets or replaces; a replaced key keeps its place. */
int jinja_dict_put(struct jinja_value *dict, struct str key, struct jinja_value value,
                   struct arena *a, struct error *err) TALLY_MUST_CHECK;
/* NULL when absent. */
const struct jinja_value *jinja_dict_get(struct jinja_value dict, struct str key);

const char *jinja_type_name(enum jinja_type type);

#endif
