/*
 * The log of send times: one line a token, "REQUEST TOKEN BEFORE_NS AFTER_NS\n", monotonic.
 *
 *     if (times_open(&t, path, err) < 0) ...
 *     times_add(&t, request, token, before_ns, after_ns);
 *     if (times_close(&t, err) < 0) ...
 *
 * The two times stand around the send call that took the token's last byte. Lines are written by
 * TIMES_BUFFER bytes, so that the disk is touched rarely; the rest when it is closed.
 */
#ifndef TALLY_SIM_TIMES_H
#define TALLY_SIM_TIMES_H

#include "base/buf.h"

#define TIMES_BUFFER ((size_t)1 << 20)

struct times {
    int fd; /* -1: no log */
    const char *path;
    struct buf text;
    struct error failed; /* of a write; kind ERROR_NONE while all is well */
};

int times_open(struct times *t, const char *path, struct error *err) TALLY_MUST_CHECK;
void times_add(struct times *t, int64_t request, int64_t token, int64_t before_ns,
               int64_t after_ns);
int times_close(struct times *t, struct error *err) TALLY_MUST_CHECK;
void times_release(struct times *t);

#endif
