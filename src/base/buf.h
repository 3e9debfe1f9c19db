/*
 * A growable byte buffer with a maximum (the idea is git's strbuf).
 *
 *     struct buf b = BUF_INIT(64 * 1024);
 *     buf_addf(&b, "%s=%d", name, n);
 *     if (buf_check(&b, "header line", err) < 0) ...
 *     buf_release(&b);
 *
 * Failure is sticky: the first append that would pass `max` or that memory refuses sets b->failed,
 * and all later appends do nothing. Check once, with buf_check, before the contents are used.
 * p is NUL-terminated behind n whenever p is not NULL. {0} is a valid empty buffer with max 0,
 * which holds nothing; use BUF_INIT. Ownership: the buffer owns p; buf_release frees it.
 */
#ifndef TALLY_BASE_BUF_H
#define TALLY_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

enum buf_failure { BUF_OK = 0, BUF_TOO_LONG, BUF_NO_MEMORY };

struct buf {
    char *p;
    size_t n, cap, max;
    enum buf_failure failed;
};

#define BUF_INIT(maximum) \
    {                     \
        .max = (maximum)  \
    }
/* For text whose size our own code bounds (a report, a receipt): 1 GiB. */
#define BUF_ANY ((size_t)1 << 30)

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b); /* back to an empty buffer with the same max */
void buf_reset(struct buf *b);   /* n = 0 and failed cleared; memory is kept */

void buf_add(struct buf *b, const void *p, size_t n); /* p must not point into b */
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *cstr);
void buf_addstr(struct buf *b, struct str s);
void buf_addf(struct buf *b, const char *fmt, ...) TALLY_PRINTF(2, 3);
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);
void buf_pad(struct buf *b, char c, size_t times);

/* Room for n more bytes at p + n; NULL on failure. After writing there, add to b->n. */
char *buf_reserve(struct buf *b, size_t n);
void buf_drop_front(struct buf *b, size_t n); /* removes the first n bytes */
void buf_truncate(struct buf *b, size_t n);   /* keeps the first n bytes */

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){b->p ? b->p : "", b->n};
}

/* 0 when nothing failed; else -1 and ERROR_LIMIT or ERROR_MEMORY naming `what`. */
int buf_check(const struct buf *b, const char *what, struct error *err);

#endif
