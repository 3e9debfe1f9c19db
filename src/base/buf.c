#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf)BUF_INIT(max);
}

void buf_release(struct buf *b)
{
    if (!b)
        return;
    free(b->p);
    buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->failed = BUF_OK;
    if (b->p)
        b->p[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t n)
{
    if (b->failed)
        return NULL;
    if (n > b->max || b->n > b->max - n || n > SIZE_MAX / 2 - b->n) {
        b->failed = BUF_TOO_LONG;
        return NULL;
    }
    size_t need = b->n + n + 1;
    if (need > b->cap) {
        size_t cap = b->cap < 64 ? 64 : b->cap;
        while (cap < need)
            cap = cap > SIZE_MAX / 2 ? need : cap * 2;
        if (cap - 1 > b->max)
            cap = b->max + 1; /* at least `need`, since n fits under max */
        char *p = realloc(b->p, cap);
        if (!p) {
            b->failed = BUF_NO_MEMORY;
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *to = buf_reserve(b, n);
    if (!to)
        return;
    if (n)
        memcpy(to, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_adds(struct buf *b, const char *cstr)
{
    buf_add(b, cstr, strlen(cstr));
}

void buf_addstr(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) {
        if (!b->failed)
            b->failed = errno == EOVERFLOW ? BUF_TOO_LONG : BUF_NO_MEMORY;
        return;
    }
    char *to = buf_reserve(b, (size_t)n);
    if (!to)
        return;
    vsnprintf(to, (size_t)n + 1, fmt, ap);
    b->n += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(b, fmt, ap);
    va_end(ap);
}

void buf_pad(struct buf *b, char c, size_t times)
{
    char *to = buf_reserve(b, times);
    if (!to)
        return;
    memset(to, c, times);
    b->n += times;
    b->p[b->n] = '\0';
}

void buf_drop_front(struct buf *b, size_t n)
{
    if (n > b->n)
        n = b->n;
    if (n == 0)
        return;
    memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
    b->p[b->n] = '\0';
}

void buf_truncate(struct buf *b, size_t n)
{
    if (n >= b->n)
        return;
    b->n = n;
    b->p[n] = '\0';
}

int buf_check(const struct buf *b, const char *what, struct error *err)
{
    switch (b->failed) {
    case BUF_OK:
        return 0;
    case BUF_TOO_LONG:
        return error_set(err, ERROR_LIMIT, "%s is longer than %zu bytes", what, b->max);
    case BUF_NO_MEMORY:
        break;
    }
    return error_no_memory(err);
}
