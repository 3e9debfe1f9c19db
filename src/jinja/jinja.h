/*
 * Jinja2 templates, as Jinja2 3.1 renders them in its immutable sandbox. Knows nothing of chat.
 *
 *     struct jinja_template *t;
 *     if (jinja_parse(&t, source, &JINJA_SYNTAX_TRANSFORMERS, err) < 0) ...
 *     if (jinja_render(t, context, &(struct jinja_render){.now = &now}, &out, err) < 0) ...
 *     jinja_template_free(t);
 *
 * Parse once, render as often as needed: a template is immutable, and many threads may render it,
 * each with a buffer (and scratch arena) of its own. Functions beyond Jinja2's: raise_exception and
 * strftime_now; tojson is Python's json.dumps (insertion order, no HTML escaping).
 * Errors carry line and column of the template and the expression as written. A template that
 * calls raise_exception fails with ERROR_INPUT and rule "raise_exception", its text as message.
 * Limits: below. No file, no environment, no mutation is within a template's reach. A render that
 * fails leaves `out` as it was.
 */
#ifndef TALLY_JINJA_JINJA_H
#define TALLY_JINJA_JINJA_H

#include "base/buf.h"
#include "jinja/value.h"

#define JINJA_SOURCE_MAX ((size_t)1 << 20) /* bytes of source */
#define JINJA_DEPTH_MAX 200                /* nesting of the syntax, and of values walked */
#define JINJA_EVAL_DEPTH_MAX 1000          /* nesting of evaluations, through all macros */
#define JINJA_MACRO_DEPTH_MAX 64
#define JINJA_STEPS_MAX 5000000 /* node visits; string and list work is charged by size */
#define JINJA_RANGE_MAX 100000
#define JINJA_OUTPUT_MAX ((size_t)8 << 20) /* bytes of output, captured blocks included */
#define JINJA_ARENA_MAX ((size_t)256 << 20)
#define JINJA_WIDTH_MAX 1000 /* indents, widths, precisions */
#define JINJA_TIME_MAX_NS INT64_C(5000000000)

struct jinja_template;

struct jinja_syntax {
    bool trim_blocks, lstrip_blocks, keep_trailing_newline;
};
/* As Hugging Face `transformers` sets its environment up. */
#define JINJA_SYNTAX_TRANSFORMERS ((struct jinja_syntax){true, true, false})

/* What strftime_now formats: local time, broken down. */
struct jinja_time {
    int year, month, day, hour, minute, second; /* 2026, 1-12, 1-31, 0-23, 0-59, 0-60 */
};

/* A stretch of output and the template expression or text that wrote it, in output order. */
struct jinja_span {
    size_t from, to; /* bytes of this render's output */
    uint32_t source; /* byte offset in the template (its newlines normalized) */
    bool literal;    /* template text or an expression that is a constant */
};
struct jinja_spans {
    struct jinja_span *items; /* heap; release with jinja_spans_release */
    size_t n, cap;
};

struct jinja_render {
    const struct jinja_time *now; /* NULL: strftime_now is an error */
    struct arena *scratch;        /* reset and used when given; its max is the caller's */
    int64_t time_max_ns;          /* 0: JINJA_TIME_MAX_NS */
    uint64_t steps_max;           /* 0: JINJA_STEPS_MAX */
    struct jinja_spans *spans;    /* filled when given */
};

/* ERROR_INPUT with line, column and what is wrong; ERROR_UNSUPPORTED names a tag, ERROR_LIMIT a
 * limit. The source is copied. */
int jinja_parse(struct jinja_template **out, struct str source, const struct jinja_syntax *syntax,
                struct error *err) TALLY_MUST_CHECK;
void jinja_template_free(struct jinja_template *t); /* NULL is fine */

/* Appends to out. context is a dict. */
int jinja_render(const struct jinja_template *t, struct jinja_value context,
                 const struct jinja_render *options, struct buf *out,
                 struct error *err) TALLY_MUST_CHECK;

/* Whether the template reads this name from its context (whatever it then does with it). */
bool jinja_reads(const struct jinja_template *t, struct str name);

void jinja_spans_release(struct jinja_spans *s);

#endif
