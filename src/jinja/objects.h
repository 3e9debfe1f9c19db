/*
 * Values that only a running template makes: macros, bound methods, ranges, views, iterators,
 * loops. Each hangs off jinja_value.u.any and lives in the render's arena.
 *
 *     struct cursor c;
 *     if (cursor_open(r, &c, v) < 0) ...
 *     while ((rc = cursor_next(r, &c, &item)) > 0) ...
 */
#ifndef TALLY_JINJA_OBJECTS_H
#define TALLY_JINJA_OBJECTS_H

#include "jinja/methods.h"
#include "jinja/run.h"

struct range_object {
    int64_t start, stop, step;
    uint32_t n;
};

enum view_kind { VIEW_KEYS, VIEW_VALUES, VIEW_ITEMS }; /* in jinja_value.aux of JINJA_VIEW */

struct macro_object {
    const struct macro_def *def;
    struct frame *closure;
};

struct method_object {
    struct jinja_value self;
    const struct method *method;
};

/* A walk over anything iterable. */
struct cursor {
    struct jinja_value over;
    size_t at;
};
/* Fails when v cannot be iterated. */
int cursor_open(struct run *r, struct cursor *c, struct jinja_value v);
int cursor_next(struct run *r, struct cursor *c, struct jinja_value *out); /* 1, 0 at the end, -1 */
bool is_iterable(struct jinja_value v);

/* A one-shot iterator (Python's generator): `next` says what it does with its source. */
struct generator {
    int (*next)(struct run *r, struct generator *g, struct jinja_value *out); /* 1, 0, -1 */
    const char *name;                                                         /* as it prints */
    struct cursor source;
    bool started, done;
    struct jinja_value value; /* what it was made over */
    const void *plan;         /* what next needs to know */
};
int generator_new(struct run *r, struct jinja_value *out, const char *name,
                  int (*next)(struct run *, struct generator *, struct jinja_value *),
                  struct jinja_value over, const void *plan);

struct loop_object {
    struct jinja_value iterable;
    struct cursor cursor;
    int64_t index0, depth0, length; /* length -1: not known yet */
    struct jinja_value before, current, after, changed;
    bool has_after, drained; /* drained: the cursor walks a list of what the test let through */
    const struct stmt *stmt; /* of the for, with its test */
    struct frame *frame;     /* where a recursive loop's body runs */
};
int loop_new(struct run *r, const struct stmt *s, struct jinja_value iterable, int64_t depth0,
             struct loop_object **out);
/* loop.NAME; *found false when there is no such attribute. */
int loop_attribute(struct run *r, struct loop_object *l, struct str name, struct jinja_value *out,
                   bool *found);
int loop_next(struct run *r, struct loop_object *l, struct jinja_value *out); /* 1, 0, -1 */

/* Everything of an iterable as a new list (or tuple). */
int to_list(struct run *r, struct jinja_value v, enum jinja_type type, struct jinja_value *out);
int pair_of(struct run *r, struct jinja_value a, struct jinja_value b, struct jinja_value *out);
struct jinja_value range_item(const struct range_object *o, size_t i);

#endif
