/* What the receipt takes from the servers' own words, taken again from the files that keep them. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "receipt/record_form.h"
#include "receipt/server_said.h"
#include "verify/note.h"

static void on_difference(void *ctx, const struct verify_difference *d)
{
    struct verify_work *w = ctx;
    char stored[128], made[128];
    verify_fail(w->report, VERIFY_SERVER,
                &(struct verify_place){RECEIPT_NAME, d->at ? d->at->line : 0,
                                       d->at ? d->at->column : 0, d->path},
                "says %s; by what was kept it is %s", verify_show(d->stored, stored, sizeof stored),
                verify_show(d->made, made, sizeof made));
}

/* Held against the receipt's text, as it would be printed. */
static int compare(struct verify_work *w, size_t i, const struct run_server *again,
                   struct error *err)
{
    struct buf text = BUF_INIT(FORM_JSON_MAX);
    struct json_writer writer;
    const struct json *made;
    struct arena arena;
    char path[64];
    arena_init(&arena, FORM_JSON_MAX);
    snprintf(path, sizeof path, "bands.%zu.server", i);
    json_writer_init(&writer, &text, 0);
    json_begin_object(&writer);
    form_write(&form_band_server, again, "", NULL, &writer);
    json_end_object(&writer);
    int status = json_writer_check(&writer, "what a server said", err);
    if (status == 0)
        status = json_parse(&made, buf_str(&text), &JSON_LIMITS_DEFAULT, &arena, err);
    if (status == 0)
        verify_compare(json_path(w->receipt.doc, path), made, path, on_difference, w);
    buf_release(&text);
    arena_release(&arena);
    return status;
}

/* 1: what was kept was read; 0: it cannot be, which is noted. */
static int read_kept(struct verify_work *w, const char *name, struct run_server *out,
                     struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(0);
    int status = -1;
    if (!verify_digest_of(w, str_of(name))) {
        verify_fail(w->report, VERIFY_SERVER, &(struct verify_place){.file = name}, "is not there");
        return 0;
    }
    if (path_join(&path, w->dir, name, err) < 0)
        goto out;
    if (file_read(&text, path.p, SERVER_SAID_MAX, err) == 0 &&
        server_said_read(out, buf_str(&text), err) == 0) {
        status = 1;
    } else if (err->kind != ERROR_MEMORY) {
        verify_fail(w->report, VERIFY_SERVER, &(struct verify_place){.file = name}, "%s",
                    err->message);
        status = 0;
    }
out:
    buf_release(&path);
    buf_release(&text);
    return status;
}

int verify_server(struct verify_work *w, struct error *err)
{
    const struct run_record *run = &w->receipt.run;
    size_t asked = 0;
    for (size_t i = 0; i < run->bands_n; i++) {
        const char *name = run->bands[i].server.file;
        struct run_server again;
        int got = 1;
        server_said_nothing(&again);
        if (name)
            got = read_kept(w, name, &again, err);
        again.file = name;
        memcpy(again.sha256, run->bands[i].server.sha256, SHA256_HEX); /* rule digests */
        asked += name != NULL;
        if (got < 0 || (got > 0 && compare(w, i, &again, err) < 0))
            return -1;
    }
    verify_pass(w->report, VERIFY_SERVER, "%zu of %zu bands", asked, run->bands_n);
    return 0;
}
