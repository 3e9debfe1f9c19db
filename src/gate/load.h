/*
 * Receipts as a gate takes them: read, verified, signature and ledger looked up.
 *
 *     struct gate_set set;
 *     if (gate_set_load(&set, dirs, n, &options, err) < 0) ...
 *     input.receipts = set.receipts; input.receipts_n = set.n;
 *     gate_set_release(&set);
 *
 * A directory that does not verify is no error: its row says so. Only a directory that cannot be
 * read at all, and a ledger that cannot be opened, are. Ownership: everything lives in the set.
 */
#ifndef TALLY_GATE_LOAD_H
#define TALLY_GATE_LOAD_H

#include "gate/judge.h"
#include "receipt/envelope.h"

struct gate_load_options {
    const struct envelope_signer *keys; /* trusted */
    size_t keys_n;
    const char *ledger; /* path; NULL: none was given */
};

struct gate_loaded;

struct gate_set {
    struct gate_loaded *loaded;
    struct gate_receipt *receipts;
    size_t n;
};

int gate_set_load(struct gate_set *set, const char *const *dirs, size_t n,
                  const struct gate_load_options *options, struct error *err) TALLY_MUST_CHECK;
void gate_set_release(struct gate_set *set); /* NULL and zeroed are fine */

#endif
