#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "wire/events.h"
#include "wire/ndjson.h"
#include "wire/sse.h"

#define SCRATCH_MAX ((size_t)128 << 20)
#define CHUNK_LIMITS ((struct json_limits){.bytes = SSE_EVENT_MAX, .values = 1u << 20, .depth = 64})
#define ANSWER_LIMITS \
    ((struct json_limits){.bytes = WIRE_RESPONSE_MAX, .values = 4u << 20, .depth = 64})

enum trouble { TROUBLE_NONE = 0, TROUBLE_SERVER, TROUBLE_PROTOCOL, TROUBLE_CLIENT };

struct decoder {
    const struct wire_protocol *p;
    const struct wire_exchange *x;
    bool stream;
    struct wire_events events;
    struct arena scratch;
    uint64_t read_end; /* bytes of the reads up to and with events.read */
    enum trouble trouble;
    bool tail_cut; /* the stream ended inside an event */
    bool redact;
    char message[WIRE_ERROR_MAX + 1], left_out[64];
};

/* --- words ---------------------------------------------------------------------------------- */

/* At most WIRE_ERROR_MAX bytes, cut between characters; what is not UTF-8 becomes U+FFFD. */
static void say(struct decoder *d, const char *before, struct str said)
{
    struct buf b = BUF_INIT(WIRE_ERROR_MAX * 8);
    struct str all;
    size_t n;
    buf_adds(&b, before);
    utf8_add_lossy(&b, str_first(str_trim(said), WIRE_ERROR_MAX));
    all = str_first(buf_str(&b), WIRE_ERROR_MAX);
    n = utf8_valid_prefix(all);
    memcpy(d->message, all.p, n);
    d->message[n] = '\0';
    buf_release(&b);
}

/* What a server said may hold what it was asked or what it answered. */
static struct str theirs(struct decoder *d, struct str said)
{
    if (!d->redact || said.n == 0)
        return said;
    snprintf(d->left_out, sizeof d->left_out, "(%zu bytes, left out)", said.n);
    return str_of(d->left_out);
}

static void fail(struct decoder *d, enum trouble trouble, const char *before, struct str said)
{
    if (d->trouble != TROUBLE_NONE)
        return; /* the first is the cause */
    d->trouble = trouble;
    say(d, before, said);
}

/* --- one document --------------------------------------------------------------------------- */

/* Events come in the order of their bytes, so one walk over the reads finds them all. */
static void find_read(struct decoder *d, uint64_t end)
{
    const struct wire_exchange *x = d->x;
    while (d->read_end < end && d->events.read + 1 < x->reads_n) {
        d->events.read++;
        d->read_end += (uint64_t)x->reads[d->events.read].bytes;
    }
}

static void add_error(struct decoder *d, struct str message)
{
    struct sample_event *e = events_add(&d->events, EVENT_ERROR);
    if (e)
        e->text = events_keep(&d->events, str_first(message, WIRE_ERROR_MAX));
    fail(d, TROUBLE_SERVER, "", theirs(d, message));
}

static void take_document(struct decoder *d, struct str text, bool named_error, bool last)
{
    const struct json_limits limits = d->stream ? CHUNK_LIMITS : ANSWER_LIMITS;
    struct error err = {0};
    const struct json *doc;
    struct str message = {0};
    size_t first = d->events.n;
    arena_reset(&d->scratch);
    if (json_parse(&doc, text, &limits, &d->scratch, &err) < 0) {
        if (err.kind == ERROR_LIMIT || err.kind == ERROR_MEMORY)
            fail(d, TROUBLE_CLIENT, "", str_of(err.message));
        else if (named_error)
            add_error(d, text);
        else if (last)
            d->tail_cut = true;
        else
            fail(d, TROUBLE_PROTOCOL, "not JSON: ", theirs(d, text));
        return;
    }
    if (events_error(doc, &message) || named_error)
        add_error(d, message.n > 0 ? message : text);
    else if (d->p->decode(doc, d->stream, &d->events, &err) < 0)
        fail(d, TROUBLE_PROTOCOL, err.message, str_of(""));
    for (size_t i = first + 1; i < d->events.n; i++)
        d->events.list[i].same_chunk = true;
}

/* Past a sample's limits nothing more is kept; what lies before stays readable. */
static bool is_full(struct decoder *d)
{
    const struct wire_events *e = &d->events;
    if (e->failed || e->n >= WIRE_EVENTS_MAX || e->ids > SAMPLE_IDS_MAX ||
        e->text > SAMPLE_TEXT_MAX || d->events.arena->failed) {
        fail(d, TROUBLE_CLIENT, "the answer holds more than a sample may", str_of(""));
        return true;
    }
    return d->trouble == TROUBLE_PROTOCOL || d->trouble == TROUBLE_CLIENT;
}

