/* Statements, and what both halves of the parser share. */
#include "jinja/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "jinja/keys.h"

#define SYMBOLS_FIRST 64

const struct symbol *template_symbol(struct jinja_template *t, struct str name)
{
    if (t->symbols_n * 2 >= t->symbols_cap) {
        size_t cap = t->symbols_cap ? t->symbols_cap * 2 : SYMBOLS_FIRST;
        struct symbol **table = arena_array(&t->arena, cap, sizeof(*table));
        if (!table)
            return NULL;
        for (size_t i = 0; i < t->symbols_cap; i++)
            for (struct symbol *s = t->symbols[i], *next; s; s = next) {
                next = s->next;
                s->next = table[s->hash & (cap - 1)];
                table[s->hash & (cap - 1)] = s;
            }
        t->symbols = table;
        t->symbols_cap = cap;
    }
    uint64_t hash = value_hash_str(name);
    struct symbol **at = &t->symbols[hash & (t->symbols_cap - 1)];
    for (struct symbol *s = *at; s; s = s->next)
        if (s->hash == hash && str_eq(s->text, name))
            return s;
    struct symbol *s = arena_alloc(&t->arena, sizeof *s);
    struct str text = arena_str(&t->arena, name);
    if (!s || !text.p)
        return NULL;
    *s = (struct symbol){.text = text, .hash = hash, .next = *at};
    *at = s;
    t->symbols_n++;
    return s;
}

void template_place(const struct jinja_template *t, uint32_t at, int64_t *line, int64_t *column)
{
    size_t start = 0;
    *line = 1;
    if (at > t->source.n)
        at = (uint32_t)t->source.n;
    for (size_t i = 0; i < at; i++)
        if (t->source.p[i] == '\n') {
            ++*line;
            start = i + 1;
        }
    *column = 1 + (int64_t)utf8_count(str_make(t->source.p + start, at - start));
}

int parse_fail(struct parser *p, uint32_t at, const char *fmt, ...)
{
    int64_t line, column;
    if (fmt) {
        char text[ERROR_MESSAGE_MAX];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        error_set(p->err, ERROR_INPUT, "%s", text);
    }
    template_place(p->t, at, &line, &column);
    return error_at_line(p->err, line, column);
}

static int too_deep(struct parser *p)
{
    error_set(p->err, ERROR_LIMIT, "template nested deeper than %d", JINJA_DEPTH_MAX);
    return parse_fail(p, p->cur.from, NULL);
}

int parse_enter(struct parser *p)
{
    /* One more than the limit, because an expression outside of all brackets is entered too. */
    if (p->depth > JINJA_DEPTH_MAX)
        return too_deep(p);
    p->depth++;
    return 0;
}

static int next_token(struct parser *p, struct token *tok)
{
    if (lexer_next(&p->lexer, tok, p->err) == 0)
        return 0;
    return parse_fail(p, tok->from, NULL);
}

int parse_advance(struct parser *p)
{
    p->end = p->cur.to;
    if (p->has_ahead) {
        p->cur = p->ahead;
        p->has_ahead = false;
        return 0;
    }
    return next_token(p, &p->cur);
}

int parse_look(struct parser *p)
{
    if (p->has_ahead)
        return 0;
    if (next_token(p, &p->ahead) < 0)
        return -1;
    p->has_ahead = true;
    return 0;
}

bool parse_at_name(const struct parser *p, const char *name)
{
    return p->cur.kind == T_NAME && str_eq(p->cur.text, str_of(name));
}

int parse_expect(struct parser *p, enum token_kind kind)
{
    if (p->cur.kind != kind) {
        if (p->cur.kind == T_EOF)
            return parse_fail(p, p->cur.from, "unexpected end of template, expected '%s'",
                              token_name(kind));
        if (p->cur.kind == T_NAME)
            return parse_fail(p, p->cur.from, "expected '%s', got '%.*s'", token_name(kind),
                              STR_ARG(p->cur.text));
        return parse_fail(p, p->cur.from, "expected '%s', got '%s'", token_name(kind),
                          token_name(p->cur.kind));
    }
    return parse_advance(p);
}

void *parse_alloc(struct parser *p, size_t size)
{
    void *v = arena_alloc(&p->t->arena, size);
    if (!v)
        arena_check(&p->t->arena, "template", p->err);
    return v;
}

