/*
 * Any bytes as a template over a fixed context: parse and render within small budgets, twice, with
 * the same result. Two inputs in one file: a first byte of '+' turns trim_blocks and lstrip_blocks
 * off.
 */
#include "fuzz.h"
#include "jinja/jinja.h"

#define STEPS 200000

static struct jinja_value context(struct arena *a, struct error *err)
{
    static const char *const roles[] = {"system", "user", "assistant"};
    struct jinja_value ctx, messages, m;
    FUZZ_REQUIRE(jinja_dict_new(&ctx, a, 0, err) == 0);
    FUZZ_REQUIRE(jinja_list_new(&messages, a, 0, err) == 0);
    for (int i = 0; i < 3; i++) {
        FUZZ_REQUIRE(jinja_dict_new(&m, a, 0, err) == 0);
        FUZZ_REQUIRE(jinja_dict_put(&m, STR("role"), jinja_string(str_of(roles[i])), a, err) == 0);
        FUZZ_REQUIRE(jinja_dict_put(&m, STR("content"), jinja_string(STR(" h\xC3\xA9llo <b> ")), a,
                                    err) == 0);
        FUZZ_REQUIRE(jinja_list_add(&messages, m, a, err) == 0);
    }
    FUZZ_REQUIRE(jinja_dict_put(&ctx, STR("messages"), messages, a, err) == 0);
    FUZZ_REQUIRE(jinja_dict_put(&ctx, STR("n"), jinja_int(42), a, err) == 0);
    FUZZ_REQUIRE(jinja_dict_put(&ctx, STR("f"), jinja_float(-1.5), a, err) == 0);
    FUZZ_REQUIRE(jinja_dict_put(&ctx, STR("no"), jinja_none(), a, err) == 0);
    FUZZ_REQUIRE(jinja_dict_put(&ctx, STR("yes"), jinja_bool(true), a, err) == 0);
    return ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0}, again = {0};
    struct arena a, scratch;
    struct jinja_template *t = NULL;
    struct str source = str_make(data, size);
    struct jinja_syntax syntax = JINJA_SYNTAX_TRANSFORMERS;
    struct buf first = BUF_INIT(JINJA_OUTPUT_MAX), second = BUF_INIT(JINJA_OUTPUT_MAX);
    const struct jinja_time now = {2026, 12, 1, 9, 30, 0};
    if (size && data[0] == '+') {
        syntax = (struct jinja_syntax){false, false, true};
        source = str_skip(source, 1);
    }
    if (jinja_parse(&t, source, &syntax, &err) < 0) {
        FUZZ_REQUIRE(err.kind != ERROR_NONE && err.message[0]);
        return 0;
    }
    arena_init(&a, (size_t)1 << 20);
    arena_init(&scratch, (size_t)32 << 20);
    struct jinja_value ctx = context(&a, &err);
    struct jinja_spans spans = {0};
    struct jinja_render options = {.now = &now,
                                   .scratch = &scratch,
                                   .steps_max = STEPS,
                                   .time_max_ns = INT64_C(60000000000),
                                   .spans = &spans};
    int rc = jinja_render(t, ctx, &options, &first, &err);
    FUZZ_REQUIRE(rc == 0 || (err.message[0] && first.n == 0));
    for (size_t i = 0; rc == 0 && i < spans.n; i++)
        FUZZ_REQUIRE(spans.items[i].from < spans.items[i].to && spans.items[i].to <= first.n);
    FUZZ_REQUIRE(jinja_render(t, ctx, &options, &second, &again) == rc);
    FUZZ_REQUIRE(str_eq(buf_str(&first), buf_str(&second)));
    jinja_spans_release(&spans);
    buf_release(&first);
    buf_release(&second);
    arena_release(&scratch);
    arena_release(&a);
    jinja_template_free(t);
    return 0;
}
