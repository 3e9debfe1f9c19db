/* What Jinja2 itself made of some 900 small templates (reference.py), one by one. */
#include "test.h"

#include <stdlib.h>

#include "base/file.h"
#include "chat/json_value.h"
#include "jinja/jinja.h"

static bool check(const struct json *row, struct jinja_value context)
{
    struct error err = {0};
    struct str source, want = {0};
    struct buf out = BUF_INIT(JINJA_OUTPUT_MAX);
    struct jinja_template *t = NULL;
    const struct jinja_time now = {2026, 12, 1, 9, 30, 0};
    bool plain = false, raises = json_get(row, "error") != NULL;
    assert_int_equal(json_need_str(&source, row, "source", &err), 0);
    assert_int_equal(json_bool(&plain, json_get(row, "plain")), 0);
    if (!raises)
        assert_int_equal(json_need_str(&want, row, "text", &err), 0);
    const struct jinja_syntax syntax = {!plain, !plain, false};
    int rc = jinja_parse(&t, source, &syntax, &err);
    if (rc == 0)
        rc = jinja_render(t, context, &(struct jinja_render){.now = &now}, &out, &err);
    bool ok =
        raises ? rc < 0 && err.message[0] && err.line > 0 : rc == 0 && str_eq(buf_str(&out), want);
    if (!ok)
        print_error("%.*s\n   wanted %.*s\n   saw %s\n", STR_ARG(source),
                    STR_ARG(raises ? STR("an error with its line") : want),
                    rc < 0 ? err.message : out.p);
    jinja_template_free(t);
    buf_release(&out);
    return ok;
}

static void cases(void **state)
{
    (void)state;
    struct buf path = BUF_INIT(4096), text = BUF_INIT(0);
    struct error err = {0};
    struct arena a;
    struct jinja_value context = {0};
    size_t rows = 0, bad = 0;
    arena_init(&a, 64 << 20);
    buf_addf(&path, "%s/tests/jinja/cases.jsonl", getenv("TALLY_SOURCE"));
    assert_int_equal(file_read(&text, path.p, 16 << 20, &err), 0);
    struct str rest = buf_str(&text), line;
    for (bool more = true; more; rows++) {
        const struct json *row;
        more = str_cut(rest, '\n', &line, &rest);
        if (line.n == 0)
            continue;
        assert_int_equal(json_parse(&row, line, &JSON_LIMITS_DEFAULT, &a, &err), 0);
        if (rows == 0)
            assert_int_equal(value_from_json(&context, json_get(row, "context"), &a, &err), 0);
        else
            bad += !check(row, context);
    }
    buf_release(&text);
    buf_release(&path);
    arena_release(&a);
    assert_int_equal(bad, 0);
    assert_true(rows > 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
