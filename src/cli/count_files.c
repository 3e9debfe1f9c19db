#include "cli/count_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/live.h"
#include "cli/run_progress.h"

#define TICK_NS (250 * NS_PER_MS)
#define QUIET_NS NS_PER_S /* work that ends sooner shows no progress */

struct input {
    int fd;
    const char *name;
};

static ssize_t read_input(void *ctx, void *to, size_t n, struct error *err)
{
    const struct input *in = ctx;
    return file_read_some(in->fd, to, n, in->name, err);
}

const char *count_file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

/* What became of one part of f. */
static int take(struct count_file *f, const struct token_ids *ids, size_t bytes,
                const struct count_parts *parts, struct error *err)
{
    f->tokens += ids->n;
    f->replaced += ids->replaced;
    f->bytes += bytes;
    if (parts->ids && parts->ids(parts->ctx, ids, err) < 0)
        return -1;
    if (parts->goes_on && !parts->goes_on(parts->ctx, bytes))
        return error_set(err, ERROR_INTERRUPTED, "stopped, as another file failed");
    return 0;
}

static int count_parts_of(struct count_file *f, struct token_stream *s,
                          const struct count_parts *parts, struct error *err)
{
    struct token_ids ids = {0};
    size_t before = 0;
    int got;

    while ((got = token_stream_next(s, &ids, err)) > 0) {
        got = take(f, &ids, s->bytes - before, parts, err);
        before = s->bytes;
        if (got < 0)
            break;
    }
    token_ids_release(&ids);
    return got;
}

static int count_whole(struct count_file *f, const struct tokenizer *t,
                       const struct encode_options *how, const struct count_parts *parts,
                       struct error *err)
{
    struct token_ids ids = {0};
    struct file_map map;
    int rc = -1;

    if (file_map_open(&map, f->path, COUNT_WHOLE_MAX, err) < 0)
        return -1;
    if (tokenizer_encode(t, str_make(map.p, map.n), how, &ids, err) == 0)
        rc = take(f, &ids, map.n, parts, err);
    token_ids_release(&ids);
    file_map_close(&map);
    return rc;
}

static int count_opened(struct count_file *f, struct input *in, const struct tokenizer *t,
                        const struct encode_options *how, const struct count_parts *parts,
                        struct error *err)
{
    struct token_source source = {read_input, in};
    struct token_stream s;
    int rc;

    if (token_stream_init(&s, t, how, source, err) < 0)
        return -1;
    rc = !s.rules.any && in->fd != STDIN_FILENO ? count_whole(f, t, how, parts, err)
                                                : count_parts_of(f, &s, parts, err);
    token_stream_release(&s);
    return rc;
}

int count_file(struct count_file *f, const struct tokenizer *t, const struct encode_options *how,
               const struct count_parts *parts, struct error *err)
{
    struct input in = {STDIN_FILENO, count_file_name(f->path)};
    int rc;

    f->bytes = f->tokens = f->replaced = 0;
    if (strcmp(f->path, "-") != 0 && (in.fd = file_open(f->path, err)) < 0)
        return -1;
    rc = count_opened(f, &in, t, how, parts, err);
    if (in.fd != STDIN_FILENO)
        close(in.fd);
    return rc < 0 ? error_at_file(err, in.name) : 0;
}

/* Several files at a time; the lock is over all that changes. The caller's thread prints, the
 * others count. */
