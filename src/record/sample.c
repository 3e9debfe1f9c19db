#include "record/sample.h"

#include <string.h>

#define NAME_OF(id, name) \
    case id:              \
        return name;

const char *sample_phase_name(enum sample_phase p)
{
    switch (p) {
        SAMPLE_PHASES(NAME_OF)
    }
    return "?";
}

const char *sample_outcome_name(enum sample_outcome o)
{
    switch (o) {
        SAMPLE_OUTCOMES(NAME_OF)
    case OUTCOME_COUNT:
        break;
    }
    return "?";
}

const char *sample_failure_name(enum sample_failure f)
{
    switch (f) {
        SAMPLE_FAILURES(NAME_OF)
    }
    return "?";
}

const char *sample_event_name(enum sample_event_kind k)
{
    switch (k) {
        SAMPLE_EVENTS(NAME_OF)
    }
    return "?";
}

static const struct sample_usage no_usage = {COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE};
static const struct sample_counts no_counts = {COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE};

void sample_event_init(struct sample_event *e)
{
    *e = (struct sample_event){
        .kind = EVENT_EMPTY,
        .text_bytes = COUNT_NONE,
        .logprob_n = COUNT_NONE,
        .retokenized = COUNT_NONE,
        .usage = no_usage,
    };
}

void sample_init(struct sample *s)
{
    *s = (struct sample){
        .max_tokens = COUNT_NONE,
        .turn = COUNT_NONE,
        .seed = COUNT_NONE,
        .t_planned_ns = TIME_NONE,
        .t_due_ns = TIME_NONE,
        .t_issue_ns = TIME_NONE,
        .t_dns_ns = TIME_NONE,
        .t_connect_ns = TIME_NONE,
        .t_tls_ns = TIME_NONE,
        .connection = COUNT_NONE,
        .retry_of = COUNT_NONE,
        .t_sent_ns = TIME_NONE,
        .t_headers_ns = TIME_NONE,
        .t_first_byte_ns = TIME_NONE,
        .t_end_ns = TIME_NONE,
        .prompt_body = COUNT_NONE,
        .prompt_rendered = COUNT_NONE,
        .prompt_reported = COUNT_NONE,
        .prompt_cached = COUNT_NONE,
        .prefill_tokens = COUNT_NONE,
        .prefill_ns = COUNT_NONE,
        .retry_after_s = COUNT_NONE,
        .output_reported = no_counts,
        .output_retokenized = no_counts,
        .output_observed = no_counts,
    };
}

bool sample_event_has_token(const struct sample_event *e)
{
    bool carries = e->kind == EVENT_TEXT || e->kind == EVENT_REASONING || e->kind == EVENT_TOOL;
    return e->ids_n > 0 || e->logprob_n > 0 ||
           (carries && (e->text.n > 0 || (e->redacted && e->text_bytes > 0)));
}

void sample_redact(struct sample_event *events, size_t events_n)
{
    for (size_t i = 0; i < events_n; i++) {
        struct sample_event *e = &events[i];
        if (e->ids_n > 0 && e->logprob_n == COUNT_NONE)
            e->logprob_n = (int64_t)e->ids_n;
        e->ids = NULL;
        e->ids_n = 0;
        if (e->text.n == 0)
            continue;
        e->redacted = true;
        e->text_bytes = (int64_t)e->text.n;
        e->text = (struct str){NULL, 0};
    }
}

void sample_join_text(const struct sample *s, enum sample_event_kind kind, struct buf *out)
{
    for (size_t i = 0; i < s->events_n; i++)
        if (s->events[i].kind == kind && s->events[i].choice == 0)
            buf_addstr(out, s->events[i].text);
}

int sample_digest_output(const struct sample *s, char out[SHA256_HEX], struct error *err)
{
    struct sha256 *h = sha256_new();
    size_t bytes = 0;

    if (!h)
        return error_no_memory(err);
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (e->choice != 0 || !sample_event_has_token(e))
            continue;
        sha256_add(h, e->text.p, e->text.n);
        bytes += e->text.n;
    }
    int rc = sha256_end_hex(h, out, err);
    sha256_free(h);
    if (rc == 0 && bytes == 0)
        out[0] = '\0';
    return rc;
}