int parse_push(struct parser *p, struct ptr_list *l, void *item)
{
    if (l->n == PARSE_LIST_MAX) {
        error_set(p->err, ERROR_LIMIT, "more than %d items in one list", PARSE_LIST_MAX);
        return parse_fail(p, p->cur.from, NULL);
    }
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 4;
        void **items =
            arena_grow(&p->t->arena, l->items, l->cap * sizeof *items, cap * sizeof *items);
        if (!items)
            return arena_check(&p->t->arena, "template", p->err);
        l->items = items;
        l->cap = cap;
    }
    l->items[l->n++] = item;
    return 0;
}

static struct stmt *new_stmt(struct parser *p, enum stmt_kind kind, uint32_t from)
{
    struct stmt *s = parse_alloc(p, sizeof *s);
    if (s) {
        s->kind = (uint8_t)kind;
        s->from = from;
        s->to = p->cur.to;
    }
    return s;
}

static int parse_body(struct parser *p, const char *const *ends, struct stmt **out);

/* From behind a tag's expressions to the tag that ends its body, whose name is in `ends` (a list
 * that ends with NULL); that name is the current token then. */
static int parse_block(struct parser *p, const char *const *ends, struct stmt **out)
{
    if (p->cur.kind == T_COLON && parse_advance(p) < 0)
        return -1;
    if (parse_expect(p, T_BLOCK_END) < 0)
        return -1;
    if (p->depth >= JINJA_DEPTH_MAX)
        return too_deep(p);
    p->depth++;
    uint32_t from = p->cur.from;
    if (parse_body(p, ends, out) < 0)
        return -1;
    p->depth--;
    if (p->cur.kind == T_EOF)
        return parse_fail(p, from, "unexpected end of template, looking for '%s'", ends[0]);
    return 0;
}

/* The same with one end, which is skipped. */
static int parse_block_to(struct parser *p, const char *end, struct stmt **out)
{
    const char *const ends[] = {end, NULL};
    return parse_block(p, ends, out) < 0 ? -1 : parse_advance(p);
}

static int parse_for(struct parser *p, struct stmt *s)
{
    static const char *const ends[] = {"endfor", "else", NULL};
    s->kind = S_FOR;
    if (!(s->u.loop.target = parse_target(p, "in", false)))
        return -1;
    if (!parse_at_name(p, "in"))
        return parse_fail(p, p->cur.from, "expected 'in'");
    if (parse_advance(p) < 0 || !(s->u.loop.iter = parse_tuple(p, false, "recursive", false)))
        return -1;
    if (parse_at_name(p, "if") && (parse_advance(p) < 0 || !(s->u.loop.test = parse_expr(p, true))))
        return -1;
    if (parse_at_name(p, "recursive")) {
        s->u.loop.recursive = true;
        if (parse_advance(p) < 0)
            return -1;
    }
    p->loops++;
    if (parse_block(p, ends, &s->u.loop.body) < 0)
        return -1;
    p->loops--;
    if (!parse_at_name(p, "else"))
        return parse_advance(p);
    return parse_advance(p) < 0 ? -1 : parse_block_to(p, "endfor", &s->u.loop.otherwise);
}

/* elif makes a chain of S_IF; it is parsed by a loop, so that its length is not nesting. */
static int parse_if(struct parser *p, struct stmt *s)
{
    static const char *const ends[] = {"endif", "elif", "else", NULL};
    for (;;) {
        s->kind = S_IF;
        if (!(s->u.cond.test = parse_tuple(p, false, NULL, false)) ||
            parse_block(p, ends, &s->u.cond.body) < 0)
            return -1;
        bool elif = parse_at_name(p, "elif"), otherwise = parse_at_name(p, "else");
        if (parse_advance(p) < 0)
            return -1;
        if (otherwise)
            return parse_block_to(p, "endif", &s->u.cond.otherwise);
        if (!elif)
            return 0;
        struct stmt *next = new_stmt(p, S_IF, p->cur.from);
        if (!next)
            return -1;
        s->u.cond.otherwise = next;
        s = next;
    }
}

