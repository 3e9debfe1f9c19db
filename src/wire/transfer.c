#include "wire/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define READS_FIRST 32
/* A TLS record costs at least this much beside its text (RFC 8446 5.2: header, type, tag). */
#define TLS_RECORD_COST 22

struct wire_exchange *exchange_new(void *tag)
{
    struct wire_exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->tag = tag;
    x->t_issue_ns = x->t_dns_ns = x->t_connect_ns = x->t_tls_ns = x->t_sent_ns = TIME_NONE;
    x->t_headers_ns = x->t_first_byte_ns = x->t_end_ns = TIME_NONE;
    x->connection = COUNT_NONE;
    x->retry_after_s = COUNT_NONE;
    buf_init(&x->body, WIRE_RESPONSE_MAX);
    return x;
}

void wire_exchange_free(struct wire_exchange *x)
{
    if (!x)
        return;
    buf_release(&x->body);
    free(x->reads);
    free(x);
}

/* --- stamping ------------------------------------------------------------------------------- */

static int add_stamp(struct wire_transfer *t, const struct read_now *now, bool kernel, size_t bytes)
{
    struct wire_exchange *x = t->x;
    struct sample_read_stamp *r;
    if (x->reads_n > 0 && t->stamp_serial == now->serial && t->stamp_kernel == kernel) {
        x->reads[x->reads_n - 1].bytes += (int64_t)bytes;
        return 0;
    }
    if (x->reads_n == x->reads_cap) {
        size_t cap = x->reads_cap ? x->reads_cap * 2 : READS_FIRST;
        r = realloc(x->reads, cap * sizeof *r);
        if (!r)
            return -1;
        x->reads = r;
        x->reads_cap = cap;
    }
    r = &x->reads[x->reads_n++];
    r->t_user_ns = now->t_user_ns;
    r->t_kernel_ns = kernel ? now->t_kernel_ns : TIME_NONE;
    r->t_lower_ns = now->t_lower_ns;
    if (r->t_lower_ns < x->t_sent_ns) /* no byte of an answer comes before its request */
        r->t_lower_ns = x->t_sent_ns;
    r->bytes = (int64_t)bytes;
    t->stamp_serial = now->serial;
    t->stamp_kernel = kernel;
    return 0;
}

/* How many of the n bytes at p are certainly among those the kernel's time stands for: their place
 * in the socket's raw bytes is known from where they lie in what libcurl read. */
static size_t covered(const struct wire_transfer *t, const struct read_now *now, const char *p,
                      size_t n)
{
    size_t limit = now->peeked, at;
    if (now->t_kernel_ns == TIME_NONE || t->raw_serial != now->serial || !t->raw || p < t->raw ||
        p + n > t->raw + t->raw_n)
        return 0;
    if (t->tls)
        limit = limit > TLS_RECORD_COST ? limit - TLS_RECORD_COST : 0;
    at = t->raw_seen + (size_t)(p - t->raw);
    if (at >= limit)
        return 0;
    return limit - at < n ? limit - at : n;
}

/* The event at hand, if it is about this transfer's socket; else libcurl has read on its own
 * account (a timer), and all that is known is the time now. */
static struct read_now now_of(const struct wire_transfer *t)
{
    struct read_now now = *loop_now(t->loop);
    if (now.fd >= 0 && (now.fd == t->fd || t->shares))
        return now;
    now.t_user_ns = clock_mono_ns();
    now.t_kernel_ns = TIME_NONE;
    return now;
}

/* Bytes the kernel's time does not cover came in after the look at it: after poll reported. */
static int stamp_body(struct wire_transfer *t, struct read_now *now, const char *p, size_t n)
{
    size_t kernel = t->shares ? 0 : covered(t, now, p, n);
    if (t->resuming)
        return add_stamp(t, now, now->t_kernel_ns != TIME_NONE, n);
    if (kernel > 0 && add_stamp(t, now, true, kernel) < 0)
        return -1;
    if (kernel == n)
        return 0;
    if (now->t_kernel_ns != TIME_NONE && (t->stamp_serial != now->serial || t->stamp_kernel))
        now->t_user_ns = clock_mono_ns();
    return add_stamp(t, now, false, n - kernel);
}

