/*
 * A tally-sim of one's own, for as long as it is needed.
 *
 *     struct sim_process sim;
 *     if (sim_process_start(&sim, path, argv, err) < 0) ...   // argv[0] is set here
 *     ... sim.url ...
 *     sim_process_stop(&sim);
 */
#ifndef TALLY_CLI_SIM_PROCESS_H
#define TALLY_CLI_SIM_PROCESS_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

struct sim_process {
    pid_t pid; /* 0: none */
    int out;
    char url[128];
};

/* The program beside this one, else the bare name, which is looked for in PATH. */
int sim_process_find(struct buf *path, struct error *err) TALLY_MUST_CHECK;
/* Starts it and waits for the URL that it prints. ERROR_IO when it cannot be run. */
int sim_process_start(struct sim_process *sim, const char *path, const char *const *argv,
                      struct error *err) TALLY_MUST_CHECK;
void sim_process_stop(struct sim_process *sim); /* zeroed is fine */

#endif
