#include "script.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/num.h"

#define SCRIPT_MAX ((size_t)1 << 20)
#define DEFAULT_HEAD \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

static struct str take_line(struct str *text)
{
    struct str line;
    str_cut(*text, '\n', &line, text);
    return line;
}

/* The lines up to the next "==". */
static struct str take_section(struct str *text)
{
    struct str section = *text;
    while (text->n > 0 && !str_starts(*text, STR("==")))
        take_line(text);
    section.n -= text->n;
    return section;
}

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static void add_raw(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n')
            continue;
        if (s.p[i] != '\\') {
            buf_addc(b, s.p[i]);
            continue;
        }
        assert(i + 1 < s.n);
        switch (s.p[++i]) {
        case 'n':
            buf_addc(b, '\n');
            break;
        case 'r':
            buf_addc(b, '\r');
            break;
        case 't':
            buf_addc(b, '\t');
            break;
        case 'x':
            assert(i + 2 < s.n);
            buf_addc(b, (char)(hex(s.p[i + 1]) * 16 + hex(s.p[i + 2])));
            i += 2;
            break;
        default:
            assert(s.p[i] == '\\');
            buf_addc(b, '\\');
        }
    }
}

static void add_step(struct script *s, enum step_do what, const char *bytes, size_t n)
{
    assert(s->steps_n < SCRIPT_STEPS);
    s->steps[s->steps_n++] = (struct step){what, bytes, n};
}

static void take_head(struct script *s, struct str lines)
{
    while (lines.n > 0) {
        struct str line = take_line(&lines);
        buf_addstr(&s->head, line);
        buf_adds(&s->head, "\r\n");
    }
    buf_adds(&s->head, "\r\n");
}

static void begin(struct script *s)
{
    if (s->steps_n > 0)
        return;
    if (s->head.n == 0)
        buf_adds(&s->head, DEFAULT_HEAD);
    s->chunked = str_find(buf_str(&s->head), STR("chunked")) != STR_NONE;
    add_step(s, DO_READ, NULL, 0);
    add_step(s, DO_SEND, s->head.p, s->head.n);
}

static void take_body(struct script *s, struct str lines, bool raw)
{
    struct buf *b = &s->piece[s->pieces_n++];
    assert(s->pieces_n < SCRIPT_STEPS);
    buf_init(b, SCRIPT_MAX);
    if (raw)
        add_raw(b, lines);
    else
        buf_addstr(b, lines);
    begin(s);
    add_step(s, s->chunked ? DO_CHUNK : DO_SEND, b->p, b->n);
    buf_addstr(&s->body, buf_str(b));
}

static void take_ask(struct script *s, struct str words)
{
    struct str protocol, rest;
    str_cut(words, ' ', &protocol, &rest);
    s->blocking = str_eq(rest, STR("blocking"));
    assert(protocol.n < sizeof s->protocol && (rest.n == 0 || s->blocking));
    memcpy(s->protocol, protocol.p, protocol.n);
}

static void take_part(struct script *s, struct str title, struct str lines)
{
    struct str name, rest;
    int64_t ms;
    str_cut(title, ' ', &name, &rest);
    if (str_eq(name, STR("ask"))) {
        take_ask(s, rest);
    } else if (str_eq(name, STR("head"))) {
        take_head(s, lines);
    } else if (str_eq(name, STR("body"))) {
        take_body(s, lines, str_eq(rest, STR("raw")));
    } else if (str_eq(name, STR("wait"))) {
        assert(num_parse_i64(&ms, rest) == 0);
        begin(s);
        add_step(s, DO_WAIT, NULL, (size_t)ms);
    } else if (str_eq(name, STR("cut"))) {
        s->cut = true;
    } else if (str_eq(name, STR("reset"))) {
        s->cut = true;
        add_step(s, DO_WAIT, NULL, 50); /* a reset would take back what was not read yet */
        add_step(s, DO_RESET, NULL, 0);
    } else if (str_eq(name, STR("want"))) {
        s->want = lines;
    } else if (str_eq(name, STR("events"))) {
        s->want_events = lines;
    } else {
        fprintf(stderr, "section '%.*s' is unknown\n", STR_ARG(name));
        assert(0);
    }
}

struct script *script_load(const char *path)
{
    struct script *s = calloc(1, sizeof *s);
    struct error err = {0};
    struct str text;
    assert(s);
    buf_init(&s->head, SCRIPT_MAX);
    buf_init(&s->body, SCRIPT_MAX);
    if (file_read(&s->text, path, SCRIPT_MAX, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        assert(0);
    }
    text = buf_str(&s->text);
    take_section(&text); /* the story */
    while (text.n > 0) {
        struct str title = str_trim(str_skip(take_line(&text), 2));
        take_part(s, title, take_section(&text));
    }
    begin(s);
    if (s->chunked && !s->cut)
        add_step(s, DO_SEND, "0\r\n\r\n", 5);
    add_step(s, DO_END, NULL, 0);
    assert(s->protocol[0]);
    return s;
}

void script_free(struct script *s)
{
    for (size_t i = 0; i < s->pieces_n; i++)
        buf_release(&s->piece[i]);
    buf_release(&s->text);
    buf_release(&s->head);
    buf_release(&s->body);
    free(s);
}

bool script_want(const struct script *s, const char *name, struct str *value)
{
    struct str lines = s->want;
    while (lines.n > 0) {
        struct str line = take_line(&lines), key, rest;
        str_cut(line, ' ', &key, &rest);
        if (!str_eq(key, str_of(name)))
            continue;
        *value = rest;
        return true;
    }
    return false;
}
