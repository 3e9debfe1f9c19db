/*
 * The suites of self-test (inside src/gate only): each adds its results.
 *
 *     if (suite_verify(t, o, &counting, err) < 0 || suite_gate(t, o, err) < 0) ...
 */
#ifndef TALLY_GATE_SUITES_H
#define TALLY_GATE_SUITES_H

#include "corpus/counter.h"
#include "gate/selftest.h"

/* What prompts and outputs are counted with. */
struct suite_counting {
    const char *tokenizer_path, *corpus_path;
    const struct corpus *corpus;
    struct corpus_token_counter *counter;
};

int suite_verify(struct selftest *t, const struct selftest_options *o,
                 const struct suite_counting *counting, struct error *err) TALLY_MUST_CHECK;
int suite_compare(struct selftest *t, const struct selftest_options *o,
                  struct error *err) TALLY_MUST_CHECK;
int suite_gate(struct selftest *t, const struct selftest_options *o,
               struct error *err) TALLY_MUST_CHECK;

#endif
