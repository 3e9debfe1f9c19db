#define TALLY_ERROR_C
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

#define TEXT_MAX ERROR_REMEDY_MAX /* the longest field */
_Static_assert(TEXT_MAX >= ERROR_MESSAGE_MAX && TEXT_MAX >= ERROR_FILE_MAX, "the longest field");

/* Formats through a scratch, since an argument may be the very field that is written. */
static void format_into(char *out, size_t cap, const char *fmt, va_list ap)
{
    char text[TEXT_MAX];
    int n = vsnprintf(text, cap, fmt, ap);
    if (n < 0)
        text[0] = '\0';
    if (n >= 0 && (size_t)n >= cap) {
        size_t end = cap - 4;
        while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
            end--;
        memcpy(text + end, "...", 4);
    }
    memcpy(out, text, strlen(text) + 1);
}

TALLY_PRINTF(3, 4) static void print_into(char *out, size_t cap, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    format_into(out, cap, fmt, ap);
    va_end(ap);
}

int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
    struct error fresh = {.kind = kind};
    va_list ap;
    va_start(ap, fmt);
    format_into(fresh.message, sizeof fresh.message, fmt, ap);
    va_end(ap);
    *err = fresh;
    return -1;
}

static const char *errno_remedy(int errnum)
{
    switch (errnum) {
    case ENOENT:
        return "check the path; nothing is there";
    case EACCES:
    case EPERM:
        return "check the permissions, or run as a user who may";
    case ENOSPC:
    case EDQUOT:
        return "free some space, or write elsewhere";
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n)";
    case EROFS:
        return "write to a directory on a writable file system";
    case EISDIR:
        return "name a file, not a directory";
    case EADDRINUSE:
        return "choose another port, or 0 for a free one";
    default:
        return "";
    }
}

int error_set_errno(struct error *err, int errnum, const char *fmt, ...)
{
    struct error fresh = {.kind = ERROR_IO};
    va_list ap;
    va_start(ap, fmt);
    format_into(fresh.message, sizeof fresh.message, fmt, ap);
    va_end(ap);
    /* XSI and GNU strerror_r differ in what they return; strerror's text is enough here. */
    print_into(fresh.message, sizeof fresh.message, "%s: %s", fresh.message, strerror(errnum));
    print_into(fresh.remedy, sizeof fresh.remedy, "%s", errno_remedy(errnum));
    *err = fresh;
    return -1;
}

int error_no_memory(struct error *err)
{
    error_set(err, ERROR_MEMORY, "out of memory");
    return error_remedy(err, "free some memory, or use smaller input");
}

int error_wrap(struct error *err, const char *fmt, ...)
{
    char outer[ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    format_into(outer, sizeof outer, fmt, ap);
    va_end(ap);
    print_into(err->message, sizeof err->message, "%s: %s", outer, err->message);
    return -1;
}

int error_at_file(struct error *err, const char *file)
{
    if (err->file[0] == '\0')
        print_into(err->file, sizeof err->file, "%s", file);
    return -1;
}

int error_at_line(struct error *err, int64_t line, int64_t column)
{
    err->line = line;
    err->column = column;
    return -1;
}

int error_at_offset(struct error *err, int64_t offset)
{
    err->offset = offset + 1;
    return -1;
}

int error_rule(struct error *err, const char *rule)
{
    print_into(err->rule, sizeof err->rule, "%s", rule);
    return -1;
}

int error_remedy(struct error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    format_into(err->remedy, sizeof err->remedy, fmt, ap);
    va_end(ap);
    return -1;
}

const char *error_kind_name(enum error_kind kind)
{
    static const char *const names[] = {
#define X(kind, name, code) name,
        ERROR_KINDS(X)
#undef X
    };
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

int error_exit_code(enum error_kind kind)
{
    static const int codes[] = {
#define X(kind, name, code) code,
        ERROR_KINDS(X)
#undef X
    };
    return (size_t)kind < sizeof codes / sizeof codes[0] ? codes[kind] : 5;
}

/* A message may quote a server or a file: nothing of it may steer a terminal or break the line. */
static void add_visible(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n' || c == '\r' || c == '\t')
            buf_adds(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (c < 0x20 || c == 0x7F)
            buf_addf(out, "\\x%02x", c);
        else
            buf_addc(out, *text);
    }
}

void error_format(const struct error *err, struct buf *out)
{
    if (err->file[0]) {
        add_visible(out, err->file);
        if (err->line > 0)
            buf_addf(out, ":%lld", (long long)err->line);
        if (err->line > 0 && err->column > 0)
            buf_addf(out, ":%lld", (long long)err->column);
        buf_adds(out, ": ");
    } else if (err->line > 0) {
        buf_addf(out, "line %lld, column %lld: ", (long long)err->line, (long long)err->column);
    }
    add_visible(out, err->message);
    if (err->offset > 0 && err->line == 0)
        buf_addf(out, " (at byte %lld)", (long long)(err->offset - 1));
}
