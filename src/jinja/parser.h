/*
 * Tokens -> syntax tree. Only parser.c and parse_expr.c know struct parser.
 *
 *     if (parser_run(template, &syntax, err) < 0) ...   // fills template->body
 *
 * Everything is made in the template's arena; errors carry the place. Nesting is limited to
 * JINJA_DEPTH_MAX, counted through statements and expressions, and so is the depth of the tree.
 */
#ifndef TALLY_JINJA_PARSER_H
#define TALLY_JINJA_PARSER_H

#include "jinja/ast.h"
#include "jinja/lexer.h"

#define PARSE_LIST_MAX 4096  /* items of one literal, call or target */
#define PARSE_COMPARE_MAX 32 /* comparisons in one chain */

struct parser {
    struct jinja_template *t;
    struct lexer lexer;
    struct token cur, ahead;
    bool has_ahead;
    unsigned depth;
    unsigned loops; /* enclosing for loops within this function: break and continue are allowed */
    uint32_t end;   /* where the token before cur ended */
    struct error *err;
};

int parser_run(struct jinja_template *t, const struct jinja_syntax *syntax, struct error *err);

/* The following set p->err and return NULL, -1 or false. */
int parse_fail(struct parser *p, uint32_t at, const char *fmt, ...) TALLY_PRINTF(3, 4);
int parse_enter(struct parser *p); /* one level deeper; p->depth-- leaves it */
int parse_advance(struct parser *p);
int parse_look(struct parser *p); /* fills p->ahead */
bool parse_at_name(const struct parser *p, const char *name);
int parse_expect(struct parser *p, enum token_kind kind);
void *parse_alloc(struct parser *p, size_t size);

/* A list of pointers that grows in the arena. */
struct ptr_list {
    void **items;
    uint32_t n, cap;
};
int parse_push(struct parser *p, struct ptr_list *l, void *item);

struct expr *parse_expr(struct parser *p, bool with_cond);
/* Expressions by commas; a tuple when there is a comma. stop: a name that ends it, or NULL. */
struct expr *parse_tuple(struct parser *p, bool with_cond, const char *stop, bool parentheses);
struct expr *parse_target(struct parser *p, const char *stop, bool with_namespace);
struct expr *parse_name_target(struct parser *p);
/* "name(args)|name…" applied to operand (NULL in filter blocks), from the first name on. */
struct expr *parse_filter_chain(struct parser *p, struct expr *operand);

#endif
