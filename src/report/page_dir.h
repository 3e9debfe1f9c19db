/*
 * A page from a run directory: reads the receipt and its samples, computes the bands and pairs
 * again, and writes the report.
 *
 *     if (page_from_dir("run", "self-consistent, unsigned", &html, err) < 0) ...
 *
 * `verified` is what verify said of the directory, in words; the caller asked it. A directory that
 * was cut off is drawn as far as it goes. Errors are those of receipt/read.h and
 * record/sample_file.h. Memory: all samples of the run are held at once.
 */
#ifndef TALLY_REPORT_PAGE_DIR_H
#define TALLY_REPORT_PAGE_DIR_H

#include "base/buf.h"
#include "base/error.h"

int page_from_dir(const char *dir, const char *verified, struct buf *out,
                  struct error *err) TALLY_MUST_CHECK;

#endif
