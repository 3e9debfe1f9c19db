#include "codec/prometheus.h"

#include <math.h>
#include <stdbool.h>

#include "base/num.h"

/* A line while it is read. */
struct cursor {
    struct str line;
    size_t at;
    int64_t number;
    struct error *err;
};

static int wrong(const struct cursor *c, const char *what)
{
    error_set(c->err, ERROR_INPUT, "%s", what);
    return error_at_line(c->err, c->number, (int64_t)c->at + 1);
}

static int too_much(const struct cursor *c, const char *what, size_t limit)
{
    error_set(c->err, ERROR_LIMIT, "%s: more than %zu", what, limit);
    return error_at_line(c->err, c->number, (int64_t)c->at + 1);
}

static bool has(const struct cursor *c, char wanted)
{
    return c->at < c->line.n && c->line.p[c->at] == wanted;
}

static void skip_blanks(struct cursor *c)
{
    while (has(c, ' ') || has(c, '\t'))
        c->at++;
}

static bool is_name(char c, bool first, bool colon)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':') ||
           (!first && c >= '0' && c <= '9');
}

static struct str name_at(struct cursor *c, bool colon)
{
    size_t from = c->at;
    while (c->at < c->line.n && is_name(c->line.p[c->at], c->at == from, colon))
        c->at++;
    return str_first(str_skip(c->line, from), c->at - from);
}

/* "…" with \\, \" and \n inside. */
static int quoted(struct cursor *c)
{
    if (!has(c, '"'))
        return wrong(c, "a label's value in quotes is wanted");
    for (c->at++; c->at < c->line.n && !has(c, '"'); c->at++)
        if (has(c, '\\'))
            c->at++;
    if (!has(c, '"'))
        return wrong(c, "a label's value does not end");
    c->at++;
    return 0;
}

static int labels(struct cursor *c, struct str *out)
{
    size_t n = 0, from = ++c->at;
    for (skip_blanks(c); !has(c, '}'); skip_blanks(c)) {
        if (n++ == PROM_LABELS_MAX)
            return too_much(c, "labels of one metric", PROM_LABELS_MAX);
        if (name_at(c, false).n == 0)
            return wrong(c, "a label's name is wanted");
        skip_blanks(c);
        if (!has(c, '='))
            return wrong(c, "'=' is wanted behind a label's name");
        c->at++;
        skip_blanks(c);
        if (quoted(c) < 0)
            return -1;
        skip_blanks(c);
        if (has(c, ','))
            c->at++;
        else if (!has(c, '}'))
            return wrong(c, "',' or '}' is wanted behind a label");
    }
    *out = str_first(str_skip(c->line, from), c->at - from);
    c->at++;
    return 0;
}

static int value_of(double *out, struct str s)
{
    struct str digits = str_starts(s, STR("+")) ? str_skip(s, 1) : s;
    if (str_eq_nocase(s, STR("NaN")))
        *out = (double)NAN;
    else if (str_eq_nocase(digits, STR("Inf")))
        *out = (double)INFINITY;
    else if (str_eq_nocase(s, STR("-Inf")))
        *out = -(double)INFINITY;
    else
        return num_parse_double(out, digits);
    return 0;
}

/* The word at c, up to a blank. */
static struct str word(struct cursor *c)
{
    size_t from = c->at;
    while (c->at < c->line.n && !has(c, ' ') && !has(c, '\t'))
        c->at++;
    return str_first(str_skip(c->line, from), c->at - from);
}

static int read_line(struct cursor *c, struct prom_sample *s)
{
    double stamp;
    *s = (struct prom_sample){.line = c->number};
    s->name = name_at(c, true);
    if (s->name.n == 0)
        return wrong(c, "a metric's name is wanted");
    skip_blanks(c);
    if (has(c, '{') && labels(c, &s->labels) < 0)
        return -1;
    skip_blanks(c);
    size_t at = c->at;
    if (value_of(&s->value, word(c)) < 0) {
        c->at = at;
        return wrong(c, "a number is wanted behind the metric");
    }
    skip_blanks(c);
    if (c->at == c->line.n || has(c, '#')) /* an exemplar */
        return 0;
    at = c->at;
    if (num_parse_double(&stamp, word(c)) < 0) {
        c->at = at;
        return wrong(c, "what stands behind the number is no time stamp");
    }
    skip_blanks(c);
    return c->at == c->line.n || has(c, '#') ? 0 : wrong(c, "more than a line may hold");
}

int prom_read(struct str text, int (*take)(void *ctx, const struct prom_sample *s), void *ctx,
              struct error *err)
{
    struct cursor c = {.err = err};
    struct str rest = text;
    size_t n = 0;
    while (rest.n > 0) {
        struct prom_sample s;
        c.at = 0;
        c.number++;
        str_cut(rest, '\n', &c.line, &rest);
        if (c.line.n > PROM_LINE_MAX)
            return too_much(&c, "bytes of a line", PROM_LINE_MAX);
        if (str_ends(c.line, STR("\r")))
            c.line.n--;
        skip_blanks(&c);
        if (c.at == c.line.n || has(&c, '#'))
            continue;
        if (n++ == PROM_SAMPLES_MAX)
            return too_much(&c, "samples", PROM_SAMPLES_MAX);
        if (read_line(&c, &s) < 0)
            return -1;
        if (take(ctx, &s) != 0)
            return 1;
    }
    return 0;
}
