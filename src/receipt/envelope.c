#include "receipt/envelope.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/file.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "receipt/files.h"

#define SIGNATURES_MAX 8
#define ENVELOPE_ARENA ((size_t)256 << 20)

/* DSSE's pre-authentication encoding. */
static void add_pae(struct buf *out, struct str type, struct str payload)
{
    buf_addf(out, "DSSEv1 %zu ", type.n);
    buf_addstr(out, type);
    buf_addf(out, " %zu ", payload.n);
    buf_addstr(out, payload);
}

static int write_statement(const struct file_list *files, struct str run_id, struct buf *out,
                           struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "_type");
    json_put_cstr(&w, ENVELOPE_STATEMENT_TYPE);
    json_key(&w, "subject");
    json_begin_array(&w);
    for (size_t i = 0; i < files->n; i++) {
        json_begin_object(&w);
        json_key(&w, "name");
        json_put_str(&w, files->files[i].name);
        json_key(&w, "digest");
        json_begin_object(&w);
        json_key(&w, "sha256");
        json_put_cstr(&w, files->files[i].sha256);
        json_end_object(&w);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, "predicateType");
    json_put_cstr(&w, ENVELOPE_PREDICATE_TYPE);
    json_key(&w, "predicate");
    json_begin_object(&w);
    json_key(&w, "run_id");
    json_put_str(&w, run_id);
    json_end_object(&w);
    json_end_object(&w);
    return json_writer_check(&w, "the statement", err);
}

struct signature {
    struct str key_id, sig; /* sig in base64 */
};

/* The one spelling of an envelope: members in this order, no white space, one LF at the end. */
static int write_canonical(struct str payload64, struct str type, const struct signature *sigs,
                           size_t n, struct buf *out, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "payload");
    json_put_str(&w, payload64);
    json_key(&w, "payloadType");
    json_put_str(&w, type);
    json_key(&w, "signatures");
    json_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        json_begin_object(&w);
        json_key(&w, "keyid");
        json_put_str(&w, sigs[i].key_id);
        json_key(&w, "sig");
        json_put_str(&w, sigs[i].sig);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    buf_addc(out, '\n');
    return json_writer_check(&w, "the envelope", err);
}

static int sign_payload(const struct ed25519_key *key, struct str payload, struct buf *out,
                        struct error *err)
{
    struct buf pae = BUF_INIT(ENVELOPE_BYTES_MAX), payload64 = BUF_INIT(2 * ENVELOPE_BYTES_MAX);
    struct buf sig64 = BUF_INIT(256);
    struct ed25519_public public;
    uint8_t sig[ED25519_SIGNATURE];
    int status = -1;
    add_pae(&pae, STR(ENVELOPE_PAYLOAD_TYPE), payload);
    base64_add(&payload64, payload);
    if (buf_check(&pae, "the statement", err) < 0 ||
        buf_check(&payload64, "the statement", err) < 0 ||
        ed25519_public_of(key, &public, err) < 0 || ed25519_sign(key, buf_str(&pae), sig, err) < 0)
        goto out;
    base64_add(&sig64, str_make(sig, sizeof sig));
    struct signature one = {str_of(public.id), buf_str(&sig64)};
    status = write_canonical(buf_str(&payload64), STR(ENVELOPE_PAYLOAD_TYPE), &one, 1, out, err);
out:
    buf_release(&pae);
    buf_release(&payload64);
    buf_release(&sig64);
    return status;
}

int envelope_write(const char *dir, const struct ed25519_key *key, struct str run_id,
                   struct error *err)
{
    struct file_list files = {0};
    struct buf statement = BUF_INIT(ENVELOPE_BYTES_MAX),
               envelope = BUF_INIT(2 * ENVELOPE_BYTES_MAX);
    struct buf path = BUF_INIT(PATH_MAX);
    int status = -1;
    if (file_list_read(&files, dir, ENVELOPE_NAME, err) < 0 ||
        write_statement(&files, run_id, &statement, err) < 0 ||
        sign_payload(key, buf_str(&statement), &envelope, err) < 0 ||
        path_join(&path, dir, ENVELOPE_NAME, err) < 0)
        goto out;
    status = file_write_atomic(path.p, buf_str(&envelope), err);
out:
    file_list_release(&files);
    buf_release(&statement);
    buf_release(&envelope);
    buf_release(&path);
    return status;
}

/* What an envelope says, its texts in the arena. */
struct parsed {
    struct str payload64, type;
    struct signature sigs[SIGNATURES_MAX];
    size_t sigs_n;
};

