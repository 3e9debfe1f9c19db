#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../test.h"
#include "base/file.h"

/* FIPS 180-4's examples (NIST, "SHA256.pdf"), and the well-known digest of nothing. */
static const struct {
    const char *text, *digest;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

static void sha256_known(void **state)
{
    (void)state;
    struct error err = {0};
    char hex[SHA256_HEX];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(sha256_hex(hex, str_of(known[i].text), &err), 0);
        assert_string_equal(hex, known[i].digest);
    }
}

static void sha256_by_pieces(void **state)
{
    (void)state;
    struct error err = {0};
    char hex[SHA256_HEX];
    struct sha256 *h = sha256_new();
    for (const char *p = known[2].text; *p; p++)
        sha256_add(h, p, 1);
    sha256_add(h, NULL, 0);
    assert_int_equal(sha256_end_hex(h, hex, &err), 0);
    assert_string_equal(hex, known[2].digest);
    sha256_free(h);
    sha256_free(NULL);
}

/* Lengths come first, so that {"ab","c"} and {"a","bc"} differ; integers are least byte first. */
static void sha256_of_parts(void **state)
{
    (void)state;
    struct error err = {0};
    char one[SHA256_HEX], other[SHA256_HEX];
    struct sha256 *h = sha256_new();
    sha256_add_str(h, STR("abc"));
    sha256_add_u64(h, 0x0102030405060708);
    assert_int_equal(sha256_end_hex(h, one, &err), 0);
    sha256_free(h);
    assert_int_equal(sha256_hex(other,
                                STR("\3\0\0\0\0\0\0\0"
                                    "abc"
                                    "\10\7\6\5\4\3\2\1"),
                                &err),
                     0);
    assert_string_equal(one, other);
}

static void sha256_of_a_file(void **state)
{
    (void)state;
    struct error err = {0};
    char hex[SHA256_HEX] = "as it was", want[SHA256_HEX];
    char path[] = "tally_hash_XXXXXX";
    close(mkstemp(path));
    struct buf big = BUF_INIT(BUF_ANY);
    buf_pad(&big, 'x', 200001); /* several pieces and a rest */
    assert_int_equal(file_write_atomic(path, buf_str(&big), &err), 0);
    assert_int_equal(sha256_hex(want, buf_str(&big), &err), 0);
    assert_int_equal(sha256_file_hex(hex, path, &err), 0);
    assert_string_equal(hex, want);
    unlink(path);
    buf_release(&big);
    strcpy(hex, "as it was");
    assert_refused(sha256_file_hex(hex, path, &err), err, ERROR_IO, "cannot open");
    assert_string_equal(err.file, path);
    assert_refused(sha256_file_hex(hex, ".", &err), err, ERROR_IO, "cannot read");
    assert_string_equal(hex, "as it was");
}

static void hexadecimal(void **state)
{
    (void)state;
    const uint8_t raw[] = {0x00, 0x0f, 0xa5, 0xff};
    char text[9];
    uint8_t back[4];
    hex_encode(text, raw, 4);
    assert_string_equal(text, "000fa5ff");
    assert_int_equal(hex_decode(back, 4, STR("000FA5fF")), 0);
    assert_memory_equal(back, raw, 4);
    assert_int_equal(hex_decode(back, 4, STR("000fa5f")), -1);
    assert_int_equal(hex_decode(back, 4, STR("000fa5ff0")), -1);
    assert_int_equal(hex_decode(back, 4, STR("000fa5fg")), -1);
    assert_int_equal(hex_decode(back, 0, STR("")), 0);
    hex_encode(text, raw, 0);
    assert_string_equal(text, "");
}

static void table_hash(void **state)
{
    (void)state;
    char bytes[64] = {0};
    assert_true(hash64("abc", 3, 1) == hash64("abc", 3, 1));
    assert_true(hash64("abc", 3, 1) != hash64("abc", 3, 2));
    assert_true(hash64(NULL, 0, 1) == hash64("", 0, 1));
    /* Zeros of another number are another text, and so is each single changed bit. */
    for (size_t n = 1; n <= sizeof bytes; n++)
        assert_true(hash64(bytes, n, 1) != hash64(bytes, n - 1, 1));
    uint64_t plain = hash64(bytes, sizeof bytes, 1);
    for (size_t bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_true(hash64(bytes, sizeof bytes, 1) != plain);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    /* Neighbouring keys spread over a table of 256 slots: none holds more than 16 of 1024. */
    int slots[256] = {0};
    for (int i = 0; i < 1024; i++) {
        char key[16];
        int n = snprintf(key, sizeof key, "token%d", i);
        int *slot = &slots[hash64(key, (size_t)n, 1) & 255];
        assert_true(++*slot <= 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_known),    cmocka_unit_test(sha256_by_pieces),
        cmocka_unit_test(sha256_of_parts), cmocka_unit_test(sha256_of_a_file),
        cmocka_unit_test(hexadecimal),     cmocka_unit_test(table_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
