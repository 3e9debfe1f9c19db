/*
 * The signature of a run directory: a DSSE envelope around an in-toto Statement whose subjects are
 * every file of the directory but the envelope itself.
 *
 *     if (envelope_write(dir, key, run_id, err) < 0) ...
 *     struct envelope_check c;
 *     if (envelope_check_dir(dir, keys, keys_n, &c, err) < 0) ...   // c.verdict, c.detail
 *
 * What is signed is DSSE's pre-authentication encoding, "DSSEv1 LEN TYPE LEN PAYLOAD". The
 * signature is checked over the decoded payload's bytes before they are parsed; the envelope must
 * equal its own canonical form, byte for byte; a key id only narrows the choice of keys.
 * docs/signing.md says how to check one with OpenSSL alone.
 *
 * Source: DSSE protocol and envelope (secure-systems-lab/dsse), in-toto Statement v1.
 * Limits: ENVELOPE_FILES_MAX files, ENVELOPE_DEPTH_MAX folders deep, ENVELOPE_BYTES_MAX; symbolic
 * links and anything that is neither file nor folder are refused.
 */
#ifndef TALLY_RECEIPT_ENVELOPE_H
#define TALLY_RECEIPT_ENVELOPE_H

#include <stddef.h>

#include "base/ed25519.h"
#include "base/error.h"
#include "base/str.h"

#define ENVELOPE_NAME "receipt.dsse.json"
#define ENVELOPE_PAYLOAD_TYPE "application/vnd.in-toto+json"
#define ENVELOPE_STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define ENVELOPE_PREDICATE_TYPE "urn:tallystick:receipt:v1"
#define ENVELOPE_FILES_MAX 100000
#define ENVELOPE_DEPTH_MAX 4
#define ENVELOPE_BYTES_MAX ((size_t)64 << 20)

/* Writes dir/receipt.dsse.json over all files that lie in dir now. */
int envelope_write(const char *dir, const struct ed25519_key *key, struct str run_id,
                   struct error *err) TALLY_MUST_CHECK;

/* A key somebody trusts, with the name they gave it. */
struct envelope_signer {
    struct ed25519_public key;
    char name[128];
};

enum envelope_verdict {
    ENVELOPE_VALID,       /* signed by one of the keys, every file as signed, none beside */
    ENVELOPE_UNSIGNED,    /* there is no envelope */
    ENVELOPE_UNKNOWN_KEY, /* well-formed, signed by a key that is not among the given ones */
    ENVELOPE_WRONG,       /* signature, form or a file does not match; detail says which */
};

struct envelope_check {
    enum envelope_verdict verdict;
    char detail[512];        /* one sentence: what was seen */
    char key_id[SHA256_HEX]; /* as the envelope names it; "" without one */
    char signer[128];        /* name of the trusted key that signed; "" */
    char run_id[SHA256_HEX]; /* of the signed statement; "" unless VALID */
    size_t files;            /* subjects checked */
};

/* -1 only when the directory cannot be read. */
int envelope_check_dir(const char *dir, const struct envelope_signer *keys, size_t keys_n,
                       struct envelope_check *out, struct error *err) TALLY_MUST_CHECK;

/* A trust file: lines `ed25519 BASE64-OF-32-BYTES NAME`, `#` comments. *keys is heap-held. */
int trust_read(struct envelope_signer **keys, size_t *n, const char *path,
               struct error *err) TALLY_MUST_CHECK;
/* Adds a line (the file is made when absent). ERROR_USAGE when the key is in it already. */
int trust_add(const char *path, const struct ed25519_public *key, const char *name,
              struct error *err) TALLY_MUST_CHECK;

#endif
