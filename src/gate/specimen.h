/*
 * A run directory to try rules on: constructed requests, put through the code that really writes
 * receipts. Two lanes, two levels of concurrency, two replicates; nothing is measured.
 *
 *     struct specimen s = {.dir = "/tmp/x/run"};
 *     if (specimen_write(&s, err) < 0) ...           // s.run_id
 *
 * With a tokenizer and a corpus, prompts and outputs are counted as a run counts them.
 */
#ifndef TALLY_GATE_SPECIMEN_H
#define TALLY_GATE_SPECIMEN_H

#include "base/error.h"
#include "base/hash.h"
#include "corpus/counter.h"
#include "receipt/receipt.h"

struct specimen {
    const char *dir;
    struct receipt_client client;
    const struct corpus *corpus;          /* NULL */
    struct corpus_token_counter *counter; /* NULL */
    char run_id[SHA256_HEX];
};

int specimen_write(struct specimen *s, struct error *err) TALLY_MUST_CHECK;

#endif
