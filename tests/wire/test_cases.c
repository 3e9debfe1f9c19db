/*
 * The wire cases: every file of cases/ is played by a server and asked over the real loop, and its
 * body is decoded again split at every byte, and one byte a read: always the same events, each in
 * the read that carried the last byte of its data.
 *
 * Lines of `want` (those left out are not looked at, except error, which is then ""):
 *     outcome NAME [FAILURE]      error TEXT (what the error starts with)
 *     finish yes|no               done yes|no
 *     prompt N|none               cached N|none
 *     reported N|none             reasoning N|none (reported)
 *     observed N|none             prefill TOKENS NS
 *     first N|none: the event with the first token       visible N|none: the first visible content
 *     first_send N: the first token came with the N-th body section (from 1)
 *     last_send N: the same of the last token
 *     joined TEXT: all text of choice 0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "client.h"
#include "script.h"

#define CASES_MAX 128

static char paths[CASES_MAX][512];

/* --- an event in words ---------------------------------------------------------------------- */

static void add_text(struct buf *b, struct str s)
{
    buf_addc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '\n')
            buf_adds(b, "\\n");
        else if (c < 0x20)
            buf_addf(b, "\\x%02x", c);
        else
            buf_addc(b, (char)c);
    }
    buf_addc(b, '"');
}

static void add_count(struct buf *b, const char *before, int64_t n)
{
    buf_adds(b, before);
    if (n == COUNT_NONE)
        buf_adds(b, "-");
    else
        buf_addf(b, "%lld", (long long)n);
}

/* KIND [#CHOICE] ["TEXT"] [REASON] [ids=A,B] [logprobs=N]
 * [usage=PROMPT/COMPLETION/CACHED/REASONING]
 */
static void add_event(struct buf *b, const struct sample_event *e)
{
    buf_adds(b, sample_event_name(e->kind));
    if (e->choice != 0)
        buf_addf(b, " #%d", (int)e->choice);
    if (e->text.n > 0) {
        buf_addc(b, ' ');
        add_text(b, e->text);
    }
    if (e->finish_reason.n > 0)
        buf_addf(b, " %.*s", STR_ARG(e->finish_reason));
    for (size_t i = 0; i < e->ids_n; i++)
        buf_addf(b, "%s%u", i == 0 ? " ids=" : ",", (unsigned)e->ids[i]);
    if (e->logprob_n != COUNT_NONE)
        add_count(b, " logprobs=", e->logprob_n);
    if (e->usage.prompt != COUNT_NONE || e->usage.completion != COUNT_NONE ||
        e->usage.cached != COUNT_NONE || e->usage.reasoning != COUNT_NONE) {
        add_count(b, " usage=", e->usage.prompt);
        add_count(b, "/", e->usage.completion);
        add_count(b, "/", e->usage.cached);
        add_count(b, "/", e->usage.reasoning);
    }
    buf_addc(b, '\n');
}

static void check_events(const struct script *c, const struct sample *s)
{
    struct buf b = BUF_INIT(BUF_ANY);
    for (size_t i = 0; i < s->events_n; i++)
        add_event(&b, &s->events[i]);
    if (!str_eq(buf_str(&b), c->want_events))
        print_error("wanted:\n%.*sgot:\n%.*s", STR_ARG(c->want_events), STR_ARG(buf_str(&b)));
    assert_true(str_eq(buf_str(&b), c->want_events));
    buf_release(&b);
}

/* --- what is wanted of the sample ----------------------------------------------------------- */

static void check_count(const struct script *c, const char *name, int64_t n)
{
    struct str want;
    int64_t number = COUNT_NONE;
    if (!script_want(c, name, &want))
        return;
    if (!str_eq(want, STR("none")))
        assert_int_equal(num_parse_i64(&number, want), 0);
    if (n != number)
        fail_msg("%s is %lld, wanted %.*s", name, (long long)n, STR_ARG(want));
}

static void check_flag(const struct script *c, const char *name, bool value)
{
    struct str want;
    if (script_want(c, name, &want) && str_eq(want, STR("yes")) != value)
        fail_msg("%s is %s", name, value ? "yes" : "no");
}

static int64_t first_event(const struct sample *s, bool visible)
{
    for (size_t i = 0; i < s->events_n; i++)
        if (sample_event_has_token(&s->events[i]) &&
            (!visible || (s->events[i].kind == EVENT_TEXT && s->events[i].text.n > 0)))
            return (int64_t)i;
    return COUNT_NONE;
}

