/*
 * What makes a run's receipt stand: its claim in the ledger before the clock starts, its signature
 * and its settlement afterwards.
 *
 *     struct run_evidence e = {0};
 *     if (run_evidence_open(&e, &args, &load_options, err) < 0) ...   // key and ledger are there
 *     load_measure(...);                                              // claims through a callback
 *     if (run_evidence_keep(&e, &result, err) < 0) ...                // signs, then settles
 *     run_evidence_release(&e);
 *
 * A run that is killed in between leaves its cell spent and without a receipt, which
 * 'tally ledger check' tells. Ownership: e owns key and ledger; args and options are borrowed.
 */
#ifndef TALLY_CLI_RUN_EVIDENCE_H
#define TALLY_CLI_RUN_EVIDENCE_H

#include "base/ed25519.h"
#include "cli/run_args.h"
#include "ledger/ledger.h"

struct run_evidence {
    struct ed25519_key *key;
    struct ledger *ledger;
    struct ledger_link spend; /* texts are the ledger's until its next call */
    bool claimed;
    const struct run_args *args;
    const struct load_options *options;
};

int run_evidence_open(struct run_evidence *e, const struct run_args *args,
                      struct load_options *options, struct error *err) TALLY_MUST_CHECK;
int run_evidence_keep(struct run_evidence *e, const struct receipt_result *result,
                      struct error *err) TALLY_MUST_CHECK;
void run_evidence_release(struct run_evidence *e); /* NULL and zeroed are fine */

#endif
