#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/trend.h"

#define CAVEATS_MAX 40 /* of one kind; what is left over is counted */

/* The page under way. */
struct writer {
    const struct trend *t;
    const struct trend_rule *rules;
    size_t rules_n;
    struct buf *out;
};

static const char *const series_roles[] = {"subject", "comparator"};
#define ROLES (sizeof series_roles / sizeof series_roles[0])

static void band_words(const struct trend *t, int32_t band, char out[48])
{
    if (t->n && strcmp(t->runs[t->n - 1].load_model, "open") == 0)
        snprintf(out, 48, "%.4g requests a second", band / 1000.0);
    else
        snprintf(out, 48, "c = %d", (int)band);
}

static void day(int64_t ns, char out[CLOCK_UTC_TEXT])
{
    clock_format_utc(out, ns);
    out[16] = '\0'; /* to the minute */
    out[10] = ' ';
}

static const char *build_of(const struct trend_run *r, const char *role)
{
    size_t l = trend_lane_of(r, role);
    return l < r->lanes_n && r->lanes[l].build ? r->lanes[l].build : NULL;
}

/* The value of a series in a run; role NULL is the ratio. */
static const struct trend_value *series_value(const struct trend_run *r, const char *role,
                                              int32_t band, enum trend_metric m)
{
    if (!role)
        return trend_value(r, TREND_LANES, band, m);
    size_t l = trend_lane_of(r, role);
    return l < r->lanes_n ? trend_value(r, l, band, m) : NULL;
}

static bool has_series(const struct trend *t, const char *role, int32_t band, enum trend_metric m)
{
    for (size_t i = 0; i < t->n; i++)
        if (series_value(&t->runs[i], role, band, m))
            return true;
    return false;
}

static void unit_of(const char *role, enum trend_metric m, char out[16])
{
    snprintf(out, 16, "%s%s", role ? " " : "", role ? trend_info(m)->unit : "");
}

static void put_value(struct buf *out, const char *role, const struct trend_value *v,
                      enum trend_metric m)
{
    char unit[16];

    unit_of(role, m, unit);
    page_real(out, v->mean);
    buf_adds(out, unit);
}

/* First screen ------------------------------------------------------------------------------- */

static enum status worst(const struct trend *t)
{
    enum status s = t->n ? t->runs[0].status : STATUS_REFUSED;

    for (size_t i = 1; i < t->n; i++)
        if (t->runs[i].status < s)
            s = t->runs[i].status;
    return s;
}

/* The newest sound value, and what it is of the sound one before it. */
static void card(const struct writer *w, const char *role, int32_t band, enum trend_metric m)
{
    const struct trend_value *now = NULL, *before = NULL;
    bool comparable = true; /* all the way between the two */
    char where[48];

    for (size_t i = w->t->n; i-- > 0 && !before && comparable;) {
        const struct trend_value *v = series_value(&w->t->runs[i], role, band, m);
        if (trend_sound(&w->t->runs[i], v)) {
            before = now ? v : NULL;
            now = now ? now : v;
        }
        comparable = !now || !w->t->runs[i].differs;
    }
    if (!now)
        return;
    band_words(w->t, band, where);
    buf_addf(w->out, "<li>%s, %s, %s<b>", trend_info(m)->title,
             role ? role : "subject against comparator", where);
    put_value(w->out, role, now, m);
    buf_adds(w->out, "</b><span class=dim>newest sound run");
    if (before && before->mean > 0) {
        buf_adds(w->out, "; ");
        page_real(w->out, now->mean / before->mean);
        buf_adds(w->out, " times the one before it");
    }
    buf_adds(w->out, "</span></li>");
}

static void first_screen(const struct writer *w)
{
    const struct trend *t = w->t;
    char from[CLOCK_UTC_TEXT], to[CLOCK_UTC_TEXT];
    enum status s = worst(t);
    size_t sound = 0;
    int32_t last = t->bands_n ? t->bands[t->bands_n - 1] : 0;

    for (size_t i = 0; i < t->n; i++)
        sound += t->runs[i].verifies && t->runs[i].status == STATUS_PASS;
    day(t->runs[0].start_ns, from);
    day(t->runs[t->n - 1].start_ns, to);
    buf_addf(w->out,
             "<header><p><span class=\"status %s\">%s</span> <span class=dim>the worst of all "
             "runs</span></p><h1>Trend of %zu runs</h1><p>From %s to %s UTC; %zu of %zu are PASS "
             "and verify.</p><ul class=numbers>",
             status_name(s), status_name(s), t->n, from, to, sound, t->n);
    card(w, "subject", last, TREND_AGG);
    card(w, "subject", last, TREND_TTFT);
    card(w, NULL, last, TREND_AGG);
    buf_adds(w->out, "</ul></header>\n");
}

