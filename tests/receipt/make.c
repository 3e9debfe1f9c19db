#define _XOPEN_SOURCE 700 /* nftw */

#include "make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

#include "base/file.h"
#include "codec/gz.h"
#include "gate/specimen.h"
#include "receipt/compose.h"
#include "receipt/envelope.h"
#include "receipt/files.h"
#include "receipt/read.h"

void make_init(struct make *m)
{
    struct specimen s;
    specimen_init(&s);
    *m = (struct make){
        .bands_n = s.bands_n,
        .lanes_n = s.lanes_n,
        .replicates = s.replicates,
        .window_s = s.window_s,
        .method = s.method,
        .body = s.body,
        .wrap = {s.wrap[0], s.wrap[1]},
        .finish = s.finish,
        .argv = s.argv,
        .argc = s.argc,
    };
    memcpy(m->bands, s.bands, sizeof m->bands);
    arena_init(&m->arena, (size_t)1 << 30);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void make_release(struct make *m)
{
    if (m->dir[0])
        nftw(m->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    arena_release(&m->arena);
    *m = (struct make){0};
}

static bool on_sample(void *ctx, struct sample *s)
{
    struct make *m = ctx;
    return m->change(m, s);
}

static void on_band(void *ctx, struct run_band *b)
{
    struct make *m = ctx;
    m->change_band(m, b);
}

static void on_plan(void *ctx, struct run_plan *p, struct run_lane *lanes)
{
    struct make *m = ctx;
    m->change_plan(m, p, lanes);
}

void make_run(struct make *m)
{
    struct error err = {0};
    struct specimen s;
    specimen_init(&s);
    snprintf(m->dir, sizeof m->dir, "%s/tally-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(m->dir));
    s.dir = m->dir;
    memcpy(s.bands, m->bands, sizeof m->bands);
    s.bands_n = m->bands_n;
    s.lanes_n = m->lanes_n;
    s.replicates = m->replicates;
    s.window_s = m->window_s;
    s.method = m->method;
    s.body = m->body;
    memcpy(s.wrap, m->wrap, sizeof m->wrap);
    s.interrupted = m->interrupted;
    s.finish = m->finish;
    s.leave_open = m->leave_open;
    s.argc = m->argc;
    s.argv = m->argv;
    s.ctx = m;
    s.change = m->change ? on_sample : NULL;
    s.change_band = m->change_band ? on_band : NULL;
    s.change_plan = m->change_plan ? on_plan : NULL;
    if (specimen_write(&s, &err) < 0)
        fail_msg("%s", err.message);
    m->result = s.result;
    memcpy(m->refusals, s.refusals, sizeof m->refusals);
}

char *make_path(struct make *m, const char *name)
{
    struct error err = {0};
    struct buf path = BUF_INIT(4096);
    assert_int_equal(path_join(&path, m->dir, name, &err), 0);
    char *kept = arena_cstr(&m->arena, buf_str(&path));
    buf_release(&path);
    return kept;
}

static bool is_gz(const char *name)
{
    return str_ends(str_of(name), STR(".gz"));
}

struct str make_read(struct make *m, const char *name)
{
    struct error err = {0};
    struct buf text = BUF_INIT(0);
    int status = is_gz(name) ? gz_read(&text, make_path(m, name), BUF_ANY, &err)
                             : file_read(&text, make_path(m, name), BUF_ANY, &err);
    if (status < 0)
        fail_msg("%s", err.message);
    struct str kept = arena_str(&m->arena, buf_str(&text));
    buf_release(&text);
    return kept;
}

void make_write(struct make *m, const char *name, struct str bytes)
{
    struct error err = {0};
    struct buf gz = BUF_INIT(BUF_ANY);
    if (is_gz(name)) {
        assert_int_equal(gz_compress(&gz, bytes, &err), 0);
        bytes = buf_str(&gz);
    }
    if (file_write_atomic(make_path(m, name), bytes, &err) < 0)
        fail_msg("%s", err.message);
    buf_release(&gz);
}

struct str make_replaced(struct make *m, struct str text, const char *after, const char *from,
                         const char *to)
{
    struct buf out = BUF_INIT(BUF_ANY);
    size_t begin = after ? str_find(text, str_of(after)) : 0;
    assert_true(begin != STR_NONE);
    begin += after ? strlen(after) : 0;
    size_t at = str_find(str_skip(text, begin), str_of(from));
    if (at == STR_NONE)
        fail_msg("no %s behind %s", from, after ? after : "the start");
    at += begin;
    buf_addstr(&out, str_first(text, at));
    buf_adds(&out, to);
    buf_addstr(&out, str_skip(text, at + strlen(from)));
    struct str kept = arena_str(&m->arena, buf_str(&out));
    buf_release(&out);
    return kept;
}

void make_reseal(struct make *m)
{
    struct error err = {0};
    struct file_list list;
    struct str text = make_read(m, RECEIPT_NAME), id;
    char digest[SHA256_HEX];
    assert_int_equal(file_list_read(&list, m->dir, ENVELOPE_NAME, &err), 0);
    for (size_t i = 0; i < list.n; i++) {
        char name[256];
        snprintf(name, sizeof name, "\"%.*s\"", STR_ARG(list.files[i].name));
        size_t at = str_find(text, str_of(name)), key = STR_NONE;
        if (at == STR_NONE)
            continue;
        key = str_find(str_skip(text, at), STR("\"sha256\": \""));
        assert_true(key != STR_NONE);
        memcpy((char *)text.p + at + key + 11, list.files[i].sha256, SHA256_HEX - 1);
    }
    file_list_release(&list);
    if (receipt_text_id(text, &id, digest, &err) == 0)
        memcpy((char *)id.p, digest, SHA256_HEX - 1);
    make_write(m, RECEIPT_NAME, text);
}
