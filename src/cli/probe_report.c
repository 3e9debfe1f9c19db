#include "cli/probe_report.h"

#include <string.h>

#include "cli/probe_diff.h"
#include "load/probe_json.h"

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
    if (lane->slots != COUNT_NONE)
        fprintf(cli->out, "  server      slots %lld, context ", (long long)lane->slots);
    else if (lane->context != COUNT_NONE)
        fputs("  server      context ", cli->out);
    if (lane->slots != COUNT_NONE || lane->context != COUNT_NONE) {
        char context[24];
        add_number(context, lane->context);
        fprintf(cli->out, "%s\n", context);
    }
}

/* What the server itself says of a shape: its text, and its tokens. */
static const char *own_rendering(const struct probe_shape_count *c)
{
    if (c->error[0])
        return c->error;
    if (c->cut)
        return "cut short";
    if (!c->rendering_known && !c->tokens_known)
        return "-";
    if (c->rendering_known && !c->rendering_agrees)
        return "differs";
    if (c->tokens_known && !c->tokens_agree)
        return "other tokens";
    return c->rendering_known ? "the same" : "the same tokens";
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
                predicted, own_rendering(c));
    }
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
        if (!probe_both_counted(p, i)) {
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

int probe_report_json(struct cli *cli, const struct probe *p, struct error *err)
{
    struct buf out = BUF_INIT(BUF_ANY);
    int rc = probe_json(p, &out, err);
    if (rc == 0)
        fwrite(out.p, 1, out.n, cli->out);
    buf_release(&out);
    return rc < 0 ? -1 : exit_code(p);
}