static void run_caveats(const struct writer *w, struct buf *list)
{
    for (size_t i = 0; i < w->t->n; i++) {
        const struct trend_run *r = &w->t->runs[i];
        if (r->verifies && r->status == STATUS_PASS)
            continue;
        buf_addf(list, "<li>Run %zu is %s", i + 1, status_name(r->status));
        if (r->reason) {
            buf_adds(list, " {");
            html_cstr(list, r->reason);
            buf_addc(list, '}');
        }
        if (!r->verifies) {
            buf_adds(list, " and does not verify (");
            html_cstr(list, r->verified ? r->verified : "");
            buf_addc(list, ')');
        }
        buf_adds(list,
                 ": bands of it that are not PASS are drawn hollow, and joined to nothing.</li>");
    }
}

static void join_caveats(const struct writer *w, struct buf *list)
{
    size_t said = 0;

    for (size_t i = 1; i < w->t->n; i++) {
        const struct trend_run *r = &w->t->runs[i];
        if (!r->differs)
            continue;
        if (said++ >= CAVEATS_MAX)
            continue;
        buf_addf(list, "<li>Runs %zu and %zu are %s: <code>", i, i + 1,
                 r->unknown ? "not known to be comparable" : "not comparable");
        html_cstr(list, r->differs);
        buf_adds(list, r->unknown ? "</code> of one of them is not known. The line between them is "
                                    "dashed.</li>"
                                  : "</code> differs. No line joins them.</li>");
    }
    if (said > CAVEATS_MAX)
        buf_addf(list, "<li>So it is with %zu more neighbours.</li>", said - CAVEATS_MAX);
}

static void caveats(const struct writer *w, const struct buf *note)
{
    struct buf list = BUF_INIT(PAGE_BYTES_MAX);

    run_caveats(w, &list);
    join_caveats(w, &list);
    if (note->n) {
        buf_adds(&list, "<li>");
        html_text(&list, buf_str(note));
        buf_adds(&list, "</li>");
    }
    if (list.n) {
        buf_adds(w->out, "<section class=caveats aria-label=Caveats><ul>");
        buf_addstr(w->out, buf_str(&list));
        buf_adds(w->out, "</ul></section>\n");
    }
    if (list.failed && !w->out->failed)
        w->out->failed = list.failed;
    buf_release(&list);
}

static void put_cell(struct buf *out, const char *text)
{
    buf_adds(out, "<td>");
    html_cstr(out, text ? text : "unknown");
}

static void runs_table(const struct writer *w)
{
    buf_adds(w->out, "<h2>Runs</h2><div class=scroll><table class=runs><thead><tr><th>run"
                     "<th>start, UTC<th>status<th>build of the subject<th>of the comparator"
                     "<th>model<th>host<th>workload<th>client<th>verify<th>directory<th>receipt"
                     "</thead><tbody>");
    for (size_t i = 0; i < w->t->n; i++) {
        const struct trend_run *r = &w->t->runs[i];
        size_t subject = trend_lane_of(r, "subject");
        const struct trend_lane *lane = subject < r->lanes_n ? &r->lanes[subject] : NULL;
        char when[CLOCK_UTC_TEXT];
        day(r->start_ns, when);
        buf_addf(w->out, "<tr><td>%zu<td>%s<td>%s", i + 1, when, status_name(r->status));
        put_cell(w->out, build_of(r, "subject"));
        put_cell(w->out,
                 trend_lane_of(r, "comparator") < r->lanes_n ? build_of(r, "comparator") : "none");
        put_cell(w->out, lane ? lane->model : NULL);
        put_cell(w->out, lane ? lane->host : NULL);
        put_cell(w->out, r->protocol);
        put_cell(w->out, r->client);
        put_cell(w->out, r->verified);
        put_cell(w->out, r->dir);
        buf_addf(w->out, "<td><code>%.16s</code>", r->run_id);
    }
    buf_adds(w->out, "</tbody></table></div>\n");
}

/* Plots -------------------------------------------------------------------------------------- */

static void describe(const struct writer *w, size_t i, const char *role,
                     const struct trend_value *v, enum trend_metric m, char out[320])
{
    const struct trend_run *r = &w->t->runs[i];
    const char *build = build_of(r, "subject");
    char when[CLOCK_UTC_TEXT], unit[16], bounds[96];

    day(r->start_ns, when);
    unit_of(role, m, unit);
    if (isfinite(v->lo))
        snprintf(bounds, sizeof bounds, ", 95 %% bounds %.4g and %.4g, %zu replicates", v->lo,
                 v->hi, v->n);
    else
        snprintf(bounds, sizeof bounds, ", one replicate");
    snprintf(out, 320, "run %zu, %s%s%.40s%s: %s %.4g%s%s", i + 1, when, build ? ", build " : "",
             build ? build : "", trend_sound(r, v) ? "" : ", not sound",
             role ? role : "subject against comparator", v->mean, unit, bounds);
}

