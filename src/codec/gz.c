#include "codec/gz.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"

#define GZIP_WINDOW (15 + 16) /* 32 KiB window, gzip framing */
#define STEP 65536

static int start_deflate(z_stream *z, struct error *err)
{
    *z = (z_stream){0};
    if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return error_no_memory(err);
    return 0;
}

/* Runs deflate over one piece of input until it asks for more (or, at the end, is done). */
static void deflate_piece(z_stream *z, struct buf *out, struct str piece, int flush)
{
    z->next_in = (Bytef *)(void *)(uintptr_t)piece.p;
    z->avail_in = (uInt)piece.n;
    int status;
    do {
        char *to = buf_reserve(out, STEP);
        if (!to)
            return;
        z->next_out = (Bytef *)to;
        z->avail_out = STEP;
        status = deflate(z, flush);
        out->n += STEP - z->avail_out;
    } while (z->avail_out == 0 || (flush == Z_FINISH && status != Z_STREAM_END));
}

int gz_compress(struct buf *out, struct str bytes, struct error *err)
{
    z_stream z;
    if (start_deflate(&z, err) < 0)
        return -1;
    while (bytes.n > STEP) {
        deflate_piece(&z, out, str_first(bytes, STEP), Z_NO_FLUSH);
        bytes = str_skip(bytes, STEP);
    }
    deflate_piece(&z, out, bytes, Z_FINISH);
    deflateEnd(&z);
    return buf_check(out, "compressed data", err);
}

int gz_decompress(struct buf *out, struct str gz, size_t max, struct error *err)
{
    z_stream z = {0};
    int status = Z_OK;
    buf_reset(out);
    out->max = max < SIZE_MAX - STEP ? max + STEP : max;
    if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
        return error_no_memory(err);
    size_t at = 0;
    while (status != Z_STREAM_END) {
        char *to = buf_reserve(out, STEP);
        if (!to || out->n > max)
            break;
        if (z.avail_in == 0 && at < gz.n) {
            size_t n = gz.n - at < STEP ? gz.n - at : STEP;
            z.next_in = (Bytef *)(void *)(uintptr_t)(gz.p + at);
            z.avail_in = (uInt)n;
            at += n;
        }
        z.next_out = (Bytef *)to;
        z.avail_out = STEP;
        status = inflate(&z, Z_NO_FLUSH);
        out->n += STEP - z.avail_out;
        if (status != Z_OK && status != Z_STREAM_END)
            break;
    }
    size_t consumed = at - z.avail_in;
    const char *why = z.msg;
    char text[80];
    snprintf(text, sizeof text, "%s", why ? why : "the stream ends too early");
    inflateEnd(&z);
    if (out->n > max) {
        buf_truncate(out, 0);
        return error_set(err, ERROR_LIMIT, "decompresses to more than the limit of %zu bytes", max);
    }
    if (out->failed)
        return buf_check(out, "decompressed data", err);
    if (status != Z_STREAM_END) {
        error_set(err, ERROR_INPUT, "not a whole gzip stream: %s", text);
        return error_at_offset(err, (int64_t)consumed);
    }
    if (consumed != gz.n) {
        error_set(err, ERROR_INPUT, "%zu bytes follow the gzip stream", gz.n - consumed);
        return error_at_offset(err, (int64_t)consumed);
    }
    if (out->p)
        out->p[out->n] = '\0';
    return 0;
}

int gz_read(struct buf *out, const char *path, size_t max, struct error *err)
{
    struct file_map m = {0};
    if (file_map_open(&m, path, max, err) < 0)
        return -1;
    int status = gz_decompress(out, str_make(m.p, m.n), max, err);
    if (status < 0)
        error_at_file(err, path);
    file_map_close(&m);
    return status;
}

static int compress_fd(int in, const char *from, int to, const char *name, struct error *err)
{
    static const size_t most = 4 * STEP;
    z_stream z;
    char piece[STEP];
    struct buf out = BUF_INIT(most);
    int status = -1;
    if (start_deflate(&z, err) < 0)
        return -1;
    for (;;) {
        ssize_t n = read(in, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            error_set_errno(err, errno, "cannot read");
            error_at_file(err, from);
            goto out;
        }
        deflate_piece(&z, &out, str_make(piece, (size_t)n), n ? Z_NO_FLUSH : Z_FINISH);
        if (buf_check(&out, "compressed data", err) < 0 ||
            file_write_all(to, buf_str(&out), name, err) < 0)
            goto out;
        buf_reset(&out);
        if (n == 0)
            break;
    }
    status = 0;
out:
    deflateEnd(&z);
    buf_release(&out);
    return status;
}

int gz_compress_file(const char *from, const char *to, struct error *err)
{
    char tmp[PATH_MAX];
    int n = snprintf(tmp, sizeof tmp, "%s.tmp", to), in = -1, fd = -1, status = -1;
    if (n < 0 || (size_t)n >= sizeof tmp) {
        error_set_errno(err, ENAMETOOLONG, "cannot write");
        return error_at_file(err, to);
    }
    in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        error_set_errno(err, errno, "cannot open");
        return error_at_file(err, from);
    }
    fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        error_set_errno(err, errno, "cannot create");
        error_at_file(err, to);
        goto out;
    }
    status = compress_fd(in, from, fd, to, err);
    if (status == 0)
        status = file_commit(fd, tmp, to, err);
out:
    close(in);
    if (fd >= 0 && close(fd) < 0 && status == 0) {
        error_set_errno(err, errno, "cannot close");
        status = error_at_file(err, to);
    }
    if (status < 0)
        unlink(tmp);
    return status;
}
