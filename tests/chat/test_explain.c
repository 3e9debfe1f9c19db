/* Alignment by hand, and the causes of the differences that the real vocabulary shows. */
#include "test.h"

#include <stdlib.h>

#include "base/file.h"
#include "chat/explain.h"
#include "chat/hypothesis.h"
#include "chat/shapes.h"

static const struct jinja_time now = {2026, 12, 1, 9, 30, 0};

static void check_align(const char *a, const char *b, const char *want)
{
    struct align_hunks h = {0};
    struct error err = {0};
    struct buf out = BUF_INIT(1024);
    uint32_t x[64], y[64];
    size_t an = strlen(a), bn = strlen(b);
    for (size_t i = 0; i < an; i++)
        x[i] = (unsigned char)a[i];
    for (size_t i = 0; i < bn; i++)
        y[i] = (unsigned char)b[i];
    assert_int_equal(align_ids(&h, x, an, y, bn, &err), 0);
    for (size_t i = 0; i < h.n; i++)
        buf_addf(&out, "%s%.*s>%.*s", i ? " " : "", (int)(h.items[i].a_to - h.items[i].a_from),
                 a + h.items[i].a_from, (int)(h.items[i].b_to - h.items[i].b_from),
                 b + h.items[i].b_from);
    assert_text(buf_str(&out), want);
    buf_release(&out);
    align_hunks_release(&h);
}

static void alignment(void **state)
{
    (void)state;
    check_align("", "", "");
    check_align("abc", "abc", "");
    check_align("", "abc", ">abc");
    check_align("abc", "", "abc>");
    check_align("abc", "axc", "b>x");
    check_align("abcdef", "abXcdef", ">X");
    check_align("abcdef", "acdf", "b> e>");
    check_align("xaby", "xQQabRRy", ">QQ >RR");
}

/* Past the limit of edits what is left is one hunk, and nothing is lost. */
static void alignment_limit(void **state)
{
    (void)state;
    struct align_hunks h = {0};
    struct error err = {0};
    enum { N = ALIGN_EDITS_MAX / 2 };
    static uint32_t a[N + 3], b[N + 3];
    for (uint32_t i = 0; i < N + 1; i++) {
        a[i + 1] = 2 * i + 2;
        b[i + 1] = 2 * i + 3;
    }
    a[N + 2] = b[N + 2] = 1;
    assert_int_equal(align_ids(&h, a, N + 3, b, N + 3, &err), 0);
    assert_int_equal(h.n, 1);
    assert_int_equal(h.items[0].a_from, 1);
    assert_int_equal(h.items[0].a_to, N + 2);
    assert_int_equal(h.items[0].b_to, N + 2);
    align_hunks_release(&h);
}

struct fixture {
    struct arena arena;
    struct tokenizer *tokenizer;
    struct chat_template *template;
};

static bool open_fixture(struct fixture *f)
{
    const char *dir = getenv("TALLY_SHARED");
    struct buf model = BUF_INIT(4096);
    struct error err = {0};
    buf_addf(&model, "%s/vectors/gguf/tiny-qwen2.gguf", dir ? dir : "");
    bool there = dir && file_exists(model.p);
    if (there) {
        arena_init(&f->arena, 64 << 20);
        assert_int_equal(
            tokenizer_open(&f->tokenizer, model.p, &(struct tokenizer_options){0}, &err), 0);
        assert_int_equal(
            chat_template_open(&f->template, model.p, NULL, &JINJA_SYNTAX_TRANSFORMERS, &err), 0);
    } else {
        print_message("skipped: the shared Qwen2 vocabulary is not here\n");
    }
    buf_release(&model);
    return there;
}

static void close_fixture(struct fixture *f)
{
    tokenizer_free(f->tokenizer);
    chat_template_free(f->template);
    arena_release(&f->arena);
}

static void predict(struct fixture *f, const char *profile, const struct chat_request *q,
                    struct chat_rendering *out)
{
    struct error err = {0};
    const struct chat_profile *p = chat_profile_find(profile);
    if (chat_render(out, f->template, p, q, &err) < 0 ||
        chat_tokenize(out, f->tokenizer, p, &err) < 0)
        fail_msg("%s: %s", profile, err.message);
}

