#include "report/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "receipt/keys.h"
#include "receipt/whole.h"
#include "stats/real.h"
#include "stats/student.h"

#define ARENA_MAX ((size_t)256 << 20)

static const struct trend_info infos[] = {
#define X(id, paired, title, unit) {paired, title, unit},
    TREND_METRICS(X)
#undef X
};

const struct trend_info *trend_info(enum trend_metric m)
{
    return &infos[m];
}

void trend_init(struct trend *t)
{
    *t = (struct trend){0};
    arena_init(&t->arena, ARENA_MAX);
    t->runs = arena_array(&t->arena, TREND_RUNS_MAX, sizeof t->runs[0]);
}

void trend_release(struct trend *t)
{
    if (t)
        arena_release(&t->arena);
}

/* The statistic of one band in the unit of the plot; false where there is none. */
static bool statistic(const struct metrics_band *m, enum trend_metric which, double *out)
{
    enum metric_id id = metrics_paired_metric(infos[which].paired);
    const struct metrics_metric *v = &m->metrics[id];
    const struct metrics_stat *p50 = &v->stats[STAT_P50];

    if (v->why != REASON_NONE)
        return false;
    if (metrics_info(id)->shape == METRIC_REAL) {
        *out = v->real;
        return true;
    }
    *out = (double)p50->ns / 1e6;
    return p50->why == REASON_NONE;
}

/* The mean over replicates with one-sided 95 % t bounds, as the page of one run has it. */
static struct trend_value over_replicates(const struct receipt_whole *w, size_t lane, int32_t band,
                                          enum trend_metric m)
{
    struct trend_value v = {.mean = NAN, .lo = NAN, .hi = NAN, .log_mean = NAN, .sound = true};
    double x[RUN_REPLICATES_MAX], logs = 0;

    for (size_t i = 0; i < w->run->bands_n && v.n < RUN_REPLICATES_MAX; i++) {
        const struct run_band *b = w->bands[i].record;
        if (b->lane != lane || b->band != band)
            continue;
        v.sound = v.sound && b->status == STATUS_PASS;
        if (w->bands[i].metrics && statistic(w->bands[i].metrics, m, &x[v.n])) {
            logs += x[v.n] > 0 ? stats_ln(x[v.n]) : NAN;
            v.n++;
        }
    }
    v.sound = v.sound && v.n == (size_t)w->run->plan.replicates; /* as many as were declared */
    if (v.n == 0)
        return v;
    v.mean = stats_mean(x, v.n);
    v.log_mean = logs / (double)v.n;
    if (v.n > 1) {
        double half =
            stats_t(STATS_T95, v.n - 1) * stats_deviation(x, v.n) / stats_sqrt((double)v.n);
        v.lo = v.mean - half;
        v.hi = v.mean + half;
    }
    return v;
}

/* The ratio in the direction that favours the subject. */
static struct trend_value ratio_of(const struct metrics_pairs *p, enum trend_metric m)
{
    const struct metrics_ratio *r = &p->ratios[infos[m].paired];
    struct trend_value v = {.mean = NAN, .lo = NAN, .hi = NAN, .log_mean = NAN};

    if (r->why != REASON_NONE)
        return v;
    v.n = r->n;
    v.sound = p->status == STATUS_PASS;
    v.log_mean = r->mean;
    v.mean = stats_exp(r->mean);
    if (r->bounds_why == REASON_NONE) {
        v.lo = stats_exp(r->lower);
        v.hi = stats_exp(r->upper);
    }
    return v;
}

static const char *keep(struct trend *t, const char *s)
{
    return s ? arena_cstr(&t->arena, str_of(s)) : NULL;
}

static void take_lanes(struct trend *t, struct trend_run *r, const struct receipt_whole *w)
{
    r->lanes_n = w->run->lanes_n < TREND_LANES ? w->run->lanes_n : TREND_LANES;
    for (size_t l = 0; l < r->lanes_n; l++) {
        const struct run_lane *from = &w->run->lanes[l];
        struct trend_lane *to = &r->lanes[l];
        to->role = keep(t, from->role);
        to->model = keep(t, from->model);
        to->host = keep(t, from->host);
        to->build = keep(t, from->build ? from->build : from->build_sha256);
        to->bands = arena_array(&t->arena, r->bands_n, sizeof to->bands[0]);
        for (size_t b = 0; to->bands && b < r->bands_n; b++)
            for (int m = 0; m < TREND_METRIC_COUNT; m++)
                to->bands[b][m] = over_replicates(w, l, r->bands[b], (enum trend_metric)m);
    }
}

static void take_ratios(struct trend *t, struct trend_run *r, const struct receipt_whole *w)
{
    if (w->pairs_n == 0)
        return;
    r->ratios = arena_array(&t->arena, r->bands_n, sizeof r->ratios[0]);
    for (size_t b = 0; r->ratios && b < r->bands_n; b++)
        for (int m = 0; m < TREND_METRIC_COUNT; m++) {
            r->ratios[b][m] = (struct trend_value){.mean = NAN, .lo = NAN, .hi = NAN};
            for (size_t k = 0; k < w->pairs_n; k++)
                if (w->pairs[k].band == r->bands[b])
                    r->ratios[b][m] = ratio_of(&w->pairs[k], (enum trend_metric)m);
        }
}