static int parse_set(struct parser *p, struct stmt *s)
{
    struct expr *target = parse_target(p, NULL, true);
    if (!target)
        return -1;
    if (p->cur.kind == T_ASSIGN) {
        s->kind = S_SET;
        s->u.one.target = target;
        if (parse_advance(p) < 0)
            return -1;
        return (s->u.one.value = parse_tuple(p, true, NULL, false)) ? 0 : -1;
    }
    s->kind = S_SET_BLOCK;
    s->u.block.target = target;
    if (p->cur.kind == T_PIPE &&
        (parse_advance(p) < 0 || !(s->u.block.filter = parse_filter_chain(p, NULL))))
        return -1;
    return parse_block_to(p, "endset", &s->u.block.body);
}

static int parse_signature(struct parser *p, struct macro_def *def)
{
    struct ptr_list params = {0}, defaults = {0};
    if (parse_expect(p, T_LPAREN) < 0)
        return -1;
    while (p->cur.kind != T_RPAREN) {
        if (params.n && parse_expect(p, T_COMMA) < 0)
            return -1;
        struct expr *e = parse_name_target(p);
        if (!e || parse_push(p, &params, e) < 0)
            return -1;
        if (p->cur.kind == T_ASSIGN) {
            e = parse_advance(p) < 0 ? NULL : parse_expr(p, true);
            if (!e || parse_push(p, &defaults, e) < 0)
                return -1;
        } else if (defaults.n) {
            return parse_fail(p, e->from, "non-default argument follows default argument");
        }
    }
    for (uint32_t i = 0; i + defaults.n < params.n; i++) {
        struct expr *e = params.items[i];
        if (str_eq(e->u.name.symbol->text, STR("caller")))
            return parse_fail(p, e->from, "a parameter named 'caller' needs a default");
    }
    def->params = (struct expr **)params.items;
    def->n_params = params.n;
    def->defaults = (struct expr **)defaults.items;
    def->n_defaults = defaults.n;
    return parse_expect(p, T_RPAREN);
}

/* The body of a macro or call block: a function of its own, which no break can leave. */
static int parse_function_body(struct parser *p, const char *end, struct stmt **out)
{
    unsigned loops = p->loops;
    p->loops = 0;
    int rc = parse_block_to(p, end, out);
    p->loops = loops;
    return rc;
}

static int parse_macro(struct parser *p, struct stmt *s)
{
    struct macro_def *def = parse_alloc(p, sizeof *def);
    struct token name = p->cur;
    s->kind = S_MACRO;
    s->u.macro.def = def;
    if (!def || parse_expect(p, T_NAME) < 0 || !(def->name = template_symbol(p->t, name.text)))
        return -1;
    return parse_signature(p, def) < 0 ? -1 : parse_function_body(p, "endmacro", &def->body);
}

static int parse_call_block(struct parser *p, struct stmt *s)
{
    struct macro_def *def = parse_alloc(p, sizeof *def);
    s->kind = S_CALL_BLOCK;
    s->u.block.macro = def;
    if (!def || (p->cur.kind == T_LPAREN && parse_signature(p, def) < 0))
        return -1;
    if (!(s->u.block.call = parse_expr(p, true)))
        return -1;
    if (s->u.block.call->kind != E_CALL)
        return parse_fail(p, s->u.block.call->from, "expected a call");
    return parse_function_body(p, "endcall", &def->body);
}

static int parse_filter_block(struct parser *p, struct stmt *s)
{
    s->kind = S_FILTER_BLOCK;
    if (!(s->u.block.filter = parse_filter_chain(p, NULL)))
        return -1;
    return parse_block_to(p, "endfilter", &s->u.block.body);
}

static int parse_with(struct parser *p, struct stmt *s)
{
    struct ptr_list targets = {0}, values = {0};
    s->kind = S_WITH;
    while (p->cur.kind != T_BLOCK_END) {
        if (targets.n && parse_expect(p, T_COMMA) < 0)
            return -1;
        struct expr *target = parse_target(p, "=", false);
        if (!target || parse_push(p, &targets, target) < 0 || parse_expect(p, T_ASSIGN) < 0)
            return -1;
        struct expr *value = parse_expr(p, true);
        if (!value || parse_push(p, &values, value) < 0)
            return -1;
    }
    s->u.with.targets = (struct expr **)targets.items;
    s->u.with.values = (struct expr **)values.items;
    s->u.with.n = targets.n;
    return parse_block_to(p, "endwith", &s->u.with.body);
}

static int parse_do(struct parser *p, struct stmt *s)
{
    s->kind = S_DO;
    return (s->u.one.value = parse_tuple(p, true, NULL, false)) ? 0 : -1;
}