/* --- the body ------------------------------------------------------------------------------- */

static int take_sse(void *ctx, const struct sse_event *e, struct error *err)
{
    struct decoder *d = ctx;
    (void)err;
    if (is_full(d))
        return 0;
    find_read(d, e->end);
    if (e->comment)
        events_add(&d->events, EVENT_COMMENT);
    else if (str_eq(str_trim(e->data), STR("[DONE]")))
        events_add(&d->events, EVENT_DONE);
    else if (str_trim(e->data).n > 0) /* empty data lines are noise */
        take_document(d, e->data, str_eq(e->name, STR("error")), e->unterminated);
    return 0;
}

static int take_ndjson(void *ctx, const struct ndjson_line *line, struct error *err)
{
    struct decoder *d = ctx;
    (void)err;
    if (is_full(d))
        return 0;
    find_read(d, line->end);
    take_document(d, line->text, false, line->unterminated);
    return 0;
}

static void read_sse(struct decoder *d)
{
    struct sse sse;
    struct error err = {0};
    sse_init(&sse, &(struct sse_reader){.on_event = take_sse, .ctx = d});
    if (sse_feed(&sse, buf_str(&d->x->body), &err) < 0 || sse_finish(&sse, &err) < 0)
        fail(d, TROUBLE_CLIENT, "", str_of(err.message));
    sse_release(&sse);
}

static void read_ndjson(struct decoder *d)
{
    struct ndjson nd;
    struct error err = {0};
    ndjson_init(&nd, &(struct ndjson_reader){.on_line = take_ndjson, .ctx = d});
    if (ndjson_feed(&nd, buf_str(&d->x->body), &err) < 0 || ndjson_finish(&nd, &err) < 0)
        fail(d, TROUBLE_CLIENT, "", str_of(err.message));
    ndjson_release(&nd);
}

static bool has_type(const struct wire_exchange *x, struct str type)
{
    struct str head, rest;
    str_cut(str_of(x->content_type), ';', &head, &rest);
    return str_eq_nocase(str_trim(head), type);
}

static bool looks_like_markup(struct str body)
{
    return str_starts(str_trim(str_first(body, 64)), STR("<"));
}

/* Some servers call an event stream JSON; what it is shows in its first byte. */
static bool is_document(const struct wire_exchange *x)
{
    struct str start = str_trim(str_first(buf_str(&x->body), 64));
    return has_type(x, STR("application/json")) &&
           (str_starts(start, STR("{")) || str_starts(start, STR("[")));
}

/* A whole JSON answer where a stream was asked for is no stream; an error object still is one. */
static void read_unasked_json(struct decoder *d)
{
    struct error err = {0};
    const struct json *doc;
    struct str message;
    const struct json_limits limits = ANSWER_LIMITS;
    if (json_parse(&doc, buf_str(&d->x->body), &limits, &d->scratch, &err) == 0 &&
        events_error(doc, &message))
        add_error(d, message);
    else
        fail(d, TROUBLE_PROTOCOL,
             "a stream was asked for, and this came: ", theirs(d, buf_str(&d->x->body)));
}

static void read_body(struct decoder *d)
{
    const struct wire_exchange *x = d->x;
    struct str body = buf_str(&x->body);
    if (x->reads_n == 0)
        return;
    d->read_end = (uint64_t)x->reads[0].bytes;
    if (has_type(x, STR("text/html")) || looks_like_markup(body)) {
        fail(d, TROUBLE_PROTOCOL, "not a completion but markup: ", theirs(d, body));
    } else if (!d->stream) {
        find_read(d, body.n);
        take_document(d, body, false, x->end != WIRE_END_OK);
    } else if (!d->p->ndjson && is_document(x)) {
        find_read(d, body.n);
        read_unasked_json(d);
    } else if (d->p->ndjson) {
        read_ndjson(d);
    } else {
        read_sse(d);
    }
    is_full(d);
}

/* The body of an answer that is no success: the message inside, or its first bytes. */
static void read_refusal(struct decoder *d)
{
    const struct wire_exchange *x = d->x;
    const struct json_limits limits = ANSWER_LIMITS;
    struct error err = {0};
    const struct json *doc;
    struct str message = buf_str(&x->body);
    char before[96];
    int n = snprintf(before, sizeof before, "HTTP %d", (int)x->http_status);
    if (x->retry_after_s != COUNT_NONE)
        n += snprintf(before + n, sizeof before - (size_t)n, ", Retry-After %lld s",
                      (long long)x->retry_after_s);
    if (json_parse(&doc, buf_str(&x->body), &limits, &d->scratch, &err) == 0)
        events_error(doc, &message);
    message = theirs(d, message);
    if (x->http_status >= 300 && x->http_status < 400 && message.n == 0)
        message = STR("a redirect, which is not followed");
    snprintf(before + n, sizeof before - (size_t)n, "%s", message.n > 0 ? ": " : "");
    say(d, before, message);
}

