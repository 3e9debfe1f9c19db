/*
 * The parts of `tally show`; only for show*.c. What they share: the document, and the letters that
 * nulls were given.
 *
 *     struct show s;  show_init(&s, doc, out);
 *     show_head(&s); show_bands(&s); ...; show_legend(&s);
 */
#ifndef TALLY_REPORT_SHOW_H
#define TALLY_REPORT_SHOW_H

#include "base/arena.h"
#include "report/text.h"

#define SHOW_REASONS_MAX 52

struct show {
    const struct json *doc, *bands, *lanes;
    struct buf *out;
    struct str reasons[SHOW_REASONS_MAX]; /* lettered a, b, c … as they came up */
    size_t reasons_n;
};

struct str show_text(const struct json *v, const char *path); /* "" when absent or null */
struct str show_lane(const struct show *s, size_t i);         /* role */
/* The band of a lane, concurrency and replicate; NULL. */
const struct json *show_band(const struct show *s, struct str lane, int64_t band,
                             int64_t replicate);
bool show_is_open(const struct show *s); /* bands are rates */
/* A band's number as it is read, right-aligned: the concurrency, or the rate in requests a second;
 * and in a sentence: "c = 4", "2.5 req/s". */
void show_level(struct show *s, struct str band, size_t columns);
void show_add_level(const struct show *s, struct str band, struct buf *out);
/* The letter of a reason: "-a". */
void show_null(struct show *s, struct str reason, char out[8]);
struct str show_explain(struct str reason); /* in words; "" for one that nobody knows */
/* A number right-aligned in so many columns: `text` is the receipt's, ms rounded for reading. */
void show_number(struct show *s, const struct json *value, bool ms, size_t columns);
/* A value of a band's metrics, or its null with the letter of its reason. path: "ttft_ms.p50". */
void show_metric(struct show *s, const struct json *band, const char *path, bool ms,
                 size_t columns);
size_t show_replicates(const struct show *s);

void show_head(struct show *s);
void show_status(struct show *s);
void show_metrics(struct show *s);
void show_steps(struct show *s);
void show_sweeps(struct show *s);
void show_work(struct show *s);
void show_servers(struct show *s); /* where any said anything */
void show_ratios(struct show *s);
void show_refusals(struct show *s);
void show_legend(struct show *s);

#endif
