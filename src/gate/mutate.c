/* Edits of a run directory, as somebody would make them who knows the format. */
#include "gate/mutate.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "codec/gz.h"
#include "receipt/compose.h"
#include "receipt/envelope.h"
#include "receipt/files.h"

#define FILE_MAX ((size_t)64 << 20)

static bool is_gz(const char *name)
{
    return str_ends(str_of(name), STR(".gz"));
}

int mutate_read(const char *dir, const char *name, struct buf *out, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = path_join(&path, dir, name, err);
    if (status == 0)
        status = is_gz(name) ? gz_read(out, path.p, FILE_MAX, err)
                             : file_read(out, path.p, FILE_MAX, err);
    buf_release(&path);
    return status;
}

int mutate_write(const char *dir, const char *name, struct str bytes, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX), gz = BUF_INIT(FILE_MAX);
    int status = path_join(&path, dir, name, err);
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

int mutate_edit(const struct mutation *m, struct buf *text, struct error *err)
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
int mutate_seal(const char *dir, struct error *err)
{
    struct file_list list = {0};
    struct buf text = BUF_INIT(FILE_MAX);
    char digest[SHA256_HEX];
    struct str id;
    int status = -1;
    if (mutate_read(dir, RECEIPT_NAME, &text, err) < 0 ||
        file_list_read(&list, dir, ENVELOPE_NAME, err) < 0)
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
    status = mutate_write(dir, RECEIPT_NAME, buf_str(&text), err);
out:
    file_list_release(&list);
    buf_release(&text);
    return status;
}