static int parse_print(struct parser *p, struct stmt *s)
{
    s->kind = S_OUTPUT;
    return (s->u.one.value = parse_expr(p, true)) ? 0 : -1;
}

static int parse_loop_control(struct parser *p, struct stmt *s, enum stmt_kind kind)
{
    s->kind = (uint8_t)kind;
    if (p->loops == 0)
        return parse_fail(p, s->from, "'%s' outside of a loop",
                          kind == S_BREAK ? "break" : "continue");
    return 0;
}

static int parse_break(struct parser *p, struct stmt *s)
{
    return parse_loop_control(p, s, S_BREAK);
}

static int parse_continue(struct parser *p, struct stmt *s)
{
    return parse_loop_control(p, s, S_CONTINUE);
}

static int parse_generation(struct parser *p, struct stmt *s)
{
    s->kind = S_GENERATION;
    return parse_function_body(p, "endgeneration", &s->u.block.body);
}

static const struct tag {
    const char *name;
    int (*parse)(struct parser *p, struct stmt *s); /* NULL: known, and not supported */
} tags[] = {
    {"if", parse_if},
    {"for", parse_for},
    {"set", parse_set},
    {"macro", parse_macro},
    {"call", parse_call_block},
    {"filter", parse_filter_block},
    {"with", parse_with},
    {"do", parse_do},
    {"print", parse_print},
    {"break", parse_break},
    {"continue", parse_continue},
    {"generation", parse_generation},
    {"block", NULL},
    {"extends", NULL},
    {"include", NULL},
    {"import", NULL},
    {"from", NULL},
    {"autoescape", NULL},
    {"trans", NULL},
    {"debug", NULL},
};

static struct stmt *parse_tag(struct parser *p)
{
    struct token tok = p->cur;
    if (parse_expect(p, T_NAME) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (!str_eq(tok.text, str_of(tags[i].name)))
            continue;
        if (!tags[i].parse) {
            error_set(p->err, ERROR_UNSUPPORTED, "tag '%s' is not supported", tags[i].name);
            parse_fail(p, tok.from, NULL);
            error_remedy(p->err, "chat templates are one file; write its parts into it");
            return NULL;
        }
        struct stmt *s = new_stmt(p, S_DATA, tok.from);
        if (!s || tags[i].parse(p, s) < 0)
            return NULL;
        s->to = p->end;
        return s;
    }
    parse_fail(p, tok.from, "unknown tag '%.*s'", STR_ARG(tok.text));
    return NULL;
}

static bool is_end(struct parser *p, const char *const *ends)
{
    for (; ends && *ends; ends++)
        if (parse_at_name(p, *ends))
            return true;
    return false;
}

static struct stmt *parse_output(struct parser *p)
{
    struct stmt *s = new_stmt(p, S_OUTPUT, p->cur.from);
    if (!s || parse_advance(p) < 0 || !(s->u.one.value = parse_tuple(p, true, NULL, false)) ||
        parse_expect(p, T_VAR_END) < 0)
        return NULL;
    s->to = p->end;
    return s;
}

static int parse_body(struct parser *p, const char *const *ends, struct stmt **out)
{
    struct stmt **tail = out;
    *out = NULL;
    while (p->cur.kind != T_EOF) {
        struct stmt *s;
        if (p->cur.kind == T_DATA) {
            s = new_stmt(p, S_DATA, p->cur.from);
            if (!s)
                return -1;
            s->u.data = p->cur.text;
            if (parse_advance(p) < 0)
                return -1;
        } else if (p->cur.kind == T_VAR_BEGIN) {
            s = parse_output(p);
        } else {
            if (parse_expect(p, T_BLOCK_BEGIN) < 0)
                return -1;
            if (is_end(p, ends))
                return 0;
            s = parse_tag(p);
            if (!s || parse_expect(p, T_BLOCK_END) < 0)
                return -1;
        }
        if (!s)
            return -1;
        *tail = s;
        tail = &s->next;
    }
    return 0;
}

int parser_run(struct jinja_template *t, const struct jinja_syntax *syntax, struct error *err)
{
    struct parser p = {
        .t = t,
        .lexer = {.source = t->source, .syntax = *syntax, .arena = &t->arena},
        .err = err,
    };
    return parse_advance(&p) < 0 ? -1 : parse_body(&p, NULL, &t->body);
}
