#include "gate/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"
#include "gate/foreign.h"
#include "ledger/ledger.h"
#include "receipt/keys.h"
#include "receipt/pairing.h"
#include "receipt/whole.h"
#include "verify/verify.h"

#define LINK_ARENA ((size_t)1 << 20)

struct gate_loaded {
    struct receipt_whole whole;
    struct verify_report report;
    const struct metrics_band **bands;
    struct metrics_pairs *declared;
    char verify_said[512], signature_said[512], ledger_said[512];
};

/* The first rule that failed, with its place. */
static void first_failure(const struct verify_report *v, char *out, size_t size)
{
    snprintf(out, size, "%s", verify_summary(v));
    for (int r = 0; r < VERIFY_RULE_COUNT; r++) {
        const struct verify_result *result = &v->rules[r];
        if (result->state != VERIFY_FAILED)
            continue;
        const struct verify_failure *f = result->failures_n ? &result->failures[0] : NULL;
        snprintf(out, size, "%s: %s%s%s", verify_rule_name((enum verify_rule)r), f ? f->file : "",
                 f && f->file[0] ? ": " : "", f ? f->what : result->seen);
        return;
    }
}

static int verify(struct gate_loaded *l, struct gate_receipt *r, const char *dir,
                  const struct gate_load_options *o, struct error *err)
{
    struct verify_options options = {.keys = o->keys, .keys_n = o->keys_n};
    struct envelope_check c;
    if (verify_dir(&l->report, dir, &options, err) < 0 ||
        envelope_check_dir(dir, o->keys, o->keys_n, &c, err) < 0)
        return -1;
    r->verified = l->report.verdict == VERIFY_OK;
    first_failure(&l->report, l->verify_said, sizeof l->verify_said);
    r->verify_said = r->verified ? "" : l->verify_said;
    r->signature_valid = c.verdict == ENVELOPE_VALID;
    snprintf(l->signature_said, sizeof l->signature_said, "%s", c.detail);
    r->signature_said = l->signature_said;
    return 0;
}

static size_t looks_of(const struct ledger_link *spend)
{
    struct arena arena;
    const struct json *body;
    struct error ignored;
    size_t n = 0;
    arena_init(&arena, LINK_ARENA);
    if (json_parse(&body, spend->body, &JSON_LIMITS_DEFAULT, &arena, &ignored) == 0) {
        const struct json *looks = json_get(body, "looks");
        n = json_is(looks, JSON_ARRAY) ? looks->n : 0;
    }
    arena_release(&arena);
    return n;
}

/* The chain must hold and a settle link must name this receipt. */
static int look_up(struct gate_loaded *l, struct gate_receipt *r, struct ledger *ledger,
                   const struct ledger_health *health, struct error *err)
{
    struct ledger_link spend;
    int64_t seq = 0;
    r->ledger_said = l->ledger_said;
    if (!ledger) {
        snprintf(l->ledger_said, sizeof l->ledger_said, "no ledger was given");
        return 0;
    }
    if (ledger_find_receipt(ledger, l->whole.read.run_id, &seq, err) < 0)
        return -1;
    if (seq == 0) {
        snprintf(l->ledger_said, sizeof l->ledger_said,
                 "the ledger does not know this receipt: it was run without it, or with another");
        return 0;
    }
    if (ledger_get(ledger, seq, &spend, err) < 0)
        return -1;
    r->looks = looks_of(&spend);
    if (health->first_unsettled) {
        snprintf(l->ledger_said, sizeof l->ledger_said,
                 "%lld spent cells of the ledger have no receipt; the first is link %lld",
                 (long long)(health->spent - health->settled), (long long)health->first_unsettled);
        return 0;
    }
    r->in_ledger = true;
    snprintf(l->ledger_said, sizeof l->ledger_said,
             "link %lld of the ledger; the chain is only as strong as where its head is published",
             (long long)seq);
    return 0;
}

/* Of a directory whose content cannot be read no cell can be told: the gate refuses it as a whole.
 * A disk that cannot be read is another matter. */
