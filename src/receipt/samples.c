#include "receipt/samples.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "codec/gz.h"
#include "metrics/metrics.h"
#include "receipt/receipt.h"

int samples_create(struct samples_out *o, const char *path, struct error *err)
{
    *o = (struct samples_out){
        .fd = -1, .line = BUF_INIT(SAMPLE_LINE_MAX), .sources = ~0u, .ways = ~0u};
    int n = snprintf(o->path, sizeof o->path, "%s", path);
    if (n < 0 || (size_t)n >= sizeof o->path)
        return error_set(err, ERROR_LIMIT, "the path of a sample file is too long: %.200s…", path);
    o->fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd >= 0)
        return 0;
    error_set_errno(err, errno, "cannot create");
    return error_at_file(err, o->path);
}

int samples_add(struct samples_out *o, const struct sample *s, struct error *err)
{
    struct json_writer w;
    if (sample_check(s, err) < 0)
        return error_wrap(err, "sample %lld cannot be written", (long long)s->seq);
    buf_reset(&o->line);
    json_writer_init(&w, &o->line, 0);
    sample_write(s, &w);
    buf_addc(&o->line, '\n');
    if (json_writer_check(&w, "a sample", err) < 0)
        return -1;
    /* One write a line: what is killed in between loses at most the line it was at. */
    if (file_write_all(o->fd, buf_str(&o->line), o->path, err) < 0)
        return -1;
    o->written++;
    o->sources &= metrics_sources(s, 1);
    o->ways &= metrics_ways(s, 1);
    return 0;
}

int samples_finish(struct samples_out *o, char sha256[SHA256_HEX], struct error *err)
{
    char gz[FILE_PATH_MAX + 4];
    int fd = o->fd, status = 0;
    snprintf(gz, sizeof gz, "%s.gz", o->path);
    o->fd = -1;
    buf_release(&o->line);
    if (close(fd) < 0) {
        error_set_errno(err, errno, "cannot close");
        status = error_at_file(err, o->path);
    }
    if (status == 0)
        status = gz_compress_file(o->path, gz, err);
    if (status == 0)
        status = sha256_file_hex(sha256, gz, err);
    if (status == 0 && unlink(o->path) < 0) {
        error_set_errno(err, errno, "cannot remove the plain sample file");
        status = error_at_file(err, o->path);
    }
    return status;
}

void samples_abandon(struct samples_out *o)
{
    if (!o)
        return;
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
    buf_release(&o->line);
}
