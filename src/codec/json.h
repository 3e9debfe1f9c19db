/*
 * A JSON document in memory: read-only, in one arena, everything kept as written.
 *
 *     const struct json *doc, *choices;
 *     if (json_parse(&doc, text, &JSON_LIMITS_DEFAULT, &arena, err) < 0) ...
 *     choices = json_get(doc, "choices");            // NULL when absent or doc is no object
 *     if (json_need_i64(&n, doc, "seed", err) < 0) ...
 *
 * Objects keep their order; a duplicate key is an error (two readers would disagree about it).
 * Numbers keep their text: integers beyond 64 bits and the digits of reals survive.
 * Ownership: the document, strings included, lives in the arena; the source text is not needed
 * afterwards. YAML documents come in the same shape (codec/yaml.h).
 * Every accessor takes NULL for "absent".
 */
#ifndef TALLY_CODEC_JSON_H
#define TALLY_CODEC_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_member;

struct json {
    enum json_type type;
    uint32_t line, column;             /* where it begins, 1-based, in bytes; 0 = not known */
    struct str text;                   /* string: decoded; number: as written */
    size_t n;                          /* array, object: how many */
    const struct json *items;          /* array */
    const struct json_member *members; /* object */
};

struct json_member {
    struct str name;
    struct json value;
};

#define JSON_DEPTH_MOST 512 /* a larger limits.depth counts as this */

struct json_limits {
    size_t bytes;  /* of source text */
    size_t values; /* in all */
    unsigned depth;
};

#define JSON_LIMITS_DEFAULT ((struct json_limits){64u << 20, 4u << 20, 128})

/* ERROR_INPUT with line, column and byte offset; ERROR_LIMIT past a limit or the arena's max. */
int json_parse(const struct json **out, struct str text, const struct json_limits *limits,
               struct arena *arena, struct error *err) TALLY_MUST_CHECK;
/* Reads the file at path ("-" is standard input) and parses it; errors name the file. */
int json_parse_file(const struct json **out, const char *path, const struct json_limits *limits,
                    struct arena *arena, struct error *err) TALLY_MUST_CHECK;

const struct json *json_get(const struct json *object, const char *name);
const struct json *json_get_str(const struct json *object, struct str name);
const struct json *json_at(const struct json *array, size_t i);
/* "choices.0.delta.content": member names and indices joined by dots. */
const struct json *json_path(const struct json *doc, const char *path);

static inline bool json_is(const struct json *v, enum json_type type)
{
    return v && v->type == type;
}
static inline bool json_is_bool(const struct json *v)
{
    return v && (v->type == JSON_TRUE || v->type == JSON_FALSE);
}

/* Convert a value; -1 (and *out untouched) when v is absent or of another type or range. */
int json_i64(int64_t *out, const struct json *v); /* integers only: no fraction, no exponent */
int json_double(double *out, const struct json *v);
int json_bool(bool *out, const struct json *v);
int json_str(struct str *out, const struct json *v);

/* The same for a member that must be there; errors name the member, its place and what it is. */
int json_need(const struct json **out, const struct json *object, const char *name,
              enum json_type type, struct error *err) TALLY_MUST_CHECK;
int json_need_i64(int64_t *out, const struct json *object, const char *name,
                  struct error *err) TALLY_MUST_CHECK;
int json_need_double(double *out, const struct json *object, const char *name,
                     struct error *err) TALLY_MUST_CHECK;
int json_need_bool(bool *out, const struct json *object, const char *name,
                   struct error *err) TALLY_MUST_CHECK;
int json_need_str(struct str *out, const struct json *object, const char *name,
                  struct error *err) TALLY_MUST_CHECK;

const char *json_type_name(enum json_type type); /* "an object", "a string" … for messages */
/* Deep equality; numbers by their text, objects by name whatever the order. */
bool json_equal(const struct json *a, const struct json *b);

#endif
