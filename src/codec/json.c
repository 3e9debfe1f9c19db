#include "codec/json.h"

#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "codec/json_build.h"
#include "codec/json_stream.h"

/* One parse: the builder, and where in the text the events are. */
struct reader {
    struct json_builder build;
    struct json_stream *stream;
    struct str text;
    size_t end;                  /* behind the last event */
    size_t line_start, line_end; /* a line: from its first byte to its LF or the text's end */
    uint32_t line;               /* and its number */
};

static void take_line(struct reader *r, size_t start, uint32_t number)
{
    const char *lf = start < r->text.n ? memchr(r->text.p + start, '\n', r->text.n - start) : NULL;
    r->line_start = start;
    r->line_end = lf ? (size_t)(lf - r->text.p) : r->text.n;
    r->line = number;
}

/* Offsets mostly ascend, so that each byte is searched for line feeds once. */
static struct json_place place_of(struct reader *r, size_t offset)
{
    if (offset > r->text.n)
        offset = r->text.n;
    if (offset < r->line_start)
        take_line(r, 0, 1);
    while (offset > r->line_end)
        take_line(r, r->line_end + 1, r->line + 1);
    return (struct json_place){r->line, (uint32_t)(offset - r->line_start + 1)};
}

static bool separates(char c)
{
    return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\t' || c == '\r';
}

/* The place of the token just reported: it begins behind the last one, past separators. */
static struct json_place next_place(struct reader *r)
{
    size_t at = r->end;
    while (at < r->text.n && separates(r->text.p[at]))
        at++;
    r->end = json_stream_offset(r->stream);
    return place_of(r, at);
}

static int take_null(void *ctx, struct error *err)
{
    struct reader *r = ctx;
    return json_build_value(&r->build, JSON_NULL, STR(""), next_place(r), err);
}

static int take_boolean(void *ctx, bool value, struct error *err)
{
    struct reader *r = ctx;
    return json_build_value(&r->build, value ? JSON_TRUE : JSON_FALSE, STR(""), next_place(r), err);
}

static int take_number(void *ctx, struct str text, struct error *err)
{
    struct reader *r = ctx;
    return json_build_value(&r->build, JSON_NUMBER, text, next_place(r), err);
}

static int take_string(void *ctx, struct str value, struct error *err)
{
    struct reader *r = ctx;
    return json_build_value(&r->build, JSON_STRING, value, next_place(r), err);
}

static int take_key(void *ctx, struct str name, struct error *err)
{
    struct reader *r = ctx;
    return json_build_key(&r->build, name, next_place(r), err);
}

static int start_object(void *ctx, struct error *err)
{
    struct reader *r = ctx;
    return json_build_open(&r->build, true, next_place(r), err);
}

static int start_array(void *ctx, struct error *err)
{
    struct reader *r = ctx;
    return json_build_open(&r->build, false, next_place(r), err);
}

static int end_container(void *ctx, struct error *err)
{
    struct reader *r = ctx;
    r->end = json_stream_offset(r->stream);
    return json_build_close(&r->build, err);
}

static int read_text(struct reader *r, struct error *err)
{
    if (json_stream_feed(r->stream, r->text, err) == 0 && json_stream_finish(r->stream, err) == 0)
        return 0;
    if (err->line == 0 && err->offset > 0) {
        struct json_place at = place_of(r, (size_t)(err->offset - 1));
        error_at_line(err, at.line, at.column);
    }
    return -1;
}

int json_parse(const struct json **out, struct str text, const struct json_limits *limits,
               struct arena *arena, struct error *err)
{
    static const struct json_events events = {
        .null = take_null,
        .boolean = take_boolean,
        .number = take_number,
        .string = take_string,
        .key = take_key,
        .start_object = start_object,
        .end_object = end_container,
        .start_array = start_array,
        .end_array = end_container,
    };
    if (text.n > limits->bytes)
        return error_set(err, ERROR_LIMIT, "JSON longer than %zu bytes", limits->bytes);
    int status = -1;
    struct reader r = {.text = text};
    take_line(&r, 0, 1);
    json_builder_init(&r.build, "JSON", limits, arena);
    r.stream = json_stream_new(&events, &r, limits->depth);
    if (!r.stream)
        error_no_memory(err);
    else if (read_text(&r, err) == 0)
        status = json_build_finish(&r.build, out, err);
    json_stream_free(r.stream);
    json_builder_release(&r.build);
    return status;
}

