/*
 * Commands that would measure again, as a person can paste them: what a remedy is made of.
 *
 *     again_command(&out, argv, argc, "--wire completions --template FILE");
 *     again_equal_work(&out, argv, argc);     // both remedies of unequal prompt work, a line each
 *
 * argv is a run's own command line, redacted (receipt/redact.h); its --out is left out, because a
 * run is never written over another.
 */
#ifndef TALLY_RECEIPT_AGAIN_H
#define TALLY_RECEIPT_AGAIN_H

#include <stddef.h>

#include "base/buf.h"

void again_command(struct buf *out, const char *const *argv, size_t argc, const char *extra);
void again_equal_work(struct buf *out, const char *const *argv, size_t argc);

#endif
