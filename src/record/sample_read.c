#include "record/sample_shape.h"

static int read_struct(const struct shape *shape, void *p, const struct json *v, const char *what,
                       struct arena *arena, struct error *err);

static int wrong(const struct member *m, const struct json *v, const char *wanted,
                 struct error *err)
{
    if (v->type == JSON_NUMBER || v->type == JSON_STRING)
        error_set(err, ERROR_INPUT, "\"%s\" must be %s, and is \"%.*s\"", m->name.p, wanted,
                  (int)(v->text.n < 80 ? v->text.n : 80), v->text.p);
    else
        error_set(err, ERROR_INPUT, "\"%s\" must be %s, and is %s", m->name.p, wanted,
                  json_type_name(v->type));
    return error_at_line(err, v->line, v->column);
}

static int read_integer(int64_t *out, const struct member *m, const struct json *v, int64_t least,
                        int64_t most, const char *wanted, struct error *err)
{
    int64_t n = 0;
    if (json_i64(&n, v) < 0 || n < least || n > most)
        return wrong(m, v, wanted, err);
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
        return wrong(m, v, wanted, err);
    int at = find_name(name, m->type == M_PHASE     ? phase_at
                             : m->type == M_OUTCOME ? outcome_at
                             : m->type == M_FAILURE ? failure_at
                                                    : kind_at);
    if (at < 0)
        return wrong(m, v, wanted, err);
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
        return wrong(m, v, "a SHA-256 in 64 hexadecimal digits", err);
    hex_encode(out, digest, SHA256_BYTES);
    return 0;
}

static int need_array(const struct member *m, const struct json *v, size_t max, struct error *err)
{
    if (!json_is(v, JSON_ARRAY))
        return wrong(m, v, "an array", err);
    if (v->n <= max)
        return 0;
    error_set(err, ERROR_LIMIT, "\"%s\" of a sample holds %zu, more than the limit of %zu",
              m->name.p, v->n, max);
    return error_at_line(err, v->line, v->column);
}

static int read_ids(struct sample_event *e, const struct member *m, const struct json *v,
                    struct arena *arena, struct error *err)
{
    if (need_array(m, v, SAMPLE_IDS_MAX, err) < 0)
        return -1;
    uint32_t *ids = arena_array(arena, v->n, sizeof *ids);
    if (!ids)
        return arena_check(arena, "sample", err);
    for (size_t i = 0; i < v->n; i++) {
        int64_t n = 0;
        if (read_integer(&n, m, &v->items[i], 0, UINT32_MAX, "token ids", err) < 0)
            return -1;
        ids[i] = (uint32_t)n;
    }
    e->ids = ids;
    e->ids_n = v->n;
    return 0;
}

static int read_reads(struct sample *s, const struct member *m, const struct json *v,
                      struct arena *arena, struct error *err)
{
    if (need_array(m, v, SAMPLE_READS_MAX, err) < 0)
        return -1;
    struct sample_read_stamp *reads = arena_array(arena, v->n, sizeof *reads);
    if (!reads)
        return arena_check(arena, "sample", err);
    for (size_t i = 0; i < v->n; i++) {
        reads[i] = (struct sample_read_stamp){TIME_NONE, TIME_NONE, TIME_NONE, 0};
        if (read_struct(&read_shape, &reads[i], &v->items[i], "a read", arena, err) < 0)
            return -1;
    }
    s->reads = reads;
    s->reads_n = v->n;
    return 0;
}

static int read_events(struct sample *s, const struct member *m, const struct json *v,
                       struct arena *arena, struct error *err)
{
    if (need_array(m, v, SAMPLE_EVENTS_MAX, err) < 0)
        return -1;
    struct sample_event *events = arena_array(arena, v->n, sizeof *events);
    if (!events)
        return arena_check(arena, "sample", err);
    for (size_t i = 0; i < v->n; i++) {
        sample_event_init(&events[i]);
        if (read_struct(&event_shape, &events[i], &v->items[i], "an event", arena, err) < 0)
            return -1;
    }
    s->events = events;
    s->events_n = v->n;
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
        return wrong(m, v, "a string", err);
    *out = arena_str(arena, s);
    return out->p ? 0 : arena_check(arena, "sample", err);
}

static int read_member(const struct member *m, void *base, const struct json *v,
                       struct arena *arena, struct error *err)
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
        return json_bool(p, v) < 0 ? wrong(m, v, "true or false", err) : 0;
    case M_PHASE:
    case M_OUTCOME:
    case M_FAILURE:
    case M_KIND:
        return read_enum(m, v, p, err);
    case M_USAGE:
        return read_struct(&usage_shape, p, v, m->name.p, arena, err);
    case M_COUNTS:
        return read_struct(&counts_shape, p, v, m->name.p, arena, err);
    case M_IDS:
        return read_ids(base, m, v, arena, err);
    case M_READS:
        return read_reads(base, m, v, arena, err);
    case M_EVENTS:
        return read_events(base, m, v, arena, err);
    }
    return -1;
}

/* Members usually come in the table's order, so the search starts behind the last one found. */
static size_t find_member(const struct shape *shape, struct str name, size_t from)
{
    for (size_t i = 0; i < shape->n; i++) {
        size_t at = from + i < shape->n ? from + i : from + i - shape->n;
        if (str_eq(name, shape->members[at].name))
            return at;
    }
    return shape->n;
}

static int read_struct(const struct shape *shape, void *p, const struct json *v, const char *what,
                       struct arena *arena, struct error *err)
{
    bool seen[MEMBERS_MAX] = {false};
    if (!json_is(v, JSON_OBJECT)) {
        error_set(err, ERROR_INPUT, "%s must be an object, and is %s", what,
                  v ? json_type_name(v->type) : "absent");
        return v ? error_at_line(err, v->line, v->column) : -1;
    }
    for (size_t i = 0, next = 0; i < v->n; i++) {
        const struct json_member *in = &v->members[i];
        size_t at = find_member(shape, in->name, next);
        if (at == shape->n) {
            error_set(err, ERROR_INPUT, "%s has an unknown member \"%.*s\"", what,
                      (int)(in->name.n < 80 ? in->name.n : 80), in->name.p);
            return error_at_line(err, in->value.line, in->value.column);
        }
        if (read_member(&shape->members[at], p, &in->value, arena, err) < 0)
            return -1;
        seen[at] = true;
        next = at + 1;
    }
    for (size_t i = 0; i < shape->n; i++)
        if (shape->members[i].needed && !seen[i]) {
            error_set(err, ERROR_INPUT, "%s lacks \"%s\"", what, shape->members[i].name.p);
            return error_at_line(err, v->line, v->column);
        }
    return 0;
}

int sample_read(struct sample *s, const struct json *line, struct arena *arena, struct error *err)
{
    struct sample read;
    sample_init(&read);
    if (read_struct(&sample_shape, &read, line, "a sample", arena, err) < 0)
        return -1;
    if (sample_check(&read, err) < 0)
        return error_at_line(err, line->line, line->column);
    *s = read;
    return 0;
}
