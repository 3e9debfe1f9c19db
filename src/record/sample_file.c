#include "record/sample_file.h"

#include <stdlib.h>
#include <string.h>

#include "codec/gz_lines.h"
#include "record/sample_reader.h"

struct sample_file {
    struct gz_lines *lines;
    struct sample_reader *reader;
    char *path;
    size_t n;
    bool cut;
};

int sample_file_open(struct sample_file **out, const char *path, struct error *err)
{
    struct sample_file *f = calloc(1, sizeof *f);
    const struct gz_lines_limits limits = {SAMPLE_LINE_MAX, SAMPLE_FILE_MAX};
    if (!f)
        return error_no_memory(err);
    f->reader = sample_reader_new();
    f->path = malloc(strlen(path) + 1);
    if (!f->reader || !f->path) {
        sample_file_close(f);
        return error_no_memory(err);
    }
    memcpy(f->path, path, strlen(path) + 1);
    if (gz_lines_open(&f->lines, path, &limits, err) < 0) {
        sample_file_close(f);
        return -1;
    }
    *out = f;
    return 0;
}

void sample_file_close(struct sample_file *f)
{
    if (!f)
        return;
    gz_lines_free(f->lines);
    sample_reader_free(f->reader);
    free(f->path);
    free(f);
}

bool sample_file_cut(const struct sample_file *f)
{
    return f->cut;
}

int sample_file_next(struct sample_file *f, struct sample *s, struct arena *arena,
                     struct error *err)
{
    struct str line;
    int got = gz_lines_next(f->lines, &line, err);
    if (got <= 0)
        return got;
    int64_t number = gz_lines_number(f->lines);
    if (gz_lines_unterminated(f->lines) && !gz_lines_compressed(f->lines)) {
        f->cut = true;
        return 0;
    }
    if (gz_lines_unterminated(f->lines))
        error_set(err, ERROR_INPUT, "the last line is not ended");
    else if (f->n == SAMPLE_FILE_SAMPLES)
        error_set(err, ERROR_LIMIT, "more than the limit of %zu samples", SAMPLE_FILE_SAMPLES);
    else if (sample_reader_text(f->reader, line, s, arena, err) == 0) {
        f->n++;
        return 1;
    }
    /* A place within the line: its column stays, its line is the file's. */
    error_at_line(err, number, err->column);
    return error_at_file(err, f->path);
}

int sample_file_read(struct sample **samples, size_t *n, bool *cut, const char *path,
                     struct arena *arena, struct error *err)
{
    struct sample_file *f;
    struct sample *list = NULL, *moved;
    size_t have = 0, cap = 0;
    int got = -1;
    if (sample_file_open(&f, path, err) < 0)
        return -1;
    for (;;) {
        if (have == cap) {
            cap = cap ? cap * 2 : 64;
            struct sample *more = realloc(list, cap * sizeof *list);
            if (!more) {
                got = error_no_memory(err);
                break;
            }
            list = more;
        }
        got = sample_file_next(f, &list[have], arena, err);
        if (got <= 0)
            break;
        have++;
    }
    if (got == 0 && !(moved = arena_array(arena, have, sizeof *moved)))
        got = arena_check(arena, "samples", err);
    if (got == 0) {
        if (have > 0)
            /* NOLINTNEXTLINE(clang-analyzer-*): a failed arena makes got negative */
            memcpy(moved, list, have * sizeof *moved);
        *samples = moved;
        *n = have;
        if (cut)
            *cut = f->cut;
    }
    free(list);
    sample_file_close(f);
    return got;
}
