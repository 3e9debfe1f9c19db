/* Applies the registry to a run directory that the producer wrote just now. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "gate/mutate.h"
#include "gate/specimen.h"
#include "gate/suites.h"
#include "receipt/envelope.h"

struct bench {
    const struct suite_counting *counting;
    struct specimen specimen;
    struct buf dir;
    struct buf receipt; /* as it was written */
};

static int sign_strangely(const struct bench *b, struct error *err)
{
    struct ed25519_key *key;
    if (ed25519_key_make(&key, err) < 0)
        return -1;
    int status = envelope_write(b->dir.p, key, str_of(b->specimen.result.run_id), err);
    ed25519_key_free(key);
    return status;
}

static int apply(const struct bench *b, const struct mutation *m, struct buf *before,
                 struct error *err)
{
    const char *dir = b->dir.p;
    struct buf path = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(BUF_ANY);
    int status = -1;
    switch (m->kind) {
    case MUTATE_TEXT:
    case MUTATE_NUMBER:
        if (mutate_read(dir, m->file, before, err) < 0)
            break;
        buf_addstr(&text, buf_str(before));
        if (mutate_edit(m, &text, err) < 0 || mutate_write(dir, m->file, buf_str(&text), err) < 0)
            break;
        status = m->sealed ? mutate_seal(dir, err) : 0;
        break;
    case MUTATE_ADD:
        status = mutate_write(dir, m->file, str_of(m->to), err);
        break;
    case MUTATE_LINK:
        if (path_join(&path, dir, m->file, err) == 0 && (status = symlink(m->to, path.p)) < 0)
            error_set(err, ERROR_IO, "cannot make a symbolic link in %s", dir);
        break;
    case MUTATE_SIGN:
        status = sign_strangely(b, err);
        break;
    }
    buf_release(&path);
    buf_release(&text);
    return status;
}

static int take_back(const struct bench *b, const struct mutation *m, const struct buf *before,
                     struct error *err)
{
    const char *dir = b->dir.p;
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = -1;
    if (m->kind == MUTATE_TEXT || m->kind == MUTATE_NUMBER) {
        if (mutate_write(dir, m->file, buf_str(before), err) == 0)
            status = mutate_write(dir, RECEIPT_NAME, buf_str(&b->receipt), err);
    } else if (path_join(&path, dir, m->kind == MUTATE_SIGN ? ENVELOPE_NAME : m->file, err) == 0) {
        status = unlink(path.p);
        if (status < 0)
            error_set(err, ERROR_IO, "cannot remove %s", path.p);
    }
    buf_release(&path);
    return status;
}

static int look(const struct bench *b, bool need_signature, struct verify_report *v,
                struct error *err)
{
    const struct verify_options o = {.need_signature = need_signature,
                                     .corpus = b->counting->corpus_path,
                                     .tokenizer = b->counting->tokenizer_path};
    return verify_dir(v, b->dir.p, &o, err);
}

static int try_one(const struct bench *b, const struct mutation *m, struct selftest *t,
                   struct error *err)
{
    struct buf before = BUF_INIT(BUF_ANY);
    struct verify_report v;
    char said[256] = "";
    int status = -1;
    if (apply(b, m, &before, err) < 0 || look(b, m->kind == MUTATE_SIGN, &v, err) < 0)
        goto out;
    const struct verify_result *rule = &v.rules[m->rule];
    bool red = v.verdict == VERIFY_BROKEN && rule->state == VERIFY_FAILED;
    if (red)
        snprintf(said, sizeof said, "%s%s%s", rule->failures[0].file,
                 rule->failures[0].path[0] ? ": " : "", rule->failures[0].path);
    selftest_add(t, "verify", verify_rule_name(m->rule), m->name,
                 red ? SELFTEST_RED : SELFTEST_SURVIVED, said);
    verify_release(&v);
    status = take_back(b, m, &before, err);
out:
    buf_release(&before);
    return status;
}

static int expect_green(const struct bench *b, struct selftest *t, const char *what,
                        struct error *err)
{
    struct verify_report v;
    char said[256] = "";
    if (look(b, false, &v, err) < 0)
        return -1;
    bool green = v.verdict == VERIFY_OK;
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        if (v.rules[r].state == VERIFY_FAILED)
            snprintf(said, sizeof said, "%s: %s", verify_rule_name((enum verify_rule)r),
                     v.rules[r].failures[0].what);
    selftest_add(t, "verify", "", what, green ? SELFTEST_GREEN : SELFTEST_NOT_GREEN, said);
    verify_release(&v);
    return 0;
}

static int try_all(struct bench *b, struct selftest *t, struct error *err)
{
    bool covered[VERIFY_RULE_COUNT] = {false};
    if (expect_green(b, t, "none: as it was written", err) < 0)
        return -1;
    for (size_t i = 0; i < mutations_n; i++) {
        if (try_one(b, &mutations[i], t, err) < 0)
            return -1;
        covered[mutations[i].rule] = true;
    }
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        t->rules_without += !covered[r];
    return expect_green(b, t, "none: all taken back", err);
}

int suite_verify(struct selftest *t, const struct selftest_options *o,
                 const struct suite_counting *counting, struct error *err)
{
    struct bench b = {
        .counting = counting, .dir = BUF_INIT(FILE_PATH_MAX), .receipt = BUF_INIT(BUF_ANY)};
    int status = -1;
    specimen_init(&b.specimen);
    if (path_join(&b.dir, o->root, "verified", err) == 0) {
        b.specimen.dir = b.dir.p;
        b.specimen.client = o->client;
        b.specimen.corpus = counting->corpus;
        b.specimen.counter = counting->counter;
        if (specimen_write(&b.specimen, err) == 0 &&
            mutate_read(b.dir.p, RECEIPT_NAME, &b.receipt, err) == 0)
            status = try_all(&b, t, err);
    }
    buf_release(&b.dir);
    buf_release(&b.receipt);
    return status;
}