/* Stretches of sound neighbours with equal keys as lines, those not known to be equal dashed. */
static void lines(const struct writer *w, const struct plot *p, const char *role, int32_t band,
                  enum trend_metric m)
{
    const char *class = role ? role : "ratio";

    for (size_t i = 1; i < w->t->n; i++) {
        const struct trend_run *a = &w->t->runs[i - 1], *b = &w->t->runs[i];
        const struct trend_value *va = series_value(a, role, band, m),
                                 *vb = series_value(b, role, band, m);
        if (!trend_sound(a, va) || !trend_sound(b, vb) || (b->differs && !b->unknown))
            continue;
        double x[2] = {(double)i, (double)i + 1}, y[2] = {va->mean, vb->mean};
        if (b->differs)
            plot_line_dashed(p, w->out, class, x, y, 2);
        else
            plot_line(p, w->out, class, x, y, 2);
    }
}

static void marks(const struct writer *w, const struct plot *p, const char *role, int32_t band,
                  enum trend_metric m)
{
    for (size_t i = 0; i < w->t->n; i++) {
        const struct trend_value *v = series_value(&w->t->runs[i], role, band, m);
        char text[320], class[32];
        if (!v)
            continue;
        describe(w, i, role, v, m, text);
        snprintf(class, sizeof class, "%s%s", role ? role : "ratio",
                 trend_sound(&w->t->runs[i], v) ? "" : " hollow");
        plot_mark(p, w->out, class, (double)i + 1, v->mean, v->lo, v->hi, text);
    }
}

static bool holds(const struct trend_rule *r, bool ratio, int32_t band, enum trend_metric m)
{
    return r->on_ratio == ratio && r->metric == m && (r->band == 0 || r->band == band);
}

static struct plot_range range_of(const struct writer *w, const char *const *roles, size_t roles_n,
                                  int32_t band, enum trend_metric m)
{
    double v[TREND_RUNS_MAX * 3 * ROLES + TREND_RULES_MAX + 1];
    size_t n = 0;
    bool ratio = !roles[0];

    for (size_t k = 0; k < roles_n; k++)
        for (size_t i = 0; i < w->t->n; i++) {
            const struct trend_value *x = series_value(&w->t->runs[i], roles[k], band, m);
            if (!x)
                continue;
            v[n++] = x->mean;
            v[n++] = x->lo;
            v[n++] = x->hi;
        }
    for (size_t i = 0; i < w->rules_n; i++)
        if (holds(&w->rules[i], ratio, band, m))
            v[n++] = w->rules[i].value;
    if (ratio)
        v[n++] = 1;
    return plot_fit(v, n, false);
}

static void table(const struct writer *w, const char *const *roles, size_t roles_n, int32_t band,
                  enum trend_metric m)
{
    buf_addf(w->out,
             "<details><summary>The same as a table</summary><div class=scroll><table><thead><tr>"
             "<th>run<th>start, UTC<th>%s<th>mean<th>bounds 95 %%<th>replicates<th>sound</thead>"
             "<tbody>",
             roles[0] ? "lane" : "ratio");
    for (size_t i = 0; i < w->t->n; i++)
        for (size_t k = 0; k < roles_n; k++) {
            const struct trend_run *r = &w->t->runs[i];
            const struct trend_value *v = series_value(r, roles[k], band, m);
            char when[CLOCK_UTC_TEXT];
            day(r->start_ns, when);
            buf_addf(w->out, "<tr><td>%zu<td>%s<td>%s<td>", i + 1, when,
                     roles[k] ? roles[k] : "subject / comparator");
            if (!v) {
                buf_adds(w->out, "none<td>none<td>0<td>no");
                continue;
            }
            put_value(w->out, roles[k], v, m);
            buf_adds(w->out, "<td>");
            if (isfinite(v->lo)) {
                page_real(w->out, v->lo);
                buf_adds(w->out, " to ");
                page_real(w->out, v->hi);
            } else {
                buf_adds(w->out, "none");
            }
            buf_addf(w->out, "<td>%zu<td>%s", v->n, trend_sound(r, v) ? "yes" : "no");
        }
    buf_adds(w->out, "</tbody></table></div></details>");
}

static void figure(const struct writer *w, const char *const *roles, size_t roles_n, int32_t band,
                   enum trend_metric m)
{
    const struct trend_info *info = trend_info(m);
    bool ratio = !roles[0], any = false;
    char title[128], where[48];

