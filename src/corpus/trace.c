#include "corpus/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/line.h"
#include "base/num.h"
#include "codec/json.h"
#include "corpus/corpus.h"

#define AZURE_HEADER "TIMESTAMP,ContextTokens,GeneratedTokens"
#define LINE_VALUES_MAX 262144 /* of one line's JSON: hash_ids are many */

static const char *const names[] = {
#define X(id, name) name,
    TRACE_FORMATS(X)
#undef X
};

/* Where the members of a JSON form are, and how long a unit of its time is. */
static const struct {
    const char *time, *prompt, *output;
    double unit_ns;
} members[] = {
    [TRACE_JSONL] = {"time", "prompt_tokens", "output_tokens", 1e9},
    [TRACE_MOONCAKE] = {"timestamp", "input_length", "output_length", 1e6},
};

const char *trace_format_name(enum trace_format f)
{
    return f < TRACE_AUTO ? names[f] : "auto";
}

enum trace_format trace_format_find(const char *name)
{
    int f = 0;

    while (f < TRACE_AUTO && !(name && strcmp(name, names[f]) == 0))
        f++;
    return (enum trace_format)f;
}

struct reading {
    struct trace *t;
    const char *name;
    enum trace_format format;
    int64_t limit;
    int64_t line;
    int64_t first_ns; /* of the first request, on the trace's own clock */
    struct arena arena;
    struct error *err;
};

static int refuse(struct reading *r, const char *what)
{
    error_set(r->err, ERROR_INPUT, "%s", what);
    error_at_file(r->err, r->name);
    return error_at_line(r->err, r->line, 0);
}

static int add(struct reading *r, int64_t at_ns, int64_t prompt, int64_t output)
{
    struct trace *t = r->t;
    int64_t since;

    if (prompt < 1 || prompt > CORPUS_TOKENS_MAX || output < 1 || output > CORPUS_TOKENS_MAX) {
        error_set(r->err, ERROR_INPUT,
                  "a request of %lld prompt and %lld output tokens: each must be 1 to %d",
                  (long long)prompt, (long long)output, CORPUS_TOKENS_MAX);
        error_remedy(r->err, "take the line out: there is no such request to send");
        error_at_file(r->err, r->name);
        return error_at_line(r->err, r->line, 0);
    }
    if (t->n == 0)
        r->first_ns = at_ns;
    if (__builtin_sub_overflow(at_ns, r->first_ns, &since))
        since = at_ns < r->first_ns ? -1 : INT64_MAX; /* centuries apart */
    at_ns = since;
    if (at_ns < 0 || (t->n > 0 && at_ns < t->items[t->n - 1].at_ns)) {
        refuse(r, "the request came before the one above it");
        return error_remedy(r->err, "sort the trace by its times");
    }
    if (at_ns > TRACE_SPAN_MAX_NS)
        return refuse(r, "the request came more than 400 days after the first");
    if (t->n == TRACE_ITEMS_MAX) {
        error_set(r->err, ERROR_LIMIT, "more than %d requests", TRACE_ITEMS_MAX);
        error_remedy(r->err, "take a part of them: --trace-limit N");
        error_at_file(r->err, r->name);
        return error_at_line(r->err, r->line, 0);
    }
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 256;
        struct trace_item *items = realloc(t->items, cap * sizeof *items);
        if (!items)
            return error_no_memory(r->err);
        t->items = items;
        t->cap = cap;
    }
    t->items[t->n++] = (struct trace_item){at_ns, prompt, output};
    return 0;
}

static int no_member(struct reading *r, const char *name, const char *wanted)
{
    error_set(r->err, ERROR_INPUT, "\"%s\" is no %s, or is missing", name, wanted);
    error_at_file(r->err, r->name);
    return error_at_line(r->err, r->line, 0);
}

static int take_json(struct reading *r, struct str line)
{
    const struct json_limits limits = {TRACE_LINE_MAX, LINE_VALUES_MAX, 8};
    const struct json *v;
    int64_t prompt, output;
    double time;

    arena_reset(&r->arena);
    if (json_parse(&v, line, &limits, &r->arena, r->err) < 0) {
        error_at_file(r->err, r->name);
        return error_at_line(r->err, r->line, 0);
    }
    if (r->format == TRACE_AUTO)
        r->format = json_get(v, members[TRACE_MOONCAKE].time) ? TRACE_MOONCAKE : TRACE_JSONL;
    if (json_double(&time, json_get(v, members[r->format].time)) < 0 || !isfinite(time))
        return no_member(r, members[r->format].time, "time");
    if (json_i64(&prompt, json_get(v, members[r->format].prompt)) < 0)
        return no_member(r, members[r->format].prompt, "number of tokens");
    if (json_i64(&output, json_get(v, members[r->format].output)) < 0)
        return no_member(r, members[r->format].output, "number of tokens");
    /* a time may lie long after the epoch: what counts is how long after the first */
    time *= members[r->format].unit_ns;
    if (!(fabs(time) < 4e18))
        return refuse(r, "the time is out of range");
    return add(r, (int64_t)llround(time), prompt, output);
}

