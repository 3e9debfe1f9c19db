/* The tables: lanes side by side, bands down. */
#include <stdio.h>

#include "metrics/names.h"
#include "report/show.h"

struct column {
    const char *title, *path;
    bool ms;
    size_t columns;
};

#define COLUMNS_MAX 4

static const struct table {
    const char *title;
    struct column columns[COLUMNS_MAX]; /* of each lane */
    bool open;                          /* only of an open loop */
} tables[] = {
    {"time to first token, ms",
     {{"p50", "ttft_ms.p50", true, 11},
      {"p95", "ttft_ms.p95", true, 11},
      {"n", "ttft_ms.n", false, 7}},
     false},
    {"time per output token, ms",
     {{"p50", "tpot_ms.p50", true, 11},
      {"p95", "tpot_ms.p95", true, 11},
      {"n", "tpot_ms.n", false, 7}},
     false},
    {"inter-token latency p50 and p95, ms: upper bounds",
     {{"p50", "itl_ms.p50.1", true, 11},
      {"p95", "itl_ms.p95.1", true, 11},
      {"n", "itl_ms.n", false, 7}},
     false},
    {"whole request, ms",
     {{"p50", "e2e_ms.p50", true, 11},
      {"p95", "e2e_ms.p95", true, 11},
      {"n", "e2e_ms.n", false, 7}},
     false},
    {"from when it was planned to the first token, ms",
     {{"p50", "ttft_from_plan_ms.p50", true, 11},
      {"p95", "ttft_from_plan_ms.p95", true, 11},
      {"n", "ttft_from_plan_ms.n", false, 7}},
     true},
    {"from when it was planned to its end, ms",
     {{"p50", "e2e_from_plan_ms.p50", true, 11},
      {"p95", "e2e_from_plan_ms.p95", true, 11},
      {"n", "e2e_from_plan_ms.n", false, 7}},
     true},
    {"requests a second planned, sent, ended ok; share that meets the objective",
     {{"planned", "planned_rps.value", false, 9},
      {"sent", "achieved_rps.value", false, 8},
      {"ok", "completed_rps.value", false, 8},
      {"share", "slo_attainment.value", false, 8}},
     true},
    {"output tokens a second: all requests (aggregate, best second), each (median)",
     {{"aggregate", "agg_tok_s.value", false, 11},
      {"peak", "peak_tok_s.value", false, 10},
      {"decode", "decode_tok_s.value", false, 10}},
     false},
};

static bool any_band(const struct show *s, int64_t c, int64_t replicate)
{
    for (size_t i = 0; s->lanes && i < s->lanes->n; i++)
        if (show_band(s, show_lane(s, i), c, replicate))
            return true;
    return false;
}

static void put_heading(struct show *s, const struct table *t)
{
    buf_adds(s->out, show_is_open(s) ? " rate rep" : "    c rep");
    for (size_t lane = 0; s->lanes && lane < s->lanes->n; lane++) {
        size_t used = 0;
        struct buf head = BUF_INIT(128);
        for (const struct column *c = t->columns; c < t->columns + COLUMNS_MAX && c->title; c++) {
            text_right(&head, str_of(c->title), c->columns);
            used += c->columns;
        }
        /* The lane's name stands over its first column. */
        text_cell(s->out, buf_str(&head), used);
        buf_adds(s->out, lane + 1 < s->lanes->n ? " |" : "");
        buf_release(&head);
    }
    buf_addc(s->out, '\n');
}

static void put_title(struct show *s, const struct table *t)
{
    size_t used = 0;
    buf_addf(s->out, "\n%s\n", t->title);
    if (!s->lanes || s->lanes->n < 2)
        return;
    for (const struct column *c = t->columns; c < t->columns + COLUMNS_MAX && c->title; c++)
        used += c->columns;
    buf_adds(s->out, "         ");
    for (size_t lane = 0; lane < s->lanes->n; lane++) {
        text_right(s->out, show_lane(s, lane), used);
        buf_adds(s->out, lane + 1 < s->lanes->n ? " |" : "\n");
    }
}

static void put_row(struct show *s, const struct table *t, int64_t c, int64_t replicate)
{
    char level[24];
    snprintf(level, sizeof level, "%lld", (long long)c);
    show_level(s, str_of(level), 5);
    buf_addf(s->out, "%4lld", (long long)replicate);
    for (size_t lane = 0; lane < s->lanes->n; lane++) {
        const struct json *band = show_band(s, show_lane(s, lane), c, replicate);
        for (const struct column *col = t->columns; col < t->columns + COLUMNS_MAX && col->title;
             col++)
            show_metric(s, band, col->path, col->ms, col->columns);
        buf_adds(s->out, lane + 1 < s->lanes->n ? " |" : "");
    }
    buf_addc(s->out, '\n');
}

