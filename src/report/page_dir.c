#include "report/page_dir.h"

#include <limits.h>
#include <stdio.h>

#include "base/file.h"
#include "receipt/measure.h"
#include "receipt/pairing.h"
#include "receipt/read.h"
#include "receipt/receipt.h"
#include "receipt/rules.h"
#include "record/sample_file.h"
#include "report/page.h"

/* Everything that one page is made of. */
struct whole {
    struct receipt_read read;
    struct measure measure;
    struct arena arena; /* samples, pairs, texts */
    struct rules_verdict verdict;
    struct page_band *bands;
    struct page_run page;
};

static void release(struct whole *w)
{
    measure_release(&w->measure);
    receipt_read_release(&w->read);
    arena_release(&w->arena);
}

static int read_bands(struct whole *w, const char *dir, struct error *err)
{
    const struct run_record *run = &w->read.run;
    struct buf path = BUF_INIT(PATH_MAX);
    int status = -1;
    w->bands = arena_array(&w->arena, run->bands_n + 1, sizeof *w->bands);
    if (!w->bands || measure_init(&w->measure, run, err) < 0)
        return w->bands ? -1 : error_no_memory(err);
    for (size_t i = 0; i < run->bands_n; i++) {
        struct sample *samples;
        size_t n;
        if (path_join(&path, dir, run->bands[i].sample_file, err) < 0 ||
            sample_file_read(&samples, &n, NULL, path.p, &w->arena, err) < 0 ||
            measure_band(&w->measure, i, samples, n, err) < 0)
            goto out;
        w->bands[i] =
            (struct page_band){.record = &run->bands[i], .samples = samples, .samples_n = n};
    }
    measure_finish(&w->measure);
    for (size_t i = 0; i < run->bands_n; i++)
        w->bands[i].metrics = w->measure.metrics[i];
    status = 0;
out:
    buf_release(&path);
    return status;
}

/* "comparator, c = 4, replicate 2", as far as the refusal says. */
static const char *where(const struct receipt_refusal *r, struct arena *arena)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%s", r->lane ? r->lane : "");
    if (r->band && n >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n, "%sc = %d", n ? ", " : "", r->band);
    if (r->replicate && n >= 0)
        snprintf(text + n, sizeof text - (size_t)n, ", replicate %d", r->replicate);
    return arena_cstr(arena, str_of(text));
}

static int judge(struct whole *w, struct error *err)
{
    struct page_run *p = &w->page;
    struct metrics_pairs *pairs;
    size_t pairs_n;
    if (rules_judge(&w->read.run, w->measure.metrics, w->measure.facts, &w->arena, &w->verdict,
                    err) < 0 ||
        pairing_compute(&w->read.run, w->measure.metrics, w->verdict.band_status, false, &w->arena,
                        &pairs, &pairs_n, err) < 0)
        return -1;
    struct page_refusal *refusals =
        arena_array(&w->arena, w->verdict.refusals_n + 1, sizeof *refusals);
    if (!refusals)
        return arena_check(&w->arena, "the report", err);
    for (size_t i = 0; i < w->verdict.refusals_n; i++) {
        const struct receipt_refusal *r = &w->verdict.refusals[i];
        refusals[i] = (struct page_refusal){r->rule, where(r, &w->arena), r->seen, r->remedy};
    }
    p->pairs = pairs;
    p->pairs_n = pairs_n;
    p->status = w->verdict.status;
    p->reason = w->verdict.reason;
    p->refusals = refusals;
    p->refusals_n = w->verdict.refusals_n;
    return 0;
}

int page_from_dir(const char *dir, const char *verified, struct buf *out, struct error *err)
{
    struct whole w = {0};
    int status = -1;
    arena_init(&w.arena, RECEIPT_ARENA_MAX);
    if (receipt_read_dir(&w.read, dir, err) < 0) {
        arena_release(&w.arena);
        return -1;
    }
    if (read_bands(&w, dir, err) < 0 || judge(&w, err) < 0)
        goto done;
    w.page.run = &w.read.run;
    w.page.bands = w.bands;
    w.page.bands_n = w.read.run.bands_n;
    w.page.verified = verified;
    w.page.receipt = w.read.doc;
    w.page.run_id = arena_cstr(&w.arena, w.read.run_id);
    if (!w.read.complete) {
        w.page.status = STATUS_INCOMPLETE;
        w.page.reason = "interrupted";
    }
    status = page_write(&w.page, out, err);
done:
    release(&w);
    return status;
}
