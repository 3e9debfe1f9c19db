/*
 * What a band holds, and the two ways in which its requests come: only for band.c, band_closed.c
 * and band_open.c.
 *
 *     if (b->config.arrival ? open_may_send(b, now_ns) : closed_may_send(b)) ...
 *
 * band.c knows the stages and the window, which are the same for both; the others say who may send
 * and when.
 */
#ifndef TALLY_LOAD_BAND_INTERNAL_H
#define TALLY_LOAD_BAND_INTERNAL_H

#include "load/band.h"

/* A worker of a closed loop; in an open one the place that a request in flight takes. */
struct worker {
    bool busy, window_request; /* the one in flight was sent in the window */
    bool warms;                /* open: the window waits for its end */
    bool had_window;           /* closed: has sent in the window */
    int32_t warmed;            /* closed: warm-up requests that ended */
    int64_t free_since_ns;     /* closed */
};

struct band {
    struct band_config config;
    struct worker *workers;
    int32_t workers_n; /* closed: those that take part, which a ramp lets rise; open: places made */
    /* closed: a ring of workers that may send, in the order in which they became free; open: a
     * stack of free places */
    int32_t *idle;
    int32_t idle_first, idle_n;
    enum band_stage stage;
    int32_t in_flight, warmed_workers;
    int64_t quiesce_until_ns; /* TIME_NONE until nothing is in flight */
    int64_t next_second;      /* the whole second of the window that is looked at next, from 1 */
    int64_t failures_in_row;
    int64_t seq;
    bool cancel;
    struct band_result result;
    size_t ramp_at; /* the ramp's step that runs */
    /* open */
    int64_t phase_begin_ns, due_ns; /* where the arrivals of the phase begin; the next of them */
    int64_t now_ns;                 /* as band_tick was told last */
    int64_t let_ns;  /* when the cap last let an arrival through that it had kept waiting */
    int64_t held_ns; /* the look at the window that last went by without its closing */
};

/* Of the window's requests so many may be sent; INT64_MAX: as many as come. */
int64_t band_requests_left(const struct band *b);
/* Nothing new may be handed over so shortly before the window may close. */
bool band_guarded(const struct band *b, int64_t now_ns);
void band_open_window(struct band *b, int64_t now_ns);
void band_begin_quiesce(struct band *b, int64_t now_ns);

int closed_new(struct band *b, int64_t now_ns, struct error *err) TALLY_MUST_CHECK;
bool closed_may_send(const struct band *b, int64_t now_ns);
void closed_take(struct band *b, struct band_issue *issue);
/* A warm-up request ended while the band was warming up. */
void closed_warmed(struct band *b, int32_t worker, int64_t t_end_ns, int64_t now_ns);
void closed_free(struct band *b, int32_t worker, int64_t t_end_ns);
void closed_window_opens(struct band *b, int64_t now_ns);
/* Whom the guard held back was not late: he was due when the decision fell. */
void closed_release(struct band *b, int64_t at_ns);
int64_t closed_next_step(const struct band *b); /* INT64_MAX: no step of a ramp is to come */
void closed_step(struct band *b, int64_t at_ns);

int open_new(struct band *b, int64_t now_ns, struct error *err) TALLY_MUST_CHECK;
bool open_may_send(const struct band *b, int64_t now_ns);
/* False without memory. */
bool open_take(struct band *b, struct band_issue *issue);
void open_warmed(struct band *b, int32_t place, int64_t now_ns);
void open_free(struct band *b, int32_t place, int64_t t_end_ns);
/* The arrivals of a phase begin. */
void open_begin(struct band *b, enum sample_phase phase, int64_t now_ns);
int64_t open_deadline(const struct band *b);
/* Counts the arrivals that were due before end_ns, sent or not. */
void open_count_planned(struct band *b, int64_t end_ns);

#endif
