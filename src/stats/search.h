/*
 * The highest of n ascending points that still meets something, found with few probes: bracket,
 * then bisect. Results between points are never made up: what comes out is two neighbours.
 *
 *     struct search s;
 *     search_init(&s, n);
 *     while (!search_done(&s)) search_tell(&s, probe(search_next(&s)));
 *     // s.met: the highest that was met (-1: none); s.missed: the lowest that was missed (n: none)
 *
 * Bracketing probes 0, 1, 3, 7, … until one is missed or the last is met; bisecting halves what
 * lies between the highest met and the lowest missed until they are neighbours. It takes for
 * granted that what is met at a point is met at every lower one; where that does not hold it still
 * ends, at some change from met to missed. A struct search is a value.
 */
#ifndef TALLY_STATS_SEARCH_H
#define TALLY_STATS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct search {
    int64_t n, met, missed;
};

void search_init(struct search *s, int64_t n); /* n > 0 (asserted) */
bool search_done(const struct search *s);
int64_t search_next(const struct search *s); /* not when done (asserted) */
void search_tell(struct search *s, bool met);

#endif
