/*
 * Self-test: every rule of verify, compare and gate must be able to fail. Each has mutations of
 * receipts that the real producer writes in the same run; a mutation must turn its own rule red,
 * whatever else it breaks, and what was not touched must stay green.
 *
 *     struct selftest t;
 *     struct selftest_options o = {.root = dir, .client = client};
 *     if (selftest_run(&t, &o, err) < 0) ...
 *     for (size_t i = 0; i < t.n; i++) ... t.results[i].rule, .mutation, .outcome
 *     selftest_release(&t);
 *
 * Without a tokenizer and a corpus a small tokenizer and a corpus made with it serve.
 * Ownership: results live in t.
 */
#ifndef TALLY_GATE_SELFTEST_H
#define TALLY_GATE_SELFTEST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "receipt/receipt.h"

#define SELFTEST_RESULTS_MAX 256
/* What is written below root to count with: always, also where others were given. */
#define SELFTEST_TOKENIZER "tokenizer.json"
#define SELFTEST_CORPUS "corpus.jsonl"

struct selftest_options {
    const char *root; /* a directory of its own; removing it afterwards is the caller's */
    struct receipt_client client;
    const char *tokenizer, *corpus; /* paths; both or neither */
};

enum selftest_outcome {
    SELFTEST_GREEN,     /* nothing was changed, and nothing was red */
    SELFTEST_RED,       /* the rule saw it */
    SELFTEST_SURVIVED,  /* it did not */
    SELFTEST_NOT_GREEN, /* red although nothing was changed */
    SELFTEST_NOT_TRIED, /* this machine does not allow it; said says why */
};

struct selftest_result {
    const char *suite, *rule; /* "verify", "gate" …; rule "" where nothing was changed */
    const char *mutation;
    enum selftest_outcome outcome;
    char said[256]; /* the place or sentence that the rule named */
};

struct selftest {
    struct selftest_result results[SELFTEST_RESULTS_MAX];
    size_t n;
    size_t rules_without; /* rules that no mutation is for */
};

int selftest_run(struct selftest *t, const struct selftest_options *o,
                 struct error *err) TALLY_MUST_CHECK;
/* One more result, its texts constant but for `said`, which is copied and cut. */
void selftest_add(struct selftest *t, const char *suite, const char *rule, const char *mutation,
                  enum selftest_outcome outcome, const char *said);
size_t selftest_count(const struct selftest *t, enum selftest_outcome outcome);

/* A byte-level BPE tokenizer, as tokenizer.json, in which the words of a specimen are one token
 * each; appended to out. */
int selftest_tokenizer(struct buf *out, struct error *err) TALLY_MUST_CHECK;

#endif
