/*
 * An arena: memory for what lives and dies together.
 *
 *     struct arena a;
 *     arena_init(&a, 64 << 20);
 *     struct node *n = arena_alloc(&a, sizeof *n);   // zeroed; NULL past the maximum
 *     arena_release(&a);
 *
 * Ownership: everything allocated belongs to the arena; nothing is freed singly.
 * Limits: `max` bytes in all, each allocation counted as a multiple of 16, as it is taken (so that
 * many tiny ones cannot pass the limit unseen); texts stand one behind the other and are counted
 * with their NUL. a->failed is sticky once an allocation failed.
 */
#ifndef TALLY_BASE_ARENA_H
#define TALLY_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks;
    size_t used, max; /* bytes taken so far; the most that may be */
    bool failed, no_memory;
};

void arena_init(struct arena *a, size_t max);
void arena_release(struct arena *a); /* NULL and a zeroed arena are fine; can be used again */
void arena_reset(struct arena *a);   /* forgets all contents, keeps the largest block */

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned to 16; NULL on failure */
void *arena_array(struct arena *a, size_t count, size_t size); /* the product is checked */
/* A copy with a NUL behind it; p is NULL on failure (and only then). */
struct str arena_str(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s);
/* Grows an array in the arena: a larger copy, or the same place when it was the last thing
 * allocated. NULL on failure. */
void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size);
/* 0, or -1 with ERROR_LIMIT / ERROR_MEMORY naming `what`. */
int arena_check(const struct arena *a, const char *what, struct error *err);

#endif
