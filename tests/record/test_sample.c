/* The JSON form of a sample: what is written, what is read back, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/sample.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 30);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static int parse(struct sample *s, struct str line, struct error *err)
{
    const struct json *doc;
    *err = (struct error){0};
    if (json_parse(&doc, line, &JSON_LIMITS_DEFAULT, &arena, err) < 0)
        return -1;
    return sample_read(s, doc, &arena, err);
}

static void print(struct buf *out, const struct sample *s)
{
    struct json_writer w;
    buf_reset(out);
    json_writer_init(&w, out, 0);
    sample_write(s, &w);
}

/* Written by hand from the list of members in spec section 8, in its order. */
static const char full[] =
    "{\"lane\":\"subject\",\"band\":4,\"replicate\":2,\"worker\":3,\"seq\":17,\"phase\":\"window\","
    "\"start_cohort\":true,\"prompt_id\":\"p-0017\","
    "\"body_sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\","
    "\"max_tokens\":128,\"seed\":0,\"t_planned\":-5,\"t_due\":-4,\"t_issue\":0,\"t_dns\":1,\"t_"
    "connect\":2,"
    "\"t_tls\":3,\"connection\":9,\"reused\":true,\"retry_of\":16,\"t_sent\":4,\"t_headers\":900,"
    "\"t_first_byte\":800,\"t_end\":1152921504606846976,\"http_status\":200,"
    "\"http_version\":99,\"retry_after\":7,\"reads\":[{\"t_user\":1000,\"t_kernel\":990,\"t_"
    "lower\":980,\"bytes\":0},"
    "{\"t_user\":2000,\"bytes\":77}],"
    "\"events\":[{\"read\":0,\"kind\":\"role\",\"has_choices\":true},"
    "{\"read\":0,\"kind\":\"text\",\"has_choices\":true,\"choice\":1,\"text\":\"a \\\"\\u0000é\","
    "\"ids\":[0,4294967295],\"logprob_n\":0,\"retokenized\":2},"
    "{\"read\":1,\"kind\":\"reasoning\",\"same_chunk\":true,\"redacted\":true,\"text_bytes\":12},"
    "{\"read\":1,\"kind\":\"usage\",\"usage\":{\"prompt\":0,\"completion\":7,\"cached\":1,"
    "\"reasoning\":2}},{\"read\":1,\"kind\":\"finish\",\"finish_reason\":\"length\"}],"
    "\"prompt_body\":512,\"prompt_rendered\":541,\"prompt_reported\":541,\"prompt_cached\":0,"
    "\"prefill_tokens\":541,\"prefill\":12345678,"
    "\"output_reported\":{\"total\":7,\"text\":5,\"reasoning\":2,\"tool\":0},"
    "\"output_retokenized\":{\"total\":8},\"output_observed\":{\"text\":3},"
    "\"saw_finish\":true,\"saw_done\":true,\"outcome\":\"failed\",\"failure\":\"server_error\","
    "\"error\":\"x\"}";

static void every_member_survives(void **state)
{
    (void)state;
    struct error err;
    struct sample s;
    struct buf out = BUF_INIT(BUF_ANY);
    assert_int_equal(parse(&s, str_of(full), &err), 0);
    assert_int_equal(s.band, 4);
    assert_int_equal(s.t_planned_ns, -5);
    assert_int_equal(s.t_end_ns, SAMPLE_TIME_MAX);
    assert_int_equal(s.reads[1].t_kernel_ns, TIME_NONE);
    assert_int_equal(s.events[1].ids[1], UINT32_MAX);
    assert_true(str_eq(s.events[1].text, STR("a \"\0\xc3\xa9")));
    assert_int_equal(s.events[0].logprob_n, COUNT_NONE);
    assert_int_equal(s.events[1].logprob_n, 0);
    assert_int_equal(s.events[3].usage.prompt, 0);
    assert_int_equal(s.output_retokenized.text, COUNT_NONE);
    assert_int_equal(s.failure, FAILURE_SERVER_ERROR);
    print(&out, &s);
    assert_string_equal(out.p, full);
    buf_release(&out);
}

static const char least[] = "{\"lane\":\"comparator\",\"band\":1,\"replicate\":1,\"worker\":0,"
                            "\"seq\":0,\"phase\":\"warmup\",\"outcome\":\"ok\"}";

