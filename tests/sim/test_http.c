/* The request parser: each request also in two pieces at every byte boundary. */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>

#include "http.h"

static enum http_progress parse(struct http_parser *p, struct str bytes, struct http_request *r,
                                struct http_refusal *why)
{
    *p = (struct http_parser){0};
    return http_parse(p, bytes, r, why);
}

/* All of text is one request: in two pieces, the first of which lay elsewhere, cut at every byte.
 */
static void assert_parses(const char *text, const struct http_request *wanted)
{
    size_t n = strlen(text);
    for (size_t cut = 0; cut <= n; cut++) {
        struct http_parser p = {0};
        struct http_request r = {0};
        struct http_refusal why = {0};
        char *first = malloc(cut + 1);
        assert_non_null(first);
        memcpy(first, text, cut);
        assert_int_equal(http_parse(&p, str_make(first, cut), &r, &why),
                         cut == n ? HTTP_READY : HTTP_MORE);
        free(first);
        if (cut < n)
            assert_int_equal(http_parse(&p, str_make(text, n), &r, &why), HTTP_READY);
        if (cut < n || wanted->body.n == 0) { /* the first piece's strings are gone */
            assert_int_equal(http_end(&p), n);
            assert_int_equal(r.keep_alive, wanted->keep_alive);
        }
        if (cut < n) {
            assert_str(r.method, wanted->method);
            assert_str(r.path, wanted->path);
            assert_str(r.query, wanted->query);
            assert_str(r.body, wanted->body);
        }
        http_release(&p);
    }
}

static void requests(void **state)
{
    (void)state;
    assert_parses("GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
                  &(struct http_request){STR("GET"), STR("/health"), STR(""), STR(""), true});
    assert_parses("\r\n\nGET /a?b=c&d HTTP/1.0\n\n",
                  &(struct http_request){STR("GET"), STR("/a"), STR("b=c&d"), STR(""), false});
    assert_parses("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
                  &(struct http_request){STR("GET"), STR("/"), STR(""), STR(""), true});
    assert_parses(
        "POST /v1/x HTTP/1.1\r\ncontent-LENGTH:  5 \r\nConnection: close\r\n\r\nab\n\nc",
        &(struct http_request){STR("POST"), STR("/v1/x"), STR(""), STR("ab\n\nc"), false});
}

static void chunked_bodies(void **state)
{
    (void)state;
    assert_parses(
        "POST /x HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"
        "5\r\nhello\r\nA;ext=1\r\n 12345\r\n78\r\n0\r\nTrailer: t\r\n\r\n",
        &(struct http_request){STR("POST"), STR("/x"), STR(""), STR("hello 12345\r\n78"), true});
    assert_parses("POST /x HTTP/1.1\nTransfer-Encoding: chunked\n\n0\n\n",
                  &(struct http_request){STR("POST"), STR("/x"), STR(""), STR(""), true});
}

/* One request behind another: the first ends where it ends. */
static void pipelined(void **state)
{
    struct http_parser p;
    struct http_request r = {0};
    struct http_refusal why;
    struct str text = STR("POST /1 HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET /2 HTTP/1.1\r\n\r\n");
    (void)state;
    assert_int_equal(parse(&p, text, &r, &why), HTTP_READY);
    assert_text(r.body, "ab");
    text = str_skip(text, http_end(&p));
    http_next(&p);
    assert_int_equal(http_parse(&p, text, &r, &why), HTTP_READY);
    assert_text(r.path, "/2");
    assert_int_equal(http_end(&p), text.n);
    http_release(&p);
}

static void expectations(void **state)
{
    struct http_parser p;
    struct http_request r = {0};
    struct http_refusal why;
    struct str text =
        STR("POST /1 HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab");
    (void)state;
    assert_int_equal(parse(&p, str_first(text, text.n - 2), &r, &why), HTTP_MORE);
    assert_true(http_wants_continue(&p));
    assert_false(http_wants_continue(&p)); /* once */
    assert_int_equal(http_parse(&p, text, &r, &why), HTTP_READY);
    http_release(&p);
    assert_int_equal(parse(&p, text, &r, &why), HTTP_READY); /* the body did not wait */
    assert_false(http_wants_continue(&p));
    http_release(&p);
}

static void refusals(void **state)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"GARBAGE\r\n\r\n", 400},
        {"GET /\r\n\r\n", 400},
        {"GET / HTTP/2.0\r\n\r\n", 505},
        {"GET x HTTP/1.1\r\n\r\n", 400},
        {"G(T / HTTP/1.1\r\n\r\n", 400},
        {"GET /\x01 HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nspace before : x\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nA: \x02\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: five\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        {"GET / HTTP/1.1\r\nExpect: miracles\r\n\r\n", 417},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2000001\r\n", 413},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct http_parser p;
        struct http_request r = {0};
        struct http_refusal why = {0};
        enum http_progress got = parse(&p, str_of(cases[i].text), &r, &why);
        if (got != HTTP_BAD || why.status != cases[i].status)
            print_error("%s: saw %d %d\n", cases[i].text, got, why.status);
        assert_int_equal(got, HTTP_BAD);
        assert_int_equal(why.status, cases[i].status);
        assert_non_null(why.why);
        http_release(&p);
    }
}

