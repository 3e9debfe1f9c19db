/*
 * The kernel's receive time of the bytes that wait in a TCP socket (SO_TIMESTAMPNS).
 *
 *     if (kernel_time_enable(fd) == 0) ...                        // once, before connect
 *     if (kernel_time_peek(fd, 16384, &waiting, &real_ns) == 0) ...   // just before the read
 *
 * The kernel joins waiting segments and keeps the last one's time: it is an upper bound for every
 * byte that waits, on CLOCK_REALTIME. Elsewhere than on Linux both functions return -1.
 */
#ifndef TALLY_WIRE_KERNEL_TIME_H
#define TALLY_WIRE_KERNEL_TIME_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_TIME_PEEK_MAX ((size_t)20480)

int kernel_time_enable(int fd);
/* How many bytes wait (at most `most`, and KERNEL_TIME_PEEK_MAX, are looked at) and the time of the
 * last of them; -1 when nothing waits or the kernel gave no time. Nothing is copied or taken. */
int kernel_time_peek(int fd, size_t most, size_t *waiting, int64_t *real_ns);

#endif