    for (size_t k = 0; k < roles_n; k++)
        any = any || has_series(w->t, roles[k], band, m);
    if (!any)
        return;
    band_words(w->t, band, where);
    snprintf(title, sizeof title, "%s%s, %s", info->title,
             ratio ? ": subject against comparator, above 1 is better" : "", where);
    struct plot plot = {
        .title = title,
        .x_label = "run, in the order of their start",
        .y_label = ratio ? "ratio" : info->unit,
        .x = {0.5, (double)w->t->n + 0.5},
        .y = range_of(w, roles, roles_n, band, m),
        .x_whole = true,
    };
    buf_addf(w->out, "<figure><figcaption>%s</figcaption>", title);
    plot_begin(&plot, w->out);
    if (ratio)
        plot_rule(&plot, w->out, "even", 1, "equal");
    for (size_t i = 0; i < w->rules_n; i++)
        if (holds(&w->rules[i], ratio, band, m))
            plot_rule(&plot, w->out, "rule", w->rules[i].value, w->rules[i].text);
    for (size_t k = 0; k < roles_n; k++)
        lines(w, &plot, roles[k], band, m);
    for (size_t k = 0; k < roles_n; k++)
        marks(w, &plot, roles[k], band, m);
    plot_end(w->out);
    buf_adds(w->out,
             "<p class=\"readout marks dim\" aria-live=polite>Hover or focus a mark for its "
             "numbers.</p>");
    table(w, roles, roles_n, band, m);
    buf_adds(w->out, "</figure>");
}

static void legend(const struct writer *w)
{
    buf_adds(w->out, "<ul class=legend>");
    for (size_t k = 0; k < ROLES; k++)
        for (size_t i = 0; i < w->t->n; i++)
            if (trend_lane_of(&w->t->runs[i], series_roles[k]) < w->t->runs[i].lanes_n) {
                buf_addf(w->out, "<li class=%s><i></i>%s</li>", series_roles[k], series_roles[k]);
                break;
            }
    buf_adds(w->out, "<li class=ideal><i></i>dotted: not known to be comparable</li>"
                     "<li class=hollow><i></i>hollow: not PASS, or does not verify</li>");
    if (w->rules_n)
        buf_adds(w->out, "<li class=limit><i></i>demanded by the matrix</li>");
    buf_adds(w->out, "</ul>");
}

static void sections(const struct writer *w)
{
    static const char *const none[] = {NULL};

    for (size_t b = 0; b < w->t->bands_n; b++) {
        int32_t band = w->t->bands[b];
        page_band_begin(w->out, "section", band);
        buf_adds(w->out, "<div class=plots>");
        for (int m = 0; m < TREND_METRIC_COUNT; m++)
            figure(w, series_roles, ROLES, band, (enum trend_metric)m);
        for (int m = 0; m < TREND_METRIC_COUNT; m++)
            figure(w, none, 1, band, (enum trend_metric)m);
        buf_adds(w->out, "</div></section>\n");
    }
}

static void rules_table(const struct writer *w)
{
    if (w->rules_n == 0)
        return;
    buf_adds(w->out, "<h2>What the matrix demands</h2><ul class=demands>");
    for (size_t i = 0; i < w->rules_n; i++) {
        buf_addf(w->out, "<li>%s: ", trend_info(w->rules[i].metric)->title);
        html_cstr(w->out, w->rules[i].note);
        buf_adds(w->out, ".</li>");
    }
    buf_adds(w->out, "</ul><p class=dim>These lines show where the gate's thresholds lie; the "
                     "verdict is <code>tally gate</code>'s.</p>\n");
}

int trend_write(struct trend *t, const struct matrix *matrix, struct buf *out, struct error *err)
{
    struct buf note = BUF_INIT(BUF_ANY);
    struct writer w = {.t = t, .out = out};
    struct trend_rule *rules = NULL;
    const char *lanes[ROLES];
    size_t lanes_n = 0;

    if (t->n == 0)
        return error_set(err, ERROR_USAGE, "a trend needs runs");
    trend_sort(t);
    if (matrix) {
        rules = arena_array(&t->arena, TREND_RULES_MAX, sizeof rules[0]);
        if (!rules)
            return error_no_memory(err);
        w.rules_n = trend_rules(t, matrix, rules, &note);
        w.rules = rules;
    }
    for (size_t k = 0; k < ROLES; k++)
        for (size_t i = 0; i < t->n; i++)
            if (trend_lane_of(&t->runs[i], series_roles[k]) < t->runs[i].lanes_n) {
                lanes[lanes_n++] = series_roles[k];
                break;
            }
    page_begin(out, "tally report: trend");
    first_screen(&w);
    caveats(&w, &note);
    runs_table(&w);
    buf_adds(out, "<h2>Over time</h2>");
    legend(&w);
    page_controls(out, NULL, t->bands, t->bands_n, lanes, lanes_n);
    sections(&w);
    rules_table(&w);
    page_end(out);
    buf_release(&note);
    return buf_check(out, "the report", err);
}