struct crowd {
    const struct count_work *work;
    struct count_file *files;
    bool *ended;
    size_t n, next, failed; /* failed: index of the first that did, else n */
    struct error err;       /* of that one */
    int64_t bytes;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

struct worker {
    struct crowd *crowd;
    size_t at; /* the file it is at */
};

/* Files are begun in order, so those in front of one that failed are all under way: they go on to
 * their end, what stands behind stops. */
static bool goes_on(void *ctx, size_t bytes)
{
    const struct worker *w = ctx;
    struct crowd *c = w->crowd;
    bool on;

    pthread_mutex_lock(&c->lock);
    c->bytes += (int64_t)bytes;
    on = w->at < c->failed;
    pthread_mutex_unlock(&c->lock);
    return on;
}

static void *work_on(void *arg)
{
    struct crowd *c = arg;
    struct worker w = {.crowd = c};
    struct count_parts parts = {.ctx = &w, .goes_on = goes_on};

    pthread_mutex_lock(&c->lock);
    while (c->next < c->n && c->failed == c->n) {
        struct error err = {0};
        int rc;
        w.at = c->next++;
        pthread_mutex_unlock(&c->lock);
        rc = count_file(&c->files[w.at], c->work->t, &c->work->how, &parts, &err);
        pthread_mutex_lock(&c->lock);
        c->ended[w.at] = true;
        if (rc < 0 && w.at < c->failed) {
            c->failed = w.at;
            c->err = err;
        }
        pthread_cond_signal(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Bytes of all files together; -1 when that is not known beforehand. */
static int64_t bytes_in_all(const struct count_file *files, size_t n)
{
    int64_t sum = 0;
    struct stat st;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(files[i].path, "-") == 0 || stat(files[i].path, &st) < 0 || !S_ISREG(st.st_mode))
            return -1;
        sum += (int64_t)st.st_size;
    }
    return sum;
}

static void add_mb(struct buf *b, int64_t bytes)
{
    buf_addf(b, "%lld.%lld MB", (long long)(bytes / 1000000), (long long)(bytes / 100000 % 10));
}

static void show_progress(struct live *live, const struct crowd *c, size_t files_done,
                          int64_t all_bytes, int64_t spent_ns)
{
    struct buf b = BUF_INIT(256);
    double rate = (double)c->bytes * NS_PER_S / (double)spent_ns; /* bytes a second */

    buf_addf(&b, "%zu of %zu file%s  ", files_done, c->n, c->n == 1 ? "" : "s");
    add_mb(&b, c->bytes);
    if (all_bytes >= 0) {
        buf_adds(&b, " of ");
        add_mb(&b, all_bytes);
    }
    buf_addf(&b, "  %.1f MB/s", rate / 1e6);
    if (all_bytes > c->bytes && rate > 0) {
        char left[32];
        run_duration_text(left, (int64_t)((double)(all_bytes - c->bytes) / rate * NS_PER_S));
        buf_addf(&b, "  left %s", left);
    }
    live_show(live, buf_str(&b));
    buf_release(&b);
}

/* Tells of each file in order, as soon as those in front of it have ended too, and shows how far
 * the work is. */
static void wait_for_all(struct crowd *c)
{
    struct live live = {.cli = c->work->cli};
    int64_t begin_ns = clock_mono_ns(), next_ns = begin_ns + QUIET_NS;
    int64_t all_bytes = bytes_in_all(c->files, c->n);

    pthread_mutex_lock(&c->lock);
    for (size_t done = 0; done < c->n && done < c->failed;) {
        int64_t now_ns = clock_mono_ns();
        if (c->ended[done]) {
            pthread_mutex_unlock(&c->lock);
            live_clear(&live);
            c->work->done(c->work->ctx, &c->files[done++]);
            pthread_mutex_lock(&c->lock);
            continue;
        }
        if (now_ns >= next_ns) {
            show_progress(&live, c, done, all_bytes, now_ns - begin_ns);
            next_ns = now_ns + TICK_NS;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)TICK_NS;
        until.tv_sec += until.tv_nsec / (long)NS_PER_S;
        until.tv_nsec %= (long)NS_PER_S;
        pthread_cond_timedwait(&c->changed, &c->lock, &until);
    }
    pthread_mutex_unlock(&c->lock);
    live_clear(&live);
}

static size_t threads_for(const struct count_work *work, size_t files)
{
    long n = work->jobs > 0 ? (long)work->jobs : sysconf(_SC_NPROCESSORS_ONLN);

    if (n < 1)
        n = 1;
    if (n > COUNT_JOBS_MAX)
        n = COUNT_JOBS_MAX;
    return (size_t)n < files ? (size_t)n : files;
}

/* With fewer threads than asked for the work is done all the same. */
static int run_crowd(struct crowd *c, struct error *err)
{
    pthread_t thread[COUNT_JOBS_MAX];
    size_t wanted = threads_for(c->work, c->n), begun = 0;

    while (begun < wanted && pthread_create(&thread[begun], NULL, work_on, c) == 0)
        begun++;
    if (begun == 0)
        return error_set(err, ERROR_ENVIRONMENT, "no thread could be started");
    wait_for_all(c);
    for (size_t i = 0; i < begun; i++)
        pthread_join(thread[i], NULL);
    if (c->failed < c->n) {
        *err = c->err;
        return -1;
    }
    return 0;
}

int count_files(const struct count_work *work, struct count_file *files, size_t n,
                struct error *err)
{
    struct crowd c = {.work = work, .files = files, .n = n, .failed = n};
    int rc;

    if (n == 0)
        return 0;
    c.ended = calloc(n, sizeof c.ended[0]);
    if (!c.ended)
        return error_no_memory(err);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    rc = run_crowd(&c, err);
    pthread_cond_destroy(&c.changed);
    pthread_mutex_destroy(&c.lock);
    free(c.ended);
    return rc;
}
