/*
 * The registry of mutations: what somebody could do to a run directory, and the rule that must turn
 * red for it. `tally selftest` applies each to a receipt that the real producer wrote in the same
 * run, and demands red by that rule; the directory as it is must stay green.
 *
 *     struct selftest t;
 *     struct selftest_options o = {.dir = dir, .client = client};
 *     if (selftest_run(&t, &o, err) < 0) ...
 *     for (size_t i = 0; i < t.n; i++) ... t.results[i].mutation->name, .red
 *     selftest_release(&t);
 *
 * An edit is a text of a file replaced by another, or the last digit of a number changed. `sealed`
 * ones get every digest and the run id set anew, as one would do who knows the format, so that only
 * the recomputation can tell. Rules that need a tokenizer and a corpus are tried when both are
 * given. Ownership: results live in t; the registry is constant.
 */
#ifndef TALLY_GATE_MUTATIONS_H
#define TALLY_GATE_MUTATIONS_H

#include <stdbool.h>

#include "corpus/counter.h"
#include "receipt/receipt.h"
#include "verify/verify.h"

enum mutation_kind {
    MUTATE_TEXT,   /* `from` behind `after` becomes `to` */
    MUTATE_NUMBER, /* the number or digest behind `after`, then `from`, gets another last digit */
    MUTATE_ADD,    /* a file appears, holding `to` */
    MUTATE_LINK,   /* a symbolic link to `to` appears */
    MUTATE_SIGN,   /* signed by a key that nobody trusts, where a signature is needed */
};

struct mutation {
    const char *name;
    enum verify_rule rule;
    enum mutation_kind kind;
    bool sealed;
    const char *file, *after, *from, *to;
};

extern const struct mutation mutations[];
extern const size_t mutations_n;

struct selftest_options {
    const char *dir; /* does not exist yet; removing it afterwards is the caller's */
    struct receipt_client client;
    const char *tokenizer, *corpus; /* paths; NULL: what needs them is not tried */
};

enum selftest_outcome { SELFTEST_RED, SELFTEST_SURVIVED, SELFTEST_NOT_TRIED };

struct selftest_result {
    const struct mutation *mutation;
    enum selftest_outcome outcome;
    char said[256]; /* the place that the rule named */
};

struct selftest {
    bool green; /* the directory as it was written verifies */
    struct selftest_result *results;
    size_t n;
    size_t survived, not_tried, rules_without; /* rules of verify that no mutation is for */
};

int selftest_run(struct selftest *t, const struct selftest_options *o,
                 struct error *err) TALLY_MUST_CHECK;
void selftest_release(struct selftest *t); /* NULL and zeroed are fine */

#endif
