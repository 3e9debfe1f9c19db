#include "codec/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/num.h"
#include "codec/json_stream.h"

#define FRAMES_MAX 512
/* Up to here duplicate keys are found by comparing, past it by a table. */
#define SCAN_MEMBERS 16

/* A container that is being filled; its children gather in a heap array and move to the arena in
 * one piece when it closes, so that siblings lie side by side. */
struct frame {
    bool object;
    size_t n, cap;
    struct json *items;
    struct json_member *members;
    struct str key;
    uint32_t line, column;
};

struct builder {
    struct arena *arena;
    struct json_stream *stream;
    struct str text;
    const struct json_limits *limits;
    size_t values;
    struct frame frames[FRAMES_MAX];
    size_t depth;
    struct json root;
    size_t line_at, line; /* a place already counted: byte offset and its line */
    size_t line_start;
};

static void place(struct builder *b, size_t offset, uint32_t *line, uint32_t *column)
{
    if (offset > b->text.n)
        offset = b->text.n;
    while (b->line_at < offset) {
        const char *from = b->text.p + b->line_at;
        const char *lf = memchr(from, '\n', offset - b->line_at);
        if (!lf)
            break;
        b->line_at = (size_t)(lf - b->text.p) + 1;
        b->line_start = b->line_at;
        b->line++;
    }
    *line = (uint32_t)b->line;
    *column = (uint32_t)(offset - b->line_start + 1);
}

static int error_here(struct builder *b, struct error *err)
{
    uint32_t line, column;
    size_t at = json_stream_offset(b->stream);
    place(b, at, &line, &column);
    error_at_line(err, line, column);
    return error_at_offset(err, (int64_t)at);
}

static int grow(void **p, size_t *cap, size_t size, struct error *err)
{
    size_t more = *cap ? *cap * 2 : 8;
    void *q = realloc(*p, more * size);
    if (!q)
        return error_no_memory(err);
    *p = q;
    *cap = more;
    return 0;
}

static int put(struct builder *b, struct json v, struct error *err)
{
    if (++b->values > b->limits->values)
        return error_set(err, ERROR_LIMIT, "JSON of more than %zu values", b->limits->values);
    if (v.line == 0)
        place(b, json_stream_offset(b->stream), &v.line, &v.column);
    if (b->depth == 0) {
        b->root = v;
        return 0;
    }
    struct frame *f = &b->frames[b->depth - 1];
    void **array = f->object ? (void **)&f->members : (void **)&f->items;
    size_t size = f->object ? sizeof *f->members : sizeof *f->items;
    if (f->n == f->cap && grow(array, &f->cap, size, err) < 0)
        return -1;
    if (f->object)
        f->members[f->n++] = (struct json_member){f->key, v};
    else
        f->items[f->n++] = v;
    return 0;
}

static int keep(struct builder *b, struct str s, struct str *out, struct error *err)
{
    *out = arena_str(b->arena, s);
    return out->p ? 0 : arena_check(b->arena, "JSON document", err);
}

static int take_null(void *ctx, struct error *err)
{
    return put(ctx, (struct json){.type = JSON_NULL}, err);
}

static int take_boolean(void *ctx, bool value, struct error *err)
{
    return put(ctx, (struct json){.type = value ? JSON_TRUE : JSON_FALSE}, err);
}

static int take_text(struct builder *b, enum json_type type, struct str s, struct error *err)
{
    struct json v = {.type = type};
    return keep(b, s, &v.text, err) < 0 ? -1 : put(b, v, err);
}

static int take_number(void *ctx, struct str text, struct error *err)
{
    return take_text(ctx, JSON_NUMBER, text, err);
}

static int take_string(void *ctx, struct str value, struct error *err)
{
    return take_text(ctx, JSON_STRING, value, err);
}

static int take_key(void *ctx, struct str name, struct error *err)
{
    struct builder *b = ctx;
    return keep(b, name, &b->frames[b->depth - 1].key, err);
}

