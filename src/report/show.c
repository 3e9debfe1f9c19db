#include "report/show.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "metrics/names.h"
#include "receipt/rules.h"

struct str show_text(const struct json *v, const char *path)
{
    struct str s;
    const struct json *at = path ? json_path(v, path) : v;
    if (json_is(at, JSON_NUMBER))
        return at->text;
    return json_str(&s, at) < 0 ? (struct str){"", 0} : s;
}

struct str show_lane(const struct show *s, size_t i)
{
    return show_text(json_at(s->lanes, i), "role");
}

size_t show_replicates(const struct show *s)
{
    int64_t n = 0;
    json_i64(&n, json_path(s->doc, "protocol.replicates"));
    return n < 1 || n > 1000 ? 0 : (size_t)n;
}

const struct json *show_band(const struct show *s, struct str lane, int64_t band, int64_t replicate)
{
    for (size_t i = 0; s->bands && i < s->bands->n; i++) {
        const struct json *b = &s->bands->items[i];
        int64_t c, r;
        if (json_i64(&c, json_get(b, "band")) == 0 && json_i64(&r, json_get(b, "replicate")) == 0 &&
            c == band && r == replicate && str_eq(show_text(b, "lane"), lane))
            return b;
    }
    return NULL;
}

void show_null(struct show *s, struct str reason, char out[8])
{
    size_t i = 0;
    while (i < s->reasons_n && !str_eq(s->reasons[i], reason))
        i++;
    if (i == s->reasons_n && i < SHOW_REASONS_MAX)
        s->reasons[s->reasons_n++] = reason;
    if (i < SHOW_REASONS_MAX)
        snprintf(out, 8, "-%c", (char)(i < 26 ? 'a' + (int)i : 'A' + (int)i - 26));
    else
        snprintf(out, 8, "-");
}

/* Five digits are enough to read; the receipt has them all. */
static void add_rounded(struct buf *out, double v)
{
    double size = v < 0 ? -v : v;
    buf_addf(out, "%.*f", size < 10 ? 3 : size < 100 ? 2 : size < 10000 ? 1 : 0, v);
}

void show_number(struct show *s, const struct json *value, bool ms, size_t columns)
{
    struct buf text = BUF_INIT(64);
    int64_t ns, whole;
    double d;
    if (ms && json_is(value, JSON_NUMBER) && num_parse_ms(&ns, value->text) == 0)
        add_rounded(&text, (double)ns / 1e6);
    else if (json_i64(&whole, value) == 0)
        buf_addf(&text, "%lld", (long long)whole);
    else if (json_double(&d, value) == 0)
        add_rounded(&text, d);
    else
        buf_adds(&text, "?");
    text_right(s->out, buf_str(&text), columns);
    buf_release(&text);
}

/* Why a metric is null: its own entry, or that of the whole it is part of. */
static struct str reason_of(const struct json *band, const char *path)
{
    const struct json *reasons = json_get(band, "unproduced_fields");
    char whole[96];
    snprintf(whole, sizeof whole, "metrics.%s", path);
    for (char *dot; whole[7] == '.'; *dot = '\0') {
        const struct json *v = json_get(reasons, whole);
        if (json_is(v, JSON_STRING))
            return v->text;
        dot = strrchr(whole, '.');
    }
    return STR("missing");
}

void show_metric(struct show *s, const struct json *band, const char *path, bool ms, size_t columns)
{
    char whole[96], letter[8];
    const struct json *v;
    snprintf(whole, sizeof whole, "metrics.%s", path);
    v = json_path(band, whole);
    if (!band) {
        show_null(s, STR("not_measured"), letter);
    } else if (!v || v->type == JSON_NULL) {
        show_null(s, reason_of(band, path), letter);
    } else {
        show_number(s, v, ms, columns);
        return;
    }
    text_right(s->out, str_of(letter), columns);
}

struct str show_explain(struct str reason)
{
    static const struct {
        const char *name, *help;
    } own[] = {{"missing", "the receipt does not hold it: it is damaged"},
               {"not_measured", "this band was not measured"}};
    for (int r = 0; r < METRICS_REASON_COUNT; r++)
        if (str_eq(reason, str_of(metrics_reason_name((enum metrics_reason)r))))
            return str_of(metrics_reason_help((enum metrics_reason)r));
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (str_eq(reason, str_of(own[i].name)))
            return str_of(own[i].help);
    return (struct str){"", 0};
}

void show_legend(struct show *s)
{
    for (size_t i = 0; i < s->reasons_n; i++) {
        struct buf line = BUF_INIT(BUF_ANY);
        char letter[8];
        show_null(s, s->reasons[i], letter);
        if (i == 0)
            buf_addc(s->out, '\n');
        struct str help = show_explain(s->reasons[i]);
        buf_addf(&line, "%.*s%s%.*s", STR_ARG(s->reasons[i]), help.n ? ": " : "", STR_ARG(help));
        text_cell(s->out, str_of(letter), 4);
        text_wrap(s->out, buf_str(&line), 4);
        buf_addc(s->out, '\n');
        buf_release(&line);
    }
}

