/*
 * Reading a mapping by a table of its allowed members, so that a misspelt one is an error with its
 * place and the nearest right name, not a silent default.
 *
 *     static const struct field fields[] = {
 *         {"host", FIELD_TEXT, true, offsetof(struct matrix_cell, host)},
 *     };
 *     if (fields_read(cell, json, fields, 1, "a cell", arena, err) < 0) ...
 *
 * Members that are absent leave the target as it was.
 */
#ifndef TALLY_GATE_FIELDS_H
#define TALLY_GATE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"

enum field_type {
    FIELD_TEXT,   /* struct str, not empty */
    FIELD_BOOL,   /* bool */
    FIELD_DAY,    /* struct str: YYYY-MM-DD */
    FIELD_NUMBER, /* struct matrix_number: a mapping with value, class, author, date */
    FIELD_TEXTS,  /* struct str array pointer, its size_t count right behind it */
    FIELD_BANDS,  /* int32_t array pointer, its size_t count right behind it */
    FIELD_OTHER,  /* allowed; the caller reads it */
};

struct field {
    const char *name;
    enum field_type type;
    bool required;
    size_t offset; /* of the target in the structure */
};

int fields_read(void *target, const struct json *mapping, const struct field *fields, size_t n,
                const char *what, struct arena *arena, struct error *err) TALLY_MUST_CHECK;

/* First instant of the day "YYYY-MM-DD" in UTC; -1 when it is none. */
int fields_day_ns(int64_t *out, struct str day);

#endif
