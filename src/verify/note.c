#include "verify/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SAY_MAX 1024

static const char *keep(struct verify_report *v, const char *text)
{
    const char *kept = arena_cstr(&v->arena, str_of(text ? text : ""));
    return kept ? kept : "";
}

static const char *keep_text(struct verify_report *v, const char *fmt, va_list ap)
{
    char text[SAY_MAX];
    vsnprintf(text, sizeof text, fmt, ap);
    return keep(v, text);
}

void verify_pass(struct verify_report *v, enum verify_rule r, const char *fmt, ...)
{
    struct verify_result *result = &v->rules[r];
    va_list ap;
    if (result->state == VERIFY_FAILED)
        return;
    va_start(ap, fmt);
    result->state = VERIFY_PASSED;
    result->seen = keep_text(v, fmt, ap);
    va_end(ap);
}

void verify_skip(struct verify_report *v, enum verify_rule r, const char *fmt, ...)
{
    struct verify_result *result = &v->rules[r];
    va_list ap;
    if (result->state != VERIFY_SKIPPED || result->seen)
        return;
    va_start(ap, fmt);
    result->seen = keep_text(v, fmt, ap);
    va_end(ap);
}

void verify_fail(struct verify_report *v, enum verify_rule r, const struct verify_place *at,
                 const char *fmt, ...)
{
    struct verify_result *result = &v->rules[r];
    va_list ap;
    result->state = VERIFY_FAILED;
    result->failed++;
    if (result->failures_n == VERIFY_FAILURES_MAX)
        return;
    va_start(ap, fmt);
    struct verify_failure *f = &result->failures[result->failures_n++];
    *f = (struct verify_failure){.file = keep(v, at->file),
                                 .line = at->line,
                                 .column = at->column,
                                 .path = keep(v, at->path),
                                 .what = keep_text(v, fmt, ap)};
    va_end(ap);
    if (result->failures_n == 1)
        result->seen = f->what;
}

void verify_fail_error(struct verify_report *v, enum verify_rule r, const char *dir,
                       const struct error *err)
{
    const char *file = err->file;
    size_t n = strlen(dir);
    if (strncmp(file, dir, n) == 0) {
        file += n;
        while (*file == '/')
            file++;
    }
    verify_fail(v, r, &(struct verify_place){file, err->line, err->column, ""}, "%s", err->message);
}

const char *verify_show(const struct json *v, char *out, size_t size)
{
    if (!v)
        snprintf(out, size, "nothing");
    else if (v->type == JSON_NUMBER)
        snprintf(out, size, "%.*s", STR_ARG(str_first(v->text, 60)));
    else if (v->type == JSON_STRING)
        snprintf(out, size, "\"%.*s\"", STR_ARG(str_first(v->text, 80)));
    else if (v->type == JSON_TRUE || v->type == JSON_FALSE)
        snprintf(out, size, "%s", v->type == JSON_TRUE ? "true" : "false");
    else if (v->type == JSON_NULL)
        snprintf(out, size, "null");
    else
        snprintf(out, size, "%s of %zu", json_type_name(v->type), v->n);
    return out;
}
