#include "receipt/envelope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/file.h"

#define FLIPS 500
#define RUN_ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

struct place {
    char dir[64];
    struct ed25519_key *key;
    struct envelope_signer signer;
};

static const char *const names[] = {"run.json", "receipt.json", "samples/subject.c1.r1.jsonl.gz"};
#define NAMES (sizeof names / sizeof names[0])

static const char *in(const struct place *p, const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    return path;
}

static void put(const char *path, struct str bytes)
{
    struct error err = {0};
    if (file_write_atomic(path, bytes, &err) < 0)
        fail_msg("%s", err.message);
}

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    struct error err = {0};
    if (!p)
        return -1;
    snprintf(p->dir, sizeof p->dir, "/tmp/tally-envelope-XXXXXX");
    if (!mkdtemp(p->dir) || dir_make(in(p, "samples"), &err) < 0)
        return -1;
    put(in(p, names[0]), STR("{\"nonce\":\"1\"}\n"));
    put(in(p, names[1]), STR("{\"status\":\"PASS\"}\n"));
    put(in(p, names[2]),
        str_make("\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0", 23));
    if (ed25519_key_make(&p->key, &err) < 0 ||
        ed25519_public_of(p->key, &p->signer.key, &err) < 0 ||
        envelope_write(p->dir, p->key, STR(RUN_ID), &err) < 0)
        return -1;
    snprintf(p->signer.name, sizeof p->signer.name, "ci");
    *state = p;
    return 0;
}

static int drop_place(void **state)
{
    struct place *p = *state;
    static const char *const extra[] = {ENVELOPE_NAME, "notes.txt", "a.key",   "a.key.pub",
                                        "trust",       "sig.bin",   "pae.bin", "samples/late"};
    for (size_t i = 0; i < NAMES; i++)
        unlink(in(p, names[i]));
    for (size_t i = 0; i < sizeof extra / sizeof extra[0]; i++)
        unlink(in(p, extra[i]));
    rmdir(in(p, "samples"));
    rmdir(p->dir);
    ed25519_key_free(p->key);
    free(p);
    return 0;
}

static struct envelope_check check(const struct place *p)
{
    struct envelope_check c = {0};
    struct error err = {0};
    if (envelope_check_dir(p->dir, &p->signer, 1, &c, &err) < 0) {
        c.verdict = ENVELOPE_WRONG;
        snprintf(c.detail, sizeof c.detail, "refused: %.400s", err.message);
    }
    return c;
}

static void what_was_signed_is_valid(void **state)
{
    struct envelope_check c = check(*state);
    assert_int_equal(c.verdict, ENVELOPE_VALID);
    assert_int_equal(c.files, NAMES);
    assert_string_equal(c.signer, "ci");
    assert_string_equal(c.run_id, RUN_ID);
}

static void three_messages_are_three(void **state)
{
    struct place *p = *state;
    struct ed25519_key *other;
    struct envelope_signer stranger = {.name = "stranger"};
    struct envelope_check c;
    struct error err = {0};
    assert_int_equal(ed25519_key_make(&other, &err), 0);
    assert_int_equal(ed25519_public_of(other, &stranger.key, &err), 0);
    assert_int_equal(envelope_check_dir(p->dir, &stranger, 1, &c, &err), 0);
    assert_int_equal(c.verdict, ENVELOPE_UNKNOWN_KEY);
    assert_non_null(strstr(c.detail, "not among"));

    /* A key that claims another's id: the id narrows, it proves nothing. */
    memcpy(stranger.key.id, p->signer.key.id, SHA256_HEX);
    assert_int_equal(envelope_check_dir(p->dir, &stranger, 1, &c, &err), 0);
    assert_int_equal(c.verdict, ENVELOPE_WRONG);
    ed25519_key_free(other);

    unlink(in(p, ENVELOPE_NAME));
    c = check(p);
    assert_int_equal(c.verdict, ENVELOPE_UNSIGNED);
}

