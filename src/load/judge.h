/*
 * The parser's thread: finished exchanges become samples, are counted and written, and their
 * verdicts go back to the timing thread.
 *
 *     struct judge *j;  judge_start(&j, &config, err);
 *     judge_give(j, job);                       // false: too many waiting, try again later
 *     while (judge_verdict(j, &v)) band_judged(band, v.phase, v.ok, now);
 *     judge_finish(j, &summary, err);           // waits until all is written
 *
 * Ownership: a job that was given belongs to the judge. The tokenizer and the receipt are borrowed;
 * only the judge's thread touches the receipt between start and finish.
 */
#ifndef TALLY_LOAD_JUDGE_H
#define TALLY_LOAD_JUDGE_H

#include "load/band.h"
#include "load/lane.h"
#include "load/progress.h"
#include "load/prompts.h"
#include "receipt/receipt.h"
#include "token/tokenizer.h"

/* One request on its way: what it was, then what came back. */
struct judge_job {
    struct band_issue issue;
    struct prompt *prompt;
    struct wire_exchange *exchange;
    struct judge_job *next; /* list of verdicts */
    bool ok;
};

void judge_job_free(struct judge_job *job);

struct judge_config {
    const struct load_lane *lane;
    struct receipt_run *receipt;
    const struct tokenizer *tokenizer; /* NULL: output is not retokenized */
    int64_t zero_ns;                   /* the run's zero */
    int32_t band, replicate;
    const struct load_progress *progress; /* called from the judge's thread; NULL */
    struct load_state state;              /* what stays the same in each call */
    /* A request of the band was parsed: makes its worker's next prompt (load/dialogue.h); NULL.
     * Called from the judge's thread, before the verdict goes back. */
    int (*answered)(void *ctx, const struct band_issue *issue, bool ok, const struct sample *s,
                    struct error *err);
    void (*wake)(void *ctx); /* a verdict is there; any thread */
    void *ctx;
};

struct judge_verdict {
    enum sample_phase phase;
    int32_t worker;
    bool ok;
};

struct judge_summary {
    int64_t samples, window_ok, window_not_ok, warmup;
    int64_t cpu_ns;        /* of the judge's thread */
    char first_error[512]; /* of the first request that did not end ok; "" */
};

struct judge;

int judge_start(struct judge **out, const struct judge_config *config,
                struct error *err) TALLY_MUST_CHECK;
bool judge_give(struct judge *j, struct judge_job *job);
bool judge_verdict(struct judge *j, struct judge_verdict *v);
/* True, with *err set, when writing failed (a full disk): nothing more will be kept. */
bool judge_error(struct judge *j, struct error *err);
/* Where the band stands, for progress. */
void judge_set_stage(struct judge *j, enum band_stage stage, int64_t open_ns);
/* Waits for all that was given, ends the thread, frees j (also on failure). */
int judge_finish(struct judge *j, struct judge_summary *out, struct error *err) TALLY_MUST_CHECK;

/* An exchange as a sample, with counts by the client's tokenizer (NULL: none). Used by the judge
 * and for the completion before the clock starts. */
int judge_sample(const struct load_lane *lane, const struct tokenizer *tokenizer,
                 const struct judge_job *job, int64_t zero_ns, struct sample *s,
                 struct arena *arena, struct error *err) TALLY_MUST_CHECK;

#endif
