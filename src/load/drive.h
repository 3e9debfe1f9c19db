/*
 * Measures one band of one lane: binds the band's state machine to the wire loop, the prompts'
 * thread and the judge's thread.
 *
 *     struct run_band band = {.lane = 0, .band = 4, .replicate = 1};
 *     if (drive_band(&config, &band, err) < 0) ...       // only when measuring itself broke down
 *
 * What a server does wrong is the band's status and reason; -1 is ours: memory, a full disk, a
 * prompt that cannot be made. The sample file is closed in any case.
 */
#ifndef TALLY_LOAD_DRIVE_H
#define TALLY_LOAD_DRIVE_H

#include <signal.h>

#include "corpus/talk.h"
#include "load/judge.h"

struct drive_config {
    const struct run_plan *plan;
    const struct load_lane *lane;
    const struct corpus *corpus;
    const struct trace *trace;            /* NULL: prompts come from the corpus */
    const struct talk *talk;              /* conversations to be played instead; NULL */
    const struct corpus_counter *counter; /* NULL */
    const struct tokenizer *tokenizer;    /* NULL */
    struct receipt_run *receipt;
    int64_t burn_ns; /* of wire_loop_options */
    int64_t clock_step_ns;
    const struct load_progress *progress;
    struct load_state state;
    const volatile sig_atomic_t *stop; /* set by a signal; NULL */
    struct arena *arena;               /* for texts of the band's record */
};

int drive_band(const struct drive_config *config, struct run_band *band,
               struct error *err) TALLY_MUST_CHECK;
/* A band that is not measured, for a reason known beforehand: its sample file is empty. */
int drive_skip(const struct drive_config *config, struct run_band *band, const char *reason,
               const char *detail, struct error *err) TALLY_MUST_CHECK;

#endif
