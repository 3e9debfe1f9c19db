/* Applies the registry to a run directory that the producer wrote just now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "codec/gz.h"
#include "gate/mutations.h"
#include "gate/specimen.h"
#include "receipt/compose.h"
#include "receipt/files.h"

#define FILE_MAX ((size_t)64 << 20)

struct bench {
    const struct selftest_options *o;
    struct specimen specimen;
    struct tokenizer *tokenizer;
    struct corpus corpus;
    struct corpus_token_counter counter;
    struct buf receipt; /* as it was written */
};

static bool is_gz(const char *name)
{
    return str_ends(str_of(name), STR(".gz"));
}

static int read_file(const struct bench *b, const char *name, struct buf *out, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = path_join(&path, b->o->dir, name, err);
    if (status == 0)
        status = is_gz(name) ? gz_read(out, path.p, FILE_MAX, err)
                             : file_read(out, path.p, FILE_MAX, err);
    buf_release(&path);
    return status;
}

static int write_file(const struct bench *b, const char *name, struct str bytes, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX), gz = BUF_INIT(FILE_MAX);
    int status = path_join(&path, b->o->dir, name, err);
    if (status == 0 && is_gz(name)) {
        status = gz_compress(&gz, bytes, err);
        bytes = buf_str(&gz);
    }
    if (status == 0)
        status = file_write_atomic(path.p, bytes, err);
    buf_release(&path);
    buf_release(&gz);
    return status;
}

/* A mutation that finds nothing to change proves nothing. */
static int no_place(const struct mutation *m, struct error *err)
{
    return error_set(err, ERROR_INPUT, "the mutation '%s' finds nothing to change in %s", m->name,
                     m->file);
}

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '.';
}

static char other_digit(char c)
{
    return c == '9' ? '8' : c == 'f' ? 'e' : (char)(c + 1);
}

static int edit(const struct mutation *m, struct buf *text, struct error *err)
{
    struct str s = buf_str(text);
    size_t at = m->after ? str_find(s, str_of(m->after)) : 0, found;
    if (at == STR_NONE)
        return no_place(m, err);
    at += m->after ? strlen(m->after) : 0;
    found = str_find(str_skip(s, at), str_of(m->from));
    if (found == STR_NONE)
        return no_place(m, err);
    at += found;
    if (m->kind == MUTATE_NUMBER) {
        size_t end = at + strlen(m->from);
        while (end < text->n && is_digit(text->p[end]))
            end++;
        if (end == at + strlen(m->from))
            return no_place(m, err);
        text->p[end - 1] = other_digit(text->p[end - 1]);
        return 0;
    }
    struct buf out = BUF_INIT(FILE_MAX);
    buf_addstr(&out, str_first(s, at));
    buf_adds(&out, m->to);
    buf_addstr(&out, str_skip(s, at + strlen(m->from)));
    buf_reset(text);
    buf_addstr(text, buf_str(&out));
    buf_release(&out);
    return buf_check(text, m->file, err);
}

/* Every digest, and the run id, as they are now. */
static int seal(const struct bench *b, struct error *err)
{
    struct file_list list = {0};
    struct buf text = BUF_INIT(FILE_MAX);
    char digest[SHA256_HEX];
    struct str id;
    int status = -1;
    if (read_file(b, RECEIPT_NAME, &text, err) < 0 ||
        file_list_read(&list, b->o->dir, ENVELOPE_NAME, err) < 0)
        goto out;
    for (size_t i = 0; i < list.n; i++) {
        char name[256];
        snprintf(name, sizeof name, "\"%.*s\"", STR_ARG(list.files[i].name));
        size_t at = str_find(buf_str(&text), str_of(name)), key;
        if (at == STR_NONE)
            continue;
        key = str_find(str_skip(buf_str(&text), at), STR("\"sha256\": \""));
        if (key != STR_NONE && at + key + 11 + SHA256_HEX - 1 <= text.n)
            memcpy(text.p + at + key + 11, list.files[i].sha256, SHA256_HEX - 1);
    }
    struct error ignored = {0};
    if (receipt_text_id(buf_str(&text), &id, digest, &ignored) == 0)
        memcpy(text.p + (id.p - text.p), digest, SHA256_HEX - 1);
    status = write_file(b, RECEIPT_NAME, buf_str(&text), err);
out:
    file_list_release(&list);
    buf_release(&text);
    return status;
}

static int sign_strangely(const struct bench *b, struct error *err)
{
    struct ed25519_key *key;
    if (ed25519_key_make(&key, err) < 0)
        return -1;
    int status = envelope_write(b->o->dir, key, str_of(b->specimen.result.run_id), err);
    ed25519_key_free(key);
    return status;
}

