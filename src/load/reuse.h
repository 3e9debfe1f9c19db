/*
 * Whether a lane keeps its connections, found out before the clock starts.
 *
 *     bool kept;
 *     if (reuse_ask(&lane, &source, &kept, err) < 0) ...
 *
 * Some servers promise keep-alive and close the connection behind a streamed answer all the same
 * (llama.cpp's does, so a client that sends at once meets a connection that dies under it: wire
 * case 8). A run must not lose requests to that, and must not hide it: where one lane does not keep
 * connections, every request of every lane opens its own, which the receipt says
 * (protocol.connection_reuse). Connection set-up is never inside TTFT.
 */
#ifndef TALLY_LOAD_REUSE_H
#define TALLY_LOAD_REUSE_H

#include <stdbool.h>

#include "load/lane.h"
#include "load/prompts.h"

/* Two answers of one token, one right behind the other. *kept: the second came over the connection
 * of the first. `source` makes the prompts. */
int reuse_ask(struct load_lane *lane, const struct prompts_source *source, bool *kept,
              struct error *err) TALLY_MUST_CHECK;

#endif
