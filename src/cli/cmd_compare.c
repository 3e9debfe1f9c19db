/* tally compare: the paired ratio of two lanes, with its bounds and a verdict. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/compare_foreign.h"
#include "cli/keys.h"
#include "codec/json_write.h"
#include "gate/compare.h"
#include "gate/foreign.h"

struct compare_args {
    double margin;
    bool unequal_work, json;
    const char *trust;
    struct option_repeated keys;
};

static const struct option options[] = {
    {"margin", OPTION_DOUBLE, OFFSET(struct compare_args, margin), "SHARE", "0.05",
     .help =
         "how much worse the subject may be: it passes when the lower bound is above 1 - margin"},
    {"unequal-work", OPTION_FLAG, OFFSET(struct compare_args, unequal_work), NULL, NULL,
     .help = "declare that the lanes did unequal prompt work; said beside every ratio"},
    {"key", OPTION_REPEATED, OFFSET(struct compare_args, keys), "FILE", NULL,
     .help = "a public key (PEM) to trust"},
    {"trust", OPTION_STRING, OFFSET(struct compare_args, trust), "FILE", NULL,
     .help = "trusted keys, instead of your own file"},
    {"json", OPTION_FLAG, OFFSET(struct compare_args, json), NULL, NULL,
     .help = "the comparison as one JSON object"},
    OPTIONS_END,
};

static void put_row(struct buf *out, const struct compare *c, const struct compare_row *r)
{
    buf_addf(out, "%5s  %-15s", r->level, r->metric);
    if (r->has_ratio)
        buf_addf(out, "%9.4f", r->ratio);
    else
        buf_addf(out, "%9s", "-");
    if (r->has_bounds)
        buf_addf(out, "%9.4f%9.4f%8.1f %%", r->lower, r->upper, 100 * r->mde);
    else
        buf_addf(out, "%9s%9s%10s", "-", "-", "-");
    buf_addf(out, "%4zu  %s%s\n", r->n, status_name(r->status), c->caveat ? ", UNEQUAL WORK" : "");
    if (r->status != STATUS_PASS && r->why[0])
        buf_addf(out, "%22s%s\n", "", r->why);
}

static void put_text(struct buf *out, const struct compare *c)
{
    buf_addf(out, "subject     %s\ncomparator  %s\n", c->subject, c->comparator);
    buf_addf(out, "margin      %g: passes when L >= ln(1 - margin)\n\n", c->margin);
    buf_addf(out, "%5s  metric             ratio        L        U       mde   n  verdict\n",
             c->open ? "load" : "c");
    for (size_t i = 0; i < c->rows_n; i++)
        put_row(out, c, &c->rows[i]);
    buf_addc(out, '\n');
    for (size_t i = 0; i < c->bands_n; i++)
        if (c->bands[i].has_serialization)
            buf_addf(out, "%s: serialization index %.3f%s\n", c->bands[i].name,
                     c->bands[i].serialization,
                     c->bands[i].serialization > 1 ? " (above 1 the subject queues)" : "");
    if (c->caveat)
        buf_addf(out, "CAVEAT for every ratio: %s\n", c->caveat);
    buf_addf(out,
             "ratio is subject / comparator; L and U bound the mean ln(ratio), turned so that\n"
             "above 0 favours the subject; verdicts by Holm over %zu rows\n\n%s\n",
             c->rows_n, status_name(c->status));
}

static void put_real(struct json_writer *w, const char *name, bool there, double v)
{
    json_key(w, name);
    if (there)
        json_put_real9(w, v);
    else
        json_put_null(w);
}

static void put_json_row(struct json_writer *w, const struct compare *c,
                         const struct compare_row *r)
{
    json_begin_object(w);
    json_key(w, "band");
    json_put_i64(w, r->band);
    json_key(w, "metric");
    json_put_cstr(w, r->metric);
    put_real(w, "ratio", r->has_ratio, r->ratio);
    put_real(w, "mean", r->has_ratio, r->mean);
    put_real(w, "lower", r->has_bounds, r->lower);
    put_real(w, "upper", r->has_bounds, r->upper);
    put_real(w, "mde", r->has_bounds, r->mde);
    json_key(w, "n");
    json_put_i64(w, (int64_t)r->n);
    json_key(w, "verdict");
    json_put_cstr(w, status_name(r->status));
    json_key(w, "why");
    json_put_cstr(w, r->why);
    json_key(w, "caveat");
    json_put_cstr(w, c->caveat);
    json_end_object(w);
}

static void put_json(struct buf *out, const struct compare *c)
{
    struct json_writer w;
    json_writer_init(&w, out, 2);
    json_begin_object(&w);
    json_key(&w, "subject");
    json_put_cstr(&w, c->subject);
    json_key(&w, "comparator");
    json_put_cstr(&w, c->comparator);
    json_key(&w, "margin");
    json_put_real9(&w, c->margin);
    json_key(&w, "verdict");
    json_put_cstr(&w, status_name(c->status));
    json_key(&w, "rows");
    json_begin_array(&w);
    for (size_t i = 0; i < c->rows_n; i++)
        put_json_row(&w, c, &c->rows[i]);
    json_end_array(&w);
    json_key(&w, "serialization_index");
    json_begin_array(&w);
    for (size_t i = 0; i < c->bands_n; i++) {
        json_begin_object(&w);
        json_key(&w, "band");
        json_put_i64(&w, c->bands[i].band);
        put_real(&w, "value", c->bands[i].has_serialization, c->bands[i].serialization);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    buf_addc(out, '\n');
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct compare_args *a = args;
    struct compare_options how = {.margin = a->margin, .unequal_work = a->unequal_work};
    struct envelope_signer *keys = NULL;
    struct compare c = {0};
    struct buf text = BUF_INIT(BUF_ANY);
    int rc = -1;
    for (int i = 0; i < o->n; i++)
        if (foreign_is_file(o->v[i]))
            return compare_foreign(cli, o->v[0], o->n > 1 ? o->v[1] : NULL, a->json, err);
    if (keys_load(&a->keys, a->trust, &keys, &how.keys_n, err) < 0)
        return -1;
    how.keys = keys;
    if (compare_dirs(&c, o->v[0], o->n > 1 ? o->v[1] : NULL, &how, err) < 0)
        goto out;
    (a->json ? put_json : put_text)(&text, &c);
    if (buf_check(&text, "the comparison", err) < 0)
        goto out;
    fwrite(text.p, 1, text.n, cli->out);
    rc = status_exit_code(c.status);
out:
    compare_release(&c);
    buf_release(&text);
    free(keys);
    return rc;
}

const struct command cmd_compare = {
    .name = "compare",
    .summary = "the paired ratio of two lanes with its bounds; refuses what cannot be compared",
    .usage = "DIR|FILE [COMPARATOR]",
    .description =
        "Compares the two lanes of one receipt, or the subject of the first with the comparator of "
        "the second, replicate by replicate. Refused, with the field that is at fault: receipts "
        "that do not verify, join keys that differ or hold what nobody knows, unequal prompt work "
        "that was not declared.\n\n"
        "Either may be the result file of another benchmark (vllm bench serve, SGLang's "
        "bench_serving, AIPerf, GuideLLM), told by its shape. Such a comparison is marked "
        "UNRECEIPTED in every line: nothing proves how its numbers were measured, there are no "
        "bounds and no verdict, and a gate takes no such file.\n\n"
        "Exit code 0 PASS: not worse than the margin. 1 FAIL: worse beyond doubt. 3 INCONCLUSIVE "
        "or INCOMPLETE, and whatever is unreceipted. 4 refused.",
    .examples = "tally compare demo-run\ntally compare run-a run-b --margin 0.02\n"
                "tally compare run-a vllm-result.json",
    .options = options,
    .args_size = sizeof(struct compare_args),
    .operands_min = 1,
    .operands_max = 2,
    .run = run,
};
