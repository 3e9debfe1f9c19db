/*
 * The report: one self-contained HTML page about one run (spec: no network, opens from disk,
 * prints, light and dark, readable without its script).
 *
 *     struct page_run run = {.run = &record, .bands = bands, .bands_n = n, ...};
 *     if (page_write(&run, &out, err) < 0) ...
 *
 * What is drawn is what the receipt says: the caller has read and verified it, and gives the plain
 * records, the computed bands and the receipt's own document, whose texts are printed verbatim.
 * Ownership: everything is borrowed; the page is appended to `out`.
 * Limits: PAGE_BYTES_MAX; timelines of more than PAGE_TIMELINE_MAX requests in all show the
 * beginning of their windows, and say so.
 */
#ifndef TALLY_REPORT_PAGE_H
#define TALLY_REPORT_PAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "codec/json.h"
#include "metrics/metrics.h"
#include "metrics/pairs.h"
#include "record/run.h"

#define PAGE_BYTES_MAX ((size_t)64 << 20)
#define PAGE_TIMELINE_MAX 12000 /* requests of all timelines of a page */

struct page_band {
    const struct run_band *record;
    const struct metrics_band *metrics;
    const struct sample *samples; /* in the order of the file; NULL, 0: none */
    size_t samples_n;
};

struct page_refusal {
    const char *rule, *where, *seen, *remedy; /* where: "comparator, c = 4" or "" */
};

struct page_run {
    const struct run_record *run;
    const struct page_band *bands; /* in the order in which they were measured */
    size_t bands_n;
    const struct metrics_pairs *pairs; /* one a concurrency; NULL, 0 with one lane */
    size_t pairs_n;
    enum status status;
    const char *reason; /* NULL */
    const struct page_refusal *refusals;
    size_t refusals_n;
    const char *verified; /* a sentence: what verify said */
    const char *run_id;
    const struct json *receipt; /* the document, for provenance */
};

int page_write(const struct page_run *p, struct buf *out, struct error *err) TALLY_MUST_CHECK;

/* The parts, in the order in which the page shows them (page_*.c). */
void page_prompt_work(const struct page_run *p, struct buf *out);
void page_throughput(const struct page_run *p, struct buf *out);
void page_distributions(const struct page_run *p, struct buf *out);
void page_timelines(const struct page_run *p, struct buf *out);
void page_validity(const struct page_run *p, struct buf *out);
void page_provenance(const struct page_run *p, struct buf *out);

/* Shared by every page, the trend's too (report/trend.h). */
void page_begin(struct buf *out, const char *title); /* to the body, with style */
void page_end(struct buf *out);                      /* the script, and the end */
/* Buttons that choose a band, and boxes that hide a lane when there are two. p: what the bands are
 * called; NULL: concurrencies. */
void page_controls(struct buf *out, const struct page_run *p, const int32_t *c, size_t n,
                   const char *const *lanes, size_t lanes_n);

/* A band in words, "c = 4" or "2.5 req/s"; and on an axis, the concurrency, the rate or the speed.
 */
const char *page_level(const struct page_run *p, int32_t band, char out[RUN_BAND_NAME_MAX]);
double page_level_number(const struct page_run *p, int32_t band);

/* Shared by the parts. */
size_t page_concurrencies(const struct page_run *p, int32_t out[RUN_BANDS_MAX]);
const char *page_lane(const struct page_run *p, size_t lane); /* "subject" or "comparator" */
void page_ms(struct buf *out, int64_t ns); /* "12.3 ms", four digits at most; "none" */
void page_real(struct buf *out, double v); /* four significant digits */
/* Opens a part that belongs to one concurrency, which the buttons show and hide. */
void page_band_begin(struct buf *out, const char *tag, int32_t c);

#endif
