/*
 * Edits of a run directory, as somebody would make them who knows the format (inside src/gate
 * only).
 *
 *     struct buf text = BUF_INIT(BUF_ANY);
 *     mutate_read(dir, RECEIPT_NAME, &text, err);
 *     mutate_edit(&mutation, &text, err);
 *     mutate_write(dir, RECEIPT_NAME, buf_str(&text), err);
 *     mutate_seal(dir, err);
 *
 * Names that end in .gz are inflated and compressed.
 */
#ifndef TALLY_GATE_MUTATE_H
#define TALLY_GATE_MUTATE_H

#include "base/buf.h"
#include "gate/mutations.h"

int mutate_read(const char *dir, const char *name, struct buf *out,
                struct error *err) TALLY_MUST_CHECK;
int mutate_write(const char *dir, const char *name, struct str bytes,
                 struct error *err) TALLY_MUST_CHECK;
/* MUTATE_TEXT and MUTATE_NUMBER; one that finds nothing to change is an error. */
int mutate_edit(const struct mutation *m, struct buf *text, struct error *err) TALLY_MUST_CHECK;
/* Every digest that the receipt states, and its run id, as the files are now. */
int mutate_seal(const char *dir, struct error *err) TALLY_MUST_CHECK;

#endif
