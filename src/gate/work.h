/*
 * Unequal prompt work in words, and the commands that would measure without it.
 *
 *     gate_say_work(&out, &pairs->work);
 *     gate_say_remedy(&out, run);
 */
#ifndef TALLY_GATE_WORK_H
#define TALLY_GATE_WORK_H

#include "metrics/pairs.h"
#include "record/run.h"

void gate_say_work(struct buf *out, const struct metrics_work_pair *w);
void gate_say_remedy(struct buf *out, const struct run_record *run);

#endif