static size_t on_body(char *p, size_t size, size_t count, void *arg)
{
    struct wire_transfer *t = arg;
    struct read_now now = now_of(t);
    size_t n = size * count;
    if (t->raw_reads > 1 && !t->resuming && !t->shares) {
        if (!t->held)
            loop_hold(t->loop, t);
        return CURL_WRITEFUNC_PAUSE;
    }
    if (n > WIRE_RESPONSE_MAX - t->x->body.n || t->x->reads_n >= SAMPLE_READS_MAX) {
        t->too_much = true;
        return 0;
    }
    buf_add(&t->x->body, p, n);
    if (t->x->body.failed || stamp_body(t, &now, p, n) < 0) {
        t->no_memory = true;
        return 0;
    }
    return n;
}

static size_t on_header(char *p, size_t size, size_t count, void *arg)
{
    struct wire_transfer *t = arg;
    struct wire_exchange *x = t->x;
    struct read_now now = now_of(t);
    size_t n = size * count;
    if (n > WIRE_HEADER_MAX - t->header_bytes) {
        t->too_much = true;
        return 0;
    }
    t->header_bytes += n;
    if (x->t_first_byte_ns == TIME_NONE) {
        x->t_first_byte_ns = now.t_user_ns;
        if (x->connection == COUNT_NONE && now.fd >= 0)
            x->connection = loop_connection(t->loop, now.fd);
    }
    if (n <= 2 && (p[0] == '\r' || p[0] == '\n'))
        x->t_headers_ns = now.t_user_ns;
    return n;
}

/* A further read of n bytes has been made: was it seen when the event began (TLS records come one
 * a read), or when its socket was looked at again, or not at all? */
static void finish_look_ahead(struct wire_transfer *t, size_t n)
{
    const struct read_now *now = loop_now(t->loop);
    size_t cost = t->tls ? TLS_RECORD_COST : 0;
    if (now->t_kernel_ns != TIME_NONE && t->raw_seen + n + t->raw_reads * cost <= now->peeked) {
        t->ahead = *now;
        return;
    }
    if (t->ahead.t_kernel_ns != TIME_NONE && n + cost <= t->ahead.peeked)
        return;
    t->ahead.t_kernel_ns = TIME_NONE;
    t->ahead.t_user_ns = clock_mono_ns();
}

/* libcurl shows every raw read here before it takes the chunk framing off. */
static int on_debug(CURL *easy, curl_infotype type, char *p, size_t n, void *arg)
{
    struct wire_transfer *t = arg;
    uint64_t serial = loop_now(t->loop)->serial;
    (void)easy;
    if (type != CURLINFO_HEADER_IN && type != CURLINFO_DATA_IN)
        return 0;
    if (t->raw_serial != serial) {
        t->raw_serial = serial;
        t->raw_seen = t->raw_n = t->raw_reads = 0;
        t->raw = NULL;
    }
    t->raw_seen += t->raw_n;
    t->raw = type == CURLINFO_DATA_IN ? p : NULL;
    t->raw_n = n;
    if (type != CURLINFO_DATA_IN || t->shares)
        return 0;
    if (++t->raw_reads == 1)
        loop_look_ahead(t->loop, t);
    else
        finish_look_ahead(t, n);
    return 0;
}

/* The connection stands and the request is about to be written. A second time in one transfer
 * means that libcurl wants to send the request again on a new connection, because the one it
 * reused was dead: what was measured would no longer be one request. */
