/* What a matrix demands, as lines over the plots. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate/judge.h"
#include "report/trend.h"
#include "stats/real.h"
#include "stats/student.h"

static bool same(struct str a, const char *b)
{
    return b && str_eq(a, str_of(b));
}

/* Whether the run was measured in one of the matrix's cells. */
static bool in_a_cell(const struct trend_run *r, const struct matrix *m)
{
    size_t lane = trend_lane_of(r, "subject");

    for (size_t i = 0; lane < r->lanes_n && i < m->cells_n; i++) {
        const struct matrix_cell *c = &m->cells[i];
        if (c->state == CELL_MEASURED && same(c->host, r->lanes[lane].host) &&
            same(c->model, r->lanes[lane].model) && same(c->workload, r->protocol))
            return true;
    }
    return false;
}

static bool find_metric(struct str name, enum trend_metric *out)
{
    for (int i = 0; i < TREND_METRIC_COUNT; i++) {
        enum metrics_paired p = trend_info((enum trend_metric)i)->paired;
        if (same(name, metrics_paired_name(p)) ||
            same(name, metrics_info(metrics_paired_metric(p))->key)) {
            *out = (enum trend_metric)i;
            return true;
        }
    }
    return false;
}

static void add_author(struct trend_rule *r, const struct matrix_arm *arm)
{
    size_t n = strlen(r->note);
    snprintf(r->note + n, sizeof r->note - n, " (delta %.4g: %s, %.*s, %.*s)", arm->delta.value,
             matrix_class_name(arm->delta.class), STR_ARG(str_first(arm->delta.author, 40)),
             STR_ARG(arm->delta.date));
}

static void ratio_rule(struct trend_rule *r, const struct matrix_arm *arm, enum trend_metric metric)
{
    *r = (struct trend_rule){.on_ratio = true, .metric = metric, .value = 1 - arm->delta.value};
    snprintf(r->text, sizeof r->text, "%.*s: %.4g", STR_ARG(str_first(arm->name, 40)), r->value);
    if (arm->baseline_build.n)
        snprintf(r->note, sizeof r->note, "%.*s: not below %.4g of build %.*s",
                 STR_ARG(str_first(arm->name, 40)), r->value,
                 STR_ARG(str_first(arm->baseline_build, 60)));
    else
        snprintf(r->note, sizeof r->note, "%.*s: not below %.4g of the comparator",
                 STR_ARG(str_first(arm->name, 40)), r->value);
    add_author(r, arm);
}

/* The first sound values of the subject in the matrix's cells, as logarithms turned so that more
 * is better. */
static size_t gather(const struct trend *t, const struct matrix *m, int32_t band,
                     enum trend_metric metric, double sign, double y[GATE_SESSIONS])
{
    size_t n = 0;

    for (size_t i = 0; i < t->n && n < GATE_SESSIONS; i++) {
        const struct trend_run *r = &t->runs[i];
        const struct trend_value *v = trend_value(r, trend_lane_of(r, "subject"), band, metric);
        if (trend_lane_of(r, "subject") < r->lanes_n && in_a_cell(r, m) && trend_sound(r, v) &&
            isfinite(v->log_mean))
            y[n++] = sign * v->log_mean;
    }
    return n;
}

/* As the gate has it (gate/arms.c): the t lower bound over six sessions, less delta. */
static bool session_rule(struct trend_rule *r, const struct trend *t, const struct matrix *m,
                         const struct matrix_arm *arm, int32_t band, enum trend_metric metric,
                         struct buf *note)
{
    enum metric_id id = metrics_paired_metric(trend_info(metric)->paired);
    double sign = metrics_info(id)->better == BETTER_LOWER ? -1 : 1, y[GATE_SESSIONS];
    size_t n = gather(t, m, band, metric, sign, y);

    if (n < GATE_SESSIONS) {
        buf_addf(note, "%.*s, %s at band %d: a baseline needs %d sound runs; %zu are here. ",
                 STR_ARG(str_first(arm->name, 40)), trend_info(metric)->title, (int)band,
                 GATE_SESSIONS, n);
        return false;
    }
    double baseline = stats_mean(y, n) -
                      stats_t(STATS_T95, n - 1) * stats_deviation(y, n) / stats_sqrt((double)n);
    *r =
        (struct trend_rule){.metric = metric,
                            .band = band,
                            .value = stats_exp(sign * (baseline + stats_ln(1 - arm->delta.value)))};
    snprintf(r->text, sizeof r->text, "%.*s: %.4g %s", STR_ARG(str_first(arm->name, 40)), r->value,
             trend_info(metric)->unit);
    snprintf(r->note, sizeof r->note,
             "%.*s at band %d: %.4g %s, the bound of the first %d sound runs less delta",
             STR_ARG(str_first(arm->name, 40)), (int)band, r->value, trend_info(metric)->unit,
             GATE_SESSIONS);
    add_author(r, arm);
    return true;
}

static size_t arm_rules(const struct trend *t, const struct matrix *m, const struct matrix_arm *arm,
                        struct trend_rule *out, size_t room, struct buf *note)
{
    size_t n = 0;

    for (size_t i = 0; i < arm->metrics_n; i++) {
        enum trend_metric metric;
        if (!find_metric(arm->metrics[i], &metric)) {
            buf_addf(note, "%.*s: %.*s is not drawn on this page. ",
                     STR_ARG(str_first(arm->name, 40)), STR_ARG(str_first(arm->metrics[i], 60)));
            continue;
        }
        if (arm->kind == ARM_PARITY || arm->baseline_build.n) {
            if (n < room)
                ratio_rule(&out[n++], arm, metric);
            continue;
        }
        for (size_t b = 0; b < m->bands_n && n < room; b++)
            n += session_rule(&out[n], t, m, arm, m->bands[b], metric, note);
    }
    return n;
}

size_t trend_rules(const struct trend *t, const struct matrix *m,
                   struct trend_rule out[TREND_RULES_MAX], struct buf *note)
{
    bool any = false;
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        any = any || in_a_cell(&t->runs[i], m);
    if (!any) {
        buf_adds(note, "No run was measured in a cell of the matrix (host, model and workload): "
                       "no line is drawn.");
        return 0;
    }
    for (size_t i = 0; i < m->arms_n; i++)
        if ((m->arms[i].kind == ARM_PARITY || m->arms[i].kind == ARM_SELF_REGRESSION) &&
            m->arms[i].delta.set)
            n += arm_rules(t, m, &m->arms[i], out + n, TREND_RULES_MAX - n, note);
    return n;
}
