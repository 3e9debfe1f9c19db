#include "gate/compare.h"

#include <stdio.h>
#include <string.h>

#include "gate/work.h"
#include "receipt/keys.h"
#include "receipt/receipt.h"
#include "receipt/sweep.h"
#include "receipt/whole.h"
#include "stats/paired.h"
#include "stats/real.h"
#include "verify/verify.h"

#define TEXTS_MAX ((size_t)64 << 20)

/* One lane of one receipt. */
struct side {
    const char *dir;
    const struct receipt_whole *whole;
    size_t lane;
};

static int must_verify(const char *dir, const struct compare_options *o, struct error *err)
{
    struct verify_report v;
    const struct verify_options how = {.keys = o->keys, .keys_n = o->keys_n};
    if (verify_dir(&v, dir, &how, err) < 0)
        return -1;
    if (v.verdict != VERIFY_OK) {
        error_set(err, v.verdict == VERIFY_INCOMPLETE ? ERROR_UNMEASURED : ERROR_REFUSED,
                  "this receipt %s",
                  v.verdict == VERIFY_INCOMPLETE ? "was never written" : "does not verify");
        error_rule(err, "verify");
        error_remedy(err, "'tally verify %s' names every rule that is broken", dir);
        error_at_file(err, dir);
    }
    bool sound = v.verdict == VERIFY_OK;
    verify_release(&v);
    return sound ? 0 : -1;
}

static const struct json *lane_json(const struct side *s)
{
    return json_at(json_get(s->whole->read.doc, "lanes"), s->lane);
}