bool show_is_open(const struct show *s)
{
    return str_eq(show_text(s->doc, "protocol.load_model"), STR("open"));
}

/* Thousandths; what is no number is shown as it stands. */
static void add_rate(struct str band, struct buf *out)
{
    int64_t mrps;
    if (num_parse_i64(&mrps, band) < 0) {
        buf_addstr(out, band);
        return;
    }
    buf_addf(out, "%lld", (long long)(mrps / 1000));
    if (mrps % 1000 == 0)
        return;
    buf_addf(out, ".%03lld", (long long)(mrps % 1000));
    while (out->n && out->p[out->n - 1] == '0')
        buf_truncate(out, out->n - 1);
}

void show_level(struct show *s, struct str band, size_t columns)
{
    struct buf text = BUF_INIT(64);
    if (show_is_open(s))
        add_rate(band, &text);
    else
        buf_addstr(&text, str_first(band, 32));
    text_right(s->out, buf_str(&text), columns);
    buf_release(&text);
}

void show_add_level(const struct show *s, struct str band, struct buf *out)
{
    if (show_is_open(s)) {
        add_rate(band, out);
        buf_adds(out, " req/s");
    } else {
        buf_addf(out, "c = %.*s", STR_ARG(band));
    }
}

static void put_where(const struct show *s, const struct json *r, struct buf *line)
{
    struct str lane = show_text(r, "lane"), band = show_text(r, "band"),
               replicate = show_text(r, "replicate");
    if (lane.n == 0)
        buf_adds(line, "the run");
    else
        buf_addf(line, "%.*s", STR_ARG(lane));
    if (band.n) {
        buf_adds(line, ", ");
        show_add_level(s, band, line);
    }
    if (replicate.n)
        buf_addf(line, ", replicate %.*s", STR_ARG(replicate));
}

/* Refusals of one rule together: what each saw, and the remedy once. */
void show_refusals(struct show *s)
{
    const struct json *list = json_get(s->doc, "refusals");
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        struct str rule = show_text(&list->items[i], "rule");
        struct buf line = BUF_INIT(BUF_ANY);
        bool said = false;
        for (size_t k = 0; k < i && !said; k++)
            said = str_eq(show_text(&list->items[k], "rule"), rule);
        if (said) {
            buf_release(&line);
            continue;
        }
        buf_addf(s->out, "\nREFUSED by rule ");
        text_wrap(s->out, rule, 0);
        buf_addc(s->out, '\n');
        for (size_t k = i; k < list->n; k++) {
            if (!str_eq(show_text(&list->items[k], "rule"), rule))
                continue;
            buf_reset(&line);
            put_where(s, &list->items[k], &line);
            buf_adds(&line, ": ");
            buf_addstr(&line, show_text(&list->items[k], "seen"));
            text_wrap(s->out, buf_str(&line), 2);
            buf_addc(s->out, '\n');
        }
        buf_reset(&line);
        buf_adds(&line, "remedy: ");
        buf_addstr(&line, show_text(&list->items[i], "remedy"));
        text_wrap(s->out, buf_str(&line), 2);
        buf_addc(s->out, '\n');
        buf_release(&line);
    }
}

static void show_init(struct show *s, const struct json *doc, struct buf *out)
{
    *s = (struct show){.doc = doc, .out = out};
    s->bands = json_get(doc, "bands");
    s->lanes = json_get(doc, "lanes");
    if (!json_is(s->bands, JSON_ARRAY))
        s->bands = NULL;
    if (!json_is(s->lanes, JSON_ARRAY))
        s->lanes = NULL;
}

void show_receipt(const struct json *doc, struct buf *out)
{
    struct show s;
    show_init(&s, doc, out);
    buf_adds(out, "receipt    ");
    text_wrap(out, show_text(doc, "run_id"), 11);
    buf_adds(out, "\nstatus     ");
    text_wrap(out, show_text(doc, "status"), 11);
    if (show_text(doc, "reason").n) {
        buf_adds(out, " {");
        text_wrap(out, show_text(doc, "reason"), 10);
        buf_addc(out, '}');
    }
    buf_addc(out, '\n');
    show_head(&s);
    show_status(&s);
    show_metrics(&s);
    show_steps(&s);
    show_sweeps(&s);
    show_work(&s);
    show_servers(&s);
    show_ratios(&s);
    show_legend(&s);
    show_refusals(&s);
}

void show_cut_off(const struct json *run, int64_t files, int64_t samples, struct buf *out)
{
    struct show s;
    show_init(&s, run, out);
    buf_adds(out, "receipt    none: the run was cut off before it was written\n"
                  "status     INCOMPLETE {interrupted}\n");
    buf_addf(out, "samples    %lld requests in %lld files\n", (long long)samples, (long long)files);
    show_head(&s);
}
