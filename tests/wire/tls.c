#include "tls.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct server_tls {
    SSL_CTX *ctx;
    char dir[256];
};

static EVP_PKEY *make_key(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    assert(key);
    return key;
}

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *e;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    assert(e && X509_add_ext(cert, e, -1) == 1);
    X509_EXTENSION_free(e);
}

/* issuer NULL: an authority that signs itself. */
static X509 *make_cert(EVP_PKEY *key, const char *name, X509 *issuer, EVP_PKEY *issuer_key)
{
    static long serial = 1;
    X509 *cert = X509_new();
    X509_NAME *subject;
    assert(cert && X509_set_version(cert, 2) == 1);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_set_pubkey(cert, key);
    subject = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(cert, issuer ? X509_get_subject_name(issuer) : subject);
    if (!issuer) {
        add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE");
        add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign");
    } else {
        add_extension(cert, issuer, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
    }
    assert(X509_sign(cert, issuer ? issuer_key : key, EVP_sha256()) > 0);
    return cert;
}

static void write_cert(const char *dir, const char *name, X509 *cert)
{
    char path[512];
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert(f && PEM_write_X509(f, cert) == 1);
    fclose(f);
}

static void write_key(const char *dir, const char *name, EVP_PKEY *key)
{
    char path[512];
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert(f && PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1);
    fclose(f);
}

struct server_tls *server_tls_new(const char *dir, bool ask_client)
{
    struct server_tls *tls = calloc(1, sizeof *tls);
    EVP_PKEY *ca_key = make_key(), *key = make_key(), *client_key = make_key();
    X509 *ca = make_cert(ca_key, "test authority", NULL, NULL);
    X509 *cert = make_cert(key, "localhost", ca, ca_key);
    X509 *client = make_cert(client_key, "client", ca, ca_key);
    assert(tls);
    snprintf(tls->dir, sizeof tls->dir, "%s", dir);
    write_cert(dir, "ca.pem", ca);
    write_cert(dir, "client.pem", client);
    write_key(dir, "client.key", client_key);
    tls->ctx = SSL_CTX_new(TLS_server_method());
    assert(tls->ctx && SSL_CTX_use_certificate(tls->ctx, cert) == 1 &&
           SSL_CTX_use_PrivateKey(tls->ctx, key) == 1);
    if (ask_client) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(tls->ctx), ca);
        SSL_CTX_set_verify(tls->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    X509_free(ca);
    X509_free(cert);
    X509_free(client);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
    EVP_PKEY_free(client_key);
    return tls;
}

static int choose_h2(SSL *ssl, const unsigned char **out, unsigned char *out_n,
                     const unsigned char *in, unsigned in_n, void *arg)
{
    static const unsigned char h2[] = {2, 'h', '2'};
    unsigned char *chosen;
    (void)ssl, (void)arg;
    if (SSL_select_next_proto(&chosen, out_n, h2, sizeof h2, in, in_n) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

void server_tls_offer_h2(struct server_tls *tls)
{
    SSL_CTX_set_alpn_select_cb(tls->ctx, choose_h2, NULL);
}

void server_tls_free(struct server_tls *tls)
{
    static const char *const names[] = {"ca.pem", "client.pem", "client.key"};
    char path[512];
    if (!tls)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", tls->dir, names[i]);
        unlink(path);
    }
    SSL_CTX_free(tls->ctx);
    free(tls);
}

struct tls_session {
    SSL *ssl;
};

struct tls_session *tls_accept(struct server_tls *tls, int fd)
{
    struct tls_session *t = calloc(1, sizeof *t);
    assert(t);
    t->ssl = SSL_new(tls->ctx);
    assert(t->ssl && SSL_set_fd(t->ssl, fd) == 1);
    if (SSL_accept(t->ssl) == 1)
        return t;
    tls_close(t, false);
    return NULL;
}

void tls_close(struct tls_session *t, bool orderly)
{
    if (!t)
        return;
    if (orderly)
        SSL_shutdown(t->ssl);
    SSL_free(t->ssl);
    free(t);
}

bool tls_pending(const struct tls_session *t)
{
    return SSL_pending(t->ssl) > 0;
}

ssize_t tls_read(struct tls_session *t, char *to, size_t n)
{
    return SSL_read(t->ssl, to, (int)n);
}

ssize_t tls_write(struct tls_session *t, const char *bytes, size_t n)
{
    return SSL_write(t->ssl, bytes, (int)n);
}