int sample_assign_tokens(struct sample_event *events, size_t events_n, enum sample_event_kind kind,
                         const uint32_t *ends, size_t n, struct error *err)
{
    size_t joined = 0, at = 0, through = 0;
    for (size_t i = 0; i < events_n; i++)
        if (events[i].kind == kind && events[i].choice == 0)
            joined += events[i].text.n;
    for (size_t i = 0; i < n; i++)
        if (ends[i] > joined || (i && ends[i] < ends[i - 1]))
            return error_set(err, ERROR_INPUT,
                             "token %zu ends at byte %u of a text of %zu bytes, out of order", i,
                             (unsigned)ends[i], joined);
    for (size_t i = 0; i < events_n; i++) {
        struct sample_event *e = &events[i];
        if (e->kind != kind || e->choice != 0)
            continue;
        size_t from = at;
        through += e->text.n;
        while (e->text.n > 0 && at < n && ends[at] <= through)
            at++;
        e->retokenized = (int64_t)(at - from);
    }
    return 0;
}

static int refuse(struct error *err, const char *what, const char *why)
{
    return error_set(err, ERROR_INPUT, "\"%s\" %s", what, why);
}

static int check_size(struct error *err, const char *what, size_t n, size_t max)
{
    if (n <= max)
        return 0;
    return error_set(err, ERROR_LIMIT, "\"%s\" of a sample holds %zu, more than the limit of %zu",
                     what, n, max);
}

static bool bad_time(int64_t t)
{
    return t != TIME_NONE && (t < -SAMPLE_TIME_MAX || t > SAMPLE_TIME_MAX);
}

static bool bad_count(int64_t n)
{
    return n < COUNT_NONE || n > SAMPLE_COUNT_MAX;
}

static int check_counts(const int64_t *n, size_t many, const char *what, struct error *err)
{
    for (size_t i = 0; i < many; i++)
        if (bad_count(n[i]))
            return refuse(err, what, "is no count within the limits");
    return 0;
}

static int check_usage(const struct sample_usage *u, struct error *err)
{
    const int64_t n[] = {u->prompt, u->completion, u->cached, u->reasoning};
    return check_counts(n, 4, "usage", err);
}

static int check_output(const struct sample_counts *c, const char *what, struct error *err)
{
    const int64_t n[] = {c->total, c->text, c->reasoning, c->tool};
    return check_counts(n, 4, what, err);
}

static int check_reads(const struct sample *s, struct error *err)
{
    if (check_size(err, "reads", s->reads_n, SAMPLE_READS_MAX) < 0)
        return -1;
    for (size_t i = 0; i < s->reads_n; i++) {
        const struct sample_read_stamp *r = &s->reads[i];
        if (r->t_user_ns == TIME_NONE || bad_time(r->t_user_ns) || bad_time(r->t_kernel_ns) ||
            bad_time(r->t_lower_ns))
            return refuse(err, "reads", "holds a time outside the limits");
        if (r->bytes < 0 || r->bytes > SAMPLE_COUNT_MAX)
            return refuse(err, "reads", "holds a negative or huge number of bytes");
    }
    return 0;
}

static int check_events(const struct sample *s, struct error *err)
{
    size_t ids = 0, text = 0;
    if (check_size(err, "events", s->events_n, SAMPLE_EVENTS_MAX) < 0)
        return -1;
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (e->read >= s->reads_n)
            return refuse(err, "events", "names a read that is not there");
        if (e->choice < 0)
            return refuse(err, "events", "names a negative choice");
        if (e->redacted && (e->text.n > 0 || e->text_bytes < 0))
            return refuse(err, "events", "holds a redacted text without its size, or with it");
        if (!e->redacted && e->text_bytes != COUNT_NONE)
            return refuse(err, "events", "states the size of a text that is there");
        const int64_t n[] = {e->text_bytes, e->logprob_n, e->retokenized};
        if (check_counts(n, 3, "events", err) < 0 || check_usage(&e->usage, err) < 0 ||
            check_size(err, "finish_reason", e->finish_reason.n, SAMPLE_NAME_MAX) < 0)
            return -1;
        ids += e->ids_n;
        text += e->text.n;
        if (check_size(err, "ids", ids, SAMPLE_IDS_MAX) < 0 ||
            check_size(err, "text", text, SAMPLE_TEXT_MAX) < 0)
            return -1;
    }
    return 0;
}

