/* A machine that takes a sample's values in the order in which they stand. Both ways in end here:
 * the events of a JSON text as they come, and a walk over a document. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json_plain.h"
#include "codec/json_stream.h"
#include "record/sample_reader.h"
#include "record/sample_shape.h"

#define FRAMES_MAX 4 /* sample, events, event, and its usage or ids */
#define DEPTH_MAX 8

/* An object or array that is open. */
struct frame {
    const struct shape *shape;   /* NULL: an array */
    const char *what;            /* as errors call the object */
    void *base;                  /* the struct that is filled */
    const struct member *member; /* the key just read; of an array, the member that it is */
    size_t next;                 /* where the next key is looked for first */
    uint64_t seen;               /* 1 << index of each member that was there */
};

struct list {
    void *p;
    size_t n, cap, size, max;
};

struct sample_reader {
    struct frame frames[FRAMES_MAX];
    size_t depth;
    bool done;
    struct sample sample;
    struct arena *arena;
    struct list reads, events, ids;
    struct json_stream *stream; /* NULL: a document is walked */
    const struct json *at;      /* the value of the document that is taken */
};

struct sample_reader *sample_reader_new(void)
{
    struct sample_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->reads = (struct list){.size = sizeof(struct sample_read_stamp), .max = SAMPLE_READS_MAX};
    r->events = (struct list){.size = sizeof(struct sample_event), .max = SAMPLE_EVENTS_MAX};
    r->ids = (struct list){.size = sizeof(uint32_t), .max = SAMPLE_IDS_MAX};
    return r;
}

void sample_reader_free(struct sample_reader *r)
{
    if (!r)
        return;
    free(r->reads.p);
    free(r->events.p);
    free(r->ids.p);
    free(r);
}

/* Says where: the value of the document, or how far the text has been read. */
static int here(const struct sample_reader *r, struct error *err)
{
    if (r->at)
        return error_at_line(err, r->at->line, r->at->column);
    return error_at_line(err, 1, r->stream ? (int64_t)json_stream_offset(r->stream) : 1);
}

/* One more item, uninitialized; NULL with *err set. */
static void *add(const struct sample_reader *r, struct list *list, const struct member *m,
                 struct error *err)
{
    if (list->n == list->max) {
        error_set(err, ERROR_LIMIT, "\"%s\" of a sample holds more than the limit of %zu",
                  m->name.p, list->max);
        here(r, err);
        return NULL;
    }
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 256;
        void *more = realloc(list->p, cap * list->size);
        if (!more) {
            error_no_memory(err);
            return NULL;
        }
        list->p = more;
        list->cap = cap;
    }
    return (char *)list->p + list->n++ * list->size;
}

static struct list *list_of(struct sample_reader *r, const struct member *m)
{
    return m->type == M_READS ? &r->reads : m->type == M_EVENTS ? &r->events : &r->ids;
}

static int push(struct sample_reader *r, struct frame f)
{
    assert(r->depth < FRAMES_MAX); /* only members that the tables hold are opened */
    r->frames[r->depth++] = f;
    return 0;
}

static int not_an_object(const struct sample_reader *r, const char *what, enum json_type type,
                         struct error *err)
{
    error_set(err, ERROR_INPUT, "%s must be an object, and is %s", what, json_type_name(type));
    return here(r, err);
}

/* What a value that stands in an array of structs, or alone, should have been. */
static const char *item_name(const struct frame *array)
{
    return array->member->type == M_READS ? "a read" : "an event";
}

static int take_key(void *ctx, struct str name, struct error *err)
{
    struct sample_reader *r = ctx;
    struct frame *f = &r->frames[r->depth - 1];
    /* Members usually come in the table's order, so the search starts behind the last one found. */
    for (size_t i = 0; i < f->shape->n; i++) {
        size_t k = f->next + i < f->shape->n ? f->next + i : f->next + i - f->shape->n;
        const struct member *m = &f->shape->members[k];
        if (!str_eq(name, m->name))
            continue;
        if (f->seen & UINT64_C(1) << k) {
            error_set(err, ERROR_INPUT, "\"%s\" stands twice in %s", m->name.p, f->what);
            return here(r, err);
        }
        f->seen |= UINT64_C(1) << k;
        f->next = k + 1;
        f->member = m;
        return 0;
    }
    error_set(err, ERROR_INPUT, "%s has an unknown member \"%.*s\"", f->what,
              (int)(name.n < 80 ? name.n : 80), name.p);
    return here(r, err);
}

