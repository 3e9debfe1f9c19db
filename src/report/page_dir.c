#include "report/page_dir.h"

#include <stdio.h>

#include "receipt/whole.h"
#include "report/page.h"

/* "comparator, c = 4, replicate 2", as far as the refusal says. */
static const char *where(const struct run_plan *plan, const struct receipt_refusal *r,
                         struct arena *arena)
{
    char level[RUN_BAND_NAME_MAX];
    struct buf text = BUF_INIT(160);
    buf_adds(&text, r->lane ? r->lane : "");
    if (r->band) {
        run_band_name(level, plan, r->band);
        buf_addf(&text, "%s%s", text.n ? ", " : "", level);
    }
    if (r->replicate)
        buf_addf(&text, ", replicate %d", r->replicate);
    const char *kept = arena_cstr(arena, buf_str(&text));
    buf_release(&text);
    return kept;
}

static int write_page(struct receipt_whole *w, const char *verified, struct buf *out,
                      struct error *err)
{
    const struct rules_verdict *v = &w->verdict;
    size_t n = w->run->bands_n;
    struct page_band *bands = arena_array(&w->arena, n + 1, sizeof *bands);
    struct page_refusal *refusals = arena_array(&w->arena, v->refusals_n + 1, sizeof *refusals);
    if (!bands || !refusals)
        return arena_check(&w->arena, "the report", err);
    for (size_t i = 0; i < n; i++)
        bands[i] = (struct page_band){w->bands[i].record, w->bands[i].metrics, w->bands[i].samples,
                                      w->bands[i].samples_n};
    for (size_t i = 0; i < v->refusals_n; i++) {
        const struct receipt_refusal *r = &v->refusals[i];
        refusals[i] =
            (struct page_refusal){r->rule, where(&w->run->plan, r, &w->arena), r->seen, r->remedy};
    }
    enum status stated = STATUS_INCOMPLETE;
    struct str name = {0}, reason = {0};
    /* What the receipt states is what is shown; whether it follows, `verified` tells. */
    if (json_str(&name, json_get(w->read.doc, "status")) == 0 && status_parse(&stated, name) < 0)
        stated = STATUS_REFUSED;
    json_str(&reason, json_get(w->read.doc, "reason"));
    bool complete = w->read.complete;
    struct page_run page = {
        .run = w->run,
        .bands = bands,
        .bands_n = n,
        .pairs = w->pairs,
        .pairs_n = w->pairs_n,
        .status = complete ? stated : STATUS_INCOMPLETE,
        .reason = !complete  ? "interrupted"
                  : reason.n ? arena_cstr(&w->arena, reason)
                             : NULL,
        .refusals = refusals,
        .refusals_n = v->refusals_n,
        .verified = verified,
        .run_id = arena_cstr(&w->arena, w->read.run_id),
        .receipt = w->read.doc,
    };
    return page_write(&page, out, err);
}

int page_from_dir(const char *dir, const char *verified, struct buf *out, struct error *err)
{
    struct receipt_whole w;
    if (receipt_whole_read(&w, dir, true, err) < 0)
        return -1;
    int status = write_page(&w, verified, out, err);
    receipt_whole_release(&w);
    return status;
}
