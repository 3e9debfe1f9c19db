/* What was measured, how, and by what: the lines above the tables; and the status of each band. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/show.h"

#define LABEL 11

static void begin(struct show *s, const char *label)
{
    text_cell(s->out, str_of(label), LABEL);
}

/* Fields separated by commas, wrapped. */
static void end(struct show *s, struct buf *line)
{
    text_wrap(s->out, buf_str(line), LABEL);
    buf_addc(s->out, '\n');
    buf_release(line);
}

static void add(struct buf *line, const char *before, struct str value, const char *after)
{
    if (value.n == 0)
        return;
    buf_adds(line, line->n ? ", " : "");
    buf_addf(line, "%s%.*s%s", before, STR_ARG(value), after);
}

static void add_flag(struct buf *line, const struct json *v, const char *yes, const char *no)
{
    bool on;
    if (json_bool(&on, v) < 0 || !(on ? yes : no))
        return;
    buf_adds(line, line->n ? ", " : "");
    buf_adds(line, on ? yes : no);
}

/* 600000.000000 -> "600 s"; 1500.000000 -> "1.5 s"; 20.000000 -> "20 ms" */
static void add_time(struct buf *line, const char *before, const struct json *ms)
{
    int64_t ns;
    struct buf text = BUF_INIT(64);
    if (!json_is(ms, JSON_NUMBER) || num_parse_ms(&ns, ms->text) < 0)
        return;
    bool seconds = ns >= 1000000000 || ns == 0;
    num_add_real9(&text, (double)ns / (seconds ? 1e9 : 1e6));
    buf_adds(&text, seconds ? " s" : " ms");
    add(line, before, buf_str(&text), "");
    buf_release(&text);
}

static void put_run(struct show *s)
{
    struct buf line = BUF_INIT(BUF_ANY);
    const struct json *doc = s->doc;
    begin(s, "measured");
    add(&line, "", show_text(doc, "start"), "");
    if (show_text(doc, "end").n)
        buf_addf(&line, " to %.*s", STR_ARG(show_text(doc, "end")));
    add(&line, "by tally ", show_text(doc, "client.version"), "");
    if (show_text(doc, "client.commit").n)
        buf_addf(&line, " (%.*s)", STR_ARG(str_first(show_text(doc, "client.commit"), 12)));
    end(s, &line);

    struct buf host = BUF_INIT(BUF_ANY);
    begin(s, "client");
    add(&host, "", show_text(doc, "host.os"), "");
    add(&host, "", show_text(doc, "host.arch"), "");
    add(&host, "", show_text(doc, "host.cpu_model"), "");
    add(&host, "", show_text(doc, "host.cores"), " cores");
    add(&host, "load ", show_text(doc, "host.load_1m"), "");
    add(&host, "governor ", show_text(doc, "host.governor"), "");
    end(s, &host);
}

/* Of --calibrate; nothing without it. */
static void put_floor(struct show *s)
{
    const struct json *c = json_get(s->doc, "calibration");
    struct buf line = BUF_INIT(BUF_ANY);
    if (!json_is(c, JSON_OBJECT))
        return;
    begin(s, "floor");
    add(&line, "stamps late by ", show_text(c, "kernel_error_ms.p99"), " ms (kernel, p99)");
    add(&line, "", show_text(c, "user_error_ms.p99"), " ms (user, p99)");
    add(&line, "", show_text(c, "cpu_us_per_event"), " us of CPU an event");
    add(&line, "", show_text(c, "streams"), " streams");
    end(s, &line);
}