static void check_outcome(const struct script *c, const struct sample *s)
{
    struct str want, outcome, failure, error = STR("");
    assert_true(script_want(c, "outcome", &want));
    str_cut(want, ' ', &outcome, &failure);
    if (!str_eq(outcome, str_of(sample_outcome_name(s->outcome))) ||
        (failure.n > 0 && !str_eq(failure, str_of(sample_failure_name(s->failure)))))
        fail_msg("the outcome is %s (%s: %.*s), wanted %.*s", sample_outcome_name(s->outcome),
                 sample_failure_name(s->failure), STR_ARG(s->error), STR_ARG(want));
    assert_int_equal(s->failure != FAILURE_NONE, failure.n > 0);
    script_want(c, "error", &error);
    if (error.n == 0 ? s->error.n > 0 : !str_starts(s->error, error))
        fail_msg("the error is '%.*s', wanted '%.*s'", STR_ARG(s->error), STR_ARG(error));
    assert_true(s->error.n <= WIRE_ERROR_MAX);
}

static void check_joined(const struct script *c, const struct sample *s)
{
    struct buf b = BUF_INIT(BUF_ANY);
    struct str want;
    if (!script_want(c, "joined", &want))
        return;
    sample_join_text(s, EVENT_TEXT, &b);
    assert_true(str_eq(buf_str(&b), want));
    buf_release(&b);
}

static void check_prefill(const struct script *c, const struct sample *s)
{
    struct str want, tokens, ns;
    int64_t n;
    if (!script_want(c, "prefill", &want))
        return;
    str_cut(want, ' ', &tokens, &ns);
    assert_int_equal(num_parse_i64(&n, tokens), 0);
    assert_int_equal(s->prefill_tokens, n);
    assert_int_equal(num_parse_i64(&n, ns), 0);
    assert_int_equal(s->prefill_ns, n);
}

static void check_sample(const struct script *c, const struct sample *s)
{
    check_outcome(c, s);
    check_flag(c, "finish", s->saw_finish);
    check_flag(c, "done", s->saw_done);
    check_count(c, "prompt", s->prompt_reported);
    check_count(c, "cached", s->prompt_cached);
    check_count(c, "reported", s->output_reported.total);
    check_count(c, "reasoning", s->output_reported.reasoning);
    check_count(c, "observed", s->output_observed.total);
    check_count(c, "first", first_event(s, false));
    check_count(c, "visible", first_event(s, true));
    check_prefill(c, s);
    check_joined(c, s);
    check_events(c, s);
}

/* --- over the loop -------------------------------------------------------------------------- */

/* On a busy machine one read may bring what was sent well apart. */
static bool holds_more_than(const struct script *c, const struct sample *s,
                            const struct sample_read_stamp *r, size_t sections)
{
    int64_t read = 0, sent = 0;
    for (const struct sample_read_stamp *each = s->reads; each <= r; each++)
        read += each->bytes;
    for (size_t i = 0; i < sections; i++)
        sent += (int64_t)c->piece[i].n;
    return read > sent;
}

/* The token's read began after the server began to write that section, and before it wrote the next
 * one, where that came after a wait. */
static void check_send(const struct script *c, const char *name, const struct sample *s,
                       int64_t event, struct server *server)
{
    int64_t n = COUNT_NONE, before, after, sent;
    struct str want;
    if (!script_want(c, name, &want))
        return;
    assert_int_equal(num_parse_i64(&n, want), 0);
    assert_true(event >= 0);
    const struct sample_read_stamp *r = &s->reads[s->events[event].read];
    server_send_time(server, (size_t)n, &before, &sent); /* send 0 is the head */
    assert_true(r->t_user_ns >= before);
    if ((size_t)n + 1 >= server_sends(server) || holds_more_than(c, s, r, (size_t)n))
        return;
    server_send_time(server, (size_t)n + 1, &before, &after);
    if (before > sent + 15 * NS_PER_MS && r->t_kernel_ns != TIME_NONE)
        assert_true(r->t_kernel_ns < before);
}

static int64_t last_event(const struct sample *s)
{
    for (size_t i = s->events_n; i > 0; i--)
        if (sample_event_has_token(&s->events[i - 1]))
            return (int64_t)i - 1;
    return COUNT_NONE;
}

