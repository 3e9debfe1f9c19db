/*
 * The events of a reader of JSON as one text, so that two readers can be held against each other.
 *
 *     struct buf log = BUF_INIT(BUF_ANY);
 *     json_plain(&event_log, &log, text, 8);
 */
#ifndef TALLY_TEST_EVENT_LOG_H
#define TALLY_TEST_EVENT_LOG_H

#include "base/buf.h"
#include "codec/json_stream.h"

static inline int log_null(void *log, struct error *err)
{
    (void)err;
    buf_adds(log, "null\n");
    return 0;
}

static inline int log_boolean(void *log, bool value, struct error *err)
{
    (void)err;
    buf_adds(log, value ? "true\n" : "false\n");
    return 0;
}

static inline int log_text(void *log, const char *kind, struct str text)
{
    buf_addf(log, "%s %zu ", kind, text.n);
    buf_addstr(log, text);
    buf_addc(log, '\n');
    return 0;
}

static inline int log_number(void *log, struct str text, struct error *err)
{
    (void)err;
    return log_text(log, "number", text);
}

static inline int log_string(void *log, struct str text, struct error *err)
{
    (void)err;
    return log_text(log, "string", text);
}

static inline int log_key(void *log, struct str text, struct error *err)
{
    (void)err;
    return log_text(log, "key", text);
}

static inline int log_open_object(void *log, struct error *err)
{
    (void)err;
    buf_adds(log, "{\n");
    return 0;
}

static inline int log_close_object(void *log, struct error *err)
{
    (void)err;
    buf_adds(log, "}\n");
    return 0;
}

static inline int log_open_array(void *log, struct error *err)
{
    (void)err;
    buf_adds(log, "[\n");
    return 0;
}

static inline int log_close_array(void *log, struct error *err)
{
    (void)err;
    buf_adds(log, "]\n");
    return 0;
}

static const struct json_events event_log = {
    .null = log_null,
    .boolean = log_boolean,
    .number = log_number,
    .string = log_string,
    .key = log_key,
    .start_object = log_open_object,
    .end_object = log_close_object,
    .start_array = log_open_array,
    .end_array = log_close_array,
};

/* json_stream's events of the whole text; false when it refuses. */
static inline bool log_stream(struct buf *log, struct str text, unsigned depth)
{
    struct error err = {0};
    struct json_stream *s = json_stream_new(&event_log, log, depth);
    bool good = s && json_stream_feed(s, text, &err) == 0 && json_stream_finish(s, &err) == 0;
    json_stream_free(s);
    return good;
}

#endif
