/*
 * Wire cases 17, 18, 19: what a client's own tokenizer makes of an answer, and what it must not be
 * taken for. With Qwen2's vocabulary and a real capture from ../shared; skipped where absent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "client.h"
#include "token/tokenizer.h"

static struct tokenizer *open_tokenizer(void)
{
    const char *shared = getenv("TALLY_SHARED");
    struct tokenizer *t = NULL;
    struct error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/vectors/gguf/tiny-qwen2.gguf", shared ? shared : "");
    if (!shared || !file_exists(path))
        return NULL;
    if (tokenizer_open(&t, path, &(struct tokenizer_options){0}, &err) < 0)
        fail_msg("%s", err.message);
    return t;
}

static void decode_body(struct decoded *d, const char *protocol, const char *body)
{
    size_t n = strlen(body);
    struct wire_exchange *x = exchange_of(str_of(body), &n, 1);
    decode_exchange(d, protocol, true, x);
    wire_exchange_free(x);
}

static struct buf joined_of(const struct sample *s)
{
    struct buf b = BUF_INIT(BUF_ANY);
    sample_join_text(s, EVENT_TEXT, &b);
    return b;
}

#define CHUNK(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define FINISH "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"

static void the_joined_text_is_tokenized_once(void **state)
{
    (void)state;
    struct tokenizer *t = open_tokenizer();
    struct error err = {0};
    struct decoded d;
    size_t whole, apart = 0, n;
    if (!t) {
        print_message("[ SKIPPED  ] the vocabulary is not at hand: TALLY_SHARED\n");
        skip();
    }
    /* " guitar" is one token (16986, as llama-server names it), however it was cut up. */
    decode_body(&d, "openai-chat", CHUNK(" gu") CHUNK("it") CHUNK("ar") CHUNK(" guitar") FINISH);
    struct buf text = joined_of(&d.s);
    struct token_ids ids = {.with_offsets = true};
    assert_int_equal(tokenizer_encode(t, buf_str(&text), &(struct encode_options){0}, &ids, &err),
                     0);
    assert_int_equal(ids.n, 2);
    assert_int_equal(ids.id[0], 16986);
    assert_int_equal(ids.id[1], 16986);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(
            tokenizer_count(t, d.s.events[i].text, &(struct encode_options){0}, &n, &err), 0);
        apart += n;
    }
    assert_true(apart > ids.n); /* chunk by chunk gives more */
    assert_int_equal(tokenizer_count(t, buf_str(&text), &(struct encode_options){0}, &whole, &err),
                     0);
    assert_int_equal(whole, 2);
    /* A token belongs to the arrival of its last byte: the third chunk and the fourth. */
    assert_int_equal(sample_assign_tokens((struct sample_event *)(uintptr_t)d.s.events,
                                          d.s.events_n, EVENT_TEXT, ids.to, ids.n, &err),
                     0);
    assert_int_equal(d.s.events[0].retokenized, 0);
    assert_int_equal(d.s.events[1].retokenized, 0);
    assert_int_equal(d.s.events[2].retokenized, 1);
    assert_int_equal(d.s.events[3].retokenized, 1);
    token_ids_release(&ids);
    buf_release(&text);
    decoded_release(&d);
    tokenizer_free(t);
}

/* Three ids that spell one token's text: the recount says 1, the server generated 3. */
static void a_recount_is_no_observation(void **state)
{
    (void)state;
    struct tokenizer *t = open_tokenizer();
    struct error err = {0};
    struct decoded d;
    char body[512];
    size_t n;
    if (!t) {
        print_message("[ SKIPPED  ] the vocabulary is not at hand: TALLY_SHARED\n");
        skip();
    }
    static const char *const pieces[] = {" gu", "it", "ar"};
    uint32_t id[3];
    for (size_t i = 0; i < 3; i++) {
        struct token_ids one = {0};
        assert_int_equal(
            tokenizer_encode(t, str_of(pieces[i]), &(struct encode_options){0}, &one, &err), 0);
        assert_int_equal(one.n, 1);
        id[i] = one.id[0];
        token_ids_release(&one);
    }
    snprintf(body, sizeof body,
             "data: {\"choices\":[{\"index\":0,\"text\":\" guitar\",\"token_ids\":[%u,%u,%u],"
             "\"finish_reason\":\"length\"}],\"usage\":{\"completion_tokens\":3}}\n\n",
             (unsigned)id[0], (unsigned)id[1], (unsigned)id[2]);
    decode_body(&d, "openai-completions", body);
    struct buf text = joined_of(&d.s);
    assert_int_equal(tokenizer_count(t, buf_str(&text), &(struct encode_options){0}, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(d.s.output_observed.total, 3);
    assert_int_equal(d.s.output_reported.total, 3);
    assert_int_equal(d.s.output_retokenized.total, COUNT_NONE); /* wire recounts nothing */
    assert_memory_equal(d.s.events[0].ids, id, sizeof id);
    buf_release(&text);
    decoded_release(&d);

    /* Wire case 19: the same three ids as a prompt are sent as ids; as text they would be one. */
    struct wire_ask ask = {
        .prompt_ids = id, .prompt_ids_n = 3, .max_tokens = COUNT_NONE, .seed = COUNT_NONE};
    struct buf request = BUF_INIT(BUF_ANY);
    char want[64];
    assert_int_equal(wire_build(wire_protocol_find("openai-completions"), &ask, &request, &err), 0);
    snprintf(want, sizeof want, "{\"prompt\":[%u,%u,%u],", (unsigned)id[0], (unsigned)id[1],
             (unsigned)id[2]);
    assert_true(str_starts(buf_str(&request), str_of(want)));
    buf_release(&request);
    decode_body(&d, "openai-completions",
                "data: {\"choices\":[{\"index\":0,\"text\":\"x\",\"finish_reason\":\"length\"}],"
                "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n");
    assert_int_equal(d.s.prompt_reported, 1); /* as reported: it is for the caller to hold the */
    assert_int_equal(d.s.prompt_body, COUNT_NONE); /* target of 3 against it */
    decoded_release(&d);
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_joined_text_is_tokenized_once),
        cmocka_unit_test(a_recount_is_no_observation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
