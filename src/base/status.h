/*
 * The status of a band, a run or a verdict: one order everywhere, worst first, and the exit code
 * that a program ends with.
 *
 *     enum status all = status_worse(band_a, band_b);
 */
#ifndef TALLY_BASE_STATUS_H
#define TALLY_BASE_STATUS_H

#include "base/str.h"

/* status, its name, exit code */
#define STATUSES(X)                           \
    X(STATUS_FAIL, "FAIL", 1)                 \
    X(STATUS_REFUSED, "REFUSED", 4)           \
    X(STATUS_UNMEASURED, "UNMEASURED", 3)     \
    X(STATUS_INCOMPLETE, "INCOMPLETE", 3)     \
    X(STATUS_INCONCLUSIVE, "INCONCLUSIVE", 3) \
    X(STATUS_PASS, "PASS", 0)                 \
    X(STATUS_NOT_APPLICABLE, "NOT_APPLICABLE", 0)

enum status {
#define X(status, name, code) status,
    STATUSES(X)
#undef X
};

/* The worse of two; NOT_APPLICABLE is skipped. */
static inline enum status status_worse(enum status a, enum status b)
{
    return a < b ? a : b;
}

const char *status_name(enum status s);
int status_exit_code(enum status s);
int status_parse(enum status *out, struct str name); /* 0 or -1 */

#endif
