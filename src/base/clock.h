/*
 * Clocks. Time is int64_t nanoseconds; a name ends in _ns and says which clock where it matters.
 *
 *     int64_t t0_ns = clock_mono_ns();
 *     char utc[CLOCK_UTC_TEXT];
 *     clock_format_utc(utc, clock_real_ns());        // 2026-12-01T09:30:00.123456Z
 *
 * Monotonic time counts from an arbitrary start and is what every interval is measured in;
 * real time (Unix epoch, UTC) is only for saying when. Code that decides takes `now_ns` as an
 * argument; only the loops that wait call these.
 */
#ifndef TALLY_BASE_CLOCK_H
#define TALLY_BASE_CLOCK_H

#include <stdint.h>

#include "base/str.h"

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define CLOCK_UTC_TEXT 40

int64_t clock_mono_ns(void);
int64_t clock_real_ns(void);
int64_t clock_thread_cpu_ns(void);  /* CPU time of the calling thread */
int64_t clock_process_cpu_ns(void); /* CPU time of the process */

/* RFC 3339 in UTC with microseconds and Z. */
void clock_format_utc(char out[CLOCK_UTC_TEXT], int64_t real_ns);
/* "2026-12-01T09:30:00" with optional fraction and optional Z, read as UTC. 0 or -1. */
int clock_parse_utc(int64_t *real_ns, struct str s);
/* Sleeps until the monotonic deadline, through signals unless *stop (may be NULL) becomes true. */
void clock_sleep_until_ns(int64_t mono_ns, const volatile int *stop);

#endif
