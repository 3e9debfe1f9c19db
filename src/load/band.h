/*
 * One band of one lane as a state machine: when a request is to be sent, when the window opens and
 * closes, why the band stopped (spec section 5). Pure: time is passed in, nothing waits.
 *
 *     struct band *b;  band_new(&b, &config, now_ns, err);
 *     while (band_next(b, now_ns, &issue)) send(&issue);          // what is due now
 *     band_ended(b, worker, t_end_ns);  band_judged(b, phase, ok, now_ns);
 *     ... wait until band_deadline(b) or an event, then band_tick(b, now_ns)
 *
 * Stages: WARMUP (config.warmup requests a worker; without a quiesce period those that are done
 * keep sending, still as warm-up, until all are done) -> QUIESCE (nothing in flight, then
 * quiesce_ns of silence) -> WINDOW -> DRAIN (nothing is sent, what is in flight ends) -> DONE.
 * In an open loop (config.arrival) requests are sent when they are due. Warm-up and window have
 * arrivals of their own, which begin with the phase, so that both lanes' windows have the same. The
 * window opens when the first config.warmup requests have ended. Arrivals that the window plans are
 * those due before its close less BAND_CLOSE_GUARD_NS; what of them was not sent is planned all the
 * same (band_result.planned_window).
 * Times are absolute monotonic ns, never going backwards from call to call.
 * Limits: BAND_WORKERS_MAX in a closed loop; memory alone in an open one.
 */
#ifndef TALLY_LOAD_BAND_H
#define TALLY_LOAD_BAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/status.h"
#include "record/run.h"
#include "record/sample.h"

#define BAND_WORKERS_MAX 65536
/* A request handed over this shortly before a moment at which the window may close could be sent
 * after it; it waits for the decision. */
#define BAND_CLOSE_GUARD_NS RUN_CLOSE_GUARD_NS
/* Arrivals of one window that are counted as planned. */
#define BAND_PLANNED_MAX (INT64_C(4) << 20)

struct band_config {
    int32_t workers;       /* the concurrency c; open: at most so many in flight, 0: no cap */
    int32_t warmup;        /* requests a worker; open: requests; 0: the window opens at once */
    int64_t quiesce_ns;    /* 0: load never pauses before the window */
    int64_t window_ns;     /* at least so long */
    int64_t max_window_ns; /* at most so long: then INCOMPLETE{max_window} */
    int64_t min_samples;   /* requests sent in the window that must have ended */
    int64_t requests;      /* above 0: exactly so many are sent in the window, which closes when
                              the last has ended; window_ns and min_samples do not matter then */
    /* Open loop: the next arrival of a phase, in ns from the phase's beginning, never below the one
     * before; INT64_MAX: none is left. NULL: closed. */
    int64_t (*arrival)(void *ctx, enum sample_phase phase);
    void *ctx;
    /* Closed loop, a ramp: the concurrency of each step, rising, the last of which is workers. The
     * window begins with the first and lasts exactly ramp_n steps. */
    const int32_t *ramp;
    size_t ramp_n; /* 0: no ramp */
    int64_t ramp_step_ns;
};

/* Failures in a row that stop a band of c workers: max(20, 2c). */
int64_t band_failing_limit(int32_t workers);

enum band_stage { BAND_WARMUP, BAND_QUIESCE, BAND_WINDOW, BAND_DRAIN, BAND_DONE };

struct band_issue {
    int32_t worker;
    int64_t seq;         /* order of issue in the band */
    int64_t phase_index; /* order of issue within the phase: which prompt it is */
    enum sample_phase phase;
    bool start_cohort;
    int64_t t_planned_ns; /* when the worker was free to send it; open: when it was planned */
    /* When it was to be sent: as planned, or later where the cap or the guard kept it waiting. */
    int64_t t_due_ns;
};

struct band_result {
    int64_t t_start_ns, t_open_ns, t_close_ns, t_drained_ns; /* TIME_NONE: never reached */
    enum status status;                                      /* PASS, INCOMPLETE, UNMEASURED */
    const char *reason; /* NULL, "max_window", "failing", "warmup_failed", "interrupted" */
    int64_t issued_warmup, issued_window, ended_window;
    int64_t planned_window; /* open: arrivals of the window, sent or not; COUNT_NONE */
};

struct band;

int band_new(struct band **out, const struct band_config *config, int64_t now_ns,
             struct error *err) TALLY_MUST_CHECK;
void band_free(struct band *b);

/* True with *issue filled when a worker is to send now: it counts as in flight from then on. */
bool band_next(struct band *b, int64_t now_ns, struct band_issue *issue);
/* Whether band_next would have one at that moment, and of which phase. */
bool band_would_send(struct band *b, int64_t now_ns, enum sample_phase *phase);
/* The worker's request ended (however it did) at t_end_ns; now_ns is the clock. */
void band_ended(struct band *b, int32_t worker, int64_t t_end_ns, int64_t now_ns);
/* What became of a request, known once its answer has been parsed. */
void band_judged(struct band *b, enum sample_phase phase, bool ok, int64_t now_ns);
/* Stops sending; what was measured is kept as INCOMPLETE{interrupted}. */
void band_interrupt(struct band *b, int64_t now_ns);
void band_tick(struct band *b, int64_t now_ns);

enum band_stage band_stage(const struct band *b);
/* When band_tick must be called at the latest; INT64_MAX when only an event can change things. */
int64_t band_deadline(const struct band *b);
/* The band was stopped for a reason that makes what is in flight worthless: cancel it. */
bool band_wants_cancel(const struct band *b);
int32_t band_in_flight(const struct band *b);
void band_get_result(const struct band *b, struct band_result *out);

#endif
