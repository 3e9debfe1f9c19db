#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP 65536

static int io_error(struct error *err, int errnum, const char *doing, const char *path)
{
    error_set_errno(err, errnum, "cannot %s", doing);
    return error_at_file(err, path);
}

static int too_big(struct error *err, const char *path, size_t max)
{
    error_set(err, ERROR_LIMIT, "larger than the limit of %zu bytes", max);
    return error_at_file(err, path);
}

static int read_fd(struct buf *out, int fd, const char *path, size_t max, struct error *err)
{
    buf_reset(out);
    out->max = max;
    for (;;) {
        size_t room = max - out->n < READ_STEP ? max - out->n : READ_STEP;
        char extra;
        char *to = room ? buf_reserve(out, room) : &extra;
        if (!to)
            return error_no_memory(err);
        ssize_t n = read(fd, to, room ? room : 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(err, errno, "read", path);
        if (n == 0)
            break;
        if (room == 0)
            return too_big(err, path, max);
        out->n += (size_t)n;
    }
    if (!buf_reserve(out, 0))
        return error_no_memory(err);
    out->p[out->n] = '\0';
    return 0;
}

static int open_input(const char *path, struct error *err)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return io_error(err, errno, "open", path);
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return io_error(err, EISDIR, "read", path);
    }
    return fd;
}

int file_read(struct buf *out, const char *path, size_t max, struct error *err)
{
    if (strcmp(path, "-") == 0)
        return read_fd(out, STDIN_FILENO, "<stdin>", max, err);
    int fd = open_input(path, err);
    if (fd < 0)
        return -1;
    int status = read_fd(out, fd, path, max, err);
    close(fd);
    return status;
}

int file_map_open(struct file_map *m, const char *path, size_t max, struct error *err)
{
    int fd = open_input(path, err), status = -1;
    struct stat st;
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0) {
        io_error(err, errno, "read", path);
        goto out;
    }
    if (S_ISREG(st.st_mode)) {
        if ((uintmax_t)st.st_size > max) {
            too_big(err, path, max);
            goto out;
        }
        if (st.st_size == 0) {
            *m = (struct file_map){0};
            status = 0;
            goto out;
        }
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            *m = (struct file_map){.p = p, .n = (size_t)st.st_size};
            status = 0;
            goto out;
        }
    }
    struct buf whole = BUF_INIT(max);
    if (read_fd(&whole, fd, path, max, err) == 0) {
        *m = (struct file_map){.p = (unsigned char *)whole.p, .n = whole.n, .heap = true};
        status = 0;
    } else {
        buf_release(&whole);
    }
out:
    close(fd);
    return status;
}

void file_map_close(struct file_map *m)
{
    if (!m || !m->p)
        return;
    if (m->heap)
        free((void *)m->p);
    else
        munmap((void *)m->p, m->n);
    *m = (struct file_map){0};
}

int file_write_all(int fd, struct str bytes, const char *name, struct error *err)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(err, errno, "write", name);
        bytes = str_skip(bytes, (size_t)n);
    }
    return 0;
}

static int sync_parent(const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof dir)
        return io_error(err, ENAMETOOLONG, "write", path);
    if (!slash)
        snprintf(dir, sizeof dir, ".");
    else if (n == 0)
        snprintf(dir, sizeof dir, "/");
    else
        snprintf(dir, sizeof dir, "%.*s", (int)n, path);
    int fd = open(dir, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_error(err, errno, "open", dir);
    /* Some file systems cannot sync a directory and say EINVAL; the rename stands all the same. */
    int failed = fsync(fd) < 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return failed ? io_error(err, failed, "flush", dir) : 0;
}

int file_commit(int fd, const char *from, const char *to, struct error *err)
{
    if (fsync(fd) < 0 && errno != EINVAL)
        return io_error(err, errno, "flush", from);
    if (rename(from, to) < 0)
        return io_error(err, errno, "rename to its final name", to);
    return sync_parent(to, err);
}

int file_write_atomic(const char *path, struct str bytes, struct error *err)
{
    char tmp[PATH_MAX];
    int n = snprintf(tmp, sizeof tmp, "%s.tmp", path);
    if (n < 0 || (size_t)n >= sizeof tmp)
        return io_error(err, ENAMETOOLONG, "write", path);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return io_error(err, errno, "create", path);
    int status = file_write_all(fd, bytes, path, err);
    if (status == 0)
        status = file_commit(fd, tmp, path, err);
    if (close(fd) < 0 && status == 0)
        status = io_error(err, errno, "close", path);
    if (status < 0)
        unlink(tmp);
    return status;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

int dir_make(const char *path, struct error *err)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part)
        return io_error(err, n ? ENAMETOOLONG : ENOENT, "create directory", path);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return io_error(err, errno, "create directory", part);
    }
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return io_error(err, ENOTDIR, "create directory", path);
    return 0;
}

bool dir_is_free(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return errno == ENOENT;
    bool found = false;
    for (struct dirent *e; !found && (e = readdir(d));)
        found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return !found;
}

int path_join(struct buf *out, const char *dir, const char *name, struct error *err)
{
    buf_reset(out);
    buf_adds(out, dir);
    if (out->n && out->p[out->n - 1] != '/')
        buf_addc(out, '/');
    buf_adds(out, name);
    return buf_check(out, "path", err);
}
