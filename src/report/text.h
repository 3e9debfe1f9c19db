/*
 * Receipts and what verify said of them, as text for a terminal of 80 columns.
 *
 *     show_receipt(doc, &out);                 // tally show
 *     show_cut_off(doc_of_run_json, bands, samples, &out);
 *     verify_text(&report, &out);              // tally verify
 *     verify_json(&report, &writer);           // tally verify --json
 *
 * show prints what the receipt's document says, verbatim or rounded for reading; it derives
 * nothing. A null is "-" with a letter, and the letters are explained below the tables. The
 * document may be anything: what is not there is a null called "missing". Control characters of
 * texts are shown as '?'; widths are columns of a terminal (utf8_width).
 * Ownership: everything is appended to `out`, whose maximum is checked by the caller (buf_check).
 */
#ifndef TALLY_REPORT_TEXT_H
#define TALLY_REPORT_TEXT_H

#include "base/buf.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "verify/verify.h"

#define TEXT_COLUMNS 80

void show_receipt(const struct json *doc, struct buf *out);
void show_cut_off(const struct json *run, int64_t files, int64_t samples, struct buf *out);

void verify_text(const struct verify_report *v, struct buf *out);
void verify_json(const struct verify_report *v, struct json_writer *w);

/* Shared by the parts: a text cut or padded to so many columns, without control characters. */
void text_cell(struct buf *out, struct str s, size_t columns);  /* left */
void text_right(struct buf *out, struct str s, size_t columns); /* right */
/* Words wrapped to TEXT_COLUMNS, every line behind `indent` spaces; the first line too, unless the
 * cursor already stands at that column. */
void text_wrap(struct buf *out, struct str s, size_t indent);

#endif
