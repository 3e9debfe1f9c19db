/*
 * How long the calling thread has waited for a processor since it began, where the system tells
 * (Linux: /proc/thread-self/schedstat).
 *
 *     int64_t before = schedstat_wait_ns(); ...; waited = schedstat_wait_ns() - before;
 */
#ifndef TALLY_LOAD_SCHEDSTAT_H
#define TALLY_LOAD_SCHEDSTAT_H

#include <stdint.h>

int64_t schedstat_wait_ns(void); /* COUNT_NONE where it is not known */

#endif