static int apply(const struct bench *b, const struct mutation *m, struct buf *before,
                 struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(FILE_MAX);
    int status = -1;
    switch (m->kind) {
    case MUTATE_TEXT:
    case MUTATE_NUMBER:
        if (read_file(b, m->file, before, err) < 0)
            break;
        buf_addstr(&text, buf_str(before));
        if (edit(m, &text, err) < 0 || write_file(b, m->file, buf_str(&text), err) < 0)
            break;
        status = m->sealed ? seal(b, err) : 0;
        break;
    case MUTATE_ADD:
        status = write_file(b, m->file, str_of(m->to), err);
        break;
    case MUTATE_LINK:
        if (path_join(&path, b->o->dir, m->file, err) == 0 && (status = symlink(m->to, path.p)) < 0)
            error_set(err, ERROR_IO, "cannot make a symbolic link in %s", b->o->dir);
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
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = -1;
    if (m->kind == MUTATE_TEXT || m->kind == MUTATE_NUMBER) {
        if (write_file(b, m->file, buf_str(before), err) == 0)
            status = write_file(b, RECEIPT_NAME, buf_str(&b->receipt), err);
    } else if (path_join(&path, b->o->dir, m->kind == MUTATE_SIGN ? ENVELOPE_NAME : m->file, err) ==
               0) {
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
                                     .corpus = b->o->tokenizer ? b->o->corpus : NULL,
                                     .tokenizer = b->o->corpus ? b->o->tokenizer : NULL};
    return verify_dir(v, b->o->dir, &o, err);
}

static bool can_try(const struct bench *b, const struct mutation *m)
{
    bool counts =
        m->rule == VERIFY_PROMPTS || m->rule == VERIFY_RENDERED || m->rule == VERIFY_OUTPUTS;
    return !counts || (b->o->tokenizer && b->o->corpus);
}

static int try_one(const struct bench *b, struct selftest_result *r, struct error *err)
{
    const struct mutation *m = r->mutation;
    struct buf before = BUF_INIT(FILE_MAX);
    struct verify_report v;
    int status = -1;
    r->outcome = SELFTEST_NOT_TRIED;
    if (!can_try(b, m))
        return 0;
    if (apply(b, m, &before, err) < 0 || look(b, m->kind == MUTATE_SIGN, &v, err) < 0)
        goto out;
    const struct verify_result *rule = &v.rules[m->rule];
    bool red = v.verdict == VERIFY_BROKEN && rule->state == VERIFY_FAILED;
    r->outcome = red ? SELFTEST_RED : SELFTEST_SURVIVED;
    if (red)
        snprintf(r->said, sizeof r->said, "%s%s%s", rule->failures[0].file,
                 rule->failures[0].path[0] ? ": " : "", rule->failures[0].path);
    verify_release(&v);
    status = take_back(b, m, &before, err);
out:
    buf_release(&before);
    return status;
}

static int open_counting(struct bench *b, struct error *err)
{
    const struct tokenizer_options how = {0};
    if (!b->o->tokenizer || !b->o->corpus)
        return 0;
    if (tokenizer_open(&b->tokenizer, b->o->tokenizer, &how, err) < 0 ||
        corpus_read(&b->corpus, b->o->corpus, err) < 0)
        return -1;
    corpus_counter_init(&b->counter, b->tokenizer, "parsed");
    b->specimen.corpus = &b->corpus;
    b->specimen.counter = &b->counter;
    return 0;
}

static int try_all(struct bench *b, struct selftest *t, struct error *err)
{
    struct verify_report v;
    bool covered[VERIFY_RULE_COUNT] = {false};
    if (specimen_write(&b->specimen, err) < 0 || read_file(b, RECEIPT_NAME, &b->receipt, err) < 0 ||
        look(b, false, &v, err) < 0)
        return -1;
    t->green = v.verdict == VERIFY_OK;
    verify_release(&v);
    for (size_t i = 0; i < mutations_n; i++) {
        t->results[t->n].mutation = &mutations[i];
        if (try_one(b, &t->results[t->n], err) < 0)
            return -1;
        t->survived += t->results[t->n].outcome == SELFTEST_SURVIVED;
        t->not_tried += t->results[t->n].outcome == SELFTEST_NOT_TRIED;
        t->n++;
        covered[mutations[i].rule] = true;
    }
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        t->rules_without += !covered[r];
    /* What was taken back must leave what was written. */
    if (look(b, false, &v, err) < 0)
        return -1;
    t->green = t->green && v.verdict == VERIFY_OK;
    verify_release(&v);
    return 0;
}

int selftest_run(struct selftest *t, const struct selftest_options *o, struct error *err)
{
    struct bench b = {.o = o, .receipt = BUF_INIT(FILE_MAX)};
    specimen_init(&b.specimen);
    b.specimen.dir = o->dir;
    b.specimen.client = o->client;
    *t = (struct selftest){0};
    t->results = calloc(mutations_n, sizeof *t->results);
    int status = t->results ? 0 : error_no_memory(err);
    if (status == 0)
        status = open_counting(&b, err);
    if (status == 0)
        status = try_all(&b, t, err);
    tokenizer_free(b.tokenizer);
    corpus_release(&b.corpus);
    buf_release(&b.receipt);
    if (status < 0)
        selftest_release(t);
    return status;
}

void selftest_release(struct selftest *t)
{
    if (!t)
        return;
    free(t->results);
    *t = (struct selftest){0};
}
