/*
 * The syntax tree of a template: what the parser makes, scope.c completes, and eval.c walks.
 *
 * Everything lives in the template's arena. Offsets are bytes of the normalized source (all line
 * ends LF), so that an error can quote the expression it is about.
 */
#ifndef TALLY_JINJA_AST_H
#define TALLY_JINJA_AST_H

#include "jinja/jinja.h"

struct filter;
struct test;
struct var;

enum expr_kind {
    E_CONST,
    E_NAME,
    E_LIST,
    E_TUPLE,
    E_DICT, /* items: key, value, key, value … */
    E_GETATTR,
    E_GETITEM,
    E_SLICE, /* as the argument of E_GETITEM: items = start, stop, step, each may be NULL */
    E_CALL,
    E_FILTER,
    E_TEST,
    E_COND,
    E_AND,
    E_OR,
    E_NOT,
    E_NEG,
    E_POS,
    E_ADD,
    E_SUB,
    E_MUL,
    E_DIV,
    E_FLOORDIV,
    E_MOD,
    E_POW,
    E_CONCAT,
    E_COMPARE, /* items[0] op[0] items[1] op[1] … */
    E_NSREF,   /* only as a target: name.attr */
};

enum compare_op { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_IN, CMP_NOT_IN };

/* A variable: `hops` functions outwards (a macro is one), then a slot there. */
struct ref {
    uint16_t hops, slot;
};

/* One of these per distinct name of a template, so that names compare by address. */
struct symbol {
    struct str text;
    uint64_t hash; /* as a dict key */
    struct symbol *next;
    struct var *var; /* scope.c's, while it works */
};

struct call_args {
    struct expr **items; /* positional, then the values of keywords */
    const struct symbol **names;
    uint16_t n_pos, n_kw;
    struct expr *star, *star_star;
};

struct expr {
    uint8_t kind, op; /* op: E_NAME and E_NSREF nothing; E_TEST 1 = negated */
    uint16_t method;  /* E_GETATTR: enum method of this name, 0 = none */
    uint16_t depth;   /* of the tree from here down; a leaf has 1 */
    uint32_t from, to;
    union {
        struct jinja_value value; /* E_CONST */
        struct {
            const struct symbol *symbol;
            struct ref ref;
            const struct symbol *attr; /* E_NSREF */
        } name;
        struct {
            struct expr **items;
            uint8_t *ops; /* E_COMPARE */
            uint32_t n;
        } list; /* containers, E_CONCAT, E_COMPARE, E_SLICE */
        struct {
            struct expr *left, *right, *other; /* E_COND: left if right else other */
            const struct symbol *symbol;       /* E_GETATTR */
        } two;
        struct {
            struct expr *callee; /* E_FILTER, E_TEST: the operand; NULL in a filter block */
            struct call_args args;
            const struct symbol *symbol; /* name of the filter or test */
            const struct filter *filter; /* NULL: unknown, an error where it is used */
            const struct test *test;
        } call;
    } u;
};

enum stmt_kind {
    S_DATA,
    S_OUTPUT,
    S_FOR,
    S_IF,
    S_SET,
    S_SET_BLOCK,
    S_MACRO,
    S_CALL_BLOCK,
    S_FILTER_BLOCK,
    S_WITH,
    S_DO,
    S_GENERATION,
    S_BREAK,
    S_CONTINUE,
};

enum load_kind { LOAD_PARAM, LOAD_UNDEFINED, LOAD_ALIAS, LOAD_RESOLVE };

/* What a scope does with each of its variables when it is entered. */
struct load {
    uint8_t kind;
    uint16_t slot;
    struct ref from;             /* LOAD_ALIAS */
    const struct symbol *symbol; /* LOAD_RESOLVE */
};
struct scope {
    struct load *loads;
    uint32_t n;
};

/* A macro, or the body of a call block. */
struct macro_def {
    const struct symbol *name; /* NULL for a call block */
    struct expr **params;      /* E_NAME */
    struct expr **defaults;    /* for the last n_defaults parameters */
    uint32_t n_params, n_defaults;
    uint32_t n_slots;
    bool takes_varargs, takes_kwargs, takes_caller;
    struct ref varargs, kwargs, caller; /* in the macro's own frame */
    struct scope scope;
    struct stmt *body;
};

struct stmt {
    struct stmt *next;
    uint8_t kind;
    uint32_t from, to;
    union {
        struct str data; /* S_DATA */
        struct {
            struct expr *value, *target; /* S_OUTPUT, S_DO, S_SET */
        } one;
        struct {
            struct expr *target, *iter, *test;
            struct expr *test_target; /* the target once more, bound while the test is evaluated */
            struct stmt *body, *otherwise;
            struct scope scope, test_scope, else_scope;
            struct ref loop;
            bool recursive;
        } loop;
        struct {
            struct expr *test;
            struct stmt *body, *otherwise; /* elif is an S_IF in otherwise */
        } cond;
        struct {
            struct expr *target, *filter, *call; /* set block; filter block; call block */
            struct stmt *body;
            struct scope scope;
            struct macro_def *macro;
        } block;
        struct {
            struct expr **targets, **values;
            uint32_t n;
            struct stmt *body;
            struct scope scope;
        } with;
        struct {
            struct macro_def *def;
            struct ref ref;
        } macro;
    } u;
};

struct jinja_template {
    struct arena arena;
    struct str source; /* normalized */
    struct stmt *body;
    struct scope scope;
    uint32_t n_slots;
    struct symbol **symbols; /* hash table */
    size_t symbols_cap, symbols_n;
};

/* The one symbol of this name; NULL when memory ends. */
const struct symbol *template_symbol(struct jinja_template *t, struct str name);
/* 1-based line and column (in code points) of a byte offset. */
void template_place(const struct jinja_template *t, uint32_t at, int64_t *line, int64_t *column);

#endif