static const char *remedy_for(const char *field)
{
    static const struct {
        const char *field, *remedy;
    } remedies[] = {
        {"host", "declare the machine of each lane: --host ROLE=LABEL"},
        {"model", "give each lane's --weights FILE, or declare that both serve one model: "
                  "--same-model NAME"},
        {"vocabulary_sha256", "count both with the same tokenizer"},
        {"corpus_sha256", "measure both with the same corpus"},
        {"client_sha256", "measure both with the same build of tally"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (strcmp(remedies[i].field, field) == 0)
            return remedies[i].remedy;
    return "measure both under the same protocol";
}

static int must_join(const struct side *a, const struct side *b, struct error *err)
{
    bool unknown;
    const char *field = receipt_join_differs(json_get(lane_json(a), "join_key"),
                                             json_get(lane_json(b), "join_key"), &unknown);
    if (!field)
        return 0;
    if (unknown)
        error_set(
            err, ERROR_REFUSED,
            "the lanes cannot be compared: \"%s\" of the join key is not known, and unknown is "
            "not equal",
            field);
    else
        error_set(err, ERROR_REFUSED,
                  "the lanes cannot be compared: \"%s\" of the join key differs", field);
    error_rule(err, "join_key");
    return error_remedy(err, "%s", remedy_for(field));
}

/* The replicates of a side at one concurrency; NULL where one is missing or did not pass. */
static const struct metrics_band **gather(const struct side *s, int32_t band, struct arena *arena)
{
    const struct run_record *run = s->whole->run;
    size_t n = (size_t)run->plan.replicates;
    const struct metrics_band **list = arena_array(arena, n, sizeof *list);
    for (size_t i = 0; list && i < run->bands_n; i++) {
        const struct run_band *b = &run->bands[i];
        if (b->lane == s->lane && b->band == band && (size_t)b->replicate <= n &&
            s->whole->verdict.band_status[i] == STATUS_PASS)
            list[b->replicate - 1] = s->whole->bands[i].metrics;
    }
    return list;
}

/* Values that only a server, an objective or a stream could have given: no row without them. */
static bool is_left_out(enum metrics_reason why)
{
    return why == REASON_SERVER_SILENT || why == REASON_NO_SLO || why == REASON_STREAMING_OFF ||
           why == REASON_ONE_ARRIVAL || why == REASON_CLOSED_LOOP || why == REASON_PARTIAL_SECOND;
}

static enum status status_of(enum metrics_reason why)
{
    if (why == REASON_PAIR_MISSING || why == REASON_TOO_FEW_REPLICATES)
        return STATUS_INCOMPLETE;
    return why == REASON_ERROR_SHARE || why == REASON_COUNT_MISMATCH ? STATUS_REFUSED
                                                                     : STATUS_UNMEASURED;
}

static struct compare_row make_row(const struct metrics_pairs *p, enum metrics_paired k)
{
    const struct metrics_ratio *r = &p->ratios[k];
    struct compare_row row = {.band = p->band, .metric = metrics_paired_name(k), .n = r->n};
    enum metrics_reason why = r->why != REASON_NONE ? r->why : r->bounds_why;
    row.has_ratio = r->why == REASON_NONE;
    row.has_bounds = why == REASON_NONE;
    row.status = why == REASON_NONE ? STATUS_INCONCLUSIVE : status_of(why);
    row.why = why == REASON_NONE ? "" : metrics_reason_help(why);
    if (row.has_ratio) {
        row.ratio = r->ratio;
        row.mean = r->mean;
    }
    if (row.has_bounds) {
        row.lower = r->lower;
        row.upper = r->upper;
        row.mde = r->mde;
    }
    return row;
}

/* Holm over every row that has bounds. */
static int judge(struct compare *c, struct compare_row *rows, const double *s, struct error *err)
{
    double margin = stats_ln(1 - c->margin);
    double *p = arena_array(&c->arena, c->rows_n + 1, sizeof *p);
    bool *reject = arena_array(&c->arena, c->rows_n + 1, sizeof *reject);
    size_t *which = arena_array(&c->arena, c->rows_n + 1, sizeof *which), m = 0;
    if (!p || !reject || !which)
        return arena_check(&c->arena, "the comparison", err);
    for (size_t i = 0; i < c->rows_n && m < STATS_HOLM_MAX; i++) {
        if (!rows[i].has_bounds)
            continue;
        const struct stats_paired paired = {.mean = rows[i].mean, .s = s[i]};
        p[m] = stats_p_below(&paired, rows[i].n, margin);
        which[m++] = i;
    }
    stats_holm(reject, p, m, COMPARE_ALPHA);
    for (size_t k = 0; k < m; k++) {
        struct compare_row *r = &rows[which[k]];
        if (r->lower >= margin) {
            r->status = STATUS_PASS;
            r->why = r->lower > 0 ? "better beyond doubt" : "not worse than the margin";
        } else if (reject[k]) {
            r->status = STATUS_FAIL;
            r->why = "worse than the margin beyond doubt";
        } else {
            r->why = "the bounds straddle the margin: more replicates narrow them";
        }
    }
    return 0;
}

static int must_do_equal_work(const struct metrics_pairs *p, const struct run_record *run,
                              const struct compare_options *o, struct error *err)
{
    const struct metrics_work_pair *w = &p->work;
    if (w->why == REASON_NONE || o->unequal_work)
        return 0;
    /* A pair that is missing says nothing about the work. */
    if (w->why != REASON_UNEQUAL_WORK && w->why != REASON_UNKNOWN_WORK)
        return 0;
    struct buf text = BUF_INIT(ERROR_REMEDY_MAX);
    char name[RUN_BAND_NAME_MAX];
    gate_say_work(&text, w);
    run_band_name(name, &run->plan, p->band);
    error_set(err, ERROR_REFUSED, "%s: %.*s", name, STR_ARG(buf_str(&text)));
    error_rule(err, "prompt_work");
    buf_reset(&text);
    gate_say_remedy(&text, run);
    buf_adds(&text, "\nor declare it, which is then printed beside every ratio: --unequal-work");
    error_remedy(err, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
    return -1;
}

static int pair_bands(struct compare *c, const struct side *a, const struct side *b,
                      const struct compare_options *o, struct error *err)
{
    const struct run_plan *plan = &a->whole->run->plan;
    struct metrics_pairs *pairs = arena_array(&c->arena, plan->bands_n, sizeof *pairs);
    struct compare_band *bands = arena_array(&c->arena, plan->bands_n, sizeof *bands);
    struct compare_row *rows =
        arena_array(&c->arena, plan->bands_n * METRICS_PAIRED_COUNT, sizeof *rows);
    double *s = arena_array(&c->arena, plan->bands_n * METRICS_PAIRED_COUNT, sizeof *s);
    if (!pairs || !bands || !rows || !s)
        return arena_check(&c->arena, "the comparison", err);
    c->open = run_plan_is_open(plan);
    for (size_t i = 0; i < plan->bands_n; i++) {
        char name[RUN_BAND_NAME_MAX], level[RUN_BAND_NAME_MAX];
        if (plan->search && !sweep_probed(a->whole->run, plan->bands[i]) &&
            !sweep_probed(b->whole->run, plan->bands[i]))
            continue;
        run_band_name(name, plan, plan->bands[i]);
        run_band_number(level, plan, plan->bands[i]);
        struct metrics_pairs_input in = {
            .band = plan->bands[i],
            .replicates = (size_t)plan->replicates,
            .subject = gather(a, plan->bands[i], &c->arena),
            .comparator = gather(b, plan->bands[i], &c->arena),
            .max_error_share = plan->max_error_share,
            .unequal_work = o->unequal_work,
        };
        if (!in.subject || !in.comparator)
            return arena_check(&c->arena, "the comparison", err);
        if (metrics_pairs_compute(&in, &c->arena, &pairs[i], err) < 0 ||
            must_do_equal_work(&pairs[i], a->whole->run, o, err) < 0)
            return -1;
        bands[c->bands_n++] = (struct compare_band){
            .band = plan->bands[i],
            .name = arena_cstr(&c->arena, str_of(name)),
            .has_serialization = pairs[i].serialization.why == REASON_NONE,
            .serialization =
                pairs[i].serialization.why == REASON_NONE ? pairs[i].serialization.mean : 0};
        if (o->unequal_work && pairs[i].work.why != REASON_NONE)
            c->caveat = "unequal prompt work, declared";
        for (int k = 0; k < METRICS_PAIRED_COUNT; k++) {
            if (is_left_out(pairs[i].ratios[k].why))
                continue;
            rows[c->rows_n] = make_row(&pairs[i], (enum metrics_paired)k);
            rows[c->rows_n].level = arena_cstr(&c->arena, str_of(level));
            s[c->rows_n++] = pairs[i].ratios[k].s;
        }
    }
    c->rows = rows;
    c->bands = bands;
    if (arena_check(&c->arena, "the comparison", err) < 0)
        return -1;
    if (judge(c, rows, s, err) < 0)
        return -1;
    c->status = c->rows_n ? STATUS_NOT_APPLICABLE : STATUS_REFUSED;
    for (size_t i = 0; i < c->rows_n; i++)
        c->status = status_worse(c->status, rows[i].status);
    return 0;
}

static int find_lane(struct side *s, const char *role, bool any, struct error *err)
{
    const struct run_record *run = s->whole->run;
    for (size_t i = 0; i < run->lanes_n; i++)
        if (strcmp(run->lanes[i].role, role) == 0) {
            s->lane = i;
            return 0;
        }
    if (any && run->lanes_n == 1) {
        s->lane = 0;
        return 0;
    }
    error_set(err, ERROR_REFUSED, "this receipt has no lane %s", role);
    error_rule(err, "one_lane");
    error_remedy(err, "give a receipt of two lanes, or two receipts: subject, then comparator");
    return error_at_file(err, s->dir);
}

static const char *describe(const struct side *s, struct arena *arena)
{
    const struct run_lane *l = &s->whole->run->lanes[s->lane];
    char text[512];
    snprintf(text, sizeof text, "%.200s%s%.100s%s%.100s", l->url, l->model ? ", model " : "",
             l->model ? l->model : "", l->build ? ", build " : "", l->build ? l->build : "");
    return arena_cstr(arena, str_of(text));
}

static int read_whole(struct receipt_whole *w, const char *dir, const struct compare_options *o,
                      struct error *err)
{
    if (must_verify(dir, o, err) < 0 || receipt_whole_read(w, dir, false, err) < 0)
        return error_at_file(err, dir);
    return 0;
}

static int compare_sides(struct compare *c, struct side *a, struct side *b,
                         const struct compare_options *o, struct error *err)
{
    if (find_lane(a, "subject", b->whole != a->whole, err) < 0 ||
        find_lane(b, "comparator", b->whole != a->whole, err) < 0 || must_join(a, b, err) < 0 ||
        pair_bands(c, a, b, o, err) < 0)
        return -1;
    c->subject = describe(a, &c->arena);
    c->comparator = describe(b, &c->arena);
    return arena_check(&c->arena, "the comparison", err);
}

int compare_dirs(struct compare *c, const char *subject_dir, const char *comparator_dir,
                 const struct compare_options *o, struct error *err)
{
    struct receipt_whole first = {0}, second = {0};
    struct side a = {.dir = subject_dir, .whole = &first};
    struct side b = {.dir = comparator_dir ? comparator_dir : subject_dir,
                     .whole = comparator_dir ? &second : &first};
    int status = -1;
    *c = (struct compare){.margin = o->margin};
    arena_init(&c->arena, TEXTS_MAX);
    if (!(o->margin > 0 && o->margin < 1)) {
        error_set(err, ERROR_USAGE, "the margin is a share above 0 and below 1");
        error_remedy(err, "for example 0.05: five percent");
        goto out;
    }
    if (read_whole(&first, subject_dir, o, err) < 0 ||
        (comparator_dir && read_whole(&second, comparator_dir, o, err) < 0))
        goto out;
    status = compare_sides(c, &a, &b, o, err);
out:
    receipt_whole_release(&first);
    receipt_whole_release(&second);
    if (status < 0)
        compare_release(c);
    return status;
}

void compare_release(struct compare *c)
{
    if (!c)
        return;
    arena_release(&c->arena);
    *c = (struct compare){0};
}