static void put_protocol(struct show *s)
{
    struct buf line = BUF_INIT(BUF_ANY);
    const struct json *p = json_get(s->doc, "protocol");
    begin(s, "protocol");
    add(&line, "", show_text(p, "name"), "");
    add(&line, "", show_text(p, "load_model"), " loop");
    add(&line, "", show_text(p, "arrivals"), " arrivals");
    add(&line, "at most ", show_text(p, "max_in_flight"), " in flight");
    add(&line, "", show_text(p, "replicates"), " replicates");
    if (show_text(p, "requests").n)
        add(&line, "", show_text(p, "requests"), " requests a band");
    else
        add_time(&line, "window ", json_get(p, "window_ms"));
    add(&line, "warm-up ", show_text(p, "warmup"), show_is_open(s) ? " requests" : " a worker");
    add_time(&line, "quiesce ", json_get(p, "quiesce_ms"));
    add_time(&line, "cool-down ", json_get(p, "cooldown_ms"));
    add_time(&line, "timeout ", json_get(p, "timeout_ms"));
    add_time(&line, "objective: first token within ", json_get(p, "slo_ttft_ms"));
    add_time(&line, "objective: a token within ", json_get(p, "slo_tpot_ms"));
    add_time(&line, "objective: all within ", json_get(p, "slo_e2e_ms"));
    add_flag(&line, json_get(p, "stream"), "streaming", "not streaming");
    add(&line, "prompts ", show_text(p, "prompt_policy"), "");
    add(&line, "cache ", show_text(p, "cache_policy"), "");
    add(&line, "", show_text(p, "time_source"), " time");
    end(s, &line);
}

/* ", 40 % of 128, 30 % of 512" */
static void put_mixture(struct buf *line, const struct json *m)
{
    for (size_t i = 0; json_is(m, JSON_ARRAY) && i < m->n; i++)
        buf_addf(line, ", %.*s %% of %.*s", STR_ARG(show_text(&m->items[i], "percent")),
                 STR_ARG(show_text(&m->items[i], "tokens")));
}

static void put_workload(struct show *s)
{
    struct buf line = BUF_INIT(BUF_ANY), counting = BUF_INIT(BUF_ANY);
    const struct json *c = json_path(s->doc, "workload.corpus"),
                      *r = json_path(s->doc, "workload.request"),
                      *t = json_get(s->doc, "tokenization");
    begin(s, "workload");
    add(&line, "", show_text(c, "path"), "");
    bool talks = show_text(r, "answers").n > 0;
    add(&line, "", show_text(c, "count"), talks ? " conversations" : " prompts");
    add(&line, "", show_text(r, "answers"), " answers");
    if (talks)
        add_time(&line, "think ", json_get(r, "think_ms"));
    add(&line, "shared prefix ", show_text(r, "shared_prefix_tokens"), " tokens");
    add(&line, "", show_text(c, "tokens"), "");
    put_mixture(&line, json_get(c, "mixture"));
    if ((show_text(c, "tokens").n || json_is(json_get(c, "mixture"), JSON_ARRAY)) &&
        show_text(c, "tolerance").n)
        buf_addf(&line, " +- %.*s tokens", STR_ARG(show_text(c, "tolerance")));
    add(&line, "", show_text(r, "max_tokens"), " output tokens");
    if (!show_text(r, "max_tokens").n)
        put_mixture(&line, json_get(c, "outputs"));
    if (!show_text(r, "max_tokens").n)
        buf_adds(&line, " output tokens");
    add(&line, "temperature ", show_text(r, "temperature"), "");
    add(&line, "seed ", show_text(r, "seed"), "");
    add_flag(&line, json_get(r, "ignore_eos"), "ignore_eos", "until the model stops");
    end(s, &line);

    begin(s, "counting");
    add(&counting, "prompts by ", show_text(t, "method"), "");
    add(&counting, "", show_text(t, "tokenizer"), "");
    add(&counting, "as ", show_text(t, "reference"), "");
    add(&counting, "special text ", show_text(t, "special_text"), "");
    struct str source = show_text(t, "output_count_source");
    if (s->bands)
        add(&counting, "output tokens ", source.n ? source : STR("uncounted"), "");
    end(s, &counting);
}

static void put_lanes(struct show *s)
{
    for (size_t i = 0; s->lanes && i < s->lanes->n; i++) {
        const struct json *l = &s->lanes->items[i];
        struct buf line = BUF_INIT(BUF_ANY);
        text_cell(s->out, show_lane(s, i), LABEL);
        add(&line, "", show_text(l, "url"), "");
        add(&line, "model ", show_text(l, "model"), "");
        add(&line, "build ", show_text(l, "build"), "");
        add(&line, "on ", show_text(l, "host"), "");
        add_flag(&line, json_get(l, "ignore_eos_refused"), "refuses ignore_eos", NULL);
        add_flag(&line, json_get(l, "stream_usage_refused"), "refuses stream_options", NULL);
        add_flag(&line, json_get(l, "cache_policy_refused"), "refuses cache_prompt", NULL);
        end(s, &line);
    }
}

