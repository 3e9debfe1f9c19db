#include "http.h"

#include <stdint.h>

#include "base/num.h"

static enum http_progress refuse(struct http_refusal *why, int status, const char *text)
{
    *why = (struct http_refusal){status, text};
    return HTTP_BAD;
}

/* Offset behind the empty line that ends the headers; 0 while it has not come. */
static size_t header_end(struct http_parser *p, struct str bytes)
{
    size_t from = p->scanned > p->skip + 3 ? p->scanned - 3 : p->skip;
    for (size_t i = from; i < bytes.n; i++) {
        if (bytes.p[i] != '\n')
            continue;
        if (i + 1 < bytes.n && bytes.p[i + 1] == '\n')
            return i + 2;
        if (i + 2 < bytes.n && bytes.p[i + 1] == '\r' && bytes.p[i + 2] == '\n')
            return i + 3;
    }
    p->scanned = bytes.n;
    return 0;
}

static struct str without_cr(struct str line)
{
    if (line.n > 0 && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* RFC 9110's token: what a method and a header's name are made of. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c <= ' ' || c >= 127 || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return s.n > 0;
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' && s.p[i] != '\t')
            return true;
    return false;
}

static enum http_progress request_line(struct http_parser *p, struct str line,
                                       struct http_refusal *why)
{
    struct str method, target, version;
    if (!str_cut(line, ' ', &method, &target) || !str_cut(target, ' ', &target, &version) ||
        !is_token(method) || target.n == 0 || has_control(target))
        return refuse(why, 400, "the request line is not METHOD TARGET HTTP/1.1");
    if (str_eq(version, STR("HTTP/1.1")))
        p->request.keep_alive = true;
    else if (!str_eq(version, STR("HTTP/1.0")))
        return refuse(why, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    if (target.p[0] != '/')
        return refuse(why, 400, "the request's target must begin with '/'");
    p->request.method = method;
    if (!str_cut(target, '?', &p->request.path, &p->request.query))
        p->request.query = (struct str){0};
    return HTTP_MORE;
}

struct seen_headers {
    bool length, chunked;
};

static enum http_progress header_line(struct http_parser *p, struct str line,
                                      struct seen_headers *seen, struct http_refusal *why)
{
    struct str name, value;
    uint64_t n;
    if (!str_cut(line, ':', &name, &value) || !is_token(name))
        return refuse(why, 400, "a header line is not NAME: VALUE");
    value = str_trim(value);
    if (has_control(value))
        return refuse(why, 400, "a header holds a control character");
    if (str_eq_nocase(name, STR("content-length"))) {
        if (value.n == 0 || value.p[0] == '+' || num_parse_u64(&n, value) < 0 ||
            (seen->length && n != p->length))
            return refuse(why, 400, "Content-Length is not one number");
        if (n > HTTP_BODY_MAX)
            return refuse(why, 413, "the body is longer than 32 MiB");
        p->length = (size_t)n;
        seen->length = true;
    } else if (str_eq_nocase(name, STR("transfer-encoding"))) {
        if (!str_eq_nocase(value, STR("chunked")) || seen->chunked)
            return refuse(why, 501, "of transfer codings only chunked is known here");
        seen->chunked = true;
    } else if (str_eq_nocase(name, STR("connection"))) {
        if (str_eq_nocase(value, STR("close")))
            p->request.keep_alive = false;
        else if (str_eq_nocase(value, STR("keep-alive")))
            p->request.keep_alive = true;
    } else if (str_eq_nocase(name, STR("expect"))) {
        if (!str_eq_nocase(value, STR("100-continue")))
            return refuse(why, 417, "this expectation cannot be met");
        p->expects = true;
    }
    return HTTP_MORE;
}

static enum http_progress read_header(struct http_parser *p, struct str head,
                                      struct http_refusal *why)
{
    struct seen_headers seen = {0};
    struct str line;
    size_t count = 0;
    enum http_progress got;

