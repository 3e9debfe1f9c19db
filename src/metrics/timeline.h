/*
 * One request as the metrics see it: its arrivals in time and the tokens of each.
 *
 *     struct timeline t;
 *     timeline_make(&t, sample, kernel_time, &scratch, err);
 *     timeline_assign(&t, sample, ASSIGN_IDS, count);   // t.assigned: they add up
 *
 * An arrival is the token-bearing events that share one time stamp. Stamps are made to never run
 * backwards (kernel and user time may alternate), starting at t_sent.
 * Only for the .c files of this folder. Arrays live in the arena.
 */
#ifndef TALLY_METRICS_TIMELINE_H
#define TALLY_METRICS_TIMELINE_H

#include "metrics/metrics.h"

struct timeline {
    size_t n;
    int64_t *t_ns;    /* of each arrival */
    int64_t *tokens;  /* of each arrival, once assigned */
    uint32_t *events; /* index of each arrival's first event; [n] = events_n */
    int64_t first_ns, first_visible_ns, last_ns; /* TIME_NONE */
    int64_t total;                               /* sum of tokens, once assigned */
    bool assigned;                               /* total is the count used */
};

int timeline_make(struct timeline *t, const struct sample *s, bool kernel_time, struct arena *arena,
                  struct error *err) TALLY_MUST_CHECK;
/* Bit 1 << assignment for each way that this request's events offer. */
unsigned timeline_ways(const struct sample *s);
/* The first of a mask of ways; ASSIGN_NONE without any. */
enum metrics_assignment timeline_first_way(unsigned ways);
/* Assigns, and holds the sum against count (COUNT_NONE: does not add up). A request with a single
 * arrival takes the count as it is. ASSIGN_NONE assigns nothing to more than one arrival. */
void timeline_assign(struct timeline *t, const struct sample *s, enum metrics_assignment way,
                     int64_t count);

/* The count of a request's output tokens by a source; COUNT_NONE. */
int64_t timeline_count(const struct sample *s, enum metrics_source source);

#endif
