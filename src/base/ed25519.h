/*
 * Ed25519 keys and signatures (RFC 8032, by OpenSSL).
 *
 *     struct ed25519_key *key;
 *     if (ed25519_key_make(&key, err) < 0 || ed25519_key_save(key, "ci.key", err) < 0) ...
 *     uint8_t sig[ED25519_SIGNATURE];
 *     if (ed25519_sign(key, message, sig, err) < 0) ...
 *
 * Private keys are PKCS #8 PEM files of mode 0600, public keys SubjectPublicKeyInfo PEM: what
 * `openssl genpkey -algorithm ed25519` writes and `openssl pkeyutl` reads. A key's id is the
 * SHA-256 of its DER SubjectPublicKeyInfo in hexadecimal.
 * Ownership: keys are heap-held; ed25519_key_free takes NULL.
 */
#ifndef TALLY_BASE_ED25519_H
#define TALLY_BASE_ED25519_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"

#define ED25519_PUBLIC 32
#define ED25519_SIGNATURE 64
#define ED25519_FILE_MAX 16384

struct ed25519_key;

struct ed25519_public {
    uint8_t raw[ED25519_PUBLIC];
    char id[SHA256_HEX];
};

int ed25519_key_make(struct ed25519_key **out, struct error *err) TALLY_MUST_CHECK;
/* ERROR_REFUSED `key_mode` when group or others may read the file. */
int ed25519_key_load(struct ed25519_key **out, const char *path,
                     struct error *err) TALLY_MUST_CHECK;
/* Writes path (mode 0600, never over an existing file) and path.pub (0644). */
int ed25519_key_save(const struct ed25519_key *key, const char *path,
                     struct error *err) TALLY_MUST_CHECK;
void ed25519_key_free(struct ed25519_key *key);

int ed25519_public_of(const struct ed25519_key *key, struct ed25519_public *out,
                      struct error *err) TALLY_MUST_CHECK;
int ed25519_public_from_raw(struct ed25519_public *out, const uint8_t raw[ED25519_PUBLIC],
                            struct error *err) TALLY_MUST_CHECK;
/* A PEM file holding a public key. */
int ed25519_public_load(struct ed25519_public *out, const char *path,
                        struct error *err) TALLY_MUST_CHECK;

int ed25519_sign(const struct ed25519_key *key, struct str message,
                 uint8_t signature[ED25519_SIGNATURE], struct error *err) TALLY_MUST_CHECK;
bool ed25519_verify(const struct ed25519_public *key, struct str message,
                    const uint8_t signature[ED25519_SIGNATURE]);

#endif
