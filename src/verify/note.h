/*
 * How the parts of verify write down what they saw; only for the .c files of this folder.
 *
 *     verify_pass(v, VERIFY_RUN_ID, "%.16s… of the text", id);
 *     verify_fail(v, VERIFY_DIGESTS, &(struct verify_place){.file = name}, "is now %s", digest);
 *     verify_skip(v, VERIFY_METRICS, "the samples cannot be read");
 *
 * A rule that failed stays failed; what it passed elsewhere is not said. Texts are copied into the
 * report's arena, which keeps a failure of memory.
 */
#ifndef TALLY_VERIFY_NOTE_H
#define TALLY_VERIFY_NOTE_H

#include "codec/json.h"
#include "metrics/floor.h"
#include "receipt/files.h"
#include "receipt/measure.h"
#include "receipt/read.h"
#include "verify/verify.h"

struct verify_place {
    const char *file;
    int64_t line, column;
    const char *path;
};

void verify_pass(struct verify_report *v, enum verify_rule r, const char *fmt, ...)
    TALLY_PRINTF(3, 4);
void verify_skip(struct verify_report *v, enum verify_rule r, const char *fmt, ...)
    TALLY_PRINTF(3, 4);
void verify_fail(struct verify_report *v, enum verify_rule r, const struct verify_place *at,
                 const char *fmt, ...) TALLY_PRINTF(4, 5);
/* An error of a lower floor as a failure of rule r; `file` where the error names none. */
void verify_fail_error(struct verify_report *v, enum verify_rule r, const char *dir,
                       const struct error *err);

/* What the parts share while one directory is looked at. */
struct verify_work {
    const char *dir;
    const struct verify_options *options;
    struct verify_report *report;
    struct file_list files;
    struct receipt_read receipt;
    struct measure measure;
    struct metrics_floor floor;
    bool has_floor;
    bool measured;    /* every band has its metrics */
    unsigned sources; /* readings of output tokens that all samples have */
    unsigned ways;    /* likewise: ways to assign tokens to arrivals */
};

/* The digest of a file of the directory as it is now; NULL when there is no such file. */
const char *verify_digest_of(const struct verify_work *w, struct str name);

/* The parts, in order. -1 only for memory. */
int verify_files(struct verify_work *w, struct error *err) TALLY_MUST_CHECK;
int verify_samples(struct verify_work *w, struct error *err) TALLY_MUST_CHECK;
void verify_protocol(struct verify_work *w);
int verify_server(struct verify_work *w, struct error *err) TALLY_MUST_CHECK;
int verify_calibration(struct verify_work *w, struct error *err) TALLY_MUST_CHECK;
int verify_arrivals(struct verify_work *w, size_t band, const struct sample *samples, size_t n,
                    struct arena *scratch, struct error *err) TALLY_MUST_CHECK;
int verify_derived(struct verify_work *w, struct error *err) TALLY_MUST_CHECK;
int verify_recount(struct verify_work *w, struct error *err) TALLY_MUST_CHECK;

/* Walks two documents side by side and tells every difference with its path. `made` is what ours
 * would be. */
struct verify_difference {
    const char *path;
    const struct json *stored, *made; /* NULL: not there */
    const struct json *at;            /* where in the stored document: stored, or its parent */
};
void verify_compare(const struct json *stored, const struct json *made, const char *root,
                    void (*on)(void *ctx, const struct verify_difference *d), void *ctx);
/* A value in a few words for messages: 12.5, "text", an object, nothing. */
const char *verify_show(const struct json *v, char *out, size_t size);

#endif