static void what_is_absent_is_left_out(void **state)
{
    (void)state;
    struct error err;
    struct sample s, fresh;
    struct buf out = BUF_INIT(BUF_ANY);
    assert_int_equal(parse(&s, str_of(least), &err), 0);
    assert_int_equal(s.t_sent_ns, TIME_NONE);
    assert_int_equal(s.prompt_reported, COUNT_NONE);
    assert_int_equal(s.output_observed.total, COUNT_NONE);
    print(&out, &s);
    assert_string_equal(out.p, least);
    sample_init(&fresh);
    fresh.lane = STR("comparator");
    fresh.band = fresh.replicate = 1;
    print(&out, &fresh);
    assert_string_equal(out.p, least);
    buf_release(&out);
}

/* `least` with one more member, or with one of its own replaced. */
static int parse_with(const char *from, const char *to, struct error *err)
{
    struct sample s = {.band = 77};
    struct buf line = BUF_INIT(BUF_ANY);
    size_t at = str_find(str_of(least), str_of(from));
    assert_true(at != STR_NONE);
    buf_addstr(&line, str_first(str_of(least), at));
    buf_adds(&line, to);
    buf_adds(&line, least + at + strlen(from));
    int status = parse(&s, buf_str(&line), err);
    if (status < 0)
        assert_int_equal(s.band, 77);
    buf_release(&line);
    return status;
}

static void hostile_lines(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"\"band\":1", "\"band\":\"1\"", "\"band\" must be"},
        {"\"band\":1", "\"band\":1.0", "\"band\" must be"},
        {"\"band\":1", "\"band\":0", "\"band\" must be at least 1"},
        {"\"band\":1", "\"band\":2147483648", "\"band\" must be"},
        {"\"band\":1", "\"band\":null", "\"band\" must be"},
        {"\"band\":1,", "", "lacks \"band\""},
        {"\"band\":1", "\"band\":1,\"bande\":1", "unknown member \"bande\""},
        {"\"lane\":\"comparator\"", "\"lane\":\"\"", "\"lane\" is empty"},
        {"\"replicate\":1", "\"replicate\":0", "\"replicate\" must be at least 1"},
        {"\"worker\":0", "\"worker\":-1", "\"worker\" must be"},
        {"\"phase\":\"warmup\"", "\"phase\":\"warm\"", "\"phase\" must be"},
        {"\"phase\":\"warmup\"", "\"phase\":0", "\"phase\" must be"},
        {"\"outcome\":\"ok\"", "\"outcome\":\"fine\"", "\"outcome\" must be"},
        {"\"outcome\":\"ok\"", "\"outcome\":\"failed\"", "\"failure\" must stand exactly"},
        {"\"outcome\":\"ok\"", "\"outcome\":\"ok\",\"failure\":\"http\"", "\"failure\" must"},
        {"\"seq\":0", "\"seq\":0,\"t_sent\":1152921504606846977", "\"t_sent\" must be a time"},
        {"\"seq\":0", "\"seq\":0,\"t_sent\":1e3", "\"t_sent\" must be a time"},
        {"\"seq\":0", "\"seq\":0,\"t_sent\":99999999999999999999", "\"t_sent\" must be a time"},
        {"\"seq\":0", "\"seq\":0,\"prompt_body\":-1", "\"prompt_body\" must be a count"},
        {"\"seq\":0", "\"seq\":0,\"prompt_body\":1000000000001", "\"prompt_body\" must be"},
        {"\"seq\":0", "\"seq\":0,\"reused\":1", "\"reused\" must be true or false"},
        {"\"seq\":0", "\"seq\":0,\"body_sha256\":\"e3\"", "\"body_sha256\" must be"},
        {"\"seq\":0", "\"seq\":0,\"http_status\":1000", "\"http_status\" is no HTTP status"},
        {"\"seq\":0", "\"seq\":0,\"http_version\":100", "\"http_version\" is no version"},
        {"\"seq\":0", "\"seq\":0,\"retry_after\":-2", "\"retry_after\" must be a count"},
        {"\"seq\":0", "\"seq\":0,\"output_observed\":7", "\"output_observed\" must be an object"},
        {"\"seq\":0", "\"seq\":0,\"output_observed\":{\"all\":7}", "unknown member \"all\""},
        {"\"seq\":0", "\"seq\":0,\"reads\":{}", "\"reads\" must be an array"},
        {"\"seq\":0", "\"seq\":0,\"reads\":[7]", "a read must be an object"},
        {"\"seq\":0", "\"seq\":0,\"reads\":[{\"bytes\":1}]", "a read lacks \"t_user\""},
        {"\"seq\":0", "\"seq\":0,\"reads\":[{\"t_user\":1,\"bytes\":-1}]", "\"bytes\" must be"},
        {"\"seq\":0", "\"seq\":0,\"events\":[{\"read\":0,\"kind\":\"text\"}]",
         "names a read that is not there"},
        {"\"seq\":0", "\"seq\":0,\"events\":[{\"read\":0,\"kind\":\"words\"}]", "\"kind\" must be"},
        {"\"seq\":0", "\"seq\":0,\"seq\":1", "stands twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err;
        assert_int_equal(parse_with(cases[i].from, cases[i].to, &err), -1);
        if (!strstr(err.message, cases[i].says))
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.message, cases[i].says);
    }
}