/* The subject's join key, parsed again so that it outlives the receipt. */
static void take_join(struct trend *t, struct trend_run *r, const struct receipt_whole *w)
{
    const struct json *key = json_get(json_at(json_get(w->read.doc, "lanes"), 0), "join_key");
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer writer;
    struct error ignored = {0};

    if (!key)
        return;
    json_writer_init(&writer, &text, 0);
    json_put_value(&writer, key);
    struct str kept = arena_str(&t->arena, buf_str(&text));
    if (json_parse(&r->join, kept, &JSON_LIMITS_DEFAULT, &t->arena, &ignored) < 0)
        r->join = NULL;
    buf_release(&text);
}

static void take_run(struct trend *t, struct trend_run *r, const struct receipt_whole *w)
{
    struct str reason = {0}, name = {0};
    struct buf client = BUF_INIT(256);

    r->run_id = arena_cstr(&t->arena, w->read.run_id);
    r->protocol = keep(t, w->run->plan.protocol ? w->run->plan.protocol : "custom");
    r->load_model = keep(t, w->run->plan.load_model ? w->run->plan.load_model : "closed");
    r->start_ns = w->run->t_start_real_ns;
    r->status = STATUS_INCOMPLETE;
    if (w->read.complete && json_str(&name, json_get(w->read.doc, "status")) == 0 &&
        status_parse(&r->status, name) < 0)
        r->status = STATUS_REFUSED;
    json_str(&reason, json_get(w->read.doc, "reason"));
    r->reason = reason.n ? arena_cstr(&t->arena, reason) : NULL;
    buf_addf(&client, "%s (%.12s)", w->read.program.version ? w->read.program.version : "unknown",
             w->read.program.commit ? w->read.program.commit : "unknown");
    r->client = arena_cstr(&t->arena, buf_str(&client));
    buf_release(&client);
    r->bands_n = w->run->plan.bands_n;
    r->bands = arena_array(&t->arena, r->bands_n + 1, sizeof r->bands[0]);
    for (size_t b = 0; r->bands && b < r->bands_n; b++)
        r->bands[b] = w->run->plan.bands[b];
    take_lanes(t, r, w);
    take_ratios(t, r, w);
    take_join(t, r, w);
}

static int refuse_twice(const struct trend *t, const struct trend_run *r, struct error *err)
{
    for (size_t i = 0; i < t->n; i++)
        if (r->run_id && r->run_id[0] && strcmp(t->runs[i].run_id, r->run_id) == 0) {
            error_set(err, ERROR_USAGE, "the same receipt stands in %.200s and %.200s",
                      t->runs[i].dir, r->dir);
            return error_remedy(err, "give each run once");
        }
    return 0;
}

int trend_add(struct trend *t, const char *dir, const char *verified, bool verifies,
              struct error *err)
{
    struct receipt_whole w;
    struct trend_run *r = t->runs ? &t->runs[t->n] : NULL;

    if (t->n == TREND_RUNS_MAX) {
        error_set(err, ERROR_LIMIT, "more than %d runs", TREND_RUNS_MAX);
        return error_remedy(err, "give the newest of them");
    }
    if (!r)
        return error_no_memory(err);
    if (receipt_whole_read(&w, dir, false, err) < 0)
        return -1;
    *r = (struct trend_run){.verifies = verifies};
    r->dir = keep(t, dir);
    r->verified = keep(t, verified);
    take_run(t, r, &w);
    receipt_whole_release(&w);
    if (arena_check(&t->arena, "the runs", err) < 0 || refuse_twice(t, r, err) < 0)
        return -1;
    t->n++;
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct trend_run *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return strcmp(x->run_id, y->run_id);
}

static void add_band(struct trend *t, int32_t band)
{
    size_t at = 0;

    while (at < t->bands_n && t->bands[at] < band)
        at++;
    if ((at < t->bands_n && t->bands[at] == band) || t->bands_n == RUN_BANDS_MAX)
        return;
    memmove(t->bands + at + 1, t->bands + at, (t->bands_n - at) * sizeof t->bands[0]);
    t->bands[at] = band;
    t->bands_n++;
}

void trend_sort(struct trend *t)
{
    qsort(t->runs, t->n, sizeof t->runs[0], by_start);
    t->bands_n = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct trend_run *r = &t->runs[i];
        for (size_t b = 0; b < r->bands_n; b++)
            add_band(t, r->bands[b]);
        r->differs = NULL;
        r->unknown = false;
        if (i > 0) {
            r->differs = r->join && t->runs[i - 1].join
                             ? receipt_join_differs(t->runs[i - 1].join, r->join, &r->unknown)
                             : "join_key";
            r->unknown = r->unknown || !r->join || !t->runs[i - 1].join;
        }
    }
}

size_t trend_lane_of(const struct trend_run *r, const char *role)
{
    for (size_t l = 0; l < r->lanes_n; l++)
        if (strcmp(r->lanes[l].role, role) == 0)
            return l;
    return TREND_LANES;
}

const struct trend_value *trend_value(const struct trend_run *r, size_t lane, int32_t band,
                                      enum trend_metric m)
{
    for (size_t b = 0; b < r->bands_n; b++) {
        const struct trend_value *v = lane < r->lanes_n ? &r->lanes[lane].bands[b][m]
                                      : r->ratios       ? &r->ratios[b][m]
                                                        : NULL;
        if (r->bands[b] == band)
            return v && v->n ? v : NULL;
    }
    return NULL;
}

bool trend_sound(const struct trend_run *r, const struct trend_value *v)
{
    return r->verifies && v && v->sound;
}