static int push(struct builder *b, bool object, struct error *err)
{
    if (b->depth == FRAMES_MAX)
        return error_set(err, ERROR_LIMIT, "JSON nested deeper than %d levels", FRAMES_MAX);
    struct frame *f = &b->frames[b->depth];
    *f = (struct frame){.object = object};
    place(b, json_stream_offset(b->stream), &f->line, &f->column);
    b->depth++;
    return 0;
}

static int start_object(void *ctx, struct error *err)
{
    return push(ctx, true, err);
}

static int start_array(void *ctx, struct error *err)
{
    return push(ctx, false, err);
}

static int duplicate(struct builder *b, struct str name, struct error *err)
{
    error_set(err, ERROR_INPUT, "the key \"%.*s\" stands twice in one object", STR_ARG(name));
    return error_here(b, err);
}

static int check_few(struct builder *b, const struct frame *f, struct error *err)
{
    for (size_t i = 1; i < f->n; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(f->members[i].name, f->members[j].name))
                return duplicate(b, f->members[i].name, err);
    return 0;
}

static int check_many(struct builder *b, const struct frame *f, struct error *err)
{
    size_t slots = 64;
    while (slots < f->n * 2)
        slots *= 2;
    size_t *table = calloc(slots, sizeof *table);
    if (!table)
        return error_no_memory(err);
    int status = 0;
    for (size_t i = 0; i < f->n && status == 0; i++) {
        struct str name = f->members[i].name;
        size_t at = hash64(name.p, name.n, 1) & (slots - 1);
        for (; table[at]; at = (at + 1) & (slots - 1))
            if (str_eq(name, f->members[table[at] - 1].name)) {
                status = duplicate(b, name, err);
                break;
            }
        table[at] = i + 1;
    }
    free(table);
    return status;
}

static int pop(struct builder *b, struct error *err)
{
    struct frame *f = &b->frames[b->depth - 1];
    struct json v = {.type = f->object ? JSON_OBJECT : JSON_ARRAY,
                     .line = f->line,
                     .column = f->column,
                     .n = f->n};
    if (f->object && (f->n <= SCAN_MEMBERS ? check_few(b, f, err) : check_many(b, f, err)) < 0)
        return -1;
    size_t size = f->object ? sizeof *f->members : sizeof *f->items;
    void *from = f->object ? (void *)f->members : (void *)f->items;
    void *to = arena_array(b->arena, f->n, size);
    if (!to)
        return arena_check(b->arena, "JSON document", err);
    if (f->n)
        memcpy(to, from, f->n * size);
    free(from);
    if (f->object)
        v.members = to;
    else
        v.items = to;
    *f = (struct frame){0};
    b->depth--;
    return put(b, v, err);
}

static int end_container(void *ctx, struct error *err)
{
    return pop(ctx, err);
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
    struct json *root = arena_alloc(arena, sizeof *root);
    struct builder *b = calloc(1, sizeof *b);
    if (!root || !b) {
        error_no_memory(err);
        goto out;
    }
    b->arena = arena;
    b->text = text;
    b->limits = limits;
    b->line = 1;
    b->stream = json_stream_new(&events, b, limits->depth);
    if (!b->stream) {
        error_no_memory(err);
        goto out;
    }
    if (json_stream_feed(b->stream, text, err) < 0 || json_stream_finish(b->stream, err) < 0) {
        if (err->line == 0 && err->offset > 0) {
            uint32_t line, column;
            place(b, (size_t)(err->offset - 1), &line, &column);
            error_at_line(err, line, column);
        }
        goto out;
    }
    *root = b->root;
    *out = root;
    status = 0;
out:
    if (b) {
        for (size_t i = 0; i < b->depth; i++)
            free(b->frames[i].object ? (void *)b->frames[i].members : (void *)b->frames[i].items);
        json_stream_free(b->stream);
        free(b);
    }
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
        if (a->type == JSON_ARRAY
                ? !json_equal(&a->items[i], &b->items[i])
                : !json_equal(&a->members[i].value, json_get_str(b, a->members[i].name)))
            return false;
    }
    return true;
}
