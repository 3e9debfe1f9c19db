/* Everything that a receipt derives, composed again and compared text by text. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "receipt/compose.h"
#include "verify/note.h"

/* Which rule speaks for a part of the receipt; the first prefix that fits. '*' is one index. */
static const struct {
    const char *path;
    enum verify_rule rule;
} parts[] = {
    {"status", VERIFY_STATUS},
    {"reason", VERIFY_STATUS},
    {"refusals", VERIFY_STATUS},
    {"bands.*.status", VERIFY_STATUS},
    {"bands.*.reason", VERIFY_STATUS},
    {"bands.*.counts", VERIFY_COUNTS},
    {"bands.*", VERIFY_METRICS},
    {"tokenization.output_count_source", VERIFY_METRICS},
    {"tokenization.token_assignment", VERIFY_METRICS},
    {"metrics_version", VERIFY_METRICS},
    {"sweeps", VERIFY_METRICS},
    {"intervals", VERIFY_RATIOS},
    {"pairs", VERIFY_RATIOS},
    {"lanes.*.join_key", VERIFY_KEYS},
    {"lanes.*.join_sha256", VERIFY_KEYS},
    {"workload.request_sha256", VERIFY_KEYS},
    {"calibration", VERIFY_CALIBRATION},
    {"unproduced_fields", VERIFY_PRESENT},
    {"files", VERIFY_DIGESTS},
};

static bool fits(const char *path, const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            while (*path >= '0' && *path <= '9')
                path++;
            continue;
        }
        if (*path++ != *pattern)
            return false;
    }
    return *path == '\0' || *path == '.';
}

static enum verify_rule rule_of(const char *path)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (fits(path, parts[i].path))
            return parts[i].rule;
    return VERIFY_SCHEMA;
}

static void on_difference(void *ctx, const struct verify_difference *d)
{
    struct verify_work *w = ctx;
    char stored[128], made[128];
    const struct verify_place at = {RECEIPT_NAME, d->at ? d->at->line : 0,
                                    d->at ? d->at->column : 0, d->path};
    if (strcmp(d->path, "run_id") == 0)
        return; /* it follows from all else; rule run_id holds it against the text */
    if (!d->stored) {
        verify_fail(w->report, VERIFY_PRESENT, &at, "is missing: it should say %s",
                    verify_show(d->made, made, sizeof made));
        verify_fail(w->report, rule_of(d->path), &at, "is missing");
    } else if (!d->made) {
        verify_fail(w->report, VERIFY_PRESENT, &at, "does not belong there");
    } else {
        verify_fail(w->report, rule_of(d->path), &at, "says %s; computed again it is %s",
                    verify_show(d->stored, stored, sizeof stored),
                    verify_show(d->made, made, sizeof made));
    }
}

/* Peak no less than mean, on what the receipt states. */
static void check_peaks(struct verify_work *w)
{
    const struct json *bands = json_get(w->receipt.doc, "bands");
    int64_t looked = 0;
    for (size_t i = 0; bands && i < bands->n; i++) {
        const struct json *peak = json_path(&bands->items[i], "metrics.peak_tok_s.value"),
                          *mean = json_path(&bands->items[i], "metrics.agg_tok_s.value");
        double p, m;
        char path[64];
        if (json_double(&p, peak) < 0 || json_double(&m, mean) < 0)
            continue;
        looked++;
        snprintf(path, sizeof path, "bands.%zu.metrics.peak_tok_s.value", i);
        if (p < m)
            verify_fail(w->report, VERIFY_PEAK,
                        &(struct verify_place){RECEIPT_NAME, peak->line, peak->column, path},
                        "%.*s is less than the mean of %.*s", STR_ARG(peak->text),
                        STR_ARG(mean->text));
    }
    if (looked == 0)
        verify_skip(w->report, VERIFY_PEAK, "no band has a peak rate");
    else
        verify_pass(w->report, VERIFY_PEAK, "%lld bands", (long long)looked);
}

