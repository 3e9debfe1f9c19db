#include "wire/sse.h"

void sse_init(struct sse *s, const struct sse_reader *reader)
{
    *s = (struct sse){.reader = *reader};
    buf_init(&s->line, SSE_LINE_MAX);
    buf_init(&s->data, SSE_EVENT_MAX);
    buf_init(&s->name, SSE_LINE_MAX);
}

void sse_release(struct sse *s)
{
    if (!s)
        return;
    buf_release(&s->line);
    buf_release(&s->data);
    buf_release(&s->name);
}

static int dispatch(struct sse *s, bool unterminated, struct error *err)
{
    struct str data = s->held.p ? s->held : buf_str(&s->data);
    int status = 0;
    if (s->data_lines > 0 && data.n > 0) {
        struct sse_event e = {
            .data = data, .name = buf_str(&s->name), .end = s->end, .unterminated = unterminated};
        status = s->reader.on_event(s->reader.ctx, &e, err);
    }
    s->data_lines = 0;
    s->held = (struct str){0};
    buf_reset(&s->data);
    buf_reset(&s->name);
    return status;
}

/* Moves the held line, which lies in the caller's bytes, to where it outlives them. */
static void keep_held(struct sse *s)
{
    if (!s->held.p)
        return;
    buf_addstr(&s->data, s->held);
    s->held = (struct str){0};
}

static int take_data(struct sse *s, struct str value, bool borrowed, struct error *err)
{
    if (value.n > SSE_EVENT_MAX)
        return error_set(err, ERROR_LIMIT, "an event of more than %zu bytes", SSE_EVENT_MAX);
    if (s->data_lines == 0 && borrowed) {
        s->held = value;
    } else {
        keep_held(s);
        if (s->data_lines > 0)
            buf_addc(&s->data, '\n');
        buf_addstr(&s->data, value);
    }
    s->data_lines++;
    return buf_check(&s->data, "a server-sent event", err);
}

/* `end` counts the stream's bytes up to the line's last, its line end not included; `borrowed`
 * says that the line lies in the bytes being fed. */
static int take_line(struct sse *s, struct str line, uint64_t end, bool borrowed, struct error *err)
{
    struct str field, value;
    if (!s->started) {
        s->started = true;
        if (str_starts(line, STR("\xef\xbb\xbf")))
            line = str_skip(line, 3);
    }
    if (line.n == 0)
        return dispatch(s, false, err);
    if (line.p[0] == ':') {
        struct sse_event e = {.data = str_skip(line, 1), .end = end, .comment = true};
        return s->reader.on_event(s->reader.ctx, &e, err);
    }
    if (!str_cut(line, ':', &field, &value))
        value = STR("");
    if (value.n > 0 && value.p[0] == ' ')
        value = str_skip(value, 1);
    if (str_eq(field, STR("data"))) {
        s->end = end;
        return take_data(s, value, borrowed, err);
    }
    if (str_eq(field, STR("event"))) {
        buf_reset(&s->name);
        buf_addstr(&s->name, value);
        return buf_check(&s->name, "a server-sent event's name", err);
    }
    return 0;
}

/* Byte by byte: a search for LF first would be quadratic where lines end in CR alone. */
static size_t find_line_end(struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        if (bytes.p[i] == '\n' || bytes.p[i] == '\r')
            return i;
    return STR_NONE;
}

static int too_long(struct error *err)
{
    return error_set(err, ERROR_LIMIT, "a line of more than %zu bytes in an event stream",
                     SSE_LINE_MAX);
}

/* Takes one line, or what there is of it, off the front of *bytes. */
static int feed_line(struct sse *s, struct str *bytes, struct error *err)
{
    size_t n = find_line_end(*bytes);
    struct str line = str_first(*bytes, n == STR_NONE ? bytes->n : n);
    bool borrowed = s->line.n == 0;
    uint64_t end;
    int status;
    if (line.n + s->line.n > SSE_LINE_MAX)
        return too_long(err);
    if (n == STR_NONE || !borrowed) {
        buf_addstr(&s->line, line);
        if (buf_check(&s->line, "a line of an event stream", err) < 0)
            return -1;
    }
    s->at += line.n;
    end = s->at;
    *bytes = str_skip(*bytes, line.n);
    if (n == STR_NONE)
        return 0;
    s->after_cr = bytes->p[0] == '\r';
    s->at++;
    *bytes = str_skip(*bytes, 1);
    status = take_line(s, borrowed ? line : buf_str(&s->line), end, borrowed, err);
    if (!borrowed)
        buf_reset(&s->line);
    return status;
}

int sse_feed(struct sse *s, struct str bytes, struct error *err)
{
    while (bytes.n > 0) {
        if (s->after_cr && bytes.p[0] == '\n') {
            s->at++;
            bytes = str_skip(bytes, 1);
            s->after_cr = false;
            continue;
        }
        s->after_cr = false;
        if (feed_line(s, &bytes, err) < 0)
            return -1;
    }
    keep_held(s);
    return buf_check(&s->data, "a server-sent event", err);
}

int sse_finish(struct sse *s, struct error *err)
{
    int status;
    if (s->line.n > 0) {
        status = take_line(s, buf_str(&s->line), s->at, false, err);
        buf_reset(&s->line);
        if (status < 0)
            return -1;
    }
    return dispatch(s, true, err);
}
