/*
 * Which program this is: version and commit on one line, or with --json also how it was built, the
 * libraries it was built and runs with, and what it can do here.
 *
 *     return about_print(cli, argc - 2, argv + 2, err);     // what stands behind --version
 */
#ifndef TALLY_CLI_ABOUT_H
#define TALLY_CLI_ABOUT_H

#include "cli/cli.h"

int about_print(struct cli *cli, int argc, char **argv, struct error *err) TALLY_MUST_CHECK;

#endif
