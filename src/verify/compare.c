/* Two documents side by side. */
#include <stdio.h>

#include "base/buf.h"
#include "verify/note.h"

#define PATH_BYTES 512

struct walk {
    struct buf path;
    void (*on)(void *ctx, const struct verify_difference *d);
    void *ctx;
};

static void tell(struct walk *w, const struct json *stored, const struct json *made,
                 const struct json *at)
{
    const struct verify_difference d = {w->path.p ? w->path.p : "", stored, made, at};
    w->on(w->ctx, &d);
}

static size_t push(struct walk *w, struct str name)
{
    size_t before = w->path.n;
    if (before + name.n + 1 < PATH_BYTES) {
        if (before)
            buf_addc(&w->path, '.');
        buf_addstr(&w->path, name);
    }
    return before;
}

static void walk_values(struct walk *w, const struct json *stored, const struct json *made);

static void walk_objects(struct walk *w, const struct json *stored, const struct json *made)
{
    for (size_t i = 0; i < made->n; i++) {
        const struct json_member *m = &made->members[i];
        /* Both lists are in the composer's order nearly always: no search then. */
        const struct json *s = i < stored->n && str_eq(stored->members[i].name, m->name)
                                   ? &stored->members[i].value
                                   : json_get_str(stored, m->name);
        size_t before = push(w, m->name);
        if (s)
            walk_values(w, s, &m->value);
        else
            tell(w, NULL, &m->value, stored);
        buf_truncate(&w->path, before);
    }
    for (size_t i = 0; i < stored->n; i++) {
        const struct json_member *s = &stored->members[i];
        if ((i < made->n && str_eq(made->members[i].name, s->name)) || json_get_str(made, s->name))
            continue;
        size_t before = push(w, s->name);
        tell(w, &s->value, NULL, &s->value);
        buf_truncate(&w->path, before);
    }
}

static void walk_arrays(struct walk *w, const struct json *stored, const struct json *made)
{
    size_t n = stored->n > made->n ? stored->n : made->n;
    for (size_t i = 0; i < n; i++) {
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        size_t before = push(w, str_of(index));
        const struct json *s = json_at(stored, i), *m = json_at(made, i);
        if (s && m)
            walk_values(w, s, m);
        else
            tell(w, s, m, s ? s : stored);
        buf_truncate(&w->path, before);
    }
}

static void walk_values(struct walk *w, const struct json *stored, const struct json *made)
{
    if (stored->type != made->type)
        tell(w, stored, made, stored);
    else if (stored->type == JSON_OBJECT)
        walk_objects(w, stored, made);
    else if (stored->type == JSON_ARRAY)
        walk_arrays(w, stored, made);
    else if (!json_equal(stored, made))
        tell(w, stored, made, stored);
}

void verify_compare(const struct json *stored, const struct json *made, const char *root,
                    void (*on)(void *ctx, const struct verify_difference *d), void *ctx)
{
    struct walk w = {.path = BUF_INIT(PATH_BYTES + 32), .on = on, .ctx = ctx};
    buf_adds(&w.path, root);
    walk_values(&w, stored, made);
    buf_release(&w.path);
}
