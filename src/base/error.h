/*
 * Errors as values.
 *
 * A fallible function returns int: 0 on success, -1 on failure, and takes `struct error *err` last.
 * On failure *err says what happened, where, and what to do; the function's outputs are untouched.
 *
 *     struct error err = {0};
 *     if (thing_load(&t, path, &err) < 0)
 *         return error_wrap(&err, "cannot start lane %s", name);
 *
 * Ownership: a struct error owns nothing and is copied by assignment. err must not be NULL.
 * Limits: texts longer than their field are cut at a UTF-8 boundary and end in "...".
 */
#ifndef TALLY_BASE_ERROR_H
#define TALLY_BASE_ERROR_H

#include <stdint.h>

struct buf;

/* kind, name as printed in JSON, exit code of a program that ends with it */
#define ERROR_KINDS(X)                                                                        \
    X(ERROR_NONE, "none", 0)                                                                  \
    X(ERROR_USAGE, "usage", 2)             /* the command line or a configuration file */     \
    X(ERROR_INPUT, "input", 2)             /* a file that is not what it should be */         \
    X(ERROR_UNSUPPORTED, "unsupported", 2) /* well-formed, but names what we do not have */   \
    X(ERROR_LIMIT, "limit", 2)             /* input past a named limit */                     \
    X(ERROR_UNMEASURED, "unmeasured", 3)   /* nothing, or not enough, was measured */         \
    X(ERROR_REFUSED, "refused", 4)         /* what was measured is not conformant evidence */ \
    X(ERROR_IO, "io", 5)                   /* a file or device failed */                      \
    X(ERROR_ENVIRONMENT, "environment", 5) /* server unreachable, tool missing */             \
    X(ERROR_MEMORY, "memory", 5)           /* out of memory */                                \
    X(ERROR_INTERRUPTED, "interrupted", 130)

enum error_kind {
#define X(kind, name, code) kind,
    ERROR_KINDS(X)
#undef X
};

#define ERROR_MESSAGE_MAX 768
#define ERROR_FILE_MAX 256
#define ERROR_REMEDY_MAX 2048
#define ERROR_RULE_MAX 48

struct error {
    enum error_kind kind;
    char message[ERROR_MESSAGE_MAX]; /* what happened, one line, no trailing full stop */
    char file[ERROR_FILE_MAX];       /* where: file or URL; "" when not about one */
    int64_t line, column;            /* 1-based; 0 = not known */
    int64_t offset;                  /* bytes from the start, stored plus one; 0 = not known */
    char rule[ERROR_RULE_MAX];       /* name of the rule that refused; "" when none */
    char remedy[ERROR_REMEDY_MAX];   /* what to do, commands on lines of their own; "" */
};

#define TALLY_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define TALLY_MUST_CHECK __attribute__((warn_unused_result))

/* Fills *err afresh (place, rule and remedy are cleared). Always returns -1. */
int error_set(struct error *err, enum error_kind kind, const char *fmt, ...) TALLY_PRINTF(3, 4);
/* ERROR_IO from errno: "<fmt>: <strerror>", with a remedy where errno suggests one. Returns -1. */
int error_set_errno(struct error *err, int errnum, const char *fmt, ...) TALLY_PRINTF(3, 4);
/* ERROR_MEMORY. Returns -1. */
int error_no_memory(struct error *err);

/* The following add to an error that was set, and return -1 so that they can end a function. */
int error_wrap(struct error *err, const char *fmt, ...) TALLY_PRINTF(2, 3); /* "<fmt>: <message>" */
int error_at_file(struct error *err, const char *file); /* keeps an earlier file */
int error_at_line(struct error *err, int64_t line, int64_t column);
int error_at_offset(struct error *err, int64_t offset);
int error_rule(struct error *err, const char *rule);
int error_remedy(struct error *err, const char *fmt, ...) TALLY_PRINTF(2, 3);

/* A static analyzer sees one file at a time and must be told that these end in -1. */
#if defined(__clang_analyzer__) && !defined(TALLY_ERROR_C)
#define error_set(...) (error_set(__VA_ARGS__), -1)
#define error_set_errno(...) (error_set_errno(__VA_ARGS__), -1)
#define error_no_memory(err) (error_no_memory(err), -1)
#define error_wrap(...) (error_wrap(__VA_ARGS__), -1)
#define error_at_file(err, file) (error_at_file(err, file), -1)
#define error_at_line(err, line, column) (error_at_line(err, line, column), -1)
#define error_at_offset(err, offset) (error_at_offset(err, offset), -1)
#define error_rule(err, rule) (error_rule(err, rule), -1)
#define error_remedy(...) (error_remedy(__VA_ARGS__), -1)
#endif

const char *error_kind_name(enum error_kind kind);
int error_exit_code(enum error_kind kind);
/* Appends "file:line:column: message", or "file: message (at byte N)", on one line without LF;
 * control characters (a message may quote a server) are written as \n, \x1b and so on. */
void error_format(const struct error *err, struct buf *out);

#endif