static void play(const struct script *c)
{
    struct server *server = server_start(&(struct server_script){.play = {c->steps}});
    struct error err = {0};
    struct client client;
    struct decoded d;
    client_open(&client, &(struct wire_endpoint_options){.url = server_url(server)});
    const struct wire_exchange *x = client_ask(&client, "/", "{}", 10 * NS_PER_S);
    assert_true(str_eq(buf_str(&x->body), buf_str(&c->body)));
    decode_exchange(&d, c->protocol, !c->blocking, x);
    check_sample(c, &d.s);
    if (sample_check_order(&d.s, &err) < 0)
        fail_msg("%s", err.message);
    check_send(c, "first_send", &d.s, first_event(&d.s, false), server);
    check_send(c, "last_send", &d.s, last_event(&d.s), server);
    decoded_release(&d);
    client_close(&client);
    server_stop(server);
}

/* --- split ---------------------------------------------------------------------------------- */

static struct wire_exchange *as_head_says(const struct script *c, struct wire_exchange *x)
{
    struct str head = buf_str(&c->head), type;
    size_t at = str_find(head, STR("Content-Type: "));
    x->http_status = atoi(head.p + strlen("HTTP/1.1 "));
    x->content_type[0] = '\0';
    if (at != STR_NONE) {
        str_cut(str_skip(head, at + strlen("Content-Type: ")), '\r', &type, &head);
        snprintf(x->content_type, sizeof x->content_type, "%.*s", STR_ARG(type));
    }
    at = str_find(buf_str(&c->head), STR("Retry-After: "));
    if (at != STR_NONE)
        x->retry_after_s = atoi(c->head.p + at + strlen("Retry-After: "));
    x->end = c->cut ? WIRE_END_CUT : WIRE_END_OK;
    return x;
}

/* One byte a read: an event's read is then the offset of the last byte of its data. */
static void split_everywhere(const struct script *c, uint32_t *last_byte)
{
    struct str body = buf_str(&c->body);
    size_t *ends = calloc(body.n + 1, sizeof *ends);
    struct wire_exchange *x;
    struct decoded d;
    for (size_t i = 0; i < body.n; i++)
        ends[i] = i + 1;
    x = as_head_says(c, exchange_of(body, ends, body.n));
    decode_exchange(&d, c->protocol, !c->blocking, x);
    check_sample(c, &d.s);
    for (size_t i = 0; i < d.s.events_n; i++) {
        last_byte[i] = d.s.events[i].read;
        size_t next = last_byte[i] + (size_t)1;
        assert_true(next == body.n || body.p[next] == '\n' || body.p[next] == '\r');
        assert_true(body.p[last_byte[i]] != '\n' && body.p[last_byte[i]] != '\r');
    }
    decoded_release(&d);
    wire_exchange_free(x);
    free(ends);
}

static void split_at(const struct script *c, size_t at, const uint32_t *last_byte)
{
    struct str body = buf_str(&c->body);
    size_t ends[2] = {at, body.n};
    struct wire_exchange *x = as_head_says(c, exchange_of(body, ends, 2));
    struct decoded d;
    decode_exchange(&d, c->protocol, !c->blocking, x);
    check_sample(c, &d.s);
    for (size_t i = 0; i < d.s.events_n; i++)
        assert_int_equal(d.s.events[i].read, at > 0 && last_byte[i] >= at ? 1 : 0);
    decoded_release(&d);
    wire_exchange_free(x);
}

static void run_case(void **state)
{
    struct script *c = script_load(*state);
    uint32_t *last_byte = calloc(c->body.n + 1, sizeof *last_byte);
    play(c);
    if (c->body.n > 0) {
        split_everywhere(c, last_byte);
        for (size_t at = 0; at < c->body.n; at++)
            split_at(c, at, last_byte);
    }
    free(last_byte);
    script_free(c);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t find_cases(void)
{
    const char *source = getenv("TALLY_SOURCE");
    char folder[256];
    struct dirent *entry;
    size_t n = 0;
    DIR *dir;
    snprintf(folder, sizeof folder, "%s/tests/wire/cases", source ? source : ".");
    dir = opendir(folder);
    while (dir && (entry = readdir(dir)) != NULL && n < CASES_MAX)
        if (str_ends(str_of(entry->d_name), STR(".wire")))
            snprintf(paths[n++], sizeof paths[0], "%s/%s", folder, entry->d_name);
    if (dir)
        closedir(dir);
    qsort(paths, n, sizeof paths[0], by_name);
    return n;
}

int main(void)
{
    static struct CMUnitTest tests[CASES_MAX];
    size_t n = find_cases();
    if (n == 0) {
        fprintf(stderr, "no cases: set TALLY_SOURCE to the source tree\n");
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){
            .name = strrchr(paths[i], '/') + 1, .test_func = run_case, .initial_state = paths[i]};
    return _cmocka_run_group_tests("wire cases", tests, n, NULL, NULL);
}