/* A request of exactly n bytes of line and headers. */
static struct buf sized_header(size_t n)
{
    struct buf b = BUF_INIT(1 << 20);
    buf_adds(&b, "GET / HTTP/1.1\r\nA: ");
    buf_pad(&b, 'x', n - b.n - 4);
    buf_adds(&b, "\r\n\r\n");
    return b;
}

static void header_limits(void **state)
{
    struct http_parser p;
    struct http_request r = {0};
    struct http_refusal why = {0};
    struct buf b = sized_header(HTTP_HEADER_MAX);
    (void)state;
    assert_int_equal(parse(&p, buf_str(&b), &r, &why), HTTP_READY);
    http_release(&p);
    buf_release(&b);
    b = sized_header(HTTP_HEADER_MAX + 1);
    assert_int_equal(parse(&p, buf_str(&b), &r, &why), HTTP_BAD);
    assert_int_equal(why.status, 431);
    http_release(&p);
    /* without end: not a byte more is waited for */
    assert_int_equal(parse(&p, str_first(buf_str(&b), HTTP_HEADER_MAX - 1), &r, &why), HTTP_MORE);
    http_release(&p);
    assert_int_equal(parse(&p, str_first(buf_str(&b), HTTP_HEADER_MAX), &r, &why), HTTP_BAD);
    http_release(&p);
    buf_release(&b);
    for (int extra = 0; extra < 2; extra++) {
        buf_init(&b, 1 << 20);
        buf_adds(&b, "GET / HTTP/1.1\r\n");
        for (int i = 0; i < HTTP_HEADERS_MAX + extra; i++)
            buf_addf(&b, "h%d: v\r\n", i);
        buf_adds(&b, "\r\n");
        assert_int_equal(parse(&p, buf_str(&b), &r, &why), extra ? HTTP_BAD : HTTP_READY);
        http_release(&p);
        buf_release(&b);
    }
}

static void body_limits(void **state)
{
    struct http_parser p;
    struct http_request r = {0};
    struct http_refusal why = {0};
    (void)state;
    assert_int_equal(
        parse(&p, STR("POST / HTTP/1.1\r\nContent-Length: 33554432\r\n\r\n"), &r, &why), HTTP_MORE);
    http_release(&p);
    assert_int_equal(
        parse(&p, STR("POST / HTTP/1.1\r\nContent-Length: 33554433\r\n\r\n"), &r, &why), HTTP_BAD);
    assert_int_equal(why.status, 413);
    http_release(&p);
    for (size_t extra = 0; extra < 2; extra++) {
        struct buf b = BUF_INIT(HTTP_BODY_MAX + 4096);
        buf_adds(&b, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1000000\r\n");
        buf_pad(&b, 'x', 0x1000000);
        buf_addf(&b, "\r\n%zx\r\n", 0x1000000 + extra);
        buf_pad(&b, 'x', 0x1000000 + extra);
        buf_adds(&b, "\r\n0\r\n\r\n");
        assert_int_equal(parse(&p, buf_str(&b), &r, &why), extra ? HTTP_BAD : HTTP_READY);
        assert_int_equal(extra ? why.status : (int)(r.body.n >> 20), extra ? 413 : 32);
        http_release(&p);
        buf_release(&b);
    }
}

/* Size lines and trailers have an end, or the parser stops waiting for it. */
static void chunk_line_limits(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        for (int trailer = 0; trailer < 2; trailer++) {
            struct http_parser p;
            struct http_request r = {0};
            struct http_refusal why = {0};
            struct buf b = BUF_INIT(4096);
            buf_addf(&b, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%s",
                     trailer ? "0\r\n" : "");
            buf_pad(&b, '0', HTTP_CHUNK_LINE_MAX + extra);
            assert_int_equal(parse(&p, buf_str(&b), &r, &why), extra ? HTTP_BAD : HTTP_MORE);
            http_release(&p);
            buf_adds(&b, "\n\n"); /* the same when its end is in sight already */
            assert_int_equal(parse(&p, buf_str(&b), &r, &why), extra ? HTTP_BAD : HTTP_READY);
            http_release(&p);
            buf_release(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests),    cmocka_unit_test(chunked_bodies),
        cmocka_unit_test(pipelined),   cmocka_unit_test(expectations),
        cmocka_unit_test(refusals),    cmocka_unit_test(header_limits),
        cmocka_unit_test(body_limits), cmocka_unit_test(chunk_line_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