void show_metrics(struct show *s)
{
    const struct json *bands = json_path(s->doc, "protocol.bands");
    if (!s->bands || s->bands->n == 0 || !json_is(bands, JSON_ARRAY) || !s->lanes)
        return;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (tables[i].open && !show_is_open(s))
            continue;
        put_title(s, &tables[i]);
        put_heading(s, &tables[i]);
        for (size_t b = 0; b < bands->n; b++)
            for (size_t r = 1; r <= show_replicates(s); r++) {
                int64_t c;
                if (json_i64(&c, &bands->items[b]) == 0 && any_band(s, c, (int64_t)r))
                    put_row(s, &tables[i], c, (int64_t)r);
            }
    }
}

static void put_step(struct show *s, const struct json *band, const struct json *step)
{
    static const char *const paths[] = {"ttft_ms.p50", "tpot_ms.p50", "e2e_ms.p50",
                                        "agg_tok_s.value"};
    text_right(s->out, show_text(step, "c"), 5);
    text_right(s->out, show_text(band, "replicate"), 4);
    buf_adds(s->out, "  ");
    text_cell(s->out, show_text(band, "lane"), 11);
    text_right(s->out, show_text(step, "requests"), 9);
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        char path[64];
        snprintf(path, sizeof path, "metrics.%s", paths[k]);
        const struct json *v = json_path(step, path);
        if (json_is(v, JSON_NUMBER))
            show_number(s, v, k < 3, 11);
        else
            text_right(s->out, STR("-"), 11);
    }
    buf_addc(s->out, '\n');
}

/* A ramp, step by step. */
void show_steps(struct show *s)
{
    bool said = false;
    for (size_t i = 0; s->bands && i < s->bands->n; i++) {
        const struct json *band = &s->bands->items[i], *steps = json_get(band, "steps");
        if (!json_is(steps, JSON_ARRAY))
            continue;
        if (!said)
            buf_adds(s->out, "\nthe ramp's steps: medians in ms, output tokens a second\n"
                             "    c rep  lane        requests first token  per token      whole"
                             "  aggregate\n");
        said = true;
        for (size_t k = 0; k < steps->n; k++)
            put_step(s, band, &steps->items[k]);
    }
}

/* What each search found: two of its points. */
void show_sweeps(struct show *s)
{
    const struct json *list = json_get(s->doc, "sweeps");
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        const struct json *one = &list->items[i];
        struct str met = show_text(one, "highest_met_rps"),
                   missed = show_text(one, "lowest_missed_rps"), why = show_text(one, "stopped_by");
        struct buf line = BUF_INIT(BUF_ANY);
        buf_addf(&line, "%s%.*s, replicate %.*s, %.*s probes: ", i ? "" : "sweep      ",
                 STR_ARG(show_text(one, "lane")), STR_ARG(show_text(one, "replicate")),
                 STR_ARG(show_text(one, "probes")));
        if (why.n)
            buf_addf(&line, "stopped by %.*s; so far ", STR_ARG(why));
        if (met.n)
            buf_addf(&line, "the objective is met at %.*s req/s", STR_ARG(met));
        if (missed.n)
            buf_addf(&line, "%s missed at %.*s req/s", met.n ? " and" : "the objective is",
                     STR_ARG(missed));
        if (!met.n && !missed.n)
            buf_adds(&line, "nothing is known");
        buf_adds(s->out, i ? "           " : "\n");
        text_wrap(s->out, buf_str(&line), 11);
        buf_addc(s->out, '\n');
        buf_release(&line);
    }
}

/* "512" or "504..520" of a spread. */
static void put_spread(struct show *s, const struct json *band, const char *name, size_t columns)
{
    const struct json *spread = json_get(json_get(band, "prompt_work"), name);
    struct str low = show_text(spread, "min"), high = show_text(spread, "max");
    struct buf text = BUF_INIT(64);
    char letter[8];
    if (!json_is(spread, JSON_OBJECT)) {
        char path[64];
        snprintf(path, sizeof path, "prompt_work.%s", name);
        const struct json *why = json_get(json_get(band, "unproduced_fields"), path);
        show_null(s, json_is(why, JSON_STRING) ? why->text : STR("missing"), letter);
        buf_adds(&text, letter);
    } else if (str_eq(low, high)) {
        buf_addstr(&text, low);
    } else {
        buf_addf(&text, "%.*s..%.*s", STR_ARG(low), STR_ARG(high));
    }
    text_right(s->out, buf_str(&text), columns);
    buf_release(&text);
}

/* What each lane made of the prompts: the text alone, what the server says, and the difference. */
void show_work(struct show *s)
{
    if (!s->bands || s->bands->n == 0)
        return;
    buf_addf(s->out,
             "\nprompt work, tokens a request\n"
             "%s rep  lane              body    reported       delta      cached\n",
             show_is_open(s) ? " rate" : "    c");
    for (size_t i = 0; i < s->bands->n; i++) {
        const struct json *b = &s->bands->items[i];
        show_level(s, show_text(b, "band"), 5);
        text_right(s->out, show_text(b, "replicate"), 4);
        buf_adds(s->out, "  ");
        text_cell(s->out, show_text(b, "lane"), 11);
        put_spread(s, b, "body", 11);
        put_spread(s, b, "reported", 12);
        put_spread(s, b, "delta", 12);
        put_spread(s, b, "cached", 12);
        buf_addc(s->out, '\n');
    }
}