static int take_id(struct sample_reader *r, const struct member *m, const struct json *v,
                   struct error *err)
{
    int64_t n;
    if (json_i64(&n, v) < 0 || n < 0 || n > UINT32_MAX)
        return sample_wrong(m, v, "token ids", err);
    uint32_t *id = add(r, &r->ids, m, err);
    if (!id)
        return -1;
    *id = (uint32_t)n;
    return 0;
}

static int take_leaf(struct sample_reader *r, const struct json *v, struct error *err)
{
    struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;
    if (!f)
        return not_an_object(r, "a sample", v->type, err);
    if (!f->shape && f->member->type != M_IDS)
        return not_an_object(r, item_name(f), v->type, err);
    int status = f->shape ? sample_value(f->member, f->base, v, r->arena, err)
                          : take_id(r, f->member, v, err);
    return status < 0 ? here(r, err) : 0;
}

static int take_null(void *ctx, struct error *err)
{
    return take_leaf(ctx, &(struct json){.type = JSON_NULL}, err);
}

static int take_boolean(void *ctx, bool value, struct error *err)
{
    return take_leaf(ctx, &(struct json){.type = value ? JSON_TRUE : JSON_FALSE}, err);
}

static int take_number(void *ctx, struct str text, struct error *err)
{
    return take_leaf(ctx, &(struct json){.type = JSON_NUMBER, .text = text}, err);
}

static int take_string(void *ctx, struct str value, struct error *err)
{
    return take_leaf(ctx, &(struct json){.type = JSON_STRING, .text = value}, err);
}

/* An element of reads or events begins. */
static int start_item(struct sample_reader *r, struct frame *array, struct error *err)
{
    if (array->member->type == M_READS) {
        struct sample_read_stamp *read = add(r, &r->reads, array->member, err);
        if (!read)
            return -1;
        *read = (struct sample_read_stamp){TIME_NONE, TIME_NONE, TIME_NONE, 0};
        return push(r, (struct frame){.shape = &read_shape, .what = "a read", .base = read});
    }
    struct sample_event *event = add(r, &r->events, array->member, err);
    if (!event)
        return -1;
    sample_event_init(event);
    return push(r, (struct frame){.shape = &event_shape, .what = "an event", .base = event});
}

static int start_object(void *ctx, struct error *err)
{
    struct sample_reader *r = ctx;
    struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;
    if (!f)
        return push(r,
                    (struct frame){.shape = &sample_shape, .what = "a sample", .base = &r->sample});
    if (!f->shape && f->member->type != M_IDS)
        return start_item(r, f, err);
    const struct member *m = f->member;
    if (f->shape && (m->type == M_USAGE || m->type == M_COUNTS))
        return push(r, (struct frame){.shape = m->type == M_USAGE ? &usage_shape : &counts_shape,
                                      .what = m->name.p,
                                      .base = (char *)f->base + m->offset});
    return take_leaf(r, &(struct json){.type = JSON_OBJECT}, err);
}

static int end_object(void *ctx, struct error *err)
{
    struct sample_reader *r = ctx;
    const struct frame *f = &r->frames[--r->depth];
    for (size_t i = 0; i < f->shape->n; i++)
        if (f->shape->members[i].needed && !(f->seen & UINT64_C(1) << i)) {
            error_set(err, ERROR_INPUT, "%s lacks \"%s\"", f->what, f->shape->members[i].name.p);
            return here(r, err);
        }
    r->done = r->depth == 0;
    return 0;
}

static int start_array(void *ctx, struct error *err)
{
    struct sample_reader *r = ctx;
    struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;
    const struct member *m = f ? f->member : NULL;
    if (!f || !f->shape || (m->type != M_READS && m->type != M_EVENTS && m->type != M_IDS))
        return take_leaf(r, &(struct json){.type = JSON_ARRAY}, err);
    list_of(r, m)->n = 0;
    return push(r, (struct frame){.member = m, .base = f->base});
}

