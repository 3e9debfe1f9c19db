/*
 * Template source -> tokens.
 *
 *     struct lexer lx = {.source = normalized, .syntax = s, .arena = a};
 *     while (lexer_next(&lx, &tok, err) == 0 && tok.kind != T_EOF) ...
 *
 * Text between tags comes as T_DATA with white space control already applied. The source must be
 * normalized (lexer_normalize). Ownership: token texts lie in the source or in the arena.
 */
#ifndef TALLY_JINJA_LEXER_H
#define TALLY_JINJA_LEXER_H

#include "jinja/jinja.h"

/* kind, how it is called in messages */
#define TOKENS(X)                                \
    X(T_EOF, "end of template")                  \
    X(T_DATA, "template data / text")            \
    X(T_VAR_BEGIN, "begin of print statement")   \
    X(T_VAR_END, "end of print statement")       \
    X(T_BLOCK_BEGIN, "begin of statement block") \
    X(T_BLOCK_END, "end of statement block")     \
    X(T_NAME, "name")                            \
    X(T_STRING, "string")                        \
    X(T_INT, "integer")                          \
    X(T_FLOAT, "float")                          \
    X(T_ADD, "+")                                \
    X(T_SUB, "-")                                \
    X(T_MUL, "*")                                \
    X(T_POW, "**")                               \
    X(T_DIV, "/")                                \
    X(T_FLOORDIV, "//")                          \
    X(T_MOD, "%")                                \
    X(T_TILDE, "~")                              \
    X(T_EQ, "==")                                \
    X(T_NE, "!=")                                \
    X(T_LT, "<")                                 \
    X(T_LE, "<=")                                \
    X(T_GT, ">")                                 \
    X(T_GE, ">=")                                \
    X(T_ASSIGN, "=")                             \
    X(T_DOT, ".")                                \
    X(T_COLON, ":")                              \
    X(T_PIPE, "|")                               \
    X(T_COMMA, ",")                              \
    X(T_SEMICOLON, ";")                          \
    X(T_LPAREN, "(")                             \
    X(T_RPAREN, ")")                             \
    X(T_LBRACKET, "[")                           \
    X(T_RBRACKET, "]")                           \
    X(T_LBRACE, "{")                             \
    X(T_RBRACE, "}")

enum token_kind {
#define X(kind, name) kind,
    TOKENS(X)
#undef X
};

struct token {
    uint8_t kind;
    uint32_t from, to; /* bytes of the source */
    struct str text;   /* T_DATA: the text; T_NAME; T_STRING: unescaped; numbers: digits only */
};

struct lexer {
    struct str source;
    struct jinja_syntax syntax;
    struct arena *arena;
    size_t at;
    uint8_t state; /* internal, as all below */
    bool line_start;
    uint8_t open[JINJA_DEPTH_MAX + 1];
    unsigned n_open;
};

/* Copies source with CRLF and CR turned to LF, less one trailing newline unless it is to be kept.
 */
int lexer_normalize(struct str *out, struct str source, const struct jinja_syntax *syntax,
                    struct arena *a, struct error *err);
/* On an error *tok says where. */
int lexer_next(struct lexer *lx, struct token *tok, struct error *err);
const char *token_name(enum token_kind kind);

#endif
