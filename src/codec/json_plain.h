/*
 * A short way through JSON of the plainest form, as json_write writes it on one line: no white
 * space, no escape, integers. What it does not know it does not take, and json_stream reads it.
 *
 *     if (!json_plain(&events, ctx, line, 8)) {
 *         start_again(ctx);                            // events may have been told already
 *         ... json_stream_feed, json_stream_finish: they take it, or say what is wrong
 *     }
 *
 * The events of a text that is taken are exactly json_stream's, in the same order; tests and a fuzz
 * target hold the two against each other. Strings are borrowed from the text.
 */
#ifndef TALLY_CODEC_JSON_PLAIN_H
#define TALLY_CODEC_JSON_PLAIN_H

#include "codec/json_stream.h"

#define JSON_PLAIN_DEPTH 63 /* a larger depth_max counts as this */

/* True when the whole text was told. False where it is not plain, is no JSON, is nested deeper, or
 * a callback returned -1. Every callback must be there. */
bool json_plain(const struct json_events *on, void *ctx, struct str text, unsigned depth_max);

#endif
