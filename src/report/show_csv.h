/*
 * A receipt's metrics for a spreadsheet or a data frame, and as small pictures in text.
 *
 *     show_csv(doc, &out);                 // tally show --csv
 *     show_sparklines(doc, &out);          // tally show --sparklines
 *
 * CSV is RFC 4180's: a header, CRLF behind each record, quotes where a field needs them. One record
 * a lane, band, replicate and metric, each number spelled as in the receipt; a value that could not
 * be had is an empty field, and its reason stands in the last one. A time between bounds has its
 * lower bound under p50 and the others, the upper one under p50_upper and so on.
 * Both derive nothing but the sparklines' heights. The document may be anything.
 */
#ifndef TALLY_REPORT_SHOW_CSV_H
#define TALLY_REPORT_SHOW_CSV_H

#include "base/buf.h"
#include "codec/json.h"

void show_csv(const struct json *doc, struct buf *out);
/* Appends s as one field: in quotes when it holds a comma, a quote, CR or LF. */
void csv_field(struct buf *out, struct str s);

/* A lane's median over replicates of a few metrics, one block a band, scaled from 0 to the largest
 * of all lanes: heights can be compared within a metric. */
void show_sparklines(const struct json *doc, struct buf *out);

#endif
