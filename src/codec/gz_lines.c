#include "codec/gz_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"

#define GZIP_WINDOW (15 + 16)
#define STEP 65536

struct gz_lines {
    char *path;
    int fd;
    struct gz_lines_limits limits;
    struct buf text; /* decompressed, not yet returned */
    size_t at;       /* where the next line begins in it */
    size_t searched; /* no LF before this */
    uint64_t total;
    int64_t number;
    bool started, compressed, stream_over, input_over, unterminated;
    z_stream z;
    unsigned char in[STEP];
};

int gz_lines_open(struct gz_lines **out, const char *path, const struct gz_lines_limits *limits,
                  struct error *err)
{
    struct gz_lines *r = calloc(1, sizeof *r);
    if (!r)
        return error_no_memory(err);
    r->limits = *limits;
    buf_init(&r->text, limits->line < SIZE_MAX - 2 * STEP ? limits->line + 2 * STEP : SIZE_MAX);
    r->fd = -1;
    r->path = malloc(strlen(path) + 1);
    if (!r->path) {
        gz_lines_free(r);
        return error_no_memory(err);
    }
    memcpy(r->path, path, strlen(path) + 1);
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) {
        error_set_errno(err, errno, "cannot open");
        gz_lines_free(r);
        return error_at_file(err, path);
    }
    *out = r;
    return 0;
}

void gz_lines_free(struct gz_lines *r)
{
    if (!r)
        return;
    if (r->compressed)
        inflateEnd(&r->z);
    if (r->fd >= 0)
        close(r->fd);
    buf_release(&r->text);
    free(r->path);
    free(r);
}

int64_t gz_lines_number(const struct gz_lines *r)
{
    return r->number;
}

bool gz_lines_unterminated(const struct gz_lines *r)
{
    return r->unterminated;
}

bool gz_lines_compressed(const struct gz_lines *r)
{
    return r->compressed;
}

/* Fills r->in as far as the file goes. */
static int take_input(struct gz_lines *r, struct error *err)
{
    size_t n = 0;
    while (n < STEP) {
        ssize_t got = read(r->fd, r->in + n, STEP - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(err, errno, "cannot read");
        if (got == 0)
            break;
        n += (size_t)got;
    }
    r->input_over = n < STEP;
    r->z.next_in = r->in;
    r->z.avail_in = (uInt)n;
    return 0;
}

static int start(struct gz_lines *r, struct error *err)
{
    r->started = true;
    if (take_input(r, err) < 0)
        return -1;
    if (r->z.avail_in < 2 || r->in[0] != 0x1f || r->in[1] != 0x8b)
        return 0;
    if (inflateInit2(&r->z, GZIP_WINDOW) != Z_OK)
        return error_no_memory(err);
    r->compressed = true;
    return 0;
}

static int inflate_some(struct gz_lines *r, char *to, size_t *n, struct error *err)
{
    r->z.next_out = (Bytef *)to;
    r->z.avail_out = STEP;
    int status = inflate(&r->z, Z_NO_FLUSH);
    *n = STEP - r->z.avail_out;
    if (status == Z_STREAM_END) {
        r->stream_over = true;
        if (r->z.avail_in == 0 && !r->input_over && take_input(r, err) < 0)
            return -1;
        if (r->z.avail_in > 0)
            return error_set(err, ERROR_INPUT, "bytes follow the gzip stream");
        return 0;
    }
    if (status == Z_MEM_ERROR)
        return error_no_memory(err);
    if (status != Z_OK && status != Z_BUF_ERROR)
        return error_set(err, ERROR_INPUT, "not a whole gzip stream: %s",
                         r->z.msg ? r->z.msg : "damaged");
    if (*n == 0 && r->z.avail_in == 0 && r->input_over)
        return error_set(err, ERROR_INPUT, "not a whole gzip stream: it ends too early");
    return 0;
}

/* Appends a piece of text; stream_over is set when there is none left. */
static int fill(struct gz_lines *r, struct error *err)
{
    size_t n = 0;
    if (!r->started && start(r, err) < 0)
        return -1;
    if (r->z.avail_in == 0 && !r->input_over && take_input(r, err) < 0)
        return -1;
    char *to = buf_reserve(&r->text, STEP);
    if (!to)
        return buf_check(&r->text, "a line", err);
    if (r->compressed) {
        if (inflate_some(r, to, &n, err) < 0)
            return -1;
    } else {
        n = r->z.avail_in;
        memcpy(to, r->z.next_in, n);
        r->z.avail_in = 0;
        r->stream_over = r->input_over;
    }
    r->text.n += n;
    r->total += n;
    if (r->total > r->limits.total)
        return error_set(err, ERROR_LIMIT, "more than the limit of %llu bytes of text",
                         (unsigned long long)r->limits.total);
    return 0;
}

static int too_long(const struct gz_lines *r, struct error *err)
{
    error_set(err, ERROR_LIMIT, "a line of more than the limit of %zu bytes", r->limits.line);
    return error_at_line(err, r->number + 1, 0);
}

static int next(struct gz_lines *r, struct str *line, struct error *err)
{
    for (;;) {
        size_t left = r->text.n - r->searched, n = r->text.n - r->at;
        const char *lf = left ? memchr(r->text.p + r->searched, '\n', left) : NULL;
        if (lf)
            n = (size_t)(lf - r->text.p) - r->at;
        if (n > r->limits.line)
            return too_long(r, err);
        if (lf || (r->stream_over && n > 0)) {
            *line = str_make(r->text.p + r->at, n);
            r->searched = r->at += n + (lf != NULL);
            r->unterminated = !lf;
            r->number++;
            return 1;
        }
        if (r->stream_over)
            return 0;
        /* Only here is anything moved, so short lines do not cost a move each. */
        buf_drop_front(&r->text, r->at);
        r->at = 0;
        r->searched = r->text.n;
        if (fill(r, err) < 0)
            return -1;
    }
}

int gz_lines_next(struct gz_lines *r, struct str *line, struct error *err)
{
    int got = next(r, line, err);
    return got < 0 ? error_at_file(err, r->path) : got;
}