    str_cut(head, '\n', &line, &head);
    if ((got = request_line(p, without_cr(line), why)) != HTTP_MORE)
        return got;
    while (str_cut(head, '\n', &line, &head)) {
        line = without_cr(line);
        if (line.n == 0)
            break;
        if (++count > HTTP_HEADERS_MAX)
            return refuse(why, 431, "more than 100 headers");
        if ((got = header_line(p, line, &seen, why)) != HTTP_MORE)
            return got;
    }
    if (seen.chunked && seen.length)
        return refuse(why, 400, "both Content-Length and chunked"); /* RFC 9112 6.3: smuggling */
    p->chunked = seen.chunked;
    return HTTP_MORE;
}

/* The line that begins at p->at, without its end; false while it is not whole. */
static bool chunk_line(const struct http_parser *p, struct str bytes, struct str *line)
{
    struct str rest;
    return str_cut(str_skip(bytes, p->at), '\n', line, &rest);
}

static int hex_size(size_t *out, struct str line)
{
    size_t v = 0, i;
    for (i = 0; i < line.n; i++) {
        int c = (unsigned char)line.p[i], digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (c | 32) - 'a' + 10;
        else
            break;
        if (v > (SIZE_MAX >> 4))
            return -1;
        v = v << 4 | (size_t)digit;
    }
    if (i == 0 || (i < line.n && line.p[i] != ';' && line.p[i] != ' '))
        return -1;
    *out = v;
    return 0;
}

/* Trailers, up to the empty line. */
static enum http_progress read_trailers(struct http_parser *p, struct str bytes,
                                        struct http_refusal *why)
{
    struct str line;
    for (;;) {
        bool is_whole = chunk_line(p, bytes, &line);
        if ((is_whole ? line.n : bytes.n - p->at) > HTTP_CHUNK_LINE_MAX)
            return refuse(why, 431, "a trailer longer than 256 bytes");
        if (!is_whole)
            return HTTP_MORE;
        if (p->at + line.n - p->header_n > HTTP_BODY_MAX + HTTP_HEADER_MAX)
            return refuse(why, 431, "trailers without end");
        p->at += line.n + 1;
        if (without_cr(line).n == 0) {
            p->end = p->at;
            return HTTP_READY;
        }
    }
}

static enum http_progress read_chunks(struct http_parser *p, struct str bytes,
                                      struct http_refusal *why)
{
    struct str line;
    size_t size, tail;
    while (p->length != SIZE_MAX) {
        if (!chunk_line(p, bytes, &line))
            return bytes.n - p->at > HTTP_CHUNK_LINE_MAX
                       ? refuse(why, 400, "a chunk's size line longer than 256 bytes")
                       : HTTP_MORE;
        if (line.n > HTTP_CHUNK_LINE_MAX || hex_size(&size, without_cr(line)) < 0)
            return refuse(why, 400, "a chunk's size is no hexadecimal number");
        if (size == 0) {
            p->at += line.n + 1;
            p->length = SIZE_MAX; /* the last chunk was seen */
            break;
        }
        if (size > HTTP_BODY_MAX - p->body.n)
            return refuse(why, 413, "the body is longer than 32 MiB");
        tail = p->at + line.n + 1 + size;
        if (bytes.n < tail + 1 || (bytes.p[tail] == '\r' && bytes.n < tail + 2))
            return HTTP_MORE;
        if (bytes.p[tail] == '\r')
            tail++;
        if (bytes.p[tail] != '\n')
            return refuse(why, 400, "a chunk does not end where its size says");
        buf_add(&p->body, bytes.p + p->at + line.n + 1, size);
        p->at = tail + 1;
        if (p->body.failed)
            return refuse(why, 503, "out of memory");
    }
    return read_trailers(p, bytes, why);
}

/* The headers are whole: *out is filled from where the bytes lie now. */
static enum http_progress ready(struct http_parser *p, struct str bytes, struct http_request *out)
{
    struct http_refusal none;
    struct str line, rest;
    bool keep_alive = p->request.keep_alive;
    str_cut(str_skip(bytes, p->skip), '\n', &line, &rest);
    request_line(p, without_cr(line), &none); /* it was good when the headers were read */
    p->request.keep_alive = keep_alive;
    p->request.body = p->chunked ? buf_str(&p->body) : str_make(bytes.p + p->header_n, p->length);
    *out = p->request;
    return HTTP_READY;
}

enum http_progress http_parse(struct http_parser *p, struct str bytes, struct http_request *out,
                              struct http_refusal *why)
{
    enum http_progress got;
    if (p->header_n == 0) {
        /* RFC 9112 2.2: empty lines before a request line are passed over. */
        while (p->skip < bytes.n && (bytes.p[p->skip] == '\r' || bytes.p[p->skip] == '\n'))
            p->skip++;
        size_t end = header_end(p, bytes);
        if (end > HTTP_HEADER_MAX || (end == 0 && bytes.n >= HTTP_HEADER_MAX))
            return refuse(why, 431, "request line and headers are longer than 16 KiB");
        if (end == 0)
            return HTTP_MORE;
        got = read_header(p, str_make(bytes.p + p->skip, end - p->skip), why);
        if (got != HTTP_MORE)
            return got;
        p->header_n = p->at = end;
        p->body.max = HTTP_BODY_MAX;
    }
    if (p->chunked) {
        got = read_chunks(p, bytes, why);
        return got == HTTP_READY ? ready(p, bytes, out) : got;
    }
    if (bytes.n - p->header_n < p->length)
        return HTTP_MORE;
    p->end = p->header_n + p->length;
    return ready(p, bytes, out);
}

bool http_wants_continue(struct http_parser *p)
{
    bool wants = p->expects && p->header_n > 0 && p->end == 0;
    if (wants)
        p->expects = false;
    return wants;
}

size_t http_end(const struct http_parser *p)
{
    return p->end;
}

void http_next(struct http_parser *p)
{
    struct buf body = p->body;
    buf_reset(&body);
    *p = (struct http_parser){.body = body};
}

void http_release(struct http_parser *p)
{
    if (!p)
        return;
    buf_release(&p->body);
    *p = (struct http_parser){0};
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {413, "Content Too Large"},
        {417, "Expectation Failed"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Unsupported"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Unknown";
}
