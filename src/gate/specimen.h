/*
 * A run directory to try rules on: constructed requests, put through the code that really writes
 * receipts. Nothing is measured.
 *
 *     struct specimen s;
 *     specimen_init(&s);
 *     s.dir = "/tmp/x/run";
 *     if (specimen_write(&s, err) < 0) ...           // s.result.run_id
 *
 * Each worker sends a request every 300 ms; the first token takes 50 ms (the comparator 60), then
 * one comes every 5 ms (6), SPECIMEN_TOKENS in all, one an arrival. Everything may be changed on
 * its way: the plan and lanes before the start, each sample, each band. With a tokenizer and a
 * corpus, prompts and outputs are counted as a run counts them.
 * Ownership: everything given is borrowed until specimen_write returns.
 */
#ifndef TALLY_GATE_SPECIMEN_H
#define TALLY_GATE_SPECIMEN_H

#include "base/error.h"
#include "base/hash.h"
#include "corpus/counter.h"
#include "receipt/receipt.h"

#define SPECIMEN_BANDS_MAX 4
#define SPECIMEN_TOKENS 8
#define SPECIMEN_ZERO_REAL INT64_C(1796117400000000000) /* 2026-12-01T09:30:00Z: its start */

struct specimen {
    const char *dir;
    struct receipt_client client;
    const struct corpus *corpus;          /* NULL */
    struct corpus_token_counter *counter; /* NULL */
    int32_t bands[SPECIMEN_BANDS_MAX];
    size_t bands_n, lanes_n;
    int32_t replicates;
    int64_t window_s;
    enum count_method method;
    int64_t body;    /* tokens of every prompt's body, where no corpus is given */
    int64_t wrap[2]; /* tokens that a lane adds; COUNT_NONE: it reports no usage */
    bool interrupted;
    bool finish;     /* false: the run is cut off before its receipt */
    bool leave_open; /* with !finish: the last band is not closed either */
    size_t argc;
    const char *const *argv;
    const char *nonce;
    const char *hosts[2], *builds[2];
    int64_t start_real_ns; /* when it was measured; a run takes some minutes */

    void *ctx;
    /* Called for every sample before it is written; true leaves it out. NULL. */
    bool (*change)(void *ctx, struct sample *s);
    /* Called for every band before it is kept. NULL. */
    void (*change_band)(void *ctx, struct run_band *b);
    /* Called for plan and lanes before the start. NULL. */
    void (*change_plan)(void *ctx, struct run_plan *p, struct run_lane *lanes);

    struct receipt_result result; /* without refusals, which die with the run */
    char refusals[4096];          /* "rule lane band replicate: seen\n" each */
};

/* Two lanes, concurrencies 1 and 4, two replicates, windows of 10 s. */
void specimen_init(struct specimen *s);
int specimen_write(struct specimen *s, struct error *err) TALLY_MUST_CHECK;

#endif
