/*
 * All that a probe found, as one JSON document: what 'tally probe --json' prints, and probe.json of
 * a run directory.
 *
 *     if (probe_json(probe, &out, err) < 0) ...          // appended, with a newline at its end
 */
#ifndef TALLY_LOAD_PROBE_JSON_H
#define TALLY_LOAD_PROBE_JSON_H

#include "load/probe.h"

int probe_json(const struct probe *p, struct buf *out, struct error *err) TALLY_MUST_CHECK;
/* Whether the two lanes' counts of a shape can be explained. */
bool probe_both_counted(const struct probe *p, size_t shape);

#endif