static int on_request(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    struct wire_transfer *t = arg;
    int fd = loop_find_socket(t->loop, local_port);
    (void)ip, (void)local_ip, (void)port;
    if (++t->request > 1)
        return CURL_PREREQFUNC_ABORT;
    t->x->reused = t->opened == 0;
    if (fd >= 0) {
        t->fd = fd;
        t->x->connection = loop_connection(t->loop, fd);
    }
    t->x->t_sent_ns = clock_mono_ns();
    return CURL_PREREQFUNC_OK;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct wire_transfer *t = arg;
    (void)purpose;
    return loop_open_socket(t->loop, t, address);
}

static int on_close(void *arg, curl_socket_t fd)
{
    return loop_close_socket(arg, fd);
}

/* --- one request ---------------------------------------------------------------------------- */

int transfer_prepare(struct wire_transfer *t, const struct wire_request *r, struct error *err)
{
    CURL *easy = t->easy;
    t->timeout_ns = r->timeout_ns;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "tallystick");
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->message);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, t);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
    /* Connections outlive transfers, so theirs is the loop. */
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, t->loop);
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, t);
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    if (t->timeout_ns > 0)
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                         (long)((t->timeout_ns + NS_PER_MS - 1) / NS_PER_MS));
    if (r->body.n > 0) {
        buf_addstr(&t->body, r->body);
        if (buf_check(&t->body, "a request", err) < 0)
            return -1;
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, t->body.p);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body.n);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    return 0;
}

/* --- how it ended --------------------------------------------------------------------------- */

static enum wire_end end_of_timeout(const struct wire_transfer *t, int64_t now_ns)
{
    bool all = t->timeout_ns > 0 && now_ns - t->x->t_issue_ns >= t->timeout_ns - NS_PER_MS;
    return t->x->t_sent_ns == TIME_NONE && !all ? WIRE_END_CONNECT : WIRE_END_TIMEOUT;
}

static enum wire_end end_of_break(const struct wire_transfer *t)
{
    if (strstr(t->message, "chunk")) /* the chunk sizes, says libcurl with the code of a read */
        return WIRE_END_PROTOCOL;
    return t->x->t_first_byte_ns == TIME_NONE ? WIRE_END_RESET : WIRE_END_CUT;
}

/* So many headers are no answer, whoever could hold them; so long a body may be one. */
static bool headers_only(const struct wire_transfer *t)
{
    return t->header_bytes > 0 && t->x->t_headers_ns == TIME_NONE;
}

/* libcurl holds no header line of more than 100 kB, and says so with the code of memory that has
 * run out (newer ones: 100, CURLE_TOO_LARGE, which the headers of older ones do not name). */
static bool is_endless_header(const struct wire_transfer *t, CURLcode rc)
{
    return t->request > 0 && t->x->t_headers_ns == TIME_NONE &&
           (rc == CURLE_OUT_OF_MEMORY || (int)rc == 100);
}

static enum wire_end end_of(const struct wire_transfer *t, CURLcode rc, int64_t now_ns)
{
    if (t->no_memory || t->socket_errno)
        return WIRE_END_CLIENT;
    if (t->too_much)
        return headers_only(t) ? WIRE_END_PROTOCOL : WIRE_END_LIMIT;
    if (is_endless_header(t, rc))
        return WIRE_END_PROTOCOL;
    if (rc != CURLE_OK && t->request > 0 && t->x->t_first_byte_ns == TIME_NONE &&
        (t->request > 1 || rc == CURLE_COULDNT_CONNECT || rc == CURLE_SSL_CONNECT_ERROR))
        return WIRE_END_RESET; /* libcurl was on its way to send again */
    switch (rc) {
    case CURLE_OK:
        return WIRE_END_OK;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
        return WIRE_END_CONNECT;
    case CURLE_OPERATION_TIMEDOUT:
        return end_of_timeout(t, now_ns);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_ENGINE_NOTFOUND:
        return WIRE_END_TLS;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2_STREAM:
        return end_of_break(t);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
    case CURLE_TOO_MANY_REDIRECTS:
        return WIRE_END_PROTOCOL;
    default:
        return WIRE_END_CLIENT;
    }
}