static int check_head(const struct sample *s, struct error *err)
{
    if (s->lane.n == 0)
        return refuse(err, "lane", "is empty");
    if (s->band < 1)
        return refuse(err, "band", "must be at least 1");
    if (s->replicate < 1)
        return refuse(err, "replicate", "must be at least 1");
    if (s->worker < 0 || s->seq < 0 || s->seq > SAMPLE_COUNT_MAX)
        return refuse(err, s->worker < 0 ? "worker" : "seq", "is out of range");
    if (s->http_status < 0 || s->http_status > 999)
        return refuse(err, "http_status", "is no HTTP status");
    if (s->http_version < 0 || s->http_version > 99)
        return refuse(err, "http_version", "is no version of HTTP");
    if (s->body_sha256[0]) {
        uint8_t digest[SHA256_BYTES];
        if (!memchr(s->body_sha256, '\0', SHA256_HEX) ||
            hex_decode(digest, SHA256_BYTES, str_of(s->body_sha256)) < 0)
            return refuse(err, "body_sha256", "is no SHA-256 in hexadecimal");
    }
    if ((s->outcome == OUTCOME_FAILED) != (s->failure != FAILURE_NONE))
        return refuse(err, "failure", "must stand exactly when the outcome is \"failed\"");
    if (check_size(err, "lane", s->lane.n, SAMPLE_NAME_MAX) < 0 ||
        check_size(err, "prompt_id", s->prompt_id.n, SAMPLE_NAME_MAX) < 0)
        return -1;
    return check_size(err, "error", s->error.n, SAMPLE_NAME_MAX);
}

int sample_check(const struct sample *s, struct error *err)
{
    const int64_t times[] = {s->t_planned_ns, s->t_issue_ns,   s->t_dns_ns,        s->t_connect_ns,
                             s->t_tls_ns,     s->t_sent_ns,    s->t_headers_ns,    s->t_end_ns,
                             s->t_due_ns,     s->t_headers_ns, s->t_first_byte_ns, s->t_end_ns};
    const int64_t counts[] = {s->max_tokens,      s->turn,          s->connection,
                              s->retry_of,        s->prompt_body,   s->prompt_rendered,
                              s->prompt_reported, s->prompt_cached, s->prefill_tokens,
                              s->prefill_ns,      s->retry_after_s};
    if (check_head(s, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (bad_time(times[i]))
            return refuse(err, "t_…", "holds a time outside the limits");
    if (check_counts(counts, sizeof counts / sizeof counts[0], "a count", err) < 0 ||
        check_output(&s->output_reported, "output_reported", err) < 0 ||
        check_output(&s->output_retokenized, "output_retokenized", err) < 0 ||
        check_output(&s->output_observed, "output_observed", err) < 0 || check_reads(s, err) < 0)
        return -1;
    return check_events(s, err);
}

static int disorder(struct error *err, const char *later, const char *earlier, int64_t by_ns)
{
    error_set(err, ERROR_INPUT, "%s lies %lld ns before %s", later, (long long)by_ns, earlier);
    return error_rule(err, "time_order");
}

static int check_after(const char *earlier, int64_t a, const char *later, int64_t b,
                       struct error *err)
{
    if (a == TIME_NONE || b == TIME_NONE || a <= b)
        return 0;
    return disorder(err, later, earlier, a - b);
}

int sample_check_order(const struct sample *s, struct error *err)
{
    if (check_after("t_planned", s->t_planned_ns, "t_issue", s->t_issue_ns, err) < 0 ||
        check_after("t_due", s->t_due_ns, "t_issue", s->t_issue_ns, err) < 0 ||
        check_after("t_issue", s->t_issue_ns, "t_sent", s->t_sent_ns, err) < 0 ||
        check_after("t_sent", s->t_sent_ns, "t_first_byte", s->t_first_byte_ns, err) < 0 ||
        check_after("t_sent", s->t_sent_ns, "t_end", s->t_end_ns, err) < 0)
        return -1;
    if (s->outcome == OUTCOME_OK && (s->t_sent_ns == TIME_NONE || s->t_end_ns == TIME_NONE)) {
        error_set(err, ERROR_INPUT, "a request that ended ok has no t_sent or no t_end");
        return error_rule(err, "time_order");
    }
    int64_t before = s->t_sent_ns;
    for (size_t i = 0; i < s->reads_n; i++) {
        const struct sample_read_stamp *r = &s->reads[i];
        if (check_after(i ? "the read before it" : "t_sent", before, "a read", r->t_user_ns, err) <
                0 ||
            check_after("t_lower of a read", r->t_lower_ns, "its t_user", r->t_user_ns, err) < 0 ||
            check_after("t_kernel of a read", r->t_kernel_ns, "its t_user", r->t_user_ns, err) < 0)
            return -1;
        before = r->t_user_ns;
    }
    if (check_after("the last read", before, "t_end", s->t_end_ns, err) < 0)
        return -1;
    for (size_t i = 1; i < s->events_n; i++)
        if (s->events[i].read < s->events[i - 1].read) {
            error_set(err, ERROR_INPUT, "event %zu names read %u, the event before it read %u", i,
                      (unsigned)s->events[i].read, (unsigned)s->events[i - 1].read);
            return error_rule(err, "time_order");
        }
    return 0;
}