/* --- the sample ----------------------------------------------------------------------------- */

static int64_t relative(int64_t t_ns, int64_t zero_ns)
{
    return t_ns == TIME_NONE ? TIME_NONE : t_ns - zero_ns;
}

static int copy_times(struct sample *s, const struct wire_exchange *x, int64_t zero_ns,
                      struct arena *arena, struct error *err)
{
    struct sample_read_stamp *reads = arena_array(arena, x->reads_n, sizeof *reads);
    if (!reads && x->reads_n > 0)
        return arena_check(arena, "a sample", err);
    for (size_t i = 0; i < x->reads_n; i++) {
        reads[i] = x->reads[i];
        reads[i].t_user_ns = relative(reads[i].t_user_ns, zero_ns);
        reads[i].t_kernel_ns = relative(reads[i].t_kernel_ns, zero_ns);
        reads[i].t_lower_ns = relative(reads[i].t_lower_ns, zero_ns);
    }
    s->reads = reads;
    s->reads_n = x->reads_n;
    s->t_issue_ns = relative(x->t_issue_ns, zero_ns);
    s->t_dns_ns = relative(x->t_dns_ns, zero_ns);
    s->t_connect_ns = relative(x->t_connect_ns, zero_ns);
    s->t_tls_ns = relative(x->t_tls_ns, zero_ns);
    s->t_sent_ns = relative(x->t_sent_ns, zero_ns);
    s->t_headers_ns = relative(x->t_headers_ns, zero_ns);
    s->t_first_byte_ns = relative(x->t_first_byte_ns, zero_ns);
    s->t_end_ns = relative(x->t_end_ns, zero_ns);
    s->connection = x->connection;
    s->reused = x->reused;
    s->http_status = x->http_status;
    s->http_version = x->http_version;
    s->retry_after_s = x->retry_after_s;
    return 0;
}

static void take_latest(int64_t *to, int64_t n)
{
    if (n != COUNT_NONE)
        *to = n;
}

static void add_count(int64_t *to, int64_t n)
{
    *to = (*to == COUNT_NONE ? 0 : *to) + n;
}

/* Usage is cumulative wherever it comes more than once, so the latest word of each member counts.
 */
static void sum_reported(struct sample *s)
{
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_usage *u = &s->events[i].usage;
        take_latest(&s->prompt_reported, u->prompt);
        take_latest(&s->prompt_cached, u->cached);
        take_latest(&s->output_reported.total, u->completion);
        take_latest(&s->output_reported.reasoning, u->reasoning);
    }
}

static int64_t tokens_named(const struct sample_event *e)
{
    return e->ids_n > 0 ? (int64_t)e->ids_n : e->logprob_n;
}

/* Observed only when every event that carries a token names its tokens. */
static void sum_observed(struct sample *s)
{
    struct sample_counts c = {COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE};
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (!sample_event_has_token(e))
            continue;
        if (tokens_named(e) <= 0)
            return;
        add_count(&c.total, tokens_named(e));
        add_count(e->kind == EVENT_REASONING ? &c.reasoning
                  : e->kind == EVENT_TOOL    ? &c.tool
                                             : &c.text,
                  tokens_named(e));
    }
    s->output_observed = c;
}

static void look_for_ends(struct sample *s)
{
    for (size_t i = 0; i < s->events_n; i++) {
        if (s->events[i].kind == EVENT_FINISH)
            s->saw_finish = true;
        if (s->events[i].kind == EVENT_DONE)
            s->saw_done = true;
    }
}

static int copy_events(struct sample *s, struct decoder *d, struct arena *arena, struct error *err)
{
    size_t n = d->events.n < WIRE_EVENTS_MAX ? d->events.n : WIRE_EVENTS_MAX;
    struct sample_event *list = arena_array(arena, n, sizeof *list);
    if (!list && n > 0)
        return arena_check(arena, "a sample", err);
    if (n > 0)
        memcpy(list, d->events.list, n * sizeof *list);
    s->events = list;
    s->events_n = n;
    s->prefill_tokens = d->events.prefill_tokens;
    s->prefill_ns = d->events.prefill_ns;
    sum_reported(s);
    sum_observed(s);
    look_for_ends(s);
    return 0;
}

static void set_outcome(struct sample *s, enum sample_outcome outcome, enum sample_failure failure)
{
    s->outcome = outcome;
    s->failure = failure;
}

