/*
 * What the completion before the clock says about a run that would be no evidence, or of less worth
 * than hoped for.
 *
 *     if (refuse_lanes(lanes, n, plan, err) < 0) ...      // exit 4, the reason for each lane
 *     warn_of_lanes(lanes, n, &progress);
 */
#ifndef TALLY_LOAD_REFUSE_H
#define TALLY_LOAD_REFUSE_H

#include "load/lane.h"
#include "load/progress.h"

/* With COUNT_SERVER_USAGE: ERROR_REFUSED where a lane sends no usage, or counts the prompt outside
 * the band that the corpus promises. */
int refuse_lanes(const struct load_lane *lanes, size_t n, const struct run_plan *plan,
                 struct error *err) TALLY_MUST_CHECK;
/* Unequal prompt work, cached tokens, refused parameters, early stops. True when the lanes' prompt
 * work is seen to be unequal: what can be done about that is the caller's to say. */
bool warn_of_lanes(const struct load_lane *lanes, size_t n, const struct load_progress *progress);

#endif