/* "2023-11-16 18:17:03.9799600", "2024-05-10 00:00:00.009930+00:00" */
static int azure_time(int64_t *ns, struct str s)
{
    s = str_trim(s);
    if (str_ends(s, STR("+00:00")))
        s = str_first(s, s.n - 6);
    return s.n < 19 ? -1 : clock_parse_utc(ns, s);
}

static int take_csv(struct reading *r, struct str line)
{
    struct str time, prompt_text, output_text, rest;
    int64_t at_ns, prompt, output;

    if (!str_cut(line, ',', &time, &rest) || !str_cut(rest, ',', &prompt_text, &output_text))
        return refuse(r, "three columns are wanted: " AZURE_HEADER);
    if (azure_time(&at_ns, time) < 0)
        return refuse(r, "the first column is no time such as 2023-11-16 18:17:03.9799600");
    if (num_parse_i64(&prompt, str_trim(prompt_text)) < 0 ||
        num_parse_i64(&output, str_trim(output_text)) < 0)
        return refuse(r, "the second and third column are no numbers of tokens");
    return add(r, at_ns, prompt, output);
}

static int take_line(struct reading *r, struct str line)
{
    if (r->line == 1 && str_starts(line, STR("\xef\xbb\xbf")))
        line = str_skip(line, 3);
    if (str_trim(line).n == 0)
        return 0;
    if (r->t->n == 0 && str_eq(str_trim(line), STR(AZURE_HEADER)) &&
        (r->format == TRACE_AUTO || r->format == TRACE_AZURE)) {
        r->format = TRACE_AZURE;
        return 0;
    }
    if (r->format == TRACE_AZURE)
        return take_csv(r, line);
    if (r->format == TRACE_AUTO && str_trim(line).p[0] != '{') {
        refuse(r, "this is neither JSON nor the header " AZURE_HEADER);
        return error_remedy(r->err, "see docs/load.md for the forms of traces");
    }
    return take_json(r, line);
}

static void begin(struct reading *r, struct trace *t, const char *name, enum trace_format format,
                  int64_t limit, struct error *err)
{
    *t = (struct trace){.path = name};
    *r = (struct reading){
        .t = t, .name = name, .format = format, .limit = limit > 0 ? limit : INT64_MAX, .err = err};
    arena_init(&r->arena, (size_t)256 << 20);
}

static bool wants_more(const struct reading *r)
{
    return (int64_t)r->t->n < r->limit;
}

static int finish(struct reading *r, int status)
{
    if (status == 0 && r->t->n == 0) {
        error_set(r->err, ERROR_INPUT, "there is no request in it");
        error_at_file(r->err, r->name);
        status = -1;
    }
    r->t->format = r->format;
    arena_release(&r->arena);
    if (status < 0)
        trace_release(r->t);
    return status;
}

int trace_read_bytes(struct trace *t, struct str bytes, const char *name, enum trace_format format,
                     int64_t limit, struct error *err)
{
    struct reading r;
    struct str line, rest = bytes;
    int status = 0;

    begin(&r, t, name, format, limit, err);
    while (status == 0 && rest.n > 0 && wants_more(&r)) {
        str_cut(rest, '\n', &line, &rest);
        r.line++;
        status = line.n > TRACE_LINE_MAX ? refuse(&r, "the line is too long") : take_line(&r, line);
    }
    return finish(&r, status);
}

int trace_read(struct trace *t, const char *path, enum trace_format format, int64_t limit,
               struct error *err)
{
    struct line_reader lines;
    struct reading r;
    struct str line;
    int got = 0, status = 0;

    if (line_open(&lines, path, TRACE_LINE_MAX, err) < 0)
        return -1;
    begin(&r, t, path, format, limit, err);
    while (status == 0 && wants_more(&r) && (got = line_next(&lines, &line, err)) > 0) {
        r.line = lines.number;
        status = take_line(&r, line);
    }
    line_close(&lines);
    if (status == 0 && got >= 0)
        status = sha256_file_hex(t->sha256, path, err);
    return finish(&r, got < 0 ? -1 : status);
}

void trace_release(struct trace *t)
{
    if (!t)
        return;
    free(t->items);
    *t = (struct trace){0};
}

/* floor(at * 1000 / speed), in whole seconds first so that it does not overflow. */
int64_t trace_due_ns(const struct trace_item *item, int32_t speed)
{
    int64_t second = INT64_C(1000000000), whole = item->at_ns / second * 1000,
            rest = item->at_ns % second * 1000;

    return whole / speed * second + (whole % speed * second + rest) / speed;
}

int64_t trace_pick(const struct trace *t, bool warmup, int64_t index)
{
    int64_t n = (int64_t)t->n;

    return warmup ? n - 1 - index % n : index % n;
}
