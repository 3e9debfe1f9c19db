#include "codec/json_build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Up to here duplicate keys are found by comparing all pairs, past it by sorting. */
#define PAIRS_MAX 16

struct json_pending {
    struct json_member member; /* in an array without a name */
    struct json_place key_at;
};

struct json_frame {
    bool object, has_key;
    size_t first; /* where its values begin on the stack */
    struct str key;
    struct json_place at, key_at;
};

void json_builder_init(struct json_builder *b, const char *format, const struct json_limits *limits,
                       struct arena *arena)
{
    *b = (struct json_builder){.format = format, .limits = *limits, .arena = arena};
    if (b->limits.depth > JSON_DEPTH_MOST)
        b->limits.depth = JSON_DEPTH_MOST;
}

void json_builder_release(struct json_builder *b)
{
    if (!b)
        return;
    free(b->stack);
    free(b->frames);
    *b = (struct json_builder){0};
}

static int at_place(struct error *err, struct json_place at)
{
    return error_at_line(err, at.line, at.column);
}

static int need_room(void **p, size_t n, size_t *cap, size_t size, struct error *err)
{
    if (n < *cap)
        return 0;
    size_t more = *cap ? *cap * 2 : 16;
    void *q = realloc(*p, more * size);
    if (!q)
        return error_no_memory(err);
    *p = q;
    *cap = more;
    return 0;
}

static int keep(struct json_builder *b, struct str s, struct str *out, struct error *err)
{
    *out = arena_str(b->arena, s);
    return out->p ? 0 : arena_check(b->arena, b->format, err);
}

static struct json_frame *top(struct json_builder *b)
{
    return b->depth ? &b->frames[b->depth - 1] : NULL;
}

static int push(struct json_builder *b, struct json v, struct error *err)
{
    struct json_frame *f = top(b);
    if (!f) {
        b->root.value = v;
        return 0;
    }
    assert(f->has_key == f->object);
    if (need_room((void **)&b->stack, b->n, &b->cap, sizeof *b->stack, err) < 0)
        return -1;
    b->stack[b->n++] = (struct json_pending){{f->key, v}, f->key_at};
    f->has_key = false;
    return 0;
}

static int count(struct json_builder *b, struct json_place at, struct error *err)
{
    if (b->values < b->limits.values) {
        b->values++;
        return 0;
    }
    error_set(err, ERROR_LIMIT, "%s of more than %zu values", b->format, b->limits.values);
    return at_place(err, at);
}

int json_build_key(struct json_builder *b, struct str name, struct json_place at, struct error *err)
{
    struct json_frame *f = top(b);
    assert(f && f->object && !f->has_key);
    if (keep(b, name, &f->key, err) < 0)
        return -1;
    f->key_at = at;
    f->has_key = true;
    return 0;
}

int json_build_value(struct json_builder *b, enum json_type type, struct str text,
                     struct json_place at, struct error *err)
{
    struct json v = {.type = type, .line = at.line, .column = at.column};
    if (count(b, at, err) < 0)
        return -1;
    if ((type == JSON_STRING || type == JSON_NUMBER) && keep(b, text, &v.text, err) < 0)
        return -1;
    return push(b, v, err);
}

int json_build_open(struct json_builder *b, bool object, struct json_place at, struct error *err)
{
    if (count(b, at, err) < 0)
        return -1;
    if (b->depth == b->limits.depth) {
        error_set(err, ERROR_LIMIT, "%s nested deeper than %u levels", b->format, b->limits.depth);
        return at_place(err, at);
    }
    if (need_room((void **)&b->frames, b->depth, &b->frames_cap, sizeof *b->frames, err) < 0)
        return -1;
    b->frames[b->depth++] = (struct json_frame){.object = object, .first = b->n, .at = at};
    return 0;
}

static int twice(const struct json_pending *p, struct error *err)
{
    struct str name = p->member.name;
    error_set(err, ERROR_INPUT, "the key \"%.*s\" stands twice in one object", STR_ARG(name));
    error_remedy(err, "remove one of the two");
    return at_place(err, p->key_at);
}

static int by_name(const void *a, const void *b)
{
    const struct json_pending *const *pa = a, *const *pb = b;
    int c = str_cmp((*pa)->member.name, (*pb)->member.name);
    return c ? c : (*pa > *pb) - (*pa < *pb);
}

static int check_many(const struct json_pending *p, size_t n, struct error *err)
{
    const struct json_pending **sorted = malloc(n * sizeof *sorted), *found = NULL;
    if (!sorted)
        return error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &p[i];
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n; i++)
        if (str_eq(sorted[i - 1]->member.name, sorted[i]->member.name) &&
            (!found || sorted[i] < found))
            found = sorted[i];
    free(sorted);
    return found ? twice(found, err) : 0;
}

static int check_keys(const struct json_pending *p, size_t n, struct error *err)
{
    if (n > PAIRS_MAX)
        return check_many(p, n, err);
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(p[i].member.name, p[j].member.name))
                return twice(&p[i], err);
    return 0;
}

int json_build_close(struct json_builder *b, struct error *err)
{
    const struct json_frame *f = top(b);
    assert(f && !f->has_key);
    size_t n = b->n - f->first;
    struct json_pending *from = n ? b->stack + f->first : NULL;
    struct json v = {.type = f->object ? JSON_OBJECT : JSON_ARRAY,
                     .line = f->at.line,
                     .column = f->at.column,
                     .n = n};
    if (f->object) {
        struct json_member *to = arena_array(b->arena, n, sizeof *to);
        if (!to)
            return arena_check(b->arena, b->format, err);
        if (check_keys(from, n, err) < 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            to[i] = from[i].member;
        v.members = to;
    } else {
        struct json *to = arena_array(b->arena, n, sizeof *to);
        if (!to)
            return arena_check(b->arena, b->format, err);
        for (size_t i = 0; i < n; i++)
            to[i] = from[i].member.value;
        v.items = to;
    }
    b->n = f->first;
    b->depth--;
    return push(b, v, err);
}

bool json_build_wants_key(const struct json_builder *b)
{
    const struct json_frame *f = b->depth ? &b->frames[b->depth - 1] : NULL;
    return f && f->object && !f->has_key;
}

int json_build_finish(struct json_builder *b, const struct json **out, struct error *err)
{
    assert(b->depth == 0);
    struct json *root = arena_alloc(b->arena, sizeof *root);
    if (!root)
        return arena_check(b->arena, b->format, err);
    *root = b->root.value;
    *out = root;
    return 0;
}