static void describe(struct wire_transfer *t, CURLcode rc)
{
    struct wire_exchange *x = t->x;
    const char *said = t->message[0] ? t->message : curl_easy_strerror(rc);
    switch (x->end) {
    case WIRE_END_OK:
        break;
    case WIRE_END_PROTOCOL:
        if (t->too_much)
            snprintf(x->error, sizeof x->error, "more than %zu bytes of response headers",
                     WIRE_HEADER_MAX);
        else if (is_endless_header(t, rc))
            snprintf(x->error, sizeof x->error, "a response header without end (%s)", said);
        else
            snprintf(x->error, sizeof x->error, "%s", said);
        break;
    case WIRE_END_LIMIT:
        snprintf(x->error, sizeof x->error, "a response of more than %zu bytes or %zu reads",
                 WIRE_RESPONSE_MAX, SAMPLE_READS_MAX);
        break;
    case WIRE_END_RESET:
        snprintf(x->error, sizeof x->error,
                 "the %s was closed before any byte of a response came; the request was not sent "
                 "again (%s)",
                 x->reused ? "reused connection" : "connection",
                 t->request > 1 ? "libcurl was about to" : said);
        break;
    case WIRE_END_TIMEOUT:
        snprintf(x->error, sizeof x->error, "timed out after %lld ms",
                 (long long)(t->timeout_ns / NS_PER_MS));
        break;
    case WIRE_END_CLIENT:
        snprintf(x->error, sizeof x->error, "%s",
                 t->no_memory      ? "out of memory"
                 : t->socket_errno ? strerror(t->socket_errno)
                                   : said);
        break;
    default:
        snprintf(x->error, sizeof x->error, "%s", said);
    }
}

static int64_t time_from(const struct wire_transfer *t, CURLINFO info)
{
    curl_off_t us = 0;
    if (curl_easy_getinfo(t->easy, info, &us) != CURLE_OK || us <= 0)
        return TIME_NONE;
    return t->t_base_ns + us * NS_PER_US;
}

static int32_t version_of(CURL *easy)
{
    long v = 0;
    curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &v);
    switch (v) {
    case CURL_HTTP_VERSION_1_0:
        return 10;
    case CURL_HTTP_VERSION_1_1:
        return 11;
    case CURL_HTTP_VERSION_2_0:
        return 20;
    case CURL_HTTP_VERSION_3:
        return 30;
    default:
        return 0;
    }
}

void transfer_conclude(struct wire_transfer *t, CURLcode rc, int64_t now_ns)
{
    struct wire_exchange *x = t->x;
    char *type = NULL;
    long status = 0;
    curl_off_t after = 0;
    curl_socket_t fd = CURL_SOCKET_BAD;
    x->t_end_ns = now_ns;
    if (x->reads_n > 0 && x->reads[x->reads_n - 1].t_user_ns > now_ns)
        x->t_end_ns = x->reads[x->reads_n - 1].t_user_ns;
    if (x->t_end_ns < x->t_sent_ns)
        x->t_end_ns = x->t_sent_ns;
    if (!x->reused) {
        x->t_dns_ns = time_from(t, CURLINFO_NAMELOOKUP_TIME_T);
        x->t_connect_ns = time_from(t, CURLINFO_CONNECT_TIME_T);
        x->t_tls_ns = time_from(t, CURLINFO_APPCONNECT_TIME_T);
    }
    if (x->connection == COUNT_NONE &&
        curl_easy_getinfo(t->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK)
        x->connection = loop_connection(t->loop, fd); /* CURL_SOCKET_BAD has none */
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    x->http_status = x->t_first_byte_ns == TIME_NONE ? 0 : (int32_t)status;
    if (x->http_status) {
        x->http_version = version_of(t->easy);
        curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
        snprintf(x->content_type, sizeof x->content_type, "%s", type ? type : "");
        curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &after);
        x->retry_after_s = after > 0 ? (int64_t)after : COUNT_NONE;
    }
    x->end = end_of(t, rc, now_ns);
    describe(t, rc);
}
