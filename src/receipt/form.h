/*
 * How plain structs stand in a receipt: one table a struct gives each member's name, type and why
 * it may be null, and both writer and reader walk it.
 *
 *     form_write(&form_protocol, &run->plan, "protocol", nulls, &w);     // into the open object
 *     if (form_read(&form_protocol, &plan, json_get(doc, "protocol"), "protocol", &arena, err) < 0)
 *
 * A null member is noted in `nulls` under its path with its reason. Reading is strict: a member
 * that is absent, of another type, or null without a reason for it is an error of rule "schema"
 * with its path and its place in the file; members that the form does not know are the caller's.
 * Ownership: strings read live in the arena. The tables are constant.
 */
#ifndef TALLY_RECEIPT_FORM_H
#define TALLY_RECEIPT_FORM_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"
#include "codec/json_write.h"

#define FORM_PATH_MAX 128

enum form_type {
    FORM_STR,    /* const char *; NULL is null */
    FORM_JSON,   /* const char * holding one JSON value; NULL is null */
    FORM_HEX,    /* char[SHA256_HEX]; "" is null */
    FORM_HEX_P,  /* const char * holding such a digest; NULL is null */
    FORM_NONCE,  /* char[RUN_NONCE_HEX] */
    FORM_BOOL,   /* bool */
    FORM_I32,    /* int32_t */
    FORM_I64,    /* int64_t */
    FORM_ZERO,   /* int64_t; 0 is null */
    FORM_COUNT,  /* int64_t; COUNT_NONE is null */
    FORM_SIGNED, /* the same, that may be negative otherwise */
    FORM_INT,    /* int64_t; INT64_MIN is null */
    FORM_MS,     /* int64_t ns, printed as ms */
    FORM_TIME,   /* the same; TIME_NONE is null */
    FORM_SPAN,   /* the same; COUNT_NONE is null */
    FORM_SPAN0,  /* the same; 0 is null */
    FORM_REAL,   /* double */
    FORM_LOAD,   /* double; negative is null */
    FORM_METHOD, /* enum count_method by name */
    FORM_SOURCE, /* const char *: whose ids they are; NULL is null */
    FORM_STATUS, /* enum status by name */
    FORM_SHARES, /* struct mixture; without a length it is null */
};

struct form_member {
    const char *name;
    enum form_type type;
    size_t offset;
    const char *why; /* reason when it is null; "": none is needed; NULL: it may not be null */
};

struct form {
    const struct form_member *members;
    size_t n;
};

/* Paths of null values with their reasons, in the order in which they were written. */
struct form_null {
    char path[FORM_PATH_MAX];
    const char *why;
};
struct form_nulls {
    struct arena *arena;
    struct form_null *list;
    size_t n, cap;
};

void form_note(struct form_nulls *nulls, const char *path, const char *why);
/* The object {path: reason}. */
void form_nulls_write(const struct form_nulls *nulls, struct json_writer *w);

/* Adds the members to the object that is open. nulls may be NULL. FORM_JSON values must parse: see
 * form_json_check. */
void form_write(const struct form *f, const void *base, const char *path, struct form_nulls *nulls,
                struct json_writer *w);
int form_read(const struct form *f, void *base, const struct json *object, const char *path,
              struct arena *arena, struct error *err) TALLY_MUST_CHECK;

/* ERROR_INPUT naming `what` unless text (may be NULL) is one JSON value within FORM_JSON_MAX. */
#define FORM_JSON_MAX ((size_t)1 << 20)
int form_json_check(const char *text, const char *what, struct error *err) TALLY_MUST_CHECK;

/* An error of rule "schema" at a value (may be NULL: at its parent). Returns -1. */
int form_refuse(struct error *err, const struct json *at, const char *path, const char *name,
                const char *why);

const char *form_method_name(int method); /* NULL for COUNT_UNSET */

#endif
