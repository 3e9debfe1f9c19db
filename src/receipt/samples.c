#include "receipt/samples.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "codec/gz.h"
#include "metrics/metrics.h"
#include "receipt/receipt.h"

#define LINE_ARENA ((size_t)1 << 30)
#define LINE_LEAST 96 /* bytes: no line that holds every needed member is shorter */

int samples_create(struct samples_out *o, const char *path, struct error *err)
{
    *o = (struct samples_out){.fd = -1, .line = BUF_INIT(SAMPLE_LINE_MAX), .sources = ~0u};
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

static size_t count_lines(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

static int at_line(struct error *err, const char *name, int64_t line)
{
    error_at_line(err, line, err->column > 0 && err->line == 1 ? err->column : 0);
    err->offset = 0;
    return error_at_file(err, name);
}

static int parse_line(struct sample *s, struct str line, struct arena *scratch, struct arena *arena,
                      struct error *err)
{
    const struct json_limits limits = {SAMPLE_LINE_MAX, (size_t)32 << 20, 8};
    const struct json *doc;
    arena_reset(scratch);
    if (json_parse(&doc, line, &limits, scratch, err) < 0)
        return -1;
    return sample_read(s, doc, arena, err);
}

int samples_parse(struct samples *out, struct str text, const char *name, bool may_be_cut,
                  struct arena *arena, struct error *err)
{
    size_t cap = count_lines(text), n = 0;
    bool whole = text.n == 0 || text.p[text.n - 1] == '\n';
    struct sample *items;
    int64_t *lines;
    struct arena scratch;
    int status = -1;
    if (!whole && !may_be_cut) {
        error_set(err, ERROR_INPUT, "the last line does not end");
        return at_line(err, name, (int64_t)cap + 1);
    }
    if (cap > METRICS_SAMPLES_MAX) {
        error_set(err, ERROR_LIMIT, "more than %zu samples", METRICS_SAMPLES_MAX);
        return error_at_file(err, name);
    }
    /* Room for what can be valid, so that a file of nothing but line feeds asks for none. */
    size_t room = text.n / LINE_LEAST + 1;
    items = arena_array(arena, room, sizeof *items);
    lines = arena_array(arena, room, sizeof *lines);
    if (!items || !lines)
        return arena_check(arena, "samples", err);
    arena_init(&scratch, LINE_ARENA);
    for (struct str line; n < cap; n++) {
        str_cut(text, '\n', &line, &text);
        if (line.n > SAMPLE_LINE_MAX)
            error_set(err, ERROR_LIMIT, "longer than %zu bytes", SAMPLE_LINE_MAX);
        else if (n == room)
            error_set(err, ERROR_INPUT, "no sample fits in so few bytes");
        else if (parse_line(&items[n], line, &scratch, arena, err) == 0) {
            lines[n] = (int64_t)n + 1;
            continue;
        }
        at_line(err, name, (int64_t)n + 1);
        goto out;
    }
    *out = (struct samples){.items = items, .lines = lines, .n = n, .cut = !whole};
    status = 0;
out:
    arena_release(&scratch);
    return status;
}

int samples_read(struct samples *out, const char *path, struct arena *arena, struct error *err)
{
    struct buf text = BUF_INIT(RECEIPT_SAMPLES_MAX);
    bool gz = str_ends(str_of(path), STR(".gz"));
    int status = gz ? gz_read(&text, path, RECEIPT_SAMPLES_MAX, err)
                    : file_read(&text, path, RECEIPT_SAMPLES_MAX, err);
    if (status == 0)
        status = samples_parse(out, buf_str(&text), path, !gz, arena, err);
    buf_release(&text);
    return status;
}
