/*
 * `tally compare` where a side is the result file of another benchmark: numbers side by side, each
 * line marked, no verdict.
 *
 *     return compare_foreign(cli, "result.json", "run", json, err);      // an exit code, or -1
 */
#ifndef TALLY_CLI_COMPARE_FOREIGN_H
#define TALLY_CLI_COMPARE_FOREIGN_H

#include "cli/cli.h"

/* Each a file, or a run directory, whose subject (or comparator) it then is. comparator NULL is an
 * error of usage. */
int compare_foreign(struct cli *cli, const char *subject, const char *comparator, bool json,
                    struct error *err);

#endif
