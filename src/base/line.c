#include "base/line.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define READ_STEP 65536

int line_open(struct line_reader *r, const char *path, size_t max, struct error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = STDIN_FILENO;

    if (!is_stdin) {
        do
            fd = open(path, O_RDONLY | O_CLOEXEC);
        while (fd < 0 && errno == EINTR);
    }
    if (fd < 0) {
        error_set_errno(err, errno, "cannot open");
        return error_at_file(err, path);
    }
    *r = (struct line_reader){
        .name = is_stdin ? "<stdin>" : path, .fd = fd, .max = max, .owned = !is_stdin};
    buf_init(&r->buf, max + 2 + READ_STEP); /* CR, LF, and what was read beyond them */
    return 0;
}

void line_close(struct line_reader *r)
{
    if (!r)
        return;
    if (r->owned)
        close(r->fd);
    buf_release(&r->buf);
    *r = (struct line_reader){0};
}

static int fail(struct line_reader *r, struct error *err)
{
    error_at_file(err, r->name);
    return error_at_line(err, r->number + 1, 0);
}

static int too_long(struct line_reader *r, struct error *err)
{
    error_set(err, ERROR_LIMIT, "the line is longer than the limit of %zu bytes", r->max);
    return fail(r, err);
}

/* More bytes behind what is there. 1, 0 at the end, -1. */
static int read_more(struct line_reader *r, struct error *err)
{
    ssize_t n;
    char *to;

    buf_drop_front(&r->buf, r->at);
    r->at = 0;
    to = buf_reserve(&r->buf, READ_STEP);
    if (!to)
        return error_no_memory(err);
    do
        n = read(r->fd, to, READ_STEP);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        error_set_errno(err, errno, "cannot read");
        return fail(r, err);
    }
    r->buf.n += (size_t)n;
    r->end = n == 0;
    return n > 0;
}

int line_next(struct line_reader *r, struct str *line, struct error *err)
{
    size_t searched = 0;

    for (;;) {
        struct str have = str_skip(buf_str(&r->buf), r->at);
        size_t found = str_find_char(str_skip(have, searched), '\n');
        bool whole = found != STR_NONE;
        size_t n = whole ? searched + found : have.n;

        if (whole || r->end) {
            if (!whole && n == 0)
                return 0;
            r->at += whole ? n + 1 : n;
            if (n > 0 && have.p[n - 1] == '\r')
                n--;
            if (n > r->max)
                return too_long(r, err);
            r->number++;
            *line = str_first(have, n);
            return 1;
        }
        if (n > r->max + 1)
            return too_long(r, err);
        searched = n;
        if (read_more(r, err) < 0)
            return -1;
    }
}
