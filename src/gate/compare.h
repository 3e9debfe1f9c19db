/*
 * Two lanes side by side: the paired ratio of each metric and band with its bounds, and a verdict
 * against a margin. Two lanes of one receipt, or the one lane each of two.
 *
 *     struct compare c;
 *     struct compare_options o = {.margin = 0.05};
 *     if (compare_dirs(&c, "run", NULL, &o, err) < 0) ...    // ERROR_REFUSED: rule, field, remedy
 *     c.status, c.rows[i].ratio, c.rows[i].lower …
 *     compare_release(&c);
 *
 * Refused outright: a receipt that does not verify, a join key that differs or holds what nobody
 * knows (rule "join_key", naming the field), unequal or unknown prompt work (rule "prompt_work"),
 * unless the comparison is declared as one of unequal work; that is then the caveat of every row.
 * A row passes iff L >= ln(1 - margin); it fails iff that hypothesis falls to Holm's procedure over
 * all rows at 5 %; else it is INCONCLUSIVE. L, U bound the mean of x_r = ln(subject/comparator),
 * turned so that above 0 favours the subject.
 *
 * Ownership: rows and texts live in c.arena. Limits: those of the receipts.
 */
#ifndef TALLY_GATE_COMPARE_H
#define TALLY_GATE_COMPARE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/status.h"
#include "metrics/pairs.h"
#include "receipt/envelope.h"

#define COMPARE_ALPHA 0.05

struct compare_options {
    double margin;     /* delta, above 0 and below 1 */
    bool unequal_work; /* declared */
    const struct envelope_signer *keys;
    size_t keys_n;
};

struct compare_row {
    int32_t band;
    const char *level;  /* the band as it is read: "4", or of a rate "2.5" */
    const char *metric; /* "ttft_ms.p50" */
    enum status status;
    const char *why; /* a sentence */
    bool has_ratio, has_bounds;
    double ratio; /* subject / comparator, not turned */
    double mean, lower, upper, mde;
    size_t n;
};

struct compare_band {
    int32_t band;
    const char *name; /* "c = 4", "2.5 req/s" */
    bool has_serialization;
    double serialization; /* above 1 the subject queues */
};

struct compare {
    struct arena arena;
    enum status status;
    double margin;
    const char *caveat; /* beside every ratio; NULL */
    bool open;          /* bands are rates or speeds */
    const struct compare_row *rows;
    size_t rows_n;
    const struct compare_band *bands;
    size_t bands_n;
    const char *subject, *comparator; /* what each is: URL and build */
};

/* comparator_dir NULL: both lanes are of subject_dir's receipt. */
int compare_dirs(struct compare *c, const char *subject_dir, const char *comparator_dir,
                 const struct compare_options *o, struct error *err) TALLY_MUST_CHECK;
void compare_release(struct compare *c); /* NULL and zeroed are fine */

#endif