static void put_pair_work(struct show *s, const struct json *pair)
{
    const struct json *work = json_get(pair, "prompt_work");
    struct buf line = BUF_INIT(BUF_ANY);
    bool equal = false;
    double excess;
    json_bool(&equal, json_get(work, "equal"));
    show_add_level(s, show_text(pair, "band"), &line);
    buf_adds(&line, ": ");
    if (equal) {
        buf_addf(&line, "equal prompt work on %.*s prompts", STR_ARG(show_text(work, "shared")));
    } else {
        buf_addf(&line, "prompt work is not equal (%.*s)", STR_ARG(show_text(work, "reason")));
        const struct json *d = json_get(work, "difference");
        if (json_is(d, JSON_OBJECT))
            buf_addf(&line, ", subject less comparator %.*s to %.*s tokens",
                     STR_ARG(show_text(d, "min")), STR_ARG(show_text(d, "max")));
        if (json_double(&excess, json_get(work, "excess")) == 0)
            buf_addf(&line, ", %+.2f %% in all", excess * 100);
    }
    text_wrap(s->out, buf_str(&line), 2);
    buf_addc(s->out, '\n');
    buf_release(&line);
}

static struct str ratio_reason(const struct json *pair, const char *name, const char *part)
{
    char path[96];
    snprintf(path, sizeof path, "ratios.%s%s%s", name, part ? "." : "", part ? part : "");
    const struct json *v = json_get(json_get(pair, "unproduced_fields"), path);
    return json_is(v, JSON_STRING) ? v->text : STR("missing");
}

static void put_bound(struct show *s, const struct json *pair, const char *name,
                      const struct json *ratio, const char *part)
{
    char letter[8];
    const struct json *v = json_get(ratio, part);
    if (json_is(v, JSON_NUMBER)) {
        double d;
        struct buf text = BUF_INIT(64);
        if (json_double(&d, v) == 0)
            buf_addf(&text, "%.4f", d);
        text_right(s->out, buf_str(&text), 12);
        buf_release(&text);
        return;
    }
    show_null(s, ratio_reason(pair, name, json_is(ratio, JSON_OBJECT) ? part : NULL), letter);
    text_right(s->out, str_of(letter), 12);
}

/* The one reason why every ratio of the pair is null; "" when there is any ratio. */
static struct str common_reason(const struct json *pair)
{
    const struct json *ratios = json_get(pair, "ratios"),
                      *reasons = json_get(pair, "unproduced_fields");
    struct str all = {"", 0};
    for (size_t i = 0; json_is(ratios, JSON_OBJECT) && i < ratios->n; i++) {
        char path[96];
        if (ratios->members[i].value.type != JSON_NULL)
            return (struct str){"", 0};
        snprintf(path, sizeof path, "ratios.%.*s", STR_ARG(str_first(ratios->members[i].name, 64)));
        struct str one = show_text(json_get(reasons, path), NULL);
        if (i && !str_eq(one, all))
            return (struct str){"", 0};
        all = one;
    }
    return all;
}

static void put_pair(struct show *s, const struct json *pair)
{
    const struct json *ratios = json_get(pair, "ratios");
    struct str why = common_reason(pair);
    put_pair_work(s, pair);
    if (why.n) {
        struct buf line = BUF_INIT(BUF_ANY);
        buf_addf(&line, "no ratio: %.*s", STR_ARG(why));
        if (show_explain(why).n)
            buf_addf(&line, ", %.*s", STR_ARG(show_explain(why)));
        text_wrap(s->out, buf_str(&line), 4);
        buf_addc(s->out, '\n');
        buf_release(&line);
        return;
    }
    for (size_t i = 0; json_is(ratios, JSON_OBJECT) && i < ratios->n; i++) {
        const struct json_member *m = &ratios->members[i];
        char name[64];
        snprintf(name, sizeof name, "%.*s", STR_ARG(m->name));
        buf_adds(s->out, "    ");
        text_cell(s->out, m->name, 20);
        /* json_get and not json_path: the names hold dots. */
        put_bound(s, pair, name, &m->value, "ratio");
        put_bound(s, pair, name, &m->value, "lower");
        put_bound(s, pair, name, &m->value, "upper");
        put_bound(s, pair, name, &m->value, "mde");
        buf_addc(s->out, '\n');
    }
}

void show_ratios(struct show *s)
{
    const struct json *pairs = json_get(s->doc, "pairs");
    if (!json_is(pairs, JSON_ARRAY) || pairs->n == 0)
        return;
    buf_adds(s->out, "\nsubject / comparator, paired over replicates; L and U bound the mean "
                     "ln(ratio),\nabove 0 in the subject's favour\n"
                     "                               ratio           L           U         mde\n");
    for (size_t i = 0; i < pairs->n; i++)
        put_pair(s, &pairs->items[i]);
}
