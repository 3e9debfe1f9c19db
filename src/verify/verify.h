/*
 * Proves, or fails to prove, that a receipt says what its raw records say: every number again.
 *
 *     struct verify_report v;
 *     struct verify_options o = {.keys = keys, .keys_n = n};
 *     if (verify_dir(&v, "run", &o, err) < 0) ...       // only: the directory cannot be read at
 * all for (int r = 0; r < VERIFY_RULE_COUNT; r++) ... v.rules[r].state, .seen, .failures return
 * verify_exit_code(&v); verify_release(&v);
 *
 * Each rule passes, fails with the place of every failure it kept, or is skipped with the reason
 * (what it needs is broken or not at hand). A receipt that holds refused bands verifies when it
 * says so itself: verifying is about the record, the receipt's own status is what it amounts to. A
 * directory that was cut off is INCOMPLETE{interrupted}: what is there is read, and counted.
 * Ownership: all texts live in the report's arena. Nothing is written.
 * Limits: those of receipt/read.h and receipt/samples.h; VERIFY_FAILURES_MAX kept a rule.
 */
#ifndef TALLY_VERIFY_VERIFY_H
#define TALLY_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/status.h"
#include "receipt/envelope.h"

/* id, name, what it proves */
#define VERIFY_RULES(X)                                                                            \
    X(VERIFY_DIRECTORY, "directory",                                                               \
      "the directory holds regular files alone, none half-written, no link that leads out of it")  \
    X(VERIFY_SCHEMA, "schema",                                                                     \
      "receipt.json is a receipt: every member that was declared is there, of its type and range") \
    X(VERIFY_RUN_ID, "run_id", "the run id is the digest of the receipt's own text")               \
    X(VERIFY_DIGESTS, "digests", "every file has the digest that the receipt states")              \
    X(VERIFY_UNLISTED, "unlisted", "no file lies there that the receipt does not list")            \
    X(VERIFY_RUN_JSON, "run_json", "run.json, written before the clock started, says the same")    \
    X(VERIFY_SAMPLES, "samples",                                                                   \
      "every sample can be read, is within the limits, is of its own lane, band and replicate, "   \
      "asks for as many tokens as the run declares, and digests its own answer")                   \
    X(VERIFY_TIME_ORDER, "time_order",                                                             \
      "no time of a request lies before one that must precede it")                                 \
    X(VERIFY_CONSERVATION, "conservation",                                                         \
      "every request that was issued is there once, with one outcome")                             \
    X(VERIFY_WINDOW, "sent_outside_window",                                                        \
      "no request of the window was sent before its open, or at or after its close")               \
    X(VERIFY_ARRIVALS, "arrivals",                                                                 \
      "the requests of an open loop were due when its arrivals, drawn again, say")                 \
    X(VERIFY_PROTOCOL, "protocol",                                                                 \
      "bands are in the declared order, and each window kept to its declared bounds")              \
    X(VERIFY_SERVER, "server",                                                                     \
      "what the servers said of themselves is what was kept of it, taken out again")               \
    X(VERIFY_CALIBRATION, "calibration",                                                           \
      "the client's floor, computed again from its own samples, has the same digits")              \
    X(VERIFY_PRESENT, "keys_present", "no key is missing and none is there that nobody knows")     \
    X(VERIFY_COUNTS, "counts", "the counts of requests are those of the samples")                  \
    X(VERIFY_METRICS, "metrics",                                                                   \
      "every metric of every band, computed again, has the same digits")                           \
    X(VERIFY_PEAK, "peak_mean", "the peak rate of a band is no less than its mean rate")           \
    X(VERIFY_RATIOS, "ratios", "intervals, prompt work and paired ratios, computed again, agree")  \
    X(VERIFY_KEYS, "join_keys", "the join keys and digests follow from what was declared")         \
    X(VERIFY_STATUS, "status", "the status and refusals follow from the rules")                    \
    X(VERIFY_FORM, "canonical_form", "the text is the one spelling of what it says")               \
    X(VERIFY_PROMPTS, "prompt_counts",                                                             \
      "the prompts, made again from the corpus, have the counts stated")                           \
    X(VERIFY_RENDERED, "rendered_counts",                                                          \
      "the prompts, rendered again behind their lane's wrapper, have the counts stated")           \
    X(VERIFY_OUTPUTS, "output_counts",                                                             \
      "the output texts, tokenized again, have the counts stated")                                 \
    X(VERIFY_TEXTS, "texts",                                                                       \
      "texts are left out of the samples exactly where the receipt says that they are")            \
    X(VERIFY_SIGNATURE, "signature", "a trusted key signed exactly these files")

enum verify_rule {
#define X(id, name, proves) id,
    VERIFY_RULES(X)
#undef X
        VERIFY_RULE_COUNT
};

const char *verify_rule_name(enum verify_rule r);
const char *verify_rule_proves(enum verify_rule r);

#define VERIFY_FAILURES_MAX 20

enum verify_state { VERIFY_SKIPPED = 0, VERIFY_PASSED, VERIFY_FAILED };

/* One place where a rule is broken. */
struct verify_failure {
    const char *file;     /* within the directory; "" for the directory itself */
    int64_t line, column; /* 0: not about a line */
    const char *path;     /* of a JSON value: "bands.0.metrics.ttft_ms.p50"; "" */
    const char *what;     /* what was seen */
};

struct verify_result {
    enum verify_state state;
    const char *seen; /* a sentence: what was looked at, or why it was skipped */
    struct verify_failure failures[VERIFY_FAILURES_MAX];
    size_t failures_n; /* kept; all of them: */
    int64_t failed;
};

struct verify_options {
    const struct envelope_signer *keys; /* trusted */
    size_t keys_n;
    bool need_signature;          /* unsigned, or signed by an unknown key, does not verify */
    const char *corpus;           /* path of the corpus, to count prompts again; NULL */
    const char *tokenizer;        /* path of the tokenizer, likewise; NULL */
    const char *const *templates; /* paths of chat templates, to render prompts again */
    size_t templates_n;
};

enum verify_verdict {
    VERIFY_OK,         /* every rule that could be applied passed */
    VERIFY_BROKEN,     /* a rule failed */
    VERIFY_INCOMPLETE, /* the run was cut off; there is no receipt */
};

struct verify_report {
    struct arena arena;
    enum verify_verdict verdict;
    struct verify_result rules[VERIFY_RULE_COUNT];
    char run_id[SHA256_HEX]; /* as stated; "" where there is none */
    const char *status;      /* of the receipt, as stated; NULL */
    const char *reason;      /* likewise */
    enum envelope_verdict signature;
    const char *signed_by;  /* name of the trusted key; NULL */
    int64_t bands, samples; /* that were read */
    bool measured;          /* every band's samples could be read and computed */
};

int verify_dir(struct verify_report *v, const char *dir, const struct verify_options *o,
               struct error *err) TALLY_MUST_CHECK;
void verify_release(struct verify_report *v); /* NULL and zeroed are fine */

/* 0 verified, 4 does not verify, 3 incomplete. */
int verify_exit_code(const struct verify_report *v);
/* "verified, signed by NAME", "self-consistent, unsigned", "does not verify", … */
const char *verify_summary(const struct verify_report *v);

#endif
