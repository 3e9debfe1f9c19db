/*
 * tally render --jsonl: lines {"template": name, "context": {...}, "now": "…"} become lines
 * {"text": …} or {"error": …}.
 *
 *     if (render_batch(cli, "lines.jsonl", "templates", err) < 0) ...
 *
 * Each template is read and parsed once. A line that does not render is an answer, not an error of
 * the command; a line that is not such an object is one. Limits: RENDER_TEMPLATES_MAX templates.
 */
#ifndef TALLY_CLI_RENDER_BATCH_H
#define TALLY_CLI_RENDER_BATCH_H

#include "cli/cli.h"

#define RENDER_TEMPLATES_MAX 1024

int render_batch(struct cli *cli, const char *path, const char *templates, struct error *err);

#endif