static void check_pair(struct fixture *f, const struct chat_shape *shape, const char *const *want)
{
    struct chat_rendering a = {0}, b = {0};
    struct chat_explanation x = {0};
    struct error err = {0};
    int64_t sum = 0;
    predict(f, "apr", &shape->request, &a);
    predict(f, "llama-server", &shape->request, &b);
    const struct chat_side sa = {"subject", &a}, sb = {"comparator", &b};
    assert_int_equal(chat_explain(&x, &sa, &sb, f->tokenizer, &shape->request, &err), 0);
    assert_int_equal(x.delta, (int64_t)b.ids.n - (int64_t)a.ids.n);
    size_t n = 0;
    for (; want[n]; n++) {
        assert_true(n < x.n);
        assert_string_equal(chat_cause_name(x.items[n].kind), want[n]);
    }
    assert_int_equal(x.n, n);
    for (size_t i = 0; i < x.n; i++)
        sum += x.items[i].tokens;
    assert_int_equal(sum, x.delta);
    /* what the servers reported need not be what was predicted */
    assert_int_equal(chat_explain_rest(&x, x.delta + 3, &err), 0);
    assert_string_equal(chat_cause_name(x.items[n].kind), "unexplained");
    assert_int_equal(x.items[n].tokens, 3);
    chat_explanation_release(&x);
    chat_rendering_release(&a);
    chat_rendering_release(&b);
}

/* Section 1's case: apr's bare ChatML against llama-server with the Qwen2.5 template. */
static void two_lanes(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct chat_shapes shapes;
    struct error err = {0};
    if (!open_fixture(&f))
        skip();
    assert_int_equal(chat_shapes_make(&shapes, f.tokenizer, STR("Tell me more."), &f.arena, &err),
                     0);
    assert_int_equal(shapes.n, 9);
    static const char *const system[] = {"system_message", NULL}, *const nothing[] = {NULL};
    for (size_t i = 0; i < shapes.n; i++) {
        const struct chat_shape *s = &shapes.items[i];
        shapes.items[i].request.now = &now;
        if (strstr(s->name, "special"))
            continue;
        check_pair(&f, s, strcmp(s->name, "system") == 0 ? nothing : system);
    }
    close_fixture(&f);
}

static void special_text(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct chat_shapes shapes;
    struct error err = {0};
    struct chat_rendering a = {0}, b = {0};
    struct chat_explanation x = {0};
    if (!open_fixture(&f))
        skip();
    assert_int_equal(chat_shapes_make(&shapes, f.tokenizer, STR(""), &f.arena, &err), 0);
    assert_int_equal(shapes.n, 8);
    const struct chat_request *q = &shapes.items[6].request;
    assert_string_equal(shapes.items[6].name, "system_special");
    predict(&f, "apr", q, &a);
    predict(&f, "llama-server", q, &b);
    /* with a system message of their own the wrappers agree, and only the content differs */
    assert_true(a.ids.n > b.ids.n);
    const struct chat_side sa = {"subject", &a}, sb = {"comparator", &b};
    assert_int_equal(chat_explain(&x, &sa, &sb, f.tokenizer, q, &err), 0);
    assert_true(x.n > 0);
    for (size_t i = 0; i < x.n; i++) {
        assert_string_equal(chat_cause_name(x.items[i].kind), "special_text");
        assert_non_null(
            strstr(x.items[i].words, "subject counts special-token text as plain text"));
    }
    chat_explanation_release(&x);
    chat_rendering_release(&a);
    chat_rendering_release(&b);
    close_fixture(&f);
}

/* The counts of a server that follows one hypothesis are predicted by it, and what it differs in
 * from the table is found. */
static void hypotheses(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct chat_shapes shapes;
    struct error err = {0};
    static struct chat_hypothesis h[CHAT_HYPOTHESES_MAX];
    if (!open_fixture(&f))
        skip();
    const struct chat_named_template t = {"model.gguf", f.template};
    size_t n = chat_hypotheses(h, CHAT_HYPOTHESES_MAX, &t, 1);
    assert_true(n > 40 && n < CHAT_HYPOTHESES_MAX);
    assert_string_equal(h[0].name, "transformers, template of model.gguf");
    for (size_t i = 1; i < n; i++)
        assert_true(h[i].departures >= h[i - 1].departures);
    assert_int_equal(chat_shapes_make(&shapes, f.tokenizer, STR(""), &f.arena, &err), 0);
    /* the plain variant of llama-server counts the special-token shape as apr does its content */
    struct chat_rendering r = {0}, apr = {0};
    for (size_t i = 0; i < n; i++) {
        if (strcmp(h[i].name, "llama-server, template of model.gguf, content as plain text") != 0)
            continue;
        struct chat_request q = shapes.items[6].request;
        q.now = &now;
        assert_int_equal(chat_predict(&h[i], &q, f.tokenizer, &r, &err), 0);
        predict(&f, "apr", &q, &apr);
        assert_int_equal(r.ids.n, apr.ids.n);
    }
    assert_true(r.ids.n > 0);
    chat_rendering_release(&r);
    chat_rendering_release(&apr);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alignment),  cmocka_unit_test(alignment_limit),
        cmocka_unit_test(two_lanes),  cmocka_unit_test(special_text),
        cmocka_unit_test(hypotheses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
