/*
 * Progress of a run on standard error: on a terminal one live line, otherwise a plain line at each
 * band's end and at most one a minute.
 *
 *     struct run_progress p;
 *     run_progress_init(&p, cli, quiet);
 *     options.progress = p.calls;
 *     run_progress_end(&p);                         // leaves no half line behind
 */
#ifndef TALLY_CLI_RUN_PROGRESS_H
#define TALLY_CLI_RUN_PROGRESS_H

#include "cli/cli.h"
#include "cli/live.h"
#include "load/progress.h"

struct run_progress {
    struct cli *cli;
    bool quiet;
    struct live live;
    int64_t next_plain_ns;
    struct load_progress calls; /* their ctx is this struct: do not copy it */
};

void run_progress_init(struct run_progress *p, struct cli *cli, bool quiet);
void run_progress_end(struct run_progress *p);
/* "1 h 05 min", "2 min 05 s", "12 s" */
void run_duration_text(char out[32], int64_t ns);

#endif
