/* Secrets in command lines and URLs; every expectation is written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "receipt/redact.h"

#define S "hunter2SECRET"

static const struct {
    const char *before, *after;
} words[] = {
    /* URLs */
    {"http://user:" S "@host:80/v1", "http://REDACTED@host:80/v1"},
    {"subject=https://" S "@host", "subject=https://REDACTED@host"},
    {"http://user:pa/" S "@host/v1", "http://REDACTED@host/v1"},
    {"http://a:" S "@h http://b:" S "@i", "http://REDACTED@h http://REDACTED@i"},
    {"http://[::1]:8080/v1", "http://[::1]:8080/v1"},
    {"http://host:8080/a@b", "http://host:8080/a@b"},
    {"http://host/p?api_key=" S "&n=1#x", "http://host/p?api_key=REDACTED&n=1#x"},
    {"http://host/p?key=" S, "http://host/p?key=REDACTED"},
    {"http://host/p?a=1&X-Amz-Signature=" S, "http://host/p?a=1&X-Amz-Signature=REDACTED"},
    {"http://host/p?access_token=" S "&max_tokens=8",
     "http://host/p?access_token=REDACTED&max_tokens=8"},
    {"user:" S "@host:8080", "REDACTED@host:8080"},
    {"subject=user:" S "@host", "subject=REDACTED@host"},
    /* headers, schemes, assignments, JSON */
    {"Authorization: Bearer " S, "Authorization: REDACTED"},
    {"x-api-key: " S, "x-api-key: REDACTED"},
    {"Bearer " S, "Bearer REDACTED"},
    {"API_KEY=" S " ./start --port 1", "API_KEY=REDACTED ./start --port 1"},
    {"server --api-key " S " --port 1", "server --api-key REDACTED --port 1"},
    {"{\"apiKey\": \"" S "\", \"n\": 1}", "{\"apiKey\": \"REDACTED\", \"n\": 1}"},
    {"{\"a\":\"Bearer " S "\"}", "{\"a\":\"Bearer REDACTED\"}"},
    {"sk-abcdefghijklmnop0123", "REDACTED"},
    {"x hf_abcdefghijklmnop0123 y", "x REDACTED y"},
    {"password='" S " and more'", "password='REDACTED'"},
    {"{\"secret\":\"a\\\"" S "\"}", "{\"secret\":\"REDACTED\"}"},
    /* what is no secret */
    {"--max-tokens", "--max-tokens"},
    {"tokenizer.json", "tokenizer.json"},
    {"tokens=512", "tokens=512"},
    {"out/run-1", "out/run-1"},
    {"me@host.example", "me@host.example"},
    {"sk-short", "sk-short"},
    {"", ""},
};

static void words_lose_their_secrets(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, (size_t)1 << 20);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *got = redact_word(str_of(words[i].before), &arena);
        assert_string_equal(got, words[i].after);
        /* Redacting again changes nothing. */
        assert_string_equal(redact_word(str_of(got), &arena), words[i].after);
    }
    arena_release(&arena);
}

static const char *const line_before[] = {
    "tally",
    "run",
    "--header",
    "Authorization: Bearer " S,
    "-H",
    "X-Any: " S,
    "--header",
    "Accept: text/event-stream",
    "--header=Cookie: " S,
    "--api-key",
    S,
    "--bearer=" S,
    "--api-key",
    "-" S,
    "--api-key-file",
    "key.txt",
    "--bearer-env",
    "HF_TOKEN",
    "--key",
    "ci.key",
    "--max-tokens",
    "128",
    "--tokenizer",
    "tokenizer.json",
    "--password",
    "",
    "--lane",
    "subject=http://u:" S "@h",
};
static const char *const line_after[] = {
    "tally",
    "run",
    "--header",
    "Authorization: REDACTED",
    "-H",
    "X-Any: REDACTED",
    "--header",
    "Accept: text/event-stream",
    "--header=Cookie: REDACTED",
    "--api-key",
    "REDACTED",
    "--bearer=REDACTED",
    "--api-key",
    "REDACTED",
    "--api-key-file",
    "key.txt",
    "--bearer-env",
    "HF_TOKEN",
    "--key",
    "ci.key",
    "--max-tokens",
    "128",
    "--tokenizer",
    "tokenizer.json",
    "--password",
    "REDACTED",
    "--lane",
    "subject=http://REDACTED@h",
};

static void command_lines_lose_their_secrets(void **state)
{
    (void)state;
    struct arena arena;
    size_t n = sizeof line_before / sizeof line_before[0];
    arena_init(&arena, (size_t)1 << 20);
    const char *const *got = redact_argv(n, line_before, &arena);
    assert_non_null(got);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(got[i], line_after[i]);
    got = redact_argv(n, got, &arena);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(got[i], line_after[i]);
    assert_non_null(redact_argv(0, NULL, &arena));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_lose_their_secrets),
        cmocka_unit_test(command_lines_lose_their_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
