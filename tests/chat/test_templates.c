/* Every row of the shared template vectors: Jinja2's text, or an error where it raises. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "chat/json_value.h"
#include "jinja/jinja.h"

#define ROWS 822

struct cached {
    char name[128];
    struct jinja_template *t;
};
static struct cached cache[64];

static struct jinja_template *template_named(struct str name, const char *dir)
{
    struct buf path = BUF_INIT(4096), text = BUF_INIT(0);
    struct error err = {0};
    struct cached *c = cache;
    while (c->t && !str_eq(str_of(c->name), name))
        c++;
    if (c->t)
        return c->t;
    buf_addf(&path, "%s/vectors/templates/%.*s", dir, STR_ARG(name));
    assert_int_equal(file_read(&text, path.p, 1 << 20, &err), 0);
    if (jinja_parse(&c->t, buf_str(&text), &JINJA_SYNTAX_TRANSFORMERS, &err) < 0)
        fail_msg("%s:%d: %s", path.p, (int)err.line, err.message);
    snprintf(c->name, sizeof c->name, "%.*s", STR_ARG(name));
    buf_release(&text);
    buf_release(&path);
    return c->t;
}

static bool check_row(const struct json *row, const char *dir, struct arena *a)
{
    struct str name, want, label;
    struct error err = {0};
    struct jinja_value ctx;
    struct buf out = BUF_INIT(JINJA_OUTPUT_MAX);
    const struct jinja_time now = {2026, 12, 1, 9, 30, 0};
    assert_int_equal(json_need_str(&name, row, "template", &err), 0);
    assert_int_equal(json_need_str(&label, row, "case", &err), 0);
    assert_int_equal(value_from_json(&ctx, json_get(row, "context"), a, &err), 0);
    int rc = jinja_render(template_named(name, dir), ctx, &(struct jinja_render){.now = &now}, &out,
                          &err);
    bool raises = json_get(row, "error") != NULL, ok;
    if (raises) {
        ok = rc < 0;
    } else {
        assert_int_equal(json_need_str(&want, row, "expect", &err), 0);
        ok = rc == 0 && str_eq(buf_str(&out), want);
    }
    if (!ok)
        print_error("%.*s %.*s: %s\n", STR_ARG(name), STR_ARG(label),
                    rc < 0   ? err.message
                    : raises ? "no error"
                             : "another text");
    if (!ok && getenv("TALLY_VERBOSE"))
        print_error("--- want\n%.*s\n--- got\n%s\n", STR_ARG(want), out.p);
    buf_release(&out);
    return ok;
}

static void vectors(void **state)
{
    (void)state;
    const char *dir = getenv("TALLY_SHARED");
    struct buf path = BUF_INIT(4096), text = BUF_INIT(0);
    struct error err = {0};
    size_t rows = 0, bad = 0;
    buf_addf(&path, "%s/vectors/templates.jsonl", dir ? dir : "");
    if (!dir || !file_exists(path.p)) {
        print_message("skipped: the shared template vectors are not here\n");
        skip();
    }
    assert_int_equal(file_read(&text, path.p, 64 << 20, &err), 0);
    struct str rest = buf_str(&text), line;
    for (bool more = true; more;) {
        struct arena a;
        const struct json *row;
        more = str_cut(rest, '\n', &line, &rest);
        if (line.n == 0)
            continue;
        arena_init(&a, 64 << 20);
        assert_int_equal(json_parse(&row, line, &JSON_LIMITS_DEFAULT, &a, &err), 0);
        bad += !check_row(row, dir, &a);
        rows++;
        arena_release(&a);
    }
    for (struct cached *c = cache; c->t; c++)
        jinja_template_free(c->t);
    buf_release(&text);
    buf_release(&path);
    assert_int_equal(bad, 0);
    assert_int_equal(rows, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