/* How HTTP ended decides first. True when it did. */
static bool judge_transport(struct sample *s, struct decoder *d)
{
    const struct wire_exchange *x = d->x;
    switch (x->end) {
    case WIRE_END_OK:
    case WIRE_END_CUT:
        return false;
    case WIRE_END_TIMEOUT:
        set_outcome(s, OUTCOME_TIMED_OUT, FAILURE_NONE);
        break;
    case WIRE_END_CANCELLED:
        set_outcome(s, OUTCOME_CANCELLED, FAILURE_NONE);
        break;
    case WIRE_END_CONNECT:
    case WIRE_END_RESET:
        set_outcome(s, OUTCOME_FAILED, FAILURE_CONNECT);
        break;
    case WIRE_END_TLS:
        set_outcome(s, OUTCOME_FAILED, FAILURE_TLS);
        break;
    case WIRE_END_PROTOCOL:
        set_outcome(s, OUTCOME_FAILED, FAILURE_PROTOCOL);
        break;
    case WIRE_END_LIMIT:
    case WIRE_END_CLIENT:
        set_outcome(s, OUTCOME_FAILED, FAILURE_CLIENT);
        break;
    }
    say(d, "", str_of(x->error));
    return true;
}

static bool judge_trouble(struct sample *s, const struct decoder *d)
{
    switch (d->trouble) {
    case TROUBLE_NONE:
        return false;
    case TROUBLE_SERVER:
        set_outcome(s, OUTCOME_FAILED, FAILURE_SERVER_ERROR);
        return true;
    case TROUBLE_PROTOCOL:
        set_outcome(s, OUTCOME_FAILED, FAILURE_PROTOCOL);
        return true;
    case TROUBLE_CLIENT:
        set_outcome(s, OUTCOME_FAILED, FAILURE_CLIENT);
        return true;
    }
    return false;
}

static bool has_tokens(const struct sample *s)
{
    for (size_t i = 0; i < s->events_n; i++)
        if (sample_event_has_token(&s->events[i]))
            return true;
    return false;
}

static void judge_end(struct sample *s, struct decoder *d)
{
    const struct wire_exchange *x = d->x;
    if (x->end == WIRE_END_CUT) {
        set_outcome(s, OUTCOME_TRUNCATED, FAILURE_NONE);
        say(d, "the connection ended before the response did: ", str_of(x->error));
    } else if (d->tail_cut) {
        set_outcome(s, OUTCOME_TRUNCATED, FAILURE_NONE);
        say(d, "the stream ended inside an event", str_of(""));
    } else if (s->saw_finish) {
        set_outcome(s, OUTCOME_OK, FAILURE_NONE);
    } else if (has_tokens(s)) {
        set_outcome(s, OUTCOME_TRUNCATED, FAILURE_NONE);
        say(d, "no finish_reason came", str_of(""));
    } else {
        set_outcome(s, OUTCOME_FAILED, FAILURE_PROTOCOL);
        say(d, x->body.n > 0 ? "no token and no finish_reason came: " : "an empty answer",
            theirs(d, buf_str(&x->body)));
    }
}

static void judge(struct sample *s, struct decoder *d)
{
    const struct wire_exchange *x = d->x;
    if (judge_transport(s, d))
        return;
    if (x->http_status < 200 || x->http_status > 299) {
        set_outcome(s, OUTCOME_FAILED, FAILURE_HTTP);
        read_refusal(d);
    } else if (!judge_trouble(s, d)) {
        judge_end(s, d);
    }
}

int wire_decode(const struct wire_protocol *p, const struct wire_exchange *x,
                const struct wire_ask *ask, int64_t zero_ns, struct sample *s, struct arena *arena,
                struct error *err)
{
    struct decoder d = {.p = p, .x = x, .stream = ask->stream, .redact = ask->redact_text};
    int status = -1;
    d.events.arena = arena;
    d.events.prefill_tokens = d.events.prefill_ns = COUNT_NONE;
    arena_init(&d.scratch, SCRATCH_MAX);
    if (copy_times(s, x, zero_ns, arena, err) < 0)
        goto out;
    s->max_tokens = ask->max_tokens;
    s->seed = ask->seed;
    if (x->http_status >= 200 && x->http_status <= 299)
        read_body(&d);
    if (copy_events(s, &d, arena, err) < 0)
        goto out;
    judge(s, &d);
    s->error = arena_str(arena, str_of(d.message));
    status = arena_check(arena, "a sample", err);
out:
    arena_release(&d.scratch);
    free(d.events.list);
    return status;
}

void wire_judge_length(struct sample *s, const struct wire_ask *ask)
{
    int64_t n = s->output_observed.total;
    if (n == COUNT_NONE)
        n = s->output_reported.total;
    if (s->outcome != OUTCOME_OK || !ask->ignore_eos || ask->max_tokens == COUNT_NONE ||
        n == COUNT_NONE || n >= ask->max_tokens)
        return;
    s->outcome = OUTCOME_SHORT;
}
