/*
 * The simulated server that calibrates this client: tally-sim --null on 127.0.0.1, found beside
 * this program, started, and stopped by its process id.
 *
 *     struct sim_child sim = {0};
 *     if (sim_child_start(&sim, 100, err) < 0) ...      // sim.url
 *     sim_child_stop(&sim);                             // zeroed is fine
 */
#ifndef TALLY_CLI_SIM_CHILD_H
#define TALLY_CLI_SIM_CHILD_H

#include <sys/types.h>

#include "base/error.h"

#define SIM_CHILD_WAIT_NS (INT64_C(10) * 1000000000) /* for its URL */

struct sim_child {
    pid_t pid; /* 0: none */
    char url[256];
};

int sim_child_start(struct sim_child *sim, int rate, struct error *err) TALLY_MUST_CHECK;
void sim_child_stop(struct sim_child *sim);

#endif
