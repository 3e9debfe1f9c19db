#include "wire/library.h"

#include <curl/curl.h>

struct library wire_library(void)
{
    return (struct library){"libcurl", LIBCURL_VERSION,
                            curl_version_info(CURLVERSION_NOW)->version};
}

void wire_features(struct wire_features *f)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);

    *f = (struct wire_features){
        .poller = "poll",
        .tls = curl->ssl_version,
        .http2 = (curl->features & CURL_VERSION_HTTP2) != 0,
        .unix_sockets = (curl->features & CURL_VERSION_UNIX_SOCKETS) != 0,
    };
#ifdef __linux__
    f->poller = "epoll";
    f->kernel_time = true;
#endif
}