static void files_beside_missing_and_linked_fail(void **state)
{
    struct place *p = *state;
    put(in(p, "samples/late"), STR("x"));
    struct envelope_check c = check(p);
    assert_int_equal(c.verdict, ENVELOPE_WRONG);
    assert_non_null(strstr(c.detail, "samples/late was not signed"));
    unlink(in(p, "samples/late"));
    assert_int_equal(check(p).verdict, ENVELOPE_VALID);

    char moved[sizeof p->dir + 8];
    snprintf(moved, sizeof moved, "%s.moved", p->dir);
    assert_int_equal(rename(in(p, "run.json"), moved), 0);
    c = check(p);
    assert_int_equal(c.verdict, ENVELOPE_WRONG);
    assert_non_null(strstr(c.detail, "run.json was signed and is not there"));

    /* The same bytes behind a link out of the directory are refused, not followed. */
    assert_int_equal(symlink(moved, in(p, "run.json")), 0);
    c = check(p);
    assert_non_null(strstr(c.detail, "neither file nor folder"));
    unlink(moved);
}

static void every_flipped_byte_fails(void **state)
{
    struct place *p = *state;
    uint64_t random = 20261201;
    for (int i = 0; i < FLIPS; i++) {
        struct buf bytes = BUF_INIT(0);
        struct error err = {0};
        char path[160];
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t which = (size_t)(random >> 33) % (NAMES + 1);
        snprintf(path, sizeof path, "%s", in(p, which < NAMES ? names[which] : ENVELOPE_NAME));
        assert_int_equal(file_read(&bytes, path, 1 << 20, &err), 0);
        size_t at = (size_t)(random >> 20) % bytes.n;
        bytes.p[at] = (char)(bytes.p[at] ^ (1 << (random >> 60 & 7)));
        put(path, buf_str(&bytes));
        struct envelope_check c = check(p);
        if (c.verdict == ENVELOPE_VALID)
            fail_msg("flip %d, byte %zu of %s: still valid", i, at, path);
        bytes.p[at] = (char)(bytes.p[at] ^ (1 << (random >> 60 & 7)));
        put(path, buf_str(&bytes));
        buf_release(&bytes);
    }
    assert_int_equal(check(p).verdict, ENVELOPE_VALID);
}

static void another_spelling_of_the_envelope_fails(void **state)
{
    struct place *p = *state;
    struct buf bytes = BUF_INIT(0);
    struct error err = {0};
    assert_int_equal(file_read(&bytes, in(p, ENVELOPE_NAME), 1 << 20, &err), 0);
    buf_addc(&bytes, '\n');
    put(in(p, ENVELOPE_NAME), buf_str(&bytes));
    struct envelope_check c = check(p);
    assert_int_equal(c.verdict, ENVELOPE_WRONG);
    assert_non_null(strstr(c.detail, "canonical"));
    buf_release(&bytes);
}

