#include "cli/render_batch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/line.h"
#include "chat/json_value.h"
#include "chat/template_file.h"
#include "chat/when.h"
#include "codec/json_write.h"

#define LINE_BYTES_MAX ((size_t)64 << 20)

struct known {
    char *name;
    struct chat_template *t; /* NULL: it does not parse, and error says why */
    struct error error;
};

struct batch {
    struct cli *cli;
    const char *dir;
    struct known *known;
    size_t n, cap;
    struct arena arena, scratch;
    struct buf out, text;
};

/* A name stays inside the folder: it has no slash and is no "..". */
static bool is_plain_name(struct str name)
{
    return name.n > 0 && str_find_char(name, '/') == STR_NONE && name.p[0] != '.' &&
           str_find_char(name, '\0') == STR_NONE;
}

static int load(struct batch *b, struct str name, struct known **out, struct error *err)
{
    struct buf path = BUF_INIT(4096);
    if (b->n == RENDER_TEMPLATES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d templates", RENDER_TEMPLATES_MAX);
    if (b->n == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 16;
        struct known *p = realloc(b->known, cap * sizeof *p);
        if (!p)
            return error_no_memory(err);
        b->known = p;
        b->cap = cap;
    }
    struct known k = {.name = strndup(name.p, name.n)};
    if (!k.name)
        return error_no_memory(err);
    buf_addf(&path, "%s/%s", b->dir, k.name);
    int rc = buf_check(&path, "path of a template", err);
    if (rc == 0 && !file_exists(path.p)) {
        error_set(err, ERROR_IO, "there is no template '%s' here", k.name);
        rc = error_at_file(err, b->dir);
    }
    /* A template that does not parse is what its lines answer. */
    if (rc == 0 && chat_template_open(&k.t, path.p, NULL, &JINJA_SYNTAX_TRANSFORMERS, &k.error) < 0)
        k.t = NULL;
    buf_release(&path);
    if (rc < 0) {
        free(k.name);
        return -1;
    }
    b->known[b->n] = k;
    *out = &b->known[b->n++];
    return 0;
}

static int find(struct batch *b, struct str name, struct known **out, struct error *err)
{
    for (size_t i = 0; i < b->n; i++)
        if (str_eq(str_of(b->known[i].name), name)) {
            *out = &b->known[i];
            return 0;
        }
    if (!is_plain_name(name)) {
        error_set(err, ERROR_INPUT, "'%.*s' is no name of a template", STR_ARG(name));
        return error_remedy(err, "name a file that lies in the folder of --templates");
    }
    return load(b, name, out, err);
}

static int answer(struct batch *b, const char *key, struct str text, struct error *err)
{
    struct json_writer w;
    buf_reset(&b->out);
    json_writer_init(&w, &b->out, 0);
    json_begin_object(&w);
    json_key(&w, key);
    json_put_str(&w, text);
    json_end_object(&w);
    if (json_writer_check(&w, "the line of a rendering", err) < 0)
        return -1;
    fwrite(b->out.p, 1, b->out.n, b->cli->out);
    fputc('\n', b->cli->out);
    return 0;
}

static int answer_error(struct batch *b, const struct error *why, struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct error plain = *why;
    plain.file[0] = '\0';
    error_format(&plain, &text);
    int rc = answer(b, "error", buf_str(&text), err);
    buf_release(&text);
    return rc;
}

static int render_line(struct batch *b, struct str line, struct error *err)
{
    const struct json *doc, *context;
    struct str name, when;
    struct known *k = NULL;
    struct jinja_value ctx;
    struct jinja_time now;
    struct error why = {0};
    arena_reset(&b->arena);
    if (json_parse(&doc, line, &JSON_LIMITS_DEFAULT, &b->arena, err) < 0 ||
        json_need_str(&name, doc, "template", err) < 0 ||
        json_need(&context, doc, "context", JSON_OBJECT, err) < 0 || find(b, name, &k, err) < 0)
        return -1;
    chat_time_local(&now, clock_real_ns());
    if (json_get(doc, "now")) {
        if (json_need_str(&when, doc, "now", err) < 0)
            return -1;
        if (chat_time_parse(&now, when) < 0)
            return error_set(err, ERROR_INPUT, "'%.*s' is no time such as 2026-12-01T09:30:00",
                             STR_ARG(when));
    }
    if (!k->t)
        return answer_error(b, &k->error, err);
    if (value_from_json(&ctx, context, &b->arena, err) < 0)
        return -1;
    buf_reset(&b->text);
    const struct jinja_render options = {.now = &now, .scratch = &b->scratch};
    if (jinja_render(k->t->jinja, ctx, &options, &b->text, &why) < 0)
        return answer_error(b, &why, err);
    return answer(b, "text", buf_str(&b->text), err);
}

int render_batch(struct cli *cli, const char *path, const char *templates, struct error *err)
{
    struct line_reader r = {0};
    struct str line;
    struct batch b = {
        .cli = cli, .dir = templates, .out = BUF_INIT(BUF_ANY), .text = BUF_INIT(JINJA_OUTPUT_MAX)};
    int got, rc = -1;
    arena_init(&b.arena, 4 * LINE_BYTES_MAX);
    arena_init(&b.scratch, JINJA_ARENA_MAX);
    if (line_open(&r, path, LINE_BYTES_MAX, err) < 0)
        goto out;
    while ((got = line_next(&r, &line, err)) > 0) {
        if (line.n == 0)
            continue;
        if (render_line(&b, line, err) < 0) {
            error_at_file(err, r.name);
            error_at_line(err, r.number, err->column);
            goto out;
        }
    }
    rc = got;
out:
    line_close(&r);
    for (size_t i = 0; i < b.n; i++) {
        free(b.known[i].name);
        chat_template_free(b.known[i].t);
    }
    free(b.known);
    buf_release(&b.out);
    buf_release(&b.text);
    arena_release(&b.arena);
    arena_release(&b.scratch);
    return rc;
}