int json_parse_file(const struct json **out, const char *path, const struct json_limits *limits,
                    struct arena *arena, struct error *err)
{
    struct buf text = BUF_INIT(0);
    int status = file_read(&text, path, limits->bytes, err);
    if (status == 0 && json_parse(out, buf_str(&text), limits, arena, err) < 0)
        status = error_at_file(err, strcmp(path, "-") == 0 ? "<stdin>" : path);
    buf_release(&text);
    return status;
}

const struct json *json_get_str(const struct json *object, struct str name)
{
    if (!json_is(object, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < object->n; i++)
        if (str_eq(object->members[i].name, name))
            return &object->members[i].value;
    return NULL;
}

const struct json *json_get(const struct json *object, const char *name)
{
    return json_get_str(object, str_of(name));
}

const struct json *json_at(const struct json *array, size_t i)
{
    return json_is(array, JSON_ARRAY) && i < array->n ? &array->items[i] : NULL;
}

const struct json *json_path(const struct json *doc, const char *path)
{
    struct str rest = str_of(path), name;
    while (doc && rest.n) {
        uint64_t i;
        str_cut(rest, '.', &name, &rest);
        if (doc->type == JSON_ARRAY)
            doc = num_parse_u64(&i, name) == 0 ? json_at(doc, (size_t)i) : NULL;
        else
            doc = json_get_str(doc, name);
    }
    return doc;
}

int json_i64(int64_t *out, const struct json *v)
{
    return json_is(v, JSON_NUMBER) ? num_parse_i64(out, v->text) : -1;
}

int json_double(double *out, const struct json *v)
{
    return json_is(v, JSON_NUMBER) ? num_parse_double(out, v->text) : -1;
}

int json_bool(bool *out, const struct json *v)
{
    if (!json_is_bool(v))
        return -1;
    *out = v->type == JSON_TRUE;
    return 0;
}

int json_str(struct str *out, const struct json *v)
{
    if (!json_is(v, JSON_STRING))
        return -1;
    *out = v->text;
    return 0;
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return names[type];
}

static int wrong(const struct json *object, const struct json *v, const char *name,
                 const char *wanted, struct error *err)
{
    if (!json_is(object, JSON_OBJECT)) {
        error_set(err, ERROR_INPUT, "an object with the member \"%s\" was expected%s%s", name,
                  object ? ", not " : "", object ? json_type_name(object->type) : "");
        if (object && object->line)
            error_at_line(err, object->line, object->column);
    } else if (!v) {
        error_set(err, ERROR_INPUT, "the member \"%s\" is missing", name);
        error_at_line(err, object->line, object->column);
    } else {
        error_set(err, ERROR_INPUT, "\"%s\" must be %s, not %s", name, wanted,
                  v->type == JSON_NUMBER ? "this number" : json_type_name(v->type));
        error_at_line(err, v->line, v->column);
    }
    return -1;
}

int json_need(const struct json **out, const struct json *object, const char *name,
              enum json_type type, struct error *err)
{
    const struct json *v = json_get(object, name);
    if (!json_is(v, type))
        return wrong(object, v, name, json_type_name(type), err);
    *out = v;
    return 0;
}

int json_need_i64(int64_t *out, const struct json *object, const char *name, struct error *err)
{
    const struct json *v = json_get(object, name);
    return json_i64(out, v) == 0 ? 0 : wrong(object, v, name, "an integer of 64 bits", err);
}

int json_need_double(double *out, const struct json *object, const char *name, struct error *err)
{
    const struct json *v = json_get(object, name);
    return json_double(out, v) == 0 ? 0 : wrong(object, v, name, "a finite number", err);
}

int json_need_bool(bool *out, const struct json *object, const char *name, struct error *err)
{
    const struct json *v = json_get(object, name);
    return json_bool(out, v) == 0 ? 0 : wrong(object, v, name, "true or false", err);
}

int json_need_str(struct str *out, const struct json *object, const char *name, struct error *err)
{
    const struct json *v = json_get(object, name);
    return json_str(out, v) == 0 ? 0 : wrong(object, v, name, "a string", err);
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (!a || !b || a->type != b->type || a->n != b->n)
        return a == b;
    if (a->type == JSON_NUMBER || a->type == JSON_STRING)
        return str_eq(a->text, b->text);
    for (size_t i = 0; i < a->n; i++) {
        const struct json *left, *right;
        if (a->type == JSON_ARRAY) {
            left = &a->items[i];
            right = &b->items[i];
        } else {
            struct str name = a->members[i].name;
            left = &a->members[i].value;
            /* Mostly the order is the same, which spares the search. */
            right = str_eq(name, b->members[i].name) ? &b->members[i].value : json_get_str(b, name);
        }
        if (!json_equal(left, right))
            return false;
    }
    return true;
}