static void private_keys_stay_private(void **state)
{
    struct place *p = *state;
    struct ed25519_key *key = NULL;
    struct ed25519_public public;
    struct error err = {0};
    struct stat st;
    char path[160];
    snprintf(path, sizeof path, "%s", in(p, "a.key"));
    assert_int_equal(ed25519_key_save(p->key, path, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(ed25519_key_save(p->key, path, &err), -1); /* never over a key */
    assert_int_equal(ed25519_key_load(&key, path, &err), 0);
    assert_int_equal(ed25519_public_of(key, &public, &err), 0);
    assert_string_equal(public.id, p->signer.key.id);
    ed25519_key_free(key);
    assert_int_equal(ed25519_public_load(&public, in(p, "a.key.pub"), &err), 0);
    assert_string_equal(public.id, p->signer.key.id);

    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(ed25519_key_load(&key, path, &err), -1);
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.rule, "key_mode");
    assert_int_equal(ed25519_key_load(&key, in(p, "run.json"), &err), -1);
    assert_int_equal(ed25519_public_load(&public, in(p, "run.json"), &err), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
}

static void trust_files_read_back(void **state)
{
    struct place *p = *state;
    struct envelope_signer *keys = NULL;
    size_t n = 0;
    struct error err = {0};
    char path[160];
    snprintf(path, sizeof path, "%s", in(p, "trust"));
    assert_int_equal(trust_add(path, &p->signer.key, "the CI machine", &err), 0);
    assert_int_equal(trust_add(path, &p->signer.key, "again", &err), -1);
    assert_non_null(strstr(err.message, "the CI machine"));
    assert_int_equal(trust_read(&keys, &n, path, &err), 0);
    assert_int_equal(n, 1);
    assert_string_equal(keys[0].name, "the CI machine");
    assert_string_equal(keys[0].key.id, p->signer.key.id);
    free(keys);

    static const char *const bad[] = {"rsa AAAA x\n", "ed25519 AAAA x\n", "ed25519\n",
                                      ("# fine\n\ned25519 "
                                       "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n")};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(path, str_of(bad[i]));
        assert_int_equal(trust_read(&keys, &n, path, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_int_equal(err.line, i == 3 ? 3 : 1);
    }
}

/* RFC 8032, section 7.1, test 2: one byte. The seed goes in by PKCS #8 (RFC 8410). */
static void signatures_are_those_of_rfc_8032(void **state)
{
    struct place *p = *state;
    static const char seed[] = "302e020100300506032b657004220420"
                               "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    static const char public_hex[] =
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    static const char signature_hex[] =
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
    uint8_t der[48], sig[ED25519_SIGNATURE], wanted[ED25519_SIGNATURE], raw[ED25519_PUBLIC];
    struct buf pem = BUF_INIT(1024);
    struct ed25519_key *key;
    struct ed25519_public public;
    struct error err = {0};
    char path[160];
    assert_int_equal(hex_decode(der, sizeof der, str_of(seed)), 0);
    assert_int_equal(hex_decode(wanted, sizeof wanted, str_of(signature_hex)), 0);
    assert_int_equal(hex_decode(raw, sizeof raw, str_of(public_hex)), 0);
    buf_adds(&pem, "-----BEGIN PRIVATE KEY-----\n");
    base64_add(&pem, str_make(der, sizeof der));
    buf_adds(&pem, "\n-----END PRIVATE KEY-----\n");
    snprintf(path, sizeof path, "%s", in(p, "a.key"));
    put(path, buf_str(&pem));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(ed25519_key_load(&key, path, &err), 0);
    assert_int_equal(ed25519_public_of(key, &public, &err), 0);
    assert_memory_equal(public.raw, raw, sizeof raw);
    assert_int_equal(ed25519_sign(key, str_make("\x72", 1), sig, &err), 0);
    assert_memory_equal(sig, wanted, sizeof sig);
    assert_true(ed25519_verify(&public, str_make("\x72", 1), sig));
    sig[0] ^= 1;
    assert_false(ed25519_verify(&public, str_make("\x72", 1), sig));
    ed25519_key_free(key);
    buf_release(&pem);
}

/* RFC 4648, section 10, and spellings that are not canonical. */
static void base64_is_that_of_rfc_4648(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    static const char *const bad[] = {"Zg=", "Zh==", "Zm9=", "Z===", "Zg==Zg==", "Zm9v\n", "Zm-v"};
    struct buf out = BUF_INIT(64);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        buf_reset(&out);
        base64_add(&out, str_of(pairs[i][0]));
        assert_true(str_eq(buf_str(&out), str_of(pairs[i][1])));
        buf_reset(&out);
        assert_int_equal(base64_decode(&out, str_of(pairs[i][1])), 0);
        assert_true(str_eq(buf_str(&out), str_of(pairs[i][0])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(base64_decode(&out, str_of(bad[i])), -1);
    buf_release(&out);
}

int main(void)
{
#define IN_A_PLACE(f) cmocka_unit_test_setup_teardown(f, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(what_was_signed_is_valid),
        IN_A_PLACE(three_messages_are_three),
        IN_A_PLACE(files_beside_missing_and_linked_fail),
        IN_A_PLACE(every_flipped_byte_fails),
        IN_A_PLACE(another_spelling_of_the_envelope_fails),
        IN_A_PLACE(private_keys_stay_private),
        IN_A_PLACE(trust_files_read_back),
        IN_A_PLACE(signatures_are_those_of_rfc_8032),
        cmocka_unit_test(base64_is_that_of_rfc_4648),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
