/*
 * The renderings of one shape by two lanes' wrappers, side by side.
 *
 *     if (probe_print_diff(cli, probe, shape, err) < 0) ...
 */
#ifndef TALLY_CLI_PROBE_DIFF_H
#define TALLY_CLI_PROBE_DIFF_H

#include "cli/cli.h"
#include "load/probe.h"

int probe_print_diff(struct cli *cli, const struct probe *p, size_t shape,
                     struct error *err) TALLY_MUST_CHECK;

#endif