static int end_array(void *ctx, struct error *err)
{
    struct sample_reader *r = ctx;
    const struct frame *f = &r->frames[--r->depth];
    const struct list *list = list_of(r, f->member);
    void *kept = arena_array(r->arena, list->n, list->size);
    if (!kept)
        return arena_check(r->arena, "sample", err);
    if (list->n > 0)
        memcpy(kept, list->p, list->n * list->size);
    if (f->member->type == M_READS) {
        r->sample.reads = kept;
        r->sample.reads_n = list->n;
    } else if (f->member->type == M_EVENTS) {
        r->sample.events = kept;
        r->sample.events_n = list->n;
    } else {
        struct sample_event *event = f->base;
        event->ids = kept;
        event->ids_n = list->n;
    }
    return 0;
}

static void start(struct sample_reader *r, struct arena *arena)
{
    r->depth = 0;
    r->done = false;
    r->arena = arena;
    r->stream = NULL;
    r->at = NULL;
    sample_init(&r->sample);
}

static int finish(struct sample_reader *r, struct sample *s, struct error *err)
{
    if (sample_check(&r->sample, err) < 0)
        return here(r, err);
    *s = r->sample;
    return 0;
}

int sample_reader_text(struct sample_reader *r, struct str line, struct sample *s,
                       struct arena *arena, struct error *err)
{
    static const struct json_events events = {
        .null = take_null,
        .boolean = take_boolean,
        .number = take_number,
        .string = take_string,
        .key = take_key,
        .start_object = start_object,
        .end_object = end_object,
        .start_array = start_array,
        .end_array = end_array,
    };
    struct error ignored = {0};
    start(r, arena);
    if (line.n > SAMPLE_LINE_MAX)
        return error_set(err, ERROR_LIMIT, "a sample of more than the limit of %zu bytes",
                         SAMPLE_LINE_MAX);
    /* Lines as we write them go the short way; any other, and any fault, is read again. */
    if (json_plain(&events, r, line, DEPTH_MAX) && finish(r, s, &ignored) == 0)
        return 0;
    start(r, arena);
    r->stream = json_stream_new(&events, r, DEPTH_MAX);
    if (!r->stream)
        return error_no_memory(err);
    int status = json_stream_feed(r->stream, line, err);
    if (status == 0)
        status = json_stream_finish(r->stream, err);
    if (status == 0)
        status = finish(r, s, err);
    json_stream_free(r->stream);
    r->stream = NULL;
    return status;
}

static int walk(struct sample_reader *r, const struct json *v, struct error *err)
{
    r->at = v;
    switch (v->type) {
    case JSON_OBJECT:
        if (start_object(r, err) < 0)
            return -1;
        for (size_t i = 0; i < v->n; i++) {
            r->at = &v->members[i].value;
            if (take_key(r, v->members[i].name, err) < 0 || walk(r, &v->members[i].value, err) < 0)
                return -1;
        }
        r->at = v;
        return end_object(r, err);
    case JSON_ARRAY:
        if (start_array(r, err) < 0)
            return -1;
        for (size_t i = 0; i < v->n; i++)
            if (walk(r, &v->items[i], err) < 0)
                return -1;
        r->at = v;
        return end_array(r, err);
    default:
        return take_leaf(r, &(struct json){.type = v->type, .text = v->text}, err);
    }
}

int sample_reader_document(struct sample_reader *r, const struct json *doc, struct sample *s,
                           struct arena *arena, struct error *err)
{
    start(r, arena);
    if (!doc)
        return error_set(err, ERROR_INPUT, "a sample must be an object, and is absent");
    if (walk(r, doc, err) < 0)
        return -1;
    r->at = doc;
    return finish(r, s, err);
}

int sample_read(struct sample *s, const struct json *line, struct arena *arena, struct error *err)
{
    struct sample_reader *r = sample_reader_new();
    if (!r)
        return error_no_memory(err);
    int status = sample_reader_document(r, line, s, arena, err);
    sample_reader_free(r);
    return status;
}