#define SAY(c, ...) snprintf((c)->detail, sizeof(c)->detail, __VA_ARGS__)

static bool parse_envelope(struct str bytes, struct parsed *p, struct arena *arena,
                           struct envelope_check *c)
{
    const struct json *doc, *sigs;
    struct error why = {0};
    struct json_limits limits = JSON_LIMITS_DEFAULT;
    limits.bytes = 2 * ENVELOPE_BYTES_MAX;
    limits.depth = 8;
    if (json_parse(&doc, bytes, &limits, arena, &why) < 0) {
        SAY(c, "the envelope cannot be read: %.400s", why.message);
        return false;
    }
    sigs = json_get(doc, "signatures");
    if (json_str(&p->payload64, json_get(doc, "payload")) < 0 ||
        json_str(&p->type, json_get(doc, "payloadType")) < 0 || !json_is(sigs, JSON_ARRAY) ||
        sigs->n == 0 || sigs->n > SIGNATURES_MAX) {
        SAY(c, "the envelope is no DSSE envelope with 1 to %d signatures", SIGNATURES_MAX);
        return false;
    }
    for (size_t i = 0; i < sigs->n; i++)
        if (json_str(&p->sigs[i].key_id, json_get(&sigs->items[i], "keyid")) < 0 ||
            json_str(&p->sigs[i].sig, json_get(&sigs->items[i], "sig")) < 0) {
            SAY(c, "signature %zu of the envelope lacks keyid or sig", i + 1);
            return false;
        }
    p->sigs_n = sigs->n;
    struct buf canonical = BUF_INIT(3 * ENVELOPE_BYTES_MAX);
    bool same = write_canonical(p->payload64, p->type, p->sigs, p->sigs_n, &canonical, &why) == 0 &&
                str_eq(buf_str(&canonical), bytes);
    buf_release(&canonical);
    if (!same)
        SAY(c, "the envelope is not in its canonical form");
    return same;
}

/* Any signature that a given key made: VALID, else WRONG when a key was named that did not make
 * it, else UNKNOWN_KEY. */
static enum envelope_verdict check_signatures(const struct parsed *p, struct str payload,
                                              const struct envelope_signer *keys, size_t keys_n,
                                              struct envelope_check *c)
{
    struct buf pae = BUF_INIT(ENVELOPE_BYTES_MAX + 128), sig = BUF_INIT(ED25519_SIGNATURE);
    enum envelope_verdict verdict = ENVELOPE_UNKNOWN_KEY;
    add_pae(&pae, p->type, payload);
    snprintf(c->key_id, sizeof c->key_id, "%.*s", STR_ARG(p->sigs[0].key_id));
    SAY(c, "signed by a key that is not among the %zu given: %s", keys_n, c->key_id);
    for (size_t i = 0; i < p->sigs_n && verdict != ENVELOPE_VALID; i++) {
        buf_reset(&sig);
        bool whole = base64_decode(&sig, p->sigs[i].sig) == 0 && sig.n == ED25519_SIGNATURE;
        for (size_t k = 0; k < keys_n && verdict != ENVELOPE_VALID; k++) {
            bool named = str_eq(p->sigs[i].key_id, str_of(keys[k].key.id));
            if (p->sigs[i].key_id.n && !named)
                continue;
            if (whole && !pae.failed &&
                ed25519_verify(&keys[k].key, buf_str(&pae), (const uint8_t *)sig.p)) {
                verdict = ENVELOPE_VALID;
                /* NOLINTNEXTLINE(clang-analyzer-*): there are keys where keys_n > 0 */
                memcpy(c->key_id, keys[k].key.id, SHA256_HEX);
                memcpy(c->signer, keys[k].name, sizeof c->signer);
            } else if (named) {
                verdict = ENVELOPE_WRONG;
                SAY(c, "the signature was not made by the key it names over this statement");
            }
        }
    }
    buf_release(&pae);
    buf_release(&sig);
    return verdict;
}

