/*
 * When what was measured is no conformant evidence: one table of rules, what each checks, and what
 * to do. A rule that is broken refuses its band (and so the run); it never hides a number.
 *
 *     struct rules_band facts;
 *     rules_look(&facts, &plan, samples, n);               // while the samples are at hand
 *     rules_judge(&run, metrics, facts, &arena, &verdict, err);
 *
 * The status of a band is the worst of what the loop ended it with, what its metrics say
 * (metrics_band.status) and the rules; the run's is the worst of its bands', INCOMPLETE when it was
 * interrupted or a declared band is missing. Pure.
 * Ownership: texts of the verdict live in the arena.
 */
#ifndef TALLY_RECEIPT_RULES_H
#define TALLY_RECEIPT_RULES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/status.h"
#include "metrics/metrics.h"
#include "receipt/receipt.h"
#include "record/run.h"

/* id, name, what it checks, what to do when it is broken */
#define RECEIPT_RULES(X)                                                                          \
    X(RULE_TOKENIZER, "tokenizer_missing",                                                        \
      "a run that counts with the client's tokenizer states the digests of that tokenizer",       \
      "give --tokenizer FILE; its digests are computed from the bytes that are read")             \
    X(RULE_CORPUS, "corpus_missing", "the corpus is named by the digest of its bytes",            \
      "give --corpus FILE")                                                                       \
    X(RULE_TIME_ORDER, "time_order", "no time of a request lies before one that must precede it", \
      "the clock or the client is at fault: measure again and report it")                         \
    X(RULE_CONSERVATION, "conservation",                                                          \
      "every request issued has exactly one outcome, and the samples hold each one issued",       \
      "samples are missing or doubled: measure again, and keep every sample")                     \
    X(RULE_SENT_OUTSIDE, "sent_outside_window",                                                   \
      "no request of the window is sent before its open, or at or after its close",               \
      "the client is at fault: measure again and report it")                                      \
    X(RULE_CLIENT, "client_saturated", "the client was not the bottleneck",                       \
      "measure from a faster or less busy machine, or at a lower concurrency")                    \
    X(RULE_CORRECTNESS, "invalid_correctness",                                                    \
      "the outputs are text, not one token over and over",                                        \
      "look at what the server answers (its model, template or build is broken)")                 \
    X(RULE_USAGE_ABSENT, "usage_absent",                                                          \
      "a run that counts prompts by the server's usage has it for every request that ended ok",   \
      "count with the model's own tokenizer (--tokenizer FILE), which needs nothing of the "      \
      "server")                                                                                   \
    X(RULE_COUNT_ABSENT, "prompt_count_absent",                                                   \
      "a run that counts prompts with the client's tokenizer has a count for every request",      \
      "the client is at fault: measure again and report it")                                      \
    X(RULE_PROMPT_BAND, "prompt_band",                                                            \
      "every prompt of the window lies in the band that the corpus promises, by the run's count", \
      "count with the model's own tokenizer (--tokenizer FILE): servers wrap prompts "            \
      "differently, "                                                                             \
      "and no corpus can be in the band of all of them")                                          \
    X(RULE_LANE, "foreign_sample", "a band's samples are of its own lane, band and replicate",    \
      "the samples were mixed up: measure again")

enum receipt_rule {
#define X(id, name, checks, remedy) id,
    RECEIPT_RULES(X)
#undef X
        RECEIPT_RULE_COUNT
};

const char *receipt_rule_name(enum receipt_rule r);
const char *receipt_rule_checks(enum receipt_rule r);
const char *receipt_rule_remedy(enum receipt_rule r);

/* What the rules look at in the samples of one band. */
struct rules_band {
    int64_t ok;             /* requests of the window that ended ok */
    int64_t usage_absent;   /* of these, without prompt_reported */
    int64_t body_absent;    /* requests of the window without prompt_body */
    int64_t counted;        /* requests of the window with a count by the run's method */
    int64_t outside;        /* of these, out of the corpus's band */
    int64_t least, most;    /* of the counts; COUNT_NONE without any */
    const char *broken;     /* rule name of samples that metrics could not compute; NULL */
    const char *broken_how; /* what was seen */
};

void rules_look(struct rules_band *facts, const struct run_plan *plan, const struct sample *samples,
                size_t n);

struct rules_verdict {
    enum status status;
    const char *reason; /* NULL when status is PASS */
    /* One a band of the run. */
    const enum status *band_status;
    const char *const *band_reason; /* NULL when PASS */
    const struct receipt_refusal *refusals;
    size_t refusals_n;
};

int rules_judge(const struct run_record *run, struct metrics_band *const *metrics,
                const struct rules_band *facts, struct arena *arena, struct rules_verdict *out,
                struct error *err) TALLY_MUST_CHECK;

#endif
