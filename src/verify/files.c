/* The files of the directory against those that the receipt lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/note.h"

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct file_entry *)a)->name, ((const struct file_entry *)b)->name);
}

const char *verify_digest_of(const struct verify_work *w, struct str name)
{
    struct file_entry key = {.name = name};
    const struct file_entry *found =
        w->files.n ? bsearch(&key, w->files.files, w->files.n, sizeof key, by_name) : NULL;
    return found ? found->sha256 : NULL;
}

static void check_one(struct verify_work *w, const char *name, const char *stated, const char *path)
{
    const char *now = verify_digest_of(w, str_of(name));
    const struct verify_place at = {.file = name, .path = path};
    if (!now)
        verify_fail(w->report, VERIFY_DIGESTS, &at, "is listed and is not there");
    else if (strcmp(now, stated) != 0)
        verify_fail(w->report, VERIFY_DIGESTS, &at, "its digest is %.16s…, the receipt says %.16s…",
                    now, stated);
}

static void check_digests(struct verify_work *w)
{
    const struct receipt_read *r = &w->receipt;
    char path[64];
    size_t beside = 0;
    for (size_t i = 0; i < r->run.bands_n; i++) {
        snprintf(path, sizeof path, "bands.%zu.samples.sha256", i);
        check_one(w, r->run.bands[i].sample_file, r->run.bands[i].sample_sha256, path);
        if (!r->run.bands[i].server.file)
            continue;
        snprintf(path, sizeof path, "bands.%zu.server.sha256", i);
        check_one(w, r->run.bands[i].server.file, r->run.bands[i].server.sha256, path);
        beside++;
    }
    if (r->run.calibration.file) {
        check_one(w, r->run.calibration.file, r->run.calibration.sha256, "calibration.sha256");
        beside++;
    }
    for (size_t i = 0; i < r->files_n; i++) {
        snprintf(path, sizeof path, "files.%zu.sha256", i);
        check_one(w, r->files[i].name, r->files[i].sha256, path);
    }
    verify_pass(w->report, VERIFY_DIGESTS, "%zu files as listed",
                r->run.bands_n + beside + r->files_n);
}

/* The names that may lie there, sorted; NULL when memory refuses. */
static struct file_entry *listed_names(const struct verify_work *w, size_t *n)
{
    const struct receipt_read *r = &w->receipt;
    struct file_entry *names = calloc(2 * r->run.bands_n + r->files_n + 3, sizeof *names);
    if (!names)
        return NULL;
    for (size_t i = 0; i < r->run.bands_n; i++)
        names[(*n)++].name = str_of(r->run.bands[i].sample_file);
    for (size_t i = 0; i < r->run.bands_n; i++)
        if (r->run.bands[i].server.file)
            names[(*n)++].name = str_of(r->run.bands[i].server.file);
    for (size_t i = 0; i < r->files_n; i++)
        names[(*n)++].name = str_of(r->files[i].name);
    if (r->run.calibration.file)
        names[(*n)++].name = str_of(r->run.calibration.file);
    names[(*n)++].name = STR(RECEIPT_NAME);
    names[(*n)++].name = STR(ENVELOPE_NAME);
    qsort(names, *n, sizeof *names, by_name);
    return names;
}

static void check_run_json_listed(struct verify_work *w)
{
    const struct receipt_read *r = &w->receipt;
    for (size_t i = 0; i < r->files_n; i++)
        if (strcmp(r->files[i].name, RECEIPT_RUN_NAME) == 0)
            return;
    verify_fail(w->report, VERIFY_DIGESTS,
                &(struct verify_place){.file = RECEIPT_NAME, .path = "files"},
                RECEIPT_RUN_NAME " is not listed");
}

int verify_files(struct verify_work *w, struct error *err)
{
    size_t n = 0;
    struct file_entry *names = listed_names(w, &n);
    if (!names)
        return error_no_memory(err);
    check_run_json_listed(w);
    check_digests(w);
    for (size_t i = 0; i + 1 < n; i++)
        if (str_eq(names[i].name, names[i + 1].name))
            verify_fail(w->report, VERIFY_UNLISTED, &(struct verify_place){.file = names[i].name.p},
                        "is listed twice");
    for (size_t i = 0; i < w->files.n; i++)
        if (!bsearch(&w->files.files[i], names, n, sizeof *names, by_name))
            verify_fail(w->report, VERIFY_UNLISTED,
                        &(struct verify_place){.file = w->files.files[i].name.p},
                        "lies there and is not listed");
    verify_pass(w->report, VERIFY_UNLISTED, "%zu files, each listed", w->files.n);
    free(names);
    return 0;
}
