#include "codec/gz.h"

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"

#define GZIP_WINDOW (15 + 16) /* 32 KiB window, gzip framing */
#define STEP 65536
#define OUTPUT_MAX ((size_t)4 * STEP) /* of one STEP of input, with what deflate had held back */

static int start_deflate(z_stream *z, struct error *err)
{
    *z = (z_stream){0};
    if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return error_no_memory(err);
    return 0;
}

/* Room for output, at most STEP; at the maximum still one byte, in `extra`, to see whether more
 * would come. */
static size_t take_room(struct buf *out, z_stream *z, unsigned char *extra)
{
    size_t left = out->max - out->n, room = left < STEP ? left : STEP;
    char *to = room ? buf_reserve(out, room) : (char *)extra;
    if (!to)
        return 0;
    z->next_out = (Bytef *)to;
    z->avail_out = room ? (uInt)room : 1;
    return room ? room : 1;
}

/* What was written into that room counts; false when it was the one byte past the maximum. */
static bool keep_output(struct buf *out, const z_stream *z, size_t room)
{
    size_t got = room - z->avail_out;
    if (got > out->max - out->n) {
        out->failed = BUF_TOO_LONG;
        return false;
    }
    out->n += got;
    return true;
}

/* Runs deflate over one piece of input until it asks for more (or, at the end, is done). A failure
 * stays in `out`. */
static void deflate_piece(z_stream *z, struct buf *out, struct str piece, int flush)
{
    unsigned char extra;
    z->next_in = (Bytef *)(void *)(uintptr_t)piece.p;
    z->avail_in = (uInt)piece.n;
    int status;
    do {
        size_t room = out->failed ? 0 : take_room(out, z, &extra);
        if (room == 0)
            return;
        status = deflate(z, flush);
        if (!keep_output(out, z, room))
            return;
    } while (z->avail_out == 0 || (flush == Z_FINISH && status != Z_STREAM_END));
}

int gz_compress(struct buf *out, struct str bytes, struct error *err)
{
    z_stream z;
    buf_reset(out);
    if (start_deflate(&z, err) < 0)
        return -1;
    while (bytes.n > STEP && !out->failed) {
        deflate_piece(&z, out, str_first(bytes, STEP), Z_NO_FLUSH);
        bytes = str_skip(bytes, STEP);
    }
    deflate_piece(&z, out, bytes, Z_FINISH);
    deflateEnd(&z);
    if (buf_check(out, "compressed data", err) < 0) {
        buf_reset(out);
        return -1;
    }
    out->p[out->n] = '\0';
    return 0;
}

/* Inflates gz into out; the last status of zlib, and how many bytes of gz were used. */
static int inflate_all(z_stream *z, struct buf *out, struct str gz, size_t *used)
{
    int status = Z_OK;
    size_t at = 0;
    while (status == Z_OK) {
        unsigned char extra;
        size_t room = take_room(out, z, &extra);
        if (room == 0)
            break;
        if (z->avail_in == 0 && at < gz.n) {
            struct str piece = str_first(str_skip(gz, at), STEP);
            z->next_in = (Bytef *)(void *)(uintptr_t)piece.p;
            z->avail_in = (uInt)piece.n;
            at += piece.n;
        }
        status = inflate(z, Z_NO_FLUSH);
        if (!keep_output(out, z, room))
            break;
    }
    *used = at - z->avail_in;
    return status;
}

int gz_decompress(struct buf *out, struct str gz, size_t max, struct error *err)
{
    z_stream z = {0};
    size_t used;
    buf_reset(out);
    out->max = max;
    if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
        return error_no_memory(err);
    int status = inflate_all(&z, out, gz, &used);
    if (out->failed == BUF_TOO_LONG) {
        error_set(err, ERROR_LIMIT, "decompresses to more than the limit of %zu bytes", max);
    } else if (out->failed || status == Z_MEM_ERROR) {
        error_no_memory(err);
    } else if (status != Z_STREAM_END) {
        error_set(err, ERROR_INPUT, "not a whole gzip stream: %s",
                  z.msg ? z.msg : "it ends too early");
        error_at_offset(err, (int64_t)used);
        error_remedy(err, "the file is damaged or no gzip file; fetch or make it again");
    } else if (used != gz.n) {
        error_set(err, ERROR_INPUT, "%zu bytes follow the gzip stream", gz.n - used);
        error_at_offset(err, (int64_t)used);
        error_remedy(err, "only files of one gzip member are read; compress the whole again");
    } else {
        inflateEnd(&z);
        if (out->p)
            out->p[out->n] = '\0';
        return 0;
    }
    inflateEnd(&z);
    buf_reset(out);
    return -1;
}

int gz_read(struct buf *out, const char *path, size_t max, struct error *err)
{
    /* Bytes that do not compress take a little more room than they are long. */
    size_t slack = max / 1024 + 4096, packed_max = max < SIZE_MAX - slack ? max + slack : SIZE_MAX;
    struct file_map m = {0};
    if (file_map_open(&m, path, packed_max, err) < 0)
        return -1;
    int status = gz_decompress(out, str_make(m.p, m.n), max, err);
    if (status < 0)
        error_at_file(err, path);
    file_map_close(&m);
    return status;
}

static int compress_fd(int in, const char *from, int to, const char *name, struct error *err)
{
    z_stream z;
    char piece[STEP];
    struct buf out = BUF_INIT(OUTPUT_MAX);
    ssize_t n;
    int status = -1;
    if (start_deflate(&z, err) < 0)
        return -1;
    do {
        n = file_read_some(in, piece, sizeof piece, from, err);
        if (n < 0)
            goto out;
        deflate_piece(&z, &out, str_make(piece, (size_t)n), n ? Z_NO_FLUSH : Z_FINISH);
        if (buf_check(&out, "compressed data", err) < 0 ||
            file_write_all(to, buf_str(&out), name, err) < 0)
            goto out;
        buf_reset(&out);
    } while (n > 0);
    status = 0;
out:
    deflateEnd(&z);
    buf_release(&out);
    return status;
}

int gz_compress_file(const char *from, const char *to, struct error *err)
{
    struct file_out out;
    int status = -1, in = file_open(from, err);
    if (in < 0)
        return -1;
    if (file_out_open(&out, to, err) == 0) {
        if (compress_fd(in, from, out.fd, to, err) == 0)
            status = file_out_commit(&out, err);
        file_out_discard(&out);
    }
    close(in);
    return status;
}
