#include "base/ed25519.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

struct ed25519_key {
    EVP_PKEY *pkey;
};

static int openssl_failed(struct error *err, const char *doing)
{
    return error_set(err, ERROR_ENVIRONMENT, "OpenSSL could not %s", doing);
}

static int wrap(struct ed25519_key **out, EVP_PKEY *pkey, struct error *err)
{
    struct ed25519_key *key = malloc(sizeof *key);
    if (!key) {
        EVP_PKEY_free(pkey);
        return error_no_memory(err);
    }
    key->pkey = pkey;
    *out = key;
    return 0;
}

int ed25519_key_make(struct ed25519_key **out, struct error *err)
{
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    return pkey ? wrap(out, pkey, err) : openssl_failed(err, "make an Ed25519 key");
}

void ed25519_key_free(struct ed25519_key *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->pkey);
    free(key);
}

static int check_mode(const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        error_set_errno(err, errno, "cannot read the signing key");
        return error_at_file(err, path);
    }
    if ((st.st_mode & 077) == 0)
        return 0;
    error_set(err, ERROR_REFUSED, "the signing key may be read by others (mode %04o)",
              (unsigned)(st.st_mode & 07777));
    error_rule(err, "key_mode");
    error_remedy(err, "chmod 600 %s; and make a new key if somebody may have read it", path);
    return error_at_file(err, path);
}

int ed25519_key_load(struct ed25519_key **out, const char *path, struct error *err)
{
    struct buf pem = BUF_INIT(0);
    int status = -1;
    if (check_mode(path, err) < 0 || file_read(&pem, path, ED25519_FILE_MAX, err) < 0)
        goto out;
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    /* An empty passphrase: an encrypted key fails instead of asking on a terminal. */
    char no_passphrase[] = "";
    EVP_PKEY *pkey = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, no_passphrase) : NULL;
    BIO_free(bio);
    if (!pkey || EVP_PKEY_get_id(pkey) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(pkey);
        error_set(err, ERROR_INPUT, "not an Ed25519 private key in PEM");
        error_remedy(err, "make one with: tally key new FILE");
        error_at_file(err, path);
        goto out;
    }
    status = wrap(out, pkey, err);
out:
    if (pem.p)
        memset(pem.p, 0, pem.n);
    buf_release(&pem);
    return status;
}

static int write_new(const char *path, mode_t mode, struct str bytes, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        error_set_errno(err, errno, "cannot create");
        if (errno == EEXIST)
            error_remedy(err, "choose another name; a key is never overwritten");
        return error_at_file(err, path);
    }
    int status = file_write_all(fd, bytes, path, err);
    if (status == 0 && fsync(fd) < 0) {
        error_set_errno(err, errno, "cannot flush");
        status = error_at_file(err, path);
    }
    if (close(fd) < 0 && status == 0) {
        error_set_errno(err, errno, "cannot close");
        status = error_at_file(err, path);
    }
    if (status < 0)
        unlink(path);
    return status;
}

int ed25519_key_save(const struct ed25519_key *key, const char *path, struct error *err)
{
    char public_path[PATH_MAX];
    char *text;
    int status = -1;
    int n = snprintf(public_path, sizeof public_path, "%s.pub", path);
    BIO *private_pem = BIO_new(BIO_s_mem()), *public_pem = BIO_new(BIO_s_mem());
    if (n < 0 || (size_t)n >= sizeof public_path || !private_pem || !public_pem ||
        PEM_write_bio_PrivateKey(private_pem, key->pkey, NULL, NULL, 0, NULL, NULL) != 1 ||
        PEM_write_bio_PUBKEY(public_pem, key->pkey) != 1) {
        openssl_failed(err, "write the key");
        goto out;
    }
    long size = BIO_get_mem_data(private_pem, &text);
    if (write_new(path, 0600, str_make(text, (size_t)size), err) < 0)
        goto out;
    size = BIO_get_mem_data(public_pem, &text);
    status = write_new(public_path, 0644, str_make(text, (size_t)size), err);
    if (status < 0)
        unlink(path);
out:
    BIO_free(private_pem);
    BIO_free(public_pem);
    return status;
}

static int describe(struct ed25519_public *out, EVP_PKEY *pkey, struct error *err)
{
    struct ed25519_public p;
    size_t n = sizeof p.raw;
    unsigned char *der = NULL;
    if (EVP_PKEY_get_raw_public_key(pkey, p.raw, &n) != 1 || n != sizeof p.raw)
        return openssl_failed(err, "read the public key");
    int size = i2d_PUBKEY(pkey, &der);
    if (size <= 0)
        return openssl_failed(err, "encode the public key");
    int status = sha256_hex(p.id, str_make(der, (size_t)size), err);
    OPENSSL_free(der);
    if (status == 0)
        *out = p;
    return status;
}

int ed25519_public_of(const struct ed25519_key *key, struct ed25519_public *out, struct error *err)
{
    return describe(out, key->pkey, err);
}

int ed25519_public_from_raw(struct ed25519_public *out, const uint8_t raw[ED25519_PUBLIC],
                            struct error *err)
{
    EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, ED25519_PUBLIC);
    if (!pkey)
        return openssl_failed(err, "take the public key");
    int status = describe(out, pkey, err);
    EVP_PKEY_free(pkey);
    return status;
}

int ed25519_public_load(struct ed25519_public *out, const char *path, struct error *err)
{
    struct buf pem = BUF_INIT(0);
    int status = file_read(&pem, path, ED25519_FILE_MAX, err);
    if (status == 0) {
        BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
        EVP_PKEY *pkey = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
        BIO_free(bio);
        if (pkey && EVP_PKEY_get_id(pkey) == EVP_PKEY_ED25519) {
            status = describe(out, pkey, err);
        } else {
            error_set(err, ERROR_INPUT, "not an Ed25519 public key in PEM");
            error_remedy(err, "give the .pub file that `tally key new` wrote");
            status = error_at_file(err, path);
        }
        EVP_PKEY_free(pkey);
    }
    buf_release(&pem);
    return status;
}

int ed25519_sign(const struct ed25519_key *key, struct str message,
                 uint8_t signature[ED25519_SIGNATURE], struct error *err)
{
    size_t n = ED25519_SIGNATURE;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool done =
        ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
        EVP_DigestSign(ctx, signature, &n, (const unsigned char *)message.p, message.n) == 1 &&
        n == ED25519_SIGNATURE;
    EVP_MD_CTX_free(ctx);
    return done ? 0 : openssl_failed(err, "sign");
}

bool ed25519_verify(const struct ed25519_public *key, struct str message,
                    const uint8_t signature[ED25519_SIGNATURE])
{
    EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->raw, ED25519_PUBLIC);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool valid = pkey && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
                 EVP_DigestVerify(ctx, signature, ED25519_SIGNATURE,
                                  (const unsigned char *)message.p, message.n) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pkey);
    return valid;
}
