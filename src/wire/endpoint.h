/* Private to wire: what an endpoint holds, and how it sets up a curl handle. */
#ifndef TALLY_WIRE_ENDPOINT_H
#define TALLY_WIRE_ENDPOINT_H

#include <curl/curl.h>

#include "wire/http.h"

struct wire_endpoint {
    char *url;      /* without user info and trailing slash */
    char *user_pwd; /* "user:password"; NULL */
    char *unix_socket, *proxy, *ca_file, *client_cert, *client_key;
    struct curl_slist *headers;
    bool insecure, no_reuse, http2, tls;
    int64_t connect_timeout_ns;
};

/* Everything of a request that is the endpoint's: URL, headers, TLS, proxy, time limits. */
int endpoint_apply(const struct wire_endpoint *e, CURL *easy, const char *path,
                   struct error *err) TALLY_MUST_CHECK;

#endif
