/*
 * Digests of bytes: SHA-256 (by OpenSSL) for evidence, a fast 64-bit hash for tables.
 *
 *     char hex[SHA256_HEX];
 *     if (sha256_hex(hex, bytes, err) < 0) ...
 *
 * Ownership: struct sha256 is heap-held; sha256_free takes NULL. Hex is lower case with a NUL.
 */
#ifndef TALLY_BASE_HASH_H
#define TALLY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define SHA256_BYTES 32
#define SHA256_HEX 65

struct sha256;

struct sha256 *sha256_new(void); /* NULL when memory or OpenSSL refuses */
void sha256_free(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *p, size_t n); /* failure is kept until the end */
void sha256_add_u64(struct sha256 *h, uint64_t v);          /* eight bytes, least first */
void sha256_add_str(struct sha256 *h, struct str s);        /* its length as u64, then its bytes */
/* Ends the digest; h can only be freed afterwards. */
int sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES], struct error *err) TALLY_MUST_CHECK;
int sha256_end_hex(struct sha256 *h, char out[SHA256_HEX], struct error *err) TALLY_MUST_CHECK;

int sha256_hex(char out[SHA256_HEX], struct str bytes, struct error *err) TALLY_MUST_CHECK;
int sha256_file_hex(char out[SHA256_HEX], const char *path, struct error *err) TALLY_MUST_CHECK;

/* n bytes as 2n hexadecimal digits and a NUL. */
void hex_encode(char *out, const uint8_t *p, size_t n);
/* 0, or -1 unless s is exactly 2n hexadecimal digits. */
int hex_decode(uint8_t *out, size_t n, struct str s);

/* For hash tables; not stable between versions, never written to a file. */
uint64_t hash64(const void *data, size_t n, uint64_t seed);

#endif
