/*
 * One render under way: its memory, its budget, its output, and where to put the blame.
 *
 *     r->at = e;                                        // the expression an error is about
 *     if (run_charge(r, s.n) < 0) return -1;            // work by size
 *     return run_fail(r, "cannot add %s", name);
 *
 * Every function that takes a struct run returns 0, or -1 having set r->err with the place of
 * r->at. Values made during a render live in r->arena. Limits: JINJA_*_MAX in jinja.h.
 */
#ifndef TALLY_JINJA_RUN_H
#define TALLY_JINJA_RUN_H

#include "jinja/ast.h"
#include "jinja/keys.h"

#define CHARGE_SHIFT 5 /* a step pays for this many bytes, as a power of two */

struct frame {
    struct frame *parent;
    struct jinja_value *slots;
    uint32_t n_slots;
};

struct run {
    const struct jinja_template *t;
    struct jinja_value context;
    const struct jinja_render *options;
    struct arena *arena;
    struct frame *frame;
    const struct expr *at;
    struct buf *out;
    size_t out_start; /* what the caller had in out */
    struct error *err;
    uint64_t steps, steps_max, check_at;
    int64_t deadline_ns;
    unsigned depth, macro_depth, captures;
};

/* "<text>, in '<expression>'", ERROR_INPUT. */
int run_fail(struct run *r, const char *fmt, ...) TALLY_PRINTF(2, 3);
int run_limit(struct run *r, const char *fmt, ...) TALLY_PRINTF(2, 3); /* ERROR_LIMIT */
/* The error for using what is undefined, in words that say what. */
int run_undefined(struct run *r, struct jinja_value v);
int run_memory(struct run *r); /* the arena is full */
int run_budget(struct run *r); /* r->steps passed check_at: an error, or a new check_at */

/* A static analyzer sees one file at a time and must be told that these end in -1. */
#if defined(__clang_analyzer__) && !defined(TALLY_JINJA_RUN_C)
#define run_fail(...) (run_fail(__VA_ARGS__), -1)
#define run_limit(...) (run_limit(__VA_ARGS__), -1)
#define run_undefined(r, v) (run_undefined(r, v), -1)
#define run_memory(r) (run_memory(r), -1)
#endif

static inline int run_charge(struct run *r, size_t bytes)
{
    r->steps += 1 + (bytes >> CHARGE_SHIFT);
    return r->steps > r->check_at ? run_budget(r) : 0;
}
/* One level deeper into evaluation, values or calls; r->depth-- leaves it. */
int run_deeper(struct run *r);

static inline void *run_alloc(struct run *r, size_t size)
{
    void *p = arena_alloc(r->arena, size);
    if (!p)
        run_memory(r);
    return p;
}

/* Appends to the output, within its limit. */
int run_emit(struct run *r, struct str s);
/* Output from `mark` on becomes a string and is taken out of the output. */
int run_capture(struct run *r, size_t mark, struct jinja_value *out);

/* An undefined value whose message is `hint`, e.g. "there is no next item". */
int run_hint(struct run *r, struct jinja_value *out, const char *fmt, ...) TALLY_PRINTF(3, 4);

/* A string that grows in the arena. A failure is kept; sb_end reports it. */
struct sb {
    struct run *r;
    char *p;
    size_t n, cap;
    bool failed;
};
static inline struct sb sb_start(struct run *r)
{
    return (struct sb){.r = r};
}
char *sb_reserve(struct sb *b, size_t n); /* NULL on failure; add to b->n after writing */
void sb_add(struct sb *b, struct str s);
void sb_addc(struct sb *b, char c);
void sb_add_cp(struct sb *b, uint32_t cp);
void sb_pad(struct sb *b, char c, size_t n);
int sb_end(struct sb *b, struct jinja_value *out);

int list_start(struct run *r, struct jinja_value *out, enum jinja_type type, size_t room);
int list_append(struct run *r, struct jinja_value list, struct jinja_value item);
int dict_start(struct run *r, struct jinja_value *out, size_t room);
int dict_set(struct run *r, struct jinja_value dict, struct jinja_value key,
             struct jinja_value value);

#endif
