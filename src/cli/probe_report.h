/*
 * What a probe found, for a person and as JSON.
 *
 *     code = probe_report_text(cli, probe, diff, err);   // an exit code, or -1
 *
 * The exit code is 0 when every lane's wrapper is named, 3 when one is not.
 */
#ifndef TALLY_CLI_PROBE_REPORT_H
#define TALLY_CLI_PROBE_REPORT_H

#include "cli/cli.h"
#include "load/probe.h"

int probe_report_text(struct cli *cli, const struct probe *p, bool diff, struct error *err);
int probe_report_json(struct cli *cli, const struct probe *p, struct error *err);

#endif
