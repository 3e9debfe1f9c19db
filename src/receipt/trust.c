#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/file.h"
#include "receipt/envelope.h"

#define TRUST_BYTES_MAX ((size_t)1 << 20)

static int bad_line(const char *path, int64_t line, const char *why, struct error *err)
{
    error_set(err, ERROR_INPUT, "%s", why);
    error_remedy(err, "a line reads: ed25519 BASE64-OF-32-BYTES NAME (tally key trust writes it)");
    error_at_line(err, line, 1);
    return error_at_file(err, path);
}

static int read_line(struct envelope_signer *s, struct str line, const char *path, int64_t number,
                     struct error *err)
{
    struct str type, raw64, name, rest;
    struct buf raw = BUF_INIT(ED25519_PUBLIC + 8);
    int status = -1;
    *s = (struct envelope_signer){0};
    str_cut(line, ' ', &type, &rest);
    str_cut(str_trim(rest), ' ', &raw64, &name);
    name = str_trim(name);
    if (!str_eq(type, STR("ed25519")))
        bad_line(path, number, "this line names no Ed25519 key", err);
    else if (base64_decode(&raw, raw64) < 0 || raw.n != ED25519_PUBLIC)
        bad_line(path, number, "the key is not 32 bytes in base64", err);
    else if (name.n == 0 || name.n >= sizeof s->name)
        bad_line(path, number, "the key needs a name of 1 to 127 bytes", err);
    else if (ed25519_public_from_raw(&s->key, (const uint8_t *)raw.p, err) == 0) {
        memcpy(s->name, name.p, name.n);
        status = 0;
    }
    buf_release(&raw);
    return status;
}

int trust_read(struct envelope_signer **keys, size_t *n, const char *path, struct error *err)
{
    struct buf text = BUF_INIT(0);
    struct envelope_signer *list = NULL;
    size_t used = 0, cap = 0;
    int status = -1;
    if (file_read(&text, path, TRUST_BYTES_MAX, err) < 0)
        goto out;
    struct str rest = buf_str(&text), line;
    for (int64_t number = 1; rest.n; number++) {
        str_cut(rest, '\n', &line, &rest);
        line = str_trim(line);
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (used == cap) {
            cap = cap ? cap * 2 : 8;
            struct envelope_signer *p = realloc(list, cap * sizeof *p);
            if (!p) {
                error_no_memory(err);
                goto out;
            }
            list = p;
        }
        if (read_line(&list[used], line, path, number, err) < 0)
            goto out;
        used++;
    }
    *keys = list;
    *n = used;
    list = NULL;
    status = 0;
out:
    free(list);
    buf_release(&text);
    return status;
}

int trust_add(const char *path, const struct ed25519_public *key, const char *name,
              struct error *err)
{
    struct envelope_signer *keys = NULL;
    size_t n = 0, len = strlen(name);
    struct buf text = BUF_INIT(TRUST_BYTES_MAX);
    int status = -1;
    if (len == 0 || len >= sizeof keys->name || strpbrk(name, "\r\n") || name[0] == ' ')
        return error_set(err, ERROR_USAGE, "a key's name is 1 to 127 bytes on one line");
    if (file_exists(path) && (trust_read(&keys, &n, path, err) < 0 ||
                              file_read(&text, path, TRUST_BYTES_MAX / 2, err) < 0))
        goto out;
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].key.id, key->id) == 0) {
            error_set(err, ERROR_USAGE, "this key is trusted already, as %s", keys[i].name);
            error_at_file(err, path);
            goto out;
        }
    text.max = TRUST_BYTES_MAX;
    if (text.n && text.p[text.n - 1] != '\n')
        buf_addc(&text, '\n');
    buf_adds(&text, "ed25519 ");
    base64_add(&text, str_make(key->raw, sizeof key->raw));
    buf_addf(&text, " %s\n", name);
    if (buf_check(&text, "the trust file", err) < 0)
        goto out;
    status = file_write_atomic(path, buf_str(&text), err);
out:
    free(keys);
    buf_release(&text);
    return status;
}
