/*
 * Values as dict keys: hashing and equality that need no render, and the dict itself.
 *
 *     uint64_t hash;
 *     if (value_hash(key, &hash) < 0) ...              // a list, a dict: unhashable
 *     const struct jinja_entry *e = dict_find(d, key, hash);
 *
 * Equal numbers are one key whatever their type (1, 1.0, True), as in Python.
 */
#ifndef TALLY_JINJA_KEYS_H
#define TALLY_JINJA_KEYS_H

#include "base/hash.h"
#include "jinja/value.h"

#define KEY_DEPTH_MAX 32 /* tuples in tuples; deeper ones are unhashable */

static inline uint64_t value_hash_str(struct str s)
{
    return hash64(s.p, s.n, 0);
}
int value_hash(struct jinja_value v, uint64_t *hash);
bool value_same_key(struct jinja_value a, struct jinja_value b);
/* Numbers of any two types, bool included: equal or not, exactly. */
bool value_is_number(struct jinja_value v);
/* -1, 0, 1; 2 when one is NaN. Both are numbers. */
int value_compare_numbers(struct jinja_value a, struct jinja_value b);

struct jinja_entry *dict_find(const struct jinja_dict *d, struct jinja_value key, uint64_t hash);
struct jinja_entry *dict_find_str(const struct jinja_dict *d, struct str key, uint64_t hash);
/* 0, or -1 when the arena is full or there are too many. */
int dict_put(struct jinja_dict *d, struct jinja_value key, uint64_t hash, struct jinja_value value,
             struct arena *a);
int list_put(struct jinja_list *l, struct jinja_value item, struct arena *a);

#endif