void show_head(struct show *s)
{
    put_run(s);
    put_floor(s);
    put_workload(s);
    put_protocol(s);
    put_lanes(s);
}

static void put_count(struct show *s, const struct json *band, const char *path, size_t columns)
{
    const struct json *v = json_path(band, path);
    char letter[8];
    if (json_is(v, JSON_NUMBER)) {
        show_number(s, v, false, columns);
        return;
    }
    show_null(s, STR("missing"), letter);
    text_right(s->out, str_of(letter), columns);
}

/* What a prompt sent beside the band did to the others. */
static void put_injector(struct show *s, const struct json *band)
{
    const struct json *in = json_get(band, "injector"),
                      *stall = json_path(band, "metrics.injector_stall_ms.value");
    struct buf line = BUF_INIT(BUF_ANY);
    if (!json_is(in, JSON_OBJECT))
        return;
    buf_addf(&line, "injected: a prompt of %.*s tokens", STR_ARG(show_text(in, "prompt_body")));
    if (json_is(stall, JSON_NUMBER))
        buf_addf(&line,
                 ", prefilled in %.*s ms; the others stalled for %.*s ms (largest gap %.*s, "
                 "median before %.*s)",
                 STR_ARG(show_text(in, "prefill_ms")), STR_ARG(stall->text),
                 STR_ARG(show_text(in, "largest_gap_during_ms")),
                 STR_ARG(show_text(in, "median_gap_before_ms")));
    else
        buf_addf(&line, ", %.*s; its effect is not known", STR_ARG(show_text(in, "outcome")));
    text_wrap(s->out, buf_str(&line), 9);
    buf_addc(s->out, '\n');
    buf_release(&line);
}

static void put_flags(struct show *s, const struct json *band)
{
    const struct json *flags = json_path(band, "validity.flags");
    struct str detail = show_text(band, "loop.detail");
    struct buf line = BUF_INIT(BUF_ANY);
    for (size_t i = 0; json_is(flags, JSON_ARRAY) && i < flags->n; i++)
        buf_addf(&line, "%s%.*s",
                 i ? ", " : "SUSPECT: ", STR_ARG(show_text(&flags->items[i], NULL)));
    if (detail.n)
        buf_addf(&line, "%s%.*s", line.n ? "; " : "", STR_ARG(detail));
    if (line.n) {
        text_wrap(s->out, buf_str(&line), 9);
        buf_addc(s->out, '\n');
    }
    buf_release(&line);
}

static void put_status(struct show *s, const struct json *band)
{
    struct buf status = BUF_INIT(256);
    show_level(s, show_text(band, "band"), 5);
    text_right(s->out, show_text(band, "replicate"), 4);
    buf_adds(s->out, "  ");
    text_cell(s->out, show_text(band, "lane"), 11);
    put_count(s, band, "counts.issued", 7);
    put_count(s, band, "counts.ok", 7);
    put_count(s, band, "counts.drained_n", 8);
    const struct json *window = json_path(band, "validity.window_ms");
    int64_t ns;
    if (json_is(window, JSON_NUMBER) && num_parse_ms(&ns, window->text) == 0)
        buf_addf(s->out, "%8.1f s", (double)ns / 1e9);
    else
        buf_adds(s->out, "         -");
    buf_addf(&status, "%.*s", STR_ARG(show_text(band, "status")));
    if (show_text(band, "reason").n)
        buf_addf(&status, " {%.*s}", STR_ARG(show_text(band, "reason")));
    buf_adds(s->out, "  ");
    text_cell(s->out, buf_str(&status), 24);
    while (s->out->n && s->out->p[s->out->n - 1] == ' ')
        buf_truncate(s->out, s->out->n - 1);
    buf_addc(s->out, '\n');
    buf_release(&status);
    put_flags(s, band);
    put_injector(s, band);
}

void show_status(struct show *s)
{
    buf_adds(s->out, show_is_open(s)
                         ? "\n rate rep  lane        issued     ok drained    window  status\n"
                         : "\n    c rep  lane        issued     ok drained    window  status\n");
    for (size_t i = 0; s->bands && i < s->bands->n; i++)
        put_status(s, &s->bands->items[i]);
    if (!s->bands || s->bands->n == 0)
        buf_adds(s->out, "no band was measured\n");
}
