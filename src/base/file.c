#define _XOPEN_SOURCE 700 /* realpath, which POSIX has among its X/Open extensions */

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

ssize_t file_read_some(int fd, void *to, size_t n, const char *path, struct error *err)
{
    ssize_t got;
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? io_error(err, errno, "read", path) : got;
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
        ssize_t n = file_read_some(fd, to, room ? room : 1, path, err);
        if (n < 0)
            return -1;
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

int file_open(const char *path, struct error *err)
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
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : file_open(path, err), status = -1;
    if (fd >= 0)
        status = read_fd(out, fd, standard ? "<stdin>" : path, max, err);
    if (status < 0)
        buf_reset(out);
    if (fd >= 0 && !standard)
        close(fd);
    return status;
}

int file_map_open(struct file_map *m, const char *path, size_t max, struct error *err)
{
    int fd = file_open(path, err), status = -1;
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
        /* Files of /proc say 0 and hold something: those are read. */
        void *p =
            st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
        if (p != MAP_FAILED) {
            *m = (struct file_map){.p = p, .n = (size_t)st.st_size};
            status = 0;
            goto out;
        }
    }
    if (max > FILE_HEAP_MAX)
        max = FILE_HEAP_MAX;
    struct buf whole = BUF_INIT(max);
    status = read_fd(&whole, fd, path, max, err);
    if (status == 0)
        *m = (struct file_map){.p = (unsigned char *)whole.p, .n = whole.n, .heap = true};
    if (status < 0 || whole.n == 0) {
        buf_release(&whole);
        if (status == 0)
            *m = (struct file_map){0};
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
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            poll(&ready, 1, -1);
            continue;
        }
        if (n < 0)
            return io_error(err, errno, "write", name);
        bytes = str_skip(bytes, (size_t)n);
    }
    return 0;
}

static int sync_parent(const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    char dir[FILE_PATH_MAX];
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
    if (fd < 0 && errno == EACCES)
        return 0; /* a directory that may be written but not read cannot be synced */
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

/* Where a write to `path` really goes: through a symbolic link to the file behind it. */
static int resolve(char out[FILE_PATH_MAX], const char *path, struct error *err)
{
    struct stat st;
    char *real = NULL;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        real = realpath(path, NULL);
    int n = snprintf(out, FILE_PATH_MAX, "%s", real ? real : path);
    free(real);
    if (n < 0 || n >= FILE_PATH_MAX)
        return io_error(err, ENAMETOOLONG, "write", path);
    return 0;
}

int file_out_open(struct file_out *o, const char *path, struct error *err)
{
    struct stat st;
    if (resolve(o->path, path, err) < 0)
        return -1;
    bool exists = stat(o->path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return io_error(err, EISDIR, "write", path);
    o->in_place = exists && !S_ISREG(st.st_mode);
    int n = snprintf(o->tmp, sizeof o->tmp, "%s%s", o->path, o->in_place ? "" : ".tmp");
    if (n < 0 || (size_t)n >= sizeof o->tmp)
        return io_error(err, ENAMETOOLONG, "write", path);
    if (o->in_place) {
        o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
    } else {
        unlink(o->tmp); /* what a run that was cut off left, or a link laid there by another */
        o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd >= 0 && exists && fchmod(o->fd, st.st_mode & 07777) < 0) {
            int errnum = errno;
            file_out_discard(o);
            return io_error(err, errnum, "set the permissions of", path);
        }
    }
    return o->fd < 0 ? io_error(err, errno, "create", path) : 0;
}

int file_out_commit(struct file_out *o, struct error *err)
{
    int status = o->in_place ? 0 : file_commit(o->fd, o->tmp, o->path, err);
    int fd = o->fd;
    o->fd = -1;
    if (close(fd) < 0 && status == 0)
        status = io_error(err, errno, "close", o->path);
    if (status < 0 && !o->in_place)
        unlink(o->tmp);
    return status;
}

void file_out_discard(struct file_out *o)
{
    if (!o || o->fd < 0)
        return;
    close(o->fd);
    o->fd = -1;
    if (!o->in_place)
        unlink(o->tmp);
}

int file_write_atomic(const char *path, struct str bytes, struct error *err)
{
    struct file_out out;
    if (file_out_open(&out, path, err) < 0)
        return -1;
    if (file_write_all(out.fd, bytes, path, err) < 0) {
        file_out_discard(&out);
        return -1;
    }
    return file_out_commit(&out, err);
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

int dir_make(const char *path, struct error *err)
{
    char part[FILE_PATH_MAX];
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
