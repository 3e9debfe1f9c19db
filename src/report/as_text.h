/*
 * A run as another tool would have reported it (tally show --as), for a terminal of 80 columns or
 * as JSON.
 *
 *     struct as_band bands[] = {{.lane = STR("subject"), .band = 4, .replicate = 1, .result = r}};
 *     as_text(profile, bands, n, &out);        // or as_json(profile, bands, n, &writer)
 *
 * The rules come first, so that nobody takes these numbers for the receipt's; then one table a
 * concurrency, a column a lane and replicate. Units are the other tool's.
 * Ownership: everything is appended to `out`, whose maximum is checked by the caller.
 */
#ifndef TALLY_REPORT_AS_TEXT_H
#define TALLY_REPORT_AS_TEXT_H

#include "base/buf.h"
#include "codec/json_write.h"
#include "metrics/as.h"

struct as_band {
    const char *lane;
    int32_t band, replicate;
    struct as_result result;
};

/* The bands of one concurrency follow each other. */
void as_text(const struct as_profile *p, const struct as_band *bands, size_t n, struct buf *out);
void as_json(const struct as_profile *p, const struct as_band *bands, size_t n,
             struct json_writer *w);

#endif
