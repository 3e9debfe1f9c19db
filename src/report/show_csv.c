#include "report/show_csv.h"

#include <stdio.h>

#include "metrics/names.h"
#include "report/show.h"

static const char *const stats[] = {"mean", "min", "p50", "p90", "p95", "p99", "max"};
#define STATS (sizeof stats / sizeof stats[0])
#define FIRST_BOUND 1 /* the mean is no pair */

void csv_field(struct buf *out, struct str s)
{
    bool quoted = false;

    for (size_t i = 0; i < s.n; i++)
        quoted = quoted || s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\r' || s.p[i] == '\n';
    if (!quoted) {
        buf_addstr(out, s);
        return;
    }
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            buf_addc(out, '"');
        buf_addc(out, s.p[i]);
    }
    buf_addc(out, '"');
}

static void next(struct buf *out, struct str s)
{
    buf_addc(out, ',');
    csv_field(out, s);
}

static void put_header(struct buf *out)
{
    buf_adds(out, "run_id,lane,band,replicate,status,reason,metric,unit,n,censored_n,value");
    for (size_t i = 0; i < STATS; i++)
        buf_addf(out, ",%s", stats[i]);
    for (size_t i = FIRST_BOUND; i < STATS; i++)
        buf_addf(out, ",%s_upper", stats[i]);
    buf_adds(out, ",unproduced\r\n");
}

/* The reasons of a metric's nulls: "p95=n_too_small p99=n_too_small", or one for all of it. */
static void put_reasons(const struct json *band, const char *key, struct buf *out)
{
    const struct json *why = json_get(band, "unproduced_fields");
    struct buf reasons = BUF_INIT(BUF_ANY), prefix = BUF_INIT(128);

    buf_addf(&prefix, "metrics.%s", key);
    for (size_t i = 0; json_is(why, JSON_OBJECT) && i < why->n; i++) {
        struct str name = why->members[i].name, reason = show_text(&why->members[i].value, NULL);
        if (!str_starts(name, buf_str(&prefix)))
            continue;
        name = str_skip(name, prefix.n);
        if (name.n && name.p[0] != '.')
            continue; /* another metric, whose name goes on */
        buf_adds(&reasons, reasons.n ? " " : "");
        if (name.n)
            buf_addf(&reasons, "%.*s=", STR_ARG(str_skip(name, 1)));
        buf_addstr(&reasons, reason);
    }
    next(out, buf_str(&reasons));
    buf_release(&reasons);
    buf_release(&prefix);
}

/* One end of a pair, or what is no pair as its lower end. */
static struct str bound(const struct json *value, bool upper)
{
    if (json_is(value, JSON_ARRAY))
        return show_text(json_at(value, upper ? 1 : 0), NULL);
    return upper ? (struct str){"", 0} : show_text(value, NULL);
}

static void put_metric(const struct json *doc, const struct json *band, const char *key,
                       const char *unit, struct buf *out)
{
    const struct json *value = json_get(json_get(band, "metrics"), key);

    csv_field(out, show_text(doc, "run_id"));
    next(out, show_text(band, "lane"));
    next(out, show_text(band, "band"));
    next(out, show_text(band, "replicate"));
    next(out, show_text(band, "status"));
    next(out, show_text(band, "reason"));
    next(out, str_of(key));
    next(out, str_of(unit));
    next(out, show_text(value, "n"));
    next(out, show_text(value, "censored_n"));
    next(out, show_text(value, "value"));
    for (size_t i = 0; i < STATS; i++)
        next(out, bound(json_get(value, stats[i]), false));
    for (size_t i = FIRST_BOUND; i < STATS; i++)
        next(out, bound(json_get(value, stats[i]), true));
    put_reasons(band, key, out);
    buf_adds(out, "\r\n");
}

void show_csv(const struct json *doc, struct buf *out)
{
    const struct json *bands = json_get(doc, "bands");

    put_header(out);
    for (size_t i = 0; json_is(bands, JSON_ARRAY) && i < bands->n; i++)
        for (int m = 0; m < METRIC_COUNT; m++) {
            const struct metrics_info *info = metrics_info((enum metric_id)m);
            put_metric(doc, &bands->items[i], info->key, info->unit, out);
        }
}
