#include "cli/probe_report.h"

#include <string.h>

#include "cli/probe_diff.h"
#include "codec/json_write.h"

#define EXIT_UNEXPLAINED 3
#define WHY_COLUMN 55 /* where causes begin in the table of differences */

static const char *word(enum probe_answer a)
{
    return a == PROBE_YES ? "yes" : a == PROBE_NO ? "no" : "unknown";
}

static int exit_code(const struct probe *p)
{
    for (size_t i = 0; i < probe_lanes(p); i++)
        if (!probe_lane_at(p, i)->wrapper.named)
            return EXIT_UNEXPLAINED;
    return 0;
}

static void add_number(char out[24], int64_t n)
{
    if (n == COUNT_NONE)
        snprintf(out, 24, "-");
    else
        snprintf(out, 24, "%lld", (long long)n);
}

static void print_wrapper(struct cli *cli, const struct probe_lane *lane)
{
    const struct probe_wrapper *w = &lane->wrapper;
    if (w->named)
        fprintf(cli->out, "  wrapper     %s%s%s\n", term_on(&cli->out_term, TERM_GOOD),
                w->named->name, term_off(&cli->out_term));
    else if (w->nearest)
        fprintf(cli->out, "  wrapper     %sunexplained%s: nearest is %s, off by %lld in all\n",
                term_on(&cli->out_term, TERM_WARNING), term_off(&cli->out_term), w->nearest->name,
                (long long)w->residue);
    else
        fprintf(cli->out, "  wrapper     unexplained: the server reports no prompt tokens\n");
    if (w->also)
        fprintf(cli->out, "              (%zu other way%s would count the same)\n", w->also,
                w->also == 1 ? "" : "s");
}

static void print_behaviour(struct cli *cli, const struct probe_lane *lane)
{
    if (lane->live != PROBE_UNKNOWN)
        fprintf(cli->out, "  streaming   %s: %lld token events, first after %.1f of %.1f ms\n",
                lane->live == PROBE_YES ? "live" : "replayed at the end", (long long)lane->events,
                (double)lane->ttft_ns / 1e6, (double)lane->e2e_ns / 1e6);
    if (lane->stream_usage != PROBE_UNKNOWN)
        fprintf(cli->out, "  usage       in the stream: %s%s%s\n", word(lane->stream_usage),
                lane->usage_where ? ", in its " : "", lane->usage_where ? lane->usage_where : "");
    if (lane->ignore_eos != PROBE_UNKNOWN)
        fprintf(cli->out, "  ignore_eos  honoured: %s\n", word(lane->ignore_eos));
    if (lane->stop_counted != PROBE_UNKNOWN)
        fprintf(cli->out, "  stop token  counted in completion_tokens: %s\n",
                word(lane->stop_counted));
    if (lane->caches != PROBE_UNKNOWN)
        fprintf(cli->out, "  cache       %lld tokens of a repeated prompt\n",
                (long long)lane->cached);
    if (lane->repeats_same != PROBE_UNKNOWN)
        fprintf(cli->out, "  repeat      same text twice at temperature 0: %s\n",
                word(lane->repeats_same));
    if (lane->slots != COUNT_NONE || lane->context != COUNT_NONE) {
        char slots[24], context[24];
        add_number(slots, lane->slots);
        add_number(context, lane->context);
        fprintf(cli->out, "  server      slots %s, context %s\n", slots, context);
    }
}

