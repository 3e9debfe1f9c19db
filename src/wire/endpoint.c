#include "wire/endpoint.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define URL_MAX ((size_t)8192)
#define HEADER_MAX ((size_t)16384)
#define CONNECT_TIMEOUT_NS (10 * NS_PER_S)

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_ready;

static void start_curl(void)
{
    curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int refuse_url(struct error *err, const char *why)
{
    error_set(err, ERROR_USAGE, "not the URL of a server: %s", why);
    return error_remedy(err, "give it as http://host:port or https://host:port/prefix");
}

static int take_part(CURLU *u, CURLUPart part, unsigned flags, char **out)
{
    CURLUcode rc = curl_url_get(u, part, out, flags);
    if (rc == CURLUE_OK)
        return 0;
    *out = NULL;
    return rc == CURLUE_OUT_OF_MEMORY ? -1 : 0;
}

static int keep_user_info(struct wire_endpoint *e, CURLU *u, struct error *err)
{
    char *user = NULL, *password = NULL;
    struct buf b = BUF_INIT(URL_MAX);
    int status = -1;
    if (take_part(u, CURLUPART_USER, CURLU_URLDECODE, &user) < 0 ||
        take_part(u, CURLUPART_PASSWORD, CURLU_URLDECODE, &password) < 0) {
        error_no_memory(err);
        goto out;
    }
    if (user) {
        buf_addf(&b, "%s:%s", user, password ? password : "");
        if (buf_check(&b, "the user information of a URL", err) < 0)
            goto out;
        e->user_pwd = b.p;
        b = (struct buf){0};
    }
    curl_url_set(u, CURLUPART_USER, NULL, 0);
    curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
    status = 0;
out:
    buf_release(&b);
    curl_free(user);
    curl_free(password);
    return status;
}

static int check_parts(CURLU *u, bool *tls, struct error *err)
{
    char *scheme = NULL, *query = NULL, *fragment = NULL;
    int status = -1;
    if (take_part(u, CURLUPART_SCHEME, 0, &scheme) < 0 ||
        take_part(u, CURLUPART_QUERY, 0, &query) < 0 ||
        take_part(u, CURLUPART_FRAGMENT, 0, &fragment) < 0) {
        error_no_memory(err);
        goto out;
    }
    if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        refuse_url(err, "only http and https are spoken");
    else if (query || fragment)
        refuse_url(err, "a base URL has no query and no fragment");
    else
        status = 0;
    if (status == 0)
        *tls = strcmp(scheme, "https") == 0;
out:
    curl_free(scheme);
    curl_free(query);
    curl_free(fragment);
    return status;
}

static int parse_url(struct wire_endpoint *e, const char *url, struct error *err)
{
    CURLU *u = curl_url();
    char *whole = NULL;
    int status = -1;
    size_t n;
    if (!u)
        return error_no_memory(err);
    if (!url || !strstr(url, "://") || strlen(url) > URL_MAX ||
        curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
        refuse_url(err, "it cannot be read as one");
        goto out;
    }
    if (check_parts(u, &e->tls, err) < 0 || keep_user_info(e, u, err) < 0)
        goto out;
    if (curl_url_get(u, CURLUPART_URL, &whole, 0) != CURLUE_OK) {
        refuse_url(err, "it has no host");
        goto out;
    }
    for (n = strlen(whole); n > 0 && whole[n - 1] == '/'; n--)
        whole[n - 1] = '\0';
    e->url = strdup(whole);
    status = e->url ? 0 : error_no_memory(err);
out:
    curl_free(whole);
    curl_url_cleanup(u);
    return status;
}

static int add_header(struct wire_endpoint *e, const char *line, struct error *err)
{
    struct curl_slist *longer;
    if (strlen(line) > HEADER_MAX)
        return error_set(err, ERROR_LIMIT, "a request header of more than %zu bytes", HEADER_MAX);
    if (strpbrk(line, "\r\n")) /* its text may be a secret and is not repeated */
        return error_set(err, ERROR_USAGE, "a request header or key holds a line break");
    longer = curl_slist_append(e->headers, line);
    if (!longer)
        return error_no_memory(err);
    e->headers = longer;
    return 0;
}

static int add_headers(struct wire_endpoint *e, const struct wire_endpoint_options *o,
                       struct error *err)
{
    if (add_header(e, "Content-Type: application/json", err) < 0 ||
        add_header(e, "Expect:", err) < 0) /* no wait for "100 Continue" between head and body */
        return -1;
    if (o->bearer) {
        struct buf b = BUF_INIT(HEADER_MAX);
        int status;
        buf_addf(&b, "Authorization: Bearer %s", o->bearer);
        status = buf_check(&b, "a bearer key", err);
        if (status == 0)
            status = add_header(e, b.p, err);
        buf_release(&b);
        if (status < 0)
            return -1;
    }
    for (size_t i = 0; o->headers && o->headers[i]; i++) {
        if (!strchr(o->headers[i], ':')) {
            error_set(err, ERROR_USAGE, "a request header without a colon");
            return error_remedy(err, "write it as 'Name: value'");
        }
        if (add_header(e, o->headers[i], err) < 0)
            return -1;
    }
    return 0;
}

static int copy(char **out, const char *s, struct error *err)
{
    if (!s)
        return 0;
    *out = strdup(s);
    return *out ? 0 : error_no_memory(err);
}

int wire_endpoint_new(struct wire_endpoint **out, const struct wire_endpoint_options *o,
                      struct error *err)
{
    struct wire_endpoint *e;
    pthread_once(&curl_once, start_curl);
    if (curl_ready != CURLE_OK)
        return error_set(err, ERROR_ENVIRONMENT, "libcurl cannot start: %s",
                         curl_easy_strerror(curl_ready));
    e = calloc(1, sizeof *e);
    if (!e)
        return error_no_memory(err);
    e->insecure = o->insecure;
    e->no_reuse = o->no_reuse;
    e->http2 = o->http2;
    e->connect_timeout_ns = o->connect_timeout_ns ? o->connect_timeout_ns : CONNECT_TIMEOUT_NS;
    if (parse_url(e, o->url, err) < 0) {
        wire_endpoint_free(e);
        return -1;
    }
    if (add_headers(e, o, err) < 0 || copy(&e->unix_socket, o->unix_socket, err) < 0 ||
        copy(&e->proxy, o->proxy, err) < 0 || copy(&e->ca_file, o->ca_file, err) < 0 ||
        copy(&e->client_cert, o->client_cert, err) < 0 ||
        copy(&e->client_key, o->client_key, err) < 0) {
        wire_endpoint_free(e);
        return -1;
    }
    *out = e;
    return 0;
}

void wire_endpoint_free(struct wire_endpoint *e)
{
    if (!e)
        return;
    curl_slist_free_all(e->headers);
    free(e->url);
    free(e->user_pwd);
    free(e->unix_socket);
    free(e->proxy);
    free(e->ca_file);
    free(e->client_cert);
    free(e->client_key);
    free(e);
}

void wire_endpoint_forbid_reuse(struct wire_endpoint *e)
{
    e->no_reuse = true;
}

const char *wire_endpoint_url(const struct wire_endpoint *e)
{
    return e->url;
}

static CURLcode set_tls(const struct wire_endpoint *e, CURL *easy)
{
    CURLcode rc = CURLE_OK;
    if (e->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (e->ca_file)
        rc = curl_easy_setopt(easy, CURLOPT_CAINFO, e->ca_file);
    if (rc == CURLE_OK && e->client_cert)
        rc = curl_easy_setopt(easy, CURLOPT_SSLCERT, e->client_cert);
    if (rc == CURLE_OK && e->client_key)
        rc = curl_easy_setopt(easy, CURLOPT_SSLKEY, e->client_key);
    return rc;
}

static long http_version(const struct wire_endpoint *e)
{
    if (!e->http2)
        return CURL_HTTP_VERSION_1_1;
    return e->tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

int endpoint_apply(const struct wire_endpoint *e, CURL *easy, const char *path, struct error *err)
{
    struct buf url = BUF_INIT(URL_MAX * 2);
    CURLcode rc;
    buf_addf(&url, "%s%s", e->url, path);
    if (buf_check(&url, "a URL", err) < 0) {
        buf_release(&url);
        return -1;
    }
    rc = curl_easy_setopt(easy, CURLOPT_URL, url.p);
    buf_release(&url);
    if (rc == CURLE_OK)
        rc = set_tls(e, easy);
    if (rc == CURLE_OK && e->user_pwd)
        rc = curl_easy_setopt(easy, CURLOPT_USERPWD, e->user_pwd);
    if (rc == CURLE_OK && e->unix_socket)
        rc = curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, e->unix_socket);
    /* "": a proxy named in the environment must not step between client and server unseen. */
    if (rc == CURLE_OK)
        rc = curl_easy_setopt(easy, CURLOPT_PROXY, e->proxy ? e->proxy : "");
    if (rc != CURLE_OK)
        return error_set(err, ERROR_ENVIRONMENT, "libcurl refuses an option: %s",
                         curl_easy_strerror(rc));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, e->headers);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, http_version(e));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(e->connect_timeout_ns / NS_PER_MS));
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (e->no_reuse) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    return 0;
}
