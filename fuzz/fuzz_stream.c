/*
 * An answer of a server: the first byte chooses the protocol and how it was asked, the second where
 * the reads split. Whatever came, a sample comes of it that can be written and read again, and
 * splitting changes nothing but which read an event is in.
 */
#include <string.h>

#include "fuzz.h"
#include "wire/ndjson.h"
#include "wire/protocol.h"
#include "wire/sse.h"

static void decode(struct sample *s, struct arena *arena, const struct wire_protocol *p,
                   uint8_t how, struct str body, size_t at)
{
    struct error err = {0};
    struct wire_ask ask = {.stream = !(how & 8), .max_tokens = COUNT_NONE, .seed = COUNT_NONE};
    struct sample_read_stamp reads[2] = {
        {.t_user_ns = 2, .t_kernel_ns = TIME_NONE, .t_lower_ns = 1, .bytes = (int64_t)at},
        {.t_user_ns = 4, .t_kernel_ns = 3, .t_lower_ns = 2, .bytes = (int64_t)(body.n - at)}};
    struct wire_exchange x = {.t_sent_ns = 1, .t_end_ns = 5, .connection = 0, .http_status = 200};
    x.t_issue_ns = x.t_dns_ns = x.t_connect_ns = x.t_tls_ns = TIME_NONE;
    x.t_first_byte_ns = x.t_headers_ns = TIME_NONE;
    x.retry_after_s = COUNT_NONE;
    x.reads = reads;
    x.reads_n = body.n > 0 ? 2 : 0;
    x.end = how & 16 ? WIRE_END_CUT : WIRE_END_OK;
    if (how & 32)
        x.http_status = 500;
    buf_init(&x.body, WIRE_RESPONSE_MAX);
    buf_addstr(&x.body, body);
    sample_init(s);
    FUZZ_REQUIRE(wire_decode(p, &x, &ask, 0, s, arena, &err) == 0);
    s->lane = STR("subject");
    s->band = s->replicate = 1;
    if (sample_check(s, &err) < 0 || sample_check_order(s, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    FUZZ_REQUIRE(s->error.n <= WIRE_ERROR_MAX);
    FUZZ_REQUIRE(s->outcome != OUTCOME_OK || s->error.n == 0);
    buf_release(&x.body);
}

static void same(const struct sample *a, const struct sample *b)
{
    FUZZ_REQUIRE(a->outcome == b->outcome && a->failure == b->failure);
    FUZZ_REQUIRE(str_eq(a->error, b->error) && a->events_n == b->events_n);
    FUZZ_REQUIRE(a->prompt_reported == b->prompt_reported);
    FUZZ_REQUIRE(a->output_reported.total == b->output_reported.total);
    FUZZ_REQUIRE(a->output_observed.total == b->output_observed.total);
    for (size_t i = 0; i < a->events_n; i++)
        FUZZ_REQUIRE(a->events[i].kind == b->events[i].kind &&
                     str_eq(a->events[i].text, b->events[i].text));
}

struct seen {
    uint64_t sum, end;
    size_t n;
};

static void add(struct seen *s, struct str text, uint64_t end, bool last)
{
    FUZZ_REQUIRE(end >= s->end || last);
    s->end = end;
    s->n++;
    for (size_t i = 0; i < text.n; i++)
        s->sum = s->sum * 31 + (unsigned char)text.p[i];
    s->sum = s->sum * 31 + end;
}

static int on_event(void *ctx, const struct sse_event *e, struct error *err)
{
    (void)err;
    /* A comment may stand between an event's data and its empty line. */
    add(ctx, e->data, e->end, true);
    return 0;
}

static int on_line(void *ctx, const struct ndjson_line *line, struct error *err)
{
    (void)err;
    add(ctx, line->text, line->end, false);
    return 0;
}

/* The readers fed in one piece, and in steps of `step` bytes. */
static void check_readers(struct str body, size_t step)
{
    struct seen seen[4] = {{0}};
    for (size_t k = 0; k < 2; k++) {
        struct error err = {0};
        struct sse sse;
        struct ndjson nd;
        size_t n = k == 0 ? body.n + 1 : step;
        sse_init(&sse, &(struct sse_reader){.on_event = on_event, .ctx = &seen[k]});
        ndjson_init(&nd, &(struct ndjson_reader){.on_line = on_line, .ctx = &seen[2 + k]});
        for (size_t at = 0; at < body.n; at += n) {
            FUZZ_REQUIRE(sse_feed(&sse, str_first(str_skip(body, at), n), &err) == 0);
            FUZZ_REQUIRE(ndjson_feed(&nd, str_first(str_skip(body, at), n), &err) == 0);
        }
        FUZZ_REQUIRE(sse_finish(&sse, &err) == 0 && ndjson_finish(&nd, &err) == 0);
        sse_release(&sse);
        ndjson_release(&nd);
    }
    FUZZ_REQUIRE(memcmp(&seen[0], &seen[1], sizeof seen[0]) == 0);
    FUZZ_REQUIRE(memcmp(&seen[2], &seen[3], sizeof seen[0]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a, b;
    struct sample whole, split;
    struct str body;
    const struct wire_protocol *p;
    if (size < 2 || size > NDJSON_LINE_MAX)
        return 0;
    body = str_make(data + 2, size - 2);
    p = wire_protocol_at((data[0] & 7) % 5);
    arena_init(&a, (size_t)256 << 20);
    arena_init(&b, (size_t)256 << 20);
    decode(&whole, &a, p, data[0], body, body.n);
    decode(&split, &b, p, data[0], body, body.n * data[1] / 256);
    same(&whole, &split);
    arena_release(&a);
    arena_release(&b);
    check_readers(body, (size_t)data[1] % 13 + 1);
    return 0;
}
