#include "codec/gz.h"

#include <stdlib.h>
#include <unistd.h>

#include "../test.h"
#include "base/file.h"

/* `printf 'hello\n' | gzip -n` (GNU gzip 1.12). */
static const unsigned char hello[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                      0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xe7, 0x02, 0x00,
                                      0x20, 0x30, 0x3a, 0x36, 0x06, 0x00, 0x00, 0x00};
#define HELLO str_make(hello, sizeof hello)

static char path[] = "tally_gz_XXXXXX", packed_path[] = "tally_gz_XXXXXX";

static int set_up(void **state)
{
    (void)state;
    close(mkstemp(path));
    close(mkstemp(packed_path));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(packed_path);
    return 0;
}

static void reads_gnu_gzip(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf out = BUF_INIT(0);
    assert_int_equal(gz_decompress(&out, HELLO, 6, &err), 0); /* at the limit */
    assert_text(buf_str(&out), "hello\n");
    assert_int_equal(out.max, 6);
    assert_refused(gz_decompress(&out, HELLO, 5, &err), err, ERROR_LIMIT, "limit of 5 bytes");
    assert_int_equal(out.n, 0);
    buf_release(&out);
}

static void every_damage_is_seen(void **state)
{
    (void)state;
    struct error err;
    struct buf out = BUF_INIT(0);
    for (size_t n = 0; n < sizeof hello; n++) {
        assert_refused(gz_decompress(&out, str_first(HELLO, n), 100, &err), err, ERROR_INPUT,
                       "not a whole gzip stream");
        assert_true(err.remedy[0] != '\0');
        assert_int_equal(out.n, 0);
    }
    /* Bytes 4 to 9 are the time, the extra flags and the system, which nothing depends on; byte 17
     * ends the deflate data, and that bit of it only fills the byte. */
    for (size_t at = 0; at < sizeof hello; at++) {
        unsigned char damaged[sizeof hello];
        if ((at >= 4 && at <= 9) || at == 17)
            continue;
        memcpy(damaged, hello, sizeof hello);
        damaged[at] ^= 0x10;
        memset(&err, 0, sizeof err);
        assert_int_equal(gz_decompress(&out, str_make(damaged, sizeof damaged), 100, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
    unsigned char longer[sizeof hello * 2];
    memcpy(longer, hello, sizeof hello);
    memcpy(longer + sizeof hello, hello, sizeof hello);
    assert_refused(gz_decompress(&out, str_make(longer, sizeof longer), 100, &err), err,
                   ERROR_INPUT, "26 bytes follow the gzip stream");
    assert_int_equal(err.offset, sizeof hello + 1);
    assert_refused(gz_decompress(&out, STR("plain text"), 100, &err), err, ERROR_INPUT,
                   "not a whole gzip stream");
    buf_release(&out);
}

/* 1 GiB of zeros in 1 MiB: it stops at the limit, and memory with it. */
static void bomb(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf out = BUF_INIT(0), packed = BUF_INIT(BUF_ANY), zeros = BUF_INIT(BUF_ANY);
    buf_pad(&zeros, '\0', (size_t)64 << 20);
    assert_int_equal(gz_compress(&packed, buf_str(&zeros), &err), 0);
    assert_true(packed.n < 100000);
    assert_refused(gz_decompress(&out, buf_str(&packed), 1 << 20, &err), err, ERROR_LIMIT,
                   "more than the limit of 1048576 bytes");
    assert_true(out.cap <= (1 << 20) + 1);
    buf_release(&out);
    buf_release(&packed);
    buf_release(&zeros);
}

/* Text that does not compress, by a multiplicative congruential generator. */
static void add_noise(struct buf *b, size_t n)
{
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        buf_addc(b, (char)(x >> 56));
    }
}

static void there_and_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 300001};
    struct error err = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int noise = 0; noise < 2; noise++) {
            struct buf in = BUF_INIT(BUF_ANY), packed = BUF_INIT(BUF_ANY), out = BUF_INIT(0);
            buf_adds(&packed, "what was there before");
            if (noise)
                add_noise(&in, sizes[i]);
            else
                buf_pad(&in, 'x', sizes[i]);
            assert_int_equal(gz_compress(&packed, buf_str(&in), &err), 0);
            assert_int_equal(gz_decompress(&out, buf_str(&packed), sizes[i], &err), 0);
            assert_int_equal(out.n, sizes[i]);
            assert_true(str_eq(buf_str(&out), buf_str(&in)));
            if (sizes[i])
                assert_refused(gz_decompress(&out, buf_str(&packed), sizes[i] - 1, &err), err,
                               ERROR_LIMIT, "limit of");
            /* The compressed size is a limit met exactly, and one less is too little. */
            struct buf exact = BUF_INIT(packed.n), small = BUF_INIT(packed.n - 1);
            assert_int_equal(gz_compress(&exact, buf_str(&in), &err), 0);
            assert_true(str_eq(buf_str(&exact), buf_str(&packed)));
            assert_refused(gz_compress(&small, buf_str(&in), &err), err, ERROR_LIMIT,
                           "compressed data is longer");
            assert_int_equal(small.n, 0);
            buf_release(&exact);
            buf_release(&small);
            buf_release(&in);
            buf_release(&packed);
            buf_release(&out);
        }
}

