/* tally key new | show | trust: signing keys and whom to trust. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/ed25519.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/paths.h"
#include "receipt/envelope.h"

static int key_new(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    struct ed25519_key *key = NULL;
    struct ed25519_public public;
    int rc = -1;
    (void)args;
    if (ed25519_key_make(&key, err) < 0 || ed25519_public_of(key, &public, err) < 0 ||
        ed25519_key_save(key, o->v[0], err) < 0)
        goto out;
    fprintf(cli->out, "key     %s\nprivate %s (mode 0600: keep it secret)\npublic  %s.pub\n",
            public.id, o->v[0], o->v[0]);
    rc = 0;
out:
    ed25519_key_free(key);
    return rc;
}

struct trust_args {
    const char *trust, *name;
};

static int load_public(struct ed25519_public *public, const char *path, struct error *err)
{
    struct error first;
    struct ed25519_key *key;
    if (ed25519_public_load(public, path, &first) == 0)
        return 0;
    /* A private key shows its public half too. */
    if (first.kind == ERROR_INPUT && ed25519_key_load(&key, path, err) == 0) {
        int status = ed25519_public_of(key, public, err);
        ed25519_key_free(key);
        return status;
    }
    if (first.kind == ERROR_INPUT && err->kind == ERROR_REFUSED)
        return -1;
    *err = first;
    return -1;
}

static void print_key(struct cli *cli, const struct ed25519_public *public, const char *name)
{
    struct buf raw = BUF_INIT(256);
    base64_add(&raw, str_make(public->raw, sizeof public->raw));
    fprintf(cli->out, "%s  %s  %s\n", public->id, raw.p ? raw.p : "", name);
    buf_release(&raw);
}

static int key_show(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct trust_args *a = args;
    struct buf path = BUF_INIT(PATH_MAX);
    struct envelope_signer *keys = NULL;
    struct ed25519_public public;
    size_t n = 0;
    int rc = -1;
    for (int i = 0; i < o->n; i++) {
        if (load_public(&public, o->v[i], err) < 0)
            goto out;
        print_key(cli, &public, o->v[i]);
    }
    if (o->n == 0) {
        if (paths_trust_file(&path, a->trust, err) < 0)
            goto out;
        if (!file_exists(path.p)) {
            error_set(err, ERROR_IO, "no key is trusted yet");
            error_remedy(err, "tally key trust FILE.pub --name NAME");
            error_at_file(err, path.p);
            goto out;
        }
        if (trust_read(&keys, &n, path.p, err) < 0)
            goto out;
        for (size_t i = 0; i < n; i++)
            print_key(cli, &keys[i].key, keys[i].name);
    }
    rc = 0;
out:
    free(keys);
    buf_release(&path);
    return rc;
}

static int key_trust(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct trust_args *a = args;
    struct buf path = BUF_INIT(PATH_MAX);
    struct ed25519_public public;
    int rc = -1;
    if (!a->name) {
        error_set(err, ERROR_USAGE, "a trusted key needs a name that people know it by");
        return error_remedy(err, "add --name, for example --name 'lab A, CI'");
    }
    if (load_public(&public, o->v[0], err) < 0 || paths_trust_file(&path, a->trust, err) < 0 ||
        paths_make_parent(path.p, err) < 0 || trust_add(path.p, &public, a->name, err) < 0)
        goto out;
    fprintf(cli->out, "trusted %s as %s in %s\n", public.id, a->name, path.p);
    rc = 0;
out:
    buf_release(&path);
    return rc;
}

static const struct option trust_options[] = {
    {"trust", OPTION_STRING, OFFSET(struct trust_args, trust), "FILE", NULL,
     .help = "the file of trusted keys (default: trusted_keys in the configuration folder)"},
    {"name", OPTION_STRING, OFFSET(struct trust_args, name), "NAME", NULL,
     .help = "what people call the key's owner"},
    OPTIONS_END,
};

static const struct option show_options[] = {
    {"trust", OPTION_STRING, OFFSET(struct trust_args, trust), "FILE", NULL,
     .help = "the file of trusted keys (default: trusted_keys in the configuration folder)"},
    OPTIONS_END,
};

static const struct command cmd_new = {
    .name = "new",
    .summary = "make a signing key",
    .usage = "FILE",
    .description = "Writes an Ed25519 private key to FILE (PKCS #8 PEM, mode 0600) and its public "
                   "half to FILE.pub. Neither is ever written over an existing file.",
    .examples = "tally key new ci.key\n",
    .operands_min = 1,
    .operands_max = 1,
    .run = key_new,
};

static const struct command cmd_show = {
    .name = "show",
    .summary = "print key ids: of files, or of the keys that are trusted",
    .usage = "[FILE...]",
    .description = "For each key: its id (SHA-256 of the DER SubjectPublicKeyInfo), its 32 bytes "
                   "in base64, and its name.",
    .examples = "tally key show ci.key.pub\ntally key show\n",
    .options = show_options,
    .args_size = sizeof(struct trust_args),
    .operands_min = 0,
    .operands_max = -1,
    .run = key_show,
};

static const struct command cmd_trust = {
    .name = "trust",
    .summary = "trust a public key under a name",
    .usage = "FILE.pub --name NAME",
    .description = "Adds the key to the trust file, which `tally verify` and `tally gate` read: a "
                   "receipt signed by a key that is not in it is called so.",
    .examples = "tally key trust ci.key.pub --name 'lab A, CI'\n",
    .options = trust_options,
    .args_size = sizeof(struct trust_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = key_trust,
};

static const struct command *const key_commands[] = {&cmd_new, &cmd_show, &cmd_trust, NULL};

const struct command cmd_key = {
    .name = "key",
    .summary = "make, show and trust signing keys",
    .usage = "COMMAND",
    .commands = key_commands,
};