static void print_lane(struct cli *cli, const struct probe *p, const struct probe_lane *lane)
{
    const struct chat_shapes *shapes = probe_shapes(p);
    fprintf(cli->out, "%s%s%s %s%s%s\n", term_on(&cli->out_term, TERM_BOLD), lane->role,
            term_off(&cli->out_term), lane->url, lane->model ? ", model " : "",
            lane->model ? lane->model : "");
    print_wrapper(cli, lane);
    print_behaviour(cli, lane);
    fprintf(cli->out, "  %-15s %6s %8s %9s %s\n", "shape", "body", "reported", "predicted",
            "own rendering");
    for (size_t i = 0; i < shapes->n; i++) {
        const struct probe_shape_count *c = &lane->counts[i];
        char body[24], reported[24], predicted[24];
        add_number(body, probe_body(p, i));
        add_number(reported, c->reported);
        add_number(predicted, c->predicted);
        fprintf(cli->out, "  %-15s %6s %8s %9s %s\n", shapes->items[i].name, body, reported,
                predicted,
                c->error[0]           ? c->error
                : c->cut              ? "cut short"
                : !c->rendering_known ? "-"
                : c->rendering_agrees ? "the same"
                                      : "differs");
    }
}

static bool both_counted(const struct probe *p, size_t shape)
{
    return probe_lane_at(p, 0)->counts[shape].reported != COUNT_NONE &&
           probe_lane_at(p, 1)->counts[shape].reported != COUNT_NONE &&
           probe_lane_at(p, 0)->wrapper.nearest && probe_lane_at(p, 1)->wrapper.nearest;
}

static int print_comparison(struct cli *cli, const struct probe *p, bool diff, struct error *err)
{
    const struct chat_shapes *shapes = probe_shapes(p);
    const struct probe_lane *a = probe_lane_at(p, 0), *b = probe_lane_at(p, 1);
    fprintf(cli->out, "\n%-15s %6s %11s %11s %6s  why\n", "shape", "body", a->role, b->role,
            "delta");
    for (size_t i = 0; i < shapes->n; i++) {
        struct chat_explanation x = {0};
        char body[24], ra[24], rb[24];
        add_number(body, probe_body(p, i));
        add_number(ra, a->counts[i].reported);
        add_number(rb, b->counts[i].reported);
        if (!both_counted(p, i)) {
            fprintf(cli->out, "%-15s %6s %11s %11s %6s\n", shapes->items[i].name, body, ra, rb,
                    "-");
            continue;
        }
        if (probe_explain(p, i, &x, err) < 0) {
            chat_explanation_release(&x);
            return -1;
        }
        fprintf(cli->out, "%-15s %6s %11s %11s %+6lld", shapes->items[i].name, body, ra, rb,
                (long long)-x.delta);
        for (size_t k = 0; k < x.n; k++)
            fprintf(cli->out, "%*s%s\n", k ? WHY_COLUMN : 2, "", x.items[k].words);
        if (x.n == 0)
            fputs("  the same\n", cli->out);
        chat_explanation_release(&x);
        if (diff && probe_print_diff(cli, p, i, err) < 0)
            return -1;
    }
    return 0;
}

int probe_report_text(struct cli *cli, const struct probe *p, bool diff, struct error *err)
{
    for (size_t i = 0; i < probe_lanes(p); i++) {
        if (i)
            fputc('\n', cli->out);
        print_lane(cli, p, probe_lane_at(p, i));
    }
    if (probe_lanes(p) == 2 && print_comparison(cli, p, diff, err) < 0)
        return -1;
    return exit_code(p);
}

static void put_count(struct json_writer *w, const char *key, int64_t n)
{
    json_key(w, key);
    if (n == COUNT_NONE)
        json_put_null(w);
    else
        json_put_i64(w, n);
}

static void put_answer(struct json_writer *w, const char *key, enum probe_answer a)
{
    json_key(w, key);
    if (a == PROBE_UNKNOWN)
        json_put_null(w);
    else
        json_put_bool(w, a == PROBE_YES);
}

static void put_time(struct json_writer *w, const char *key, int64_t ns)
{
    json_key(w, key);
    if (ns == COUNT_NONE || ns == TIME_NONE)
        json_put_null(w);
    else
        json_put_ms(w, ns);
}

