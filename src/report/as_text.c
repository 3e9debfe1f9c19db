#include "report/as_text.h"

#include <string.h>

#include "report/text.h"

#define NAME_COLUMNS 41
#define VALUE_COLUMNS 13
#define VALUES_A_TABLE 3 /* 41 + 3 * 13 = 80 */

static void rule(struct buf *out, const char *title, const char *text)
{
    text_cell(out, str_of(title), 10);
    text_wrap(out, str_of(text), 10);
    buf_adds(out, "\n");
}

static void add_value(struct buf *out, double v)
{
    double size = v < 0 ? -v : v;
    if (v == (double)(int64_t)v && size < 1e15)
        buf_addf(out, "%lld", (long long)v);
    else
        buf_addf(out, "%.*f", size < 10 ? 6 : size < 1000 ? 4 : 2, v);
}

static void add_cell(struct buf *out, const struct as_row *row)
{
    struct buf text = BUF_INIT(64);
    if (row->why == REASON_NONE)
        add_value(&text, row->value);
    else
        buf_adds(&text, "-");
    text_right(out, buf_str(&text), VALUE_COLUMNS);
    buf_release(&text);
}

/* One table of up to VALUES_A_TABLE bands, whose rows are the same. */
static void table(const struct as_band *bands, size_t n, struct buf *out)
{
    struct buf text = BUF_INIT(64);
    buf_addf(&text, "c = %d", (int)bands[0].band);
    text_cell(out, buf_str(&text), NAME_COLUMNS);
    for (size_t k = 0; k < n; k++)
        text_right(out, str_of(bands[k].lane), VALUE_COLUMNS);
    buf_adds(out, "\n");
    text_cell(out, STR(""), NAME_COLUMNS);
    for (size_t k = 0; k < n; k++) {
        buf_reset(&text);
        buf_addf(&text, "r%d", (int)bands[k].replicate);
        text_right(out, buf_str(&text), VALUE_COLUMNS);
    }
    buf_adds(out, "\n");
    for (size_t i = 0; i < bands[0].result.n; i++) {
        const struct as_row *row = &bands[0].result.rows[i];
        buf_reset(&text);
        buf_addf(&text, "  %s", row->name);
        if (text.n + strlen(row->unit) + 2 < NAME_COLUMNS)
            buf_addf(&text, ", %s", row->unit);
        text_cell(out, buf_str(&text), NAME_COLUMNS);
        for (size_t k = 0; k < n; k++)
            add_cell(out, &bands[k].result.rows[i]);
        buf_adds(out, "\n");
    }
    buf_adds(out, "\n");
    buf_release(&text);
}

/* Each reason that a '-' stands for, once. */
static void reasons(const struct as_band *bands, size_t n, struct buf *out)
{
    bool seen[METRICS_REASON_COUNT] = {false};
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < bands[k].result.n; i++)
            seen[bands[k].result.rows[i].why] = true;
    for (int why = REASON_NONE + 1; why < METRICS_REASON_COUNT; why++)
        if (seen[why])
            buf_addf(out, "-  %s: %s\n", metrics_reason_name((enum metrics_reason)why),
                     metrics_reason_help((enum metrics_reason)why));
}

void as_text(const struct as_profile *p, const struct as_band *bands, size_t n, struct buf *out)
{
    text_wrap(out,
              STR("As another tool would have reported these requests. Its names, its "
                  "definitions; not the receipt's numbers, and no evidence."),
              0);
    buf_adds(out, "\n");
    rule(out, "tool", p->tool);
    rule(out, "source", p->source);
    rule(out, "quantile", p->quantile);
    rule(out, "window", p->window);
    rule(out, "clock", p->clock);
    rule(out, "tokens", p->tokens);
    rule(out, "success", p->success);
    rule(out, "apart", p->apart);
    buf_adds(out, "\n");
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && k - i < VALUES_A_TABLE && bands[k].band == bands[i].band; k++)
            ;
        table(&bands[i], k - i, out);
    }
    reasons(bands, n, out);
}

static void text_member(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    json_put_cstr(w, text);
}

static void band_json(const struct as_band *b, struct json_writer *w)
{
    json_begin_object(w);
    text_member(w, "lane", b->lane);
    json_key(w, "band");
    json_put_i64(w, b->band);
    json_key(w, "replicate");
    json_put_i64(w, b->replicate);
    json_key(w, "values");
    json_begin_object(w);
    for (size_t i = 0; i < b->result.n; i++) {
        const struct as_row *row = &b->result.rows[i];
        json_key(w, row->name);
        if (row->why == REASON_NONE)
            json_put_real9(w, row->value);
        else
            json_put_null(w);
    }
    json_end_object(w);
    json_key(w, "unproduced");
    json_begin_object(w);
    for (size_t i = 0; i < b->result.n; i++)
        if (b->result.rows[i].why != REASON_NONE)
            text_member(w, b->result.rows[i].name, metrics_reason_name(b->result.rows[i].why));
    json_end_object(w);
    json_end_object(w);
}

void as_json(const struct as_profile *p, const struct as_band *bands, size_t n,
             struct json_writer *w)
{
    const struct {
        const char *key, *text;
    } rules[] = {{"name", p->name},         {"tool", p->tool},       {"source", p->source},
                 {"quantile", p->quantile}, {"window", p->window},   {"clock", p->clock},
                 {"tokens", p->tokens},     {"success", p->success}, {"apart", p->apart}};
    json_begin_object(w);
    json_key(w, "as");
    json_begin_object(w);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        text_member(w, rules[i].key, rules[i].text);
    json_end_object(w);
    json_key(w, "units");
    json_begin_object(w);
    for (size_t i = 0; n > 0 && i < bands[0].result.n; i++)
        text_member(w, bands[0].result.rows[i].name, bands[0].result.rows[i].unit);
    json_end_object(w);
    json_key(w, "bands");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        band_json(&bands[i], w);
    json_end_array(w);
    json_end_object(w);
}
