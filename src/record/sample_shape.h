/*
 * What the members of a sample are called in JSON, of what type they are and which must be there:
 * one table a struct, which writer and reader both walk.
 *
 *     for (size_t i = 0; i < sample_shape.n; i++)
 *         const struct member *m = &sample_shape.members[i];
 *
 * Only for the .c files of this folder. The tables are constant; nothing is owned.
 */
#ifndef TALLY_RECORD_SAMPLE_SHAPE_H
#define TALLY_RECORD_SAMPLE_SHAPE_H

#include "record/sample.h"

#define MEMBERS_MAX 64

enum member_type {
    M_STR,     /* struct str; "" left out */
    M_HEX,     /* char[SHA256_HEX]; "" left out */
    M_I32,     /* int32_t, always written */
    M_U32,     /* uint32_t, always written */
    M_I64,     /* int64_t, always written */
    M_I32_0,   /* int32_t; 0 left out */
    M_TIME,    /* int64_t; TIME_NONE left out */
    M_COUNT,   /* int64_t; COUNT_NONE left out */
    M_SIGNED,  /* int64_t that may be negative; COUNT_NONE left out */
    M_BOOL,    /* false left out */
    M_PHASE,   /* enums, by name */
    M_OUTCOME, /* */
    M_FAILURE, /* FAILURE_NONE left out */
    M_KIND,
    M_USAGE,  /* nested structs; left out when all their members are */
    M_COUNTS, /* */
    M_IDS,    /* arrays; left out when empty */
    M_READS,
    M_EVENTS,
};

struct member {
    struct str name;
    enum member_type type;
    bool needed;
    size_t offset;
};

struct shape {
    const struct member *members;
    size_t n;
};

extern const struct shape usage_shape, counts_shape, read_shape, event_shape, sample_shape;

/* Reads a leaf (v has no items or members that are looked at) into the member of the struct at
 * base. */
int sample_value(const struct member *m, void *base, const struct json *v, struct arena *arena,
                 struct error *err);
/* The error that v is not what the member must be; the caller says where. Returns -1. */
int sample_wrong(const struct member *m, const struct json *v, const char *wanted,
                 struct error *err);

#endif