/* Both lists are sorted by name; the first difference is told. */
static bool match_files(const struct json *subjects, const struct file_list *files,
                        struct envelope_check *c)
{
    size_t i = 0;
    for (; i < subjects->n; i++) {
        struct str name, digest;
        const struct json *s = &subjects->items[i];
        if (json_str(&name, json_get(s, "name")) < 0 ||
            json_str(&digest, json_path(s, "digest.sha256")) < 0) {
            SAY(c, "subject %zu of the statement lacks its name or digest", i + 1);
            return false;
        }
        int order = i < files->n ? str_cmp(files->files[i].name, name) : 1;
        if (order > 0) {
            SAY(c, "%.*s was signed and is not there", STR_ARG(name));
            return false;
        }
        if (order < 0)
            break;
        if (!str_eq(digest, str_of(files->files[i].sha256))) {
            SAY(c, "%.*s is not as it was signed: its digest is now %s", STR_ARG(name),
                files->files[i].sha256);
            return false;
        }
    }
    if (i < files->n) {
        SAY(c, "%.*s was not signed", STR_ARG(files->files[i].name));
        return false;
    }
    c->files = files->n;
    return true;
}

static bool check_statement(struct str payload, const struct file_list *files, struct arena *arena,
                            struct envelope_check *c)
{
    const struct json *doc, *subjects;
    struct error why = {0};
    struct json_limits limits = JSON_LIMITS_DEFAULT;
    struct str type = {0}, predicate = {0}, run_id = {0};
    limits.depth = 8;
    if (json_parse(&doc, payload, &limits, arena, &why) < 0) {
        SAY(c, "the signed statement cannot be read: %.400s", why.message);
        return false;
    }
    json_str(&type, json_get(doc, "_type"));
    json_str(&predicate, json_get(doc, "predicateType"));
    json_str(&run_id, json_path(doc, "predicate.run_id"));
    subjects = json_get(doc, "subject");
    if (!str_eq(type, STR(ENVELOPE_STATEMENT_TYPE)) ||
        !str_eq(predicate, STR(ENVELOPE_PREDICATE_TYPE)) || !json_is(subjects, JSON_ARRAY)) {
        SAY(c, "what was signed is no statement about a receipt (predicate type %.*s)",
            STR_ARG(predicate));
        return false;
    }
    if (!match_files(subjects, files, c))
        return false;
    snprintf(c->run_id, sizeof c->run_id, "%.*s", STR_ARG(run_id));
    return true;
}

static void check_bytes(struct str bytes, const struct file_list *files,
                        const struct envelope_signer *keys, size_t keys_n, struct envelope_check *c)
{
    struct parsed p = {0};
    struct arena arena;
    struct buf payload = BUF_INIT(ENVELOPE_BYTES_MAX);
    arena_init(&arena, ENVELOPE_ARENA);
    c->verdict = ENVELOPE_WRONG;
    if (!parse_envelope(bytes, &p, &arena, c))
        goto out;
    if (!str_eq(p.type, STR(ENVELOPE_PAYLOAD_TYPE))) {
        SAY(c, "the envelope's payload is of type %.*s", STR_ARG(p.type));
        goto out;
    }
    if (base64_decode(&payload, p.payload64) < 0 || payload.failed) {
        SAY(c, "the envelope's payload is not canonical base64");
        goto out;
    }
    c->verdict = check_signatures(&p, buf_str(&payload), keys, keys_n, c);
    if (c->verdict != ENVELOPE_VALID)
        goto out;
    if (!check_statement(buf_str(&payload), files, &arena, c)) {
        c->verdict = ENVELOPE_WRONG;
        goto out;
    }
    SAY(c, "signed by %s (key %.16s), %zu files as signed",
        c->signer[0] ? c->signer : "a given key", c->key_id, c->files);
out:
    arena_release(&arena);
    buf_release(&payload);
}

int envelope_check_dir(const char *dir, const struct envelope_signer *keys, size_t keys_n,
                       struct envelope_check *out, struct error *err)
{
    struct file_list files = {0};
    struct buf path = BUF_INIT(PATH_MAX), bytes = BUF_INIT(0);
    struct envelope_check c = {.verdict = ENVELOPE_UNSIGNED, .detail = "there is no signature"};
    struct stat st;
    int status = -1;
    if (path_join(&path, dir, ENVELOPE_NAME, err) < 0 ||
        file_list_read(&files, dir, ENVELOPE_NAME, err) < 0)
        goto out;
    if (lstat(path.p, &st) < 0 && errno == ENOENT) {
        *out = c;
        status = 0;
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        c.verdict = ENVELOPE_WRONG;
        SAY(&c, "%s is not a regular file", ENVELOPE_NAME);
    } else {
        if (file_read(&bytes, path.p, 2 * ENVELOPE_BYTES_MAX, err) < 0)
            goto out;
        check_bytes(buf_str(&bytes), &files, keys, keys_n, &c);
    }
    *out = c;
    status = 0;
out:
    file_list_release(&files);
    buf_release(&path);
    buf_release(&bytes);
    return status;
}
