#include "codec/json_stream.h"

#include "../test.h"

/* Writes each event down, so that a whole stream is one comparison. */
struct trace {
    struct buf text;
    const char *stop_at; /* the event at which the callback refuses */
};

static int note(struct trace *t, const char *event, struct str text, struct error *err)
{
    buf_addf(&t->text, "%s%.*s ", event, STR_ARG(text));
    if (t->stop_at && strcmp(t->stop_at, event) == 0)
        return error_set(err, ERROR_UNSUPPORTED, "stopped at %s", event);
    return 0;
}

static int on_null(void *t, struct error *err)
{
    return note(t, "null", STR(""), err);
}

static int on_boolean(void *t, bool v, struct error *err)
{
    return note(t, v ? "true" : "false", STR(""), err);
}

static int on_number(void *t, struct str s, struct error *err)
{
    return note(t, "#", s, err);
}

static int on_string(void *t, struct str s, struct error *err)
{
    return note(t, "$", s, err);
}

static int on_key(void *t, struct str s, struct error *err)
{
    return note(t, "key:", s, err);
}

static int on_start_object(void *t, struct error *err)
{
    return note(t, "{", STR(""), err);
}

static int on_end_object(void *t, struct error *err)
{
    return note(t, "}", STR(""), err);
}

static int on_start_array(void *t, struct error *err)
{
    return note(t, "[", STR(""), err);
}

static int on_end_array(void *t, struct error *err)
{
    return note(t, "]", STR(""), err);
}

static const struct json_events all_events = {
    .null = on_null,
    .boolean = on_boolean,
    .number = on_number,
    .string = on_string,
    .key = on_key,
    .start_object = on_start_object,
    .end_object = on_end_object,
    .start_array = on_start_array,
    .end_array = on_end_array,
};

/* Feeds text in pieces of `step` bytes. */
static int run(struct trace *t, struct str text, size_t step, unsigned depth, struct error *err)
{
    struct json_stream *s = json_stream_new(&all_events, t, depth);
    int status = 0;
    assert_non_null(s);
    for (size_t at = 0; status == 0 && at < text.n; at += step)
        status = json_stream_feed(s, str_first(str_skip(text, at), step), err);
    if (status == 0)
        status = json_stream_finish(s, err);
    json_stream_free(s);
    return status;
}

#define DOCUMENT                                                  \
    "{\"a\":[1,-2.5e-3,true,false,null],\"\\u00e9\\\\u\":{\"b\":" \
    "\"x\\uD83D\\uDE00\\n\xe2\x82\xac\"},"                        \
    "\"c\":[[],{}]} "
#define EVENTS                                                         \
    "{ key:a [ #1 #-2.5e-3 true false null ] key:\xc3\xa9\\u { key:b " \
    "$x\xf0\x9f\x98\x80\n\xe2\x82\xac } key:c [ [ ] { } ] } "

static void the_same_in_any_pieces(void **state)
{
    (void)state;
    struct str text = STR(DOCUMENT);
    for (size_t step = 1; step <= text.n; step++) {
        struct trace t = {.text = BUF_INIT(10000)};
        struct error err = {0};
        assert_int_equal(run(&t, text, step, 10, &err), 0);
        assert_text(buf_str(&t.text), EVENTS);
        buf_release(&t.text);
    }
}

/* A cut-off document is an error wherever the cut is, and its offset is the cut. */
static void cut_off_anywhere(void **state)
{
    (void)state;
    struct str text = STR(DOCUMENT);
    for (size_t n = 0; n + 1 < text.n; n++) {
        struct trace t = {.text = BUF_INIT(10000)};
        struct error err;
        assert_refused(run(&t, str_first(text, n), 3, 10, &err), err, ERROR_INPUT, "not JSON");
        assert_int_equal(err.offset, n + 1);
        buf_release(&t.text);
    }
}

static void lone_surrogates_in_any_pieces(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t offset;
    } bad[] = {
        {"[\"ab\\ud800\"]", 4},
        {"[\"ab\\udc00c\"]", 4},
        {"[\"\\ud83d\\ude00\\ud83d\\u0041\"]", 14},
        {"{\"\\uDBFF\\\\\":1}", 2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (size_t step = 1; step <= strlen(bad[i].text); step++) {
            struct trace t = {.text = BUF_INIT(10000)};
            struct error err;
            assert_refused(run(&t, str_of(bad[i].text), step, 10, &err), err, ERROR_INPUT,
                           "half of a surrogate pair stands alone");
            assert_int_equal(err.offset, bad[i].offset + 1);
            buf_release(&t.text);
        }
}

static void callback_stops(void **state)
{
    (void)state;
    static const struct {
        const char *event, *seen;
    } stops[] = {
        {"{", "{ "},
        {"key:", "{ key:a "},
        {"[", "{ key:a [ "},
        {"#", "{ key:a [ #1 "},
        {"true", "{ key:a [ #1 #-2.5e-3 true "},
        {"null", "{ key:a [ #1 #-2.5e-3 true false null "},
        {"]", "{ key:a [ #1 #-2.5e-3 true false null ] "},
        {"}", NULL},
        {"$", NULL},
    };
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
        for (size_t step = 1; step < 100; step += 13) {
            struct trace t = {.text = BUF_INIT(10000), .stop_at = stops[i].event};
            struct error err;
            assert_refused(run(&t, STR(DOCUMENT), step, 10, &err), err, ERROR_UNSUPPORTED,
                           "stopped at");
            if (stops[i].seen)
                assert_text(buf_str(&t.text), stops[i].seen);
            assert_true(err.offset > 0);
            buf_release(&t.text);
        }
    /* Even when only the end of the text shows that the number has ended. */
    struct trace t = {.text = BUF_INIT(10000), .stop_at = "#"};
    struct error err;
    assert_refused(run(&t, STR("12"), 1, 10, &err), err, ERROR_UNSUPPORTED, "stopped at #");
    buf_release(&t.text);
}

static void without_callbacks(void **state)
{
    (void)state;
    static const struct json_events none = {0};
    struct error err = {0};
    struct json_stream *s = json_stream_new(&none, NULL, 10);
    assert_int_equal(json_stream_feed(s, STR(DOCUMENT), &err), 0);
    assert_int_equal(json_stream_offset(s), sizeof(DOCUMENT) - 1);
    assert_int_equal(json_stream_finish(s, &err), 0);
    json_stream_free(s);
    json_stream_free(NULL);
    /* The text is checked all the same. */
    s = json_stream_new(&none, NULL, 10);
    assert_refused(json_stream_feed(s, STR("[\"\xff\"]"), &err), err, ERROR_INPUT, "not UTF-8");
    json_stream_free(s);
}

static void depth_limit(void **state)
{
    (void)state;
    struct trace t = {.text = BUF_INIT(10000)};
    struct error err = {0};
    assert_int_equal(run(&t, STR("[{\"a\":[1]},[[]]]"), 4, 3, &err), 0);
    assert_refused(run(&t, STR("[{\"a\":[{}]}]"), 4, 3, &err), err, ERROR_LIMIT,
                   "deeper than 3 levels");
    assert_refused(run(&t, STR("[]"), 4, 0, &err), err, ERROR_LIMIT, "deeper than 0 levels");
    assert_int_equal(run(&t, STR("7"), 4, 0, &err), 0);
    buf_release(&t.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_in_any_pieces),
        cmocka_unit_test(cut_off_anywhere),
        cmocka_unit_test(lone_surrogates_in_any_pieces),
        cmocka_unit_test(callback_stops),
        cmocka_unit_test(without_callbacks),
        cmocka_unit_test(depth_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
