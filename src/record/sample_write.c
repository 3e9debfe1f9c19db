#include "record/sample_shape.h"

static void write_struct(const struct shape *shape, const void *p, struct json_writer *w);

static void put_number(struct json_writer *w, const char *name, int64_t v, int64_t absent)
{
    if (v == absent)
        return;
    json_key(w, name);
    json_put_i64(w, v);
}

static void put_name(struct json_writer *w, const char *name, const char *value)
{
    json_key(w, name);
    json_put_cstr(w, value);
}

/* Four counts side by side, as in usage and in the output counts. */
static void put_four(const struct shape *shape, const char *name, const void *p,
                     struct json_writer *w)
{
    const int64_t *n = p;
    if (n[0] == COUNT_NONE && n[1] == COUNT_NONE && n[2] == COUNT_NONE && n[3] == COUNT_NONE)
        return;
    json_key(w, name);
    write_struct(shape, p, w);
}

static void put_array(const struct shape *shape, const char *name, const void *items, size_t n,
                      size_t size, struct json_writer *w)
{
    if (n == 0)
        return;
    json_key(w, name);
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        write_struct(shape, (const char *)items + i * size, w);
    json_end_array(w);
}

static void put_ids(const struct sample_event *e, const char *name, struct json_writer *w)
{
    if (e->ids_n == 0)
        return;
    json_key(w, name);
    json_begin_array(w);
    for (size_t i = 0; i < e->ids_n; i++)
        json_put_i64(w, e->ids[i]);
    json_end_array(w);
}

static void put_text(struct json_writer *w, const char *name, struct str s)
{
    if (s.n == 0)
        return;
    json_key(w, name);
    json_put_str(w, s);
}

static void write_member(const struct member *m, const void *base, struct json_writer *w)
{
    const void *p = (const char *)base + m->offset;
    const struct sample *s = base;
    switch (m->type) {
    case M_STR:
        put_text(w, m->name.p, *(const struct str *)p);
        break;
    case M_HEX:
        put_text(w, m->name.p, str_of(p));
        break;
    case M_I32:
        put_number(w, m->name.p, *(const int32_t *)p, TIME_NONE);
        break;
    case M_U32:
        put_number(w, m->name.p, *(const uint32_t *)p, TIME_NONE);
        break;
    case M_I32_0:
        put_number(w, m->name.p, *(const int32_t *)p, 0);
        break;
    case M_I64:
    case M_TIME:
        put_number(w, m->name.p, *(const int64_t *)p, TIME_NONE);
        break;
    case M_COUNT:
    case M_SIGNED:
        put_number(w, m->name.p, *(const int64_t *)p, COUNT_NONE);
        break;
    case M_BOOL:
        if (*(const bool *)p) {
            json_key(w, m->name.p);
            json_put_bool(w, true);
        }
        break;
    case M_PHASE:
        put_name(w, m->name.p, sample_phase_name(*(const enum sample_phase *)p));
        break;
    case M_OUTCOME:
        put_name(w, m->name.p, sample_outcome_name(*(const enum sample_outcome *)p));
        break;
    case M_FAILURE:
        if (*(const enum sample_failure *)p != FAILURE_NONE)
            put_name(w, m->name.p, sample_failure_name(*(const enum sample_failure *)p));
        break;
    case M_KIND:
        put_name(w, m->name.p, sample_event_name(*(const enum sample_event_kind *)p));
        break;
    case M_USAGE:
        put_four(&usage_shape, m->name.p, p, w);
        break;
    case M_COUNTS:
        put_four(&counts_shape, m->name.p, p, w);
        break;
    case M_IDS:
        put_ids(base, m->name.p, w);
        break;
    case M_READS:
        put_array(&read_shape, m->name.p, s->reads, s->reads_n, sizeof *s->reads, w);
        break;
    case M_EVENTS:
        put_array(&event_shape, m->name.p, s->events, s->events_n, sizeof *s->events, w);
        break;
    }
}

static void write_struct(const struct shape *shape, const void *p, struct json_writer *w)
{
    json_begin_object(w);
    for (size_t i = 0; i < shape->n; i++)
        write_member(&shape->members[i], p, w);
    json_end_object(w);
}

void sample_write(const struct sample *s, struct json_writer *w)
{
    write_struct(&sample_shape, s, w);
}
