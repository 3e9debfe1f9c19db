/*
 * libcurl, and what this build of it and this system can do.
 *
 *     struct wire_features f;
 *     wire_features(&f);
 */
#ifndef TALLY_WIRE_LIBRARY_H
#define TALLY_WIRE_LIBRARY_H

#include <stdbool.h>

#include "base/library.h"

struct wire_features {
    const char *poller; /* "epoll" or "poll" */
    const char *tls;    /* libcurl's own text: "OpenSSL/3.0.17"; NULL: none */
    bool http2, unix_sockets;
    bool kernel_time; /* receive times of the kernel are built in */
};

struct library wire_library(void);
void wire_features(struct wire_features *f);

#endif
