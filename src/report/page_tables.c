/* Tables: prompt work, client validity, what the servers said, protocol, provenance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page.h"
#include "report/plot.h"

#define JSON_DEPTH_SHOWN 6

static void spread(struct buf *out, const struct metrics_spread *s)
{
    if (s->n == 0)
        buf_adds(out, "<td>none");
    else if (s->min == s->max)
        buf_addf(out, "<td>%lld", (long long)s->min);
    else
        buf_addf(out, "<td>%lld (%lld to %lld)", (long long)s->median, (long long)s->min,
                 (long long)s->max);
}

void page_prompt_work(const struct page_run *p, struct buf *out)
{
    buf_adds(out, "<h2>Prompt work</h2><p class=dim>Tokens of the prompt alone (body), as the "
                  "client predicts them behind the lane's wrapper (rendered), and as the server "
                  "counted them (reported). Median, and smallest to largest where they differ."
                  "</p><div class=scroll><table><thead><tr><th>lane<th>c<th>replicate<th>body"
                  "<th>rendered<th>reported<th>reported - body<th>cached</thead><tbody>");
    for (size_t i = 0; i < p->bands_n; i++) {
        const struct page_band *b = &p->bands[i];
        const struct metrics_work *w = &b->metrics->work;
        buf_addf(out, "<tr><td>%s<td>%d<td>%d", page_lane(p, b->record->lane), b->record->band,
                 b->record->replicate);
        spread(out, &w->body);
        spread(out, &w->rendered);
        spread(out, &w->reported);
        spread(out, &w->delta);
        spread(out, &w->cached);
    }
    buf_adds(out, "</tbody></table></div>");
    const struct json *explanation = json_path(p->receipt, "explanation");
    if (json_is(explanation, JSON_STRING)) {
        buf_adds(out, "<p>");
        html_text(out, explanation->text);
        buf_adds(out, "</p>");
    }
}

static void lag(struct buf *out, const struct client_lag *l)
{
    if (l->n <= 0) {
        buf_adds(out, "<td>none");
        return;
    }
    buf_adds(out, "<td>");
    page_ms(out, l->p50_ns);
    buf_adds(out, " / ");
    page_ms(out, l->p99_ns);
    buf_adds(out, " / ");
    page_ms(out, l->max_ns);
}

static void percent(struct buf *out, double share)
{
    if (share < 0 || isnan(share))
        buf_adds(out, "<td>none");
    else
        buf_addf(out, "<td>%.1f %%", 100 * share);
}

void page_validity(const struct page_run *p, struct buf *out)
{
    buf_adds(out, "<h2>Was the client the bottleneck?</h2><p class=dim>Lags as p50 / p99 / max. "
                  "A saturated client makes its band REFUSED.</p><div class=scroll><table><thead>"
                  "<tr><th>lane<th>c<th>replicate<th>verdict<th>CPU of the timing thread"
                  "<th>of the parser<th>send lag<th>read lag<th>loop lag<th>reads with several "
                  "events</thead><tbody>");
    for (size_t i = 0; i < p->bands_n; i++) {
        const struct page_band *b = &p->bands[i];
        const struct metrics_client *c = &b->metrics->client;
        buf_addf(out, "<tr><td>%s<td>%d<td>%d<td>%s", page_lane(p, b->record->lane),
                 b->record->band, b->record->replicate, client_verdict_name(c->verdict));
        percent(out, c->cpu_share);
        percent(out, c->parser_cpu_share);
        lag(out, &c->send_lag);
        lag(out, &c->read_lag);
        lag(out, &c->loop_lag);
        percent(out, c->multi_event_share);
    }
    buf_adds(out, "</tbody></table></div>");
}

static void value(struct buf *out, const struct json *v, unsigned depth)
{
    switch (v->type) {
    case JSON_NULL:
        buf_adds(out, "<span class=dim>null</span>");
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        buf_adds(out, v->type == JSON_TRUE ? "true" : "false");
        break;
    case JSON_NUMBER:
    case JSON_STRING:
        html_text(out, v->text);
        break;
    case JSON_ARRAY:
        for (size_t i = 0; i < v->n && depth; i++) {
            if (i)
                buf_adds(out, v->items[i].type >= JSON_ARRAY ? "<br>" : ", ");
            value(out, &v->items[i], depth - 1);
        }
        break;
    case JSON_OBJECT:
        for (size_t i = 0; i < v->n && depth; i++) {
            if (i)
                buf_adds(out, "; ");
            html_text(out, v->members[i].name);
            buf_adds(out, ": ");
            value(out, &v->members[i].value, depth - 1);
        }
        break;
    }
}

static void section(const struct page_run *p, const char *member, const char *title, bool open,
                    struct buf *out)
{
    const struct json *object = json_get(p->receipt, member);
    if (!object || object->type < JSON_ARRAY || object->n == 0)
        return;
    buf_addf(out, "<details%s><summary>%s</summary><table class=words><tbody>", open ? " open" : "",
             title);
    for (size_t i = 0; i < object->n; i++) {
        buf_adds(out, "<tr><th scope=row>");
        if (object->type == JSON_OBJECT) {
            html_text(out, object->members[i].name);
            buf_adds(out, "<td>");
            value(out, &object->members[i].value, JSON_DEPTH_SHOWN);
        } else {
            buf_addf(out, "%zu<td>", i + 1);
            value(out, &object->items[i], JSON_DEPTH_SHOWN);
        }
    }
    buf_adds(out, "</tbody></table></details>\n");
}

void page_provenance(const struct page_run *p, struct buf *out)
{
    static const struct {
        const char *member, *title;
    } sections[] = {
        {"lanes", "Lanes, and what the servers said of themselves"},
        {"protocol", "Protocol"},
        {"workload", "Workload"},
        {"tokenization", "Tokenization"},
        {"client", "Client program"},
        {"host", "Client host"},
        {"calibration", "Calibration of this client"},
        {"ledger", "Ledger"},
    };
    buf_adds(out, "<h2>Protocol and provenance</h2>");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        section(p, sections[i].member, sections[i].title, i == 1, out);
    buf_adds(out, "<details><summary>Digests of the samples</summary><div class=scroll>"
                  "<table class=words><tbody>");
    for (size_t i = 0; i < p->bands_n; i++) {
        const struct run_band *b = p->bands[i].record;
        buf_adds(out, "<tr><td>");
        html_cstr(out, b->sample_file ? b->sample_file : "none");
        buf_addf(out, "<td><code>%s</code>", b->sample_sha256);
    }
    buf_addf(out, "</tbody></table></div></details><p class=dim>Receipt <code>%s</code></p>",
             p->run_id ? p->run_id : "");
}
