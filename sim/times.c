#include "times.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

#define LINE_MAX_BYTES 96

int times_open(struct times *t, const char *path, struct error *err)
{
    *t = (struct times){.fd = -1, .path = path, .text = BUF_INIT(TIMES_BUFFER + LINE_MAX_BYTES)};
    t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (t->fd < 0) {
        error_set_errno(err, errno, "cannot write the log of send times");
        return error_at_file(err, path);
    }
    return 0;
}

static void write_out(struct times *t)
{
    if (t->failed.kind == ERROR_NONE && t->text.n > 0 &&
        file_write_all(t->fd, buf_str(&t->text), t->path, &t->failed) < 0)
        error_at_file(&t->failed, t->path);
    buf_reset(&t->text);
}

void times_add(struct times *t, int64_t request, int64_t token, int64_t before_ns, int64_t after_ns)
{
    buf_addf(&t->text, "%lld %lld %lld %lld\n", (long long)request, (long long)token,
             (long long)before_ns, (long long)after_ns);
    if (t->text.n >= TIMES_BUFFER)
        write_out(t);
}

int times_close(struct times *t, struct error *err)
{
    if (t->fd < 0)
        return 0;
    write_out(t);
    if (t->failed.kind == ERROR_NONE && close(t->fd) < 0) {
        error_set_errno(&t->failed, errno, "cannot write the log of send times");
        error_at_file(&t->failed, t->path);
    }
    t->fd = -1;
    if (t->failed.kind == ERROR_NONE)
        return 0;
    *err = t->failed;
    return -1;
}

void times_release(struct times *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    buf_release(&t->text);
}