static void put_counts(struct json_writer *w, const struct probe *p, const struct probe_lane *lane)
{
    const struct chat_shapes *shapes = probe_shapes(p);
    json_key(w, "shapes");
    json_begin_array(w);
    for (size_t i = 0; i < shapes->n; i++) {
        const struct probe_shape_count *c = &lane->counts[i];
        json_begin_object(w);
        json_key(w, "name");
        json_put_cstr(w, shapes->items[i].name);
        put_count(w, "body", probe_body(p, i));
        put_count(w, "reported", c->reported);
        put_count(w, "cached", c->cached);
        put_count(w, "predicted", c->predicted);
        json_key(w, "own_rendering_agrees");
        if (c->rendering_known)
            json_put_bool(w, c->rendering_agrees);
        else
            json_put_null(w);
        json_key(w, "cut");
        json_put_bool(w, c->cut);
        json_key(w, "error");
        json_put_cstr(w, c->error[0] ? c->error : NULL);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_lane(struct json_writer *w, const struct probe *p, size_t i)
{
    const struct probe_lane *lane = probe_lane_at(p, i);
    json_begin_object(w);
    json_key(w, "role");
    json_put_cstr(w, lane->role);
    json_key(w, "url");
    json_put_cstr(w, lane->url);
    json_key(w, "model");
    json_put_cstr(w, lane->model);
    json_key(w, "wrapper");
    probe_put_wrapper(p, i, w);
    put_answer(w, "streams_live", lane->live);
    put_time(w, "ttft_ms", lane->ttft_ns);
    put_time(w, "e2e_ms", lane->e2e_ns);
    put_answer(w, "stream_usage", lane->stream_usage);
    json_key(w, "stream_usage_where");
    json_put_cstr(w, lane->usage_where);
    put_answer(w, "ignore_eos", lane->ignore_eos);
    put_answer(w, "stop_token_counted", lane->stop_counted);
    put_answer(w, "same_text_twice", lane->repeats_same);
    put_count(w, "cached_on_repeat", lane->cached);
    put_count(w, "slots", lane->slots);
    put_count(w, "context", lane->context);
    put_counts(w, p, lane);
    json_end_object(w);
}

static int put_differences(struct json_writer *w, const struct probe *p, struct error *err)
{
    const struct chat_shapes *shapes = probe_shapes(p);
    json_key(w, "differences");
    json_begin_array(w);
    for (size_t i = 0; i < shapes->n; i++) {
        struct chat_explanation x = {0};
        if (!both_counted(p, i))
            continue;
        if (probe_explain(p, i, &x, err) < 0) {
            chat_explanation_release(&x);
            return -1;
        }
        json_begin_object(w);
        json_key(w, "shape");
        json_put_cstr(w, shapes->items[i].name);
        json_key(w, "comparator_less_subject");
        json_put_i64(w, x.delta);
        json_key(w, "causes");
        json_begin_array(w);
        for (size_t k = 0; k < x.n; k++) {
            json_begin_object(w);
            json_key(w, "cause");
            json_put_cstr(w, chat_cause_name(x.items[k].kind));
            json_key(w, "tokens");
            json_put_i64(w, x.items[k].tokens);
            json_key(w, "words");
            json_put_cstr(w, x.items[k].words);
            json_end_object(w);
        }
        json_end_array(w);
        json_end_object(w);
        chat_explanation_release(&x);
    }
    json_end_array(w);
    return 0;
}

int probe_report_json(struct cli *cli, const struct probe *p, struct error *err)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct json_writer w;
    json_writer_init(&w, &out, 2);
    json_begin_object(&w);
    json_key(&w, "lanes");
    json_begin_array(&w);
    for (size_t i = 0; i < probe_lanes(p); i++)
        put_lane(&w, p, i);
    json_end_array(&w);
    int rc = probe_lanes(p) == 2 ? put_differences(&w, p, err) : 0;
    if (rc == 0) {
        json_end_object(&w);
        rc = json_writer_check(&w, "the probe's findings", err);
    }
    if (rc == 0) {
        fwrite(out.p, 1, out.n, cli->out);
        fputc('\n', cli->out);
    }
    buf_release(&out);
    return rc < 0 ? -1 : exit_code(p);
}
