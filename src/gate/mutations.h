/*
 * The registry of mutations of a run directory: what somebody could do to it, and the rule of
 * verify that must turn red for it (gate/selftest.h applies them).
 *
 *     for (size_t i = 0; i < mutations_n; i++) ... mutations[i].name, .rule
 *
 * An edit is a text of a file replaced by another, or the last digit of a number changed. `sealed`
 * ones get every digest and the run id set anew, as one would do who knows the format, so that only
 * the recomputation can tell. The registry is constant.
 */
#ifndef TALLY_GATE_MUTATIONS_H
#define TALLY_GATE_MUTATIONS_H

#include <stdbool.h>

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

#endif
