/* Conversations: both forms, what is left out and why, what is no file of them. */
#include <stdio.h>
#include <stdlib.h>

#include "../test.h"

#include "corpus/talk.h"

static void read_ok(struct talk *t, const char *text)
{
    struct error err = {0};

    if (talk_read_bytes(t, str_of(text), "f", &err) < 0)
        fail_msg("%s", err.message);
}

#define U(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define A(text) "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define LINE(list) "{\"messages\":[" list "]}\n"
#define HUMAN(text) "{\"from\":\"human\",\"value\":\"" text "\"}"
#define GPT(text) "{\"from\":\"gpt\",\"value\":\"" text "\"}"

/* The same two conversations, in every form that a file may have. */
static void test_forms(void **state)
{
    static const char *const forms[] = {
        LINE(U("a") "," A("b") "," U("c")) LINE(U("d")),
        "\n" LINE(U("a") "," A("b") "," U("c")) "\n" LINE(U("d")) "\n",
        "[" U("a") "," A("b") "," U("c") "]\n[" U("d") "]\n",
        "[{\"id\":\"x\",\"conversations\":[" HUMAN("a") "," GPT("b") "," HUMAN(
            "c") "]},"
                 "{\"id\":\"y\",\"conversations\":[" HUMAN("d") "]}]",
        "[\n {\"conversations\": [" HUMAN("a") ",\n" GPT("b") "," HUMAN("c") "]},\n"
                                                                             " {\"messages\": [" U(
                                                                                 "d") "]}\n]\n",
        "[[" U("a") "," A("b") "," U("c") "],[" U("d") "]]",
        LINE("{\"role\":\"USER\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}," A("b") "," U(
            "c")) LINE(U("d")),
    };
    (void)state;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct talk t;
        read_ok(&t, forms[i]);
        assert_int_equal(t.corpus.n, 2);
        assert_int_equal(t.left_out, 0);
        assert_int_equal(t.turns, 3);
        assert_int_equal(t.list[0].n, 2);
        assert_null(t.list[0].system.p);
        assert_text(t.list[0].turns[0].user, "a");
        assert_text(t.list[0].turns[0].answer, "b");
        assert_text(t.list[0].turns[1].user, "c");
        assert_null(t.list[0].turns[1].answer.p);
        assert_text(t.list[1].turns[0].user, "d");
        assert_text(t.corpus.items[0].id, "c1");
        assert_text(t.corpus.items[1].id, "c2");
        assert_text(t.corpus.items[1].text, "d");
        assert_false(t.corpus.promise.stated);
        talk_release(&t);
    }
}

static void test_one_and_system(void **state)
{
    struct talk t;
    (void)state;

    read_ok(&t, "{\n\"messages\": [{\"role\":\"system\",\"content\":\"s\"},\n" U("a") "]}");
    assert_int_equal(t.corpus.n, 1);
    assert_text(t.list[0].system, "s");
    talk_release(&t);
    read_ok(&t, "[" U("a") "," A("b") "]");
    assert_int_equal(t.corpus.n, 1);
    assert_text(t.list[0].turns[0].answer, "b");
    talk_release(&t);
    talk_release(&t);
    talk_release(NULL);
}

/* What cannot be played is left out, counted, and the first reason kept. */
static void test_left_out(void **state)
{
    static const struct {
        const char *list, *why;
    } cases[] = {
        {A("b"), "message 1 answers nothing"},
        {U("a") "," U("b"), "message 2 is the user's, as the one before it"},
        {U("a") "," A("b") "," A("c"), "message 3 answers nothing"},
        {U("a") ",{\"role\":\"tool\",\"content\":\"x\"}",
         "message 2 has no role of system, user or assistant"},
        {U("a") "," A(""), "message 2 has no text"},
        {"{\"role\":\"user\",\"content\":7}", "message 1 has no text"},
        {U("a") ",{\"role\":\"system\",\"content\":\"s\"}",
         "message 2 is a system message behind others"},
        {"{\"role\":\"system\",\"content\":\"s\"}", "it has no message of the user's"},
        {"", "it has no message of the user's"},
        {"1", "message 1 has no role of system, user or assistant"},
    };
    char text[600], why[200];
    struct error err = {0};
    struct talk t;
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{\"messages\":[%s]}\n" LINE(U("good")), cases[i].list);
        snprintf(why, sizeof why, "conversation 1: %s", cases[i].why);
        read_ok(&t, text);
        assert_int_equal(t.corpus.n, 1);
        assert_int_equal(t.left_out, 1);
        assert_string_equal(t.why, why);
        assert_text(t.corpus.items[0].id, "c2");
        talk_release(&t);
        snprintf(text, sizeof text, "{\"messages\":[%s]}\n", cases[i].list);
        snprintf(why, sizeof why, "no conversation in it can be played; conversation 1: %s",
                 cases[i].why);
        assert_int_equal(talk_read_bytes(&t, str_of(text), "f", &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_string_equal(err.message, why);
        assert_true(err.remedy[0]);
    }
    read_ok(&t, "{\"text\":\"no conversation\"}\n" LINE(U("good")));
    assert_string_equal(t.why, "conversation 1: it holds no list of messages");
    talk_release(&t);
}

static void test_unreadable(void **state)
{
    static const struct {
        const char *text;
        int64_t line;
    } cases[] = {
        {"", 0},
        {"\n\n", 0},
        {"nonsense", 1},
        {LINE(U("a")) "{\"messages\":[\n", 2},
        {"[{\"conversations\":[" HUMAN("a") "]},\n{]", 2},
        {"[]", 0},
        {"7\n", 0},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct talk t;
        assert_int_equal(talk_read_bytes(&t, str_of(cases[i].text), "f", &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_string_equal(err.file, "f");
        assert_int_equal(err.line, cases[i].line);
        assert_true(err.remedy[0]);
    }
}

/* At the limit of turns, and one over. */
static void test_turns_limit(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct buf text = BUF_INIT(BUF_ANY);
        struct talk t;
        buf_adds(&text, "{\"messages\":[" U("a"));
        for (int i = 1; i < TALK_TURNS_MAX + more; i++)
            buf_adds(&text, "," A("b") "," U("a"));
        buf_adds(&text, "]}\n" LINE(U("good")));
        buf_addc(&text, '\0');
        read_ok(&t, text.p);
        assert_int_equal(t.corpus.n, 2 - more);
        assert_int_equal(t.left_out, more);
        if (more)
            assert_string_equal(t.why, "conversation 1: it has more than 256 turns");
        talk_release(&t);
        buf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),       cmocka_unit_test(test_one_and_system),
        cmocka_unit_test(test_left_out),    cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_turns_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