/* What only all samples together decide: the best that each of them gives. */
static void check_choice(struct verify_work *w, const char *path, const char *stated,
                         const char *best)
{
    if ((stated != NULL) == (best != NULL) && (!stated || strcmp(stated, best) == 0))
        return;
    verify_fail(w->report, VERIFY_METRICS,
                &(struct verify_place){.file = RECEIPT_NAME, .path = path},
                "says %s; the best that all samples give is %s", stated ? stated : "none",
                best ? best : "none");
}

static void check_choices(struct verify_work *w)
{
    const struct run_plan *p = &w->receipt.run.plan;
    enum metrics_assignment way = metrics_best_way(w->ways);
    check_choice(w, "tokenization.output_count_source", p->output_count_source,
                 metrics_source_name(metrics_best_source(w->sources)));
    check_choice(w, "tokenization.token_assignment", p->token_assignment,
                 way == ASSIGN_NONE ? NULL : metrics_assignment_name(way));
}

static void pass_derived(struct verify_work *w)
{
    struct verify_report *v = w->report;
    size_t n = w->receipt.run.bands_n;
    verify_pass(v, VERIFY_PRESENT, "every key of %zu bands", n);
    verify_pass(v, VERIFY_COUNTS, "%zu bands", n);
    verify_pass(v, VERIFY_METRICS, "%zu bands from %lld samples", n, (long long)v->samples);
    verify_pass(v, VERIFY_RATIOS, "%zu concurrencies", w->receipt.run.plan.bands_n);
    verify_pass(v, VERIFY_KEYS, "%zu lanes", w->receipt.run.lanes_n);
    verify_pass(v, VERIFY_STATUS, "%s", v->status ? v->status : "");
}

static int compare_text(struct verify_work *w, const struct buf *text, struct arena *arena,
                        struct error *err)
{
    const struct json *made;
    const struct json_limits limits = {RECEIPT_BYTES_MAX, (size_t)16 << 20, JSON_DEPTH_MOST};
    struct str stored = buf_str(&w->receipt.text);
    if (json_parse(&made, buf_str(text), &limits, arena, err) < 0)
        return -1;
    verify_compare(w->receipt.doc, made, "", on_difference, w);
    if (str_eq(stored, buf_str(text))) {
        verify_pass(w->report, VERIFY_FORM, "%zu bytes", stored.n);
        return 0;
    }
    size_t at = 0;
    int64_t line = 1;
    while (at < stored.n && at < text->n && stored.p[at] == text->p[at])
        line += stored.p[at++] == '\n';
    verify_fail(w->report, VERIFY_FORM, &(struct verify_place){.file = RECEIPT_NAME, .line = line},
                "byte %zu is not as it is composed", at);
    return 0;
}

static int compose_again(struct verify_work *w, struct error *err)
{
    struct receipt_read *r = &w->receipt;
    struct buf text = BUF_INIT(RECEIPT_BYTES_MAX);
    struct rules_verdict verdict;
    char run_id[SHA256_HEX];
    struct receipt_parts parts_of = {
        .run = &r->run,
        .host = &r->host,
        .program = &r->program,
        .floor = w->has_floor ? &w->floor : NULL,
        .ledger_json = r->ledger_json,
        .files = r->files,
        .files_n = r->files_n,
        .metrics = w->measure.metrics,
        .facts = w->measure.facts,
    };
    int status = compose_receipt(&parts_of, &w->measure.arena, &text, run_id, &verdict, err);
    if (status == 0)
        status = compare_text(w, &text, &w->measure.arena, err);
    buf_release(&text);
    return status;
}

static void skip_derived(struct verify_work *w)
{
    static const enum verify_rule rules[] = {VERIFY_PRESENT, VERIFY_COUNTS, VERIFY_METRICS,
                                             VERIFY_RATIOS,  VERIFY_KEYS,   VERIFY_STATUS,
                                             VERIFY_FORM};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        verify_skip(w->report, rules[i], "not every sample file could be read");
}

int verify_derived(struct verify_work *w, struct error *err)
{
    check_peaks(w);
    if (!w->measured) {
        skip_derived(w);
        return 0;
    }
    check_choices(w);
    if (compose_again(w, err) < 0)
        return -1;
    pass_derived(w);
    return 0;
}
