/* Any byte of any file of a signed run directory: one flip, and it does not verify. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "make.h"
#include "receipt/envelope.h"
#include "receipt/files.h"
#include "stats/random.h"
#include "verify/verify.h"

#define FLIPS 800
#define GZIP_HEADER 10 /* RFC 1952: magic, method, flags, time, extra flags, system */
#define GZIP_TRAILER 8 /* CRC-32 and length */
#define NAMES_MAX 8

struct scene {
    struct make m;
    struct envelope_signer signer;
    struct file_list files;
    struct random random;
    int flips, by_signature_alone;
};

static void sign(struct scene *s)
{
    struct error err = {0};
    struct ed25519_key *key;
    assert_int_equal(ed25519_key_make(&key, &err), 0);
    assert_int_equal(ed25519_public_of(key, &s->signer.key, &err), 0);
    snprintf(s->signer.name, sizeof s->signer.name, "lab");
    assert_int_equal(envelope_write(s->m.dir, key, str_of(s->m.result.run_id), &err), 0);
    ed25519_key_free(key);
}

static enum verify_verdict look(struct scene *s, bool *only_signature)
{
    struct error err = {0};
    struct verify_report v;
    const struct verify_options o = {.keys = &s->signer, .keys_n = 1, .need_signature = true};
    if (verify_dir(&v, s->m.dir, &o, &err) < 0)
        fail_msg("%s", err.message);
    enum verify_verdict verdict = v.verdict;
    *only_signature = v.rules[VERIFY_SIGNATURE].state == VERIFY_FAILED;
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        if (r != VERIFY_SIGNATURE && v.rules[r].state == VERIFY_FAILED)
            *only_signature = false;
    verify_release(&v);
    return verdict;
}

static void write_in_place(const char *path, struct str bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    assert_int_equal(fclose(f), 0);
}

static void flip(struct scene *s, const char *name, struct buf *bytes, size_t at)
{
    const char *path = make_path(&s->m, name);
    char mask = (char)(1 + random_below(&s->random, 255));
    bool only_signature;
    bytes->p[at] ^= mask;
    write_in_place(path, buf_str(bytes));
    if (look(s, &only_signature) != VERIFY_BROKEN)
        fail_msg("%s: byte %zu of %zu flipped by %02x goes unseen", name, at, bytes->n,
                 (unsigned char)mask);
    s->by_signature_alone += only_signature;
    s->flips++;
    bytes->p[at] ^= mask;
    write_in_place(path, buf_str(bytes));
}

static void flip_range(struct scene *s, const char *name, struct buf *bytes, size_t from, size_t to)
{
    for (size_t at = from; at < to && at < bytes->n; at++)
        flip(s, name, bytes, at);
}

/* Where forgers and careless readers meet: the ends of gzip files, the last letters of base64
 * (whose unused bits a decoder may pass over), the ends of every text. */
static void flip_edges(struct scene *s, const char *name, struct buf *bytes)
{
    static const char *const tails[] = {"\",\"payloadType\"", "\"}]}"};
    if (str_ends(str_of(name), STR(".gz"))) {
        flip_range(s, name, bytes, 0, GZIP_HEADER);
        flip_range(s, name, bytes, bytes->n - GZIP_TRAILER, bytes->n);
        return;
    }
    flip_range(s, name, bytes, 0, 2);
    flip_range(s, name, bytes, bytes->n - 2, bytes->n);
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        size_t end = str_find(buf_str(bytes), str_of(tails[i]));
        if (strcmp(name, ENVELOPE_NAME) == 0) {
            assert_true(end != STR_NONE);
            flip_range(s, name, bytes, end - 4, end);
        }
    }
}

static void any_flip_is_seen(void **state)
{
    struct scene s = {0};
    struct error err = {0};
    struct buf bytes[NAMES_MAX];
    bool ignored;
    (void)state;
    make_init(&s.m);
    s.m.lanes_n = s.m.bands_n = 1;
    s.m.replicates = 2;
    make_run(&s.m);
    sign(&s);
    assert_int_equal(look(&s, &ignored), VERIFY_OK);
    assert_int_equal(file_list_read(&s.files, s.m.dir, NULL, &err), 0);
    assert_int_equal(s.files.n,
                     8); /* envelope, receipt, run, floor; two bands' samples and server */
    random_seed(&s.random, 2026);
    for (size_t i = 0; i < s.files.n; i++) {
        const char *name = s.files.files[i].name.p;
        bytes[i] = (struct buf)BUF_INIT(0);
        assert_int_equal(file_read(&bytes[i], make_path(&s.m, name), BUF_ANY, &err), 0);
        flip_edges(&s, name, &bytes[i]);
    }
    assert_true(s.flips > 40 && s.flips < FLIPS / 2);
    while (s.flips < FLIPS) {
        size_t i = (size_t)s.flips % s.files.n;
        flip(&s, s.files.files[i].name.p, &bytes[i],
             (size_t)random_below(&s.random, (uint32_t)bytes[i].n));
    }
    assert_int_equal(look(&s, &ignored), VERIFY_OK);
    /* Flips of the envelope are the signature's to find; no other rule reads it. */
    assert_true(s.by_signature_alone > 80);
    print_message("%d flips, all seen; %d by the signature alone\n", s.flips, s.by_signature_alone);
    for (size_t i = 0; i < s.files.n; i++)
        buf_release(&bytes[i]);
    file_list_release(&s.files);
    make_release(&s.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_flip_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
