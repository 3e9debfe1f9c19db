/*
 * One line on standard error that is written over and over while work goes on: progress, on a
 * terminal only.
 *
 *     struct live live = {.cli = cli};
 *     live_show(&live, STR("3 of 12 files"));      // cut to the terminal's width of this moment
 *     live_clear(&live);                           // before anything else is printed
 */
#ifndef TALLY_CLI_LIVE_H
#define TALLY_CLI_LIVE_H

#include "base/buf.h"
#include "cli/cli.h"

struct live {
    struct cli *cli;
    bool shown; /* a line without its end stands there */
};

void live_show(struct live *live, struct str text);
void live_clear(struct live *live);

/* The longest beginning of s that is at most so many columns wide, whole characters only. */
struct str live_fit(struct str s, size_t columns);

#endif