static void files_are_the_same_each_time(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf in = BUF_INIT(BUF_ANY), packed = BUF_INIT(BUF_ANY), out = BUF_INIT(0);
    add_noise(&in, 200000);
    buf_pad(&in, 'x', 200000);
    assert_int_equal(file_write_atomic(path, buf_str(&in), &err), 0);
    assert_int_equal(gz_compress_file(path, packed_path, &err), 0);
    assert_int_equal(gz_read(&out, packed_path, in.n, &err), 0);
    assert_true(str_eq(buf_str(&out), buf_str(&in)));
    assert_refused(gz_read(&out, packed_path, in.n - 1, &err), err, ERROR_LIMIT, "limit of");
    assert_string_equal(err.file, packed_path);
    assert_int_equal(file_read(&out, path, BUF_ANY, &err), 0); /* the source is left */
    assert_true(str_eq(buf_str(&out), buf_str(&in)));
    /* No name, no time in the header: RFC 1952's FLG and MTIME are zero. */
    assert_int_equal(file_read(&packed, packed_path, BUF_ANY, &err), 0);
    assert_memory_equal(packed.p, "\x1f\x8b\x08\0\0\0\0\0", 8);
    assert_int_equal(gz_compress_file(path, packed_path, &err), 0);
    assert_int_equal(file_read(&out, packed_path, BUF_ANY, &err), 0);
    assert_true(str_eq(buf_str(&out), buf_str(&packed)));
    buf_release(&in);
    buf_release(&packed);
    buf_release(&out);
}

/* Noise is longer compressed than not; the limit is on what comes out. */
static void limit_is_on_what_comes_out(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf in = BUF_INIT(BUF_ANY), out = BUF_INIT(0), packed = BUF_INIT(BUF_ANY);
    add_noise(&in, 300000);
    assert_int_equal(gz_compress(&packed, buf_str(&in), &err), 0);
    assert_true(packed.n > in.n);
    assert_int_equal(file_write_atomic(packed_path, buf_str(&packed), &err), 0);
    assert_int_equal(gz_read(&out, packed_path, in.n, &err), 0);
    assert_int_equal(gz_read(&out, packed_path, SIZE_MAX, &err), 0);
    buf_release(&in);
    buf_release(&out);
    buf_release(&packed);
}

static void files_that_fail(void **state)
{
    (void)state;
    struct error err;
    struct buf out = BUF_INIT(0);
    assert_refused(gz_read(&out, "absent.gz", 100, &err), err, ERROR_IO, "cannot open");
    assert_refused(gz_compress_file("absent", packed_path, &err), err, ERROR_IO, "cannot open");
    assert_string_equal(err.file, "absent");
    assert_refused(gz_compress_file(path, "no/such.gz", &err), err, ERROR_IO, "cannot create");
    assert_string_equal(err.file, "no/such.gz");
    memset(&err, 0, sizeof err);
    assert_int_equal(file_write_atomic(path, STR("not gzip"), &err), 0);
    assert_refused(gz_read(&out, path, 100, &err), err, ERROR_INPUT, "not a whole gzip stream");
    assert_string_equal(err.file, path);
    if (file_exists("/dev/full"))
        assert_refused(gz_compress_file(path, "/dev/full", &err), err, ERROR_IO, "cannot write");
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_gnu_gzip),
        cmocka_unit_test(every_damage_is_seen),
        cmocka_unit_test(bomb),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(files_are_the_same_each_time),
        cmocka_unit_test(limit_is_on_what_comes_out),
        cmocka_unit_test(files_that_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
