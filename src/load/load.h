/*
 * A run: one or two lanes, measured band by band and replicate by replicate, into a run directory.
 *
 *     struct load_options o = {.plan = plan, .lanes = {...}, .lanes_n = 2, .corpus = &corpus, ...};
 *     struct load *run;
 *     if (load_prepare(&run, &o, err) < 0) ...      // asks the servers; nothing is written yet
 *     if (load_measure(run, &outcome, err) < 0) ... // the clock starts; writes o.out_dir
 *     load_free(run);
 *
 * Ownership: everything in load_options is borrowed until load_free.
 * Between the two calls the caller may show what was learnt: load_lane_at, load_estimate.
 */
#ifndef TALLY_LOAD_LOAD_H
#define TALLY_LOAD_LOAD_H

#include <signal.h>

#include "chat/hypothesis.h"
#include "corpus/counter.h"
#include "corpus/talk.h"
#include "corpus/trace.h"
#include "load/lane.h"
#include "load/progress.h"
#include "load/switch.h"
#include "receipt/receipt.h"

struct load_options {
    struct run_plan plan; /* nonce and zero are set by load_prepare and load_measure */
    struct load_lane_options lanes[RUN_LANES_MAX];
    size_t lanes_n;
    const struct corpus *corpus;
    const struct talk *talk;           /* conversations; corpus is then theirs. NULL */
    const struct trace *trace;         /* plan.load_model "trace": what is replayed; else NULL */
    const struct tokenizer *tokenizer; /* NULL with COUNT_SERVER_USAGE */
    const struct chat_named_template *templates; /* that lanes may be using; borrowed */
    size_t templates_n;
    bool no_probe;                                /* do not ask what the lanes put around prompts */
    struct lane_commands commands[RUN_LANES_MAX]; /* by lane */
    int64_t lane_timeout_ns;                      /* of each of them */
    const char *calibrate_url; /* of a tally-sim --null --stamp: measure the floor there; NULL */
    int64_t burn_ns;           /* spin that long before every read: to see a client refused; 0 */
    /* Take the real clock to be set forward by so much when a window opens: to see a band marked;
     * 0. */
    int64_t clock_step_ns;
    const char *out_dir;
    struct receipt_client client;
    /* Called once the lanes are known and before anything is written or timed: where the run is
     * claimed in a ledger. Appends the entry for the receipt to *ledger_json (one JSON object);
     * -1 ends the run before it began. NULL: the receipt says that there is no ledger. */
    int (*claim)(void *ctx, const struct run_record *declared, struct buf *ledger_json,
                 struct error *err);
    void *claim_ctx;
    char *const *argv;
    int argc;
    struct load_progress progress;
    const volatile sig_atomic_t *stop; /* set by the signal that ends the run early; NULL */
};

struct load;

/* Checks the plan and the corpus (the body-token band; ERROR_REFUSED, rule corpus.*), raises the
 * soft limit of open files, asks each lane for one real completion, and refuses what would be no
 * evidence: with COUNT_SERVER_USAGE a lane without usage, or outside the band (ERROR_REFUSED with
 * the reason for each lane). Warns of unequal prompt work. */
int load_prepare(struct load **out, const struct load_options *options,
                 struct error *err) TALLY_MUST_CHECK;
const struct load_lane *load_lane_at(const struct load *l, size_t i); /* NULL past the last */
const struct run_plan *load_plan(const struct load *l);
/* At least so many requests and so much time. */
void load_estimate(const struct load *l, int64_t *requests, int64_t *ns);

struct load_outcome {
    struct receipt_result result;
    bool interrupted;
};

/* -1 when measuring itself broke down; the run directory then reads as INCOMPLETE{interrupted}.
 * What out->result points to lives as long as l. */
int load_measure(struct load *l, struct load_outcome *out, struct error *err) TALLY_MUST_CHECK;
void load_free(struct load *l); /* NULL is fine */

/* The body of the first request to lane i, appended to out; asks no server. */
int load_example(const struct load_options *options, size_t i, struct buf *out,
                 struct error *err) TALLY_MUST_CHECK;
/* The plan's checks alone, which need no server: for --dry-run. Sorts the bands. */
int load_check(struct load_options *options, struct error *err) TALLY_MUST_CHECK;

#endif
