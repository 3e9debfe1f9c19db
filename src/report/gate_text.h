/*
 * A gate's verdict for people, for programs and for GitHub.
 *
 *     gate_text(&verdict, &out);      // tables in 80 columns
 *     gate_json(&verdict, &writer);   // one object
 *     gate_github(&verdict, path, &out);   // workflow commands: ::error file=...
 *
 * Every row is printed: none hides another.
 */
#ifndef TALLY_REPORT_GATE_TEXT_H
#define TALLY_REPORT_GATE_TEXT_H

#include "base/buf.h"
#include "codec/json_write.h"
#include "gate/judge.h"

void gate_text(const struct gate_verdict *v, struct buf *out);
void gate_json(const struct gate_verdict *v, struct json_writer *w);
/* `matrix` is the path of the matrix: annotations stand at its lines. */
void gate_github(const struct gate_verdict *v, const char *matrix, struct buf *out);

#endif
