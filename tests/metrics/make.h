/*
 * Samples for the tests of metrics, made by hand: times in ms, one read an event.
 *
 *     struct made m[2];
 *     make(&m[0], 0, 1000);                        // seq 0, sent at 1000 ms, phase window
 *     arrive(&m[0], 1214, EVENT_TEXT, "a", 1);     // one token (named by an id) at 1214 ms
 *     end(&m[0], 1300, OUTCOME_OK);                // output_observed and _reported = the tokens
 *
 * Limits: MADE_EVENTS events a sample (asserted).
 */
#ifndef TALLY_TESTS_METRICS_MAKE_H
#define TALLY_TESTS_METRICS_MAKE_H

#include <assert.h>

#include "metrics/metrics.h"

#define MADE_EVENTS 40
#define MS INT64_C(1000000)

struct made {
    struct sample s;
    struct sample_read_stamp reads[MADE_EVENTS];
    struct sample_event events[MADE_EVENTS];
    int64_t tokens;
};

static const uint32_t made_ids[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static inline void make(struct made *m, int64_t seq, int64_t sent_ms)
{
    sample_init(&m->s);
    m->tokens = 0;
    m->s.lane = STR("subject");
    m->s.band = 1;
    m->s.replicate = 1;
    m->s.seq = seq;
    m->s.phase = PHASE_WINDOW;
    m->s.reused = true;
    m->s.t_planned_ns = m->s.t_issue_ns = m->s.t_sent_ns = sent_ms * MS;
    m->s.reads = m->reads;
    m->s.events = m->events;
}

static inline struct sample_event *arrive(struct made *m, int64_t ms, enum sample_event_kind kind,
                                          const char *text, size_t tokens)
{
    assert(m->s.events_n < MADE_EVENTS && tokens <= sizeof made_ids / sizeof made_ids[0]);
    size_t i = m->s.events_n++;
    m->s.reads_n++;
    m->reads[i] = (struct sample_read_stamp){ms * MS, TIME_NONE, ms * MS, 10};
    sample_event_init(&m->events[i]);
    m->events[i].kind = kind;
    m->events[i].read = (uint32_t)i;
    m->events[i].text = str_of(text);
    m->events[i].ids = made_ids;
    m->events[i].ids_n = tokens;
    if (m->s.t_first_byte_ns == TIME_NONE)
        m->s.t_first_byte_ns = ms * MS;
    m->tokens += (int64_t)tokens;
    return &m->events[i];
}

static inline void end(struct made *m, int64_t ms, enum sample_outcome outcome)
{
    m->s.t_end_ns = ms * MS;
    m->s.outcome = outcome;
    m->s.failure = outcome == OUTCOME_FAILED ? FAILURE_SERVER_ERROR : FAILURE_NONE;
    m->s.output_observed.total = m->s.output_reported.total = m->tokens;
}

/* A window of [from, to) ms, the tokens observed, a stream. */
static inline struct metrics_band_facts facts_of(int64_t from_ms, int64_t to_ms)
{
    return (struct metrics_band_facts){
        .lane = "subject",
        .band = 1,
        .replicate = 1,
        .t_open_ns = from_ms * MS,
        .t_close_ns = to_ms * MS,
        .t_drained_ns = to_ms * MS,
        .stream = true,
        .source = SOURCE_OBSERVED,
        .issued = COUNT_NONE,
        .issued_warmup = COUNT_NONE,
        .slo_ttft_ns = TIME_NONE,
        .slo_tpot_ns = TIME_NONE,
        .slo_e2e_ns = TIME_NONE,
        .client = {COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE,
                   COUNT_NONE},
    };
}

#endif