static int unreadable(const char *dir, struct error *err)
{
    if (err->kind == ERROR_IO || err->kind == ERROR_MEMORY)
        return -1;
    err->kind = ERROR_REFUSED;
    if (!err->rule[0])
        error_rule(err, "verify");
    return error_remedy(err, "'tally verify %s' names every rule that is broken", dir);
}

/* What the receipt states; whether it is true is verify's business. */
static void find_join(struct gate_loaded *l, struct gate_receipt *r)
{
    const struct json *lanes = json_get(l->whole.read.doc, "lanes");
    struct str digest;
    if (json_str(&digest, json_path(lanes, "0.join_sha256")) == 0)
        r->join_sha256 = digest.p;
    if (json_is(lanes, JSON_ARRAY) && lanes->n == 2)
        r->join_differs = receipt_join_differs(json_path(lanes, "0.join_key"),
                                               json_path(lanes, "1.join_key"), &r->join_unknown);
}

static int load_one(struct gate_loaded *l, struct gate_receipt *r, const char *dir,
                    const struct gate_load_options *o, struct error *err)
{
    *r = (struct gate_receipt){.path = dir};
    if (foreign_is_file(dir)) {
        error_set(err, ERROR_REFUSED,
                  "a file is no run directory: it is unreceipted, and a gate "
                  "takes evidence alone");
        error_rule(err, "unreceipted");
        error_remedy(err, "measure it with tally run; 'tally compare' puts other benchmarks' "
                          "results beside it");
        return error_at_file(err, dir);
    }
    if (receipt_whole_read(&l->whole, dir, false, err) < 0)
        return unreadable(dir, err);
    const struct run_record *run = l->whole.run;
    l->bands = calloc(run->bands_n + 1, sizeof *l->bands);
    if (!l->bands)
        return error_no_memory(err);
    for (size_t i = 0; i < run->bands_n; i++)
        l->bands[i] = l->whole.bands[i].metrics;
    r->run = run;
    find_join(l, r);
    r->bands = l->bands;
    r->pairs = l->whole.pairs;
    r->pairs_n = l->whole.pairs_n;
    if (pairing_compute(run, l->whole.measure.metrics, l->whole.verdict.band_status, true,
                        &l->whole.arena, &l->declared, &r->pairs_n, err) < 0)
        return -1;
    r->declared = l->declared;
    r->workload = run->plan.protocol;
    r->status = l->whole.read.complete ? l->whole.verdict.status : STATUS_INCOMPLETE;
    r->reason = l->whole.read.complete ? l->whole.verdict.reason : "interrupted";
    return verify(l, r, dir, o, err);
}

int gate_set_load(struct gate_set *set, const char *const *dirs, size_t n,
                  const struct gate_load_options *options, struct error *err)
{
    struct ledger *ledger = NULL;
    struct ledger_health health = {0};
    int status = -1;
    *set = (struct gate_set){0};
    if (n > GATE_RECEIPTS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d receipts", GATE_RECEIPTS_MAX);
    set->loaded = calloc(n + 1, sizeof *set->loaded);
    set->receipts = calloc(n + 1, sizeof *set->receipts);
    if (!set->loaded || !set->receipts) {
        error_no_memory(err);
        goto out;
    }
    if (options->ledger && (ledger_open(&ledger, options->ledger, LEDGER_READ, err) < 0 ||
                            ledger_check(ledger, &health, err) < 0))
        goto out;
    for (size_t i = 0; i < n; i++) {
        set->n = i + 1;
        if (load_one(&set->loaded[i], &set->receipts[i], dirs[i], options, err) < 0 ||
            look_up(&set->loaded[i], &set->receipts[i], ledger, &health, err) < 0)
            goto out;
    }
    status = 0;
out:
    ledger_close(ledger);
    if (status < 0)
        gate_set_release(set);
    return status;
}

void gate_set_release(struct gate_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n; i++) {
        verify_release(&set->loaded[i].report);
        receipt_whole_release(&set->loaded[i].whole);
        free(set->loaded[i].bands);
    }
    free(set->loaded);
    free(set->receipts);
    *set = (struct gate_set){0};
}
