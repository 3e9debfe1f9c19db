#include "record/sample_shape.h"

int sample_wrong(const struct member *m, const struct json *v, const char *wanted,
                 struct error *err)
{
    if (v->type == JSON_NUMBER || v->type == JSON_STRING)
        return error_set(err, ERROR_INPUT, "\"%s\" must be %s, and is \"%.*s\"", m->name.p, wanted,
                         (int)(v->text.n < 80 ? v->text.n : 80), v->text.p);
    return error_set(err, ERROR_INPUT, "\"%s\" must be %s, and is %s", m->name.p, wanted,
                     json_type_name(v->type));
}

static int read_integer(int64_t *out, const struct member *m, const struct json *v, int64_t least,
                        int64_t most, const char *wanted, struct error *err)
{
    int64_t n = 0;
    if (json_i64(&n, v) < 0 || n < least || n > most)
        return sample_wrong(m, v, wanted, err);
    *out = n;
    return 0;
}

/* Index of the name in a table that `name_of` spells, or -1. */
static int find_name(struct str name, const char *(*name_of)(int))
{
    for (int i = 0; name_of(i)[0] != '?'; i++)
        if (str_eq(name, str_of(name_of(i))))
            return i;
    return -1;
}

static const char *phase_at(int i)
{
    return sample_phase_name((enum sample_phase)i);
}

static const char *outcome_at(int i)
{
    return sample_outcome_name((enum sample_outcome)i);
}

static const char *failure_at(int i)
{
    return sample_failure_name((enum sample_failure)i);
}

static const char *kind_at(int i)
{
    return sample_event_name((enum sample_event_kind)i);
}

static int read_enum(const struct member *m, const struct json *v, void *p, struct error *err)
{
    struct str name;
    const char *wanted = m->type == M_PHASE     ? "\"warmup\" or \"window\""
                         : m->type == M_OUTCOME ? "the name of an outcome"
                         : m->type == M_FAILURE ? "the name of a failure"
                                                : "the name of an event";
    if (json_str(&name, v) < 0)
        return sample_wrong(m, v, wanted, err);
    int at = find_name(name, m->type == M_PHASE     ? phase_at
                             : m->type == M_OUTCOME ? outcome_at
                             : m->type == M_FAILURE ? failure_at
                                                    : kind_at);
    if (at < 0)
        return sample_wrong(m, v, wanted, err);
    if (m->type == M_PHASE)
        *(enum sample_phase *)p = (enum sample_phase)at;
    else if (m->type == M_OUTCOME)
        *(enum sample_outcome *)p = (enum sample_outcome)at;
    else if (m->type == M_FAILURE)
        *(enum sample_failure *)p = (enum sample_failure)at;
    else
        *(enum sample_event_kind *)p = (enum sample_event_kind)at;
    return 0;
}

static int read_hex(char *out, const struct member *m, const struct json *v, struct error *err)
{
    uint8_t digest[SHA256_BYTES];
    struct str s;
    if (json_str(&s, v) < 0 || hex_decode(digest, SHA256_BYTES, s) < 0)
        return sample_wrong(m, v, "a SHA-256 in 64 hexadecimal digits", err);
    hex_encode(out, digest, SHA256_BYTES);
    return 0;
}

static int read_i32(int32_t *out, const struct member *m, const struct json *v, struct error *err)
{
    int64_t n = 0;
    if (read_integer(&n, m, v, 0, INT32_MAX, "a whole number of at most 2147483647", err) < 0)
        return -1;
    *out = (int32_t)n;
    return 0;
}

static int read_str(struct str *out, const struct member *m, const struct json *v,
                    struct arena *arena, struct error *err)
{
    struct str s;
    if (json_str(&s, v) < 0)
        return sample_wrong(m, v, "a string", err);
    *out = arena_str(arena, s);
    return out->p ? 0 : arena_check(arena, "sample", err);
}

int sample_value(const struct member *m, void *base, const struct json *v, struct arena *arena,
                 struct error *err)
{
    void *p = (char *)base + m->offset;
    int64_t n = 0;
    switch (m->type) {
    case M_STR:
        return read_str(p, m, v, arena, err);
    case M_HEX:
        return read_hex(p, m, v, err);
    case M_I32:
    case M_I32_0:
        return read_i32(p, m, v, err);
    case M_U32:
        if (read_integer(&n, m, v, 0, UINT32_MAX, "an index", err) < 0)
            return -1;
        *(uint32_t *)p = (uint32_t)n;
        return 0;
    case M_TIME:
        return read_integer(p, m, v, -SAMPLE_TIME_MAX, SAMPLE_TIME_MAX,
                            "a time in whole nanoseconds within 36 years", err);
    case M_I64:
    case M_COUNT:
        return read_integer(p, m, v, 0, SAMPLE_COUNT_MAX, "a count of at most 10^12", err);
    case M_SIGNED:
        return read_integer(p, m, v, INT64_MIN, INT64_MAX, "a whole number of 64 bits", err);
    case M_BOOL:
        return json_bool(p, v) < 0 ? sample_wrong(m, v, "true or false", err) : 0;
    case M_PHASE:
    case M_OUTCOME:
    case M_FAILURE:
    case M_KIND:
        return read_enum(m, v, p, err);
    case M_USAGE:
    case M_COUNTS:
        return sample_wrong(m, v, "an object", err);
    case M_IDS:
    case M_READS:
    case M_EVENTS:
        return sample_wrong(m, v, "an array", err);
    }
    return -1;
}
