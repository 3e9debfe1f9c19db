#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16
#define FIRST_BLOCK (size_t)4096
#define LARGEST_STEP ((size_t)4 << 20)

struct arena_block {
    struct arena_block *next;
    size_t n, cap;
    _Alignas(ALIGNMENT) char data[];
};

void arena_init(struct arena *a, size_t max)
{
    *a = (struct arena){.max = max};
}

void arena_release(struct arena *a)
{
    if (!a)
        return;
    for (struct arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    arena_init(a, a->max);
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->blocks;
    for (struct arena_block *b = a->blocks; b; b = b->next)
        if (b->cap > keep->cap)
            keep = b;
    for (struct arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        if (b != keep)
            free(b);
    }
    if (keep) {
        keep->next = NULL;
        keep->n = 0;
    }
    a->blocks = keep;
    a->used = 0;
    a->failed = a->no_memory = false;
}

static struct arena_block *add_block(struct arena *a, size_t at_least)
{
    size_t cap = a->blocks ? a->blocks->cap * 2 : FIRST_BLOCK;
    if (cap > LARGEST_STEP)
        cap = LARGEST_STEP;
    if (cap < at_least)
        cap = at_least;
    if (cap > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *b = malloc(sizeof *b + cap);
    if (!b)
        return NULL;
    *b = (struct arena_block){.next = a->blocks, .cap = cap};
    a->blocks = b;
    return b;
}

/* To the next multiple of the alignment; smaller than n when that is past SIZE_MAX. */
static size_t round_up(size_t n)
{
    return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* step more bytes behind the block's first `pad` unused ones; as they are found. */
static char *take(struct arena *a, size_t step, size_t pad)
{
    struct arena_block *b = a->blocks;
    if (!b || b->cap - b->n < pad || b->cap - b->n - pad < step)
        pad = 0;
    if (step > a->max || a->used > a->max - step || pad > a->max - step - a->used) {
        a->failed = true;
        return NULL;
    }
    if (!b || b->cap - b->n < step + pad)
        b = add_block(a, step);
    if (!b) {
        a->failed = a->no_memory = true;
        return NULL;
    }
    char *p = b->data + b->n + pad;
    b->n += pad + step;
    a->used += pad + step;
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t step = round_up(size ? size : 1);
    if (a->failed)
        return NULL;
    if (step < size) {
        a->failed = true;
        return NULL;
    }
    size_t pad = a->blocks ? round_up(a->blocks->n) - a->blocks->n : 0;
    void *p = take(a, step, pad);
    if (p)
        memset(p, 0, step);
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        a->failed = true;
        return NULL;
    }
    return arena_alloc(a, total);
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = a->failed || s.n == SIZE_MAX ? NULL : take(a, s.n + 1, 0);
    if (!p) {
        a->failed = true;
        return (struct str){0};
    }
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){p, s.n};
}

char *arena_cstr(struct arena *a, struct str s)
{
    return (char *)arena_str(a, s).p;
}

void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size)
{
    struct arena_block *b = a->blocks;
    size_t old_step = round_up(old_size ? old_size : 1), new_step = round_up(new_size);
    bool last = old && b && old_step <= b->n && (char *)old == b->data + (b->n - old_step);
    if (last && !a->failed && new_step >= new_size && new_step >= old_step) {
        size_t more = new_step - old_step;
        if (more <= b->cap - b->n && more <= a->max - a->used) {
            memset(b->data + b->n, 0, more);
            b->n += more;
            a->used += more;
            return old;
        }
    }
    void *p = arena_alloc(a, new_size);
    if (p && old)
        memcpy(p, old, old_size < new_size ? old_size : new_size);
    return p;
}

int arena_check(const struct arena *a, const char *what, struct error *err)
{
    if (!a->failed)
        return 0;
    if (a->no_memory)
        return error_no_memory(err);
    return error_set(err, ERROR_LIMIT, "%s needs more than %zu KiB of memory", what, a->max >> 10);
}
