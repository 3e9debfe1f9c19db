#include "receipt/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/utf8.h"
#include "receipt/envelope.h"

#define NAMES_BYTES ((size_t)64 << 20)
#define PATH_BYTES 4096

struct walk {
    struct file_list *list;
    const char *dir, *except;
    struct buf path; /* dir/relative */
};

static int refuse(struct walk *w, const char *why, struct error *err)
{
    error_set(err, ERROR_REFUSED, "the run directory holds %s", why);
    error_rule(err, "directory");
    error_remedy(err, "keep only what tally wrote in a run directory");
    return error_at_file(err, w->path.p);
}

/* What a kill in the middle of signing leaves: the receipt stands, unsigned. Beside an envelope it
 * is a file that nobody signed. */
static bool is_cut_signing(struct walk *w, struct str name)
{
    struct buf envelope = BUF_INIT(PATH_BYTES);
    struct error ignored;
    struct stat st;
    bool cut = str_eq(name, STR(ENVELOPE_NAME ".tmp")) &&
               path_join(&envelope, w->dir, ENVELOPE_NAME, &ignored) == 0 &&
               lstat(envelope.p, &st) < 0 && errno == ENOENT;
    buf_release(&envelope);
    return cut;
}

static int take_file(struct walk *w, size_t root, struct error *err)
{
    struct file_list *l = w->list;
    struct str name = str_skip(buf_str(&w->path), root);
    if (w->except && str_eq(name, str_of(w->except)))
        return 0;
    if (is_cut_signing(w, name))
        return 0;
    if (str_ends(name, STR(".tmp")))
        return refuse(w, "a file whose writing was interrupted", err);
    if (!utf8_valid(name))
        return refuse(w, "a file whose name is not UTF-8", err);
    if (l->n == ENVELOPE_FILES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d files in the run directory",
                         ENVELOPE_FILES_MAX);
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct file_entry *p = realloc(l->files, cap * sizeof *p);
        if (!p)
            return error_no_memory(err);
        l->files = p;
        l->cap = cap;
    }
    struct file_entry *e = &l->files[l->n];
    e->name = arena_str(&l->arena, name);
    if (!e->name.p)
        return arena_check(&l->arena, "the list of files", err);
    if (sha256_file_hex(e->sha256, w->path.p, err) < 0)
        return -1;
    l->n++;
    return 0;
}

static int walk_dir(struct walk *w, size_t root, unsigned depth, struct error *err)
{
    DIR *d = opendir(w->path.p);
    size_t here = w->path.n;
    int status = 0;
    if (!d) {
        error_set_errno(err, errno, "cannot read the run directory");
        return error_at_file(err, w->path.p);
    }
    for (struct dirent *e; status == 0 && (errno = 0, e = readdir(d));) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        buf_addc(&w->path, '/');
        buf_adds(&w->path, e->d_name);
        if (buf_check(&w->path, "a path of the run directory", err) < 0)
            status = -1;
        else if (lstat(w->path.p, &st) < 0) {
            error_set_errno(err, errno, "cannot read the run directory");
            status = error_at_file(err, w->path.p);
        } else if (S_ISREG(st.st_mode))
            status = take_file(w, root, err);
        else if (!S_ISDIR(st.st_mode))
            status = refuse(w, "something that is neither file nor folder", err);
        else if (depth == ENVELOPE_DEPTH_MAX)
            status = refuse(w, "folders nested too deeply", err);
        else
            status = walk_dir(w, root, depth + 1, err);
        buf_truncate(&w->path, here);
    }
    closedir(d);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct file_entry *)a)->name, ((const struct file_entry *)b)->name);
}

int file_list_read(struct file_list *list, const char *dir, const char *except, struct error *err)
{
    struct walk w = {.list = list, .dir = dir, .except = except, .path = BUF_INIT(PATH_BYTES)};
    *list = (struct file_list){0};
    arena_init(&list->arena, NAMES_BYTES);
    buf_adds(&w.path, dir);
    while (w.path.n > 1 && w.path.p[w.path.n - 1] == '/')
        buf_truncate(&w.path, w.path.n - 1);
    int status = buf_check(&w.path, "the path of the run directory", err);
    if (status == 0)
        status = walk_dir(&w, w.path.n + 1, 0, err);
    buf_release(&w.path);
    if (status < 0)
        file_list_release(list);
    else if (list->n)
        qsort(list->files, list->n, sizeof list->files[0], by_name);
    return status;
}

void file_list_release(struct file_list *list)
{
    if (!list)
        return;
    free(list->files);
    arena_release(&list->arena);
    *list = (struct file_list){0};
}
