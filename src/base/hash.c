#include "base/hash.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

struct sha256 {
    EVP_MD_CTX *ctx;
    bool failed;
};

struct sha256 *sha256_new(void)
{
    struct sha256 *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->ctx = EVP_MD_CTX_new();
    if (!h->ctx || EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1) {
        sha256_free(h);
        return NULL;
    }
    return h;
}

void sha256_free(struct sha256 *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->ctx);
    free(h);
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
    if (n && EVP_DigestUpdate(h->ctx, p, n) != 1)
        h->failed = true;
}

void sha256_add_u64(struct sha256 *h, uint64_t v)
{
    uint8_t b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)(v >> (8 * i));
    sha256_add(h, b, sizeof b);
}

void sha256_add_str(struct sha256 *h, struct str s)
{
    sha256_add_u64(h, s.n);
    sha256_add(h, s.p, s.n);
}

int sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES], struct error *err)
{
    unsigned n = 0;
    if (h->failed || EVP_DigestFinal_ex(h->ctx, out, &n) != 1 || n != SHA256_BYTES)
        return error_set(err, ERROR_ENVIRONMENT, "OpenSSL could not compute SHA-256");
    return 0;
}

int sha256_end_hex(struct sha256 *h, char out[SHA256_HEX], struct error *err)
{
    uint8_t raw[SHA256_BYTES];
    if (sha256_end(h, raw, err) < 0)
        return -1;
    hex_encode(out, raw, sizeof raw);
    return 0;
}

int sha256_hex(char out[SHA256_HEX], struct str bytes, struct error *err)
{
    struct sha256 *h = sha256_new();
    if (!h)
        return error_no_memory(err);
    sha256_add(h, bytes.p, bytes.n);
    int status = sha256_end_hex(h, out, err);
    sha256_free(h);
    return status;
}

int sha256_file_hex(char out[SHA256_HEX], const char *path, struct error *err)
{
    char piece[65536];
    ssize_t n;
    int status = -1, fd = file_open(path, err);
    if (fd < 0)
        return -1;
    struct sha256 *h = sha256_new();
    if (!h) {
        error_no_memory(err);
        goto out;
    }
    while ((n = file_read_some(fd, piece, sizeof piece, path, err)) > 0)
        sha256_add(h, piece, (size_t)n);
    if (n == 0)
        status = sha256_end_hex(h, out, err);
out:
    sha256_free(h);
    close(fd);
    return status;
}

void hex_encode(char *out, const uint8_t *p, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
    out[2 * n] = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int hex_decode(uint8_t *out, size_t n, struct str s)
{
    if (s.n != 2 * n)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int hi = hex_digit(s.p[2 * i]), lo = hex_digit(s.p[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return -1;
        out[i] = (uint8_t)(hi << 4 | lo);
    }
    return 0;
}

static uint64_t load8(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* Up to eight bytes as one word; which of them it were, n tells. */
static uint64_t load_few(const unsigned char *p, size_t n)
{
    uint32_t front, back;
    if (n == 8)
        return load8(p);
    if (n >= 4) {
        memcpy(&front, p, 4);
        memcpy(&back, p + n - 4, 4);
        return front | (uint64_t)back << 32;
    }
    return n ? p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16 : 0;
}

/* One multiplication a word, the halves exchanged so that high bits come down; the end as
 * MurmurHash3's finalizer (Appleby, public domain) but for one of its steps. */
uint64_t hash64(const void *data, size_t n, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15u);
    for (; n > 8; p += 8, n -= 8) {
        h = (h ^ load8(p)) * 0xff51afd7ed558ccdu;
        h = h << 32 | h >> 32;
    }
    h = (h ^ load_few(p, n)) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}