static void event_rules(void **state)
{
    (void)state;
    static const struct {
        const char *event, *says;
    } cases[] = {
        {"\"redacted\":true", "redacted text without its size"},
        {"\"redacted\":true,\"text\":\"x\",\"text_bytes\":1", "redacted text without its size"},
        {"\"text_bytes\":1", "states the size"},
        {"\"ids\":[-1]", "\"ids\" must be token ids"},
        {"\"ids\":[4294967296]", "\"ids\" must be token ids"},
        {"\"ids\":7", "\"ids\" must be an array"},
        {"\"choice\":-1", "\"choice\" must be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err;
        char to[300];
        snprintf(to, sizeof to,
                 "\"seq\":0,\"reads\":[{\"t_user\":1,\"bytes\":1}],"
                 "\"events\":[{\"read\":0,\"kind\":\"text\",%s}]",
                 cases[i].event);
        assert_int_equal(parse_with("\"seq\":0", to, &err), -1);
        if (!strstr(err.message, cases[i].says))
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.message, cases[i].says);
    }
}

static void limits(void **state)
{
    (void)state;
    struct error err = {0};
    struct sample s;
    struct sample_read_stamp *reads = calloc(SAMPLE_READS_MAX + 1, sizeof *reads);
    struct sample_event *events = calloc(SAMPLE_EVENTS_MAX + 1, sizeof *events);
    uint32_t *ids = calloc(SAMPLE_IDS_MAX + 1, sizeof *ids);
    char *text = calloc(SAMPLE_TEXT_MAX + 1, 1);
    assert_true(reads && events && ids && text);
    sample_init(&s);
    s.lane = STR("subject");
    s.band = s.replicate = 1;
    s.reads = reads;
    s.events = events;
    for (size_t i = 0; i <= SAMPLE_EVENTS_MAX; i++)
        sample_event_init(&events[i]);

    s.reads_n = SAMPLE_READS_MAX;
    assert_int_equal(sample_check(&s, &err), 0);
    s.reads_n++;
    assert_int_equal(sample_check(&s, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    s.reads_n = 1;

    s.events_n = SAMPLE_EVENTS_MAX;
    assert_int_equal(sample_check(&s, &err), 0);
    s.events_n++;
    assert_int_equal(sample_check(&s, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    s.events_n = 2;

    events[0].ids = events[1].ids = ids;
    events[0].ids_n = SAMPLE_IDS_MAX - 1;
    events[1].ids_n = 1;
    assert_int_equal(sample_check(&s, &err), 0);
    events[1].ids_n = 2;
    assert_int_equal(sample_check(&s, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    events[1].ids_n = 0;

    events[1].text = str_make(text, SAMPLE_TEXT_MAX);
    assert_int_equal(sample_check(&s, &err), 0);
    events[0].text = str_make(text, 1);
    assert_int_equal(sample_check(&s, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    events[0].text = events[1].text = str_make(text, 0);

    s.error = str_make(text, SAMPLE_NAME_MAX);
    assert_int_equal(sample_check(&s, &err), 0);
    s.error.n++;
    assert_int_equal(sample_check(&s, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    free(reads);
    free(events);
    free(ids);
    free(text);
}

static void order_of_time(void **state)
{
    (void)state;
    struct error err = {0};
    struct sample s;
    struct sample_read_stamp reads[] = {{200, 190, 150, 1}, {300, TIME_NONE, 300, 1}};
    struct sample_event events[2];
    sample_init(&s);
    sample_event_init(&events[0]);
    sample_event_init(&events[1]);
    events[1].read = 1;
    s.t_planned_ns = s.t_issue_ns = s.t_sent_ns = 100;
    s.t_first_byte_ns = 150;
    s.t_end_ns = 300;
    s.reads = reads;
    s.reads_n = 2;
    s.events = events;
    s.events_n = 2;
    assert_int_equal(sample_check_order(&s, &err), 0);
    /* Each fault alone, then put right again. */
    int64_t *const times[] = {&s.t_planned_ns,    &s.t_issue_ns,         &s.t_sent_ns,
                              &s.t_end_ns,        &reads[0].t_kernel_ns, &reads[0].t_lower_ns,
                              &s.t_first_byte_ns, &reads[1].t_user_ns,   &reads[0].t_user_ns};
    const int64_t wrong[] = {101, 101, 201, 299, 201, 201, 99, 199, 301};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int64_t right = *times[i];
        *times[i] = wrong[i];
        assert_int_equal(sample_check_order(&s, &err), -1);
        assert_string_equal(err.rule, "time_order");
        *times[i] = right;
    }
    int64_t *const needed[] = {&s.t_sent_ns, &s.t_end_ns};
    for (size_t i = 0; i < 2; i++) {
        int64_t right = *needed[i];
        *needed[i] = TIME_NONE;
        assert_int_equal(sample_check_order(&s, &err), -1);
        s.outcome = OUTCOME_TRUNCATED;
        assert_int_equal(sample_check_order(&s, &err), 0);
        s.outcome = OUTCOME_OK;
        *needed[i] = right;
    }
    events[0].read = 1;
    events[1].read = 0;
    assert_int_equal(sample_check_order(&s, &err), -1);
}

static void tokens_belong_to_the_event_of_their_last_byte(void **state)
{
    (void)state;
    struct error err = {0};
    struct sample_event e[5];
    for (size_t i = 0; i < 5; i++)
        sample_event_init(&e[i]);
    e[0].kind = e[2].kind = e[3].kind = e[4].kind = EVENT_TEXT;
    e[1].kind = EVENT_REASONING;
    e[0].text = STR("Hel");
    e[1].text = STR("hmm");
    e[2].text = STR("");
    e[3].text = STR("lo wo");
    e[4].text = STR("rld");
    /* "Hello| world": the first token ends at byte 5, the second at 11. */
    const uint32_t two[] = {5, 11};
    assert_int_equal(sample_assign_tokens(e, 5, EVENT_TEXT, two, 2, &err), 0);
    assert_int_equal(e[0].retokenized, 0);
    assert_int_equal(e[1].retokenized, COUNT_NONE);
    assert_int_equal(e[2].retokenized, 0);
    assert_int_equal(e[3].retokenized, 1);
    assert_int_equal(e[4].retokenized, 1);
    /* One that ends with the event is its own; one that ends at 0 is the first event's. */
    const uint32_t edges[] = {0, 3, 8, 11};
    assert_int_equal(sample_assign_tokens(e, 5, EVENT_TEXT, edges, 4, &err), 0);
    assert_int_equal(e[0].retokenized, 2);
    assert_int_equal(e[3].retokenized, 1);
    assert_int_equal(e[4].retokenized, 1);
    const uint32_t beyond[] = {12}, back[] = {5, 4};
    assert_int_equal(sample_assign_tokens(e, 5, EVENT_TEXT, beyond, 1, &err), -1);
    assert_int_equal(sample_assign_tokens(e, 5, EVENT_TEXT, back, 2, &err), -1);
    assert_int_equal(e[0].retokenized, 2);

    struct buf joined = BUF_INIT(100);
    struct sample s = {.events = e, .events_n = 5};
    sample_join_text(&s, EVENT_TEXT, &joined);
    assert_string_equal(joined.p, "Hello world");
    buf_release(&joined);
}

static void events_with_tokens(void **state)
{
    (void)state;
    const uint32_t id = 7;
    struct sample_event e;
    sample_event_init(&e);
    assert_false(sample_event_has_token(&e));
    e.kind = EVENT_ROLE;
    assert_false(sample_event_has_token(&e));
    e.ids = &id;
    e.ids_n = 1;
    assert_true(sample_event_has_token(&e));
    sample_event_init(&e);
    e.kind = EVENT_TEXT;
    assert_false(sample_event_has_token(&e));
    e.redacted = true;
    e.text_bytes = 0;
    assert_false(sample_event_has_token(&e));
    e.text_bytes = 1;
    assert_true(sample_event_has_token(&e));
    e.kind = EVENT_ERROR;
    assert_false(sample_event_has_token(&e));
    e.logprob_n = 0;
    assert_false(sample_event_has_token(&e));
    e.logprob_n = 1;
    assert_true(sample_event_has_token(&e));
}

static void texts_left_out(void **state)
{
    (void)state;
    const uint32_t ids[] = {5, 6};
    struct sample_event e[4];
    for (int i = 0; i < 4; i++)
        sample_event_init(&e[i]);
    e[0].kind = EVENT_TEXT;
    e[0].text = STR("a\xc3\xa9"); /* three bytes */
    e[0].ids = ids;
    e[0].ids_n = 2;
    e[0].retokenized = 1;
    e[1].kind = EVENT_FINISH;
    e[1].finish_reason = STR("stop");
    e[2].kind = EVENT_ERROR;
    e[2].text = STR("the prompt 'x' is too long");
    e[3].kind = EVENT_TEXT;
    e[3].text = STR("b");
    e[3].ids = ids;
    e[3].ids_n = 1;
    e[3].logprob_n = 1;
    sample_redact(e, 4);
    for (int i = 0; i < 4; i++)
        assert_true(e[i].text.n == 0 && e[i].ids_n == 0);
    assert_true(e[0].redacted && e[0].text_bytes == 3);
    assert_int_equal(e[0].logprob_n, 2);
    assert_int_equal(e[0].retokenized, 1);
    assert_true(sample_event_has_token(&e[0]));
    assert_false(e[1].redacted);
    assert_int_equal(e[1].text_bytes, COUNT_NONE);
    assert_int_equal(e[1].finish_reason.n, 4);
    assert_true(e[2].redacted && e[2].text_bytes == 26);
    assert_int_equal(e[3].logprob_n, 1);
}

/* SHA-256 of "abc" (FIPS 180-2, B.1), whatever the events it came in and whatever else there was.
 */
static void output_digest(void **state)
{
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct sample_event e[5];
    struct sample s;
    struct error err = {0};
    char hex[SHA256_HEX];
    (void)state;

    sample_init(&s);
    for (int i = 0; i < 5; i++)
        sample_event_init(&e[i]);
    e[0].kind = EVENT_REASONING;
    e[0].text = STR("a");
    e[1].kind = EVENT_TEXT;
    e[1].text = STR("bc");
    e[2].kind = EVENT_TEXT;
    e[2].text = STR("another answer");
    e[2].choice = 1;
    e[3].kind = EVENT_ERROR;
    e[3].text = STR("no token");
    e[4].kind = EVENT_FINISH;
    s.events = e;
    s.events_n = 5;
    assert_int_equal(sample_digest_output(&s, hex, &err), 0);
    assert_string_equal(hex, abc);
    e[0].text = e[1].text = (struct str){0};
    assert_int_equal(sample_digest_output(&s, hex, &err), 0);
    assert_string_equal(hex, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_digest),
        cmocka_unit_test(every_member_survives),
        cmocka_unit_test(what_is_absent_is_left_out),
        cmocka_unit_test(hostile_lines),
        cmocka_unit_test(event_rules),
        cmocka_unit_test(limits),
        cmocka_unit_test(order_of_time),
        cmocka_unit_test(tokens_belong_to_the_event_of_their_last_byte),
        cmocka_unit_test(events_with_tokens),
        cmocka_unit_test(texts_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
